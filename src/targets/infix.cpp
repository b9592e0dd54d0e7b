#include "targets/infix.h"

namespace mtmc {

const char* infix(Fn fn) {
  switch (fn) {
    case Fn::add: return "+";
    case Fn::sub: return "-";
    case Fn::mul: return "*";
    case Fn::div: return "/";
    case Fn::lt: return "<";
    case Fn::le: return "<=";
    case Fn::eq: return "==";
    case Fn::ne: return "!=";
    case Fn::gt: return ">";
    case Fn::ge: return ">=";
    case Fn::logical_and:
    case Fn::bit_and: return "&";
    case Fn::logical_or:
    case Fn::bit_or: return "|";
    case Fn::bit_xor: return "^";
    case Fn::shl: return "<<";
    case Fn::shr: return ">>";
    default: return nullptr;
  }
}

}  // namespace mtmc
