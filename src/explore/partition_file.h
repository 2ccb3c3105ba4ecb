// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Partition files: the groups of a fusion by the names of their nodes, written by `tailor fuse --write-partition` or by
// hand, and read back as a strategy. Comes in: a fusion and its graph; or the text of a file, and later a graph it has
// to fit. Goes out: the text; or the fusion with its notes. Called by find_strategy() and `tailor fuse`.
//
//   # '#' starts a comment. The head line names the version, and who made the groups for which graph.
//   partition 1 graph=2f8b0c... strategy=stitch-v1
//   group %add.7 %exp.8 %reduce.9
//   group %exp.8 %divide.12
//   body 0/2
//   group %multiply.3
//
// Each `group` line is one kernel; a node may stand in several (it is computed in each), free nodes may be left out,
// each working node must stand somewhere. `body` opens the groups of a loop's or branch's body by its place: body 2 of
// body 0 of the graph. `graph=` may be left out: then any graph fits that has the names. A name with other characters
// than letters, digits, '_', '.', '+' and '-' stands in double quotes, as in a graph's text; the '%' may be left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "ir/fusion.h"

namespace tailor::explore {

inline constexpr std::string_view partition_file_ending = ".partition";
inline constexpr std::int64_t partition_file_version = 1;

/// A partition file as it was written, before its names meet a graph.
struct PartitionFile {
  struct Name {
    std::string name;
    std::int64_t column = 0;
    bool operator==(const Name&) const = default;
  };
  struct Group {
    std::int64_t line = 0;
    std::vector<Name> nodes;
    bool operator==(const Group&) const = default;
  };
  /// The groups of one graph.
  struct Section {
    std::string body;       ///< "" for the entry graph, else the way to it: "0/2"
    std::int64_t line = 0;  ///< where it opens: the head line or a `body` line
    std::vector<Group> groups;
    bool operator==(const Section&) const = default;
  };

  std::string path;                     ///< for messages, and as the name of the strategy
  std::optional<Id> graph;              ///< of the text of the graph it was written for
  std::string strategy, device, price;  ///< who made it; empty when not said
  std::vector<Section> sections;        ///< the entry graph first
  bool operator==(const PartitionFile&) const = default;
};

/// Throws Error(failed) with line and column for a text that is empty, of an unknown version or not of this form.
PartitionFile parse_partition(std::string_view text, const std::string& path);

/// The fusion the file describes. Each note says on which line its group stands. Throws Error(failed) with line, column
/// and a hint: for another graph, an unknown name (the nearest one), a node that no kernel can hold or that is named
/// twice in a group, working nodes in no group, groups that wait for each other in a circle (which ones).
ir::Fusion read_fusion(const PartitionFile& file, const ir::Graph& graph);

/// The text of the file; read_fusion(parse_partition(text), graph) has the same groups in the same order.
std::string partition_text(const ir::Graph& graph, const ir::Fusion& fusion);

}  // namespace tailor::explore
