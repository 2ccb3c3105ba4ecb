// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the words of rules mean (rule_terms.h). In: a candidate. Out: numbers and answers. Called by the table of rules,
// for each prefix of plans that it is asked about: so each is a few look-ups, and none makes a mapping. Bytes are of
// the group's own arrays, widths of the plan, blocks and trips of the tiling.
#include "explore/plans/rule_terms.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "codegen/lower/prepare.h"
#include "ir/kernel/kernel.h"

namespace tailor::explore {

using ir::HomesWord;
using ir::StitchLevel;

namespace {

constexpr std::int64_t full_line = 128, sector = 32;  ///< bytes
constexpr std::int64_t few_registers = 32;            ///< of a thread for each value

/// An array that is read element by element, all of it or, of rows and columns that are cut or shifted, nearly all.
bool is_full_input(const Candidate& c, std::size_t id) {
  const bool is_full = c.prepared.full[id] != 0;
  const bool is_cut = !c.prepared.straight && row(c.prepared.skeleton).unit != ir::WorkUnit::elements;
  if (!is_full && !is_cut) return false;
  const ir::Node& node = c.prepared.graph->nodes[id];
  return node.op == ir::Op::parameter && (is_full || elements(node.shape) >= c.prepared.rows * c.prepared.columns);
}

}  // namespace

std::int64_t element_bytes(const Candidate& c) {
  std::int64_t widest = 1;
  for (std::size_t id = 0; id < c.prepared.full.size(); ++id)
    if (is_full_input(c, id))
      widest = std::max<std::int64_t>(widest, ir::row(c.prepared.graph->nodes[id].shape.dtype).bits / 8);
  return widest;
}

std::int64_t array_bytes(const Candidate& c) {
  std::int64_t widest = element_bytes(c);
  for (const ir::NodeId id : c.prepared.stored)
    if (const ir::Shape& shape = c.prepared.graph->nodes[id].shape;
        c.prepared.full[id] || elements(shape) == c.prepared.rows * c.prepared.columns)
      widest = std::max<std::int64_t>(widest, ir::row(shape.dtype).bits / 8);
  return widest;
}

std::int64_t access_bytes_of(const Candidate& c) {
  return ir::access_bytes / std::max<std::int64_t>(c.prepared.widest_vector, 1);
}

std::int64_t input_bytes(const Candidate& c) {
  std::int64_t sum = 0;
  for (std::size_t id = 0; id < c.prepared.full.size(); ++id)
    if (is_full_input(c, id)) sum += ir::row(c.prepared.graph->nodes[id].shape.dtype).bits / 8;
  return sum;
}

std::int64_t window_bytes(const Candidate& c) {
  std::int64_t sum = 0;
  for (const auto& [id, taps] : c.prepared.taps) {
    const ir::Graph& graph = *c.prepared.graph;
    sum += std::ssize(taps.offsets) * ir::row(graph[graph[id].operands.front()].shape.dtype).bits / 8;
  }
  return sum;
}

namespace {

/// The most that one phase leaves for later ones, added up over values of a list by `counts`.
template <class Counts>
std::int64_t most_left(const codegen::KeptHomes& kept, Counts counts) {
  std::int64_t most = 0;
  for (const std::vector<ir::Home>& phase : kept.phases) {
    std::int64_t sum = 0;
    for (const ir::Home& home : phase) sum += counts(home);
    most = std::max(most, sum);
  }
  return most;
}

std::int64_t most_values(const codegen::KeptHomes& kept) {
  return most_left(kept, [](const ir::Home&) { return 1; });
}

/// What would wait if all did that a list is a part of: inputs alone, or the most computed form of what is needed.
const codegen::KeptHomes& all_of(const Candidate& c) {
  const auto is_input = [&](const ir::Home& home) { return (*c.prepared.graph)[home.node].op == ir::Op::parameter; };
  const bool inputs = !c.plan.homes.empty() && std::all_of(c.plan.homes.begin(), c.plan.homes.end(), is_input);
  return row_for(c.prepared.homes, inputs ? HomesWord::recompute : HomesWord::registers);
}

/// Sums across rows that a lane adds up.
std::int64_t sums_of_lane(const Candidate& c) {
  std::int64_t of_columns = 0, alone = 0;
  for (const codegen::Phase& phase : c.prepared.phases)
    for (const ir::NodeId id : phase.across) {
      const codegen::AcrossSum* sum = codegen::across_of(c.prepared, id);
      const codegen::Folding columns = sum == nullptr ? codegen::Folding{} : sum->columns;
      if (columns.is_each())
        ++of_columns;
      else
        alone += columns.pieces == 1 ? std::min<std::int64_t>(columns.beside, c.plan.vector) : c.tiling.trips;
    }
  return elements_per_thread(c) * of_columns + alone;
}

bool fit_half(const Candidate& c, std::int64_t values) {
  const std::int64_t rows = c.prepared.sums_across ? c.plan.in_flight : 1;
  const std::int64_t held = values * elements_per_thread(c) * rows + sums_of_lane(c);
  return 2 * held <= codegen::registers_for(c.limits, c.plan.threads);
}

}  // namespace

bool all_fits_half(const Candidate& c) { return fit_half(c, most_values(all_of(c))); }

bool some_list_fits_half(const Candidate& c) {
  return fit_half(c, std::min(most_values(row_for(c.prepared.homes, HomesWord::registers)),
                              most_values(row_for(c.prepared.homes, HomesWord::recompute))));
}

std::int64_t waiting_bytes(const Candidate& c) {
  std::int64_t sum = 0;
  for (const ir::Home& home : all_of(c).homes) sum += ir::row((*c.prepared.graph)[home.node].shape.dtype).bits / 8;
  return sum;
}

std::int64_t half_of_registers(const Candidate& c) {
  constexpr std::int64_t register_bytes = 4;
  return register_bytes * c.limits.registers_per_block / 2;
}

bool has(const Candidate& c, StitchLevel level) { return codegen::has_level(c.plan.homes, level); }

bool waits_in_shared(const Candidate& c) { return has(c, StitchLevel::block) || has(c, StitchLevel::cluster); }

bool moves_from(const Candidate& c, StitchLevel level) {
  if (!has(c, level)) return false;
  codegen::KeptHomes own;
  const codegen::KeptHomes& kept = codegen::kept_by(c.prepared, c.plan.homes, own);
  return std::any_of(c.plan.homes.begin(), c.plan.homes.end(), [&](const ir::Home& home) {
    return home.level == level && codegen::is_read_elsewhere(kept, home.node);
  });
}

bool moves_in_shared(const Candidate& c) {
  return moves_from(c, StitchLevel::block) || moves_from(c, StitchLevel::cluster);
}

bool is_across(const Candidate& c) { return c.tiling.groups > 0; }

std::int64_t tiles_of_set(const Candidate& c) {
  return (c.tiling.items + c.tiling.items_per_block - 1) / c.tiling.items_per_block;
}

std::int64_t blocks(const Candidate& c) { return tiles_of_set(c) * c.tiling.split * c.prepared.sets.count(); }

bool is_narrow(const Candidate& c) {
  constexpr std::int64_t bytes = 64;
  return is_across(c) && c.tiling.run * element_bytes(c) <= bytes;
}

std::int64_t widest_vector(const Candidate& c) {
  std::int64_t widest = 1;
  while (2 * widest <= c.prepared.widest_vector && c.tiling.run % (2 * widest) == 0 &&
         2 * widest * element_bytes(c) <= ir::access_bytes)
    widest *= 2;
  return widest;
}

bool reads_little(const Candidate& c, std::int64_t enough) {
  const std::int64_t together = std::min<std::int64_t>(c.tiling.trips, c.plan.in_flight);
  return together * c.plan.vector * element_bytes(c) < enough && together * c.plan.vector * input_bytes(c) < 128 &&
         c.tiling.trips >= 2 * together;
}

bool parts_badly(const Candidate& c, std::int64_t blocks, std::int64_t least, std::int64_t large) {
  const std::int64_t bytes = c.prepared.columns * element_bytes(c) / blocks;
  const bool is_whole = c.prepared.straight && c.tiling.run * element_bytes(c) % ir::access_bytes == 0;
  const bool is_odd = c.plan.vector == 1
                          ? is_whole
                          : c.plan.vector * element_bytes(c) != ir::access_bytes &&
                                c.plan.vector * array_bytes(c) != ir::access_bytes && c.plan.vector != widest_vector(c);
  return c.plan.threads_per_row != c.plan.threads || is_odd || c.plan.threads < std::min(large, bytes / 64) ||
         bytes < least;
}
bool flies_badly(const Candidate& c) {
  constexpr std::int64_t enough = 32;
  if (!c.tiling.streamed) return c.plan.in_flight > 1;
  return reads_little(c, std::min(enough, room_in_flight(c, kept_bytes(c))));
}

bool stays_near(const Candidate& c) {
  if (c.prepared.walks < 2) return false;
  const std::int64_t bytes = c.tiling.together * c.prepared.columns / c.tiling.split * input_bytes(c);
  return bytes <= c.limits.shared_per_sm || c.tiling.together * element_bytes(c) <= full_line;
}

bool takes_apart(const Candidate& c) {
  if (c.prepared.unbroken != 1 || c.plan.vector != 1) return false;
  const ir::Graph& graph = *c.prepared.graph;
  const auto has_stride = [&](const ir::Node& node) {
    if (node.op != ir::Op::slice) return false;
    const std::vector<int> wide = ir::wide_dimensions(graph[node.operands[0]].shape);
    if (wide.empty()) return false;
    const int fastest = wide.front();
    return node.shape.dims[fastest] == 1 || ir::attributes_as<ir::SliceRanges>(node).ranges[fastest].stride > 1;
  };
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), has_stride);
}

bool narrows(const Candidate& c) { return c.plan.vector * input_bytes(c) < 64; }

bool fill_by_doubling(std::int64_t bands, std::int64_t sms) {
  const auto share = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(sms / bands)));
  return 8 * share * bands >= 7 * sms;
}

bool fills_badly(const Candidate& c) {
  if (std::has_single_bit(static_cast<unsigned>(c.plan.split)) || c.prepared.walks < 2) return false;
  const std::int64_t bands = blocks(c) / c.tiling.split;
  return blocks(c) > c.limits.sms || blocks(c) + bands <= c.limits.sms || fill_by_doubling(bands, c.limits.sms);
}

bool shares_columns_badly(const Candidate& c) {
  constexpr std::int64_t kib = 1 << 10, enough = 32 * kib, large = 256;
  constexpr std::int64_t most_blocks = 4, most_threads = 1024;  // for each SM
  const std::int64_t all = blocks(c), sms = c.limits.sms;
  if (all > most_blocks * sms || all * c.plan.threads > most_threads * sms || fills_badly(c)) return true;
  if (narrows(c) && 2 * c.plan.vector < widest_vector(c) && !takes_apart(c)) return true;
  const bool meets = c.plan.meet != ir::Meeting::last;
  const std::int64_t least = meets ? kib : 4 * kib;
  const std::int64_t across = c.prepared.rows * element_bytes(c);  // what stays of a column group are its rows
  const std::int64_t bytes = across * c.prepared.columns / all;
  if (2 * all > sms) {
    const std::int64_t threads = meets ? std::min(large, bytes / 64) : all > sms ? large / 2 : large;
    return c.plan.threads < threads || (meets && bytes < least);
  }
  return 16 * across > sms * full_line || bytes < least || bytes > enough ||
         c.plan.threads < std::min(large, bytes / 64);
}

bool shares_rows_badly(const Candidate& c) {
  constexpr std::int64_t kib = 1 << 10, least = 4 * kib, enough = 32 * kib;
  if (c.plan.threads_per_row != c.plan.threads) return true;
  const std::int64_t bytes = c.prepared.columns * element_bytes(c) / c.plan.split;
  const std::int64_t blocks = c.tiling.items * c.plan.split;  // of a row each
  return c.plan.threads < std::min<std::int64_t>(256, bytes / 64) || bytes < least ||
         (3 * blocks < c.limits.sms && bytes > enough) || blocks > std::int64_t{4} * c.limits.sms;
}

bool meets_badly(const Candidate& c) {
  constexpr std::int64_t enough = 32 << 10;
  const std::int64_t bytes = c.prepared.columns * element_bytes(c) / c.plan.split;
  const std::int64_t blocks = c.tiling.items * c.plan.split;  // of a row each
  const bool is_held = c.plan.split * half_of_registers(c) >= 2 * codegen::bytes_waiting(c.prepared);
  return (3 * blocks < c.limits.sms && bytes > enough) || blocks > (is_held ? 1 : 3) * std::int64_t{c.limits.sms};
}

std::int64_t elements_per_thread(const Candidate& c) { return c.tiling.trips * c.plan.vector; }

bool waits_shortly(const Candidate& c) {
  constexpr std::int64_t few = 64;
  return waits_in_shared(c) && elements_per_thread(c) * element_bytes(c) < few && !moves_in_shared(c);
}

bool shares_what_fits(const Candidate& c) {
  return waits_in_shared(c) && elements_per_thread(c) <= few_registers && all_fits_half(c) && !moves_in_shared(c);
}

bool reloads_what_fits(const Candidate& c) {
  return c.plan.homes.empty() && !codegen::homes_of(c.prepared, HomesWord::registers).empty() &&
         elements_per_thread(c) <= few_registers && some_list_fits_half(c);
}

bool waits_in_two_ways(const Candidate& c) {
  return codegen::waits_partly(c.prepared, c.plan.homes) && !moves_in_shared(c);
}

std::int64_t unrolled_code(const Candidate& c) {
  const std::int64_t held = (c.tiling.streamed ? 1 : c.tiling.trips) * c.plan.vector * c.tiling.at_once;
  return held * c.prepared.element_code;
}

std::int64_t kept_bytes(const Candidate& c) {
  std::int64_t sum = 0;
  for (const ir::Home& home : c.plan.homes)
    if (home.level == StitchLevel::registers) sum += ir::row((*c.prepared.graph)[home.node].shape.dtype).bits / 8;
  return sum * elements_per_thread(c);
}

std::int64_t registers_across(const Candidate& c) {
  constexpr std::int64_t others = 16;  // addresses, numbers of the row, what is computed
  return kept_registers(c) * c.plan.in_flight + sums_of_lane(c) + others;
}

std::int64_t room_in_flight(const Candidate& c, std::int64_t kept) {
  constexpr std::int64_t most = 64, least = 8, register_bytes = 4;
  const std::int64_t room = register_bytes * codegen::registers_for(c.limits, c.plan.threads);
  std::int64_t bytes = most;
  while (bytes > least && 3 * (kept + bytes * input_bytes(c) / element_bytes(c)) > 2 * room) bytes /= 2;
  return bytes;
}

bool leaves_caches(const Candidate& c) {
  if (c.prepared.walks < 2 || c.plan.split > 1 || c.plan.cluster > 0) return false;
  const std::int64_t rows = c.limits.threads_per_sm / c.tiling.lanes;
  return rows * c.prepared.columns * input_bytes(c) > std::int64_t{2} * c.limits.shared_per_sm;
}

std::int64_t beside_in_block(const Candidate& c) { return is_across(c) ? c.tiling.together : 1; }

std::int64_t least_together(const Candidate& c) {
  if (!is_across(c) || c.prepared.walks < 2) return full_line;
  const std::int64_t block = std::max<std::int64_t>(half_of_registers(c), c.limits.shared_per_block_optin);
  const std::int64_t room = block * std::max(c.limits.blocks_per_cluster, 1);
  for (std::int64_t bytes = full_line; bytes >= sector; bytes /= 2)
    if (codegen::bytes_waiting(c.prepared) * bytes / element_bytes(c) <= room) return bytes;
  return full_line;
}

namespace {

int widest_of_two_accesses(const Candidate& c) {
  int widest = c.prepared.widest_vector;
  while (widest > 1 && widest * array_bytes(c) > 2 * ir::access_bytes) widest /= 2;
  return widest;
}

bool leaves_no_lane_idle(const Candidate& c, int vector) {
  return c.prepared.columns % (std::int64_t{vector} * c.tiling.lanes) == 0;
}

}  // namespace

bool breaks_vectors(const Candidate& c) {
  const bool is_loop = row(c.prepared.skeleton).unit == ir::WorkUnit::elements;
  const bool is_long = is_loop && c.prepared.columns >= std::int64_t{2} * c.limits.sms * c.limits.threads_per_sm;
  const std::int64_t run = c.prepared.straight ? 0 : is_long ? c.prepared.unbroken : 1;
  return std::gcd(run, c.prepared.columns) % widest_of_two_accesses(c) != 0;
}

bool has_narrow_vectors(const Candidate& c) {
  if (c.plan.skeleton == ir::Skeleton::transpose && c.prepared.turn) {
    // Vectors lie along both runs of a tile and divide them.
    int widest = widest_of_two_accesses(c);
    const auto divides = [&](const codegen::TileRun& run) { return run.size % widest == 0; };
    while (!divides(c.prepared.turn->written) || !divides(c.prepared.turn->read)) widest /= 2;
    return c.plan.vector < widest / 2;
  }
  const int widest = widest_of_two_accesses(c);
  if (is_across(c) || c.plan.vector >= widest / 2) return false;
  if (c.prepared.sums_across && c.plan.vector == widest / 4 && leaves_no_lane_idle(c, c.plan.vector) &&
      !leaves_no_lane_idle(c, 2 * c.plan.vector))
    return false;
  if (row(c.prepared.skeleton).unit == ir::WorkUnit::elements) {
    const std::int64_t whole = std::gcd(std::gcd(c.prepared.unbroken, c.prepared.columns), widest);
    if (whole < widest && (c.plan.vector == 1 || c.plan.vector == whole || 2 * c.plan.vector == whole)) return false;
  }
  return !breaks_vectors(c) || c.plan.vector > 1;
}

bool has_few_elements(const Candidate& c) {
  if (c.plan.skeleton != ir::Skeleton::map) return false;
  constexpr std::int64_t much = 64;  // instructions: what an element takes is longer than its way from memory is
  const std::int64_t smallest_block = std::int64_t{2} * c.limits.warp_size, half_of_sm = c.limits.threads_per_sm / 2;
  const std::int64_t threads = c.prepared.element_code >= much ? half_of_sm : smallest_block;
  return c.prepared.columns < threads * 2 * c.plan.vector * c.limits.sms;
}

bool turns_without_tiles(const Candidate& c) {
  constexpr std::int64_t turns_of_device = 8;  // fewer elements are in a cache before anybody asks for neighbours
  if (c.plan.skeleton != ir::Skeleton::map || c.prepared.turned != nullptr || c.prepared.unbroken != 1) return false;
  if (c.prepared.columns < turns_of_device * c.limits.sms * c.limits.threads_per_sm) return false;
  const auto turns = [](const ir::Node& node) { return node.op == ir::Op::transpose; };
  return std::any_of(c.prepared.graph->nodes.begin(), c.prepared.graph->nodes.end(), turns);
}

bool leaves_rows_to_bundles(const Candidate& c) {
  return c.prepared.in_bundles != nullptr && c.prepared.domain.fastest() * element_bytes(c) < sector;
}

bool is_short_odd_row(const Candidate& c) {
  return !is_across(c) && c.tiling.lanes > 1 && c.tiling.lanes <= c.limits.warp_size &&
         !std::has_single_bit(static_cast<std::uint64_t>(c.prepared.columns)) &&
         c.prepared.columns * element_bytes(c) <= 2 * full_line;
}

bool reads_apart(const Candidate& c) {
  constexpr std::int64_t short_row = 64;  // a thread's loads of it find the rest in the first-level cache
  const std::int64_t bytes = element_bytes(c), run = c.tiling.run * bytes;
  if (is_short_odd_row(c)) return false;
  if (!is_across(c) && c.plan.threads_per_row == 1 && c.prepared.columns * bytes <= short_row) return false;
  return c.tiling.together * bytes < (is_narrow(c) ? run / 2 : std::min(least_together(c), run));
}

bool is_thin(const Candidate& c) {
  return !is_narrow(c) && c.tiling.together * element_bytes(c) < std::min(full_line, c.tiling.run * element_bytes(c));
}

bool flies_little(const Candidate& c) {
  const std::int64_t elements = std::int64_t{c.plan.in_flight} * c.plan.vector;
  return c.plan.in_flight < 8 && elements * element_bytes(c) < 64 && elements * input_bytes(c) < 256;
}

bool rereads_what_fits(const Candidate& c, std::int64_t blocks) {
  const std::int64_t waiting = codegen::bytes_waiting(c.prepared) * beside_in_block(c);
  return c.plan.homes.empty() && waiting > 0 && blocks * half_of_registers(c) >= waiting;
}

bool waits_badly(const Candidate& c) {
  constexpr std::int64_t enough = 64, most = 8;
  const std::int64_t bytes = c.plan.in_flight * c.plan.vector * element_bytes(c);
  const bool is_more = bytes > enough && c.plan.in_flight > 1;
  const bool is_less = 2 * bytes <= enough && 2 * c.plan.in_flight <= std::min(c.tiling.trips, most);
  return is_more || is_less || c.plan.grid == ir::GridShape::persistent;
}

bool parts_columns_badly(const Candidate& c) {
  constexpr std::int64_t least = 4 << 10, large = 128;
  const std::int64_t beside = c.tiling.together * element_bytes(c);
  const std::int64_t bytes = c.prepared.columns * beside / c.plan.cluster;
  return beside > 2 * full_line || bytes < least || c.plan.threads < std::min(large, bytes / 64);
}

bool clusters_badly(const Candidate& c) {
  constexpr std::int64_t least = 4 << 10;
  const std::int64_t size = c.plan.cluster, beside = beside_in_block(c);
  const std::int64_t clusters = is_across(c) ? blocks(c) : c.prepared.rows;  // a row or band each
  const bool is_more = size / 2 * clusters >= c.limits.sms &&
                       size / 2 * half_of_registers(c) >= 2 * codegen::bytes_waiting(c.prepared) * beside;
  const bool is_less = 2 * size <= c.limits.blocks_per_cluster && 4 * size * clusters <= c.limits.sms &&
                       c.prepared.columns * beside * element_bytes(c) >= 2 * size * least;
  return is_more || is_less;
}

bool are_in_registers(const Candidate& c) { return !c.tiling.streamed || has(c, StitchLevel::registers); }

std::int64_t kept_at_once(const Candidate& c) {
  codegen::KeptHomes own;
  const std::int64_t bytes = most_left(codegen::kept_by(c.prepared, c.plan.homes, own), [&](const ir::Home& home) {
    return home.level == StitchLevel::registers ? ir::row((*c.prepared.graph)[home.node].shape.dtype).bits / 8 : 0;
  });
  return bytes * elements_per_thread(c);
}

std::int64_t kept_registers(const Candidate& c) {
  constexpr std::int64_t register_bytes = 4;
  const std::int64_t kept = kept_at_once(c);
  return (kept > 0 ? kept : elements_per_thread(c) * element_bytes(c)) / register_bytes;
}

}  // namespace tailor::explore
