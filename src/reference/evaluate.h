// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The reference evaluator: HLO's semantics for every operation of the table, element by element, in f64, f32, f16,
// bf16, integers and predicates. Slow and plain on purpose: it is the oracle every kernel is compared with. Each
// floating operation is computed in double and rounded to its type (f64: computed as is), so results are the correctly
// rounded ones wherever the C library's double function is good to half an ulp of f32.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "ir/graph/graph.h"

namespace tailor::reference {

/// One array value. Elements in row-major logical order whatever the layout, each in its own bytes (as Literal).
struct Tensor {
  ir::Shape shape;
  std::vector<std::byte> bytes;
};

/// Element i as double (integers beyond 2^53 lose bits: use the typed accessor for those).
double as_double(const Tensor& tensor, std::int64_t i);
std::int64_t as_integer(const Tensor& tensor, std::int64_t i);
/// Stores `value` rounded to the tensor's type (round to nearest even; saturating only where HLO's convert saturates).
void store(Tensor& tensor, std::int64_t i, double value);
void store_integer(Tensor& tensor, std::int64_t i, std::int64_t value);
Tensor zeros(const ir::Shape& shape);
/// Seeded contents in a range that keeps typical models finite: floats in [-2, 2), integers small, predicates fair.
Tensor random_tensor(const ir::Shape& shape, std::uint64_t seed, const std::stop_token& stop = {});

/// Reads nothing but `inputs` (one per parameter, in order of number). Returns one tensor per output. Throws
/// Error(failed) naming the node for: an operation without semantics here (library calls other than dot, communication,
/// opaque), an unknown constant, inputs that do not fit. Throws Error(interrupted) when asked to stop.
std::vector<Tensor> evaluate(const ir::Graph& graph, std::span<const Tensor> inputs, const std::stop_token& stop = {});

/// Whether evaluate() has semantics for this node.
bool can_evaluate(const ir::Graph& graph, ir::NodeId node);

}  // namespace tailor::reference
