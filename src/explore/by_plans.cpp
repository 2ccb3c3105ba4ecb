// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The price of a group sees no plan. Here what it decided is held against plans. In: partitions of one graph. Out: one
// that mixes them. Called when a search has ended.
//
// Method. Two partitions fall into the smallest parts of the graph that no group of either crosses. In each part that
// one is kept whose groups take less by the best of some plans. So the answer is not worse than either, and is often
// better than both. First ours is laid over itself cut along the groups of the other, which asks of each group whether
// it should be several; then over the other as it stands. A border depends on the groups of its own part and on the
// graph alone, so what a group takes in the one partition it takes in the mixture too.
//
// A group with windows is first cut at these and put together again pair by pair: several windows hold their taps in
// registers side by side, which no price of borders sees. In a small graph so is any group that takes much more than
// its price, in pieces of single nodes: partitions met on the way may have nothing between these and the whole.
//
// A mixture may wait in a circle where neither partition does. Then parts are taken one by one, those that save most
// first, and at last one of the two as it stands.
//
// Last, two groups that a search has kept apart for a doubt alone are joined where plans of the whole take less. A
// doubt says what the lowering may do badly; it is asked thousands of times, of borders, and knows no lengths: what is
// moved along a row of 256 waits in registers and shared memory, of 100,000 it is computed again. Neighbours are asked:
// who reads what the other writes, and who reads the same as the one before.
//
// What other strategies make is laid over the answer once more at the end of a graph between small and large, in full
// and without a doubt: the first look misses what takes a tenth more than it could, and few plans may lead astray.
//
// The cheapest by the price are laid over first, for what may be looked at may end before they do: one group of 146
// nodes in 128 plans is half of what strategies may take.
//
// Effort. All groups of all partitions are looked at where they are small together. Else only ours are, with fewer
// plans the larger they are, and only parts with a group whose best plan takes much more than its price are laid over
// others, of which those are left out whose price alone is more. What is looked at is counted and not timed, so equal
// tasks give equal answers.
#include "explore/by_plans.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "codegen/lower/prepare.h"
#include "explore/borders.h"
#include "explore/merge_search.h"
#include "explore/price.h"
#include "explore/runnable.h"
#include "explore/window_cut.h"
#include "ir/outline.h"

namespace tailor::explore {

using namespace ir;

namespace {

constexpr double equal_share = 1e-9;      ///< share below which two times are equal
constexpr std::int64_t window_share = 2;  ///< of all that may be looked at, which groups with windows may take
constexpr std::size_t most_single = 16;   ///< parts that are tried one by one where all together wait in a circle

/// What groups take: those without a plan count first, then seconds.
struct Taken {
  std::int64_t unplanned = 0;
  double seconds = 0;  ///< of best plans; of what has none the price
  void add(const Taken& other) { unplanned += other.unplanned, seconds += other.seconds; }
  bool less_than(const Taken& other, double gain) const {
    return unplanned != other.unplanned ? unplanned < other.unplanned : seconds < other.seconds * (1 - gain);
  }
};

/// Parts that no group of two partitions crosses; of each, which groups of either it is made of.
struct Part {
  std::vector<std::size_t> ours, theirs;
};

class Parts {
 public:
  Parts(const DefUse& def_use, const NodeSets& ours, const NodeSets& theirs)
      : def_use_(def_use), parent_(def_use.roles.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    for (const NodeSets* sets : {&ours, &theirs})
      for (const std::vector<NodeId>& group : *sets) {
        const std::optional<std::size_t> first = first_work(group);
        for (const NodeId id : group)
          if (first && def_use.roles[id] == Role::work) parent_[root(index(id))] = root(*first);
      }
    for (std::size_t g = 0; g < ours.size(); ++g)
      if (const auto first = first_work(ours[g])) found_[root(*first)].ours.push_back(g);
    for (std::size_t g = 0; g < theirs.size(); ++g)
      if (const auto first = first_work(theirs[g])) found_[root(*first)].theirs.push_back(g);
  }
  /// By the root of each.
  const std::map<std::size_t, Part>& all() const { return found_; }

 private:
  std::optional<std::size_t> first_work(const std::vector<NodeId>& group) const {
    for (const NodeId id : group)
      if (def_use_.roles[id] == Role::work) return index(id);
    return std::nullopt;
  }
  std::size_t root(std::size_t at) {
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }

  const DefUse& def_use_;
  std::vector<std::size_t> parent_;
  std::map<std::size_t, Part> found_;
};

class ByPlans {
 public:
  ByPlans(const FusionTask& task, const Spending& spending, const PlanEffort& effort)
      : task_(task), spending_(spending), effort_(effort), wires_(task.def_use), most_work_(effort.most_work) {}

  HeldAgainstPlans run(NodeSets ours, const std::vector<MetPartition>& others) {
    std::vector<const MetPartition*> by_price;
    for (auto at = others.rbegin(); at != others.rend(); ++at) by_price.push_back(&*at);
    std::stable_sort(by_price.begin(), by_price.end(),
                     [](const MetPartition* a, const MetPartition* b) { return a->price < b->price; });
    std::vector<const NodeSets*> rivals, strategies;
    for (const MetPartition* met : by_price) {
      const NodeSets& other = met->groups;
      if (other == ours || !find_left_out(wires_, other).empty() || !find_circle(task_.graph, wires_, other).empty())
        continue;
      rivals.push_back(&other);
      if (met->of_strategy) strategies.push_back(&other);
    }
    in_full_ = are_small(ours, rivals, effort_.whole_nodes);
    const NodeSets before = ours;
    cut_windows(ours);
    if (in_full_) cut_dear(ours, rivals);
    for (const NodeSets* other : rivals) {
      if (over() || !any_doubt(ours)) break;
      mix(ours, cut_along(ours, *other));
      mix(ours, *other);
    }
    while (!over() && join_doubted(ours)) {
    }
    hold_against_strategies(ours, strategies);
    return {ours, difference(before, ours)};
  }

 private:
  struct Known {
    Taken taken;
    double price = 0;
    std::int64_t plans = 0;  ///< that it was asked with
  };
  /// With how many plans a group is asked: in a large graph few at first, then as many as its nodes allow.
  enum class Depth : std::uint8_t { few, many, all };

  bool over() const { return task_.stop.stop_requested() || spending_.late() || work_ >= most_work_; }

  /// Of a graph that is not small: a few plans of some groups may have led astray, and what is no doubt may be dear.
  void hold_against_strategies(NodeSets& ours, const std::vector<const NodeSets*>& strategies) {
    if (in_full_ || !are_small(ours, strategies, effort_.strategies_nodes)) return;
    in_full_ = true;
    most_work_ = work_ + effort_.strategies_work;
    for (const NodeSets* other : strategies) mix(ours, *other);
  }

  bool are_small(const NodeSets& ours, const std::vector<const NodeSets*>& rivals, std::int64_t most) const {
    std::set<std::vector<NodeId>> seen(ours.begin(), ours.end());
    for (const NodeSets* other : rivals) seen.insert(other->begin(), other->end());
    std::size_t nodes = 0;
    for (const std::vector<NodeId>& group : seen) nodes += group.size();
    return nodes <= static_cast<std::size_t>(most);
  }

  /// Of all bodies: stages compute again what several of them need.
  static std::int64_t nodes_of(const codegen::Prepared& prepared) {
    if (prepared.bodies.empty()) return std::ssize(prepared.graph->nodes) + 1;
    std::int64_t nodes = 0;
    for (const codegen::Body& body : prepared.bodies) nodes += nodes_of(*body.prepared);
    return nodes;
  }

  /// Nothing when it is not known and there is nothing left to look with.
  std::optional<Known> look_at(const Borders& borders, std::size_t g, bool fully) {
    const Group group = outline(task_.graph, borders.of(g));
    const Depth depth = !fully ? Depth::few : in_full_ ? Depth::all : Depth::many;
    for (const Depth asked : {Depth::few, Depth::many, Depth::all}) {
      const auto known = known_.find({group.id, asked});
      if (known == known_.end()) continue;
      // Where a few plans had none that lowers, many are looked through for nothing.
      if (asked >= depth || known->second.plans >= effort_.plans || known->second.taken.unplanned > 0)
        return known->second;
    }
    if (over()) return std::nullopt;
    Known found{{}, group_price(group.graph, *task_.device), 0};
    found.taken = {1, found.price};
    const auto prepared = codegen::prepare(group);
    if (const auto* ready = std::get_if<codegen::Prepared>(&prepared)) {
      const std::int64_t nodes = nodes_of(*ready), bodies = std::max<std::int64_t>(1, std::ssize(ready->bodies));
      const std::int64_t most = in_full_ ? effort_.plans : effort_.nodes_times_plans / nodes;
      const std::int64_t few = std::clamp(most / 8, std::int64_t{1}, effort_.few_plans);
      found.plans = fully ? std::clamp(most, few, effort_.plans) : few;
      TuneOptions options = in_passing(found.plans, task_.stop);
      options.model = task_.plans;
      const Tuned tuned = tune(*ready, default_axes(*ready, task_.device->limits), *task_.device, options);
      if (tuned.stopped) return std::nullopt;
      work_ += nodes * tuned.lowerings / bodies;  // each plan is of one body
      if (!tuned.best.empty()) found.taken = {0, tuned.best.front().estimate.total.value};
    }
    known_.emplace(std::pair{group.id, depth}, found);
    return found;
  }

  bool is_doubtful(const Borders& borders, std::size_t g) {
    const std::optional<Known> known = look_at(borders, g, in_full_);
    return known && (known->taken.unplanned > 0 || known->taken.seconds > effort_.doubt * known->price);
  }

  bool any_doubt(const NodeSets& ours) {
    if (in_full_) return true;
    const Borders borders(task_.graph, wires_, ours);
    bool any = false;
    for (std::size_t g = 0; g < ours.size() && !over(); ++g)
      if (ours[g].size() > 1) any = is_doubtful(borders, g) || any;
    return any;
  }

  /// Each group cut along the groups of the other partition. What several of those hold stays with the first.
  NodeSets cut_along(const NodeSets& ours, const NodeSets& other) const {
    std::vector<std::size_t> of(task_.graph.nodes.size(), other.size());
    for (std::size_t g = other.size(); g-- > 0;)
      for (const NodeId id : other[g]) of[index(id)] = g;
    NodeSets cut;
    for (const std::vector<NodeId>& group : ours) {
      std::map<std::size_t, std::vector<NodeId>> pieces;
      std::vector<std::size_t> order;
      for (const NodeId id : group)
        if (wires_.roles[id] == Role::work) {
          std::vector<NodeId>& piece = pieces[of[index(id)]];
          if (piece.empty()) order.push_back(of[index(id)]);
          piece.push_back(id);
        }
      if (order.size() < 2) {
        cut.push_back(group);
        continue;
      }
      for (const std::size_t piece : order) cut.push_back(std::move(pieces[piece]));
    }
    return cut;
  }

  std::optional<Taken> sum(const Borders& borders, const std::vector<std::size_t>& groups, bool fully) {
    Taken all;
    for (const std::size_t g : groups) {
      const std::optional<Known> known = look_at(borders, g, fully);
      if (!known) return std::nullopt;
      all.add(known->taken);
    }
    return all;
  }

  double priced(const Borders& borders, const std::vector<std::size_t>& groups, double most) const {
    double all = 0;
    for (const std::size_t g : groups) {
      if (all >= most || task_.stop.stop_requested()) return all;
      all += group_price(outlined(task_.graph, borders.of(g)), *task_.device);
    }
    return all;
  }

  /// Seconds that the other partition saves in a part, the count of its groups without a plan before them; nothing
  /// where it saves none.
  std::optional<Taken> saved(const Part& part, const Borders& our_borders, const Borders& their_borders) {
    if (in_full_) return saved(part, our_borders, their_borders, true);
    const auto doubtful = [&](std::size_t g) { return is_doubtful(our_borders, g); };
    if (std::none_of(part.ours.begin(), part.ours.end(), doubtful)) return std::nullopt;
    // A few plans say what is worth asking, and as many as in full whether it is so.
    return saved(part, our_borders, their_borders, false) ? saved(part, our_borders, their_borders, true)
                                                          : std::nullopt;
  }

  std::optional<Taken> saved(const Part& part, const Borders& our_borders, const Borders& their_borders, bool fully) {
    const std::optional<Taken> now = sum(our_borders, part.ours, fully);
    if (!now) return std::nullopt;
    if (!in_full_ && now->unplanned == 0 && priced(their_borders, part.theirs, now->seconds) >= now->seconds)
      return std::nullopt;
    const std::optional<Taken> then = sum(their_borders, part.theirs, fully);
    if (!then || !then->less_than(*now, in_full_ ? equal_share : effort_.gain)) return std::nullopt;
    return Taken{now->unplanned - then->unplanned, now->seconds - then->seconds};
  }

  /// Puts the better of both into each part.
  void mix(NodeSets& ours, const NodeSets& theirs) {
    const Parts parts(wires_, ours, theirs);
    const Borders our_borders(task_.graph, wires_, ours), their_borders(task_.graph, wires_, theirs);
    std::vector<std::pair<Taken, const Part*>> better;
    for (const auto& [root, part] : parts.all()) {
      if (over()) break;
      if (part.ours.size() == part.theirs.size() &&
          std::equal(part.ours.begin(), part.ours.end(), part.theirs.begin(),
                     [&](std::size_t a, std::size_t b) { return ours[a] == theirs[b]; }))
        continue;
      if (const std::optional<Taken> gain = saved(part, our_borders, their_borders)) better.emplace_back(*gain, &part);
    }
    if (better.empty()) return;
    std::vector<const Part*> taken;
    for (const auto& [gain, part] : better) taken.push_back(part);
    NodeSets mixed = with(ours, theirs, taken);
    if (find_circle(task_.graph, wires_, mixed).empty()) {
      ours = std::move(mixed);
      return;
    }
    one_by_one(ours, theirs, std::move(better));
  }

  void one_by_one(NodeSets& ours, const NodeSets& theirs, std::vector<std::pair<Taken, const Part*>> better) {
    std::stable_sort(better.begin(), better.end(), [](const auto& a, const auto& b) {
      return std::tie(a.first.unplanned, a.first.seconds) > std::tie(b.first.unplanned, b.first.seconds);
    });
    if (better.size() > most_single) better.resize(most_single);
    std::vector<const Part*> taken;
    NodeSets best = ours;
    for (const auto& [gain, part] : better) {
      taken.push_back(part);
      NodeSets mixed = with(ours, theirs, taken);
      if (find_circle(task_.graph, wires_, mixed).empty())
        best = std::move(mixed);
      else
        taken.pop_back();
    }
    if (in_full_) {
      const std::optional<Taken> now = whole(best), then = whole(theirs);
      if (now && then && then->less_than(*now, equal_share)) best = theirs;
    }
    ours = std::move(best);
  }

  std::optional<Taken> whole(const NodeSets& groups) {
    std::vector<std::size_t> all(groups.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return sum(Borders(task_.graph, wires_, groups), all, true);
  }

  /// Two groups that have an array in common.
  struct Pair {
    std::size_t first = 0, second = 0;  ///< ascending
    double gain = 0;                    ///< seconds that one kernel saves by the price, or takes more
  };

  static std::vector<NodeId> nodes_of(const NodeSets& ours, const Pair& pair) {
    const std::vector<NodeId>&one = ours[pair.first], &other = ours[pair.second];
    std::vector<NodeId> both;
    std::set_union(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(both));
    return both;
  }

  /// `ours` with a group in place of two. It stands where the first of them stood; the other one is empty.
  static NodeSets joined(const NodeSets& ours, const Pair& pair) {
    NodeSets all = ours;
    all[pair.first] = nodes_of(ours, pair);
    all[pair.second].clear();
    return all;
  }

  bool is_kept_apart_by_doubt(const std::vector<NodeId>& both, std::int64_t arguments) const {
    MergeLimits limits;
    if (both.size() > limits.operations || reductions_of(task_.graph, both) > limits.reductions) return false;
    if (!not_one_kernel(task_.graph, wires_, both, limits, arguments)) return false;
    limits.doubted = true;
    return !not_one_kernel(task_.graph, wires_, both, limits, arguments);
  }

  /// Each group beside those that write what it reads, and beside the one before it that reads the same.
  std::vector<Pair> neighbours(const NodeSets& ours, const Borders& borders) const {
    std::set<std::pair<std::size_t, std::size_t>> seen;
    std::map<NodeId, std::size_t> last_reader;
    std::vector<Pair> found;
    const auto add = [&](std::size_t first, std::size_t second) {
      const auto [one, other] = std::minmax(first, second);
      if (one != other && seen.emplace(one, other).second) found.push_back({one, other});
    };
    for (std::size_t g = 0; g < ours.size(); ++g)
      for (const NodeId read : borders.of(g).reads) {
        if (borders.grouped(read)) add(borders.groups_of(read).front(), g);
        const auto [last, is_first] = last_reader.try_emplace(read, g);
        if (!is_first) add(std::exchange(last->second, g), g);
      }
    return found;
  }

  /// Whether plans are asked about two groups: their nodes, and the arguments of the one that has more.
  using Asked = std::function<bool(const std::vector<NodeId>& both, std::int64_t arguments)>;

  /// Those that save most by the price first.
  std::vector<Pair> pairs_by_price(const NodeSets& ours, const Asked& asked) {
    const Borders borders(task_.graph, wires_, ours);
    const auto price = [&](const Boundary& border) {
      return group_price(outlined(task_.graph, border), *task_.device);
    };
    std::vector<Pair> found;
    for (Pair pair : neighbours(ours, borders)) {
      if (over()) break;
      const Boundary one = borders.of(pair.first), other = borders.of(pair.second);
      const std::vector<NodeId> both = nodes_of(ours, pair);
      work_ += std::ssize(both);
      const std::size_t arguments =
          std::max(one.reads.size() + one.writes.size(), other.reads.size() + other.writes.size());
      if (!asked(both, static_cast<std::int64_t>(arguments))) continue;
      pair.gain = price(one) + price(other) - price(Borders(task_.graph, wires_, joined(ours, pair)).of(pair.first));
      found.push_back(pair);
    }
    std::stable_sort(found.begin(), found.end(), [](const Pair& a, const Pair& b) { return a.gain > b.gain; });
    return found;
  }

  /// A doubt says what the lowering may do badly, and plans say whether it does. Whether groups were joined.
  bool join_doubted(NodeSets& ours) {
    const auto asked = [&](const std::vector<NodeId>& both, std::int64_t arguments) {
      return is_kept_apart_by_doubt(both, arguments);
    };
    std::vector<bool> changed(ours.size(), false);
    for (const Pair& pair : pairs_by_price(ours, asked)) {
      if (over()) break;
      if (changed[pair.first] || changed[pair.second]) continue;
      NodeSets all = joined(ours, pair);
      if (!find_circle(task_.graph, wires_, all).empty()) continue;
      const Borders apart(task_.graph, wires_, ours), together(task_.graph, wires_, all);
      const auto saves = [&](bool fully) {
        const std::optional<Taken> now = sum(apart, {pair.first, pair.second}, fully);
        const std::optional<Taken> then = sum(together, {pair.first}, fully);
        return now && then && then->less_than(*now, effort_.gain);
      };
      if ((!in_full_ && !saves(false)) || !saves(true)) continue;
      ours = std::move(all);
      changed[pair.first] = changed[pair.second] = true;
    }
    std::erase_if(ours, [](const std::vector<NodeId>& group) { return group.empty(); });
    return std::find(changed.begin(), changed.end(), true) != changed.end();
  }

  /// Which of the pairs that save time by plans is joined: the one that saves most, or first by the price.
  enum class Choice { most, first };

  /// Whether a pair saves anything.
  bool join_one(NodeSets& ours, Choice choice, const Asked& asked) {
    const Borders apart(task_.graph, wires_, ours);
    NodeSets best;
    Taken most{0, 0};
    for (const Pair& pair : pairs_by_price(ours, asked)) {
      if (over() || (choice == Choice::first && !best.empty())) break;
      NodeSets all = joined(ours, pair);
      if (!find_circle(task_.graph, wires_, all).empty()) continue;
      const std::optional<Taken> now = sum(apart, {pair.first, pair.second}, in_full_);
      const std::optional<Taken> then = sum(Borders(task_.graph, wires_, all), {pair.first}, in_full_);
      if (!now || !then || !then->less_than(*now, equal_share)) continue;
      const Taken saved{now->unplanned - then->unplanned, now->seconds - then->seconds};
      if (best.empty() || most.less_than(saved, 0)) most = saved, best = std::move(all);
    }
    if (best.empty()) return false;
    std::erase_if(best, [](const std::vector<NodeId>& group) { return group.empty(); });
    ours = std::move(best);
    return true;
  }

  /// Groups with windows in pieces, which are put together as plans say: partitions met on the way have such a group
  /// whole or in single nodes, and what takes least lies between.
  void cut_windows(NodeSets& ours) {
    const auto is_window = [&](NodeId id) { return task_.graph[id].op == Op::reduce_window; };
    std::optional<costmodel::GroupFacts> facts;
    for (std::size_t g = ours.size(); g-- > 0 && work_ < effort_.most_work / window_share && !over();) {
      if (std::none_of(ours[g].begin(), ours[g].end(), is_window)) continue;
      if (!facts) facts = costmodel::group_facts(task_.graph, wires_);
      if (const NodeSets pieces = cut_at_windows(task_.graph, *facts, ours[g]); pieces.size() > 1) cut(ours, g, pieces);
    }
  }

  /// Groups whose plans take much more than their price, likewise: in the pieces of the finest partition met.
  void cut_dear(NodeSets& ours, const std::vector<const NodeSets*>& rivals) {
    const auto finest = std::max_element(rivals.begin(), rivals.end(),
                                         [](const NodeSets* a, const NodeSets* b) { return a->size() < b->size(); });
    for (std::size_t g = finest == rivals.end() ? 0 : ours.size(); g-- > 0 && !over();) {
      const std::optional<Known> known = look_at(Borders(task_.graph, wires_, ours), g, true);
      if (!known || known->taken.seconds < effort_.dear * known->price) continue;
      if (const NodeSets pieces = cut_along({ours[g]}, **finest); pieces.size() > 2) cut(ours, g, pieces);
    }
  }

  /// One group in pieces that are put together again, where that takes less.
  void cut(NodeSets& ours, std::size_t g, const NodeSets& pieces) {
    const Borders borders(task_.graph, wires_, ours);
    if (!in_full_ && !is_doubtful(borders, g)) return;
    const std::optional<Known> now = look_at(borders, g, true);
    NodeSets anew = apart(ours, g, pieces);
    if (!now || !find_circle(task_.graph, wires_, anew).empty()) return;
    const std::set<NodeId> members(ours[g].begin(), ours[g].end());
    NodeSets other = anew;
    put_together(anew, Choice::first, members);
    put_together(other, Choice::most, members);
    while (take_apart_again(anew, members, pieces)) {
    }
    while (take_apart_again(other, members, pieces)) {
    }
    std::optional<Taken> then = sum_of(anew, members, true);
    if (const std::optional<Taken> also = sum_of(other, members, true);
        then && also && also->less_than(*then, equal_share))
      then = also, anew = std::move(other);
    if (then && then->less_than(now->taken, in_full_ ? equal_share : effort_.gain)) ours = std::move(anew);
  }

  /// With pieces in place of a group.
  static NodeSets apart(NodeSets groups, std::size_t g, const NodeSets& pieces) {
    const auto at = groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(g));
    groups.insert(at, pieces.begin(), pieces.end());
    return groups;
  }

  static bool is_among(const std::vector<NodeId>& nodes, const std::set<NodeId>& members) {
    return std::all_of(nodes.begin(), nodes.end(), [&](NodeId id) { return members.contains(id); });
  }

  /// Of the groups that are of such nodes.
  std::optional<Taken> sum_of(const NodeSets& groups, const std::set<NodeId>& members, bool fully) {
    std::vector<std::size_t> among;
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (is_among(groups[g], members)) among.push_back(g);
    return sum(Borders(task_.graph, wires_, groups), among, fully);
  }

  void put_together(NodeSets& cut, Choice choice, const std::set<NodeId>& members) {
    MergeLimits limits;
    limits.doubted = true;
    const auto may_be_one = [&](const std::vector<NodeId>& both, std::int64_t arguments) {
      return is_among(both, members) && !not_one_kernel(task_.graph, wires_, both, limits, arguments);
    };
    while (work_ < effort_.most_work / window_share && join_one(cut, choice, may_be_one)) {
    }
  }

  /// Pairs that were joined early keep off better ones: one group in its pieces again, while the others stay. Whether
  /// that saves anything.
  bool take_apart_again(NodeSets& cut, const std::set<NodeId>& members, const NodeSets& pieces) {
    const std::optional<Taken> now = sum_of(cut, members, in_full_);
    for (std::size_t g = 0; now && g < cut.size() && work_ < effort_.most_work / window_share; ++g) {
      if (!is_among(cut[g], members)) continue;
      const std::set<NodeId> joined(cut[g].begin(), cut[g].end());
      NodeSets of_it;
      for (const std::vector<NodeId>& piece : pieces)
        if (is_among(piece, joined)) of_it.push_back(piece);
      if (of_it.size() < 2) continue;
      NodeSets other = apart(cut, g, of_it);
      put_together(other, Choice::most, members);
      if (const std::optional<Taken> then = sum_of(other, members, in_full_);
          then && then->less_than(*now, equal_share)) {
        cut = std::move(other);
        return true;
      }
    }
    return false;
  }

  /// `ours` with the groups of `theirs` in some parts. They stand where the first of those that they replace stood, in
  /// their own order, for of a value that several compute the first one is the owner.
  static NodeSets with(const NodeSets& ours, const NodeSets& theirs, const std::vector<const Part*>& parts) {
    std::vector<const Part*> replaced(ours.size(), nullptr);
    for (const Part* part : parts)
      for (const std::size_t g : part->ours) replaced[g] = part;
    NodeSets mixed;
    for (std::size_t g = 0; g < ours.size(); ++g) {
      if (replaced[g] == nullptr) mixed.push_back(ours[g]);
      if (replaced[g] == nullptr || replaced[g]->ours.front() != g) continue;
      for (const std::size_t other : replaced[g]->theirs) mixed.push_back(theirs[other]);
    }
    return mixed;
  }

  std::vector<bool> difference(const NodeSets& before, const NodeSets& after) const {
    const std::set<std::vector<NodeId>> known(before.begin(), before.end());
    std::vector<bool> changed(task_.graph.nodes.size(), false);
    for (const std::vector<NodeId>& group : after)
      if (!known.contains(group))
        for (const NodeId id : group) changed[index(id)] = true;
    return changed;
  }

  const FusionTask& task_;
  const Spending& spending_;
  const PlanEffort& effort_;
  const DefUse& wires_;
  bool in_full_ = false;
  std::int64_t work_ = 0, most_work_;
  std::map<std::pair<Id, Depth>, Known> known_;
};

}  // namespace

HeldAgainstPlans hold_against_plans(const FusionTask& task, NodeSets ours, const std::vector<MetPartition>& others,
                                    const Spending& spending, const PlanEffort& effort) {
  return ByPlans(task, spending, effort).run(std::move(ours), others);
}

}  // namespace tailor::explore
