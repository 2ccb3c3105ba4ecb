// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the skeleton of stages recognises, and what it doubts. In: a group with its border. Out: the loops that it is
// cut into, and the values that wait between them; or why it cannot be cut. Called through the table of skeletons, and
// by prepare() for the stages themselves.
//
// Cutting. A list of values that may wait in global memory is a cut: what needs one of them is of a later level than
// what makes it, so the level of a node is the most such values on any way to it. Levels that one loop holds, or
// several side by side, are one stage, as long as it has no doubt that they do not have apart: from the first level on
// each stage takes the next level while it can. Of every stage the roots are the outputs that are of it, and of the
// values those that a later stage needs: these wait. What stands before a root and waits nowhere is computed again in
// each stage that needs it, from what the group reads, what waits, and what earlier stages have written anyway. Each
// stage is then a group of its own, with its own border, and the other skeletons say what it is.
//
// Where no loop holds all roots of a level, the level is several stages: each has as many of the roots as one loop
// holds, and blocks need not meet between these. So a group is cut if each of its roots has a loop by itself, also one
// of a single level in which nothing waits.
//
// The list that a group gets is all reductions that something else in the group needs, since only they end a loop. A
// plan may name another list: arrays that are not computed again, fewer reductions. What waits under a list is the
// whole of its cut, so the same stages come of it again.
//
// Doubts are those of the stages, and of a stage that would share its rows and meet: its blocks have nothing left to
// meet by.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "codegen/structure/recognise.h"

namespace tailor::codegen {

using namespace ir;

namespace {

constexpr std::size_t most_levels = 16;  ///< of a launch, whose code holds all
constexpr std::int64_t most_loops = 64;  ///< the same, of all stages

class Cutting {
 public:
  Cutting(const Graph& graph, const Boundary& border) : graph_(graph), border_(border) {
    for (std::size_t i = 0; i < border.inside.size(); ++i) places_.emplace(border.inside[i], i);
    for (std::size_t i = 0; i < border.reads.size(); ++i) buffers_.emplace(border.reads[i], i);
    for (std::size_t i = 0; i < border.writes.size(); ++i)
      buffers_.try_emplace(border.writes[i], border.reads.size() + i);
  }

  bool has(NodeId id) const { return places_.contains(id); }

  /// The stages of this list, which ascends.
  std::variant<Stages, Rejection> stages(const std::vector<NodeId>& list) const {
    for (const NodeId id : border_.writes)
      if (!has(id)) return refuse("stages", "a value is written as it was read, which is no stage's work");
    std::vector<int> numbers = levels(list);
    const int last = last_of(numbers);
    const Rejection uncut = refuse(one_stage, last == 0 ? "nothing waits, so there is one stage"
                                                        : "one loop holds what waits and all that needs it");
    if (last == 0 && border_.writes.size() == 1) return uncut;
    if (static_cast<std::size_t>(last) >= most_levels)
      return refuse("stages", fmt::format("{} values wait for one another, at most {}", last, most_levels - 1));
    merge_levels(list, last, numbers);
    Stages cut = with_roots(list, numbers);
    std::vector<BodyBorder> loops;
    for (std::size_t number = 0; number < cut.bodies.size(); ++number)
      if (const auto refused = add_loops(std::move(cut.bodies[number]), loops))
        return last == 0 ? uncut : refuse(*refused, fmt::format("stage {}: {}", number + 1, refused->reason));
    if (loops.size() < 2) return uncut;
    std::int64_t count = 0;
    for (const BodyBorder& loop : loops) count += loop.layout.skeleton == Skeleton::pack ? loop.layout.rows : 1;
    if (count > most_loops)
      return refuse("stages", fmt::format("they would have {} loops, a launch holds at most {}", count, most_loops));
    cut.bodies = std::move(loops);
    if (const auto read = contested(cut.bodies, true))
      return refuse("stages", fmt::format("one stage writes over %{}, which another one reads then",
                                          graph_[border_.reads[index(*read)]].name));
    return cut;
  }

  /// Reductions that something inside needs, operands before users. Of one with several results these.
  std::vector<NodeId> needed_reductions() const {
    std::vector<bool> needed(border_.inside.size());
    for (const NodeId id : border_.inside)
      for (const NodeId operand : graph_[id].operands)
        if (const auto at = places_.find(operand); at != places_.end()) needed[at->second] = true;
    const Region region(graph_, border_);
    std::vector<NodeId> found;
    for (const NodeId id : region.inside())
      if (needed[places_.at(id)] && is_result(region[id])) found.push_back(id);
    return found;
  }

 private:
  bool is_result(const Node& node) const {
    if (node.op == Op::get_tuple_element) return graph_[node.operands[0]].op == Op::reduce;
    return node.op == Op::reduce && node.results.empty();
  }

  /// By place in Boundary::inside: the most values of the list on any way to it.
  std::vector<int> levels(const std::vector<NodeId>& list) const {
    std::vector<int> numbers(border_.inside.size(), 0);
    for (std::size_t i = 0; i < border_.inside.size(); ++i)
      for (const NodeId operand : graph_[border_.inside[i]].operands)
        if (const auto at = places_.find(operand); at != places_.end()) {
          const bool waits = std::binary_search(list.begin(), list.end(), operand);
          numbers[i] = std::max(numbers[i], numbers[at->second] + (waits ? 1 : 0));
        }
    return numbers;
  }

  int last_of(const std::vector<int>& numbers) const {
    int last = 0;
    for (const NodeId id : border_.writes) last = std::max(last, numbers[places_.at(id)]);
    return last;
  }

  /// Makes of the levels 0 to `last` stages: each takes the next level while a loop holds both.
  void merge_levels(const std::vector<NodeId>& list, int last, std::vector<int>& numbers) const {
    for (int stage = 0; stage < last;) {
      std::vector<int> merged = numbers;
      for (int& number : merged) number -= number > stage ? 1 : 0;
      const std::optional<int> apart = doubts(list, numbers, stage, stage + 1),
                               both = doubts(list, merged, stage, stage);
      if (both && (!apart || *both <= *apart)) {
        numbers = std::move(merged);
        --last;
      } else {
        ++stage;
      }
    }
  }

  /// How many of the stages from `first` to `last` have a doubt; nothing where one is no loop.
  std::optional<int> doubts(const std::vector<NodeId>& list, const std::vector<int>& numbers, int first,
                            int last) const {
    const Stages cut = with_roots(list, numbers);
    int count = 0;
    for (int number = first; number <= last; ++number) {
      if (ir::index(number) >= cut.bodies.size()) continue;
      BodyBorder body = cut.bodies[ir::index(number)];
      if (body.writes.empty()) continue;
      const JudgedStructure found = judge(graph_, body.border);
      if (!std::holds_alternative<Layout>(found.structure)) return std::nullopt;
      body.layout = std::get<Layout>(found.structure);
      count += found.doubt || doubt_alone(graph_, body) ? 1 : 0;
    }
    return count;
  }

  /// The stages with these numbers of nodes, last ones first: what they need of earlier ones waits.
  Stages with_roots(const std::vector<NodeId>& list, const std::vector<int>& numbers) const {
    Stages cut;
    const int last = last_of(numbers);
    std::vector<std::vector<NodeId>> roots(static_cast<std::size_t>(last) + 1);
    for (const NodeId id : border_.writes) roots[ir::index(numbers[places_.at(id)])].push_back(id);
    std::vector<std::vector<std::size_t>> inside(roots.size());
    std::vector<std::vector<NodeId>> reads(roots.size());
    std::vector<bool> waits(border_.inside.size());
    for (int number = last; number >= 0; --number) {
      std::vector<std::size_t>& own = inside[ir::index(number)];
      std::vector<bool> taken(border_.inside.size());
      const auto take = [&](std::size_t at) {
        if (!taken[at]) taken[at] = true, own.push_back(at);
      };
      for (const NodeId id : roots[ir::index(number)]) take(places_.at(id));
      for (std::size_t i = 0; i < own.size(); ++i)
        for (const NodeId operand : graph_[border_.inside[own[i]]].operands) {
          const auto at = places_.find(operand);
          const bool is_earlier = at != places_.end() && numbers[at->second] < number;
          if (is_earlier && std::binary_search(list.begin(), list.end(), operand) && !waits[at->second]) {
            waits[at->second] = true;
            if (!buffers_.contains(operand)) roots[ir::index(numbers[at->second])].push_back(operand);
          }
          if (at == places_.end() || (is_earlier && (waits[at->second] || buffers_.contains(operand))))
            reads[ir::index(number)].push_back(operand);
          else
            take(at->second);
        }
    }
    for (std::size_t i = 0; i < waits.size(); ++i)
      if (waits[i]) cut.waits.push_back(border_.inside[i]);
    std::sort(cut.waits.begin(), cut.waits.end());
    std::unordered_map<NodeId, std::size_t> buffers = buffers_;
    std::size_t next = border_.reads.size() + border_.writes.size();
    for (const NodeId id : cut.waits) next += buffers.try_emplace(id, next).second ? 1 : 0;
    for (std::size_t number = 0; number < roots.size(); ++number)
      cut.bodies.push_back(bordered(std::move(roots[number]), std::move(inside[number]), reads[number], buffers));
    return cut;
  }

  /// A stage whose roots may become several loops.
  struct Level {
    const BodyBorder& stage;
    std::unordered_map<NodeId, std::size_t> buffers;  ///< of what it reads and writes
    std::unordered_set<NodeId> reads;                 ///< what its loops read: also what earlier ones of them wrote
    explicit Level(const BodyBorder& of) : stage(of), reads(of.border.reads.begin(), of.border.reads.end()) {
      for (std::size_t i = 0; i < of.reads.size(); ++i) buffers.emplace(of.border.reads[i], ir::index(of.reads[i]));
      for (std::size_t i = 0; i < of.writes.size(); ++i) buffers.emplace(of.border.writes[i], ir::index(of.writes[i]));
    }
  };

  /// The roots of a stage in sets whose loops by themselves are alike; or why one has no loop.
  std::variant<std::vector<std::vector<NodeId>>, Rejection> roots_alike(const Level& level) const {
    std::vector<std::vector<NodeId>> alike;
    std::vector<Layout> layouts;
    for (const NodeId root : level.stage.border.writes) {
      const Classified alone = analyse(graph_, part_of(level, {root}).border);
      if (const auto* refused = std::get_if<Rejection>(&alone)) return *refused;
      const auto same = std::find(layouts.begin(), layouts.end(), std::get<Layout>(alone));
      if (same == layouts.end()) {
        layouts.push_back(std::get<Layout>(alone));
        alike.push_back({root});
      } else {
        alike[static_cast<std::size_t>(same - layouts.begin())].push_back(root);
      }
    }
    return alike;
  }

  /// Gives `loop` these roots of the stage too, where it still is one.
  bool take_roots(const Level& level, const std::vector<NodeId>& more, BodyBorder& loop) const {
    std::vector<NodeId> roots = loop.border.writes;
    roots.insert(roots.end(), more.begin(), more.end());
    BodyBorder tried = part_of(level, roots);
    const Classified found = analyse(graph_, tried.border);
    const auto* layout = std::get_if<Layout>(&found);
    if (layout == nullptr) return false;
    tried.layout = *layout;
    loop = std::move(tried);
    return true;
  }

  /// Adds the stage, or, where no loop holds all of its roots, several that hold some each; or says why one root has no
  /// loop. Roots whose loops are alike go together, then each loop takes what it can of the others, until it has
  /// refused a few in a row.
  std::optional<Rejection> add_loops(BodyBorder stage, std::vector<BodyBorder>& loops) const {
    constexpr int a_few = 8;
    Classified whole = analyse(graph_, stage.border);
    if (auto* layout = std::get_if<Layout>(&whole)) {
      stage.layout = std::move(*layout);
      loops.push_back(std::move(stage));
      return std::nullopt;
    }
    Level level(stage);
    auto alike = roots_alike(level);
    if (auto* refused = std::get_if<Rejection>(&alike)) return std::move(*refused);
    auto& left = std::get<std::vector<std::vector<NodeId>>>(alike);
    while (!left.empty()) {
      BodyBorder loop;
      std::vector<std::vector<NodeId>> rest;
      for (int in_a_row = 0; const std::vector<NodeId>& set : left) {
        if (in_a_row < a_few && take_roots(level, set, loop)) {
          in_a_row = 0;
          continue;
        }
        std::vector<NodeId> others;  // of the first ones some fit
        for (const NodeId root : set)
          if (&set != &left.front() || !take_roots(level, {root}, loop)) others.push_back(root);
        if (!others.empty()) rest.push_back(std::move(others));
        ++in_a_row;
      }
      if (loop.writes.empty()) return refuse("stages", "a loop alone holds none of what is left");
      level.reads.insert(loop.border.writes.begin(), loop.border.writes.end());
      loops.push_back(std::move(loop));
      left = std::move(rest);
    }
    return std::nullopt;
  }

  /// The part of a stage that computes these of its roots.
  BodyBorder part_of(const Level& level, const std::vector<NodeId>& roots) const {
    std::vector<std::size_t> own;
    std::vector<NodeId> reads;
    std::unordered_set<std::size_t> taken;
    const auto take = [&](std::size_t at) {
      if (taken.insert(at).second) own.push_back(at);
    };
    for (const NodeId id : roots) take(places_.at(id));
    for (std::size_t i = 0; i < own.size(); ++i)
      for (const NodeId operand : graph_[border_.inside[own[i]]].operands)
        if (!places_.contains(operand) || level.reads.contains(operand))
          reads.push_back(operand);
        else
          take(places_.at(operand));
    return bordered(roots, std::move(own), reads, level.buffers);
  }

  BodyBorder bordered(std::vector<NodeId> roots, std::vector<std::size_t> inside, const std::vector<NodeId>& reads,
                      const std::unordered_map<NodeId, std::size_t>& buffers) const {
    BodyBorder body;
    const auto in_order = [&](std::vector<NodeId> nodes) {
      const auto before = [&](NodeId a, NodeId b) { return buffers.at(a) < buffers.at(b); };
      std::sort(nodes.begin(), nodes.end(), before);
      nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
      return nodes;
    };
    body.border.writes = in_order(std::move(roots));
    body.border.reads = in_order(reads);
    for (const NodeId id : body.border.writes) body.writes.push_back(static_cast<std::int32_t>(buffers.at(id)));
    for (const NodeId id : body.border.reads) body.reads.push_back(static_cast<std::int32_t>(buffers.at(id)));
    std::sort(inside.begin(), inside.end());
    for (const std::size_t at : inside) body.border.inside.push_back(border_.inside[at]);
    find_places(body, inside);
    return body;
  }

  /// What a stage writes over one of its reads.
  void find_places(BodyBorder& body, const std::vector<std::size_t>& inside) const {
    for (const InPlace& pair : border_.in_place) {
      const auto output = std::find(body.writes.begin(), body.writes.end(),
                                    static_cast<std::int32_t>(border_.reads.size()) + pair.output);
      const auto parameter = std::find(body.reads.begin(), body.reads.end(), pair.parameter);
      if (output == body.writes.end() || parameter == body.reads.end()) continue;
      body.border.in_place.push_back({static_cast<std::int32_t>(output - body.writes.begin()),
                                      static_cast<std::int32_t>(parameter - body.reads.begin())});
    }
    const NodeId kept = border_.kept_from_place;
    if (kept != no_node && std::binary_search(inside.begin(), inside.end(), places_.at(kept)))
      body.border.kept_from_place = kept;
  }

  const Graph& graph_;
  const Boundary& border_;
  std::unordered_map<NodeId, std::size_t> places_;   ///< in Boundary::inside
  std::unordered_map<NodeId, std::size_t> buffers_;  ///< of what is read and written: as BodyBorder numbers them
};

}  // namespace

std::variant<Stages, Rejection> cut_at(const Graph& graph, const Boundary& border, const std::vector<NodeId>& waits) {
  const Cutting cutting(graph, border);
  for (const NodeId id : waits)
    if (!cutting.has(id) || class_of(graph[id].op) == OpClass::leaf || graph[id].shape.dtype == DType::tuple)
      return refuse("homes", fmt::format("%{} is no value that the group computes, so it waits nowhere", id));
  auto found = cutting.stages(waits);
  if (const auto* cut = std::get_if<Stages>(&found); cut != nullptr && cut->waits != waits) {
    const NodeId left = *std::find_if(waits.begin(), waits.end(), [&](NodeId id) {
      return !std::binary_search(cut->waits.begin(), cut->waits.end(), id);
    });
    return refuse("homes",
                  fmt::format("%{} waits for no later stage: the loop that makes it holds what needs it", left));
  }
  return found;
}

std::variant<Stages, Rejection> find_stages(const Graph& graph, const Boundary& border) {
  const Cutting cutting(graph, border);
  std::vector<NodeId> waits = cutting.needed_reductions();
  std::sort(waits.begin(), waits.end());
  return cutting.stages(waits);
}

std::optional<Classified> recognise_stages(const Region& region) {
  const auto found = find_stages(region.graph, region.border);
  if (const auto* cut = std::get_if<Stages>(&found)) return layout_of(Skeleton::stages, cut->bodies);
  const auto& refused = std::get<Rejection>(found);
  return refused.rule == one_stage.text() ? std::nullopt : std::optional<Classified>(refused);
}

std::optional<Rejection> doubt_stages(const Region& region, const Layout&) {
  const auto found = find_stages(region.graph, region.border);
  if (const auto* refused = std::get_if<Rejection>(&found)) return *refused;
  return doubt_each(region.graph, std::get<Stages>(found).bodies);
}

}  // namespace tailor::codegen
