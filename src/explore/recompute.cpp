// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Computing again instead of writing and reading. In: groups with their price. Out: a cover that is no dearer. Called
// by strategy "tailor" for what a search ended with.
//
// Method. For each value that a group writes for others: a reader can compute it for itself, from what the group reads
// and from what it writes anyway. Where all readers do so nobody writes the value, and the group loses what only that
// value needed; where one does, it saves its own read. Such a move is priced only where fewer bytes pass by it, or
// where the whole group goes. Last groups and last values come first: who computes a value again then reads what it is
// made of, and that may be computed again in its turn. So the backward half of an activation ends with what the forward
// half reads, and not with what that computes on the way.
//
// Circles are rare: a reader waits for what the group waited for, and waited for the group before. But a value that
// several groups compute comes from the first of them, which may be such a reader, and who reads it there waits for all
// that this one waits for. So the cover is looked at when it is done, and where groups wait for each other the work
// begins anew, each move looked at by itself.
#include "explore/recompute.h"

#include <algorithm>
#include <optional>

#include "explore/borders.h"
#include "explore/price.h"
#include "explore/runnable.h"
#include "ir/outline.h"

namespace tailor::explore {

using namespace ir;

namespace {

constexpr std::size_t most_whole = 8;      ///< nodes of a group that goes into its readers to save a launch
constexpr std::size_t most_again = 64;     ///< nodes that one reader computes again in a move
constexpr std::size_t most_readers = 128;  ///< groups that compute one again: a mask has one in each layer
constexpr double most_asked = 8;           ///< times a value that is written too fits into what is then not read
constexpr int most_passes = 3;
constexpr double rounding = 1e-12;  ///< seconds: below it two prices are equal but for rounding

class Recomputing {
 public:
  Recomputing(const FusionTask& task, const costmodel::GroupFacts& facts, const MergeLimits& limits, NodeSets groups,
              Spending& spending, bool on_top, bool carefully)
      : task_(task),
        facts_(facts),
        limits_(limits),
        spending_(spending),
        on_top_(on_top),
        carefully_(carefully),
        groups_(std::move(groups)),
        borders_(task.graph, task.def_use, groups_),
        known_(groups_.size()),
        touched_(groups_.size(), false) {}

  NodeSets run() {
    bool changed = true;
    for (int round = 0; round < most_passes && changed; ++round) {
      changed = false;
      for (std::size_t g = groups_.size(); g-- > 0 && !over();) changed = look_at(g) || changed;
    }
    for (std::size_t g = 0; g < groups_.size() && !over(); ++g)
      if (touched_[g] && !groups_[g].empty()) join_suppliers(g);
    std::erase_if(groups_, [](const std::vector<NodeId>& group) { return group.empty(); });
    return std::move(groups_);
  }

 private:
  struct Known {
    Boundary border;
    double cost = 0;
    std::optional<bool> planned;  ///< asked for where a move touches the group
  };
  using Change = std::pair<std::size_t, std::vector<NodeId>>;  ///< of a group; its nodes

  bool over() const { return on_top_ ? task_.stop.stop_requested() : spending_.over(); }
  bool holds(std::size_t group, NodeId id) const {
    return std::binary_search(groups_[group].begin(), groups_[group].end(), id);
  }

  Known& known(std::size_t group) {
    std::optional<Known>& one = known_[group];
    if (!one) {
      one.emplace();
      one->border = borders_.of(group);
      one->cost = group_price(outlined(task_.graph, one->border), *task_.device);
    }
    return *one;
  }
  bool planned(Known& one) const {
    if (one.planned) return *one.planned;
    const std::optional<codegen::Layout> layout = planned_layout(task_.graph, one.border);
    one.planned = layout && (limits_.sums_across || !sums_across(task_.graph, one.border, *layout));
    return *one.planned;
  }
  static std::int64_t arguments(const Known& one) {
    return static_cast<std::int64_t>(one.border.reads.size() + one.border.writes.size());
  }

  /// Groups that read a value of group `g` and do not compute it, ascending; nothing where they are too many.
  /// `outside`: somebody else needs it too.
  std::optional<std::vector<std::size_t>> readers_of(std::size_t g, NodeId value, bool& outside) const {
    std::vector<std::size_t> found;
    outside = facts_.nodes[index(value)].stored;
    for (const costmodel::GroupReader& reader : facts_.nodes[index(value)].readers) {
      const std::vector<std::size_t>& holders = borders_.groups_of(reader.node);
      if (holders.empty()) outside = true;
      for (const std::size_t holder : holders)
        if (holder != g && !holds(holder, value)) found.push_back(holder);
      if (found.size() > 8 * most_readers) return std::nullopt;
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (found.size() > most_readers) return std::nullopt;
    return found;
  }

  /// Whether a member of the group takes the value, which the group does not compute. Its border does not say so of
  /// members that nobody reads.
  bool needs(std::size_t group, NodeId value) const {
    const std::vector<costmodel::GroupReader>& readers = facts_.nodes[index(value)].readers;
    return !holds(group, value) && std::any_of(readers.begin(), readers.end(), [&](const costmodel::GroupReader& one) {
      return holds(group, one.node);
    });
  }

  /// What a reader computes for itself.
  struct Cone {
    std::vector<NodeId> nodes;  ///< that it adds, ascending
    std::vector<NodeId> asked;  ///< values that the group then has to write for it, and did not write before
  };

  /// Whether a result is there only when others have ended.
  bool waits(NodeId id) const {
    const costmodel::GroupNode& node = facts_.nodes[index(id)];
    return node.reduces || node.reach != costmodel::ResultReach::element;
  }

  /// Whether a value of group `g` that it keeps to itself may be written so that a reader need not read `instead`.
  bool may_be_asked(std::size_t g, NodeId value, double instead) const {
    const std::vector<std::size_t>& makers = borders_.groups_of(value);
    return limits_.lowerable && makers.size() == 1 && makers.front() == g &&
           most_asked * facts_.value_bytes[index(value)] <= instead;
  }

  /// What `reader` adds to have `wanted` of group `g` without reading one of `values`; nothing where that takes a
  /// result that is there only when others have ended, and is not so small beside them that it is written too.
  std::optional<Cone> cone(std::size_t g, const std::vector<NodeId>& wanted, const std::vector<NodeId>& values,
                           std::size_t reader) {
    const std::vector<NodeId>& writes = known(g).border.writes;
    double instead = 0;
    for (const NodeId id : wanted) instead += facts_.value_bytes[index(id)];
    Cone all;
    std::vector<NodeId>& found = all.nodes;
    std::vector<NodeId> pending;
    const auto take = [&](NodeId id) {
      if (holds(reader, id) || std::find(found.begin(), found.end(), id) != found.end()) return;
      found.push_back(id);
      pending.push_back(id);
    };
    for (const NodeId id : wanted) take(id);
    while (!pending.empty()) {
      const NodeId id = pending.back();
      const costmodel::GroupNode& node = facts_.nodes[index(id)];
      pending.pop_back();
      // The first group that computes a value writes it, which is not to become another.
      const std::size_t first = borders_.groups_of(id).front();
      if (first != g && reader < first) return std::nullopt;
      if (waits(id) || found.size() > most_again) return std::nullopt;
      for (const costmodel::GroupRead& read : node.reads) {
        if (read.maker == no_node || !holds(g, read.maker)) continue;
        const bool is_there = std::find(writes.begin(), writes.end(), read.maker) != writes.end() &&
                              std::find(values.begin(), values.end(), read.maker) == values.end();
        if (is_there) continue;
        if (!waits(read.maker) || holds(reader, read.maker) || !may_be_asked(g, read.maker, instead))
          take(read.maker);
        else if (std::find(all.asked.begin(), all.asked.end(), read.maker) == all.asked.end())
          all.asked.push_back(read.maker);
      }
    }
    std::sort(found.begin(), found.end());
    return all;
  }

  /// Bytes that a reader takes from memory for what it computes again and did not take before.
  double added_bytes(std::size_t reader, const std::vector<NodeId>& again) {
    const std::vector<NodeId>& reads = known(reader).border.reads;
    std::vector<NodeId> seen;
    double bytes = 0;
    for (const NodeId id : again)
      for (const costmodel::GroupRead& read : facts_.nodes[index(id)].reads) {
        const NodeId value = read.value;
        const bool made = read.maker != no_node &&
                          (holds(reader, read.maker) || std::binary_search(again.begin(), again.end(), read.maker));
        if (made || std::find(reads.begin(), reads.end(), value) != reads.end()) continue;
        if (std::find(seen.begin(), seen.end(), value) != seen.end()) continue;
        seen.push_back(value);
        bytes += read.bytes;
      }
    return bytes;
  }

  /// Members of group `g` that something needs which it writes, `gone` left out and `also` written too.
  std::vector<bool> needed(std::size_t g, const std::vector<NodeId>& gone, const std::vector<NodeId>& also) {
    std::vector<bool> found(groups_[g].size(), false);
    std::vector<NodeId> pending = also;
    for (const NodeId id : known(g).border.writes)
      if (std::find(gone.begin(), gone.end(), id) == gone.end()) pending.push_back(id);
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      const auto at = std::lower_bound(groups_[g].begin(), groups_[g].end(), id);
      if (at == groups_[g].end() || *at != id) continue;
      const auto place = static_cast<std::size_t>(at - groups_[g].begin());
      if (found[place]) continue;
      found[place] = true;
      for (const costmodel::GroupRead& read : facts_.nodes[index(id)].reads)
        if (read.maker != no_node) pending.push_back(read.maker);
    }
    return found;
  }

  /// Group `g` without what only `gone` needed.
  std::vector<NodeId> left(std::size_t g, const std::vector<NodeId>& gone, const std::vector<NodeId>& also) {
    const std::vector<bool> before = needed(g, {}, {}), after = needed(g, gone, also);
    std::vector<NodeId> found;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (after[i] || !before[i]) found.push_back(groups_[g][i]);
    return found;
  }

  /// The group's nodes and more, both ascending.
  std::vector<NodeId> with(std::size_t group, const std::vector<NodeId>& more) const {
    std::vector<NodeId> all;
    std::set_union(groups_[group].begin(), groups_[group].end(), more.begin(), more.end(), std::back_inserter(all));
    return all;
  }

  void put(std::size_t group, std::vector<NodeId> nodes) {
    for (const NodeId id : groups_[group]) borders_.forget(group, id);
    groups_[group] = std::move(nodes);
    for (const NodeId id : groups_[group]) borders_.add(group, id);
  }

  /// Seconds until one element has gone through nodes one after another. The price does not see them, for it takes a
  /// kernel's elements to hide one another; its first ones nothing hides, and small kernels have no others.
  double first_element(const std::vector<NodeId>& nodes) const {
    double instructions = 0;
    for (const NodeId id : nodes) {
      const costmodel::GroupNode& node = facts_.nodes[index(id)];
      instructions += (node.fma + node.alu + node.xu + node.f64) / std::max(1.0, node.elements);
    }
    return instructions * task_.device->fma_latency / task_.device->clock;
  }

  /// Tries the change; keeps it where it is cheaper by more than `waits` and all that had plans still have.
  bool attempt(std::vector<Change> changes, double waits, bool may_wait = false) {
    double before = 0, after = waits;
    std::vector<Known> old;
    for (const Change& change : changes) before += known(change.first).cost;
    for (Change& change : changes) {
      old.push_back(std::move(*known_[change.first]));
      known_[change.first].reset();
      std::vector<NodeId> nodes = groups_[change.first];
      put(change.first, std::move(change.second));
      change.second = std::move(nodes);
    }
    std::size_t gone = changes.size();  // the group that all its readers compute
    bool better = true;
    for (std::size_t i = 0; i < changes.size() && better; ++i) {
      const std::size_t group = changes[i].first;
      if (groups_[group].empty())
        gone = i;
      else
        after += known(group).cost;
      better = after < before - rounding;
    }
    for (std::size_t i = 0; i < changes.size() && better && limits_.lowerable; ++i) {
      if (i == gone) continue;
      Known& one = known(changes[i].first);
      better = arguments(one) <= std::max(limits_.arguments, arguments(old[i])) &&
               (planned(one) || (!planned(old[i]) && (gone == changes.size() || !planned(old[gone]))));
    }
    better = better && (!(carefully_ || may_wait) || find_circle(task_.graph, task_.def_use, groups_).empty());
    if (better) {
      for (const Change& change : changes) {
        forget_suppliers(change);
        touched_[change.first] = true;
      }
      return true;
    }
    for (std::size_t i = 0; i < changes.size(); ++i) {
      put(changes[i].first, std::move(changes[i].second));
      known_[changes[i].first] = std::move(old[i]);
    }
    return false;
  }

  /// Groups whose values are read by fewer now may write less.
  void forget_suppliers(const Change& change) {
    for (const NodeId id : change.second)
      for (const costmodel::GroupRead& read : facts_.nodes[index(id)].reads)
        if (read.maker != no_node)
          for (const std::size_t maker : borders_.groups_of(read.maker))
            if (maker != change.first && !holds(change.first, id)) known_[maker].reset();
  }

  /// Each of `readers` computes what it reads of `values` of group `g`, which nobody writes any more.
  bool move(std::size_t g, const std::vector<NodeId>& values, const std::vector<std::size_t>& readers, bool whole) {
    double saved = 0, waits = 0;
    for (const NodeId id : values) saved += facts_.value_bytes[index(id)];
    std::vector<Change> changes;
    std::vector<NodeId> asked;
    for (const std::size_t reader : readers) {
      std::vector<NodeId> own;
      std::copy_if(values.begin(), values.end(), std::back_inserter(own), [&](NodeId id) { return needs(reader, id); });
      const std::optional<Cone> again = cone(g, own, values, reader);
      if (!again) return false;
      for (const NodeId id : own) saved += facts_.value_bytes[index(id)];
      saved -= added_bytes(reader, again->nodes);
      waits += first_element(again->nodes);
      for (const NodeId id : again->asked)
        if (std::find(asked.begin(), asked.end(), id) == asked.end()) asked.push_back(id);
      std::vector<NodeId> nodes = with(reader, again->nodes);
      if (nodes.size() > std::max(limits_.operations, groups_[reader].size())) return false;
      changes.emplace_back(reader, std::move(nodes));
    }
    for (const NodeId id : asked) saved -= facts_.value_bytes[index(id)];
    if (saved <= 0 && !whole) return false;
    changes.emplace_back(g, left(g, values, asked));
    return attempt(std::move(changes), waits);
  }

  /// One reader computes a value again that is written for others.
  bool save_read(std::size_t g, NodeId value, std::size_t reader) {
    if (reader < g) return false;  // the first that computes it has to write it
    const std::optional<Cone> again = cone(g, {value}, {value}, reader);
    if (!again) return false;
    double added = added_bytes(reader, again->nodes);
    for (const NodeId id : again->asked) added += facts_.value_bytes[index(id)];
    if (added >= facts_.value_bytes[index(value)]) return false;
    std::vector<NodeId> nodes = with(reader, again->nodes);
    if (nodes.size() > std::max(limits_.operations, groups_[reader].size())) return false;
    std::vector<Change> changes{{reader, std::move(nodes)}};
    if (!again->asked.empty()) changes.emplace_back(g, groups_[g]);  // it writes more
    return attempt(std::move(changes), first_element(again->nodes));
  }

  /// A group that lost what kept it from its supplier, because others compute that for themselves now, is one kernel
  /// with it where that is cheaper. `g` takes the supplier in.
  void join_suppliers(std::size_t g) {
    std::vector<std::size_t> suppliers;
    for (const NodeId id : known(g).border.reads)
      if (!borders_.groups_of(id).empty()) suppliers.push_back(borders_.groups_of(id).front());
    std::sort(suppliers.begin(), suppliers.end());
    suppliers.erase(std::unique(suppliers.begin(), suppliers.end()), suppliers.end());
    for (const std::size_t supplier : suppliers) {
      if (supplier == g || groups_[supplier].empty() || over()) continue;
      std::vector<NodeId> nodes = with(g, groups_[supplier]);
      if (nodes.size() > limits_.operations) continue;
      attempt({{g, std::move(nodes)}, {supplier, {}}}, 0, true);
    }
  }

  bool writes_it(std::size_t g, NodeId value) {
    const std::vector<NodeId>& writes = known(g).border.writes;
    return std::find(writes.begin(), writes.end(), value) != writes.end();
  }

  bool look_at(std::size_t g) {
    if (groups_[g].empty()) return false;
    const std::vector<NodeId> writes = known(g).border.writes;
    struct Written {
      NodeId id;
      std::vector<std::size_t> readers;
      bool outside;
    };
    std::vector<Written> values;
    for (const NodeId id : writes) {
      if (task_.def_use.roles[index(id)] != Role::work || !holds(g, id)) continue;
      bool outside = false;
      std::optional<std::vector<std::size_t>> readers = readers_of(g, id, outside);
      const std::vector<std::size_t>& makers = borders_.groups_of(id);
      if (!readers || readers->empty() || makers.front() != g) continue;
      values.push_back({id, std::move(*readers), outside});
    }
    const auto all_of = [&](auto&& wanted) {
      std::pair<std::vector<NodeId>, std::vector<std::size_t>> all;
      for (const Written& value : values)
        if (wanted(value)) {
          all.first.push_back(value.id);
          all.second.insert(all.second.end(), value.readers.begin(), value.readers.end());
        }
      std::sort(all.second.begin(), all.second.end());
      all.second.erase(std::unique(all.second.begin(), all.second.end()), all.second.end());
      return all;
    };
    const bool alone = std::all_of(groups_[g].begin(), groups_[g].end(),
                                   [&](NodeId id) { return borders_.groups_of(id).size() == 1; });
    const bool nobody_else = std::none_of(values.begin(), values.end(), [](const Written& v) { return v.outside; });
    if (alone && nobody_else && groups_[g].size() <= most_whole && values.size() == writes.size()) {
      const auto [ids, readers] = all_of([](const Written&) { return true; });
      if (!readers.empty() && readers.size() <= most_readers && move(g, ids, readers, true)) return true;
    }
    bool changed = false;
    for (std::size_t i = values.size(); i-- > 0 && !over();) {
      const Written& value = values[i];
      if (groups_[g].empty()) return true;
      if (!worth(value.id, value.readers.size()) || !writes_it(g, value.id)) continue;
      if (!value.outside && move(g, {value.id}, value.readers, false)) {
        changed = true;
        continue;
      }
      for (const std::size_t reader : value.readers)
        if (save_read(g, value.id, reader)) changed = true;
    }
    if (changed) return true;
    const auto [ids, readers] = all_of([&](const Written& v) { return !v.outside && worth(v.id, v.readers.size()); });
    return ids.size() > 1 && readers.size() <= most_readers && move(g, ids, readers, false);
  }

  /// Whether a value's way through memory is worth asking.
  bool worth(NodeId value, std::size_t readers) const {
    constexpr double least = 1e-8;  // seconds
    return facts_.value_bytes[index(value)] * static_cast<double>(1 + readers) > least * task_.device->dram_bandwidth;
  }

  const FusionTask& task_;
  const costmodel::GroupFacts& facts_;
  const MergeLimits& limits_;
  Spending& spending_;
  bool on_top_;
  bool carefully_;  ///< no move may make groups wait for each other
  NodeSets groups_;
  Borders borders_;
  std::vector<std::optional<Known>> known_;
  std::vector<bool> touched_;  ///< groups that a move has changed
};

}  // namespace

NodeSets recompute(const FusionTask& task, const costmodel::GroupFacts& facts, const MergeLimits& limits,
                   NodeSets groups, Spending& spending, bool on_top) {
  NodeSets made = Recomputing(task, facts, limits, groups, spending, on_top, false).run();
  if (find_circle(task.graph, task.def_use, made).empty()) return made;
  return Recomputing(task, facts, limits, std::move(groups), spending, on_top, true).run();
}

}  // namespace tailor::explore
