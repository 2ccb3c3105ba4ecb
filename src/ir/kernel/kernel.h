// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernel: the lowered program of one group under one plan. A small structured program that is printed as CUDA
// (codegen), counted (costmodel) and shown (explain): three readers, one author (lower). Where a plan takes several
// launches it carries the kernels of the later ones, and all of them together are the plan's program.
//
// The program is a flat list of statements in preorder; loops and guards span to `end`. It describes one virtual block
// `vb` of `virtual_blocks`; a wrapper maps real blocks to virtual ones. Threads are seen through named variables that
// are parts of the thread index (lane, row in block). There is no reduce statement: reductions are shuffles (or
// exchanges and arithmetic), shared stores, barriers and loads. Loads and stores are pinned: the printed text keeps
// each of them, in this order, so what is counted here is what the machine executes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/chain.h"
#include "base/hash.h"
#include "ir/graph/arithmetic.h"
#include "ir/graph/graph.h"
#include "ir/graph/number.h"
#include "ir/graph/op.h"
#include "ir/graph/types.h"
#include "ir/kernel/index.h"
#include "ir/kernel/launch.h"
#include "ir/kernel/stitch_level.h"

namespace tailor::ir {

/// The widest access of one thread (PTX ISA, vector ld and st: 128 bits).
inline constexpr int access_bytes = 16;

using BufferId = std::uint16_t;
using ArrayId = std::uint16_t;
using LetId = std::uint16_t;
using ValueId = std::uint32_t;
inline constexpr std::uint16_t no_id = std::numeric_limits<std::uint16_t>::max();
inline constexpr ValueId no_value = std::numeric_limits<ValueId>::max();

/// A global buffer: a kernel argument. Inputs first, in order of the group's parameters, then the results (outputs and
/// what is written in place) in order of the group's outputs, then workspaces and tickets.
struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  std::int64_t elements = 0;
  BufferRole role = BufferRole::input;
  BufferId of = no_id;  ///< in_place: the input whose memory it is; both have equally many bytes
  bool operator==(const Buffer&) const = default;
};

/// distributed: shared memory of any block of the cluster, for loads alone. Arrays are of the others, and none is
/// global.
enum class Space : std::uint8_t { registers, shared, global, distributed };

/// A per-thread register array (name[dims[0]][dims[1]] of vectors) or a block's shared array (one dimension, vector 1).
struct Array {
  std::string name;
  Space space = Space::registers;
  DType dtype = DType::f32;
  std::array<std::int64_t, 2> dims{0, 0};  ///< 0: absent. shared: dims[0] elements
  int vector = 1;                          ///< elements per entry
};

/// An element of a register array: name[subs[0]][subs[1]].v[lane]. For loads and stores of width W: elements lane ..
/// lane+W-1.
struct Ref {
  ArrayId array = no_id;
  std::array<ExprId, 2> subs{no_expr, no_expr};
  ExprId lane = no_expr;  ///< no_expr: element 0
};

enum class ValueKind : std::uint8_t {
  constant,  ///< real (floating types) or integer
  let,       ///< a value named by an earlier let or scalar load
  element,   ///< of a register array
  op,        ///< a table operation on `operands`
  convert,   ///< operands[0] to `dtype`
  index,     ///< an index expression as a number (iota)
};

/// Operations on the bits of a number, of its own type: a value that is held in a wider one is rounded to it first.
constexpr bool works_on_bits(Op op) { return op == Op::bitcast_convert || op == Op::reduce_precision; }

/// A pure value of one thread. Types: `dtype` is what it evaluates to; types that compute in another one (f16, bf16)
/// occur only as elements, as scalar loads, as results of convert, and around operations that work on bits.
struct Value {
  ValueKind kind = ValueKind::constant;
  DType dtype = DType::f32;
  Op op = Op::copy;
  Comparison comparison = Comparison::eq;  ///< op == compare; the operands' type is that of operands[0]
  Digits digits;                           ///< op == reduce_precision
  std::array<ValueId, 3> operands{no_value, no_value, no_value};
  double real = 0;
  std::int64_t integer = 0;
  LetId let = no_id;
  Ref element;
  ExprId index = no_expr;
};

enum class StmtKind : std::uint8_t {
  declare,  ///< target.array comes to life; value (optional) initialises every element
  index,    ///< names `expr` (the index cache); printing only
  let,      ///< let = value
  assign,   ///< target op= value (op copy: plain assignment; add, maximum, ...: accumulate)
  load,     ///< target (or, width 1 and no target array, a new let) <- memory[expr], width elements
  store,    ///< memory[expr] <- target (or, width 1 and no target array, value), width elements
  atomic,   ///< memory[expr] op= target (or, width 1 and no target array, value), each of width elements by itself;
            ///< `let`, where there is one, is what was there before (width 1)
  loop,     ///< for var in 0 .. extent-1: statements up to end
  guard,    ///< if all conditions, or, where it has one, `value` (see below): statements up to end
  shuffle,  ///< target <- combine with op over groups of `lanes` neighbouring lanes; every lane gets the result
  barrier,  ///< of `scope`
  issue,    ///< ordered loads above it are on their way before anything below it is done; no other thread is waited for
  bind,     ///< var (of kind data) = value, an integer that its own operation clamps to 0 .. extent-1
  fence,    ///< what this thread wrote, or saw written by threads it met at a barrier, is seen by all blocks before
            ///< anything that it does below; and it sees what others fenced before it saw their atomics
  wait,     ///< in a follower: what the launches before it wrote is seen below
  exchange,  ///< let = value of another lane: of the one whose number differs by `stride` (a bit) among groups of
             ///< `lanes` neighbouring ones, or, where that is 0, of the first of the group
};

// The last block. Blocks that each hold a part of a result write it to a workspace, and the one that comes last puts
// the parts together. A barrier of the block; then one thread fences, adds 1 to a ticket with a result, fences, and
// stores the result in shared memory; another barrier; all threads load it from there. A guard with a value then asks
// whether it is the last number there is. Threads of a block agree on such a value: it is made of constants and of what
// was loaded from shared memory at an index without thread variables, outside of guards that depend on the thread; so
// barriers may stand inside. The block that passes sets the ticket to 0, by an atomic minimum, for the next run.
//
// Which block passes is known only when they run. A guard with a value therefore has one condition too, which is never
// asked by the machine: that of the block which is last when they come in order. What stands inside reaches as many
// elements of each buffer whichever block passes, so counters take the condition for the value.

// Scatters. Where data says which elements a thread changes, several threads may change one: they add to it by atomics
// whose result nobody asks for, in any order, so that sums of floating numbers differ from run to run in their last
// bits; or they store there what takes its place, of which any may stay (`fresh`). Such a place is bound with one
// number more than there are places, which stands for all that lie outside, and a guard leaves these out.

// Clusters. Blocks of a cluster, which run at once, read each other's shared memory: a load from `distributed` space
// reads what the block of number `rank` in its cluster has in a shared array of its own. Nobody writes there. A barrier
// of the cluster stands before such loads, so that the block has begun and has written; and another one behind the last
// of them, so that none ends, or writes again, while it is read. That one may be parted: threads arrive when they have
// read, and wait when they have nothing else to do. Two block variables then tell which cluster of the
// grid a block is in, and which number it has there: a cluster is neighbouring blocks.

// The whole grid. Blocks that share an item may also wait for one another and all go on: a barrier of scope `grid`. The
// blocks that meet are those with the same `expr`, the number of a counter in a ticket: each has a `rank` among them,
// and a counter has as many blocks as the others. It is a barrier of each block too. All blocks of the grid must be
// resident (`cooperative`), and reach it: it stands outside of loops and guards. What blocks wrote to a workspace
// before it, all that meet may read behind it. Each adds to its counter and waits until all have; at the last such
// barrier of a kernel the first of them adds what makes the sum zero, so that a counter needs no reset.

// Exclusive arms. Where an element comes from one of several places, guards ask which: a guard, and right behind it one
// that is `otherwise` and stands for all threads that the first one leaves out. A tree of such pairs halves the places
// until one is left. It is asked once for both: the second guard costs nothing, the printed text says `else`. Its own
// condition is there all the same, the first one's opposite, so whoever reads guards one by one reads the same program.

// Programs. A plan may take several launches: the kernel at hand and its followers, in order, each of which goes on
// where the one before it ended. All have the same buffers, in the same order, and are handed all of them, used or not;
// the same class of arithmetic and the same index cache. Each has its own threads, blocks, shared memory, indices,
// arrays, values and statements, and a name of its own. Roles of buffers are of the whole program: a workspace is zero
// before its first launch, holds between its launches and means nothing afterwards; a ticket is zero again at the end.
// A follower has no followers.
//
// Side by side. A follower may also share the launch of the kernel before it: it begins `beside` it, with blocks of its
// own behind those of the others, and a block runs one of them. They are the bodies of the launch, in as many blocks
// as all of them have together; each sees its own numbers of blocks. They have equal threads, none waits for the
// other, none reads or writes what another one writes, and shared memory is for one of them at a time: as much as the
// one has that takes most, told to the launch where any has some. The launch goes by the name of its first body.
// Clusters are of one size, and a body without any has whole clusters of blocks too: a few more than its virtual ones,
// which do nothing. Where blocks of one body wait for one another, those of all are resident: each body says so.
//
// In steps. Or it begins `behind` it, in the same launch: the kernel and those beside it are a step, the follower
// begins the next one. The blocks of such a launch are all resident, and each runs its share of every step in turn: of
// the virtual blocks of all bodies of the step those with the numbers block, block + grid, ... So its kernels have one
// grid, and loop where that is not the number of their virtual blocks. By itself a step waits for nobody. What one step
// writes another one may touch where between them all blocks meet: a barrier of the grid with one counter for all,
// which is a kernel of its own, a block for each block.
//
// A follower with a launch of its own may begin while the launch before it still runs. Its `wait` is where it stops
// until all of those are done and what they wrote is seen. It stands once, outermost; above it nothing is stored and
// nothing loaded but inputs that no launch of the program writes. So above it a follower may compute its indices and
// ask for weights.

/// How a load may be treated. What the program writes is loaded under `reload` or `fresh` only: the other policies
/// promise that nobody writes the memory while the kernel runs. once: not expected again. again: expected again soon by
/// others (weights). early: like again, and asked for ahead of its use together with others. reload: this thread read
/// it before and wants memory traffic, not a register. fresh: another step of the launch wrote it, or will, and this
/// thread has not read it. All but `again` are ordered: they stay where they stand among
/// each other and before an `issue`. A store is `once`, or `fresh` where other threads may store into the same element.
enum class Policy : std::uint8_t { once, again, early, reload, fresh };
std::string_view name(Policy policy);

/// Of a barrier of a cluster: all of it, or the threads say that they came by, and wait for the others later.
enum class Half : std::uint8_t { both, arrive, wait };

/// How a follower begins, after the kernel before it in its program: with a launch of its own, or in the same one, side
/// by side with it or as the next step.
enum class Begins : std::uint8_t { launch, beside, behind };
/// "then", "beside", "behind": the word of a program's text.
std::string_view name(Begins begins);

/// a < b or a == b.
struct Condition {
  ExprId a = no_expr;
  ExprId b = no_expr;
  bool equal = false;
};

struct Stmt {
  StmtKind kind = StmtKind::barrier;
  Ref target;
  ValueId value = no_value;
  Op op = Op::copy;
  LetId let = no_id;
  Space space = Space::global;  ///< load, store, atomic
  std::uint16_t memory =
      no_id;               ///< BufferId (global) or ArrayId (shared, distributed); barrier of the grid: its ticket
  ExprId rank = no_expr;   ///< distributed: the block of the cluster whose array it is; barrier of the grid: who I am
  ExprId expr = no_expr;   ///< element index into the memory; index: the named expression
  std::uint8_t width = 1;  ///< elements of one access, at most 16 bytes
  Policy policy = Policy::once;
  VarId var = 0;                           ///< loop: its extent is the variable's; bind
  bool unrolled = false;                   ///< loop
  bool backward = false;                   ///< loop that is not unrolled: from its last turn to its first
  std::array<Condition, 2> conditions{};   ///< guard; the second is absent when its a is no_expr
  bool otherwise = false;                  ///< guard: stands behind one that asks the opposite; see above
  bool by_exchange = false;                ///< atomic without result: a load, then compare-and-swap until it holds
  std::int32_t end = 0;                    ///< loop, guard: the first statement after the body
  std::uint8_t lanes = 0;                  ///< shuffle, exchange: a power of two up to 32
  std::uint8_t stride = 0;                 ///< exchange: a power of two below `lanes`, or 0
  StitchLevel scope = StitchLevel::block;  ///< barrier; warp or wider
  Half half = Half::both;                  ///< barrier of a cluster
};

struct Let {
  std::string name;
  DType dtype = DType::f32;
};

struct Kernel {
  std::string name;  ///< a C identifier made of the group's dominant operations
  int threads = 0;   ///< per block
  std::int64_t virtual_blocks = 0;
  std::int64_t grid = 0;    ///< real blocks; equal to virtual_blocks unless persistent, or beside clusters
  bool persistent = false;  ///< real blocks loop: vb = block; vb < virtual_blocks; vb += grid
  std::int64_t shared_bytes = 0;
  bool dynamic_shared = false;  ///< more than a static declaration may have
  int cluster = 1;              ///< blocks per cluster; they divide the grid
  bool cooperative = false;     ///< all blocks must be resident together: it has a grid barrier
  int min_blocks = 0;           ///< resident per SM that the compiler must allow for; 0: it may choose
  bool index_cache = true;
  Arithmetic arithmetic = Arithmetic::xla;  ///< how its operations are computed
  std::vector<Buffer> buffers;
  IndexPool indices;  ///< variables and expressions
  std::vector<Array> arrays;
  std::vector<Let> lets;
  std::vector<Value> values;
  std::vector<Stmt> body;
  Begins begins = Begins::launch;  ///< of a follower
  std::vector<Kernel> followers;   ///< behind it or beside it, in order; see above
};

/// Whether it accesses memory: of the GPU, of the block or of a cluster.
constexpr bool is_memory(const Stmt& stmt) {
  return stmt.kind == StmtKind::load || stmt.kind == StmtKind::store || stmt.kind == StmtKind::atomic;
}
/// Whether lanes of a warp must execute it together.
constexpr bool exchanges_lanes(const Stmt& stmt) {
  return stmt.kind == StmtKind::shuffle || stmt.kind == StmtKind::exchange;
}
/// Whether it loads from memory, itself or before it writes there.
constexpr bool loads(const Stmt& stmt) {
  return stmt.kind == StmtKind::load || (stmt.kind == StmtKind::atomic && stmt.by_exchange);
}
constexpr bool is_grid_barrier(const Stmt& stmt) {
  return stmt.kind == StmtKind::barrier && stmt.scope == StitchLevel::grid;
}
/// Whether all that a kernel does is that all blocks of its launch meet.
bool is_meeting(const Kernel& kernel);
/// Blocks that meet at one counter of a barrier of the grid. Precondition: it is such a statement.
std::int64_t blocks_that_meet(const Kernel& kernel, const Stmt& barrier);

/// How `blocks` count that meet, at the barrier of the grid before which they have met `met` times, of `meetings` in
/// the kernel. Each adds 1, the first of them `first_adds`; the others are missing while the counter is one of the
/// `count` numbers from `from` on, modulo 2^32. At the last meeting all have added up to zero, and nothing else is zero
/// before.
struct Arrival {
  std::uint32_t first_adds = 1, from = 0, count = 0;
};
constexpr Arrival arrival(std::int64_t blocks, std::int64_t met, std::int64_t meetings) {
  const std::int64_t all = (met + 1) * blocks;
  if (met + 1 < meetings) return {1, 0, static_cast<std::uint32_t>(all)};
  return {static_cast<std::uint32_t>(1 - all), 1, std::numeric_limits<std::uint32_t>::max()};
}

/// The kernels of a program in the order of their launches: the one at hand, then its followers.
inline Chain<Kernel> kernels_of(const Kernel& kernel) { return {kernel, kernel.followers}; }
Chain<Kernel> kernels_of(Kernel&&) = delete;
/// The same launch by launch: the bodies of each, step by step.
inline std::vector<Chain<Kernel>> launches_of(const Kernel& kernel) {
  return parts_of(kernels_of(kernel), [](const Kernel& one) { return one.begins == Begins::launch; });
}
std::vector<Chain<Kernel>> launches_of(Kernel&&) = delete;
/// The bodies of each step of a launch.
inline std::vector<Chain<Kernel>> steps_of(const Chain<Kernel>& launch) {
  return parts_of(launch, [](const Kernel& one) { return one.begins == Begins::behind; });
}
/// Whether a launch has several steps.
inline bool has_steps(const Chain<Kernel>& launch) {
  return std::any_of(launch.begin(), launch.end(), [](const Kernel& one) { return one.begins == Begins::behind; });
}

// Said of a program where a kernel has followers: everything below but launch_shape and shared_offsets.

/// How the bodies of a launch are launched: what the printer declares, the simulator and the GPU are told.
LaunchShape launch_shape(const Chain<Kernel>& launch);
/// The same of a kernel without its followers.
inline LaunchShape launch_shape(const Kernel& kernel) { return launch_shape(Chain<Kernel>(kernel, {})); }
/// Running it twice on the same buffers gives the same result: it adds nothing into memory and reads nothing of what it
/// writes in place.
bool is_idempotent(const Kernel& kernel);
/// The buffer that holds the memory of `buffer`: the input of one that is written in place, else itself.
BufferId owner(const Kernel& kernel, BufferId buffer);
/// Whether the kernel by itself stores into this buffer, or adds to it.
bool writes(const Kernel& kernel, BufferId buffer);
/// The first buffer that `kernel` writes, of which `other` loads or writes the memory.
std::optional<BufferId> writes_for(const Kernel& kernel, const Kernel& other);
/// What whoever runs the kernel owes the memory of `buffer`, which must be its own owner: an input that something is
/// written in place of is in_place, and a result that the kernel adds into is a workspace, for it must start as zero.
BufferRole memory_role(const Kernel& kernel, BufferId buffer);
/// A workspace that the program adds nothing into: it stores there what it loads, so that what it holds before a run
/// means nothing. Any other workspace must be zero then.
bool holds_anything(const Kernel& program, BufferId buffer);
/// Byte offset of each array in a block's shared memory: in order, each aligned to 16 bytes (register arrays: 0), and
/// the total as last entry; the total is what `shared_bytes` holds.
std::vector<std::int64_t> shared_offsets(const Kernel& kernel);
/// The text form that explain shows and golden tests compare (print only).
std::string text(const Kernel& kernel);
/// Hash of the program without names, in any order of its pools and with any index cache: plans that lower to the same
/// program share compile and measurement. The order of followers counts.
Id id_of(const Kernel& kernel);
/// Checks the contracts above (scopes, types, ranges, widths, alignment of shared arrays). Throws std::logic_error: a
/// kernel that fails is a bug of lower.
void verify(const Kernel& kernel);
/// Whether the memory is an array of the kernel, of this block or of another one of its cluster; else it is a buffer.
constexpr bool is_array(Space space) { return space == Space::shared || space == Space::distributed; }

}  // namespace tailor::ir
