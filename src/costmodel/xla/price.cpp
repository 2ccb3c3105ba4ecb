// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's performance model. In: kernels. Out: times. Called by the cost model xla-model and by the strategy
// xla-priority.
//
// Compute is clocks over what the launched blocks can do. Of each operand the first reading of its bytes comes from
// memory at the full bandwidth, or, where the kernel transposes, at one element of each transaction; what is read again
// comes from L2 or L1 when the array fits there. No reading is faster than the launched blocks can ask. Results go out
// at the full bandwidth. Of the shorter of compute and memory 95 % hides behind the other.
//
// A pair that is not fused yet is priced from its two parts: the consumer's clocks and the producer's as often as the
// consumer needs it, an operand of both once where both read it at the same places.
#include "costmodel/xla/price.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tailor::costmodel::xla {

using ir::Op;

namespace {

constexpr double quarters_per_second = 4e9;
constexpr double quarters_per_nanosecond = 4;

Quarters compute_time(std::int64_t flops, const Launch& launch, const Target& target) {
  const std::int64_t units = std::min(launch.blocks(), target.sms) * std::min(launch.block, target.fpus_per_sm);
  const double per_unit = static_cast<float>(target.clock) * 2.0F;
  const auto per_nanosecond = static_cast<std::int64_t>(per_unit * static_cast<double>(units));
  return std::llround(static_cast<double>(static_cast<float>(flops) / static_cast<float>(per_nanosecond)) *
                      quarters_per_nanosecond);
}

/// `net`: bytes of the operand that are read at all; `total`: with repeats.
Quarters read_time(std::int64_t net, std::int64_t total, double utilization, std::int64_t blocks,
                   const Target& target) {
  const auto cap = [&](float bandwidth) {
    const float of_block = static_cast<float>(target.clock) * 1e9F * static_cast<float>(target.block_bandwidth);
    return std::min(bandwidth, static_cast<float>(blocks) * of_block);
  };
  const auto peak = static_cast<float>(target.bandwidth);
  float again = peak;
  if (net < target.l2_bytes) {
    again *= static_cast<float>(target.l2_speedup);
    if (net < target.l1_bytes_per_sm * target.sms) again *= static_cast<float>(target.l1_speedup);
  } else {
    again = static_cast<float>(again * utilization);
  }
  const float first = cap(static_cast<float>(peak * utilization));
  again = cap(again);
  const std::int64_t from_memory = std::min(net, total);
  return quarters(static_cast<float>(from_memory) / first) + quarters(static_cast<float>(total - from_memory) / again);
}

Quarters combined(Quarters compute, Quarters memory, const Target& target) {
  return compute + memory - std::llround(static_cast<double>(std::min(compute, memory)) * target.overlap);
}

bool leads_to_broadcast(const Kernel& kernel, std::int32_t i) {
  while (true) {
    const Item& one = item(kernel, i);
    if (one.node->op == Op::broadcast || one.node->op == Op::iota) return true;
    if (one.outside || one.operands.size() != 1) return false;
    if (one.node->op != Op::bitcast && one.node->op != Op::reshape && !is_elementwise(*one.node)) return false;
    i = one.operands[0];
  }
}

bool has_bad_transpose(const Kernel& kernel) {
  return std::any_of(kernel.items.begin(), kernel.items.end(), [&](const Item& one) {
    return !one.outside && (one.node->op == Op::transpose || one.node->op == Op::copy) &&
           moves_minor_dimension(*one.node, operand_shape(kernel, one, 0)) &&
           !leads_to_broadcast(kernel, one.operands[0]);
  });
}

/// The kernel holds a result that XLA's reduction emitter would write.
bool reduces(const Priced& one) {
  if (!one.kernel.fused) {
    const Item& self = item(one.kernel, only_item(one.kernel));
    return self.node->op == Op::reduce && is_tiled_reduction(*self.node, operand_shape(one.kernel, self, 0));
  }
  const auto users = users_of(one.kernel);
  return std::any_of(one.kernel.results.begin(), one.kernel.results.end(), [&](std::int32_t result) {
    return is_reduction_hero(one.kernel, result, hero_of(one.kernel, users, result));
  });
}

double load_share(const ir::Node& operand, bool coalesced, const Target& target) {
  if (coalesced) return 1;
  const int bits = operand.results.empty() ? storage_bits(operand.shape.dtype) : 32;
  return bits / 8.0 / static_cast<double>(target.dram_transaction);
}

/// operand_index() of many values: kernels of hundreds of operands are asked for each of them, mostly in their order.
class OperandPlaces {
 public:
  explicit OperandPlaces(const Kernel& kernel) : kernel_(kernel) {}

  /// Precondition: no value is asked for twice, and those that the kernel takes in the order in which it first does.
  std::int32_t next(ir::NodeId value) {
    constexpr std::size_t few = 4;
    const std::size_t end = std::min(next_ + few, kernel_.operands.size());
    for (std::size_t i = next_; i < end; ++i)
      if (item(kernel_, kernel_.operands[i]).id == value) {
        next_ = i + 1;
        return static_cast<std::int32_t>(i);
      }
    return next_ == kernel_.operands.size() ? -1 : of(value);
  }

  std::int32_t of(ir::NodeId value) {
    constexpr std::size_t many = 32;  // from here on a table is faster than looking through the list
    if (kernel_.operands.size() <= many) return operand_index(kernel_, value);
    if (places_.empty()) {
      for (std::size_t i = 0; i < kernel_.operands.size(); ++i)
        places_.emplace_back(item(kernel_, kernel_.operands[i]).id, static_cast<std::int32_t>(i));
      std::sort(places_.begin(), places_.end());
    }
    const auto at = std::lower_bound(places_.begin(), places_.end(), std::pair{value, std::int32_t{0}});
    return at == places_.end() || at->first != value ? -1 : at->second;
  }

 private:
  const Kernel& kernel_;
  std::size_t next_ = 0;
  std::vector<std::pair<ir::NodeId, std::int32_t>> places_;
};

/// `index`: of the operand; below 0: it takes no such.
std::int64_t bytes_read(const Priced& one, std::int32_t index) {
  return index < 0 ? 0 : static_cast<std::int64_t>(one.work.read[static_cast<std::size_t>(index)]);
}

/// Operands of a consumer that are results of a producer, as indices into its operands; a bare one's repeats count.
std::vector<std::size_t> edges(const Priced& producer, const Priced& consumer) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < consumer.kernel.operands.size(); ++i)
    for (const std::int32_t result : producer.kernel.results)
      if (item(consumer.kernel, consumer.kernel.operands[i]).id == item(producer.kernel, result).id) {
        found.push_back(i);
        break;
      }
  return found;
}

/// The share of an operand of both that both read at the same places.
/// `its`, `theirs`: the operand's places in the producer and the consumer.
float common_share(const Priced& producer, const Priced& consumer, std::int32_t its, std::int32_t theirs) {
  if (its < 0 || theirs < 0) return 0;
  if (producer.kernel.fused) {
    const std::int32_t root = producer.kernel.results.size() > 1 ? -1 : producer.kernel.results[0];
    if (root < 0 ||
        common_utilization(producer.work, producer.kernel.operands[static_cast<std::size_t>(its)], root) != 1.0F)
      return 0;
  } else if (!is_elementwise(node(producer.kernel, only_item(producer.kernel)))) {
    return 0;
  }
  if (!consumer.kernel.fused) return is_elementwise(node(consumer.kernel, only_item(consumer.kernel))) ? 1.0F : 0.0F;
  float share = 0;
  std::set<std::int32_t> seen;
  for (const std::size_t edge : edges(producer, consumer))
    if (seen.insert(consumer.kernel.operands[edge]).second)
      share += common_utilization(consumer.work, consumer.kernel.operands[static_cast<std::size_t>(theirs)],
                                  consumer.kernel.operands[edge]);
  return share;
}

}  // namespace

Quarters quarters(double seconds) { return std::llround(seconds * quarters_per_second); }
double seconds(Quarters time) { return static_cast<double>(time) / quarters_per_second; }

Priced priced(Kernel kernel, const Target& target) {
  Priced one;
  one.kernel = std::move(kernel);
  one.work = work_of(one.kernel, target);
  one.analysis = analyse(one.kernel);
  one.launch = launch_of(one.kernel, one.analysis, target);
  one.coalesced = one.analysis.emitter == Emitter::transpose || !has_bad_transpose(one.kernel);
  one.compute = compute_time(static_cast<std::int64_t>(one.work.flops), one.launch, target);
  OperandPlaces places(one.kernel);
  for (std::size_t i = 0; i < one.kernel.operands.size(); ++i) {
    const ir::Node& operand = node(one.kernel, one.kernel.operands[i]);
    // What is read of an operand that is named twice is looked up by its first place.
    const std::int32_t first = places.of(item(one.kernel, one.kernel.operands[i]).id);
    const auto total = static_cast<std::int64_t>(one.work.read[static_cast<std::size_t>(first)]);
    one.read += read_time(std::min(bytes_of(operand), total), total, load_share(operand, one.coalesced, target),
                          one.launch.blocks(), target);
  }
  one.write =
      quarters(static_cast<float>(static_cast<std::int64_t>(one.work.written)) / static_cast<float>(target.bandwidth));
  one.time = combined(one.compute, one.read + one.write, target);
  return one;
}

Quarters time_together(const Priced& producer, const Priced& consumer, const Kernel& together, const Analysis& analysis,
                       const Target& target, bool keep) {
  float needed = 0;
  const std::vector<std::size_t> between = edges(producer, consumer);
  for (const std::size_t edge : between) needed += consumer.work.utilization[edge];
  const Launch launch = launch_of(together, analysis, target);
  const auto flops =
      static_cast<std::int64_t>(static_cast<float>(static_cast<std::int64_t>(producer.work.flops)) * needed +
                                static_cast<float>(static_cast<std::int64_t>(consumer.work.flops)));
  const Quarters compute = compute_time(flops, launch, target);
  const bool coalesced = (analysis.emitter == Emitter::transpose ||
                          (!has_bad_transpose(producer.kernel) && !has_bad_transpose(consumer.kernel))) &&
                         !(analysis.emitter == Emitter::reduction && reduces(producer) && reduces(consumer));
  // By its first place, as everything that asks for an operand's share by the operand.
  float first_needed = 0;
  if (!between.empty())
    first_needed = producer.kernel.results.size() > 1 ? needed : consumer.work.utilization[between.front()];
  Quarters read = 0;
  OperandPlaces of_producer(producer.kernel), of_consumer(consumer.kernel);
  for (const std::int32_t operand : together.operands) {
    const Item& one = item(together, operand);
    const std::int32_t its = of_producer.of(one.id), theirs = of_consumer.next(one.id);
    const float share = common_share(producer, consumer, its, theirs);
    const std::int64_t size = bytes_of(*one.node);
    const std::int64_t total = std::llround(static_cast<float>(bytes_read(producer, its)) * first_needed) +
                               bytes_read(consumer, theirs) - std::llround(static_cast<float>(size) * share);
    read += read_time(std::min(size, total), total, load_share(*one.node, coalesced, target), launch.blocks(), target);
  }
  return combined(compute, read + consumer.write + (keep ? producer.write : 0), target);
}

}  // namespace tailor::costmodel::xla
