// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Work: what a kernel asks of a machine, without any machine in it. Counted from the program's statements (count.h).
// Counts are of warp instructions unless the name says bytes or sectors; totals are over the whole grid. Made by
// count(), read by every model, by advice, and by tables that put it beside what was executed. Where a plan takes
// several launches it is that of the first kernel and carries the others'.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/chain.h"
#include "base/sparse.h"
#include "ir/kernel/kernel.h"

namespace tailor::costmodel {

inline constexpr std::int64_t sector_bytes = 32;

/// One kind of access. A request is one warp instruction with at least one active lane; a sector is 32 bytes; sectors
/// of a request are the distinct ones its active lanes touch; bytes are those of the active lanes.
struct Traffic {
  std::int64_t requests = 0, sectors = 0, bytes = 0;
  bool operator==(const Traffic&) const = default;
};

struct BufferWork {
  Traffic load, store, atomic;
  std::int64_t reload_sectors = 0;  ///< part of load.sectors that the same thread had read before
  std::int64_t turned_sectors = 0;  ///< of those, what it reads the other way round than the last time
  std::int64_t read_bytes = 0;      ///< distinct bytes read: what memory must deliver at least once
  std::int64_t written_bytes = 0;   ///< distinct bytes written
  std::int64_t read_sectors = 0;    ///< distinct sectors that hold them: memory delivers whole ones
  std::int64_t written_sectors = 0;
  std::int64_t block_sectors = 0;  ///< distinct sectors a block reads away from edges; by extents in both modes
  /// Sectors that loads ask for which a load of the same index a constant away asks for too (the taps of a stencil),
  /// and the largest such distance in bytes; by extents in both modes.
  std::int64_t shifted_sectors = 0, shift_bytes = 0;
  /// A workspace that this kernel fills before it reads it: what it reads it has written to L2 itself.
  bool own = false;
  bool operator==(const BufferWork&) const = default;
};

/// Wavefronts: passes through the 32 banks of 4 bytes. A request runs in phases of as many lanes as fill 128 bytes (32
/// lanes of up to 4 bytes, 16 of 8, 8 of 16); a phase with an active lane takes as many passes as the most distinct
/// 4-byte words that one bank must deliver.
struct SharedWork {
  std::int64_t requests = 0, bytes = 0, wavefronts = 0;
  bool operator==(const SharedWork&) const = default;
};

/// Warp instructions by the unit that executes them.
struct Pipes {
  std::int64_t fma = 0, alu = 0, xu = 0, f64 = 0;
  std::int64_t extremes = 0;  ///< of `alu`, maxima and minima of f32 that keep NaN: older machines take more for each
  std::int64_t integer = 0;   ///< multiply-adds of integers, apart from `fma` only where machine code was counted
  std::int64_t widen = 0;     ///< f16 to f32
  std::int64_t pack = 0;      ///< f32 to 16 bit
  std::int64_t number = 0;    ///< 32-bit integers to f32
  std::int64_t narrow = 0;    ///< other conversions: of f64, from floats to integers
  std::int64_t memory = 0;    ///< loads, stores and atomics, shared and global
  std::int64_t shuffle = 0, barrier = 0;
  std::int64_t control = 0;  ///< compare and branch of rolled loops, tests of guards
  std::int64_t address = 0;  ///< estimate: the program does not tell what the compiler folds
  bool operator==(const Pipes&) const = default;
};

void add(Pipes& sum, const Pipes& each, std::int64_t times);
/// What one of several `parts` has of what was `made`, in the proportion in which it has a part of `all`; equal shares
/// of what `all` has none of.
Pipes shared_out(const Pipes& part, const Pipes& all, const Pipes& made, int parts);
std::int64_t conversions(const Pipes& pipes);
/// Everything that takes an issue slot.
std::int64_t instructions(const Pipes& pipes);

/// Steps on the critical path of one warp that runs every guard: what it waits for, one after the other.
struct CriticalPath {
  double memory = 0;  ///< round trips to global memory; loads between two waits go together
  double shared = 0;  ///< round trips to shared memory
  double shuffle = 0;
  double barrier = 0;
  double arithmetic = 0;  ///< dependent operations of the FMA and ALU pipes
  double xu = 0;
  double far = 0;          ///< of `memory`: trips with a load of data nobody read before
  double coherent = 0;     ///< of `memory`: fences and atomics, which L1 cannot answer
  double further = 0;      ///< buffers beyond the first that a trip waits for, over all trips
  double cluster = 0;      ///< barriers of a cluster of blocks
  double distributed = 0;  ///< round trips to shared memory of other blocks of the cluster
  double turns = 0;        ///< of `arithmetic` and `xu`: steps of copies that wait for another one, since they branch
  bool operator==(const CriticalPath&) const = default;
};

struct Work {
  int threads = 0;  ///< per block
  std::int64_t virtual_blocks = 0;
  std::int64_t grid = 0;
  int cluster = 1;                       ///< blocks that start together, and meet
  int min_blocks = 0;                    ///< resident per SM that the compiler must allow for; 0: it may choose
  std::int64_t shared_bytes = 0;         ///< per block
  Sparse<BufferWork> buffers;            ///< those of Kernel::buffers that it touches
  SharedWork shared_load, shared_store;  ///< loads of other blocks' among them
  std::int64_t distributed_bytes = 0;    ///< of these: what may come from other blocks of the cluster
  std::int64_t shuffles = 0;             ///< 32-bit shuffle instructions
  std::int64_t barriers = 0;             ///< one per warp; of a block
  std::int64_t cluster_barriers = 0;     ///< two per warp, which arrives and waits
  Pipes pipes;
  std::int64_t busiest_block = 0;      ///< instructions of the virtual block that issues most
  int live_registers = 0;              ///< 32-bit registers that the program keeps alive at once
  int early_registers = 0;             ///< the same with addresses that may be made ahead of their use
  std::int64_t code_instructions = 0;  ///< that the code holds, executed or not
  CriticalPath critical_path;
  std::int64_t loads_in_flight = 0;        ///< per thread: loads from global memory between two waits, at most
  double bytes_in_flight = 0;              ///< per thread: bytes loaded and stored for each round trip to memory
  bool sampled = false;                    ///< some counts come from a sample (count.h says when)
  ir::Begins begins = ir::Begins::launch;  ///< how it comes behind the kernel before it
  std::vector<Work> followers;             ///< of the kernels behind this one in its program, in order
  bool operator==(const Work&) const = default;
};

/// The work of each kernel of a program, in the order of their launches.
inline Chain<Work> works_of(const Work& work) { return {work, work.followers}; }
Chain<Work> works_of(Work&&) = delete;
/// The same launch by launch: the bodies of each, step by step.
inline std::vector<Chain<Work>> launches_of(const Work& work) {
  return parts_of(works_of(work), [](const Work& one) { return one.begins == ir::Begins::launch; });
}
std::vector<Chain<Work>> launches_of(Work&&) = delete;
/// The bodies of each step of each launch.
inline std::vector<Chain<Work>> steps_of(const Work& work) {
  return parts_of(works_of(work), [](const Work& one) { return one.begins != ir::Begins::beside; });
}
std::vector<Chain<Work>> steps_of(Work&&) = delete;
/// Whether a launch of the program has several bodies, side by side or in steps.
inline bool has_bodies(const Work& work) {
  for (const Work& one : work.followers)
    if (one.begins != ir::Begins::launch) return true;
  return false;
}
/// The bodies of a launch as one kernel; the work itself where it is one. Of a launch in steps the shape is that of its
/// first step.
Work as_one(const Chain<Work>& launch);
/// A program with one kernel for each launch.
Work by_launch(const Work& program);
/// A program with one kernel for each step of its launches. A launch has the registers and the shared memory that any
/// of its steps takes, so each has them.
Work by_step(const Work& program);

/// What the model counted under a name of ir/counters.def; nothing where it has no such count. Of all launches of a
/// program together, and of one buffer in one of them.
std::optional<double> model_count(const Work& work, std::string_view counter);
std::optional<double> model_count(const BufferWork& buffer, std::string_view counter);

/// Sums over buffers, and over the launches of a program. Compulsory is what the first launch reads that reads or
/// writes a buffer at all, and what the first one writes that writes it: others may find the rest in L2.
std::int64_t sectors(const Work& work);
std::int64_t compulsory_bytes(const Work& work);
struct Compulsory {
  std::int64_t read = 0, written = 0;
};
/// Of each kernel of the program, in order.
std::vector<Compulsory> compulsory_of_kernels(const Work& program);
/// compulsory_bytes() of what that found.
std::int64_t sum_of(const std::vector<Compulsory>& kernels);
/// What a buffer gets and gives in all launches of a program: accesses are added up, of distinct bytes and sectors it
/// is the most that a launch has.
BufferWork buffer_of_program(const Work& program, std::size_t buffer);
/// For tables: accesses and instructions of all launches together, without followers. The rest, launch shape and
/// critical path among it, stays that of the first.
Work together(const Work& program);
/// Bytes of the distinct sectors, at least the distinct bytes: what memory delivers, and what caches give room to. Of
/// what a kernel filled itself memory delivers nothing.
double read_footprint(const BufferWork& buffer);
double written_footprint(const BufferWork& buffer);
/// What all kernels of a program read that none of them has read or written before: what memory delivers at least.
double read_first(const Work& program);

}  // namespace tailor::costmodel
