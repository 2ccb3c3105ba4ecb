// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Plan: PAI's CodeGen plan of one group, everything a person would decide before writing the kernel by hand. Text form
// round-trips; the id hashes it together with the group's. Nodes are named by their index in the group's graph (%5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "ir/fusion.h"

namespace tailor::ir {

/// Loop structure of the kernel. map: one flat loop over elements. row: a row owner and any number of dependent
/// reductions along the row.
enum class Skeleton : std::uint8_t { map, row };

/// Where a sub-root's value lives for its readers: the level an edge is stitched at.
enum class Stitch : std::uint8_t { thread, warp, block };

/// Where values wait between two phases of a row. registers: what later phases need stays in registers. shared: in
/// shared memory. reload: inputs are read again and the rest is computed again. recompute: inputs stay in registers,
/// the rest is computed again.
enum class Residence : std::uint8_t { registers, shared, reload, recompute };

/// tile: one tile per block. persistent: a fixed number of blocks loop over the tiles.
enum class GridShape : std::uint8_t { tile, persistent };

struct SubRoot {
  NodeId node = no_node;
  Stitch stitch = Stitch::thread;
  bool operator==(const SubRoot&) const = default;
};

struct Plan {
  Skeleton skeleton = Skeleton::map;
  NodeId dominant = no_node;       ///< its index is written first; all others radiate from it
  std::vector<SubRoot> sub_roots;  ///< the row reductions, ascending
  bool index_cache = true;         ///< name shared parts of indices once
  bool value_cache = true;         ///< share values between the group's roots
  int threads = 128;               ///< per block
  int threads_per_row = 32;        ///< row only; divides threads; a power of two
  int vector = 4;                  ///< elements per thread and access, a power of two
  int in_flight = 1;               ///< row: rows per thread at once; map: vectors per thread at once
  Residence residence = Residence::registers;
  GridShape grid = GridShape::tile;
  int blocks_per_sm = 0;  ///< persistent only: resident blocks per SM, the grid is that times the SMs
  bool operator==(const Plan&) const = default;
};

/// "row dominant=%3 sub_roots=%3@warp,%9@warp threads=128 threads_per_row=32 vector=4 in_flight=1 residence=registers
/// grid=tile index_cache=on value_cache=on".
std::string text(const Plan& plan);
/// Throws Error(usage) naming the word that does not fit.
Plan parse_plan(std::string_view text);
Id id_of(const Plan& plan, Id group);

std::string_view name(Skeleton skeleton);
std::string_view name(Stitch stitch);
std::string_view name(Residence residence);
std::string_view name(GridShape grid);

/// Why a plan (or a whole group) cannot be lowered, with the numbers. `rule` is a stable short name ("registers",
/// "skeleton-column"), `reason` a sentence with figures.
struct Rejection {
  std::string rule;
  std::string reason;
  bool sound = true;  ///< lower itself says so, or a rule proved to imply it; false: a heuristic shortcut
  bool operator==(const Rejection&) const = default;
};

}  // namespace tailor::ir
