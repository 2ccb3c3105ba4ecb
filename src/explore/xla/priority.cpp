// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What XLA's GPU compiler fuses today, decided as it decides. In: a graph and a device that XLA has a description of.
// Out: its kernels. Called by the strategy xla-priority and by the score beside XLA's real kernels.
//
// A queue holds producers by their gain: the time of the producer and all its users apart, less the time of the users
// with the producer inside, by XLA's own model, with a launch overhead for each kernel. The producer with the most gain
// is fused into all of its users at once, or not at all; then the gains of what the changed users read, and of those
// users themselves, are computed anew. Bitcasts go first, whatever they gain; constants wait until the end; a gain
// below nothing is not taken, and of equal gains what was made last comes first. A second pass (multi_output.cpp)
// gives kernels several results. Triton kernels, which XLA may choose for normalisations, are left out.
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "explore/xla/instructions.h"

namespace tailor::explore {

using ir::NodeId;

namespace {

class PriorityQueue {
 public:
  PriorityQueue(XlaInstructions& all, const std::stop_token& stop)
      : all_(all), stop_(stop), launch_(xla::quarters(all.target().launch_overhead)) {}

  void run() {
    std::vector<std::int32_t> initial;
    for (std::int32_t i = 0; i < all_.size() && !stop_.stop_requested(); ++i)
      if (all_[i].fusible) enqueue(i);
    while (!queue_.empty() && !stop_.stop_requested()) {
      const std::int32_t producer = std::prev(queue_.end())->second;
      drop(producer);
      std::vector<std::int32_t> consumers = all_.users_of(producer);
      if (is_lone_bitcast(all_[producer]))
        std::erase_if(consumers, [&](std::int32_t user) { return !may_fuse(producer, user); });
      std::erase_if(consumers, [&](std::int32_t user) { return is_lone_bitcast(all_[user]); });
      if (!consumers.empty()) fuse(producer, consumers);
    }
    if (!stop_.stop_requested()) fuse_constants();
  }

 private:
  using Key = std::pair<xla::Quarters, std::int64_t>;
  static constexpr xla::Quarters first_of_all = std::numeric_limits<xla::Quarters>::max();

  /// What is known of a pair as long as neither changes.
  struct Pair {
    std::int64_t of_producer = -1, of_consumer = -1;
    bool allowed = false;
    bool counted = false;  ///< in the producer's gain
    xla::Quarters together = 0;
  };

  Pair& pair(std::int32_t producer, std::int32_t consumer) {
    Pair& known = pairs_[{producer, consumer}];
    const XlaInstruction& from = all_[producer];
    const XlaInstruction& to = all_[consumer];
    if (known.of_producer == from.version && known.of_consumer == to.version) return known;
    known = {from.version, to.version, false, false, 0};
    if (!from.fusible || !to.fusible) return known;
    known.allowed = !is_lone_bitcast(to) && refusal_apart(all_, producer, consumer).empty();
    if (!known.allowed && !is_lone_bitcast(to)) return known;
    const xla::Kernel both = xla::merged(from.kernel(), to.kernel());
    const xla::Analysis analysis = xla::analyse(both);
    known.allowed = known.allowed && refusal_together(all_, producer, analysis).empty();
    if (known.allowed || is_lone_bitcast(to))
      known.together = xla::time_together(from.price, to.price, both, analysis, all_.target());
    return known;
  }

  bool may_fuse(std::int32_t producer, std::int32_t consumer) { return pair(producer, consumer).allowed; }

  /// Into all users but lone bitcasts, of which there must be others.
  bool may_fuse_into_all(std::int32_t producer) {
    if (all_.is_stored_any(producer)) return false;
    bool any = false;
    for (const std::int32_t user : all_.users_of(producer)) {
      if (is_lone_bitcast(all_[user])) continue;
      any = true;
      if (!may_fuse(producer, user)) return false;
    }
    return any;
  }

  /// Apart less together, of these users.
  xla::Quarters gain(std::int32_t producer, const std::vector<std::int32_t>& users) {
    xla::Quarters gained = launch_ + all_[producer].price.time;
    for (const std::int32_t user : users) {
      Pair& known = pair(producer, user);
      known.counted = true;
      gained += all_[user].price.time - known.together;
    }
    return gained;
  }

  /// What a producer's gain loses and gets when some of its users change.
  struct Change {
    xla::Quarters lost = 0;
    std::vector<std::int32_t> users;
  };

  /// The producer's place in the queue, from all of its users or, with a change, from those that changed.
  void enqueue(std::int32_t producer, const Change* change = nullptr) {
    const auto before = keys_.find(producer);
    const xla::Quarters known = before == keys_.end() ? 0 : before->second.first;
    const bool changes = change != nullptr && before != keys_.end();
    drop(producer);
    if (is_constant(all_[producer]) || all_.users_of(producer).empty()) return;
    xla::Quarters gained = first_of_all;
    if (!is_lone_bitcast(all_[producer])) {
      if (!may_fuse_into_all(producer)) return;
      gained = changes ? known + gain(producer, change->users) - change->lost : gain(producer, all_.users_of(producer));
      if (gained < 0) return;
    }
    const Key key{gained, all_[producer].order};
    queue_.emplace(key, producer);
    keys_.emplace(producer, key);
  }

  void drop(std::int32_t producer) {
    const auto known = keys_.find(producer);
    if (known == keys_.end()) return;
    queue_.erase({known->second, producer});
    keys_.erase(known);
  }

  /// XLA does not compute a queued gain anew when users of a producer change: it takes off what those users stood for
  /// and adds what they stand for now. Where the producer itself changed in the same step the rest of its gain is then
  /// out of date, which decides some fusions; so it is done here as it is there.
  void fuse(std::int32_t producer, const std::vector<std::int32_t>& consumers) {
    std::map<std::int32_t, Change> changes;
    std::vector<std::int32_t> sources = consumers;
    sources.push_back(producer);
    for (const std::int32_t source : sources)
      for (const NodeId value : all_.operands(source)) changes.try_emplace(all_.owner(value));
    for (auto& [operand, change] : changes) {
      change.lost = launch_ + all_[operand].price.time;
      for (const std::int32_t source : sources) {
        const auto known = pairs_.find({operand, source});
        if (known == pairs_.end() || !known->second.counted) continue;
        if (known->second.of_producer != all_[operand].version || known->second.of_consumer != all_[source].version)
          continue;
        change.lost += all_[source].price.time - known->second.together;
      }
    }
    std::set<std::int32_t> changed;
    for (const std::int32_t consumer : consumers) {
      if (!all_[consumer].fused()) drop(consumer);  // becomes another instruction
      all_.fuse(producer, consumer);
      for (const NodeId value : all_.operands(consumer)) {
        const std::int32_t other = all_.owner(value);
        if (other == producer || !all_[other].fusible || is_constant(all_[other])) continue;
        changed.insert(other);
        changes[other].users.push_back(consumer);
      }
      changed.insert(consumer);
    }
    if (all_.remove_unused(producer)) {
      drop(producer);
      changed.erase(producer);
    }
    for (const std::int32_t one : changed) {
      const auto change = changes.find(one);
      const bool read = change != changes.end() && !change->second.users.empty();
      enqueue(one, read ? &change->second : nullptr);
    }
  }

  void fuse_constants() {
    for (std::int32_t i = 0; i < all_.size(); ++i) {
      if (!all_[i].alive || !is_constant(all_[i]) || ir::elements(all_.graph()[i].shape) > 1) continue;
      for (const std::int32_t user : all_.users_of(i))
        if (all_[user].fusible && scatter_refusal(all_, i, user).empty()) all_.fuse(i, user);
      (void)all_.remove_unused(i);
    }
  }

  XlaInstructions& all_;
  const std::stop_token& stop_;
  const xla::Quarters launch_;
  std::set<std::pair<Key, std::int32_t>> queue_;
  std::map<std::int32_t, Key> keys_;
  std::map<std::pair<std::int32_t, std::int32_t>, Pair> pairs_;
};

/// What is left is launched on its own: a fusion, or an instruction that XLA wraps in one.
bool is_kernel(const XlaInstruction& one) {
  const ir::Op op = node(one.kernel(), only_item(one.kernel())).op;
  if (one.fused()) return true;
  return (one.fusible && !is_constant(one) && !is_lone_bitcast(one)) || op == ir::Op::dot ||
         op == ir::Op::dynamic_slice || op == ir::Op::dynamic_update_slice;
}

}  // namespace

std::vector<std::vector<NodeId>> xla_kernels(const ir::Graph& graph, const xla::Target& target,
                                             const std::stop_token& stop) {
  XlaInstructions all(graph, target);
  PriorityQueue(all, stop).run();
  all.merge_equal();
  fuse_multi_output(all, stop);
  all.merge_equal();
  return kernels_in_order(all, &is_kernel);
}

}  // namespace tailor::explore
