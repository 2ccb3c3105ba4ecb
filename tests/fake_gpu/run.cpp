// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Work on the fake GPU: kernels by the simulator, on the memory itself; fills and copies at once. In: an item of a
// stream's queue. Out: memory changed, time passed, records and counters. What the simulator finds becomes the error
// that hardware would give, and what never ends hangs its stream. A launch that was run on the very memory that it
// finds and left it as it was is not run again: it would do the same, and measuring launches a kernel hundreds of
// times.
#include <algorithm>
#include <cstring>
#include <optional>

#include "fake_gpu/call.h"
#include "fake_gpu/module.h"

namespace tailor::fake {
namespace {

/// What a finding looks like from the host; CUDA_SUCCESS: hardware does not notice.
CUresult error_of(simulator::FindingKind kind) {
  switch (kind) {
    case simulator::FindingKind::out_of_bounds:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case simulator::FindingKind::misaligned:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case simulator::FindingKind::trap:
    case simulator::FindingKind::bad_cluster_rank:
      return CUDA_ERROR_LAUNCH_FAILED;
    default:
      return CUDA_SUCCESS;
  }
}

bool never_ends(const simulator::Simulation& ran) {
  const auto endless = [](const simulator::Finding& one) {
    return one.kind == simulator::FindingKind::deadlock || one.kind == simulator::FindingKind::too_long;
  };
  return ran.outcome == simulator::SimulationOutcome::stopped ||
         std::any_of(ran.findings.begin(), ran.findings.end(), endless);
}

/// Whether a failed assertion, which the simulator sees as a trap, ends the kernel.
bool asserts(const Function& function) {
  return std::any_of(function.module->functions.begin(), function.module->functions.end(),
                     [](const simulator::PtxFunction& one) { return one.name == "__assertfail"; });
}

CUresult error_of(const simulator::Simulation& ran, const Function& function) {
  for (const simulator::Finding& one : ran.findings) {
    const CUresult error = error_of(one.kind);
    if (one.kind == simulator::FindingKind::trap && asserts(function)) return CUDA_ERROR_ASSERT;
    if (error != CUDA_SUCCESS) return error;
  }
  return ran.outcome == simulator::SimulationOutcome::finished ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}

struct Submission {
  std::uint32_t graph = 0;
  std::uint64_t node = 0;
  double gap = 0;
  std::int64_t asked_at = 0;
  std::uint32_t correlation = 0;
};

std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1e9 + 0.5); }

std::int64_t begin(const Stream& stream, const Submission& submission) {
  return std::max(stream.ready, submission.asked_at) + nanoseconds(submission.gap);
}

/// Takes the stream's next stretch of time; returns its begin.
std::int64_t take(Stream& stream, const Submission& submission, double seconds) {
  const std::int64_t start = begin(stream, submission);
  stream.ready = start + nanoseconds(seconds);
  return start;
}

/// Memory that the arguments point to.
std::vector<Segment> given_to(State& gpu, const KernelWork& kernel, std::vector<std::size_t>& parameters) {
  std::vector<std::uint64_t> pointers;
  for (std::size_t k = 0; k < kernel.launch.arguments.size(); ++k) {
    std::uint64_t address = 0;
    const std::vector<std::byte>& value = kernel.launch.arguments[k].value;
    if (value.size() == sizeof address) std::memcpy(&address, value.data(), sizeof address);
    if (gpu.memory.holding(address) < 0) continue;
    pointers.push_back(address);
    parameters.push_back(k);
    gpu.timing.cache().mark(address);
  }
  std::vector<Segment> given;
  for (const std::uint64_t address : pointers) {
    const int allocation = gpu.memory.holding(address);
    const std::uint64_t end = gpu.memory.address(allocation) + static_cast<std::uint64_t>(gpu.memory.bytes(allocation));
    given.push_back(gpu.timing.cache().segment(address, end));
  }
  return given;
}

/// Whether the only memory that a kernel was given of an allocation was stored to, though its contents stayed.
bool writes_back(const simulator::Simulation& ran, const std::vector<Segment>& given, State& gpu, std::size_t k) {
  const int allocation = gpu.memory.holding(given[k].begin);
  const auto others = std::count_if(given.begin(), given.end(),
                                    [&](const Segment& one) { return gpu.memory.holding(one.begin) == allocation; });
  const auto place = static_cast<std::size_t>(allocation);
  return others == 1 && place < ran.buffers.size() && ran.buffers[place].store.requests != 0;
}

std::vector<std::byte> contents(State& gpu, const Segment& segment) {
  const std::span<std::byte> now = gpu.memory.range(segment.begin, static_cast<std::size_t>(segment.bytes));
  return {now.begin(), now.end()};
}

/// What a launch of a kernel without stores depends on, where all memory that it was given is filled with one byte.
/// Nothing when something else could matter.
std::optional<StorelessLaunch> storeless(State& gpu, const KernelWork& kernel, const std::vector<Segment>& given) {
  const Function& function = *kernel.function;
  if (!function.storeless || function.reads_clock) return {};
  StorelessLaunch made{kernel.launch.grid, kernel.launch.block, {}, {}};
  for (const simulator::Argument& one : kernel.launch.arguments) made.arguments.push_back(one.value);
  for (const Segment& one : given) {
    made.filled_with.push_back(gpu.memory.uniform(gpu.memory.holding(one.begin)));
    if (made.filled_with.back() < 0) return {};
  }
  return made;
}

/// Of a large grid that leaves no trace the first blocks are run, and the rest counted as they were.
void run_some_blocks(simulator::SimulationOptions& options, const simulator::Extent3& grid) {
  constexpr std::int64_t enough = 8;
  if (std::int64_t{grid[0]} * grid[1] * grid[2] > 2 * enough)
    for (std::int64_t block = 0; block < enough; ++block) options.blocks.push_back(block);
}

void count_all_blocks(simulator::Simulation& ran) {
  if (ran.blocks_run == 0 || ran.blocks_run == ran.blocks_total) return;
  for (const simulator::CounterRow& row : simulator::counter_table())
    ran.counters.*row.value = ran.counters.*row.value * ran.blocks_total / ran.blocks_run;
}

/// Whether it is the function's last launch once more, on the memory that this one left.
bool is_repeated(State& gpu, const KernelWork& kernel) {
  const std::optional<RepeatedLaunch>& last = kernel.function->repeated;
  const simulator::Launch& launch = kernel.launch;
  if (!last || last->grid != launch.grid || last->block != launch.block || last->cluster != launch.cluster ||
      last->dynamic_shared != launch.dynamic_shared || last->cooperative != launch.cooperative ||
      !std::equal(last->arguments.begin(), last->arguments.end(), launch.arguments.begin(), launch.arguments.end(),
                  [](const std::vector<std::byte>& a, const simulator::Argument& b) { return a == b.value; }))
    return false;
  return std::all_of(last->memory.begin(), last->memory.end(), [&](const auto& held) {
    const std::span<const std::byte> now = gpu.memory.simulated().bytes(held.first);
    if (gpu.memory.holding(gpu.memory.address(held.first)) != held.first) return false;  // freed since
    return std::equal(now.begin(), now.end(), held.second.begin(), held.second.end());
  });
}

/// Remembers a launch that another one could repeat: nothing was found, and all that it touched is memory of no great
/// size. `repeated`: it began with what the one before it had left.
void remember(State& gpu, const KernelWork& kernel, const simulator::Simulation& ran, bool repeated) {
  constexpr std::int64_t most_bytes = std::int64_t{16} << 20;
  Function& function = *kernel.function;
  if (repeated && is_repeated(gpu, kernel)) {
    function.repeated->settled = true;
    function.last_ran = ran;
    function.last_launch.reset();
    return;
  }
  function.repeated.reset();
  const bool plain = ran.outcome == simulator::SimulationOutcome::finished && ran.findings.empty() &&
                     ran.printed.empty() && !function.reads_clock && kernel.launch.variables.empty();
  if (!plain) return;
  const simulator::Launch& launch = kernel.launch;
  RepeatedLaunch made{launch.grid, launch.block, launch.cluster, launch.dynamic_shared, launch.cooperative, {}, {}};
  for (const simulator::Argument& one : launch.arguments) made.arguments.push_back(one.value);
  std::int64_t bytes = 0;
  for (std::size_t b = 0; b < ran.buffers.size(); ++b) {
    const simulator::BufferCounters& touched = ran.buffers[b];
    if (touched.load.requests + touched.store.requests + touched.atomic.requests == 0) continue;
    const std::span<const std::byte> now = gpu.memory.simulated().bytes(static_cast<int>(b));
    bytes += static_cast<std::int64_t>(now.size());
    if (bytes > most_bytes) return;
    made.memory.emplace_back(static_cast<int>(b), std::vector<std::byte>(now.begin(), now.end()));
  }
  function.repeated = std::move(made);
}

/// Tells of what the kernel was given whether it writes it, and that what it stored to holds no byte all over.
void note_stores(State& gpu, const Function& function, const simulator::Simulation& ran, std::vector<Segment>& given,
                 const std::vector<std::size_t>& parameters) {
  for (std::size_t k = 0; k < given.size(); ++k) {
    given[k].written = function.writes[parameters[k]];
    if (given[k].written) gpu.memory.uniform(gpu.memory.holding(given[k].begin), -1);
  }
  for (std::size_t b = 0; b < ran.buffers.size(); ++b)
    if (ran.buffers[b].store.requests + ran.buffers[b].atomic.requests != 0)
      gpu.memory.uniform(static_cast<int>(b), -1);
}

/// Runs the kernel; `given` is told what it writes, which is seen at the function's first launch and kept.
simulator::Simulation simulate(State& gpu, const KernelWork& kernel, std::int64_t start, std::vector<Segment>& given) {
  Function& function = *kernel.function;
  simulator::SimulationOptions options;
  options.sanitize = false;
  options.count_cache = true;
  options.warp_instructions = gpu.config.warp_instructions;
  options.machine.sms = gpu.config.chip.sms;
  options.machine.l2_bytes = gpu.config.chip.l2_bytes;
  std::vector<std::size_t> parameters;
  given = given_to(gpu, kernel, parameters);
  const std::optional<StorelessLaunch> alike = storeless(gpu, kernel, given);
  if (alike && alike == function.last_launch) return function.last_ran;
  const bool repeated = !alike && is_repeated(gpu, kernel);
  if (repeated && function.repeated->settled) {
    note_stores(gpu, function, function.last_ran, given, parameters);
    return function.last_ran;
  }
  if (alike) run_some_blocks(options, kernel.launch.grid);
  std::vector<std::vector<std::byte>> before;
  const bool known = !function.writes.empty() || alike.has_value();
  for (std::size_t k = 0; !known && k < given.size(); ++k) before.push_back(contents(gpu, given[k]));
  simulator::Memory& memory = gpu.memory.simulated();
  simulator::Simulation ran;
  if (function.reads_clock) {
    const std::int64_t tick = gpu.config.chip.tick;
    const TimedProgram timed = program_at(function, gpu.timing.cycles(start), epoch + start / tick * tick);
    ran = simulator::simulate(*timed.program, kernel.launch, memory, options);
  } else {
    ran = simulator::simulate(*function.program, kernel.launch, memory, options);
  }
  count_all_blocks(ran);
  if (function.writes.empty()) function.writes.assign(kernel.launch.arguments.size() + 1, false);
  for (std::size_t k = 0; !known && k < given.size(); ++k)
    function.writes[parameters[k]] = contents(gpu, given[k]) != before[k] || writes_back(ran, given, gpu, k);
  note_stores(gpu, function, ran, given, parameters);
  if (alike) function.repeated.reset();
  if (alike && !never_ends(ran)) function.last_launch = alike, function.last_ran = ran;
  if (!alike) remember(gpu, kernel, ran, repeated);
  return ran;
}

void record(State& gpu, const Stream& stream, const KernelWork& kernel, const Submission& submission,
            std::int64_t start) {
  const Function& function = *kernel.function;
  KernelRecord record;
  record.name = function.entry->name;
  record.start = start;
  record.end = stream.ready;
  record.registers = function.registers;
  record.grid = kernel.launch.grid;
  record.block = kernel.launch.block;
  record.cluster = kernel.launch.cluster;
  record.static_shared = static_shared(function);
  record.dynamic_shared = kernel.launch.dynamic_shared;
  record.stream = stream.id;
  record.correlation = submission.correlation;
  record.graph = submission.graph;
  record.graph_node = submission.node;
  gpu.activity.add(std::move(record));
}

void run_kernel(State& gpu, Stream& stream, const KernelWork& kernel, Submission submission) {
  const Function& function = *kernel.function;
  if (kernel.early) submission.gap = 0;
  std::vector<Segment> given;
  const simulator::Simulation ran = simulate(gpu, kernel, begin(stream, submission), given);
  if (never_ends(ran)) {
    stream.hung = true;
    return;
  }
  gpu.pending = error_of(ran, function);
  if (gpu.pending != CUDA_SUCCESS) return;
  Work work;
  work.threads_per_block = std::int64_t{kernel.launch.block[0]} * kernel.launch.block[1] * kernel.launch.block[2];
  gpu.timing.profiled = gpu.range.started();
  gpu.timing.settle(work, ran, given, function.entry->name);
  const std::int64_t start = take(stream, submission, work.seconds);
  gpu.range.count(work);
  record(gpu, stream, kernel, submission, start);
}

void fill_memory(State& gpu, const FillWork& fill, std::span<std::byte> room) {
  const int allocation = gpu.memory.holding(fill.to);
  const bool even = fill.width == 1 || fill.value == (fill.value & 0xffu) * 0x01010101u;
  const int byte = static_cast<int>(fill.value & 0xffu);
  const bool whole = static_cast<std::int64_t>(room.size()) == gpu.memory.bytes(allocation);
  if (even && whole && gpu.memory.uniform(allocation) == byte) return;
  gpu.memory.uniform(allocation, even && whole ? byte : -1);
  constexpr std::size_t large = std::size_t{1} << 20;  // fresh pages are zeros, and cost nothing until they are read
  if (even && whole && byte == 0 && room.size() >= large)
    gpu.memory.clear(allocation);
  else if (even)
    std::memset(room.data(), byte, room.size());
  else
    for (std::size_t k = 0; k < fill.count; ++k) std::memcpy(room.data() + 4 * k, &fill.value, 4);
}

void run_fill(State& gpu, Stream& stream, const FillWork& fill, const Submission& submission) {
  const std::size_t bytes = fill.count * static_cast<std::size_t>(fill.width);
  const std::span<std::byte> room = gpu.memory.range(fill.to, bytes);
  if (room.data() == nullptr) {  // freed since, or its graph outlived it
    gpu.pending = CUDA_ERROR_ILLEGAL_ADDRESS;
    return;
  }
  fill_memory(gpu, fill, room);
  take(stream, submission,
       gpu.config.chip.kernel_floor + gpu.timing.moved(fill.to, static_cast<std::int64_t>(bytes), true));
}

void run_copy(State& gpu, Stream& stream, const CopyWork& copy, const Submission& submission) {
  const std::span<std::byte> to = gpu.memory.range(copy.to, copy.bytes), from = gpu.memory.range(copy.from, copy.bytes);
  if (to.data() == nullptr || from.data() == nullptr) {
    gpu.pending = CUDA_ERROR_ILLEGAL_ADDRESS;
    return;
  }
  std::memmove(to.data(), from.data(), copy.bytes);
  gpu.memory.uniform(gpu.memory.holding(copy.to), -1);
  const auto bytes = static_cast<std::int64_t>(copy.bytes);
  take(stream, submission,
       gpu.config.chip.kernel_floor + gpu.timing.moved(copy.from, bytes, false) +
           gpu.timing.moved(copy.to, bytes, true));
}

void run_one(State& gpu, Stream& stream, const AnyWork& work, const Submission& submission) {
  if (const auto* kernel = std::get_if<KernelWork>(&work)) run_kernel(gpu, stream, *kernel, submission);
  if (const auto* fill = std::get_if<FillWork>(&work)) run_fill(gpu, stream, *fill, submission);
  if (const auto* copy = std::get_if<CopyWork>(&work)) run_copy(gpu, stream, *copy, submission);
}

}  // namespace

void run(State& gpu, Stream& stream, const AnyWork& work, std::int64_t asked_at) {
  Submission submission;
  const double recording = gpu.activity.records_kernels() ? gpu.config.chip.record_time : 0;
  submission.gap = gpu.config.chip.stream_gap + recording;
  submission.asked_at = asked_at;
  submission.correlation = ++gpu.ids;
  if (const auto* record = std::get_if<RecordWork>(&work)) {
    stream.ready = std::max(stream.ready, asked_at);
    record->event->time = stream.ready;
    record->event->reached = record->number;
    return;
  }
  const auto* graph = std::get_if<GraphWork>(&work);
  if (graph == nullptr) return run_one(gpu, stream, work, submission);
  submission.graph = graph->graph->id;
  for (const AnyWork& node : graph->graph->nodes) {
    if (gpu.pending != CUDA_SUCCESS || stream.hung) return;
    ++submission.node;
    run_one(gpu, stream, node, submission);
    submission.gap = gpu.config.chip.graph_gap + recording;
  }
}

}  // namespace tailor::fake
