// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks and threads of XLA's emitters. In: a kernel with its analysis, XLA's view of a GPU. Out: the schedule with its
// launch. Called by the price for each pair of kernels, by the table that sets launches beside XLA's, and by
// explore/plans.
//
// A loop has a thread for 1, 2 or 4 neighbours of the first result, in blocks of four warps; more than one only where
// the GPU is full without. A reduction of rows takes up to a block for a row, or several rows for a block; when rows
// are so short that a warp holds several, they share one. A reduction of columns is a block of 32 x 32 threads over a
// strip of columns, or, with few columns, 128 threads over all. Groups of results that share no input are separate
// layers of the grid. A transpose goes by square tiles, a concatenation over its largest operand, a scatter and an
// update in place over what is updated.
#include "costmodel/xla/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/graph/attribute_text.h"

namespace tailor::costmodel::xla {

using ir::Node;
using ir::Op;
using ir::Shape;

namespace {

// XLA's own rules (launch_dimensions.cc, gpu_fusible.cc, emitters/*.cc): tiles and tastes, no facts of a machine.
constexpr std::int64_t schedulers = 4, default_unroll = 4, most_concatenated = 10, most_window = 8;
constexpr std::int64_t side = 32, block_target = 256, most_row_threads = 1024, row_elements = 16;
constexpr std::int64_t small_column_threads = 128, transpose_rows = 4, transpose_vector_bytes = 4;
constexpr std::int64_t scatter_warps = 4, scatter_bits = 128;

bool contains(const Kernel& kernel, const auto& wanted) {
  return std::any_of(kernel.items.begin(), kernel.items.end(),
                     [&](const Item& one) { return !one.outside && wanted(one); });
}

/// Work per thread would become too much, or spill.
bool must_not_unroll(const Kernel& kernel) {
  return contains(kernel, [](const Item& one) {
    switch (one.node->op) {
      case Op::reduce_window:
        return ir::window_elements(std::get<ir::RegionCall>(one.node->attributes).text, first_shape(*one.node).rank()) >
               most_window;
      case Op::sort:
      case Op::dot:
        return true;
      case Op::concatenate:
        return static_cast<std::int64_t>(one.operands.size()) > most_concatenated;
      case Op::reduce:
        return one.node->results.size() > 1;
      default:
        return false;
    }
  });
}

/// Elements of `shape` that one thread computes.
std::int64_t unroll(const Kernel& kernel, const Analysis& analysis, const Shape& shape, const Target& target) {
  std::int64_t factor = 1;
  if (ir::elements(shape) >= target.threads_per_sm * target.sms && !must_not_unroll(kernel))
    factor = std::gcd(ir::elements(shape), default_unroll);
  return std::max(factor, ceil_of_ratio(8, analysis.least_output_bits));
}

Schedule loop_schedule(Form form, const Shape& shape, std::int64_t unrolled, const Target& target) {
  Schedule schedule;
  schedule.form = form;
  schedule.over = &shape;
  if (ir::elements(shape) <= 1) return schedule;
  schedule.vector = unrolled;
  Launch& launch = schedule.launch;
  const std::int64_t threads = ceil_of_ratio(ir::elements(shape), unrolled);
  launch.block = std::min(target.threads_per_warp * schedulers, threads);
  const std::int64_t blocks = ceil_of_ratio(threads, launch.block);
  launch.grid[1] = ceil_of_ratio(blocks, target.blocks_x);
  launch.grid[0] = ceil_of_ratio(blocks, launch.grid[1]);
  return schedule;
}

/// Elements that a thread of a reduction loads at once.
std::int64_t vector_size(const Kernel& kernel, const Analysis& analysis, std::int64_t minor, std::int64_t threads) {
  if (minor % 2 != 0 || threads * 2 > minor) return 1;
  for (const std::int32_t hero : analysis.heroes)
    for (const std::int32_t operand : item(kernel, hero).operands)
      if (ir::row(first_shape(node(kernel, operand)).dtype).kind == ir::DTypeKind::complex) return 1;
  if (analysis.least_input_bits >= 64) return 1;
  if (analysis.least_input_bits >= 32) return 2;
  if (threads * 4 > minor) return 2;
  return minor % 4 == 0 ? 4 : 2;
}

bool is_number_or_its_broadcast(const Kernel& kernel, const Item& one) {
  const auto is_number = [](const Node& node) { return node.op == Op::constant || node.shape.rank() == 0; };
  if (is_number(*one.node)) return true;
  return !one.outside && one.node->op == Op::broadcast && is_number(node(kernel, one.operands[0]));
}

/// How many sets of results share no input: each gets blocks of its own.
std::int64_t separate_groups(const Kernel& kernel, const Analysis& analysis) {
  const std::size_t count = kernel.results.size();
  if (count == 1) return 1;
  std::vector<std::size_t> group(count);
  std::iota(group.begin(), group.end(), std::size_t{0});
  const auto find = [&](std::size_t r) {
    while (group[r] != r) r = group[r];
    return r;
  };
  const auto join = [&](std::size_t a, std::size_t b) { group[find(b)] = find(a); };
  std::vector<bool> reduces;
  std::size_t first_other = count;
  for (std::size_t r = 0; r < count; ++r) {
    reduces.push_back(is_reduction_hero(kernel, kernel.results[r], analysis.heroes[r]));
    if (reduces[r]) continue;
    if (first_other < count)
      join(first_other, r);
    else
      first_other = r;
  }
  std::vector<std::vector<bool>> reached(kernel.items.size(), std::vector<bool>(count, false));
  for (std::size_t r = 0; r < count; ++r) reached[static_cast<std::size_t>(kernel.results[r])][r] = true;
  for (std::size_t i = kernel.items.size(); i-- > 0;) {
    for (const std::int32_t operand : kernel.items[i].operands)
      for (std::size_t r = 0; r < count; ++r)
        if (reached[i][r]) reached[static_cast<std::size_t>(operand)][r] = true;
    const bool number = is_number_or_its_broadcast(kernel, kernel.items[i]);
    bool added = false;
    std::size_t first = count;
    for (std::size_t r = 0; r < count; ++r) {
      if (reduces[r] && number && added) continue;  // a number is computed again rather than shared
      if (!reached[i][r]) continue;
      if (first < count)
        join(first, r);
      else
        first = r;
      added = added || reduces[r];
    }
  }
  std::int64_t groups = 0;
  for (std::size_t r = 0; r < count; ++r) groups += find(r) == r ? 1 : 0;
  return groups;
}

struct Threads {
  std::int64_t kept = 1, reduced = 1;
};

Threads short_row_threads(const Reduced& seen, std::int64_t vector) {
  Threads threads;
  threads.reduced = seen.dims[2] / vector;
  threads.kept = seen.dims[1] * threads.reduced <= block_target ? seen.dims[1] : block_target / threads.reduced;
  return threads;
}

/// Several rows a warp; false when rows are too long or odd for it.
bool short_rows(const Reduced& seen, const Analysis& analysis, const Target& target, Schedule& schedule) {
  const std::int64_t row = seen.dims[2];
  if ((row & (row - 1)) != 0) return false;
  const std::int64_t least = std::min(analysis.least_input_bits, analysis.least_output_bits);
  std::int64_t largest = std::max(analysis.least_input_bits, analysis.least_output_bits);
  if (largest == std::numeric_limits<int>::max()) largest = analysis.least_output_bits;
  std::int64_t vector = std::min(row, std::int64_t{64} / least);
  if (largest >= 32) vector = std::min(128 / largest, vector);
  vector = std::max<std::int64_t>(vector, 1);
  if (row > target.threads_per_warp * vector) return false;
  const auto blocks = [&] { return ceil_of_ratio(seen.dims[1], short_row_threads(seen, vector).kept); };
  while (vector > 1 && blocks() < target.sms) vector /= 2;
  if (row > target.threads_per_warp * vector) return false;
  const Threads threads = short_row_threads(seen, vector);
  schedule.form = Form::multi_row;
  schedule.vector = vector;
  schedule.lanes = threads.reduced;
  schedule.launch.block = threads.kept * threads.reduced;
  schedule.launch.grid[0] = blocks();
  return true;
}

void long_rows(const Kernel& kernel, const Reduced& seen, const Analysis& analysis, const Target& target,
               Schedule& schedule) {
  Threads threads;
  const std::int64_t wanted = ceil_of_ratio(seen.dims[2], row_elements);
  threads.reduced =
      std::min(most_row_threads, ceil_of_ratio(wanted, target.threads_per_warp) * target.threads_per_warp);
  if (threads.reduced * 2 <= block_target)
    threads.kept = seen.dims[1] * threads.reduced <= block_target ? seen.dims[1] : block_target / threads.reduced;
  schedule.form = Form::row;
  schedule.vector = vector_size(kernel, analysis, seen.dims[2], threads.reduced);
  schedule.lanes = threads.reduced;
  const std::int64_t columns = seen.dims[2] / schedule.vector;
  schedule.trips = std::min(row_elements / schedule.vector, ceil_of_ratio(columns, threads.reduced));
  schedule.launch.block = threads.kept * threads.reduced;
  schedule.launch.grid[0] =
      ceil_of_ratio(seen.dims[1], threads.kept) * ceil_of_ratio(columns, schedule.trips * threads.reduced);
}

void few_columns(const Kernel& kernel, const Reduced& seen, const Analysis& analysis, Schedule& schedule) {
  const std::int64_t elements = seen.dims[1] * seen.dims[2];
  std::int64_t& vector = schedule.vector;
  std::int64_t& threads = schedule.launch.block;
  vector = vector_size(kernel, analysis, elements, side);
  threads = small_column_threads;
  std::int64_t rows = vector * threads / seen.dims[2];
  for (; rows > side && vector > 1; vector /= 2) rows /= 2;
  if (rows > side) threads /= rows / side;
  schedule.form = Form::small_column;
  schedule.lanes = std::max<std::int64_t>(seen.dims[2] / vector, 1);
  schedule.trips = ceil_of_ratio(elements, threads * vector);
  schedule.launch.grid[0] = seen.dims[0];
}

Schedule reduction_schedule(const Kernel& kernel, const Analysis& analysis, const Target& target) {
  const Item& hero = item(kernel, analysis.reduction);
  const Reduced seen = reduced(operand_shape(kernel, hero, 0), ir::axes(*hero.node));
  Schedule schedule;
  schedule.launch.grid[2] = separate_groups(kernel, analysis);
  if (seen.row) {
    if (!short_rows(seen, analysis, target, schedule)) long_rows(kernel, seen, analysis, target, schedule);
  } else if (target.threads_per_warp % seen.dims[2] == 0) {
    few_columns(kernel, seen, analysis, schedule);
  } else {
    schedule.form = Form::column;
    schedule.vector = vector_size(kernel, analysis, seen.dims[2], side);
    schedule.lanes = side;
    schedule.trips = ceil_of_ratio(seen.dims[1], side);
    schedule.launch.block = side * side;
    schedule.launch.grid[0] = seen.dims[0] * ceil_of_ratio(seen.dims[2], side * schedule.vector);
  }
  return schedule;
}

Schedule transpose_schedule(const Kernel& kernel, const Analysis& analysis, const Target& target) {
  const Transposed& transposed = *analysis.transposed;
  Schedule schedule;
  schedule.form = transposed.packed ? Form::packed_transpose : Form::transpose;
  schedule.lanes = side;
  Launch& launch = schedule.launch;
  launch.block = transpose_rows * side;
  if (transposed.packed) {
    schedule.vector = transposed.vector;
    for (std::size_t i = 0; i < transposed.tiles.size(); ++i)
      launch.grid[0] *= ceil_of_ratio(transposed.canonical[i], transposed.tiles[i]);
    return schedule;
  }
  const std::vector<std::int64_t> input = operand_dims(transposed);
  const std::size_t rank = input.size();
  const bool minor_stays = transposed.permutation.back() == static_cast<std::int64_t>(rank) - 1;
  std::int64_t widest = 0, shared = 0;
  for (const std::int32_t hero : analysis.heroes) {
    const Item& one = item(kernel, hero);
    if (one.outside || one.node->op != Op::transpose || !tiled_transpose(*one.node, operand_shape(kernel, one, 0)))
      continue;
    const std::int64_t bytes = storage_bits(one.node->shape.dtype) / 8 * (minor_stays ? input.back() : 1);
    widest = std::max(widest, bytes);
    shared += side * (side + 1) * bytes;
  }
  const auto count = [&](std::int64_t vector) {
    std::vector<std::int64_t> tile(rank, 1);
    if (minor_stays) {
      tile[rank - 1] = vector;
      tile[rank - 2] = side;
      tile[static_cast<std::size_t>(transposed.permutation[rank - 2])] = side;
    } else {
      tile[rank - 1] = side * vector;
      tile[static_cast<std::size_t>(transposed.permutation.back())] = side * vector;
    }
    std::int64_t blocks = 1;
    for (std::size_t i = 0; i < rank; ++i) blocks *= ceil_of_ratio(input[i], tile[i]);
    return blocks;
  };
  launch.grid[0] = count(minor_stays ? input.back() : 1);
  if (minor_stays || widest == 0) return schedule;
  const std::int64_t other = input[static_cast<std::size_t>(transposed.permutation.back())];
  for (std::int64_t vector = transpose_vector_bytes / widest; vector > 1; vector /= 2) {
    const std::int64_t per_thread = vector * vector;
    if (count(1) * launch.block < per_thread * target.sms * target.threads_per_sm) continue;
    if (shared * per_thread > target.shared_per_block) continue;
    if (input.back() % vector != 0 || other % vector != 0) continue;
    launch.grid[0] = count(vector);
    schedule.vector = vector;
    break;
  }
  return schedule;
}

Schedule concatenate_schedule(const Kernel& kernel, const Analysis& analysis, const Target& target) {
  const Item& hero = item(kernel, analysis.heroes[0]);
  const int dim = ir::axis(*hero.node);
  const Shape* largest = &operand_shape(kernel, hero, 0);
  for (std::size_t i = 1; i < hero.operands.size(); ++i)
    if (operand_shape(kernel, hero, i).dims[dim] > largest->dims[dim]) largest = &operand_shape(kernel, hero, i);
  std::int64_t unrolled = unroll(kernel, analysis, *largest, target);
  for (std::size_t i = 0; i < hero.operands.size(); ++i)
    unrolled = std::gcd(unrolled, operand_shape(kernel, hero, i).dims[dim]);
  return loop_schedule(Form::concatenate, *largest, unrolled, target);
}

Schedule scatter_schedule(const Kernel& kernel, const Analysis& analysis, const Target& target) {
  const Item& scatter = item(kernel, kernel.results[0]);
  const std::size_t arrays = (scatter.operands.size() - 1) / 2;
  const Shape& indices = operand_shape(kernel, scatter, arrays);
  const Shape& updates = operand_shape(kernel, scatter, arrays + 1);
  const Shape& output = operand_shape(kernel, scatter, 0);
  std::int64_t slice = 1;
  for (int i = 1; i < updates.rank(); ++i) slice *= updates.dims[i];
  const std::int64_t slices = indices.rank() > 0 ? indices.dims[0] : 1;
  const std::string& words = std::get<ir::RegionCall>(scatter.node->attributes).text;
  const auto says = [&](std::string_view key) { return ir::attribute(words, key).value_or("false") == "true"; };
  const std::int64_t most_warps = scatter_warps * target.sms;
  if (says("indices_are_sorted") && !says("unique_indices") && slices > most_warps && indices.rank() == 2) {
    std::int64_t places = 1;
    for (int i = 0; i < indices.dims[1] && i + 1 < updates.rank(); ++i)
      places *= output.dims[i] - updates.dims[i + 1] + 1;
    std::int64_t per_warp = ceil_of_ratio(slices, std::max(most_warps, places));
    const std::int64_t at_once = scatter_bits / storage_bits(indices.dtype);
    if (indices.dims[1] == 1 && per_warp > at_once) per_warp = ceil_of_ratio(per_warp, at_once) * at_once;
    Schedule schedule;
    schedule.form = Form::sorted_scatter;
    schedule.over = &updates;
    schedule.launch.block = scatter_warps * target.threads_per_warp;
    schedule.launch.grid[0] = ceil_of_ratio(slices, per_warp * scatter_warps);
    return schedule;
  }
  const std::int64_t unrolled = std::gcd(slice, unroll(kernel, analysis, updates, target));
  Schedule schedule = loop_schedule(Form::scatter, updates, unrolled, target);
  std::int64_t& block = schedule.launch.block;
  block = ceil_of_ratio(block, target.threads_per_warp) * target.threads_per_warp;
  return schedule;
}

/// The dynamic-update-slice that a result is, seen through bitcasts; -1: none.
std::int32_t update_of(const Kernel& kernel, std::int32_t result) {
  while (!item(kernel, result).outside && node(kernel, result).op == Op::bitcast)
    result = item(kernel, result).operands[0];
  const Item& one = item(kernel, result);
  return !one.outside && one.node->op == Op::dynamic_update_slice ? result : -1;
}

}  // namespace

bool updates_in_place(const Kernel& kernel) {
  const auto users = users_of(kernel);
  const Shape* updated = nullptr;
  for (const std::int32_t result : kernel.results) {
    const std::int32_t update = update_of(kernel, result);
    if (update < 0) return false;
    const Item& one = item(kernel, update);
    // Nothing but bitcasts between the update and the result.
    for (std::int32_t at = update; !users[static_cast<std::size_t>(at)].empty();) {
      const auto& next = users[static_cast<std::size_t>(at)];
      if (next.size() > 1 || node(kernel, next[0]).op != Op::bitcast) return false;
      at = next[0];
    }
    std::int32_t array = one.operands[0];
    if (!item(kernel, array).outside && node(kernel, array).op == Op::bitcast) array = item(kernel, array).operands[0];
    if (!item(kernel, array).outside) return false;
    const Shape& part = operand_shape(kernel, one, 1);
    if (updated == nullptr) updated = &part;
    if (!(part == *updated)) return false;
    std::vector<bool> seen(kernel.items.size(), false);
    std::vector<std::int32_t> pending{array};
    seen[static_cast<std::size_t>(array)] = seen[static_cast<std::size_t>(update)] = true;
    for (std::size_t next = 0; next < pending.size(); ++next)
      for (const std::int32_t user : users[static_cast<std::size_t>(pending[next])]) {
        const Item& other = item(kernel, user);
        if (other.node->op == Op::dynamic_slice && other.operands[0] == one.operands[0] && other.node->shape == part) {
          const bool same_start = std::equal(other.operands.begin() + 1, other.operands.end(), one.operands.begin() + 2,
                                             one.operands.end());
          if (ir::elements(part) != 1 && !same_start) return false;
        } else if (user != update && (other.node->op == Op::dynamic_update_slice ||
                                      (!is_elementwise(*other.node) && other.node->op != Op::bitcast))) {
          return false;
        }
        if (seen[static_cast<std::size_t>(user)]) continue;
        seen[static_cast<std::size_t>(user)] = true;
        pending.push_back(user);
      }
  }
  return true;
}

Schedule schedule_of(const Kernel& kernel, const Analysis& analysis, const Target& target) {
  Schedule schedule;
  switch (analysis.emitter) {
    case Emitter::reduction:
      return reduction_schedule(kernel, analysis, target);
    case Emitter::transpose:
      return transpose_schedule(kernel, analysis, target);
    case Emitter::concatenate:
      return concatenate_schedule(kernel, analysis, target);
    case Emitter::scatter:
      return scatter_schedule(kernel, analysis, target);
    case Emitter::sort:
      schedule.form = Form::sort;
      schedule.launch.block = target.threads_per_warp * schedulers;
      schedule.launch.grid[0] = ceil_of_ratio(elements_of(node(kernel, kernel.results[0])), schedule.launch.block);
      return schedule;
    case Emitter::loop:
      break;
  }
  if (const std::int32_t update = update_of(kernel, kernel.results[0]); update >= 0 && updates_in_place(kernel)) {
    const Shape& part = operand_shape(kernel, item(kernel, update), 1);
    return loop_schedule(Form::in_place, part, unroll(kernel, analysis, part, target), target);
  }
  const Shape& shape = first_shape(node(kernel, kernel.results[0]));
  return loop_schedule(Form::loop, shape, unroll(kernel, analysis, shape, target), target);
}

std::string_view name(Form form) {
  constexpr std::array<std::string_view, form_count> names = {"loop",
                                                              "in-place dynamic-update-slice",
                                                              "row",
                                                              "multi-row",
                                                              "column",
                                                              "small column",
                                                              "transpose",
                                                              "packed transpose",
                                                              "concatenate",
                                                              "scatter",
                                                              "sorted scatter",
                                                              "sort"};
  return names[static_cast<std::size_t>(form)];
}

std::string text(const Launch& launch) {
  return fmt::format("grid {}x{}x{}, block {}", launch.grid[0], launch.grid[1], launch.grid[2], launch.block);
}

}  // namespace tailor::costmodel::xla
