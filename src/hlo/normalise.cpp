// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Running the table of passes (normalise.h). In: a graph as it was walked. Out: the same graph, rewritten in place, and
// the counts of each pass. Called by the import.
//
// Bodies come first: what a loop does is settled before the loop is compared with others. A pass does not reorder
// nodes. It notes for each node which other node stands for its value now; operands are pointed at the new node when a
// pass looks at them, and the last pass drops what no output needs and renumbers the rest. So ids stay valid while a
// pass runs, and a group of the file can still find its members. A pass may put constants in front of all nodes when it
// is done: they need nothing, so the order stays one of operands before users.
#include "hlo/normalise.h"

#include <iterator>
#include <numeric>

#include "base/stop.h"

namespace tailor::hlo {

Rewrite::Rewrite(ir::Graph& rewritten, const std::stop_token& asked)
    : graph(rewritten), stop(asked), replaced_by(rewritten.nodes.size()) {
  std::iota(replaced_by.begin(), replaced_by.end(), 0);
}

void Rewrite::refresh(ir::Node& refreshed) {
  stop_if_asked(stop);
  for (ir::NodeId& operand : refreshed.operands) operand = current(operand);
}

void Rewrite::prepend(std::vector<ir::Node> leaves) {
  const auto added = static_cast<ir::NodeId>(leaves.size());
  if (added == 0) return;
  const auto shift = [added](auto& ids) {
    for (ir::NodeId& id : ids) id += added;
  };
  for (ir::Node& node : graph.nodes) shift(node.operands);
  shift(graph.outputs);
  for (ir::GivenGroup& group : graph.given) shift(group.nodes);
  shift(replaced_by);
  for (auto& [from, to] : merged) from += added, to += added;
  graph.nodes.insert(graph.nodes.begin(), std::make_move_iterator(leaves.begin()),
                     std::make_move_iterator(leaves.end()));
  std::vector<ir::NodeId> own(leaves.size());
  std::iota(own.begin(), own.end(), 0);
  replaced_by.insert(replaced_by.begin(), own.begin(), own.end());
}

void run_passes(ir::Graph& graph, Ledger& ledger, const std::stop_token& stop) {
  for (ir::Graph& body : graph.bodies) run_passes(body, ledger, stop);
  Rewrite rewrite(graph, stop);
  for (const PassRow& row : pass_table)
    if (row.run != nullptr) row.run(rewrite, ledger.of(row.pass));
}

std::int64_t nodes_in_all(const ir::Graph& graph) {
  auto count = static_cast<std::int64_t>(graph.nodes.size());
  for (const ir::Graph& body : graph.bodies) count += nodes_in_all(body);
  return count;
}

}  // namespace tailor::hlo
