// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The simulator's front door: a program decoded from PTX, memory with guard zones, a launch, and what came of it:
// findings (what compute-sanitizer would say) and counters (what a profiler would count). Called by checks, by the fake
// GPU and by tests. It knows PTX and nothing of Tailor's own nouns. Everything is deterministic for a seed, whatever
// the number of host threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "profiler/simulator/machine/counters.h"
#include "profiler/simulator/machine/finding.h"
#include "profiler/simulator/ptx/ptx.h"

namespace tailor::simulator {

struct DecodedProgram;  // decode/program.h

/// What a kernel may do with a buffer, and what is in it. A store to `input` is a finding; so is a read of a byte of
/// `output` that no launch wrote since the Memory was made or its outputs were poisoned; what the caller puts there is
/// not seen, so outputs that hold something are `both`. A launch without the sanitizers counts as having written all
/// outputs. `scratch` is zeroed and may be read and written.
enum class BufferUse : std::uint8_t { input, output, both, scratch };

/// Bytes of a buffer next to one another.
struct ByteRange {
  std::int64_t first = 0, bytes = 0;
  bool operator==(const ByteRange&) const = default;
};

/// What a buffer holds from byte `first` on before a launch. It is asked for pieces that begin at a multiple of
/// lazy_piece_bytes, each once, one at a time, from the threads of launches.
using Contents = std::function<void(std::int64_t first, std::span<std::byte> to)>;
inline constexpr std::int64_t lazy_piece_bytes = 1 << 12;

/// Simulated device memory: buffers in one arena, each 256-byte aligned, apart by guard zones that no access may touch.
/// Addresses are the same on every machine and in every run.
class Memory {
 public:
  Memory();
  ~Memory();
  Memory(Memory&&) noexcept;
  Memory& operator=(Memory&&) noexcept;

  /// `element_bytes` is for messages: an index of findings counts elements. A program may access the buffer in smaller
  /// pieces and in larger ones; races are seen per element or per piece of the program's smallest access, whichever is
  /// smaller, and at most 4 bytes.
  /// Throws Error(failed) when the machine has not that much memory.
  int add(std::string name, std::int64_t bytes, int element_bytes, BufferUse use);
  /// The same, but a piece of the buffer is made when a launch first touches it, so that a launch of a few blocks takes
  /// memory and time of what these touch, however large the buffer is. It serves one launch: what that wrote is not
  /// remembered for the next. Empty `contents`: poison in outputs, zeros elsewhere.
  int add_lazily(std::string name, std::int64_t bytes, int element_bytes, BufferUse use, Contents contents = {});
  /// The pieces that launches have touched, ascending, neighbours joined; all of a buffer that was not added lazily.
  std::vector<ByteRange> touched(int buffer) const;
  /// For filling and reading. Contents of outputs start as a poison pattern. Valid until the Memory dies.
  std::span<std::byte> bytes(int buffer);
  std::span<const std::byte> bytes(int buffer) const;
  int buffers() const;
  /// The simulated address of its first byte.
  std::uint64_t address(int buffer) const;
  /// Forgets what was written: outputs are poison again. Inputs keep their contents.
  void poison_outputs();

  struct Body;
  Body& body() { return *body_; }
  const Body& body() const { return *body_; }

 private:
  std::unique_ptr<Body> body_;
};

/// A kernel argument: a buffer's address plus an offset, or plain bytes.
struct Argument {
  int buffer = -1;               ///< -1: `value`
  std::int64_t offset = 0;       ///< bytes from the buffer's first
  std::vector<std::byte> value;  ///< by value, exactly the parameter's size
};

using Extent3 = std::array<std::uint32_t, 3>;

/// What a variable of the module (`__device__`, `__constant__`) holds when the launch begins, instead of what the file
/// says; as many bytes as it has.
struct VariableContents {
  std::string name;  ///< as in PTX or in the source
  std::vector<std::byte> bytes;
};

struct Launch {
  Extent3 grid{1, 1, 1};
  Extent3 block{1, 1, 1};
  Extent3 cluster{1, 1, 1};         ///< all ones: as the entry says, or none
  std::int64_t dynamic_shared = 0;  ///< bytes per block
  bool cooperative = false;         ///< all blocks are resident together
  std::vector<Argument> arguments;
  std::vector<VariableContents> variables = {};
};

/// Numbers of the machine that programs can see or that bound a launch. They come from a device file.
struct MachineLimits {
  int sms = 0;            ///< 0: grids are not bounded and %nsmid reads 1
  int blocks_per_sm = 0;  ///< of this kernel; 0: not known
  /// What bounds them where `blocks_per_sm` is not known: blocks, threads and bytes of shared memory of an SM, and the
  /// bytes the system takes of each block's. Registers are left out, so the bound is from above. 0: no bound.
  int most_blocks_per_sm = 0, threads_per_sm = 0;
  std::int64_t shared_per_sm = 0, shared_reserved = 0;
  std::int64_t shared_per_block = 0;  ///< bytes; 0: not checked
  std::int64_t l2_bytes = 0;          ///< for the cache model of the counters; 0: no L2
};

struct SimulationOptions {
  std::uint64_t seed = 1;
  int threads = 1;                   ///< host threads for independent blocks
  bool sanitize = true;              ///< uninitialised reads and races; bounds and alignment are always checked
  bool count_cache = false;          ///< DRAM and L2 bytes by the cache model
  bool random_schedule = true;       ///< false: warps in order, each until it blocks
  std::vector<std::int64_t> blocks;  ///< run only these (linear ids, ascending); empty: all. Clusters run whole
  /// Instructions of one warp before the launch is stopped as too long.
  std::int64_t warp_instructions = std::int64_t{1} << 40;
  Seconds time_limit{std::numeric_limits<double>::infinity()};
  std::function<Seconds()> clock;  ///< time since the launch began, for tests; empty: the host's
  /// Bytes of buffers that are made lazily, with the sanitizers' records of those that may be written, before the
  /// launch is stopped as out of memory; 0: no limit.
  std::int64_t most_lazy_bytes = 0;
  int most_findings = 20;  ///< distinct ones that are kept
  MachineLimits machine;
  std::stop_token stop;
};

/// stopped: asked to, too long, or nothing can go on; out_of_memory: more than most_lazy_bytes; refused: the launch
/// does not fit the entry or the machine; unsupported: an instruction that cannot be simulated.
enum class SimulationOutcome : std::uint8_t { finished, stopped, out_of_memory, unsupported, refused };

struct Simulation {
  SimulationOutcome outcome = SimulationOutcome::finished;
  std::string reason;                   ///< when not finished: one sentence
  std::vector<Finding> findings;        ///< empty for a clean run; ordered by block and line
  Counters counters;                    ///< of the blocks that ran
  std::vector<BufferCounters> buffers;  ///< by buffer of Memory
  /// By buffer of Memory: bytes of an output that hold no value after the launch, in runs of whole granules; 0 where
  /// nobody watched (no sanitizers, or made lazily).
  std::vector<std::int64_t> unwritten;
  std::vector<SiteCounters> sites;  ///< instructions that touch memory, by PTX line
  std::string printed;              ///< by printf; of the blocks in order, at most the first 1 MiB
  bool printed_all = true;          ///< false: more was printed
  std::int64_t blocks_run = 0, blocks_total = 0;
  Seconds time{0};  ///< of the host
};

/// A decoded entry. Immutable and shared by launches on any thread.
class Program {
 public:
  /// Decodes an entry. When an instruction is not known the program is still made and says so in `unsupported()`.
  /// Throws Error(failed) with the PTX line for what no assembler accepts (operand counts and kinds).
  /// `instruction_set`: of the host, a name of lane_table_names(); empty for the fastest; Error(usage) for one that
  /// this machine does not have.
  Program(const PtxModule& module, const PtxFunction& entry, std::string_view instruction_set = {});
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  /// Empty, or "opcode (line N)" of the first instruction that cannot be simulated and why.
  const std::string& unsupported() const;
  std::int64_t static_shared() const;  ///< bytes per block
  /// Atomics, fences, volatile or ordered accesses to global memory: one block may wait for another, or add to what
  /// others wrote.
  bool blocks_may_talk() const;
  std::int64_t instructions() const;  ///< static, after inlining calls

  const DecodedProgram& decoded() const { return *decoded_; }

 private:
  std::unique_ptr<const DecodedProgram> decoded_;
};

/// Runs a launch on `memory`. Never throws for what the kernel does; see Simulation::outcome.
Simulation simulate(const Program& program, const Launch& launch, Memory& memory,
                    const SimulationOptions& options = {});

}  // namespace tailor::simulator
