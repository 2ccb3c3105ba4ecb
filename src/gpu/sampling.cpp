// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A sample on the stream: reset buffers, clock, cache state, [hold], [event], launches, [event], clock. The first clock
// comes before the cache state, so that even for a short kernel its distance to the second is many steps of the timer.
// Times by events hold the stream until all is queued, and so do sequences of several launches however timed: their
// gaps are the GPU's and not the host's.
#include "gpu/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gpu/kernels.h"
#include "gpu/timing.h"

namespace tailor::gpu {
namespace {

using ir::Outcome;
using ir::TimedBy;

/// Samples and launches of a batch: the records of activities and the readings of clocks stay small, and the stream's
/// queue is never full while it is held.
constexpr std::size_t most_samples = 32, most_launches = 2048, most_held = 512;

struct Taking {
  Opened& gpu;
  LoadedSequence& loaded;
  const AskTime& ask;
  std::size_t batch = 1;  ///< samples of a full batch
  bool held = false;
  std::vector<std::string> names;  ///< of the launches
  Answer answer;
};

bool by_events(const Taking& taking) { return taking.ask.timed_by == TimedBy::events; }

Trouble queue_sequence(Taking& taking) {
  if (taking.ask.launch == ir::LaunchMode::stream) return queue_launches(taking.gpu, taking.loaded);
  return queue_replay(taking.gpu, taking.loaded, !by_events(taking));
}

Trouble queue_clock(Taking& taking, std::size_t index) {
  CUdeviceptr address = *taking.gpu.readings + static_cast<CUdeviceptr>(index * sizeof(ClockReading));
  std::array<void*, 1> parameters = {&address};
  return queue_own(taking.gpu, taking.gpu.own.clock, 1, 1, parameters);
}

Trouble record(Taking& taking, const std::vector<Event>& events, std::size_t slot) {
  if (!by_events(taking)) return {};
  return told(taking.gpu.driver, taking.gpu.driver.cuEventRecord(*events[slot], *taking.gpu.stream), "cuEventRecord");
}

/// What is timed, queued while the stream is held.
Trouble queue_timed(Taking& taking, std::size_t slot) {
  if (Trouble trouble = record(taking, taking.gpu.before, slot)) return trouble;
  if (Trouble trouble = queue_sequence(taking)) return trouble;
  return record(taking, taking.gpu.after, slot);
}

/// `stuck` is set when the stream went on before all was queued.
Trouble queue_sample(Taking& taking, std::size_t slot, bool& stuck) {
  Opened& gpu = taking.gpu;
  if (Trouble trouble = queue_reset(gpu, taking.loaded)) return trouble;
  if (Trouble trouble = queue_clock(taking, 2 * slot)) return trouble;
  if (Trouble trouble = queue_cache_state(gpu, taking.loaded, taking.ask.cache)) return trouble;
  if (!taking.held) {
    if (Trouble trouble = queue_timed(taking, slot)) return trouble;
  } else {
    if (Trouble trouble = gpu.hold.begin(*gpu.stream)) return trouble;
    Trouble trouble = queue_timed(taking, slot);
    stuck |= !gpu.hold.end();  // whatever came of it: nobody else lets the stream go
    if (trouble) return trouble;
  }
  return queue_clock(taking, 2 * slot + 1);
}

/// Untimed runs.
Trouble warm_up(Taking& taking, int runs) {
  for (int i = 0; i < runs; ++i) {
    if (Trouble trouble = queue_reset(taking.gpu, taking.loaded)) return trouble;
    if (Trouble trouble = queue_sequence(taking)) return trouble;
    if (Trouble trouble = finish(taking.gpu, "cuStreamSynchronize after a run before timing")) return trouble;
    taking.loaded.ran = true;
  }
  return {};
}

Trouble read_clocks(Taking& taking, std::vector<ClockReading>& readings) {
  return told(
      taking.gpu.driver,
      taking.gpu.driver.cuMemcpyDtoH(readings.data(), *taking.gpu.readings, readings.size() * sizeof(ClockReading)),
      "cuMemcpyDtoH");
}

Trouble times_by_events(Taking& taking, std::size_t count, std::vector<SampleTime>& times) {
  constexpr double milli = 1e-3;
  for (std::size_t i = 0; i < count; ++i) {
    float milliseconds = 0;
    const CUresult result =
        taking.gpu.driver.cuEventElapsedTime(&milliseconds, *taking.gpu.before[i], *taking.gpu.after[i]);
    if (Trouble trouble = told(taking.gpu.driver, result, "cuEventElapsedTime")) return trouble;
    times.push_back({{static_cast<double>(milliseconds) * milli}, {}});
  }
  return {};
}

Trouble times_by_activity(Taking& taking, std::size_t count, std::vector<SampleTime>& times) {
  const std::size_t marked = 2 + own_launches(taking.loaded, taking.ask.cache) + taking.names.size();
  std::vector<KernelSpan> spans;
  if (Trouble trouble = taking.gpu.trace.take(count * marked, spans)) return trouble;
  auto found = times_of(std::move(spans), clock_name, taking.names, count);
  if (std::string* why = std::get_if<std::string>(&found))
    return {Outcome::unavailable, "CUPTI's records of kernels: " + *why, false};
  times = std::move(std::get<std::vector<SampleTime>>(found));
  return {};
}

/// Adds a batch's samples to the answer.
void keep(Taking& taking, const std::vector<SampleTime>& times, const std::vector<ClockReading>& readings,
          std::uint32_t throttle) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    taking.answer.samples.push_back({times[i].whole, clock_between(readings, 2 * i, 2 * i + 1), throttle});
    if (taking.ask.per_launch && !times[i].launches.empty()) taking.answer.launches.push_back(times[i].launches);
  }
}

Trouble take_batch(Taking& taking, std::size_t count) {
  const std::uint32_t throttle = throttle_of(taking.gpu.nvml);
  const bool warm = taking.ask.cache == ir::CacheState::warm;
  if (Trouble trouble = warm_up(taking, warm ? 1 : 0)) return trouble;
  if (!by_events(taking)) {
    if (Trouble trouble = taking.gpu.trace.clear()) return trouble;
  }
  bool stuck = false;
  for (std::size_t slot = 0; slot < count; ++slot) {
    if (Trouble trouble = queue_sample(taking, slot, stuck)) return trouble;
  }
  if (Trouble trouble = finish(taking.gpu, "cuStreamSynchronize after the timed launches")) return trouble;
  std::vector<ClockReading> readings(2 * count);
  if (Trouble trouble = read_clocks(taking, readings)) return trouble;
  std::vector<SampleTime> times;
  if (Trouble trouble =
          by_events(taking) ? times_by_events(taking, count, times) : times_by_activity(taking, count, times))
    return trouble;
  if (!stuck) keep(taking, times, readings, throttle | throttle_of(taking.gpu.nvml));
  taking.held = taking.held && !stuck;
  return {};
}

/// Records kernels, or stops that: it takes time at every launch.
Trouble choose_trace(Opened& gpu, TimedBy timed_by) {
  if (timed_by == TimedBy::events) {
    gpu.trace.end();
    return {};
  }
  if (!gpu.cupti) return {Outcome::unavailable, gpu.cupti_why, false};
  return gpu.trace.begin(*gpu.cupti);
}

/// A GPU that was idle runs slowly at first: gives it work until its clock is near the highest, or rises no more.
Trouble wake(Opened& gpu) {
  constexpr std::chrono::milliseconds still_awake{200};
  if (std::chrono::steady_clock::now() - gpu.worked_at < still_awake) return {};
  constexpr double near_highest = 0.8, rises = 1.02;
  constexpr int most_rounds = 20, least_rounds = 4, fills = 200;  // about 10 ms each
  double before = 0;
  for (int round = 0; round < most_rounds; ++round) {
    const double now = sm_clock_of(gpu.nvml);
    const bool enough = now <= 0 || now >= near_highest * gpu.facts.sm_clock_max || throttle_of(gpu.nvml) != 0;
    if (enough || (round > least_rounds && now < rises * before)) break;
    before = now;
    for (int i = 0; i < fills; ++i)
      if (Trouble trouble = queue_flush(gpu)) return trouble;
    if (Trouble trouble = finish(gpu, "cuStreamSynchronize after waking the GPU")) return trouble;
  }
  return {};
}

/// Events and memory for the samples of a batch; kept for the next question.
Trouble make_room(Taking& taking) {
  Opened& gpu = taking.gpu;
  while (by_events(taking) && gpu.after.size() < most_samples) {
    Event before, after;
    if (Trouble trouble = create(gpu.driver, before)) return trouble;
    if (Trouble trouble = create(gpu.driver, after)) return trouble;
    gpu.before.push_back(std::move(before));
    gpu.after.push_back(std::move(after));
  }
  if (gpu.readings) return {};
  return allocate(gpu.driver, static_cast<std::int64_t>(2 * most_samples * sizeof(ClockReading)), gpu.readings);
}

/// The first time that a sequence is timed in some way, one sample for nothing, not held: what its parts need for the
/// first time (code, local memory, a graph, memory to overwrite L2 with) may want the whole GPU to be idle.
Trouble prime(Taking& taking) {
  const AskTime& ask = taking.ask;
  LoadedSequence& loaded = taking.loaded;
  const bool graph = ask.launch == ir::LaunchMode::graph, traced = !by_events(taking);
  const unsigned way = static_cast<unsigned>(ask.cache) * 4 + (graph ? 2 : 0) + (traced ? 1 : 0);
  const bool recapture = graph && (!loaded.replay || loaded.replay_traced != traced);
  if ((loaded.primed >> way & 1) != 0 && !recapture) return {};
  bool stuck = false;
  if (Trouble trouble = queue_sample(taking, 0, stuck)) return trouble;
  if (Trouble trouble = finish(taking.gpu, "cuStreamSynchronize after a run before timing")) return trouble;
  loaded.ran = true;
  loaded.primed |= 1U << way;
  return {};
}

Trouble prepare(Taking& taking) {
  Opened& gpu = taking.gpu;
  if (Trouble trouble = choose_trace(gpu, taking.ask.timed_by)) return trouble;
  for (const Launch& launch : taking.loaded.sequence.launches) taking.names.push_back(launch.entry);
  const std::size_t launches = std::max<std::size_t>(taking.loaded.launches.size(), 1);
  const bool graph = taking.ask.launch == ir::LaunchMode::graph;
  taking.batch = std::clamp<std::size_t>(most_launches / launches, 1, most_samples);
  const bool wanted = by_events(taking) || (launches > 1 && !graph);
  const bool hold = wanted && gpu.hold.works() && (graph || launches <= most_held);
  if (Trouble trouble = make_room(taking)) return trouble;
  if (Trouble trouble = prime(taking)) return trouble;
  taking.held = hold;
  if (Trouble trouble = wake(gpu)) return trouble;
  return warm_up(taking, taking.ask.warmup);
}

}  // namespace

Answer take_times(Opened& gpu, LoadedSequence& loaded, const AskTime& ask) {
  Taking taking{gpu, loaded, ask, 1, false, {}, {}};
  if (Trouble trouble = prepare(taking)) return answer_of(trouble);
  taking.answer.state = state_of(gpu.nvml);
  const auto wanted = static_cast<std::size_t>(std::max(ask.samples, 0));
  while (taking.answer.samples.size() < wanted) {
    const std::size_t count = std::min(taking.batch, wanted - taking.answer.samples.size());
    if (Trouble trouble = take_batch(taking, count)) return answer_of(trouble);
  }
  gpu.worked_at = std::chrono::steady_clock::now();
  if (by_events(taking) && !taking.held)
    taking.answer.layers.push_back({"held stream", "limited",
                                    gpu.hold.works() ? "too many launches to hold the stream for" : gpu.hold.why(),
                                    "times by events contain what the host took between launches"});
  return std::move(taking.answer);
}

}  // namespace tailor::gpu
