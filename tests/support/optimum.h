// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The least price of any partition of a small graph, and small graphs cut out of large ones to ask it of. In: a graph,
// a device. Out: seconds of the cheapest partition, found without any search of ours; parts of a model. Used by tests
// of strategies that search and by gap_bench, which measures how far they are from it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "costmodel/calibration.h"
#include "ir/fusion.h"

/// Whether a set of nodes may be one kernel.
using MayBeGroup = std::function<bool(const std::vector<tailor::ir::NodeId>&)>;

/// The exact optimum over all partitions of the working nodes into groups that one after another can run, by the price
/// `group`. `may` (absent: all may) is asked of groups of several nodes. Nothing for graphs of more than 62 nodes that
/// run, or that would take more than `most_steps` steps. With `groups` a partition of that price is put there.
std::optional<double> optimum(const tailor::ir::Graph& graph, const tailor::costmodel::CalibratedDevice& device,
                              std::int64_t most_steps, const MayBeGroup& may = {},
                              std::vector<std::vector<tailor::ir::NodeId>>* groups = nullptr);

/// The graph with every work that nobody reads as an output of its own: a group that is taken out of its graph lacks
/// such work, and its price with it.
tailor::ir::Graph all_read(tailor::ir::Graph graph);

/// A part of the graph around a random working node, grown along edges to at most `nodes` working nodes and library
/// calls, as a graph of its own; nothing when it does not grow to half of that.
std::optional<tailor::ir::Graph> random_part(const tailor::ir::Graph& graph, const tailor::ir::DefUse& def_use,
                                             std::size_t nodes, std::mt19937_64& random);
