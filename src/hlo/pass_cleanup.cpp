// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Equal nodes become one, dead nodes go. In: a graph while it is rewritten. Out: the same graph with fewer nodes.
// Called as rows of the table of passes, last.
//
// Equal nodes are found by value numbering. Nodes are visited in topological order, so the operands of a node are
// settled when it is reached. Its operation, shape, operands and attributes are hashed, and a node that equals an
// earlier one is replaced by it. Only nodes that compute a value from their operands take part. Copies do not, because
// somebody wanted two arrays; neither do random numbers, library calls that may act on the world, and constants whose
// contents are unknown.
//
// Dead nodes are found by one walk backwards: outputs, parameters and nodes with side effects are alive, and so are the
// operands of what is alive. The others are dropped and the rest renumbered. A member of a fusion of the file that was
// merged into an equal node hands its place to that node; one that was simplified away leaves the fusion.
#include <algorithm>
#include <bit>

#include "base/indexed.h"
#include "hlo/normalise.h"

namespace tailor::hlo {

namespace {

bool may_merge(const ir::Node& node) {
  if (node.op == ir::Op::parameter) return false;
  if (node.op == ir::Op::copy) return true;  // of its own kind: see copied_again
  if (node.op == ir::Op::constant) return known_literal(node) != nullptr;
  if (node.op == ir::Op::get_tuple_element || node.op == ir::Op::dot || node.op == ir::Op::convolution) return true;
  const ir::OpClass kind = class_of(node.op);
  return kind == ir::OpClass::leaf || kind == ir::OpClass::elementwise || kind == ir::OpClass::mapped ||
         kind == ir::OpClass::index || kind == ir::OpClass::lookup || kind == ir::OpClass::reduction ||
         kind == ir::OpClass::window;
}

class Hash {
 public:
  void mix(std::uint64_t value) {
    state_ = (state_ ^ value) * 0x9e3779b97f4a7c15;
    state_ ^= state_ >> 32;
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x2545f4914f6cdd1d;
};

/// What the text form writes of attributes; more is compared than is hashed.
struct AttributeHash {
  Hash& hash;

  void operator()(std::string_view, const ir::Dims& dims) {
    for (const std::int64_t dim : dims) mix(dim + 77);
  }
  void operator()(std::string_view, ir::ListOfOne<const std::int64_t> list) { mix(list.number + 77); }
  void operator()(std::string_view, const std::vector<ir::SliceRange>& ranges) {
    for (const ir::SliceRange& range : ranges) mix(range.start * 31 + range.limit);
  }
  void operator()(std::string_view, const std::vector<ir::PadRange>& ranges) {
    for (const ir::PadRange& range : ranges) mix(range.low * 31 + range.high);
  }
  void operator()(std::string_view, const std::vector<ir::Shape>& shapes) { hash.mix(shapes.size()); }
  void operator()(std::string_view, const std::string& words) { hash.mix(words.size()); }
  void operator()(std::string_view, bool flag) { hash.mix(flag ? 1 : 0); }
  void operator()(std::string_view, std::int64_t number) { mix(number); }
  void operator()(std::string_view, double) {}

 private:
  void mix(std::int64_t number) { hash.mix(static_cast<std::uint64_t>(number)); }
};

std::uint64_t hash_of(const ir::Node& node) {
  Hash hash;
  hash.mix(static_cast<std::uint64_t>(node.op) << 8 | static_cast<std::uint64_t>(node.shape.dtype));
  for (const std::int64_t dim : node.shape.dims) hash.mix(static_cast<std::uint64_t>(dim));
  for (const ir::NodeId operand : node.operands) hash.mix(static_cast<std::uint64_t>(operand) + 1);
  walk_attributes(AttributeHash{hash}, node);
  if (const auto* compare = std::get_if<ir::CompareOptions>(&node.attributes))
    hash.mix(static_cast<std::uint64_t>(compare->comparison));
  if (const ir::Literal* literal = known_literal(node))
    for (const std::byte byte : literal->bytes) hash.mix(static_cast<std::uint64_t>(byte));
  return hash.value();
}

bool same_value(const ir::Node& a, const ir::Node& b) {
  return a.op == b.op && a.operands == b.operands && a.shape == b.shape && a.attributes == b.attributes &&
         a.bodies == b.bodies && a.results == b.results;
}

/// A copy is an array that somebody wanted, so that two of one value are two. But one that fusions compute again is
/// written in each under one name: "a/n12" and "b/n12", or "n12" where it is a kernel too.
bool copied_again(const ir::Node& a, const ir::Node& b, bool in_fusion) {
  const auto own = [](const ir::Node& node) { return std::string_view(node.name).substr(node.name.rfind('/') + 1); };
  return in_fusion && own(a) == own(b);
}

/// Acts on the world, so it stays whether or not its result is read. An unknown operation may.
bool has_side_effect(const ir::Node& node) {
  if (node.op == ir::Op::custom_call)
    return hlo_text(node).find("custom_call_has_side_effect=true") != std::string_view::npos;
  return node.op == ir::Op::opaque || node.op == ir::Op::send || node.op == ir::Op::send_done ||
         node.op == ir::Op::recv || node.op == ir::Op::recv_done || node.op == ir::Op::infeed ||
         node.op == ir::Op::outfeed;
}

IndexedVector<std::uint8_t> live_nodes(const ir::Graph& graph) {
  IndexedVector<std::uint8_t> live(graph.nodes.size(), 0);
  for (const ir::NodeId output : graph.outputs) live[output] = 1;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const ir::Node& node = graph.nodes[i];
    if (node.op == ir::Op::parameter || has_side_effect(node)) live[i] = 1;
    if (live[i] == 0) continue;
    for (const ir::NodeId operand : node.operands) live[operand] = 1;
  }
  return live;
}

/// Members of given groups under their new numbers. A member merged into an equal node hands its place to that node;
/// one that was simplified away leaves the group.
void renumber_groups(Rewrite& rewrite, const IndexedVector<ir::NodeId>& renumbered) {
  IndexedVector<std::uint8_t> was_merged(rewrite.replaced_by.size(), 0);
  for (const auto& [from, to] : rewrite.merged) was_merged[from] = 1;
  for (ir::GivenGroup& group : rewrite.graph.given) {
    std::vector<ir::NodeId> kept;
    for (const ir::NodeId member : group.nodes) {
      const ir::NodeId now = rewrite.current(member);
      if (now != member && was_merged[member] == 0) continue;
      const ir::NodeId number = renumbered[now];
      if (number != ir::no_node) kept.push_back(number);
    }
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    group.nodes = std::move(kept);
  }
  std::erase_if(rewrite.graph.given, [](const ir::GivenGroup& group) { return group.nodes.empty(); });
}

/// Drops bodies no node holds any more; the nodes they had.
std::int64_t drop_dead_bodies(ir::Graph& graph) {
  IndexedVector<std::int32_t> renumbered(graph.bodies.size(), -1);
  std::vector<ir::Graph> kept;
  for (ir::Node& node : graph.nodes)
    for (std::int32_t& body : node.bodies) {
      std::int32_t& number = renumbered[body];
      if (number < 0) {
        number = static_cast<std::int32_t>(kept.size());
        kept.push_back(std::move(graph.bodies[ir::index(body)]));
      }
      body = number;
    }
  std::int64_t dropped = 0;
  for (std::size_t i = 0; i < renumbered.size(); ++i)
    if (renumbered[i] < 0) dropped += nodes_in_all(graph.bodies[i]);
  graph.bodies = std::move(kept);
  return dropped;
}

}  // namespace

void merge_duplicates(Rewrite& rewrite, PassCount& count) {
  const std::size_t size = rewrite.graph.nodes.size();
  const std::size_t slots = std::bit_ceil(2 * size + 2);
  std::vector<ir::NodeId> table(slots, ir::no_node);
  IndexedVector<std::uint64_t> hashes(size);
  IndexedVector<std::uint8_t> fused(size, 0);
  for (const ir::GivenGroup& group : rewrite.graph.given)
    for (const ir::NodeId member : group.nodes) fused[member] = 1;
  for (ir::NodeId id = 0; id < static_cast<ir::NodeId>(size); ++id) {
    ir::Node& node = rewrite.node(id);
    rewrite.refresh(node);
    if (rewrite.current(id) != id || !may_merge(node)) continue;
    const std::uint64_t hash = hashes[id] = hash_of(node);
    std::size_t at = hash & (slots - 1);
    for (; table[at] != ir::no_node; at = (at + 1) & (slots - 1))
      if (hashes[table[at]] == hash && same_value(rewrite.node(table[at]), node) &&
          (node.op != ir::Op::copy ||
           copied_again(rewrite.node(table[at]), node, fused[table[at]] != 0 || fused[id] != 0)))
        break;
    if (table[at] == ir::no_node) {
      table[at] = id;
      continue;
    }
    rewrite.replace(id, table[at]);
    rewrite.merged.emplace_back(id, table[at]);
    ++count.rewrites;
    ++count.removed;
  }
}

void drop_dead(Rewrite& rewrite, PassCount& count) {
  ir::Graph& graph = rewrite.graph;
  for (ir::Node& node : graph.nodes) rewrite.refresh(node);
  for (ir::NodeId& output : graph.outputs) output = rewrite.current(output);
  const IndexedVector<std::uint8_t> live = live_nodes(graph);
  IndexedVector<ir::NodeId> renumbered(graph.nodes.size(), ir::no_node);
  ir::NodeId next = 0;
  std::int64_t dead = 0;
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (live[i] != 0)
      renumbered[i] = next++;
    else if (rewrite.replaced_by[i] == static_cast<ir::NodeId>(i))
      ++dead;
  }
  renumber_groups(rewrite, renumbered);
  std::vector<ir::Node> kept;
  kept.reserve(static_cast<std::size_t>(next));
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (live[i] == 0) continue;
    for (ir::NodeId& operand : graph.nodes[i].operands) operand = renumbered[operand];
    kept.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(kept);
  for (ir::NodeId& output : graph.outputs) output = renumbered[output];
  count.rewrites += dead;
  count.removed += dead + drop_dead_bodies(graph);
}

}  // namespace tailor::hlo
