// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Building and merging kernels. In: nodes and kernels. Out: kernels. Called by price.cpp and by the strategy
// xla-priority. Merging keeps the order of items: first the values from outside (the consumer's, then what only the
// producer takes), then the producer's instructions, then the consumer's, so operands always stand before users.
#include "costmodel/xla/kernel.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "costmodel/xla/shapes.h"

namespace tailor::costmodel::xla {

using ir::Node;
using ir::NodeId;
using ir::Op;

namespace {

Item outside_item(const ir::Graph& graph, NodeId id) { return {&graph[id], id, true, {}}; }

/// Adds items of other kernels to one fusion.
class Merger {
 public:
  Merger(const Kernel& first, const Kernel& second) {
    out_.graph = first.graph;
    out_.fused = true;
    out_.items.reserve(first.items.size() + second.items.size());
    out_.operands.reserve(first.operands.size() + second.operands.size());
  }

  /// The place of each outside item of `from`; values that `inside` computes are left open (-1).
  void take_operands(const Kernel& from, const std::vector<NodeId>& inside, std::vector<std::int32_t>& places) {
    places.assign(from.items.size(), -1);
    const std::size_t before = out_.operands.size();  // a kernel takes a value once
    for (const std::int32_t operand : from.operands) {
      const Item& one = item(from, operand);
      if (places[static_cast<std::size_t>(operand)] >= 0) continue;
      if (std::find(inside.begin(), inside.end(), one.id) != inside.end()) continue;
      places[static_cast<std::size_t>(operand)] = take(one, before);
    }
  }

  void add_instructions(const Kernel& from, std::vector<std::int32_t>& places) {
    for (std::size_t i = 0; i < from.items.size(); ++i) {
      const Item& one = from.items[i];
      if (one.outside) continue;
      Item copy = one;
      for (std::int32_t& operand : copy.operands) operand = places[static_cast<std::size_t>(operand)];
      places[i] = static_cast<std::int32_t>(out_.items.size());
      out_.items.push_back(std::move(copy));
    }
  }

  void add_results(const Kernel& from, const std::vector<std::int32_t>& places) {
    for (const std::int32_t result : from.results) out_.results.push_back(places[static_cast<std::size_t>(result)]);
  }

  Kernel done() && { return std::move(out_); }

 private:
  /// `most`: operands among which it may be already.
  std::int32_t take(const Item& one, std::size_t most) {
    for (std::size_t i = 0; i < most; ++i)
      if (item(out_, out_.operands[i]).id == one.id) return out_.operands[i];
    out_.operands.push_back(static_cast<std::int32_t>(out_.items.size()));
    out_.items.push_back(one);
    return out_.operands.back();
  }

  Kernel out_;
};

std::vector<NodeId> result_ids(const Kernel& kernel) {
  std::vector<NodeId> ids;
  for (const std::int32_t result : kernel.results) ids.push_back(item(kernel, result).id);
  return ids;
}

}  // namespace

const ir::Shape& operand_shape(const Kernel& kernel, const Item& of, std::size_t which) {
  return first_shape(node(kernel, of.operands[which]));
}

std::int32_t only_item(const Kernel& kernel) { return static_cast<std::int32_t>(kernel.items.size()) - 1; }

Users::Users(const Kernel& kernel) : starts_(kernel.items.size() + 1, 0), ends_(kernel.items.size()) {
  for (const Item& one : kernel.items)
    for (const std::int32_t operand : one.operands) ++starts_[static_cast<std::size_t>(operand) + 1];
  for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  std::copy(starts_.begin(), starts_.end() - 1, ends_.begin());
  list_.resize(starts_.back());
  for (std::size_t i = 0; i < kernel.items.size(); ++i)
    for (const std::int32_t operand : kernel.items[i].operands) {
      const auto of = static_cast<std::size_t>(operand);
      const auto user = static_cast<std::int32_t>(i);
      if (ends_[of] == starts_[of] || list_[ends_[of] - 1] != user) list_[ends_[of]++] = user;
    }
}

Kernel bare_kernel(const ir::Graph& graph, NodeId id) {
  Kernel kernel;
  kernel.graph = &graph;
  Item self{&graph[id], id, false, {}};
  for (const NodeId operand : graph[id].operands) {
    std::int32_t place = -1;
    for (std::size_t i = 0; i < kernel.items.size(); ++i)
      if (kernel.items[i].id == operand) place = static_cast<std::int32_t>(i);
    if (place < 0) {
      place = static_cast<std::int32_t>(kernel.items.size());
      kernel.items.push_back(outside_item(graph, operand));
    }
    kernel.operands.push_back(place);
    self.operands.push_back(place);
  }
  kernel.results.push_back(static_cast<std::int32_t>(kernel.items.size()));
  kernel.items.push_back(std::move(self));
  return kernel;
}

Kernel wrapped(Kernel bare) {
  bare.fused = true;
  std::vector<std::int32_t> once;
  for (const std::int32_t operand : bare.operands)
    if (std::find(once.begin(), once.end(), operand) == once.end()) once.push_back(operand);
  bare.operands = std::move(once);
  return bare;
}

Kernel kernel_of(const ir::Graph& graph) {
  Kernel kernel;
  kernel.graph = &graph;
  kernel.fused = true;
  std::vector<std::int32_t> places(graph.nodes.size(), -1);
  for (const NodeId id : ir::parameters(graph)) {
    places[ir::index(id)] = static_cast<std::int32_t>(kernel.items.size());
    kernel.operands.push_back(places[ir::index(id)]);
    kernel.items.push_back(outside_item(graph, id));
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& made = graph.nodes[i];
    if (made.op == Op::parameter) continue;
    Item one{&made, static_cast<NodeId>(i), false, {}};
    for (const NodeId operand : made.operands) one.operands.push_back(places[ir::index(operand)]);
    places[i] = static_cast<std::int32_t>(kernel.items.size());
    kernel.items.push_back(std::move(one));
  }
  for (const NodeId output : graph.outputs) {
    // The parts of one instruction with several results are that instruction.
    const Node& made = graph[output];
    const NodeId root = made.op == Op::get_tuple_element ? made.operands[0] : output;
    const std::int32_t place = places[ir::index(root)];
    if (root != output && std::find(kernel.results.begin(), kernel.results.end(), place) != kernel.results.end())
      continue;
    kernel.results.push_back(place);
  }
  return kernel;
}

bool takes(const Kernel& kernel, NodeId value) { return operand_index(kernel, value) >= 0; }

std::int32_t operand_index(const Kernel& kernel, NodeId value) {
  for (std::size_t i = 0; i < kernel.operands.size(); ++i)
    if (item(kernel, kernel.operands[i]).id == value) return static_cast<std::int32_t>(i);
  return -1;
}

Kernel merged(const Kernel& producer, const Kernel& consumer, bool keep) {
  Merger merger(consumer, producer);
  std::vector<std::int32_t> of_consumer, of_producer;
  const std::vector<NodeId> inside = result_ids(producer);
  merger.take_operands(consumer, inside, of_consumer);
  merger.take_operands(producer, {}, of_producer);
  merger.add_instructions(producer, of_producer);
  for (const std::int32_t operand : consumer.operands)
    for (std::size_t r = 0; r < inside.size(); ++r)
      if (item(consumer, operand).id == inside[r])
        of_consumer[static_cast<std::size_t>(operand)] = of_producer[static_cast<std::size_t>(producer.results[r])];
  merger.add_instructions(consumer, of_consumer);
  merger.add_results(consumer, of_consumer);
  if (keep) merger.add_results(producer, of_producer);
  return std::move(merger).done();
}

Kernel siblings(const Kernel& first, const Kernel& second) {
  Merger merger(first, second);
  std::vector<std::int32_t> of_first, of_second;
  merger.take_operands(first, {}, of_first);
  merger.take_operands(second, {}, of_second);
  merger.add_instructions(first, of_first);
  merger.add_instructions(second, of_second);
  merger.add_results(first, of_first);
  merger.add_results(second, of_second);
  return std::move(merger).done();
}

void merge_equal(Kernel& kernel) {
  std::vector<std::int32_t> places(kernel.items.size());
  std::multimap<std::pair<Op, Operands>, std::int32_t> seen;
  std::vector<Item> kept;
  for (std::size_t i = 0; i < kernel.items.size(); ++i) {
    Item one = std::move(kernel.items[i]);
    for (std::int32_t& operand : one.operands) operand = places[static_cast<std::size_t>(operand)];
    places[i] = static_cast<std::int32_t>(kept.size());
    if (!one.outside) {
      const auto [from, to] = seen.equal_range({one.node->op, one.operands});
      const auto equal = std::find_if(from, to, [&](const auto& entry) {
        const Node& a = *kept[static_cast<std::size_t>(entry.second)].node;
        const Node& b = *one.node;
        return &a == &b || (a.shape == b.shape && a.results == b.results && a.bodies == b.bodies &&
                            a.attributes == b.attributes && ir::class_of(a.op) != ir::OpClass::random);
      });
      if (equal != to) {
        places[i] = equal->second;
        continue;
      }
      seen.emplace(std::pair(one.node->op, one.operands), places[i]);
    }
    kept.push_back(std::move(one));
  }
  kernel.items = std::move(kept);
  for (std::int32_t& operand : kernel.operands) operand = places[static_cast<std::size_t>(operand)];
  for (std::int32_t& result : kernel.results) result = places[static_cast<std::size_t>(result)];
}

std::vector<NodeId> members(const Kernel& kernel) {
  std::vector<NodeId> ids;
  for (const Item& one : kernel.items)
    if (!one.outside) ids.push_back(one.id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace tailor::costmodel::xla
