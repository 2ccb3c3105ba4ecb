// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A graph and its groups as HLO text: what XLA's parser reads, and what import_hlo() reads back to the same graph with
// the same groups given. Comes in: a graph, for each group the border that decides what it reads, computes and writes,
// and the same for bodies of loops and branches. Goes out: the text of a module. Called by study for `tailor fuse`.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "ir/fusion.h"

namespace tailor::hlo {

/// One group as it will stand in the text. A group of one operation that no other group computes is written without a
/// fusion around it: whoever reads the text lets it run alone.
struct WrittenFusion {
  std::string name;  ///< a wish; made unique and turned into HLO's letters
  std::string kind;  ///< kLoop, kInput, kOutput, kCustom
  ir::Boundary border;
};

/// The groups of one graph. The order counts: a value that several groups compute comes from the first that writes it.
struct WrittenGroups {
  std::vector<WrittenFusion> fusions;
  std::vector<WrittenGroups> bodies;  ///< parallel to Graph::bodies; empty: nothing in them is fused
};

/// The names that the nodes of a graph have in the text, unique among them: theirs, with what HLO's names cannot hold
/// replaced, and without the fusion of a file that they were read from ("fusion.3/add.4" is "add.4") where only one
/// node is called so. import_hlo() puts the name of a fusion and '/' before those inside of it.
std::vector<std::string> hlo_names(const ir::Graph& graph);

/// The module. Nodes that nothing needs are left out, but for parameters and what runs outside of groups. Near-linear
/// in the graph. Throws Error(failed) when groups wait for each other in a circle, Error(interrupted).
std::string hlo_text(const ir::Graph& graph, const WrittenGroups& groups, const std::stop_token& stop = {});

}  // namespace tailor::hlo
