// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the interpreter executes: micro-operations over slots. A slot is a register of all 32 lanes side by side: 32
// words for predicates (0 or all ones) and for 8, 16 and 32-bit registers, 32 double words for 64-bit ones. A narrow
// value occupies the low bits of its word; readers cut it to their width, writers may leave anything above.
//
// An operand is a slot in one of four banks, so that immediates, parameters and special registers are operands like
// any other and handlers have only one kind: a warp's own frame, constants of the launch (immediates, parameters,
// %ntid), of the block (%ctaid) and of the warp's place in its block (%tid, %laneid).
//
// This header is included by files compiled for several instruction sets and linked into one program. It therefore
// holds plain data only: an inline function here could be kept in the version for a machine that is not this one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tailor::simulator {

inline constexpr int lanes_per_warp = 32;
inline constexpr std::uint32_t all_lanes = 0xffffffffu;

enum class Bank : std::uint32_t { frame, launch, block, thread };

/// A slot: bank in the top two bits, byte offset in the bank below them. Offsets are multiples of 128.
using Slot = std::uint32_t;
inline constexpr Slot no_slot = 0xffffffffu;
inline constexpr int slot_bank_shift = 30;
inline constexpr std::uint32_t slot_offset_mask = (1u << slot_bank_shift) - 1;

struct Warp;
struct Micro;
using Step = void (*)(Warp&, const Micro&);

struct Micro {
  Step full = nullptr;                         ///< when all 32 lanes are active
  Step some = nullptr;                         ///< must leave slots of inactive lanes as they are
  Slot d = no_slot;                            ///< written
  Slot a = no_slot, b = no_slot, c = no_slot;  ///< read
  std::int64_t immediate = 0;                  ///< offset of an address, or what the handler says
  std::uint32_t list = 0;                      ///< first of further slots in Warp::lists: elements of a vector
  std::uint32_t site = 0;                      ///< the PTX instruction this belongs to
  std::uint32_t extra = 0;                     ///< what the handler says
  std::uint8_t writes = 0;                     ///< of the list: bit k set: slot k is written, else read
  std::uint8_t count = 0;                      ///< slots in the list
};

/// What an access of a memory site is checked against: the buffer or shared array its last access fell in, and what it
/// was counted. A site nearly always stays in one.
struct SiteState {
  std::uint64_t base = 0, size = 0;  ///< simulated address (shared: offset in the block's) and bytes; 0: nothing yet
  std::byte* host = nullptr;         ///< global: of `base`
  std::int32_t buffer = -1;
  std::uint32_t may_store = 0;
  std::int64_t requests = 0, sectors = 0, bytes = 0;
};

/// A block's shared memory or a warp's local memory. `lane_stride` is between the lanes' copies; 0 for shared memory.
struct OwnWindow {
  std::uint64_t size = 0;
  std::byte* host = nullptr;
  std::uint64_t lane_stride = 0;
};

enum class AccessSpace : std::uint8_t { global, shared, local, generic };
/// `watched`: volatile. Strong towards other warps, and no order among the lanes of its own.
enum class MemoryOrder : std::uint8_t { weak, relaxed, acquire, release, acquire_release, watched };

/// Micro::extra of an access.
inline constexpr std::uint32_t access_space_mask = 3;       // AccessSpace
inline constexpr std::uint32_t access_wide = 1u << 2;       // the address is a 64-bit slot
inline constexpr int access_order_shift = 3;                // MemoryOrder, 3 bits
inline constexpr std::uint32_t access_uncounted = 1u << 6;  // parameters of inlined calls
inline constexpr std::uint32_t access_cluster = 1u << 7;    // shared address in the cluster's window
inline constexpr int access_bytes_shift = 8;                // bytes of one lane, 6 bits
inline constexpr std::uint32_t access_bytes_mask = 63;
inline constexpr std::uint32_t access_wide_values = 1u << 14;  // what is stored lies in 64-bit slots
inline constexpr std::uint32_t access_transposed = 1u << 15;   // 8x8 tiles
inline constexpr int access_site_shift = 16;                   // memory site

/// Bits of Warp::observe.
inline constexpr std::uint32_t observe_shadow = 1, observe_cache = 2;

/// One access, lane by lane, after its addresses are known.
struct Request {
  std::uint64_t address[lanes_per_warp];  ///< as the program computed them
  std::byte* host[lanes_per_warp];        ///< where a lane in `mask` may read or write
  std::uint32_t mask;                     ///< lanes that may; the rest were reported
};

struct Machine;  // the interpreter's own
struct Warp;

/// What handlers of any instruction set call back. Plain pointers: they lead to files for the plain machine.
struct Services {
  /// Checks bounds and alignment, reports, counts, tells the sanitizers (before a store changes memory), and fills host
  /// and mask.
  void (*translate)(Warp& warp, const Micro& micro, Request& request, bool store);
  /// For 32 lanes at first + lane * step that were checked and counted: tells the sanitizers and the cache model.
  /// `step` is the bytes of a lane, or 0.
  void (*observe)(Warp& warp, const Micro& micro, std::uint64_t first, std::uint32_t step, bool store);
  /// For lanes of `mask` that were checked and whose `host` is filled: counts, tells the sanitizers and the cache
  /// model.
  void (*count)(Warp& warp, const Micro& micro, const Request& request, bool store);
};

struct Warp {
  std::byte* bank[4] = {};  ///< each aligned to 128 bytes
  const Slot* lists = nullptr;
  std::uint32_t active = 0;        ///< lanes that execute now
  std::uint32_t active_count = 0;  ///< of them
  std::uint32_t observe = 0;
  SiteState* sites = nullptr;  ///< by memory site
  OwnWindow shared, local;
  const Services* services = nullptr;
  Machine* machine = nullptr;
  alignas(64) std::uint32_t lanes[lanes_per_warp] = {};  ///< active, one word for each: 0 or all ones
};

/// Values `a`, distances `b`, clamps and segments `c`; result `d`, predicates `valid` or null. 32 words each.
using ShuffleStep = void (*)(const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* d,
                             std::uint32_t* valid);

/// Types a memory element may have and the slot it goes to: "s8 into a 64-bit register".
enum class ElementKind : std::uint8_t {
  u8,
  s8,
  u16,
  s16,
  b32,
  u8_wide,
  s8_wide,
  u16_wide,
  s16_wide,
  u32_wide,
  s32_wide,
  b64
};
inline constexpr int element_kinds = 12;
/// Loads and stores of 1, 2, 4 and 8 elements: [kind][log2 elements][0 full, 1 some].
struct AccessTable {
  Step load[element_kinds][4][2];
  Step store[element_kinds][4][2];
};

}  // namespace tailor::simulator
