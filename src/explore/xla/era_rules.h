// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What XLA's rule-based GPU fusion of 2020 and 2022 allowed. In: instructions as they stand. Out: answers. Called by
// the passes of those years: instruction fusion (era_fusion.cpp), the merger of fusions (era_merger.cpp), kernels with
// several results (era_multi_output.cpp), horizontal fusion (era_horizontal.cpp).
//
// Read in XLA's history at 5dcf678a (2020-07-01, about TensorFlow 2.3) and d294f67d (2021-12-30, about TensorFlow 2.8):
// service/instruction_fusion.cc, service/fusion_node_indexing_evaluation.cc, service/hlo_instruction.cc and
// service/gpu/{instruction_fusion,gpu_fusible,ir_emission_utils}.cc. What differs between the two asks XlaInstructions'
// year; everything else was the same in both.
#pragma once

#include "explore/xla/instructions.h"

namespace tailor::explore {

/// Element by element, and one of the operations that have operands.
bool era_elementwise(const ir::Node& node, const ir::Graph& graph);
/// Dear enough that it is not computed twice.
bool era_expensive(const ir::Node& node, const ir::Graph& graph, xla::Year year);

/// A reduction that XLA's reduction emitter takes, or a fusion with such a result.
bool era_reduces(const XlaInstructions& all, std::int32_t i);
/// Ends in a tiled reduction or a scatter, and takes producers into its input.
bool era_input_fusible(const XlaInstructions& all, std::int32_t i);
/// A loop over its elements can hold it.
bool era_loop_fusible(const XlaInstructions& all, std::int32_t i);

/// Instructions that read what this one gives, the world outside counted as one.
std::int64_t era_users(const XlaInstructions& all, std::int32_t i);
/// All of it would be recomputed in a loop inside a loop.
bool era_nests_loops(XlaInstructions& all, std::int32_t producer, std::int32_t consumer);
/// What a tiled reduction reads lies alike in memory.
bool era_layouts_agree(const XlaInstructions& all, std::int32_t producer, std::int32_t consumer);
/// The rules of a pair that all vertical passes ask.
bool era_fusible_pair(XlaInstructions& all, std::int32_t producer, std::int32_t consumer);
/// The consumer reads elements of the producer several times.
bool era_reuses(XlaInstructions& all, std::int32_t producer, std::int32_t consumer);
/// Kernels loop over the same elements, reductions among them reduce the same dimensions.
bool era_loops_agree(const XlaInstructions& all, std::int32_t a, std::int32_t b);
/// The code of the producer, or of what it holds, would be emitted too often in the consumer.
bool era_emits_too_often(XlaInstructions& all, std::int32_t producer, std::int32_t consumer);

/// The passes, each over all instructions. Whether they changed something.
bool era_fuse_instructions(XlaInstructions& all, bool may_duplicate, const std::stop_token& stop);
bool era_merge_fusions(XlaInstructions& all, const std::stop_token& stop);
bool era_fuse_multi_output(XlaInstructions& all, const std::stop_token& stop);
bool era_fuse_horizontal_loops(XlaInstructions& all, const std::stop_token& stop);
bool era_fuse_horizontal_inputs(XlaInstructions& all, const std::stop_token& stop);

}  // namespace tailor::explore
