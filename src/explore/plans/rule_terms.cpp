// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the words of rules mean (rule_terms.h). In: a candidate. Out: numbers and answers. Called by the table of rules,
// for each prefix of plans that it is asked about: so each is a few look-ups, and none makes a mapping. Bytes are of
// the group's own arrays, widths of the plan, blocks and trips of the tiling.
#include "explore/plans/rule_terms.h"

#include <algorithm>
#include <bit>

#include "codegen/lower/prepare.h"
#include "ir/kernel/kernel.h"

namespace tailor::explore {

using ir::HomesWord;
using ir::StitchLevel;

std::int64_t element_bytes(const Candidate& c) {
  std::int64_t widest = 1;
  for (std::size_t id = 0; id < c.prepared.full.size(); ++id)
    if (c.prepared.full[id] && c.prepared.graph->nodes[id].op == ir::Op::parameter)
      widest = std::max<std::int64_t>(widest, ir::row(c.prepared.graph->nodes[id].shape.dtype).bits / 8);
  return widest;
}

std::int64_t access_bytes_of(const Candidate& c) {
  return ir::access_bytes / std::max<std::int64_t>(c.prepared.widest_vector, 1);
}

std::int64_t input_bytes(const Candidate& c) {
  std::int64_t sum = 0;
  for (std::size_t id = 0; id < c.prepared.full.size(); ++id)
    if (c.prepared.full[id] && c.prepared.graph->nodes[id].op == ir::Op::parameter)
      sum += ir::row(c.prepared.graph->nodes[id].shape.dtype).bits / 8;
  return sum;
}

std::size_t kept_values(const Candidate& c) {
  codegen::KeptHomes own;
  return codegen::most_in_registers(codegen::kept_by(c.prepared, c.plan.homes, own));
}

std::int64_t waiting_bytes(const Candidate& c) {
  std::int64_t sum = 0;
  for (const ir::Home& home : codegen::homes_of(c.prepared, HomesWord::registers))
    sum += ir::row((*c.prepared.graph)[home.node].shape.dtype).bits / 8;
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

std::int64_t blocks(const Candidate& c) {
  return (c.tiling.items + c.tiling.items_per_block - 1) / c.tiling.items_per_block * c.tiling.split;
}

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

bool reads_little(const Candidate& c) {
  const std::int64_t together = std::min<std::int64_t>(c.tiling.trips, c.plan.in_flight);
  return together * c.plan.vector * element_bytes(c) < 32 && together * c.plan.vector * input_bytes(c) < 128 &&
         c.tiling.trips >= 2 * together;
}

bool parts_badly(const Candidate& c, std::int64_t blocks, std::int64_t least) {
  constexpr std::int64_t large = 256;
  const std::int64_t bytes = c.prepared.columns * element_bytes(c) / blocks;
  const bool is_whole = c.prepared.straight && c.tiling.run * element_bytes(c) % ir::access_bytes == 0;
  const bool is_odd = c.plan.vector == 1 ? is_whole : c.plan.vector * element_bytes(c) != ir::access_bytes;
  return c.plan.threads_per_row != c.plan.threads || is_odd || c.plan.threads < std::min(large, bytes / 64) ||
         bytes < least;
}
bool flies_badly(const Candidate& c) { return c.tiling.streamed ? reads_little(c) : c.plan.in_flight > 1; }

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

std::int64_t elements_per_thread(const Candidate& c) { return c.tiling.trips * c.plan.vector; }

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

bool are_in_registers(const Candidate& c) {
  return !c.tiling.streamed || codegen::waits_partly(c.prepared, c.plan.homes);
}

std::int64_t kept_elements(const Candidate& c) {
  return elements_per_thread(c) * static_cast<std::int64_t>(std::max<std::size_t>(kept_values(c), 1));
}

}  // namespace tailor::explore
