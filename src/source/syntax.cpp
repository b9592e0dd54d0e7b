#include "source/syntax.h"

#include <memory>

#ifdef MTMC_TREE_SITTER
#include <tree_sitter/api.h>

extern "C" const TSLanguage* tree_sitter_python();
extern "C" const TSLanguage* tree_sitter_cuda();
#endif

namespace mtmc {

const SyntaxNode* SyntaxNode::part(std::string_view name) const {
  for (const SyntaxNode& child : children)
    if (child.field == name) return &child;
  return nullptr;
}

#ifdef MTMC_TREE_SITTER

namespace {

constexpr size_t kLongest = 1 << 18;  // bytes: what nobody writes by hand, and no language model in one answer
constexpr int kDeepest = 300;

// Where the cursor stands, with all that is below.
SyntaxNode node_at(TSTreeCursor& cursor, std::string_view text, int depth) {
  const TSNode at = ts_tree_cursor_current_node(&cursor);
  const char* field = ts_tree_cursor_current_field_name(&cursor);
  const size_t begin = ts_node_start_byte(at), end = ts_node_end_byte(at);
  const TSPoint last = ts_node_end_point(at);
  SyntaxNode node;
  node.kind = ts_node_type(at);
  if (field != nullptr) node.field = field;
  node.text = text.substr(begin, end - begin);
  node.lines.first = static_cast<int>(ts_node_start_point(at).row) + 1;
  node.lines.last =
      static_cast<int>(last.row) + (last.column == 0 && end > begin ? 0 : 1);  // up to the line's beginning
  node.named = ts_node_is_named(at);
  if (depth == kDeepest || !ts_tree_cursor_goto_first_child(&cursor)) return node;
  node.children.reserve(ts_node_child_count(at));
  do node.children.push_back(node_at(cursor, text, depth + 1));
  while (ts_tree_cursor_goto_next_sibling(&cursor));
  ts_tree_cursor_goto_parent(&cursor);
  return node;
}

// Byte and row of `to`, walked to from an earlier place.
struct Place {
  size_t byte = 0;
  TSPoint point = {0, 0};
  void walk(std::string_view text, size_t to) {
    for (; byte < to; ++byte) {
      ++point.column;
      if (text[byte] == '\n') point = {point.row + 1, 0};
    }
  }
};

}  // namespace

Result<SyntaxNode> parse_code(std::string_view text, Language language, const std::vector<Piece>& pieces) {
  if (text.size() > kLongest)
    return Error{"reading code", "too long", std::to_string(text.size()) + " bytes", "256 KB at most"};
  const std::unique_ptr<TSParser, void (*)(TSParser*)> parser(ts_parser_new(), ts_parser_delete);
  MTMC_CHECK(
      ts_parser_set_language(parser.get(), language == Language::python ? tree_sitter_python() : tree_sitter_cuda()),
      "tree-sitter does not take this grammar");
  std::vector<TSRange> ranges;
  Place place;
  for (const auto& [begin, end] : pieces) {
    place.walk(text, begin);
    const TSPoint start = place.point;
    place.walk(text, end);
    ranges.push_back({start, place.point, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
  }
  MTMC_CHECK(ts_parser_set_included_ranges(parser.get(), ranges.data(), static_cast<uint32_t>(ranges.size())),
             "pieces of a text overlap");
  const std::unique_ptr<TSTree, void (*)(TSTree*)> tree(
      ts_parser_parse_string(parser.get(), nullptr, text.data(), static_cast<uint32_t>(text.size())), ts_tree_delete);
  MTMC_CHECK(tree != nullptr, "tree-sitter gave no tree");
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree.get()));
  SyntaxNode root = node_at(cursor, text, 0);
  ts_tree_cursor_delete(&cursor);
  return root;
}

bool can_parse() { return true; }

#else

Result<SyntaxNode> parse_code(std::string_view, Language, const std::vector<Piece>&) {
  return Error{"reading code", "this program was built without tree-sitter", "",
               "tools/fetch_deps tree-sitter, and a build after it"};
}

bool can_parse() { return false; }

#endif

}  // namespace mtmc
