// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the sanitizers found: a read of bytes that hold no value, of bytes that a copy still writes, or a race between
// two accesses. Made by ResidentShadow (shadow.h), one record per site and fault. The machine merges the records of
// several resident sets and turns them into findings with names and lines (machine/simulate.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tailor::simulator {

enum class ShadowSpace : std::uint8_t { shared, global, local };

/// uninitialised: bytes nobody wrote; pending: bytes a copy is still writing (FindingKind::async_misuse).
/// stale: loaded by the read-only path, and stored to by this launch.
enum class ShadowFault : std::uint8_t { uninitialised, pending, race, stale };

inline constexpr std::uint32_t no_site = 0xffffffffu;

struct ShadowSide {
  std::int64_t block = -1;  ///< linear in the grid
  int warp = -1, lane = -1;
  std::uint32_t site = no_site;
  bool write = false;
  bool operator==(const ShadowSide&) const = default;
};

/// First occurrence per site and fault, and how often. Occurrences are lanes.
struct ShadowFinding {
  ShadowFault fault = ShadowFault::race;
  ShadowSpace space = ShadowSpace::shared;
  int region = -1;          ///< global: the buffer; else -1
  std::int64_t offset = 0;  ///< bytes, first of the access' granule (race) or first bad byte
  int bytes = 0;            ///< of the granule, or of the lane's access
  bool same_instruction = false;
  ShadowSide here, other;  ///< other: races only
  std::int64_t times = 1;
  bool operator==(const ShadowFinding&) const = default;
};

/// Site and fault as one number: what findings are summed by.
std::uint64_t finding_key(const ShadowFinding& finding);

/// Sums findings of several resident sets: one per site and fault, the one of the lowest block, ordered by block and
/// site. The result does not depend on the order of `parts`.
std::vector<ShadowFinding> merged_findings(std::span<const std::vector<ShadowFinding>> parts);

struct ShadowNames {
  std::function<std::string(std::uint32_t site)> line;  ///< "line 41"
  std::function<std::string(int buffer, std::int64_t offset, int bytes)> global;
  int threads_per_warp = 32;
  std::function<std::string(std::int64_t offset, int bytes)> shared;  ///< empty: "shared[132..136)"
};
/// "race: thread 37 of block 5 reads shared[148..152) that thread 3 wrote at line 12 without a barrier between".
std::string text(const ShadowFinding& finding, const ShadowNames& names);

}  // namespace tailor::simulator
