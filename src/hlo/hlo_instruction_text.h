// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of an instruction's text that depend on the node alone: its type, its literal, its attributes. In: a node
// of a graph. Out: words as XLA prints them. Called by the writer of modules (hlo_text.cpp), which knows names and
// computations.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "ir/graph/graph.h"

namespace tailor::hlo {

/// "(f32[4], s32[])".
std::string tuple_type_text(std::span<const ir::Shape> shapes);
/// "f32[4,8]{0,1}", or the tuple of a node with several results.
std::string type_text(const ir::Node& node);
/// "exponential"; an unknown operation as the dump called it.
std::string_view opcode_text(const ir::Node& node);
/// What stands in the parentheses of a constant.
std::string literal_text(const ir::Node& constant, const std::stop_token& stop);
/// ", dimensions={1}" and its kin: everything but computations that are called. Empty for most operations.
std::string attributes_text(const ir::Graph& graph, const ir::Node& node);

}  // namespace tailor::hlo
