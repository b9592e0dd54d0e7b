#include "base/trace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/process.h"

namespace mtmc {
namespace {

const double kBegan = now_seconds();

bool traced() { return std::getenv("MTMC_TRACE") != nullptr; }

}  // namespace

void trace_note(const std::string& text) {
  if (traced()) fmt::print(stderr, "trace {} {:8.3f}          {}\n", getpid(), now_seconds() - kBegan, text);
}

Span::Span(std::string what) : what_(std::move(what)), start_(now_seconds()) {}

Span::~Span() {
  if (traced())
    fmt::print(stderr, "trace {} {:8.3f} {:8.3f} {}\n", getpid(), start_ - kBegan, now_seconds() - start_, what_);
}

}  // namespace mtmc
