// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of PyTorch 2.1 by their launch rules and loops, which are public. In: operation, rows, columns. Out: a
// foreign kernel with traffic, round trips and instructions. Called for each row of a published table.
//
// Element-wise: 128 threads, four elements each, loaded together: one round trip. Softmax up to 1024 columns: a warp
// takes a row (two rows up to 128 columns) and holds it in registers: one round trip, two reductions over the warp.
// Softmax beyond: a block takes a row and reads it three times (maximum, sum, result) in vectors of four and a scalar
// tail; a row that does not begin on 16 bytes costs a scalar turn first. Layer norm: a block of four warps takes a row
// and reads it twice (mean and variance, result) in vectors of four; its loops are unrolled by four, and a warp in
// which some lanes have a turn more than the others goes through the batch and through the remainder.
//
// Instructions of the row-wise kernels are those that warps execute, useful or not: in each turn of a loop some for its
// elements and some for the turn, and for each row what the reductions across lanes and warps take. Layer norm updates
// mean and variance with a division for each element and combines them with divisions, which on short rows is most of
// the kernel. Warps of one place in their blocks share a scheduler, so a block counts as if all its warps did what the
// longest does. The numbers are rough counts of the published source; what a GPU takes for them its fitted clock says.
//
// Trips are those of the warp that has most of them. Rows of one launch that are aligned differently enter by their
// share, so trips need not be whole.
#include "calibrate/pytorch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/division.h"

namespace tailor::calibrate {

namespace {

enum class Kind : std::uint8_t { elementwise, softmax, layer_norm };

/// Instructions a thread executes beside its loads and stores, per element, and results of the transcendental pipe.
struct OperationRow {
  std::string_view name;
  Kind kind;
  int inputs;
  double instructions;
  double transcendental;
};
constexpr std::array operations = std::to_array<OperationRow>({
    {"add", Kind::elementwise, 2, 6, 0},
    {"mul", Kind::elementwise, 2, 6, 0},
    {"div", Kind::elementwise, 2, 14, 1},
    {"pow", Kind::elementwise, 2, 0, 0},
    {"addu", Kind::elementwise, 1, 5, 0},
    {"mulu", Kind::elementwise, 1, 5, 0},
    {"divu", Kind::elementwise, 1, 5, 0},
    {"powu", Kind::elementwise, 1, 0, 0},
    {"relu", Kind::elementwise, 1, 5, 0},
    {"gelu", Kind::elementwise, 1, 30, 1},
    {"tanh", Kind::elementwise, 1, 20, 2},
    {"softmax", Kind::softmax, 1, 12, 1},
    {"ln", Kind::layer_norm, 1, 0, 1},
});

constexpr auto operation_names = [] {
  std::array<std::string_view, operations.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = operations[i].name;
  return names;
}();

constexpr double f32_bytes = 4;     // bytes of an f32
constexpr std::int64_t vector = 4;  // elements of a 16-byte load

void describe_elementwise(ir::ForeignKernel& k, const OperationRow& op, double elements) {
  constexpr std::int64_t block = 128;
  if (k.threads == 0) k.threads = block;
  if (k.blocks == 0) k.blocks = ceil_div(static_cast<std::int64_t>(elements), k.threads * vector);
  k.read = op.inputs * f32_bytes * elements;
  k.written = f32_bytes * elements;
  k.far_trips = 1;
  if (op.instructions > 0) k.instructions = elements * op.instructions / 32;
  k.transcendental = elements * op.transcendental;
}

/// Up to 1024 columns: rows in registers.
void describe_warp_softmax(ir::ForeignKernel& k, const OperationRow& op, std::int64_t rows, std::int64_t columns) {
  std::int64_t padded = 1;
  while (padded < columns) padded *= 2;
  const std::int64_t lanes = std::min<std::int64_t>(padded, 32), rows_a_warp = padded <= 128 ? 2 : 1;
  constexpr std::int64_t block = 128;
  if (k.threads == 0) k.threads = block;
  if (k.blocks == 0) k.blocks = ceil_div(rows, k.threads / lanes * rows_a_warp);
  k.far_trips = 1;
  k.shuffles = 2 * std::log2(static_cast<double>(lanes)) * static_cast<double>(rows_a_warp);
  // Lanes work on the padding too.
  k.instructions = static_cast<double>(rows * padded) * op.instructions / 32;
  k.transcendental = static_cast<double>(rows * padded);
}

/// Trips of one pass over a row that begins `shift` elements behind a vector's boundary.
double block_pass(std::int64_t columns, std::int64_t threads, std::int64_t shift) {
  double trips = 0;
  std::int64_t rest = columns;
  if (shift > 0) {
    rest = std::max<std::int64_t>(0, columns + shift - threads);
    trips += 1;
  }
  const std::int64_t turns = rest / (vector * threads);
  return trips + static_cast<double>(turns + ceil_div(rest - turns * vector * threads, threads));
}

/// Instructions of a warp in one pass over such a row.
double block_pass_instructions(std::int64_t columns, std::int64_t threads, std::int64_t shift) {
  constexpr double element = 12, turn = 20;
  double sum = 0;
  std::int64_t rest = columns;
  if (shift > 0) {
    rest = std::max<std::int64_t>(0, columns + shift - threads);
    sum += element + turn;
  }
  const std::int64_t turns = rest / (vector * threads), scalar = ceil_div(rest - turns * vector * threads, threads);
  return sum + static_cast<double>(turns) * (vector * element + turn) + static_cast<double>(scalar) * (element + turn);
}

void describe_block_softmax(ir::ForeignKernel& k, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t most = 1024, least = 32;
  if (k.threads == 0) {
    k.threads = least;
    while (k.threads < columns / vector / 2 && k.threads < most) k.threads *= 2;
  }
  if (k.blocks == 0) k.blocks = rows;
  // Rows follow one another: of four rows, the one at r begins (r * columns) mod 4 elements behind a boundary.
  double pass = 0, instructions = 0;
  for (std::int64_t row = 0; row < vector; ++row) {
    pass += block_pass(columns, k.threads, row * columns % vector) / vector;
    instructions += block_pass_instructions(columns, k.threads, row * columns % vector) / vector;
  }
  constexpr double passes = 3;
  k.reread = (passes - 1) * f32_bytes * static_cast<double>(rows * columns);
  k.far_trips = pass;
  k.near_trips = (passes - 1) * pass;
  k.shuffles = 2 * 5;
  k.barriers = 4;
  k.shared = static_cast<std::int64_t>(k.threads / 32 * 4);
  constexpr double reductions = 150;
  k.instructions = static_cast<double>(rows * k.threads) / 32 * (reductions + passes * instructions);
  k.transcendental = 2 * static_cast<double>(rows * columns);
}

/// Turns of the longest warp of one pass of layer norm.
double norm_pass(std::int64_t columns, std::int64_t threads) {
  constexpr std::int64_t unrolled = 4;
  const std::int64_t vectors = ceil_div(columns, vector);
  const std::int64_t least = vectors / threads, more = vectors % threads;
  const auto turns = [](std::int64_t n) { return n / unrolled + n % unrolled; };
  std::int64_t longest = turns(more == 0 ? least : least + 1);
  if (more > 0 && more < threads - 31) longest = std::max(longest, turns(least));
  const bool mixed_warp = more % 32 != 0;
  if (mixed_warp)
    longest =
        std::max(longest, std::max(least, least + 1) / unrolled + std::max(least % unrolled, (least + 1) % unrolled));
  return static_cast<double>(longest);
}

/// Turns that the longest warp executes: one in which some lanes have more goes through their batch and their
/// remainder.
double executed_turns(std::int64_t columns, std::int64_t threads) {
  constexpr std::int64_t unrolled = 4, lanes = 32;
  const std::int64_t vectors = ceil_div(columns, vector), least = vectors / threads, more = vectors % threads;
  std::int64_t most = 0;
  for (std::int64_t first = 0; first < threads; first += lanes) {
    const std::int64_t high = least + (first < more ? 1 : 0), low = least + (first + lanes - 1 < more ? 1 : 0);
    most = std::max(most,
                    std::max(high / unrolled, low / unrolled) * unrolled + std::max(high % unrolled, low % unrolled));
  }
  return static_cast<double>(most);
}

void describe_layer_norm(ir::ForeignKernel& k, const OperationRow& op, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t block = 128;
  if (k.threads == 0) k.threads = block;
  if (k.blocks == 0) k.blocks = rows;
  const double elements = static_cast<double>(rows * columns);
  k.common = 2 * f32_bytes * static_cast<double>(columns);
  k.read += k.common;
  k.written += 2 * f32_bytes * static_cast<double>(rows);
  k.reread = f32_bytes * elements;
  const double pass = norm_pass(columns, k.threads);
  k.far_trips = pass;
  k.near_trips = pass;
  constexpr double combine = 400, turn = 100;
  k.instructions = static_cast<double>(rows * k.threads) / 32 * (combine + turn * executed_turns(columns, k.threads));
  k.transcendental = elements * op.transcendental;
  k.shuffles = 3 * 5;
  k.barriers = 4;
  k.shared = 3 * 4 * (k.threads / 32);
}

}  // namespace

std::span<const std::string_view> pytorch_operations() { return operation_names; }

std::optional<ir::ForeignKernel> pytorch_kernel(std::string_view operation, std::int64_t rows, std::int64_t columns,
                                                std::int64_t blocks, std::int64_t threads) {
  const auto op = std::find_if(operations.begin(), operations.end(),
                               [&](const OperationRow& row) { return row.name == operation; });
  if (op == operations.end()) return std::nullopt;
  ir::ForeignKernel k;
  k.operation = fmt::format("{} f32", operation);
  k.shape = fmt::format("{}x{}", rows, columns);
  k.blocks = blocks;
  k.threads = threads;
  const double elements = static_cast<double>(rows) * static_cast<double>(columns);
  k.read = k.written = f32_bytes * elements;
  constexpr std::int64_t in_registers = 1024;
  switch (op->kind) {
    case Kind::elementwise:
      describe_elementwise(k, *op, elements);
      break;
    case Kind::softmax:
      if (columns <= in_registers)
        describe_warp_softmax(k, *op, rows, columns);
      else
        describe_block_softmax(k, rows, columns);
      break;
    case Kind::layer_norm:
      describe_layer_norm(k, *op, rows, columns);
      break;
  }
  return k;
}

}  // namespace tailor::calibrate
