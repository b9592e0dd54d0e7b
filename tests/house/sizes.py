"""No file is over 500 lines and no function has 80, and the median of a language's files is under 200."""

import ast
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["src", "python", "tests", "tools", "examples", "bench"]
LONGEST, MEDIAN, FUNCTION = 500, 200, 80

# What may hold a brace that is no brace: a raw string, a string, a character (not the ' of 1'000), a comment.
OPAQUE = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\d)\'(?:\\.|[^\'\\\n])+\'|//[^\n]*', re.DOTALL)
VALUE = re.compile(r"\{[^{};\n]*\}")  # on one line: `a{1}` in a list of initialisers is like `a(1)`
NO_FUNCTION = re.compile(r"(?:template <.*> )?(?:namespace|struct|class|union|enum|extern)\b", re.DOTALL)


def blank(match):
    return "\n" * match[0].count("\n")


def is_function(head):
    """`head`: what stands before an opening brace, back to the brace or semicolon before it. A list of values has a `=`, a comma
    or a parenthesis there, or no parameters. (So `if` and `for` are functions, too: they are shorter than the one around them.)
    """
    return not NO_FUNCTION.match(head) and not head.endswith(("=", ",", "(")) and ("(" in head or "[" in head)


def functions_of_cpp(text):
    """The first line and the number of lines of each function, and of each block within one, as clang-format leaves them. Comments
    before a function are not its own."""
    text = VALUE.sub("()", OPAQUE.sub(blank, text))
    found, opened, after = [], [], 0
    for brace in re.finditer(r"[{};]", text):
        if brace[0] == "{":
            head = text[after : brace.start()]
            start = text.count("\n", 0, brace.start() - len(head.lstrip()))
            opened.append(start if is_function(head.strip()) else None)
        elif brace[0] == "}" and (start := opened.pop()) is not None:
            found.append((start + 1, text.count("\n", 0, brace.end()) - start + 1))
        after = brace.end()
    return found


def functions_of_py(text):
    """The first line and the number of lines of each function, its decorators included."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found.append((start, node.end_lineno - start + 1))
    return found


def check(suffixes, functions_of):
    """What is too long in the files of one language."""
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in suffixes]
    wrong, lines, functions = [], [], 0
    for path in files:
        name, text = path.relative_to(ROOT), path.read_text()
        lines.append(text.count("\n"))
        if lines[-1] > LONGEST:
            wrong.append(f"{name}: {lines[-1]} lines, at most {LONGEST}")
        found = functions_of(text)
        functions += len(found)
        wrong += [
            f"{name}:{line}: a function of {n} lines, wanted under {FUNCTION}" for line, n in found if n >= FUNCTION
        ]
    median = statistics.median(lines)
    language = "/".join(sorted(suffixes))
    if median >= MEDIAN:
        wrong.append(f"the median of {language} files is {median:.0f} lines, wanted under {MEDIAN}")
    print(f"{len(files)} {language} files, {sum(lines)} lines, median {median:.0f}; {functions} functions")
    return wrong


def main():
    wrong = check({".h", ".cpp"}, functions_of_cpp) + check({".py"}, functions_of_py)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
