// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Putting groups one behind another. In: groups. Out: one graph, in which parameters that found an output of their
// shape are gone and the others are numbered through; results that were found are results no more unless they are kept.
// Called by tests of stages.
#include "support/group_chain.h"

#include <algorithm>
#include <string>

#include "ir/graph/graph_attributes.h"

namespace tailor::ir {

std::optional<Group> one_behind_another(const std::vector<Group>& groups, bool kept) {
  Group all;
  std::vector<NodeId> before;  // outputs of the group at hand's predecessor, in numbers of the whole
  std::int64_t read = 0;
  for (const Group& group : groups) {
    if (!group.graph.in_place.empty()) return std::nullopt;
    const auto first_body = static_cast<std::int32_t>(all.graph.bodies.size());
    const std::string suffix = "_" + std::to_string(all.graph.nodes.size());
    std::vector<NodeId> number, used;
    for (Node node : group.graph.nodes) {
      const auto same = std::find_if(before.begin(), before.end(), [&](NodeId id) {
        return all.graph[id].shape == node.shape && std::find(used.begin(), used.end(), id) == used.end();
      });
      if (node.op == Op::parameter && same != before.end()) {
        number.push_back(*same);
        used.push_back(*same);
        continue;
      }
      if (node.op == Op::parameter) node.attributes = ParameterNumber{read++};
      for (NodeId& operand : node.operands) operand = number[index(operand)];
      for (std::int32_t& body : node.bodies) body += first_body;
      node.name += suffix;
      number.push_back(static_cast<NodeId>(all.graph.nodes.size()));
      all.graph.nodes.push_back(std::move(node));
    }
    if (used.empty() && &group != &groups.front()) return std::nullopt;
    if (!kept)
      std::erase_if(all.graph.outputs,
                    [&](NodeId id) { return std::find(used.begin(), used.end(), id) != used.end(); });
    before.clear();
    for (const NodeId output : group.graph.outputs) before.push_back(number[index(output)]);
    all.graph.outputs.insert(all.graph.outputs.end(), before.begin(), before.end());
    all.graph.bodies.insert(all.graph.bodies.end(), group.graph.bodies.begin(), group.graph.bodies.end());
  }
  all.graph.name = "one_behind_another";
  verify(all.graph);
  all.id = id_of(std::string_view(canonical_text(all.graph)));
  return all;
}

}  // namespace tailor::ir
