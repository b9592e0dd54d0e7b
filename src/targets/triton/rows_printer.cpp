#include "targets/triton/rows_printer.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kUnrolled = 64;  // the most iterations of a sequential reduction that are unrolled
// The most loads of a thread that stand one behind the other: a pool of four branches that are joined had 1,152 in each
// of two places, and ptxas took ten seconds.
constexpr int64_t kStraight = 1024;
constexpr int64_t kInFlight = 192;  // the most elements of a copy's windows that a thread reads before it uses them

int64_t number_of(const Numbers& numbers, const std::string& key, int64_t otherwise) {
  const auto at = numbers.find(key);
  return at == numbers.end() ? otherwise : at->second;
}

// Booleans are reduced as integers.
DType working_type(const Stage& stage) { return stage.body->dtype == DType::b1 ? DType::i32 : stage.body->dtype; }

std::string neutral_text(const Stage& stage) {
  const ExprP value = neutral(stage.combine, stage.body->dtype);
  return stage.body->dtype == DType::b1 ? std::to_string(value->integer) : number_text(*value);
}

}  // namespace

RowsPrinter::RowsPrinter(const Group& group, const Frame& frame, std::string name, const Numbers& numbers,
                         const Hardware& hardware)
    : StagePrinter(group, frame.first, frame.last, std::move(name)),
      plan_(plan_rows(group, frame, numbers.count("flat") > 0)),
      rare_programs_(4 * hardware.cores) {
  for (int s = first_; s <= last_; ++s) axes_[s] = plan_.axes[s - first_];
  extents_ = plan_.extents;
  const Numbers chosen = default_numbers(plan_, hardware);
  tile_.name = "t";
  tile_.extents = plan_.extents;
  tile_.rows.axes = plan_.rows;
  tile_.columns.axes = plan_.columns;
  tile_.rows.block = std::min(number_of(numbers, "rows", chosen.at("rows")), power_of_two(plan_.row_count));
  tile_.columns.block = plan_.columns.empty() ? 1
                                              : std::min(number_of(numbers, "block", chosen.at("block")),
                                                         power_of_two(plan_.column_count));
  warps_ = number_of(numbers, "warps", chosen.at("warps"));
  stages_ = number_of(numbers, "stages", 1);
  loops_ = !plan_.flat_columns && tile_.columns.block < plan_.column_count;
}

TritonLaunch RowsPrinter::run() {
  header();
  if (loops_) {
    looped();
  } else {
    resident();
  }
  if (const ExprP& most = group_.stages[last_].peak_of)
    store_peak(value(canonical(last_, most), tile_), tile_, program_);
  if (!group_.stages[last_].run_if) return finished(programs_, warps_, 1);
  out_.close();
  return finished(std::min(programs_, rare_programs_), warps_, 1);
}

void RowsPrinter::header() {
  const int64_t column_blocks = plan_.flat_columns ? blocks(plan_.column_count, tile_.columns.block) : 1;
  const int64_t row_blocks = plan_.rows.empty() ? 1 : blocks(plan_.row_count, tile_.rows.block);
  int64_t outer = 1;
  for (int a : plan_.programs) outer *= plan_.extents[a];
  programs_ = column_blocks * row_blocks * outer;
  program_ = out_.fresh("pid");
  std::string rest = program_;
  const std::string id = std::string("tl.program_id(0)") + (wide_ ? ".to(tl.int64)" : "");
  if (const ExprP& when = group_.stages[last_].run_if) {
    const std::string tiles = out_.fresh("tiles");
    out_.line(tiles + " = tl.where(" + value(when, tile_).text + ", " + std::to_string(programs_) + ", 0)");
    out_.open("for " + rest + " in range(" + id + ", " + tiles + ", " +
              std::to_string(std::min(programs_, rare_programs_)) + "):");
  } else {
    out_.line(rest + " = " + id);
  }
  const auto take = [&](int64_t count) {
    if (count == 1) return std::string("0");
    const std::string mine = rest + " % " + std::to_string(count), next = out_.fresh("pid");
    const std::string name = out_.fresh("part");
    out_.line(name + " = " + mine);
    out_.line(next + " = " + rest + " // " + std::to_string(count));
    rest = next;
    return name;
  };
  const auto scaled = [](const std::string& text, int64_t by) {
    return text == "0" || by == 1 ? text : text + " * " + std::to_string(by);
  };
  if (plan_.flat_columns)
    open_lane(tile_.columns, "column",
              scaled(column_blocks * row_blocks * outer == column_blocks ? (column_blocks == 1 ? "0" : rest)
                                                                         : take(column_blocks),
                     tile_.columns.block),
              plan_.column_count);
  if (!plan_.rows.empty()) {
    const std::string which = outer == 1 ? (row_blocks == 1 ? "0" : rest) : take(row_blocks);
    open_lane(tile_.rows, "row", scaled(which, tile_.rows.block), plan_.row_count);
  }
  for (size_t i = plan_.programs.size(); i-- > 0;) {
    const int a = plan_.programs[i];
    tile_.scalars[a] = i == 0 ? rest : take(plan_.extents[a]);
  }
}

bool RowsPrinter::has_columns(int s) const {
  const std::vector<int>& axes = axes_.at(s);
  return std::any_of(axes.begin(), axes.begin() + stage(s).rank(), [&](int a) {
    return std::find(plan_.columns.begin(), plan_.columns.end(), a) != plan_.columns.end();
  });
}

bool RowsPrinter::computes(int tensor) const {
  return std::any_of(group_.stages.begin() + first_, group_.stages.begin() + last_ + 1,
                     [&](const GroupStage& one) { return one.dest == tensor; });
}

unsigned RowsPrinter::spatial_dims(int s) const {
  unsigned dims = has_columns(s) && tile_.columns.block > 1 ? kColumns : 0;
  const std::vector<int>& axes = axes_.at(s);
  for (int a = 0; a < stage(s).rank(); ++a)
    if (tile_.rows.block > 1 && std::find(plan_.rows.begin(), plan_.rows.end(), axes[a]) != plan_.rows.end())
      dims |= kRows;
  return dims;
}

void RowsPrinter::missing(int s) {
  if (reduces_columns(s) || is_scan(stage(s).combine)) throw Unsupported{"a reduction's result before its loop ends"};
  compute(s);
}

void RowsPrinter::keep(int s, const Value& value) {
  const bool place = stage(s).combine == Combine::argmax || stage(s).combine == Combine::argmin;
  StagePrinter::keep(s, value, place ? DType::i32 : stage(s).body->dtype, tile_);
}

// A pointwise stage, or one whose reduction every lane does for itself.
void RowsPrinter::compute(int s) {
  int loops = 0;
  for (size_t a = 0; plan_.apart[s - first_] && a < axes_.at(s).size(); ++a) {
    const int axis = axes_.at(s)[a];
    if (axis < plan_.shared + plan_.inner) continue;
    open_walk(axis, true);
    ++loops;
  }
  keep(s, computed(s));
  for (; loops > 0; --loops) out_.close();
}

// A loop of every lane along an axis of its own; the name of its number.
std::string RowsPrinter::open_walk(int axis, bool unrolled) {
  const std::string counter = out_.fresh("r"), name = out_.fresh("r");
  tile_.scalars[axis] = name;
  out_.open("for " + counter + " in " + (unrolled ? "tl.static_range(" : "range(") +
            std::to_string(plan_.extents[axis]) + "):");
  out_.line(name + " = tl.full([], " + counter + ", " + (wide_ ? "tl.int64)" : "tl.int32)"));
  return name;
}

Value RowsPrinter::computed(int s) { return plan_.sequential[s - first_] ? sequential(s) : value(body(s), tile_); }

Value RowsPrinter::filled(const Value& value, unsigned dims, DType dtype) const {
  if (value.dims == dims) return value;
  return {"(" + value.text + " + tl.zeros(" + tile_.shape(dims) + ", " + dtype_text(dtype) + "))", dims};
}

RowsPrinter::Partial RowsPrinter::start(int s, unsigned dims) {
  Partial partial;
  partial.dims = dims;
  const bool online = std::any_of(online_.begin(), online_.end(),
                                  [&](const auto& pair) { return pair.first == s || pair.second == s; });
  const std::string shape =
      online && !tile_.two_dimensional() ? "[" + std::to_string(online_lanes()) + "]" : tile_.shape(dims);
  partial.value = out_.fresh(group_.tensors[group_.stages[s].dest].name + "_so_far");
  out_.line(partial.value + " = tl.full(" + shape + ", " + neutral_text(stage(s)) + ", " +
            dtype_text(working_type(stage(s))) + ")");
  if (stage(s).combine == Combine::argmax || stage(s).combine == Combine::argmin) {
    partial.place = out_.fresh(group_.tensors[group_.stages[s].dest].name + "_place");
    out_.line(partial.place + " = tl.full(" + tile_.shape(dims) + ", 0, " + (wide_ ? "tl.int64)" : "tl.int32)"));
  }
  return partial;
}

void RowsPrinter::add(int s, const Partial& partial, Value value, const std::string& place, const std::string& mask) {
  if (stage(s).body->dtype == DType::b1) value.text = "(" + value.text + ").to(tl.int32)";
  if (!mask.empty()) value.text = "tl.where(" + mask + ", " + value.text + ", " + neutral_text(stage(s)) + ")";
  const bool floating = is_float(stage(s).body->dtype);
  const std::string& so_far = partial.value;
  const std::string nan = floating ? ", propagate_nan=tl.PropagateNan.ALL)" : ")";
  switch (stage(s).combine) {
    case Combine::sum: out_.line(so_far + " += " + value.text); return;
    case Combine::prod: out_.line(so_far + " *= " + value.text); return;
    case Combine::max: out_.line(so_far + " = tl.maximum(" + so_far + ", " + value.text + nan); return;
    case Combine::min: out_.line(so_far + " = tl.minimum(" + so_far + ", " + value.text + nan); return;
    default: break;
  }
  const std::string name = out_.fresh("t"), take = out_.fresh("take");
  out_.line(name + " = " + value.text);
  const std::string sign = stage(s).combine == Combine::argmax ? " > " : " < ";
  out_.line(take + " = (" + name + sign + so_far + ")" +
            (floating ? " | ((" + name + " != " + name + ") & (" + so_far + " == " + so_far + "))" : ""));
  out_.line(so_far + " = tl.where(" + take + ", " + name + ", " + so_far + ")");
  out_.line(partial.place + " = tl.where(" + take + ", " + place + ", " + partial.place + ")");
}

// Every lane walks its own reduce axes.
Value RowsPrinter::sequential(int s) {
  const std::vector<int>& axes = axes_.at(s);
  const Partial partial = start(s, spatial_dims(s));
  int64_t count = 1, loops = 0;
  std::string place;
  std::set<int> walks;
  for (size_t a = stage(s).rank(); a < axes.size(); ++a)
    if (axes[a] >= 0) count *= plan_.extents[axes[a]], walks.insert(axes[a]);
  const int64_t each_thread = std::max<int64_t>(1, tile_.rows.block * tile_.columns.block / (32 * warps_));
  int64_t inner = count;  // iterations of a loop and those within it
  const ExprP each = body(s);
  std::vector<const Expr*> loads = loads_of(each);
  std::erase_if(loads, [&](const Expr* e) { return computes(e->tensor); });
  walk(loads, walks, tile_);
  const auto loads_each = static_cast<int64_t>(loads.size());
  for (size_t a = stage(s).rank(); a < axes.size(); ++a) {
    if (axes[a] < 0) continue;
    const std::string extent = std::to_string(plan_.extents[axes[a]]);
    const bool unrolled = count <= kUnrolled && inner * each_thread * loads_each <= kStraight &&
                          (!plan_.windows_to_copy || inner * each_thread <= kInFlight);
    inner /= plan_.extents[axes[a]];
    const std::string name = open_walk(axes[a], unrolled);
    place = place.empty() ? name : "(" + place + ") * " + extent + " + " + name;
    ++loops;
  }
  const Value one = value(each, tile_);
  add(s, partial, one, place, "");
  for (; loops > 0; --loops) out_.close();
  walked();
  if (!partial.place.empty()) return {partial.place, partial.dims};
  return {stage(s).body->dtype == DType::b1 ? "(" + partial.value + " != 0)" : partial.value, partial.dims};
}

// The columns of a partial result become one value a row.
Value RowsPrinter::reduced(int s, const Partial& partial) {
  const std::string where = std::string(", axis=") + (tile_.two_dimensional() ? "1, keep_dims=True)" : "0)");
  const auto generic = [&](const std::string& values, const std::string& helper) {
    need(helper);
    return "tl.reduce(" + values + ", " + (tile_.two_dimensional() ? "1, " : "0, ") + helper +
           (tile_.two_dimensional() ? ", keep_dims=True)" : ")");
  };
  const unsigned dims = partial.dims & kRows;
  if ((partial.dims & kColumns) == 0) return {partial.place.empty() ? partial.value : partial.place, dims};
  const bool floating = is_float(stage(s).body->dtype);
  const std::string truth = stage(s).body->dtype == DType::b1 ? " != 0" : "";
  switch (stage(s).combine) {
    case Combine::sum: return {"tl.sum(" + partial.value + where, dims};
    case Combine::prod: return {generic(partial.value, "_multiply"), dims};
    case Combine::max:
      return {floating ? generic(partial.value, "_maximum") : "tl.max(" + partial.value + where + truth, dims};
    case Combine::min:
      return {floating ? generic(partial.value, "_minimum") : "tl.min(" + partial.value + where + truth, dims};
    default: break;
  }
  const std::string ignored = out_.fresh("t"), place = out_.fresh("place");
  out_.line(ignored + ", " + place + " = " +
            generic("(" + partial.value + ", " + partial.place + ")",
                    stage(s).combine == Combine::argmax ? "_first_largest" : "_first_smallest"));
  return {place, dims};
}

void RowsPrinter::resident() {
  if (!plan_.columns.empty() && !plan_.flat_columns) open_lane(tile_.columns, "column", "0", plan_.column_count);
  for (int s = first_; s <= last_; ++s) {
    if (is_held(s)) continue;
    if (reduces_columns(s)) {
      Value all = value(body(s), tile_);
      if (stage(s).body->dtype == DType::b1) all.text = "(" + all.text + ").to(tl.int32)";
      const unsigned full = tile_.all();
      all = filled(all, full, working_type(stage(s)));
      const std::string mask = tile_.mask(full & kColumns);
      if (!mask.empty()) all.text = "tl.where(" + mask + ", " + all.text + ", " + neutral_text(stage(s)) + ")";
      Partial partial{all.text, "", full};
      if (stage(s).combine == Combine::argmax || stage(s).combine == Combine::argmin) {
        partial.place = filled({tile_.columns.block > 1 ? tile_.along(tile_.columns.flat, kColumns) : "0",
                                tile_.columns.block > 1 ? kColumns : 0},
                               full, DType::i32)
                            .text;
      }
      keep(s, reduced(s, partial));
    } else if (is_scan(stage(s).combine)) {
      keep(s, scanned(s, value(body(s), tile_)));
    } else {
      compute(s);
    }
  }
}

// A stage's body with the pointwise values of this frame, which only it and others here read, written out.
ExprP RowsPrinter::resolved(int s) const {
  return transform_loads(body(s), [&](const ExprP& e) -> ExprP {
    if (e->guard) return e;
    for (int p = first_; p < s; ++p)
      if (group_.stages[p].dest == e->tensor && stage(p).combine == Combine::none && has_columns(p))
        return cast(e->dtype, body(p));
    return e;
  });
}

// The maximum over the same columns of f, when the stage is a sum of exp(f - maximum); else -1.
int RowsPrinter::shifted_by(int s) const {
  if (!reduces_columns(s) || stage(s).combine != Combine::sum) return -1;
  const ExprP sum = resolved(s);
  if (sum->kind != Expr::Kind::call || sum->fn != Fn::exp) return -1;
  const ExprP& difference = sum->args[0];
  if (difference->kind != Expr::Kind::call || difference->fn != Fn::sub) return -1;
  for (int p = first_; p < s; ++p) {
    if (!reduces_columns(p) || stage(p).combine != Combine::max) continue;
    if (to_string(resolved(p)) != to_string(difference->args[0])) continue;
    const auto loads = loads_of(difference->args[1]);
    if (!loads.empty() &&
        std::all_of(loads.begin(), loads.end(), [&](const Expr* e) { return e->tensor == group_.stages[p].dest; }))
      return p;
  }
  return -1;
}

// In which pass over the columns a stage's result is known: reductions one after those that they read.
std::vector<int> RowsPrinter::levels() const {
  std::vector<int> level;
  for (int s = first_; s <= last_; ++s) {
    int mine = 0;
    for (const Expr* e : loads_of(stage(s).body))
      for (int p = first_; p < s; ++p)
        if (group_.stages[p].dest == e->tensor) mine = std::max(mine, level[p - first_] + (reduces_columns(p) ? 1 : 0));
    if (const auto at = online_.find(s); at != online_.end()) mine = level[at->second - first_];
    level.push_back(mine);
  }
  return level;
}

void RowsPrinter::looped() {
  for (int s = first_; s <= last_; ++s)
    if (const int largest = shifted_by(s); largest >= 0) {
      // A maximum takes one sum along: a second one would find it moved.
      const bool taken =
          std::any_of(online_.begin(), online_.end(), [&](const auto& pair) { return pair.second == largest; });
      if (!taken) online_[s] = largest;
    }
  const std::vector<int> level = levels();
  for (int now = 0; now <= *std::max_element(level.begin(), level.end()); ++now) pass(now);
  for (int s = first_; s <= last_; ++s)
    if (stored(s) && !has_columns(s) && !is_held(s)) compute(s);
}

// Every lane keeps its own maximum and the sum of exp(f - maximum) (Milakov and Gimelshein, 2018). Where a thread has
// several elements of a block, they are reduced first, by the thread itself: its sum is scaled once a block.
void RowsPrinter::add_online(int largest, const Partial& most, const Partial& total) {
  const std::string x = out_.fresh("x"), now = out_.fresh("now"), shift = out_.fresh("shift");
  Value one = value(body(largest), tile_);
  const std::string mask = tile_.mask(kColumns);
  if (!mask.empty()) one.text = "tl.where(" + mask + ", " + one.text + ", float(\"-inf\"))";
  const int64_t lanes = online_lanes(), each = tile_.columns.block / lanes;
  if (each > 1) {
    need("_maximum");
    one.text = "tl.reshape(" + one.text + ", [" + std::to_string(each) + ", " + std::to_string(lanes) + "])";
  }
  out_.line(x + " = " + one.text);
  out_.line(now + " = tl.maximum(" + most.value + ", " + (each > 1 ? "tl.reduce(" + x + ", 0, _maximum)" : x) +
            ", propagate_nan=tl.PropagateNan.ALL)");
  out_.line(shift + " = tl.where(" + now + " == float(\"-inf\"), 0.0, " + now + ")");
  const std::string exps = "tl.exp(" + x + " - " + shift + (each > 1 ? "[None, :])" : ")");
  out_.line(total.value + " = " + total.value + " * tl.exp(" + most.value + " - " + shift + ") + " +
            (each > 1 ? "tl.sum(" + exps + ", axis=0)" : exps));
  out_.line(most.value + " = " + now);
}

// Elements of a block that lie side by side in the threads' registers: four of f32 are loaded at once.
int64_t RowsPrinter::online_lanes() const {
  const int64_t side_by_side = 4 * 32 * warps_;
  const bool folds = !tile_.two_dimensional() && tile_.columns.block > side_by_side;
  return folds ? side_by_side : tile_.columns.block;
}

void RowsPrinter::finish_online(int largest, int sum, const Partial& most, const Partial& total) {
  keep(largest, reduced(largest, most));
  const std::string row = out_.find("held:" + std::to_string(group_.stages[largest].dest))->text;
  const std::string shift = out_.fresh("shift");
  out_.line(shift + " = tl.where(" + row + " == float(\"-inf\"), 0.0, " + row + ")");
  out_.line(total.value + " *= tl.exp(" + most.value + " - " + shift + ")");
  Value result = reduced(sum, total);
  // exp(-inf - -inf), unless the definition guards against it.
  if (resolved(sum)->args[0]->args[1]->kind == Expr::Kind::load)
    result.text = "tl.where(" + row + " == float(\"-inf\"), float(\"nan\"), " + result.text + ")";
  keep(sum, result);
}

void RowsPrinter::pass(int now) {
  const std::vector<int> level = levels();
  std::vector<int> stages;
  for (int s = first_; s <= last_; ++s)
    if (level[s - first_] == now && (reduces_columns(s) || is_scan(stage(s).combine) || (stored(s) && has_columns(s))))
      stages.push_back(s);
  if (stages.empty()) return;
  std::map<int, Partial> partials;
  std::set<int> paired;  // maxima that a sum takes along
  for (int s : stages) {
    if (reduces_columns(s)) partials[s] = start(s, tile_.all());
    if (const auto at = online_.find(s); at != online_.end()) paired.insert(at->second);
    if (!is_scan(stage(s).combine)) continue;
    carries_[s] = out_.fresh("carry");
    out_.line(carries_[s] + " = tl.full(" + tile_.shape(tile_.all() & kRows) + ", " +
              (stage(s).combine == Combine::scan_sum ? "0" : "1") + ", " + dtype_text(carried_in(s)) + ")");
  }
  // What a row's lanes add up for themselves is the same for all blocks of columns.
  for (int s = first_; s <= last_; ++s)
    if (level[s - first_] <= now && plan_.sequential[s - first_] && !has_columns(s) && !is_held(s)) compute(s);
  // A later pass walks backwards: what the one before read last is still in the L2.
  const bool scans = std::any_of(stages.begin(), stages.end(), [&](int s) { return is_scan(stage(s).combine); });
  const bool places =
      std::any_of(partials.begin(), partials.end(), [](const auto& p) { return !p.second.place.empty(); });
  const bool backwards = now > 0 && !scans && !places;
  const std::string from = out_.fresh("start"), step = backwards ? out_.fresh("back") : from;
  const int64_t block = tile_.columns.block;
  const std::string steps = "(0, " + std::to_string(plan_.column_count) + ", " + std::to_string(block);
  // Only with a number of its own does Triton load ahead where nothing is multiplied.
  out_.open("for " + step + " in " +
            (stages_ == 1 ? "range" + steps : "tl.range" + steps + ", num_stages=" + std::to_string(stages_)) + "):");
  if (backwards)
    out_.line(from + " = " + std::to_string((blocks(plan_.column_count, block) - 1) * block) + " - " + step);
  open_lane(tile_.columns, "column", from, plan_.column_count);
  for (int s : stages) {
    if (is_held(s) || paired.count(s)) continue;
    if (online_.count(s)) {
      add_online(online_.at(s), partials[online_.at(s)], partials[s]);
    } else if (reduces_columns(s)) {
      add(s, partials[s], value(body(s), tile_), tile_.along(tile_.columns.flat, kColumns), tile_.mask(kColumns));
    } else if (is_scan(stage(s).combine)) {
      keep(s, scanned(s, value(body(s), tile_)));
    } else {
      compute(s);
    }
  }
  out_.close();
  for (const auto& [s, partial] : partials) {
    if (online_.count(s)) {
      finish_online(online_.at(s), s, partials[online_.at(s)], partial);
    } else if (!paired.count(s)) {
      keep(s, reduced(s, partial));
    }
  }
}

TritonLaunch print_rows(const Group& group, const Frame& frame, const std::string& name, const Numbers& numbers,
                        const Hardware& hardware) {
  return RowsPrinter(group, frame, name, numbers, hardware).run();
}

}  // namespace mtmc::triton
