// Syntax trees of Python, C++ and CUDA, made by tree-sitter.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "base/lines.h"
#include "base/result.h"

namespace mtmc {

enum class Language { python, cuda };  // C++ is read as CUDA, which has all of it

// A node of a tree, named as the grammar names it; the text must outlive it.
struct SyntaxNode {
  std::string_view kind;   // "call", "identifier", "for_statement"; for words and signs themselves: "if", "+="
  std::string_view field;  // its part in the parent: "function", "arguments"; may be empty
  std::string_view text;
  LineRange lines;
  bool named = false;  // neither a word of the language nor a sign
  std::vector<SyntaxNode> children;

  // The first child that plays this part, or null.
  const SyntaxNode* part(std::string_view name) const;
  bool is(std::string_view one) const { return kind == one; }
};

// A piece of a text: from which byte to which.
using Piece = std::pair<size_t, size_t>;

// The tree of a text, or of pieces of it as if they were one; lines are those of the whole text. Where the text is
// malformed the tree has nodes of kind ERROR and holds what could be read. Nodes deeper than 300 have no children. An
// Error: the text has more than 256 KB, or this program was built without tree-sitter.
Result<SyntaxNode> parse_code(std::string_view text, Language language, const std::vector<Piece>& pieces = {});

// Whether this program was built with tree-sitter.
bool can_parse();

}  // namespace mtmc
