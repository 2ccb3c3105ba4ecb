// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The axes of a plan space. In: a prepared group, limits, restrictions. Out: the values of each axis. Called by study
// and by tests before they walk the space (walk.h).
//
// The axes are fields of the group's skeleton, in the order of their turns in ir/plan_fields.def, which also says how
// they are called and written. default_values() has a case for each field with the values worth asking about: powers
// of two up to what the row, the vector or the device allows. A field without a case keeps the value that a plan
// starts with. --axis and sweep files put other values in an axis' place.
//
// The values of homes are words, which name a list for each group; a list that several words name is asked about once.
// The number of blocks of a persistent grid follows from other fields (walk.cpp), but where sums go across rows each
// block costs a part at the end and each resident warp covers latency: there it is asked about.
#include "explore/plans/space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "codegen/lower/prepare.h"
#include "explore/plans/orders.h"
#include "explore/plans/rule_terms.h"
#include "ir/kernel/kernel.h"

namespace tailor::explore {

namespace {

using ir::Plan;

std::vector<int> powers_of_two(int from, int to) {
  std::vector<int> values;
  for (int value = from; value <= to; value *= 2) values.push_back(value);
  return values;
}

template <class Enum>
std::vector<int> numbers(std::initializer_list<Enum> values) {
  std::vector<int> made;
  for (const Enum value : values) made.push_back(static_cast<int>(value));
  return made;
}

/// Lanes, no power of two, that have all columns side by side, or even shares of them, where powers of two leave an
/// eighth of theirs or more without any. As far as rules let columns lie side by side in a block. Of columns in bundles
/// as few as have whole ones, doubled.
std::vector<int> lanes_of_columns(const codegen::Prepared& prepared, int vector) {
  constexpr std::int64_t most_bytes = 512;
  std::vector<int> values;
  const std::int64_t vectors = prepared.rows / vector;  // what stays of a column group are its rows
  if (const std::int64_t least = codegen::lanes_of_bundles(prepared, vector); prepared.bundle > 1) {
    for (std::int64_t lanes = least;
         lanes <= vectors && lanes * vector * ir::access_bytes <= most_bytes * prepared.widest_vector; lanes *= 2)
      values.push_back(static_cast<int>(lanes));
    return values;
  }
  for (std::int64_t most = 1; most * vector * ir::access_bytes <= most_bytes * prepared.widest_vector; most *= 2) {
    const std::int64_t tiles = (vectors + most - 1) / most, even = (vectors + tiles - 1) / tiles;
    if (!std::has_single_bit(static_cast<std::uint64_t>(even)) && 8 * tiles * most >= 9 * vectors)
      values.push_back(static_cast<int>(even));
  }
  return values;
}

bool has_columns(const codegen::Prepared& prepared) { return row(prepared.skeleton).unit == ir::WorkUnit::columns; }

/// The widest vector that neighbouring columns leave whole.
int vector_of_columns(const codegen::Prepared& prepared) {
  return static_cast<int>(std::gcd(prepared.domain.fastest(), std::int64_t{prepared.widest_vector}));
}

/// The same for every vector that divides the columns.
std::vector<int> lanes_of_columns(const codegen::Prepared& prepared) {
  std::vector<int> values;
  if (!has_columns(prepared)) return values;
  for (const int vector : powers_of_two(1, vector_of_columns(prepared)))
    for (const int lanes : lanes_of_columns(prepared, vector)) values.push_back(lanes);
  return values;
}

/// Rows of columns in flight: eight, or where columns break vectors as many as make 64 bytes.
int most_in_flight(const codegen::Prepared& prepared) {
  constexpr int usual = 8, enough = 64;
  if (!has_columns(prepared)) return usual;
  return std::max(usual, enough * prepared.widest_vector / (ir::access_bytes * vector_of_columns(prepared)));
}

void sort_once(std::vector<int>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Powers of two, and all of a column that is no longer than twice the usual: then no copy asks whether it is there,
/// and the compiler knows which piece of a concatenation it reads.
std::vector<int> in_flight_of(const codegen::Prepared& prepared) {
  constexpr std::int64_t most = 16;
  std::vector<int> values = powers_of_two(1, most_in_flight(prepared));
  if (has_columns(prepared) && prepared.columns > 2 && prepared.columns <= most)
    values.push_back(static_cast<int>(prepared.columns));
  sort_once(values);
  return values;
}

/// Powers of two, and by powers of two as many as such lanes.
std::vector<int> block_sizes(const codegen::Prepared& prepared, const ir::Limits& limits) {
  std::vector<int> values = powers_of_two(2 * limits.warp_size, limits.threads_per_block);
  for (const int lanes : lanes_of_columns(prepared))
    for (const int threads : powers_of_two(lanes, limits.threads_per_block))
      if (threads >= 2 * limits.warp_size) values.push_back(threads);
  sort_once(values);
  return values;
}

std::vector<int> lanes_side_by_side(const codegen::Prepared& prepared, const ir::Limits& limits) {
  std::vector<int> values = powers_of_two(1, limits.threads_per_block);
  for (const int lanes : lanes_of_columns(prepared)) values.push_back(lanes);
  sort_once(values);
  return values;
}

/// Blocks that share columns: doubled up to two for each SM. Where columns are gone through again, also as many as SMs
/// that the columns side by side in a block leave each of them, however many lie side by side, where powers of two
/// leave over an eighth of the SMs idle.
std::vector<int> shares_of_columns(const codegen::Prepared& prepared, const ir::Limits& limits) {
  std::vector<int> values = powers_of_two(1, 2 * limits.sms);
  if (prepared.walks < 2) return values;
  for (std::int64_t beside = 1; beside < 2 * prepared.rows; beside *= 2) {
    const std::int64_t bands = (prepared.rows + beside - 1) / beside;
    if (bands < limits.sms && !fill_by_doubling(bands, limits.sms))
      values.push_back(static_cast<int>(limits.sms / bands));
  }
  sort_once(values);
  return values;
}

/// Blocks that share a column, or a row where the rows are too few to fill the device: as many as fill it, and
/// multiples and parts of that by powers of two. Each is one itself where that divides the row, for simpler indices.
std::vector<int> shares(const codegen::Prepared& prepared, const ir::Limits& limits) {
  std::vector<int> values{1};
  if (!prepared.scans.empty()) return values;  // a block has what stands before each of its elements
  if (has_columns(prepared)) return shares_of_columns(prepared, limits);
  constexpr int most_times = 4, parts = 8;
  for (const int times : powers_of_two(1, most_times * parts))
    if (std::int64_t share = std::int64_t{times} * limits.sms / parts / prepared.rows; share > 1) {
      const auto even = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(share)));
      if (prepared.columns % even == 0) share = even;
      if (share > values.back()) values.push_back(static_cast<int>(share));
    }
  return values;
}

/// Blocks that meet in the grid: where columns, or few rows, are gone through again.
std::vector<int> meetings(const codegen::Prepared& prepared, const ir::Limits& limits) {
  std::vector<int> values{static_cast<int>(ir::Meeting::last)};
  const bool few = row(prepared.skeleton).unit != ir::WorkUnit::rows || 2 * prepared.rows <= limits.sms;
  if (few && prepared.walks > 1 && !prepared.sums_across && prepared.scans.empty())
    values.push_back(static_cast<int>(ir::Meeting::grid));
  return values;
}

/// Blocks of a cluster: where rows, or bands of columns that are gone through again, are half as many as SMs or fewer,
/// or so long that what waits of one leaves a block an eighth of its registers or none.
std::vector<int> clusters(const codegen::Prepared& prepared, const ir::Limits& limits) {
  std::vector<int> values{0};
  const bool across = has_columns(prepared);
  if ((!across && row(prepared.skeleton).unit != ir::WorkUnit::rows) || prepared.sums_across) return values;
  if (!prepared.scans.empty()) return values;
  if (across && prepared.walks < 2) return values;
  constexpr std::int64_t register_bytes = 4, line = 128;
  const std::int64_t beside =
      across ? std::min(prepared.domain.fastest(), line * prepared.widest_vector / ir::access_bytes) : 1;
  const bool is_long = 8 * codegen::bytes_waiting(prepared) * beside > 7 * register_bytes * limits.registers_per_block;
  if (2 * prepared.rows > beside * limits.sms && !is_long) return values;
  for (const int blocks : powers_of_two(2, limits.blocks_per_cluster)) values.push_back(blocks);
  return values;
}

/// Words of lists, those that say the same of this group once. Columns wait in one place: a band of them that fits
/// neither alone is rare.
std::vector<int> lists_of_homes(const codegen::Prepared& prepared, const ir::Limits& limits) {
  using enum ir::HomesWord;
  std::vector<int> words = numbers({registers, shared, reload, recompute, widest_shared, widest_reload,
                                    recompute_shared, recompute_mixed, moved_shared, moved_cluster});
  if (has_columns(prepared))
    words = numbers({registers, shared, reload, recompute, recompute_shared});
  else if (limits.blocks_per_cluster < 2)
    words.pop_back();
  return different_homes(prepared, words);
}

/// Those that the group has loops for, none among them.
std::vector<int> strip_lengths(const codegen::Prepared& prepared) {
  std::vector<int> values;
  for (const codegen::Prepared* one : codegen::structures_of(prepared))
    if (row(one->skeleton).has(ir::PlanField::strip)) values.push_back(one->strip.rows);
  sort_once(values);
  if (values.empty()) values.push_back(0);
  return values;
}

/// Elements at once. A scan has each element of its rows in a vector; a chunk is the vectors of lanes of a warp.
std::vector<int> vectors_of(const codegen::Prepared& prepared, const ir::Limits& limits) {
  std::vector<int> values = powers_of_two(1, prepared.widest_vector);
  if (passes_together(prepared) && !has_columns(prepared))
    std::erase_if(values, [&](int value) { return prepared.columns % value != 0; });
  for (const std::int64_t length : prepared.chunk_lengths)
    std::erase_if(values, [&](int value) { return length < value || length > std::int64_t{value} * limits.warp_size; });
  return values;
}

/// Of sums across rows: those that differ in the blocks of a set.
std::vector<int> resident_blocks(const codegen::Prepared& prepared, const ir::Limits& limits) {
  std::vector<int> values = powers_of_two(1, limits.threads_per_sm / (2 * limits.warp_size));
  std::erase_if(values, [&](int value) {
    const auto blocks = [&](int each) {
      return codegen::blocks_of_set(prepared.sets, std::int64_t{each} * limits.sms);
    };
    return value > 1 && blocks(value) == blocks(value / 2);
  });
  return values;
}

/// Values worth asking about. A field without a case keeps the value that a plan starts with.
std::vector<int> default_values(ir::PlanField field, const codegen::Prepared& prepared, const ir::Limits& limits) {
  constexpr int most_at_once = 8;
  switch (field) {
    case ir::PlanField::dominant:
      return different_orders(prepared);
    case ir::PlanField::threads:
      return block_sizes(prepared, limits);
    case ir::PlanField::threads_per_row:
      return lanes_side_by_side(prepared, limits);
    case ir::PlanField::vector:
      return vectors_of(prepared, limits);
    case ir::PlanField::in_flight:
      return in_flight_of(prepared);
    case ir::PlanField::unroll:
      return powers_of_two(1, most_at_once);
    case ir::PlanField::strip:
      return strip_lengths(prepared);
    case ir::PlanField::split:
      return shares(prepared, limits);
    case ir::PlanField::meet:
      return meetings(prepared, limits);
    case ir::PlanField::cluster:
      return clusters(prepared, limits);
    case ir::PlanField::blocks_per_sm:
      if (prepared.sums_across) return resident_blocks(prepared, limits);
      return {0};  // dependences() say how many
    case ir::PlanField::homes:
      return lists_of_homes(prepared, limits);
    case ir::PlanField::grid:
      return numbers({ir::GridShape::tile, ir::GridShape::persistent});
    default:
      return {value(Plan{}, field)};
  }
}

}  // namespace

std::vector<int> different_homes(const codegen::Prepared& prepared, const std::vector<int>& words) {
  std::vector<int> chosen;
  const auto list = [&](int word) { return codegen::homes_of(prepared, static_cast<ir::HomesWord>(word)); };
  for (const int word : words)
    if (std::none_of(chosen.begin(), chosen.end(), [&](int other) { return list(other) == list(word); }))
      chosen.push_back(word);
  return chosen;
}

std::string_view values_asked(ir::PlanField axis) {
  switch (axis) {
    case ir::PlanField::dominant:
      return "of each order in memory that the loops can follow, the first node; any node of it";
    case ir::PlanField::threads:
      return "two warps, doubled up to what a block may have; for columns also lanes that are no power of two, "
             "doubled; whole warps up to there, for columns any number";
    case ir::PlanField::threads_per_row:
      return "1, doubled up to what a block may have; for columns also an even share where that would leave an eighth "
             "of the lanes idle, and of columns in bundles as few as have whole ones, doubled; powers of two, for rows "
             "also whole warps, for columns any number, that divide threads";
    case ir::PlanField::vector:
      return "1, doubled up to 16 bytes of the narrowest type; powers of two that fit a row and divide columns";
    case ir::PlanField::in_flight:
      return "1, 2, 4, 8, of columns that break vectors up to 64 bytes, and all of up to 16; any number that a thread "
             "has rows or vectors for";
    case ir::PlanField::unroll:
      return "1, 2, 4, 8; any number that a thread has rows or vectors for";
    case ir::PlanField::strip:
      return "none; where neighbouring results read some of the same elements the two longest of 2, 4, 8 that leave "
             "a quarter or less of them behind the end, and of all up to 8; no others";
    case ir::PlanField::split:
      return "1; for columns doubled up to twice the SMs, and, where they are gone through again, what fills those; "
             "for rows "
             "too few "
             "to fill the SMs an eighth of what fills them, "
             "doubled up to four times; any number that leaves each block elements of what it shares";
    case ir::PlanField::meet:
      return "last; for columns, and rows at most half as many as SMs, that are gone through again also grid; kernel "
             "on "
             "demand";
    case ir::PlanField::cluster:
      return "none; where a GPU has clusters 2, doubled up to what it allows, for rows or lines of columns at most "
             "half as many as SMs, or too long for a block's registers; 0 or 1: none";
    case ir::PlanField::homes:
      return "lists of homes by name, each once: registers (what later phases need, most computed, in registers), "
             "shared (in shared memory), recompute (only inputs of it, in registers), reload (nothing waits), "
             "widest-shared, widest-reload (as registers, but the widest value shared, or the widest input read "
             "again), recompute-shared (only inputs, in shared memory), recompute-mixed (only inputs, the widest of "
             "them shared), moved-shared, moved-cluster (as registers, but what is read at other places of a row in "
             "shared memory of the block, or of a cluster's blocks for all of them); of columns those that leave all "
             "in one place; a plan may say other lists, homes=%0@register,%7@block";
    case ir::PlanField::grid:
      return "tile, persistent";
    case ir::PlanField::blocks_per_sm:
      return "of a persistent grid: blocks with half the threads of an SM; 1, doubled, where sums go across rows";
    case ir::PlanField::arithmetic:
      return "xla; ieee and approx change results, so they are asked about on demand";
    case ir::PlanField::min_blocks:
      return "none: the compiler may choose; on demand a number that binds it to registers for so many blocks";
    default:
      return "on; off on demand";
  }
}

std::vector<ir::PlanField> axes_of(std::optional<ir::Skeleton> skeleton) {
  std::vector<ir::PlanField> order;
  for (const ir::PlanFieldRow& field : ir::plan_fields())
    if (field.turn > 0 && (!skeleton || row(*skeleton).has(field.field))) order.push_back(field.field);
  std::stable_sort(order.begin(), order.end(),
                   [](ir::PlanField a, ir::PlanField b) { return row(a).turn < row(b).turn; });
  return order;
}

Axes default_axes(const codegen::Prepared& prepared, const ir::Limits& limits) {
  Axes axes;
  if (!prepared.bodies.empty()) return axes;  // each has its own
  for (const ir::PlanField field : axes_of()) axes[field] = default_values(field, prepared, limits);
  return axes;
}

Axes axes_of_structure(const codegen::Prepared& prepared, const codegen::Prepared& structure, const Axes& axes,
                       const ir::Limits& limits) {
  Axes own = axes;
  // Columns are other lanes and shares than the rows that they come from: what nobody has restricted is asked anew.
  if (structure.bundle > 1)
    for (const ir::PlanField field : axes_of())
      if (field != ir::PlanField::dominant && axes[field] == default_values(field, prepared, limits))
        own[field] = default_values(field, structure, limits);
  // Each strip is asked about in its own loop, one that no loop has in the group's, which refuses it.
  const std::vector<int> strips = strip_lengths(prepared);
  std::erase_if(own[ir::PlanField::strip], [&](int rows) {
    const bool is_known = std::find(strips.begin(), strips.end(), rows) != strips.end();
    return is_known ? rows != structure.strip.rows : &prepared != &structure;
  });
  std::vector<int>& nodes = own[ir::PlanField::dominant];
  if (&prepared == &structure) {
    // What another loop follows is asked about there.
    std::erase_if(nodes, [&](int node) {
      Plan plan;
      plan.skeleton = prepared.skeleton;
      plan.dominant = node;
      return &codegen::prepared_for(prepared, plan) != &prepared;
    });
    return own;
  }
  if (!axes.names_dominants && nodes == different_orders(prepared)) nodes = different_orders(structure);
  std::erase_if(nodes, [&](int node) {
    return std::find(structure.dominants.begin(), structure.dominants.end(), node) == structure.dominants.end();
  });
  return own;
}

bool has_axis(const codegen::Prepared& prepared, ir::PlanField axis) {
  if (prepared.bodies.empty()) {
    if (axis == ir::PlanField::homes && codegen::homes_of(prepared, ir::HomesWord::registers).empty()) return false;
    const std::vector<const codegen::Prepared*> structures = codegen::structures_of(prepared);
    return std::any_of(structures.begin(), structures.end(),
                       [&](const codegen::Prepared* one) { return row(one->skeleton).has(axis); });
  }
  if (ir::has_field(ir::shared_fields(prepared.skeleton), axis)) return true;
  return std::any_of(prepared.bodies.begin(), prepared.bodies.end(), [&](const codegen::Body& body) {
    // Beside others only a body that sums across rows has blocks of its own on an SM.
    return has_axis(*body.prepared, axis) && (axis != ir::PlanField::blocks_per_sm || body.prepared->sums_across);
  });
}

void restrict_axis(Axes& axes, const AxisLimit& limit) {
  const std::optional<ir::PlanField> field = ir::plan_field_named(limit.axis);
  if (!field || row(*field).turn == 0) {
    std::vector<std::string_view> names;
    for (const ir::PlanField axis : axes_of()) names.push_back(row(axis).name);
    const std::string_view successor = ir::successor_of(limit.axis);
    throw Error(Fault::usage, fmt::format("found axis '{}', expected an axis of the plan space", limit.axis),
                successor.empty() ? suggestion(limit.axis, names) : std::string(successor));
  }
  std::vector<int> values;
  for (const std::string& word : limit.values) {
    const std::optional<int> value = ir::parse_value(*field, word);
    if (!value)
      throw Error(Fault::usage,
                  fmt::format("axis {}: found '{}', expected {}", limit.axis, word, ir::values_read(*field)),
                  row(*field).kind == ir::FieldKind::homes
                      ? "a list of homes stands in a plan's text alone"
                      : fmt::format("'tailor list axes' says which values of {} are legal", limit.axis));
    if (std::find(values.begin(), values.end(), *value) == values.end()) values.push_back(*value);
  }
  if (values.empty()) return;
  if (*field == ir::PlanField::dominant) axes.names_dominants = true;
  axes[*field] = std::move(values);
}

}  // namespace tailor::explore
