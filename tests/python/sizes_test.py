"""The house check of sizes finds functions and their lengths, in both languages."""

from __future__ import annotations

import importlib.util
from pathlib import Path

PLACE = Path(__file__).resolve().parents[1] / "house" / "sizes.py"
spec = importlib.util.spec_from_file_location("sizes", PLACE)
assert spec is not None and spec.loader is not None
sizes = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sizes)

CPP = """\
#include <map>  // {
namespace house {
namespace {

const std::map<std::string, int> kTable = {
    {"a{", 1'000},
    {R"(
}
)", '{'},
};

// Not its line.
int free_function(int a,
                  int b) {
  // }
  return a;
}

}  // namespace

struct Type final : Base {
  Type(int a)
      : Base(a),
        a_{a} {
  }
  bool short_one() const { return a_ > 0; }
  int a_ = 0;
};

const Def def = {"name", [](const Node& node) -> int {
                   if (node.wide) {
                     return 2;
                   }
                   return 1;
                 }};

}  // namespace house
"""

PY = '''\
def plain():
    """Its own."""

    async def inner():
        pass


@decorated
class Type:
    @property
    def member(self):
        return 1
'''


def test_functions_of_cpp() -> None:
    found = dict(sizes.functions_of_cpp(CPP))
    assert found[13] == 5, "a function whose arguments take two lines"
    assert found[22] == 4 and found[26] == 1, "members"
    assert found[30] == 6, "a function in a table"
    assert not {2, 3, 5, 6, 21} & found.keys(), "neither a namespace, nor a table, nor a type"


def test_functions_of_py() -> None:
    assert sorted(sizes.functions_of_py(PY)) == [(1, 5), (4, 2), (10, 3)]


def test_whoever_is_too_long_is_told() -> None:
    long = "int long_one() {\n" + "  step();\n" * (sizes.FUNCTION - 2) + "}\n"
    assert sizes.functions_of_cpp(long) == [(1, sizes.FUNCTION)]
