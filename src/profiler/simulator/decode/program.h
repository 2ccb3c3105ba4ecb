// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// DecodedProgram: an entry as the machine runs it, made by decode() from PTX and read by machine/. It is a list of code
// blocks. A code block is straight-line micro-operations and one ending; whatever can wait, branch or needs other lanes
// is an ending, so the machine runs the inside of a block as a plain loop over function pointers.
//
// In this form calls are inlined, registers have slots in a warp's frame, and constants (immediates, parameters,
// special registers) have slots in banks that are filled once per launch or block. Nothing here changes while kernels
// run.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/simulator/decode/opcode.h"
#include "profiler/simulator/lanes/micro.h"
#include "profiler/simulator/ptx/ptx.h"

namespace tailor::simulator {

enum class Ending : std::uint8_t {
  next,      ///< falls through
  jump,      ///< to `target`
  branch,    ///< lanes whose predicate (negated: is not) set go to `target`
  indirect,  ///< lane by lane: `targets[op.a]`
  exit,      ///< the lanes are done
  warp,      ///< `op` needs every lane of its mask: shuffle, vote, warp barrier
  barrier,   ///< `op` is a block barrier
  cluster,   ///< `op` is a cluster barrier
  pause,     ///< another warp may run now: nanosleep, a failed wait
  trap,
};

/// Micro::extra of barriers: what kind in the low bits, then flags.
inline constexpr std::uint32_t barrier_sync = 0, barrier_arrive = 1, barrier_popc = 2, barrier_and = 3, barrier_or = 4;
inline constexpr std::uint32_t cluster_arrive = 0, cluster_wait = 1;
inline constexpr std::uint32_t barrier_kind_mask = 7, barrier_unaligned = 8, barrier_relaxed = 16;

inline constexpr std::uint32_t no_block = 0xffffffffu;
inline constexpr int pipe_count = static_cast<int>(Pipe::matrix) + 1;

struct CodeBlock {
  std::uint32_t first = 0, last = 0;  ///< micros
  Ending ending = Ending::next;
  bool negated = false;
  Slot predicate = no_slot;
  std::uint32_t target = no_block, next = no_block;
  std::uint32_t op = 0;        ///< into DecodedProgram::ops, or of the first of `targets`
  std::uint32_t priority = 0;  ///< lanes at the least one run first; a topological order with loops in one piece
  std::uint32_t site = 0;      ///< of the ending
  std::uint32_t instructions = 0;
  std::array<std::uint32_t, pipe_count> pipes{};  ///< instructions by pipe
  Pipe ending_pipe = Pipe::control;               ///< of the ending, among these
  std::uint32_t warp_barriers = 0, block_barriers = 0, cluster_barriers = 0, async_copies = 0;
};

/// What one slot of the launch bank holds: the same in every lane.
struct LaunchConstant {
  enum class Kind : std::uint8_t { bits, param, address, special };
  Kind kind = Kind::bits;
  std::uint8_t slot_bits = 32;
  std::uint8_t bytes = 4;      ///< param: read from the parameter block
  bool sign = false;           ///< param: extended with its sign
  std::uint64_t value = 0;     ///< bits; param: offset; address: what is added
  std::uint32_t variable = 0;  ///< address: into DecodedProgram::variables
  std::uint32_t special = 0;   ///< row of the special registers' table
  Slot slot = no_slot;
  bool operator==(const LaunchConstant&) const = default;
};

/// A module variable or the parameter block, placed in memory at launch.
struct AllocatedVariable {
  const PtxVariable* variable = nullptr;  ///< nullptr: the parameter block
  bool shared = false;
  std::int64_t offset = 0;  ///< shared: within the block's shared memory
};

struct ParamSlot {
  std::int64_t offset = 0, bytes = 0;
};

struct SiteText {
  std::string_view opcode;
  std::uint32_t line = 0;
  PtxSource source;
};

enum class SiteKind : std::uint8_t { load, store, atomic };
/// How far an ordered access or a fence is seen.
enum class MemoryScope : std::uint8_t { block, cluster, device };
/// An instruction that touches memory.
struct MemorySite {
  std::uint32_t site = 0;
  SiteKind kind = SiteKind::load;
  MemoryScope scope = MemoryScope::device;
};

/// A slot that may be read before it is written, and the register it is of.
struct EntrySlot {
  std::uint32_t offset = 0, bytes = 0;
  std::uint32_t virtual_register = 0;
  std::string_view name;
};

/// A variable in shared memory. Behind each there is a guard: bytes that are no variable's, so that an access past its
/// end is told from one to its neighbour. All dynamic variables are one array, which begins where they do.
struct SharedArray {
  std::string_view name;  ///< as in PTX; empty: dynamic shared memory
  std::int64_t offset = 0, bytes = 0;
};

/// A decoded entry. Immutable once it is made; launches on any thread share it.
struct DecodedProgram {
  std::string file, entry, unsupported;
  std::shared_ptr<const PtxModule> module;  ///< names view its text
  const PtxFunction* function = nullptr;
  const LaneTable* lanes = nullptr;

  std::vector<Micro> micros;   ///< in blocks
  std::vector<Micro> guarded;  ///< run by a guard micro-operation
  std::vector<Micro> ops;      ///< of endings
  std::vector<Slot> lists;
  std::vector<std::uint32_t> targets;  ///< of indirect branches: count, then blocks
  std::vector<CodeBlock> code;
  std::vector<SiteText> sites;           ///< by PTX instruction, calls inlined
  std::vector<MemorySite> memory_sites;  ///< by access site of a micro-operation

  std::vector<LaunchConstant> constants;
  std::vector<AllocatedVariable> variables;
  std::vector<ParamSlot> params;
  std::int64_t param_bytes = 0;
  std::vector<EntrySlot> entry_slots;  ///< poisoned when a block starts, so that what is read never depends on others
  std::uint32_t frame_bytes = 0, launch_bytes = 0;
  std::int64_t static_shared = 0;          ///< bytes that the file declares
  std::int64_t dynamic_offset = 0;         ///< where dynamic shared memory begins here
  std::int64_t guard_bytes = 0;            ///< of `dynamic_offset`: what a machine's shared memory does not hold
  std::vector<SharedArray> shared_arrays;  ///< in order of offset; the static ones
  std::int64_t local_bytes = 0;            ///< per lane
  int shared_grain = 4;                    ///< the smallest shared access, at most 4 bytes
  int global_grain = 4;                    ///< the smallest global access, at most 4 bytes; a vector access is one
  bool orders_memory = false;  ///< atomics, fences, volatile or ordered accesses to global memory: blocks may talk
  bool may_spin = false;       ///< ordered or volatile accesses to shared memory, mbarriers: warps may poll
  bool has_barriers = false;   ///< of a block
  bool uses_async = false;     ///< asynchronous copies or mbarriers
  bool uses_clusters = false;
};

/// Micro::extra of a global load by the read-only path, ld.global.nc. The bit is that of tiles, which are never global.
inline constexpr std::uint32_t access_constant = access_transposed;

/// Whether a slot is a register's and not a constant's.
inline bool in_frame(Slot slot) {
  return slot != no_slot && slot >> slot_bank_shift == static_cast<std::uint32_t>(Bank::frame);
}

/// Simulated address windows. Global memory starts at a fixed address; shared memory of the block with rank r in its
/// cluster is seen at shared_window + (r << shared_rank_shift), its own also at offset 0 of the 32-bit addresses.
inline constexpr std::uint64_t shared_window = 0x0000'0001'0000'0000;
inline constexpr std::uint64_t local_window = 0x0000'0002'0000'0000;
inline constexpr std::uint64_t window_bytes = 0x0000'0001'0000'0000;
/// Nothing lies there: a pointer to the module's function n is this plus (n + 1) * function_bytes.
inline constexpr std::uint64_t function_window = 0x0000'0003'0000'0000, function_bytes = 16;
/// 0: the module defines no function of that name.
std::uint64_t function_address(const PtxModule& module, std::string_view name);
inline constexpr std::uint64_t global_base = 0x0000'7f00'0000'0000;
inline constexpr int shared_rank_shift = 24;
inline constexpr std::int64_t shared_offset_mask = (std::int64_t{1} << shared_rank_shift) - 1;

/// The file a line came from, without folders; empty: unknown.
std::string source_name(const DecodedProgram& program, const PtxSource& source);

/// "row_sum.cu line 12", or "PTX line 40" where the text has no lines of its source.
std::string place_of(const DecodedProgram& program, std::uint32_t site);

/// An array's name as in the source, without the function it is in: "tile" of "_ZZ4scanPKfPfE4tile".
std::string source_symbol(std::string_view symbol);

}  // namespace tailor::simulator
