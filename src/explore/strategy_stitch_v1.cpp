// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Strategy "stitch-v1": greedy stitching by rule, after PAI's first version. A producer joins its consumer when
//   1. both are memory-bound, and neither is one that no kernel can hold yet: a sort, long window, random number or the
//      like stays alone;
//   2. one flat loop (map) or one pass over rows (row) can compute the union: row reductions all over the same rows and
//      columns, what depends on them used only by its own row, outputs [R,N] or [R]; or one pass down columns: column
//      reductions all over the same columns, with what makes their input where nobody else reads it, and what follows
//      with one element per column. Nothing of full size is written beside columns, because they make few blocks. A
//      full reduction may take element-wise producers in front of it that nobody else reads, and nothing
//      behind it; but no producer that has a plan of its own while the union has none;
//   3. the union stays above one block: at least two rows. A single row is stitched only while it is short, because
//      then the launches that are saved cost more than the blocks that are idle; nothing else is stitched behind a
//      reduction to one number;
//   4. no expensive operation is computed again for every element of a broadcast, unless it is one number, nor for
//   every place of a gather that has more of them than there are elements;
//   5. the union has at most 64 arguments or no more than one of the two had, and no other group would have to wait for
//   it in a circle;
//   6. the union has at most 512 operations, so that a merge looks at no more and the time of the whole is linear in
//   the nodes, whatever their order; and at most 64 reductions, each of which is some 9 KB of text for the compiler;
//   7. no element of the union needs a value at more than 128 places, as windows of windows and trees of slices do:
//   each of these places is loaded or computed again. Where there are windows, what their taps compute again takes no
//   more instructions than GPUs have time for while the bytes would pass that the union does not write and read.
// Producers are offered to consumers in topological order until nothing changes; then siblings that read one array and
// run over the same space are merged, and the first part is repeated. One number read by many does not bring its
// readers together. What a rule refuses is written on the edge.
//
// What is left alone then is not worth a launch:
//   pack      a unit that computes single numbers (a loop's counter) joins another unit, related or not, that a flat
//             loop or one row computes: its numbers are written by one thread beside the other outputs. This comes last
//             because whoever reads the numbers waits for the whole group. Numbers that dissolve are left out.
//   dissolve  a group of cheap operations (no transcendental ones) that reads no more bytes than it writes, and that
//             only other groups read, is computed again by each of these groups (`recomputed` edges). Single numbers go
//             into a dynamic slice or update too, for they are the index that it begins with: kernels of today can hold
//             such a look-up neither with them nor without.
//
// Left out: packing of other groups that share nothing, any price: V1 has none. When it is stopped it keeps what it
// merged so far and says nothing of edges.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/counted.h"
#include "codegen/structure/structure.h"
#include "costmodel/group_summary.h"
#include "explore/borders.h"
#include "explore/contraction.h"
#include "explore/edge_notes.h"
#include "explore/places.h"
#include "explore/spending.h"
#include "explore/strategy.h"

namespace tailor::explore {

using namespace ir;

namespace {

class StitchV1 {
 public:
  StitchV1(const FusionTask& task, const StitchV1Rules& rules)
      : graph_(task.graph),
        rules_(rules),
        def_use_(task.def_use),
        spending_(task),
        units_(graph_, def_use_),
        alone_(graph_.nodes.size(), false) {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (def_use_.roles[i] == Role::work) {
        link(static_cast<NodeId>(i));
        alone_[i] = codegen::refused_alone(graph_, static_cast<NodeId>(i)).has_value();
      }
  }

  Fusion run() {
    do {
      while (join_producers()) {
      }
    } while (join_siblings());
    packing_ = true;
    tried_.clear();  // other pairs are allowed now
    if (!spending_.over()) pack_numbers();
    return result();
  }

 private:
  void link(NodeId consumer) {
    for (const NodeId producer : suppliers(graph_, def_use_, consumer)) {
      if (def_use_.roles[index(producer)] != Role::work) continue;
      EdgeNote& edge = edges_.emplace_back();
      edge.producer = producer;
      edge.consumer = consumer;
    }
  }

  bool join_producers() {
    bool changed = false;
    for (EdgeNote& edge : edges_)
      changed |= try_merge(units_.unit(edge.producer), units_.unit(edge.consumer), &edge.reason);
    return changed;
  }

  /// Readers of one array, neighbours in topological order.
  bool join_siblings() {
    bool changed = false;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const bool array = def_use_.roles[i] != Role::free && graph_.nodes[i].shape.dtype != DType::tuple &&
                         elements(graph_.nodes[i].shape) > 1;
      if (!array) continue;
      NodeId previous = no_node;
      for (const NodeId user : def_use_.users[i]) {
        if (def_use_.roles[index(user)] != Role::work) continue;
        if (previous != no_node) changed |= try_merge(units_.unit(previous), units_.unit(user), nullptr);
        previous = user;
      }
    }
    return changed;
  }

  bool try_merge(NodeId a, NodeId b, std::string* reason) {
    if (a == b || spending_.over()) return false;
    const auto key = std::minmax(a, b);
    const std::pair versions{units_.version(key.first), units_.version(key.second)};
    const auto [tried, fresh] = tried_.try_emplace(key);
    if (!fresh && tried->second.versions == versions) {
      if (reason && reason->empty()) *reason = "refused: " + tried->second.refused;
      return false;
    }
    const std::optional<std::string> refused = refusal(a, b, reason == nullptr);
    tried->second = {versions, refused.value_or("")};
    if (refused) {
      if (reason) *reason = "refused: " + *refused;
      return false;
    }
    units_.merge(a, b);
    return true;
  }

  std::string label(NodeId id) const { return "%" + graph_[id].name; }

  /// A node that no map or row group can hold together with others.
  std::optional<std::string> stays_alone(NodeId unit) const {
    for (const NodeId id : units_.nodes(unit)) {
      const OpClass kind = class_of(graph_[id].op);
      if (kind == OpClass::reduction || !alone_[index(id)]) continue;
      const bool plain = is_elementwise(graph_[id].op) || kind == OpClass::index || kind == OpClass::leaf;
      return fmt::format("{} {} stays alone", plain ? name(graph_[id].op) : name(kind), label(id));
    }
    return std::nullopt;
  }

  bool is_column(NodeId id) const { return codegen::reduce_kind(graph_, id) == codegen::ReduceKind::column; }

  /// Whether a row group may hold the reduction and go on behind it.
  bool is_stitchable(NodeId id) const {
    const codegen::Layout layout = codegen::row_layout(graph_, id);
    if (codegen::reduce_kind(graph_, id) == codegen::ReduceKind::full) return layout.columns <= rules_.one_row_columns;
    return codegen::reduce_kind(graph_, id) == codegen::ReduceKind::row && layout.rows >= rules_.rows;
  }

  /// Columns that are gone through again, by few blocks each of which has some of them or by all that meet: rules know
  /// no price of either, and leave two kernels.
  bool goes_down_again(const Boundary& border, const codegen::Layout& layout) const {
    if (layout.skeleton != Skeleton::column) return false;
    const codegen::Region region(graph_, border);
    const std::unordered_set<NodeId> behind = codegen::behind_reductions(region);
    return std::any_of(region.inside().begin(), region.inside().end(), [&](NodeId id) {
      const Node& node = region[id];
      const bool depends = std::any_of(node.operands.begin(), node.operands.end(),
                                       [&](NodeId operand) { return behind.contains(operand); });
      const bool spreads = node.op == Op::broadcast && elements(node.shape) != elements(graph_[node.operands[0]].shape);
      return depends && (node.op == Op::reduce || spreads) && !codegen::is_written_in_place(border, id);
    });
  }

  /// How long and many the columns are, when the group goes down them once and writes one element for each.
  std::optional<codegen::Layout> column_group(const Boundary& border) const {
    const codegen::Classified structure = codegen::analyse_loop(graph_, border);
    const auto* layout = std::get_if<codegen::Layout>(&structure);
    if (layout == nullptr || layout->skeleton != Skeleton::column) return std::nullopt;
    for (const NodeId id : border.writes)
      if (elements(graph_[id].shape) != layout->rows) return std::nullopt;
    if (goes_down_again(border, *layout)) return std::nullopt;
    return codegen::find_doubt(graph_, border, *layout) ? std::nullopt : std::optional(*layout);
  }

  /// The reduction of a unit that no row group can hold: column, one long row, or one that no kernel writes.
  NodeId odd_reduction(NodeId unit) const {
    for (const NodeId id : units_.nodes(unit)) {
      const Node& node = graph_[id];
      if (node.op != Op::reduce) continue;
      if (alone_[index(id)] || !is_stitchable(id)) return id;
    }
    return no_node;
  }

  std::optional<std::string> refusal(NodeId a, NodeId b, bool siblings) {
    const std::size_t operations = units_.nodes(a).size() + units_.nodes(b).size();
    if (operations > rules_.operations) return fmt::format("{} operations, at most {}", operations, rules_.operations);
    const std::size_t reductions = reductions_of(graph_, units_.nodes(a)) + reductions_of(graph_, units_.nodes(b));
    if (reductions > rules_.reductions) return fmt::format("{} reductions, at most {}", reductions, rules_.reductions);
    if (auto alone = stays_alone(a)) return alone;
    if (auto alone = stays_alone(b)) return alone;
    std::vector<NodeId> merged;
    std::merge(units_.nodes(a).begin(), units_.nodes(a).end(), units_.nodes(b).begin(), units_.nodes(b).end(),
               std::back_inserter(merged));
    const Boundary border = boundary(graph_, def_use_, merged);
    const bool is_odd = odd_reduction(a) != no_node || odd_reduction(b) != no_node;
    if (is_odd) {
      if (const auto columns = column_group(border)) {
        if (auto again = recomputes(border, *columns)) return again;
      } else {
        if (auto odd = odd_refusal(a, b, border, siblings)) return *odd;
        if (auto planless = loses_plan(a, b, border)) return planless;
      }
    } else {
      const codegen::Classified structure = codegen::analyse_loop(graph_, border);
      if (const auto* rejection = std::get_if<Rejection>(&structure))
        return fmt::format("{}: {}", rejection->rule, rejection->reason);
      const auto& layout = std::get<codegen::Layout>(structure);
      if (const auto doubt = codegen::find_doubt(graph_, border, layout))
        return fmt::format("{}: {}", doubt->rule, doubt->reason);
      if (goes_down_again(border, layout)) return "columns are gone through again";
      if (auto few = leaves_one_block(border, layout)) return few;
      if (!packing_)
        if (auto number = writes_number_beside(border)) return number;
      if (auto again = recomputes(border, layout)) return again;
    }
    if (const auto all_over = read_all_over(codegen::Region(graph_, border), rules_.places))
      return fmt::format("an element would need {} at more than {} places", label(*all_over), rules_.places);
    if (auto again = goes_through_again(a, b)) return again;
    const std::size_t arguments = border.reads.size() + border.writes.size();
    if (arguments > static_cast<std::size_t>(rules_.arguments) &&
        arguments > std::max(own_arguments(a), own_arguments(b)))
      return fmt::format("{} arguments, at most {}", arguments, rules_.arguments);
    const NodeId blocker = units_.blocker(a, b);
    if (blocker != no_node) return fmt::format("would make a cycle through {}", label(blocker));
    return std::nullopt;
  }

  bool has_window(NodeId unit) const {
    const std::vector<NodeId>& nodes = units_.nodes(unit);
    return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) { return graph_[id].op == Op::reduce_window; });
  }

  costmodel::GroupSummary summary_of(std::initializer_list<NodeId> units) {
    if (!facts_) facts_ = costmodel::group_facts(graph_, def_use_);
    if (!summaries_) scratch_ = summaries_.emplace(*facts_).create();
    for (const NodeId unit : units)
      for (const NodeId id : units_.nodes(unit)) summaries_->add(scratch_, id);
    costmodel::GroupSummary summary = summaries_->summary(scratch_);
    for (const NodeId unit : units)
      for (const NodeId id : units_.nodes(unit)) summaries_->remove(id);
    return summary;
  }

  /// Rule 7: a window goes through its taps, and all that stands before it is computed for each.
  std::optional<std::string> goes_through_again(NodeId a, NodeId b) {
    if (!has_window(a) && !has_window(b)) return std::nullopt;
    const auto work = [](const costmodel::GroupSummary& s) { return s.fma + s.alu + s.xu + s.f64 + s.loads; };
    const auto bytes = [](const costmodel::GroupSummary& s) { return s.read + s.written; };
    const costmodel::GroupSummary one = summary_of({a}), other = summary_of({b}), both = summary_of({a, b});
    const double again = work(both) - work(one) - work(other), saved = bytes(one) + bytes(other) - bytes(both);
    if (again <= rules_.again_per_byte * std::max(0.0, saved) + rules_.again_per_launch) return std::nullopt;
    return fmt::format("windows would do {:.2g} instructions again to save {:.2g} bytes", again, std::max(0.0, saved));
  }

  /// One long row is reduced and left. Its halves, where it arrives in steps, may each be rows of their own; what they
  /// are together is seen in the structure alone.
  std::optional<std::string> leaves_one_block(const Boundary& border, const codegen::Layout& layout) const {
    if (layout.skeleton != Skeleton::row || layout.rows >= rules_.rows || layout.columns <= rules_.one_row_columns)
      return std::nullopt;
    for (const NodeId id : border.writes)
      if (elements(graph_[id].shape) != layout.rows)
        return fmt::format("would leave one block: {} is written beside {}", label(id), codegen::text(layout));
    return std::nullopt;
  }

  /// One number written beside an array: left for the end (see `pack`).
  std::optional<std::string> writes_number_beside(const Boundary& border) const {
    NodeId number = no_node, array = no_node;
    bool reduces = false;
    for (const NodeId id : border.inside) reduces = reduces || graph_[id].op == Op::reduce;
    for (const NodeId id : border.writes) (elements(graph_[id].shape) == 1 ? number : array) = id;
    if (reduces || number == no_node || array == no_node) return std::nullopt;
    return fmt::format("{} is one number, written beside {}", label(number), label(array));
  }

  bool is_slice_at(NodeId id) const {
    return graph_[id].op == Op::dynamic_slice || graph_[id].op == Op::dynamic_update_slice;
  }

  bool is_number(NodeId id) const { return graph_[id].shape.dtype != DType::tuple && elements(graph_[id].shape) == 1; }

  bool computes_numbers(NodeId unit) const {
    return std::all_of(units_.nodes(unit).begin(), units_.nodes(unit).end(), [&](NodeId id) { return is_number(id); });
  }

  /// Units of single numbers join others: those that read them first, then the next ones in topological order. Only
  /// so many are asked, which keeps this linear.
  void pack_numbers() {
    std::vector<NodeId> order;  // one node of each unit, by the place of its first
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      if (def_use_.roles[i] == Role::work && units_.nodes(units_.unit(id)).front() == id) order.push_back(id);
    }
    std::erase_if(order, [&](NodeId id) { return melts_into_slices(units_.unit(id)); });
    for (std::size_t i = 0; i < order.size(); ++i) {
      const NodeId number = order[i];
      if (!computes_numbers(units_.unit(number))) continue;
      bool packed = false;
      for (const NodeId user : def_use_.users[index(number)])
        if (!packed && def_use_.roles[index(user)] == Role::work)
          packed = try_merge(units_.unit(number), units_.unit(user), nullptr);
      const std::size_t first = i > asked_each_way ? i - asked_each_way : 0;
      const std::size_t last = std::min(order.size(), i + asked_each_way + 1);
      for (std::size_t j = first; j < last && !packed; ++j)
        packed = try_merge(units_.unit(number), units_.unit(order[j]), nullptr);
    }
  }

  std::size_t own_arguments(NodeId unit) const {
    const Boundary border = boundary(graph_, def_use_, units_.nodes(unit));
    return border.reads.size() + border.writes.size();
  }

  /// Rules 2 and 3 for reductions that end their group.
  std::optional<std::string> odd_refusal(NodeId a, NodeId b, const Boundary& border, bool siblings) const {
    const NodeId above = odd_reduction(a), below = odd_reduction(b);
    if (above == no_node && below == no_node) return std::nullopt;
    const NodeId odd = above != no_node ? above : below;
    const codegen::Layout layout = codegen::row_layout(graph_, odd);
    if (above != no_node || siblings) {
      if (layout.rows < rules_.rows)
        return fmt::format("would leave one block: {} reduces {} to one row", label(odd),
                           counted(layout.columns, "number"));
      return fmt::format("{} reduction {} consumed inside", name(codegen::reduce_kind(graph_, odd)), label(odd));
    }
    for (const NodeId id : units_.nodes(a))
      if (graph_[id].op == Op::reduce)
        return fmt::format("row reduction {} in front of {} reduction {}", label(id),
                           name(codegen::reduce_kind(graph_, odd)), label(odd));
    for (const NodeId id : border.writes)
      if (std::binary_search(units_.nodes(a).begin(), units_.nodes(a).end(), id))
        return fmt::format("{} has readers besides the {} reduction {}", label(id),
                           name(codegen::reduce_kind(graph_, odd)), label(odd));
    return std::nullopt;
  }

  /// Rule 4: an expensive operation under a broadcast, computed once per row at best, or at places that repeat.
  std::optional<std::string> recomputes(const Boundary& border, const codegen::Layout& layout) const {
    for (const NodeId id : border.inside) {
      const Node& node = graph_[id];
      const bool repeats = node.op == Op::broadcast || node.op == Op::gather;
      if (!repeats || elements(node.shape) <= elements(graph_[node.operands[0]].shape)) continue;
      NodeId source = node.operands[0];
      while (def_use_.roles[index(source)] == Role::free && !graph_[source].operands.empty())
        source = graph_[source].operands[0];
      const Node& from = graph_[source];
      const std::int64_t count = elements(from.shape);
      const bool per_row = count == layout.rows;
      const bool inside = std::find(border.inside.begin(), border.inside.end(), source) != border.inside.end();
      if (inside && count > 1 && !per_row && row(from.op).xu > 0)
        return fmt::format("would compute {} {} {} times", name(from.op), label(source), elements(node.shape) / count);
    }
    return std::nullopt;
  }

  /// Rule 2: an odd reduction that no kernel can hold takes nothing along that has a plan of its own.
  std::optional<std::string> loses_plan(NodeId a, NodeId b, const Boundary& merged) const {
    if (odd_reduction(a) == no_node && odd_reduction(b) == no_node) return std::nullopt;
    const codegen::Classified whole = codegen::analyse_loop(graph_, merged);
    const auto* refused = std::get_if<Rejection>(&whole);
    if (refused == nullptr) return std::nullopt;
    for (const NodeId part : {a, b}) {
      const Boundary own = boundary(graph_, def_use_, units_.nodes(part));
      if (std::holds_alternative<codegen::Layout>(codegen::analyse_loop(graph_, own)))
        return fmt::format("{}: {}; {} has a plan of its own", refused->rule, refused->reason,
                           label(units_.nodes(part).back()));
    }
    return std::nullopt;
  }

  std::string medium(const EdgeNote& edge) const {
    const Node& producer = graph_[edge.producer];
    const Node& consumer = graph_[edge.consumer];
    if (producer.op == Op::reduce && is_column(edge.producer))
      return "stitched: the column reduction feeds its own columns, in the block that adds them up";
    if (producer.op == Op::reduce)
      return "stitched: the row reduction feeds the same rows; the plan picks warp or block level";
    if (consumer.op == Op::reduce) return "register: element-wise in front of a reduction";
    if (class_of(consumer.op) == OpClass::index) return "register: read at another index";
    return "register: element-wise into consumer";
  }

  /// Groups that read values of `group`, or nothing when something else reads one.
  std::optional<std::vector<std::size_t>> readers(const std::vector<NodeId>& group,
                                                  const std::vector<std::vector<std::size_t>>& groups_of) const {
    std::vector<std::size_t> result;
    std::vector<NodeId> pending(group);
    for (std::size_t i = 0; i < pending.size(); ++i) {
      if (def_use_.stored[index(pending[i])] || pending.size() > most_pending) return std::nullopt;
      for (const NodeId user : def_use_.users[index(pending[i])]) {
        if (std::binary_search(group.begin(), group.end(), user)) continue;
        if (def_use_.roles[index(user)] == Role::free)
          pending.push_back(user);
        else if (def_use_.roles[index(user)] != Role::work)
          return std::nullopt;
        else
          result.insert(result.end(), groups_of[index(user)].begin(), groups_of[index(user)].end());
      }
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  /// Little work, and no more to read than to write: whoever computes it again reads no more than its result.
  bool is_cheap(const std::vector<NodeId>& group, const Boundary& border) const {
    if (group.size() > most_dissolved) return false;
    for (const NodeId id : group) {
      const OpClass kind = class_of(graph_[id].op);
      const bool plain = kind == OpClass::elementwise || kind == OpClass::index || kind == OpClass::leaf;
      if (!plain || alone_[index(id)] || row(graph_[id].op).xu > 0) return false;
    }
    // A number is made of one element of each array that it comes from, however large that is.
    if (std::all_of(group.begin(), group.end(), [&](NodeId id) { return is_number(id); })) return true;
    std::int64_t read = 0, written = 0;
    for (const NodeId id : border.reads)
      if (elements(graph_[id].shape) > 1) read += bytes(graph_[id].shape);
    for (const NodeId id : border.writes) written += bytes(graph_[id].shape);
    return read <= written;
  }

  /// Whether all there is to `both` but one dynamic slice or update, the reader's, are single numbers.
  bool begins_at_numbers(const std::vector<NodeId>& reader, const std::vector<NodeId>& both) const {
    const auto slices = [&](NodeId id) { return is_slice_at(id); };
    return std::count_if(reader.begin(), reader.end(), slices) == 1 &&
           std::all_of(both.begin(), both.end(), [&](NodeId id) { return is_slice_at(id) || is_number(id); });
  }

  /// A unit of numbers that dissolve() will compute again in the dynamic slices and updates that are all its readers.
  /// Packed with others it would have other readers, or be an output.
  bool melts_into_slices(NodeId unit) const {
    const std::vector<NodeId>& nodes = units_.nodes(unit);
    if (nodes.empty() || !computes_numbers(unit) || !is_cheap(nodes, boundary(graph_, def_use_, nodes))) return false;
    std::vector<NodeId> pending(nodes);
    bool read = false;
    for (std::size_t i = 0; i < pending.size(); ++i) {
      if (def_use_.stored[index(pending[i])] || pending.size() > most_pending) return false;
      for (const NodeId user : def_use_.users[index(pending[i])]) {
        if (std::binary_search(nodes.begin(), nodes.end(), user)) continue;
        if (def_use_.roles[index(user)] == Role::free)
          pending.push_back(user);
        else if (!is_slice_at(user))
          return false;
        else
          read = true;
      }
    }
    return read;
  }

  /// Whether a kernel can hold `reader` with a cheap group computed inside (`both`), where it writes no more than
  /// before.
  bool can_hold(const std::vector<NodeId>& reader, const std::vector<NodeId>& both,
                const std::vector<std::vector<std::size_t>>& groups_of) const {
    if (both.size() > rules_.operations || reductions_of(graph_, both) > rules_.reductions) return false;
    if (begins_at_numbers(reader, both)) return true;
    for (const NodeId id : reader)
      if (alone_[index(id)] || (graph_[id].op == Op::reduce && !is_stitchable(id) && !is_column(id))) return false;
    Boundary before = boundary(graph_, def_use_, reader);
    // What was computed again before is written by nobody.
    std::erase_if(before.writes, [&](NodeId id) { return groups_of[index(id)].size() > 1; });
    const Boundary border = boundary(graph_, def_use_, both, before.writes);
    const std::optional<codegen::Layout> layout = planned_layout(graph_, border);
    if (!layout || layout->skeleton == Skeleton::pack || goes_down_again(border, *layout) ||
        recomputes(border, *layout))
      return false;
    const std::size_t arguments = border.reads.size() + border.writes.size();
    return arguments <=
           std::max(static_cast<std::size_t>(rules_.arguments), before.reads.size() + before.writes.size());
  }

  /// Cheap groups go into those that read them; the last ones first, so that chains melt.
  void dissolve(std::vector<std::vector<NodeId>>& groups) const {
    std::vector<std::vector<std::size_t>> groups_of(graph_.nodes.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const NodeId id : groups[g]) groups_of[index(id)].push_back(g);
    for (std::size_t g = groups.size(); g-- > 0 && !spending_.over();) {
      if (groups[g].size() > most_dissolved || !is_cheap(groups[g], boundary(graph_, def_use_, groups[g]))) continue;
      const auto reading = readers(groups[g], groups_of);
      if (!reading || reading->empty()) continue;
      std::vector<std::vector<NodeId>> both;
      for (const std::size_t reader : *reading) {
        std::vector<NodeId>& merged = both.emplace_back();
        std::set_union(groups[g].begin(), groups[g].end(), groups[reader].begin(), groups[reader].end(),
                       std::back_inserter(merged));
        if (!can_hold(groups[reader], merged, groups_of)) break;
        if (both.size() == reading->size()) {
          for (const NodeId id : groups[g]) {
            std::vector<std::size_t>& makers = groups_of[index(id)];
            std::erase(makers, g);
            makers.insert(makers.end(), reading->begin(), reading->end());
            std::sort(makers.begin(), makers.end());
            makers.erase(std::unique(makers.begin(), makers.end()), makers.end());
          }
          for (std::size_t i = 0; i < both.size(); ++i) groups[(*reading)[i]] = std::move(both[i]);
          groups[g].clear();
          break;
        }
      }
    }
    std::erase_if(groups, [](const std::vector<NodeId>& group) { return group.empty(); });
  }

  /// The level follows from the producer alone (widest_level): a row reduction is stitched at most at block level, and
  /// the plan decides whether a warp is enough; everything else of a V1 group passes in registers.
  Fusion result() {
    Fusion fusion;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      if (def_use_.roles[i] != Role::work) continue;
      const std::vector<NodeId>& nodes = units_.nodes(units_.unit(id));
      if (nodes.front() == id) fusion.groups.push_back(nodes);
    }
    dissolve(fusion.groups);
    if (spending_.over()) return fusion;  // words for half a million edges take longer than stopping may
    fusion.edges = edge_notes(graph_, def_use_, fusion.groups);
    for (EdgeNote& note : fusion.edges) {
      if (note.decision == EdgeDecision::stitched) note.reason = medium(note);
      if (note.decision == EdgeDecision::recomputed)
        note.reason = "recomputed: cheap, and no more to read than its result";
      if (note.decision != EdgeDecision::cut) continue;
      // Both lists go by consumer, then producer; here an edge stands once.
      const auto edge = std::lower_bound(edges_.begin(), edges_.end(), note, [](const EdgeNote& a, const EdgeNote& b) {
        return std::pair(a.consumer, a.producer) < std::pair(b.consumer, b.producer);
      });
      note.reason = edge->reason;  // asked again by each group that computes the consumer
    }
    return fusion;
  }

  static constexpr std::size_t asked_each_way = 32;  ///< units that a number is offered to on either side
  static constexpr std::size_t most_dissolved = 8;   ///< nodes of a group that is computed again
  static constexpr std::size_t most_pending = 1024;  ///< nodes behind a cheap group that are looked at

  const Graph& graph_;
  StitchV1Rules rules_;
  const DefUse& def_use_;
  Spending spending_;
  Contraction units_;
  std::vector<bool> alone_;  ///< no kernel of today can hold the node
  bool packing_ = false;     ///< all merging is done but that of single numbers
  std::vector<EdgeNote> edges_;
  std::optional<costmodel::GroupFacts> facts_;  ///< where there are windows
  std::optional<costmodel::GroupSummaries> summaries_;
  std::int32_t scratch_ = 0;
  /// The last attempt on a pair of units: how large they were, and why they were not merged.
  struct Attempt {
    std::pair<int, int> versions;
    std::string refused;
  };
  std::map<std::pair<NodeId, NodeId>, Attempt> tried_;
};

}  // namespace

Fusion fuse_stitch_v1(const FusionTask& task, const StitchV1Rules& rules) { return StitchV1(task, rules).run(); }

Fusion fuse_stitch_v1(const FusionTask& task) { return fuse_stitch_v1(task, StitchV1Rules{}); }

}  // namespace tailor::explore
