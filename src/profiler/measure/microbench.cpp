// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The microbenchmarks as sequences. In: a device and sizes. Out: a sequence for each question, and how its median time
// becomes the answer. Each maker says how the kernel is launched and how much work a run is; whether what comes out is
// right is judged in microbench_check.cpp.
#include "profiler/measure/microbench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "profiler/measure/microbench_check.h"
#include "profiler/measure/microbench_texts.h"

namespace tailor::profiler {

namespace {

constexpr std::int64_t vector_bytes = 16;
constexpr std::int64_t block_threads = 256;
constexpr std::int64_t most_threads = 512;  ///< of a block of the bytes-in-flight curve

enum Family {
  copying,
  reading,
  writing,
  launching,
  waiting,
  exchanging,
  in_flight,
  shared_adding,
  global_adding,
  rereading,
  chasing,
  dispatching,
  special_functions,
  shuffling,
  converting,
  block_waiting,
  recorded_launching,
  pairing,
  running_code,
  starting_code
};

constexpr std::string_view bytes_word = "bytes";

const std::array families = {
    BenchFamily{"copy", "device memory to device memory; bytes read plus written", bytes_word, "B/s", BenchAnswer::rate,
                0, "copy", bench_texts::copy, false, bench_checks::copied},
    BenchFamily{"read", "device memory read once, from DRAM", bytes_word, "B/s", BenchAnswer::rate, 0, "read",
                bench_texts::read, false, bench_checks::read},
    BenchFamily{"write", "device memory written once", bytes_word, "B/s", BenchAnswer::rate, 0, "write",
                bench_texts::write, false, bench_checks::written},
    BenchFamily{"launch", "a launch of an empty kernel, alone or in a row", "launches", "s", BenchAnswer::time, 0,
                "empty", bench_texts::empty, true, bench_checks::nothing},
    BenchFamily{"grid barrier", "a barrier of all blocks of a cooperative grid, by one atomic counter", "blocks", "s",
                BenchAnswer::time, 70, "barrier", bench_texts::barrier, false, bench_checks::met},
    BenchFamily{"cluster exchange", "a word to the next block's shared memory and a barrier of the cluster",
                "blocks of a cluster", "s", BenchAnswer::time, 90, "exchange", bench_texts::exchange, false,
                bench_checks::exchanged},
    BenchFamily{"bytes in flight", "read bandwidth by the bytes an SM has asked for and not yet received",
                "bytes of an SM", "B/s", BenchAnswer::rate, 0, "read", bench_texts::read, false, bench_checks::read},
    BenchFamily{"shared atomics", "32-bit additions to shared memory by all threads of all SMs",
                "words between neighbours", "1/s", BenchAnswer::rate, 0, "shared_atomics", bench_texts::shared_atomics,
                false, bench_checks::added_in_shared},
    BenchFamily{"global atomics", "32-bit additions to global memory by all threads of all SMs",
                "words between neighbours", "1/s", BenchAnswer::rate, 70, "global_atomics", bench_texts::global_atomics,
                false, bench_checks::added_in_global},
    BenchFamily{"L2 read", "an array that stays in L2, read again and again past L1", bytes_word, "B/s",
                BenchAnswer::rate, 0, "read_again", bench_texts::read_again, false, bench_checks::read_again},
    BenchFamily{"latency", "a load whose address the last one brought, by one thread, past L1", bytes_word, "s",
                BenchAnswer::time, 0, "chase", bench_texts::chase, false, bench_checks::chased},
    BenchFamily{"dispatch", "blocks that do nothing", "blocks", "1/s", BenchAnswer::rate, 0, "dispatch",
                bench_texts::dispatch, false, bench_checks::nothing},
    BenchFamily{"special functions", "ex2 and lg2 by all threads of all SMs", "rounds", "1/s", BenchAnswer::rate, 0,
                "special", bench_texts::special, false, bench_checks::kept},
    BenchFamily{"shuffles", "exchanges with the neighbour lane, and an addition, by all threads of all SMs", "rounds",
                "1/s", BenchAnswer::rate, 0, "shuffle", bench_texts::shuffle, false, bench_checks::shuffled},
    BenchFamily{"conversions", "from integer to float and back by all threads of all SMs", "rounds", "1/s",
                BenchAnswer::rate, 0, "convert", bench_texts::convert, false, bench_checks::kept},
    BenchFamily{"block barrier", "a barrier of a block, alone on its SM", "threads", "s", BenchAnswer::time, 0,
                "block_barrier", bench_texts::block_barrier, false, bench_checks::counted},
    BenchFamily{"recorded launch", "the same where CUPTI records kernels: what that costs at every launch", "launches",
                "s", BenchAnswer::time, 0, "empty", bench_texts::empty, false, bench_checks::nothing},
    BenchFamily{"pipes", "instructions by all threads of all SMs, one kind alone or two in turns: what shares a pipe",
                "rounds", "1/s", BenchAnswer::rate, 0, "pipes", bench_texts::pipes, false, bench_checks::kept},
    BenchFamily{"code", "instructions by all warps of all SMs, by the bytes of the loop that they are in",
                "bytes of code", "1/s", BenchAnswer::rate, 0, "code", bench_texts::code, false, bench_checks::kept},
    BenchFamily{"cold code", "a warp on each SM, once through code that no cache has; an instruction is 16 bytes",
                "bytes of code", "s", BenchAnswer::time, 0, "code", bench_texts::code, false, bench_checks::kept},
};

struct BenchInstruction {
  std::string_view name;
  int compute_capability = 0;  ///< the lowest that has it
};

/// In the order of `step` in bench_texts::pipes, which counts from 1.
constexpr std::array instructions = {
    BenchInstruction{"fma f32", 0},    BenchInstruction{"funnel shift", 0},  BenchInstruction{"tanh", 75},
    BenchInstruction{"f16 to f32", 0}, BenchInstruction{"f32 to f16x2", 80}, BenchInstruction{"s32 to f32", 0},
    BenchInstruction{"f32 to s32", 0}, BenchInstruction{"fma f16x2", 70},    BenchInstruction{"multiply-add s32", 0},
};

std::string size_text(std::int64_t bytes) {
  if (bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  return bytes % 1024 == 0 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

gpu::Argument word(std::int64_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  gpu::Argument argument;
  argument.value.resize(sizeof number);
  std::memcpy(argument.value.data(), &number, sizeof number);
  return argument;
}
gpu::Argument address(int buffer) { return {buffer, 0, {}}; }

std::uint32_t extent(std::int64_t n) { return static_cast<std::uint32_t>(n); }

/// One kernel, one launch, all buffers its first arguments.
Microbench bench(Family family, std::string name, std::int64_t size, BenchShape shape, std::int64_t blocks,
                 std::vector<gpu::Buffer> buffers, double work) {
  Microbench made;
  made.family = &families[family];
  made.name = fmt::format("{}, {}", made.family->name, name);
  made.size = size;
  made.shape = shape;
  made.work = work;
  made.sequence.images.push_back({std::string(made.family->entry), {}});
  made.sequence.buffers = std::move(buffers);
  gpu::Launch launch;
  launch.entry = made.family->entry;
  launch.grid[0] = extent(blocks);
  launch.block[0] = extent(shape.threads);
  for (std::size_t i = 0; i < made.sequence.buffers.size(); ++i)
    launch.arguments.push_back(address(static_cast<int>(i)));
  made.sequence.launches.push_back(std::move(launch));
  return made;
}

/// Where microbenchmarks are collected, for whom, how large.
struct Maker {
  const ir::Device& device;
  ir::Limits limits;
  const BenchSizes& sizes;
  std::vector<Microbench> made;

  void copies();
  void reads();
  void writes();
  void launches();
  void barriers();
  void exchanges();
  void bytes_in_flight();
  void atomics();
  void residents();
  void chases();
  void dispatches();
  /// Four chains of so many instructions a round in each thread that stays resident.
  void on_all_sms(Family family, std::string name, BenchShape shape, int of_round);
  void operations();
  void pipes();
  void codes();
  void block_barriers();
  void fill_on_gpu(std::initializer_list<std::pair<int, gpu::Pattern>> buffers);
  std::int64_t largest() const { return static_cast<std::int64_t>(device.dram_bytes.value / 4); }
};

/// Of the one that was made last.
void Maker::fill_on_gpu(std::initializer_list<std::pair<int, gpu::Pattern>> buffers) {
  for (const auto& [buffer, pattern] : buffers)
    made.back().sequence.buffers[static_cast<std::size_t>(buffer)].pattern = pattern;
}

void Maker::copies() {
  std::vector<std::int64_t> all = sizes.bytes;
  all.insert(all.end(), sizes.large.begin(), sizes.large.end());
  for (const std::int64_t bytes : all)
    for (const std::int64_t loads : {2, 4, 8}) {
      const bool large = std::find(sizes.large.begin(), sizes.large.end(), bytes) != sizes.large.end();
      if (bytes > largest() || (large && (loads != 4 || bytes != sizes.large.front()))) continue;
      const std::int64_t vectors = bytes / vector_bytes, of_block = block_threads * loads;
      made.push_back(bench(copying, fmt::format("{}, {} vectors a thread, cold", size_text(bytes), loads), bytes,
                           {.threads = block_threads, .loads = loads}, (vectors + of_block - 1) / of_block,
                           {{"from", bytes, gpu::BufferRole::input}, {"to", bytes, gpu::BufferRole::output}},
                           2 * static_cast<double>(bytes)));
      made.back().sequence.launches[0].arguments.push_back(word(vectors));
      if (large) fill_on_gpu({{0, gpu::Pattern::mixed}, {1, gpu::Pattern::mixed}});
    }
}

void Maker::reads() {
  const std::int64_t of_sm = limits.threads_per_sm / block_threads;
  std::vector<std::int64_t> all = sizes.bytes;
  all.insert(all.end(), sizes.large.begin(), sizes.large.end());
  for (const std::int64_t bytes : all) {
    if (bytes > largest()) continue;
    const std::int64_t blocks = limits.sms * of_sm;
    made.push_back(bench(reading, fmt::format("{}, cold", size_text(bytes)), bytes,
                         {.threads = block_threads, .loads = 4}, blocks,
                         {{"from", bytes, gpu::BufferRole::input}, {"to", blocks * 4, gpu::BufferRole::output}},
                         static_cast<double>(bytes)));
    made.back().sequence.launches[0].arguments.push_back(word(bytes / vector_bytes));
    if (std::find(sizes.large.begin(), sizes.large.end(), bytes) != sizes.large.end())
      fill_on_gpu({{0, gpu::Pattern::mixed}});
  }
}

void Maker::writes() {
  std::vector<std::int64_t> all = sizes.bytes;
  if (!sizes.large.empty()) all.push_back(sizes.large.front());
  for (const std::int64_t bytes : all) {
    if (bytes > largest()) continue;
    const std::int64_t vectors = bytes / vector_bytes, of_block = block_threads * 4;
    made.push_back(bench(writing, fmt::format("{}, cold", size_text(bytes)), bytes,
                         {.threads = block_threads, .loads = 4}, (vectors + of_block - 1) / of_block,
                         {{"to", bytes, gpu::BufferRole::output}}, static_cast<double>(bytes)));
    made.back().sequence.launches[0].arguments.push_back(word(vectors));
    if (std::find(sizes.large.begin(), sizes.large.end(), bytes) != sizes.large.end())
      fill_on_gpu({{0, gpu::Pattern::counted}});
  }
}

void Maker::residents() {
  const std::int64_t blocks = std::int64_t{limits.sms} * (limits.threads_per_sm / block_threads);
  for (const std::int64_t bytes : sizes.resident) {
    if (static_cast<double>(bytes) > 0.7 * device.l2_bytes.value) continue;
    made.push_back(bench(rereading, fmt::format("{}, {} passes", size_text(bytes), sizes.passes), bytes,
                         {.threads = block_threads, .loads = 4, .rounds = sizes.passes}, blocks,
                         {{"from", bytes, gpu::BufferRole::input}, {"to", blocks * 4, gpu::BufferRole::output}},
                         static_cast<double>(bytes * sizes.passes)));
    made.back().sequence.launches[0].arguments.push_back(word(bytes / vector_bytes));
    made.back().cache = ir::CacheState::warm;
  }
}

void Maker::chases() {
  for (const bool from_dram : {true, false}) {
    const std::int64_t bytes = from_dram ? sizes.far : sizes.near;
    if (bytes > largest() || (!from_dram && 2 * static_cast<double>(bytes) > device.l2_bytes.value)) continue;
    made.push_back(bench(chasing, from_dram ? "DRAM" : "L2", bytes, {.threads = 32, .rounds = sizes.rounds}, 1,
                         {{"from", bytes, gpu::BufferRole::input}, {"to", 4, gpu::BufferRole::output}}, sizes.rounds));
    made.back().sequence.launches[0].arguments.push_back(word(bytes / 4 - 1));
    made.back().cache = from_dram ? ir::CacheState::cold : ir::CacheState::warm;
  }
}

// A wave is as many blocks of 256 threads as stay resident.
void Maker::dispatches() {
  const std::int64_t wave = std::int64_t{limits.sms} * (limits.threads_per_sm / block_threads);
  for (const std::int64_t waves : {1, 4, 16, 64}) {
    made.push_back(bench(dispatching, fmt::format("{} wave{}", waves, waves == 1 ? "" : "s"), waves * wave,
                         {.threads = block_threads}, waves * wave, {}, static_cast<double>(waves * wave)));
    made.back().cache = ir::CacheState::warm;
  }
}

void Maker::on_all_sms(Family family, std::string name, BenchShape shape, int of_round) {
  constexpr std::int64_t chains = 4;
  const std::int64_t blocks = std::int64_t{limits.sms} * (limits.threads_per_sm / block_threads);
  const std::int64_t threads = blocks * block_threads;
  shape.threads = block_threads;
  shape.rounds = sizes.rounds;
  made.push_back(bench(family, std::move(name), sizes.rounds, shape, blocks,
                       {{"to", threads * 4, gpu::BufferRole::output}},
                       static_cast<double>(threads * chains * sizes.rounds * of_round)));
  made.back().cache = ir::CacheState::warm;
}

void Maker::operations() {
  for (const auto& [family, of_round] : {std::pair{special_functions, 2}, {shuffling, 1}, {converting, 2}})
    on_all_sms(family, "all SMs", {}, of_round);
}

// Alone, and beside those whose pipe it may share.
void Maker::pipes() {
  enum { none, fma, shift, tanh, widen, pack, from_integer, to_integer, half, integer };
  constexpr std::array<std::pair<int, int>, 20> asked = {
      {{fma, none},          {shift, none},         {tanh, none},         {widen, none},      {pack, none},
       {from_integer, none}, {to_integer, none},    {half, none},         {integer, none},    {widen, fma},
       {widen, shift},       {widen, half},         {widen, pack},        {pack, fma},        {pack, shift},
       {pack, tanh},         {from_integer, shift}, {from_integer, tanh}, {to_integer, tanh}, {fma, shift}}};
  for (const auto& [one, other] : asked) {
    const BenchInstruction& first = instructions[static_cast<std::size_t>(one - 1)];
    const BenchInstruction& second = instructions[static_cast<std::size_t>(std::max(other, 1) - 1)];
    if (std::max(first.compute_capability, second.compute_capability) > limits.compute_capability) continue;
    const std::string name =
        other == none ? std::string(first.name) : fmt::format("{} and {}", first.name, second.name);
    on_all_sms(pairing, name, {.instruction = one, .beside = other}, other == none ? 1 : 2);
  }
}

// About as many instructions in all whatever the size, in passes of which the first is not what counts.
void Maker::codes() {
  constexpr std::int64_t instruction_bytes = 16;  // of every architecture since sm_70
  const std::int64_t of_sm = limits.threads_per_sm / block_threads;
  for (const std::int64_t bytes : sizes.code)
    for (const std::int64_t blocks_of_sm : {std::int64_t{1}, of_sm}) {
      const std::int64_t steps = bytes / instruction_bytes, blocks = limits.sms * blocks_of_sm;
      const std::int64_t rounds = (64 * sizes.rounds + steps - 1) / steps, threads = blocks * block_threads;
      made.push_back(
          bench(running_code,
                fmt::format("{}, {} block{} an SM", size_text(bytes), blocks_of_sm, blocks_of_sm == 1 ? "" : "s"),
                bytes, {.threads = block_threads, .rounds = rounds, .steps = steps}, blocks,
                {{"to", threads * 4, gpu::BufferRole::output}}, static_cast<double>(threads * steps * rounds)));
      made.back().cache = ir::CacheState::warm;
    }
  for (const std::int64_t bytes : sizes.code)
    made.push_back(bench(starting_code, fmt::format("{}, once, cold", size_text(bytes)), bytes,
                         {.threads = 32, .rounds = 1, .steps = bytes / instruction_bytes}, limits.sms,
                         {{"to", std::int64_t{limits.sms} * 32 * 4, gpu::BufferRole::output}}, 1));
}

void Maker::block_barriers() {
  for (const std::int64_t threads : {64, 256, 1024}) {
    made.push_back(bench(block_waiting, fmt::format("{} threads", threads), threads,
                         {.threads = threads, .rounds = sizes.rounds}, limits.sms,
                         {{"to", std::int64_t{limits.sms} * 4, gpu::BufferRole::output}}, sizes.rounds));
    made.back().cache = ir::CacheState::warm;
  }
}

void Maker::launches() {
  for (const ir::LaunchMode mode : {ir::LaunchMode::stream, ir::LaunchMode::graph})
    for (const Family family : {launching, recorded_launching})
      for (const int count : sizes.launches) {
        made.push_back(
            bench(family, fmt::format("{} in a {}", count, ir::name(mode)), count, {.threads = 32}, 1, {}, count));
        gpu::Sequence& sequence = made.back().sequence;
        sequence.launches.resize(static_cast<std::size_t>(count), sequence.launches[0]);
        made.back().launch = mode;
        made.back().cache = ir::CacheState::warm;
      }
}

void Maker::barriers() {
  for (const int of_sm : {1, 2, 4}) {
    const std::int64_t blocks = std::int64_t{limits.sms} * of_sm;
    made.push_back(bench(waiting, fmt::format("{} blocks", blocks), blocks,
                         {.threads = block_threads, .rounds = sizes.rounds}, blocks,
                         {{"counter", 4, gpu::BufferRole::workspace},
                          {"words", 2 * blocks * 4, gpu::BufferRole::workspace},
                          {"to", blocks * 4, gpu::BufferRole::output}},
                         sizes.rounds));
    made.back().sequence.launches[0].cooperative = true;
    made.back().cache = ir::CacheState::warm;
  }
}

void Maker::exchanges() {
  for (const int blocks : {2, 4, 8, 16}) {
    // A few are enough for a latency; with_clusters() leaves as many of them as run at once.
    constexpr std::int64_t few = 4;
    const std::int64_t grid = std::min<std::int64_t>(limits.sms / blocks, few) * blocks;
    if (grid == 0) continue;
    made.push_back(bench(exchanging, fmt::format("clusters of {}", blocks), blocks,
                         {.threads = block_threads, .rounds = sizes.rounds}, grid,
                         {{"to", grid * 4, gpu::BufferRole::output}}, sizes.rounds));
    made.back().sequence.launches[0].cluster[0] = extent(blocks);
    made.back().cache = ir::CacheState::warm;
  }
}

// All blocks are resident at once and an idle GPU deals them out evenly, so every SM has the same share. Shared memory
// that would keep further blocks off is not asked for: it is taken from L1, through which the bytes in flight pass.
void Maker::bytes_in_flight() {
  const auto l2 = static_cast<std::int64_t>(device.l2_bytes.value);
  const std::int64_t bytes = std::min(sizes.streamed > 0 ? sizes.streamed : 4 * l2, largest());
  for (const std::int64_t kib : {4, 8, 12, 16, 24, 32, 40, 48, 64, 96})
    for (const std::int64_t loads : {1, 4, 8}) {
      const std::int64_t of_sm = kib * 1024 / (vector_bytes * loads);  // threads
      const std::int64_t blocks_of_sm = (of_sm + most_threads - 1) / most_threads;
      const std::int64_t threads = of_sm / blocks_of_sm;
      if (of_sm > limits.threads_per_sm || threads % 32 != 0 || blocks_of_sm * threads != of_sm) continue;
      const std::int64_t blocks = limits.sms * blocks_of_sm;
      made.push_back(bench(in_flight, fmt::format("{} KiB, {} vectors a thread", kib, loads), kib * 1024,
                           {.threads = threads, .loads = loads}, blocks,
                           {{"from", bytes, gpu::BufferRole::input}, {"to", blocks * 4, gpu::BufferRole::output}},
                           static_cast<double>(bytes)));
      made.back().sequence.launches[0].arguments.push_back(word(bytes / vector_bytes));
    }
}

void Maker::atomics() {
  const std::int64_t blocks = std::int64_t{limits.sms} * (limits.threads_per_sm / block_threads);
  const std::int64_t threads = blocks * block_threads;
  const std::int64_t rounds = std::max(sizes.rounds / 4, 1), of_cells = std::max(sizes.rounds / 64, 1);
  for (const std::int64_t spread : {0, 1})
    made.push_back(bench(shared_adding, spread == 0 ? "one cell of each block" : "a cell for each thread", spread,
                         {.threads = block_threads, .rounds = rounds, .spread = spread}, blocks,
                         {{"to", threads * 4, gpu::BufferRole::output}}, static_cast<double>(threads * rounds)));
  for (const std::int64_t spread : {0, 1, 8})
    made.push_back(bench(global_adding,
                         spread == 0   ? "one cell"
                         : spread == 1 ? "a cell for each thread"
                                       : "a sector for each thread",
                         spread, {.threads = block_threads, .rounds = of_cells, .spread = spread}, blocks,
                         {{"cells", std::max<std::int64_t>(threads * spread, 1) * 4, gpu::BufferRole::workspace}},
                         static_cast<double>(threads * of_cells)));
  for (std::size_t i = made.size() - 5; i < made.size(); ++i) made[i].cache = ir::CacheState::warm;
}

}  // namespace

std::span<const BenchFamily> bench_families() { return families; }

std::vector<Microbench> microbenchmarks(const ir::Device& device, const BenchSizes& sizes) {
  Maker maker{device, ir::limits(device), sizes, {}};
  maker.copies();
  maker.launches();
  maker.reads();
  maker.barriers();
  maker.writes();
  maker.residents();
  maker.chases();
  maker.dispatches();
  maker.operations();
  maker.pipes();
  maker.codes();
  maker.block_barriers();
  maker.exchanges();
  maker.bytes_in_flight();
  maker.atomics();
  std::erase_if(maker.made, [&](const Microbench& one) {
    return one.family->compute_capability > maker.limits.compute_capability;
  });
  return std::move(maker.made);
}

CompileRequest compile_request(const Microbench& bench, std::string_view arch) {
  std::string constants;
  const auto define = [&](std::string_view word, std::int64_t value) {
    if (bench.family->text.find(word) != std::string_view::npos)
      constants += fmt::format("constexpr unsigned {} = {};\n", word, value);
  };
  define("threads", bench.shape.threads);
  define("loads", bench.shape.loads);
  define("rounds", bench.shape.rounds);
  define("spread", bench.shape.spread);
  define("instruction", bench.shape.instruction);
  define("beside", bench.shape.beside);
  define("steps", bench.shape.steps);
  CompileRequest request;
  request.cuda = fmt::format("// {}\n{}{}", bench.family->meaning, constants, bench.family->text);
  request.entry = bench.family->entry;
  request.arch = arch;
  return request;
}

std::optional<Microbench> with_clusters(const Microbench& bench, int at_once) {
  const gpu::Launch& wanted = bench.sequence.launches.front();
  const std::uint32_t of_cluster = wanted.cluster[0], most = static_cast<std::uint32_t>(at_once < 0 ? 1 : at_once);
  if (of_cluster == 1 || wanted.grid[0] <= most * of_cluster) return bench;
  if (most == 0) return {};
  Microbench fitting = bench;
  fitting.sequence.launches.front().grid[0] = most * of_cluster;
  fitting.sequence.buffers.front().bytes = std::int64_t{4} * most * of_cluster;
  return fitting;
}

gpu::Sequence with_code(const Microbench& bench, std::span<const std::byte> code) {
  gpu::Sequence sequence = bench.sequence;
  sequence.images[0].code.assign(code.begin(), code.end());
  return sequence;
}

}  // namespace tailor::profiler
