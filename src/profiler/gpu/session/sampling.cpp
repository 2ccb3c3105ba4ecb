// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How times are taken. Samples come in batches; everything of a batch is queued before anything is waited for, so the
// GPU never waits for the host between samples. One sample on the stream is
//
//   reset buffers, clock, cache state, [hold], [event], launches, [event], clock
//
// Reset puts back what the launches change, so every sample computes the same. The clock kernel reads the SM's cycle
// counter and the GPU's timer; two readings give the frequency that the sample ran at. The first reading comes before
// the cache state, so that even for a short kernel its distance to the second is many steps of the timer.
//
// Two timers. Activity: CUPTI's record of each kernel gives its start and end; a sample's time is from the first
// launch's start to the last one's end, and the launches between two clock kernels are told from those that prepared
// them by their order (cupti/timing.h). Events: two CUDA events around the launches, for machines where CUPTI cannot be
// had; they contain the dispatch of the launches. A sequence in which the driver copies or fills memory is timed by
// events only: no kernel's record says when that began and ended.
//
// Hold: the stream is made to wait until all of a sample is queued (driver/stream_blocker.h). Times by events are taken
// so, and so are sequences of several launches however timed: their gaps are then the GPU's and not the host's. When
// the stream went on before all was queued, the batch is thrown away and taken again without holding.
//
// The state of the GPU (clocks, temperature, what slows it) is asked of NVML ten times a second at most: a question may
// take longer than a sample. So what a sample says of throttling may be a tenth of a second old.
//
// Before the first batch: the sequence runs once in exactly the way it will be timed, because code, local memory and
// graphs are loaded at first use; a GPU that was idle is given work until its clock is near the highest or rises no
// more; then come the warm-up runs that were asked for.
#include "profiler/gpu/session/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "profiler/gpu/cupti/timing.h"
#include "profiler/gpu/session/kernels.h"
#include "profiler/gpu/session/queue.h"

namespace tailor::gpu {
namespace {

using ir::Outcome;
using ir::TimedBy;

/// Samples and launches of a batch: the records of activities and the readings of clocks stay small, and the stream's
/// queue is never full while it is held.
constexpr std::size_t most_samples = 32, most_launches = 2048, most_held = 512;

struct Taking {
  OpenedGpu& gpu;
  LoadedSequence& loaded;
  const TimeRequest& request;
  std::size_t batch = 1;  ///< samples of a full batch
  bool held = false;
  std::vector<std::string> names;  ///< of the launches
  Response response;
};

bool by_events(const Taking& taking) { return taking.request.timed_by == TimedBy::events; }

CudaStatus queue_sequence(Taking& taking) {
  if (taking.request.launch == ir::LaunchMode::stream) return queue_launches(taking.gpu, taking.loaded);
  return queue_replay(taking.gpu, taking.loaded, !by_events(taking));
}

CudaStatus queue_clock(Taking& taking, std::size_t index) {
  CUdeviceptr address = *taking.gpu.readings + static_cast<CUdeviceptr>(index * sizeof(ClockReading));
  std::array<void*, 1> parameters = {&address};
  return queue_own(taking.gpu, taking.gpu.own.clock, 1, 1, parameters);
}

CudaStatus record(Taking& taking, const std::vector<Event>& events, std::size_t slot) {
  if (!by_events(taking)) return {};
  return to_status(taking.gpu.driver, taking.gpu.driver.cuEventRecord(*events[slot], *taking.gpu.stream),
                   "cuEventRecord");
}

/// What is timed, queued while the stream is held.
CudaStatus queue_timed(Taking& taking, std::size_t slot) {
  if (CudaStatus status = record(taking, taking.gpu.before, slot); !status.ok()) return status;
  if (CudaStatus status = queue_sequence(taking); !status.ok()) return status;
  return record(taking, taking.gpu.after, slot);
}

/// `stuck` is set when the stream went on before all was queued.
CudaStatus queue_sample(Taking& taking, std::size_t slot, bool& stuck) {
  OpenedGpu& gpu = taking.gpu;
  if (CudaStatus status = queue_reset(gpu, taking.loaded); !status.ok()) return status;
  if (CudaStatus status = queue_clock(taking, 2 * slot); !status.ok()) return status;
  if (CudaStatus status = queue_cache_state(gpu, taking.loaded, taking.request.cache); !status.ok()) return status;
  if (!taking.held) {
    if (CudaStatus status = queue_timed(taking, slot); !status.ok()) return status;
  } else {
    if (CudaStatus status = gpu.blocker.begin(*gpu.stream); !status.ok()) return status;
    CudaStatus status = queue_timed(taking, slot);
    stuck |= !gpu.blocker.end();  // whatever came of it: nobody else lets the stream go
    if (!status.ok()) return status;
  }
  return queue_clock(taking, 2 * slot + 1);
}

/// Untimed runs.
CudaStatus warm_up(Taking& taking, int runs) {
  for (int i = 0; i < runs; ++i) {
    if (CudaStatus status = queue_reset(taking.gpu, taking.loaded); !status.ok()) return status;
    if (CudaStatus status = queue_sequence(taking); !status.ok()) return status;
    if (CudaStatus status = finish(taking.gpu, "cuStreamSynchronize after a run before timing"); !status.ok())
      return status;
    taking.loaded.ran = true;
  }
  return {};
}

CudaStatus read_clocks(Taking& taking, std::vector<ClockReading>& readings) {
  return to_status(
      taking.gpu.driver,
      taking.gpu.driver.cuMemcpyDtoH(readings.data(), *taking.gpu.readings, readings.size() * sizeof(ClockReading)),
      "cuMemcpyDtoH");
}

CudaStatus times_by_events(Taking& taking, std::size_t count, std::vector<SampleTime>& times) {
  constexpr double milli = 1e-3;
  for (std::size_t i = 0; i < count; ++i) {
    float milliseconds = 0;
    const CUresult result =
        taking.gpu.driver.cuEventElapsedTime(&milliseconds, *taking.gpu.before[i], *taking.gpu.after[i]);
    if (CudaStatus status = to_status(taking.gpu.driver, result, "cuEventElapsedTime"); !status.ok()) return status;
    times.push_back({{static_cast<double>(milliseconds) * milli}, {}});
  }
  return {};
}

CudaStatus times_by_activity(Taking& taking, std::size_t count, std::vector<SampleTime>& times) {
  const std::size_t prepared = own_launches(taking.loaded, taking.request.cache);
  const std::size_t marked = 2 + prepared + taking.names.size();
  std::vector<KernelSpan> spans;
  if (CudaStatus status = taking.gpu.trace.take(count * marked, spans); !status.ok()) return status;
  auto found = sample_times(std::move(spans), {clock_name, taking.names, prepared, &taking.gpu.entries}, count);
  if (std::string* reason = std::get_if<std::string>(&found))
    return {Outcome::unavailable, "CUPTI's records of kernels: " + *reason, false};
  times = std::move(std::get<std::vector<SampleTime>>(found));
  return {};
}

/// Adds a batch's samples to the answer.
void keep(Taking& taking, const std::vector<SampleTime>& times, const std::vector<ClockReading>& readings,
          std::uint32_t throttle) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    taking.response.samples.push_back({times[i].whole, clock_between(readings, 2 * i, 2 * i + 1), throttle});
    if (taking.request.per_launch && !times[i].launches.empty()) taking.response.launches.push_back(times[i].launches);
  }
}

const GpuState& current_state(OpenedGpu& gpu) {
  constexpr Seconds fresh{0.1};
  const Seconds now = gpu.clock();
  if (!gpu.state_at || now - *gpu.state_at >= fresh) {
    gpu.state = read_state(gpu.nvml);
    gpu.state_at = now;
  }
  return gpu.state;
}

CudaStatus take_batch(Taking& taking, std::size_t count) {
  const std::uint32_t throttle = current_state(taking.gpu).throttle;
  const bool warm = taking.request.cache == ir::CacheState::warm;
  if (CudaStatus status = warm_up(taking, warm ? 1 : 0); !status.ok()) return status;
  if (!by_events(taking)) {
    if (CudaStatus status = taking.gpu.trace.clear(); !status.ok()) return status;
  }
  bool stuck = false;
  for (std::size_t slot = 0; slot < count; ++slot) {
    if (CudaStatus status = queue_sample(taking, slot, stuck); !status.ok()) return status;
  }
  if (CudaStatus status = finish(taking.gpu, "cuStreamSynchronize after the timed launches"); !status.ok())
    return status;
  std::vector<ClockReading> readings(2 * count);
  if (CudaStatus status = read_clocks(taking, readings); !status.ok()) return status;
  std::vector<SampleTime> times;
  if (CudaStatus status =
          by_events(taking) ? times_by_events(taking, count, times) : times_by_activity(taking, count, times);
      !status.ok())
    return status;
  if (!stuck) keep(taking, times, readings, throttle | current_state(taking.gpu).throttle);
  taking.held = taking.held && !stuck;
  return {};
}

/// Records kernels, or stops that: it takes time at every launch.
CudaStatus choose_trace(OpenedGpu& gpu, TimedBy timed_by) {
  if (timed_by == TimedBy::events) {
    gpu.trace.end();
    return {};
  }
  if (gpu.use != Use::trace || !gpu.cupti) return {Outcome::unavailable, gpu.trace_reason, false};
  return gpu.trace.begin(*gpu.cupti);
}

/// A GPU that was idle runs slowly at first: gives it work until its clock is near the highest, or rises no more.
CudaStatus wake(OpenedGpu& gpu) {
  constexpr Seconds still_awake{0.2};
  if (gpu.worked_at && gpu.clock() - *gpu.worked_at < still_awake) return {};
  constexpr double near_highest = 0.8, rises = 1.02;
  constexpr int most_rounds = 20, least_rounds = 4, fills = 200;  // about 10 ms each
  double before = 0;
  for (int round = 0; round < most_rounds; ++round) {
    const double now = read_sm_clock(gpu.nvml);
    const bool enough = now <= 0 || now >= near_highest * gpu.properties.sm_clock_max || read_throttle(gpu.nvml) != 0;
    if (enough || (round > least_rounds && now < rises * before)) break;
    before = now;
    for (int i = 0; i < fills; ++i)
      if (CudaStatus status = queue_flush(gpu); !status.ok()) return status;
    if (CudaStatus status = finish(gpu, "cuStreamSynchronize after waking the GPU"); !status.ok()) return status;
  }
  return {};
}

/// Events and memory for the samples of a batch; kept for the next question.
CudaStatus make_room(Taking& taking) {
  OpenedGpu& gpu = taking.gpu;
  while (by_events(taking) && gpu.after.size() < most_samples) {
    Event before, after;
    if (CudaStatus status = create(gpu.driver, before); !status.ok()) return status;
    if (CudaStatus status = create(gpu.driver, after); !status.ok()) return status;
    gpu.before.push_back(std::move(before));
    gpu.after.push_back(std::move(after));
  }
  if (gpu.readings) return {};
  return allocate(gpu.driver, static_cast<std::int64_t>(2 * most_samples * sizeof(ClockReading)), gpu.readings);
}

/// The first time that a sequence is timed in some way, one sample for nothing, not held: what its parts need for the
/// first time (code, local memory, a graph, memory to overwrite L2 with) may want the whole GPU to be idle.
CudaStatus prime(Taking& taking) {
  const TimeRequest& request = taking.request;
  LoadedSequence& loaded = taking.loaded;
  const bool graph = request.launch == ir::LaunchMode::graph, traced = !by_events(taking);
  const unsigned way = static_cast<unsigned>(request.cache) * 4 + (graph ? 2 : 0) + (traced ? 1 : 0);
  const bool recapture = graph && (!loaded.replay || loaded.replay_traced != traced);
  if ((loaded.primed >> way & 1) != 0 && !recapture) return {};
  bool stuck = false;
  if (CudaStatus status = queue_sample(taking, 0, stuck); !status.ok()) return status;
  if (CudaStatus status = finish(taking.gpu, "cuStreamSynchronize after a run before timing"); !status.ok())
    return status;
  loaded.ran = true;
  loaded.primed |= 1U << way;
  return {};
}

CudaStatus prepare(Taking& taking) {
  OpenedGpu& gpu = taking.gpu;
  if (!by_events(taking) && transfers(taking.loaded.sequence) > 0)
    return {Outcome::unavailable,
            "the sequence copies or fills memory, of which no kernel is recorded: its times are by events", false};
  if (CudaStatus status = choose_trace(gpu, taking.request.timed_by); !status.ok()) return status;
  for (const Launch& launch : taking.loaded.sequence.launches) taking.names.push_back(launch.entry);
  const std::size_t launches = std::max<std::size_t>(taking.loaded.launches.size(), 1);
  const bool graph = taking.request.launch == ir::LaunchMode::graph;
  taking.batch = std::clamp<std::size_t>(most_launches / launches, 1, most_samples);
  const bool wanted = by_events(taking) || (launches > 1 && !graph);
  const bool hold = wanted && gpu.blocker.works() && (graph || launches <= most_held);
  if (CudaStatus status = make_room(taking); !status.ok()) return status;
  if (CudaStatus status = prime(taking); !status.ok()) return status;
  taking.held = hold;
  if (CudaStatus status = wake(gpu); !status.ok()) return status;
  return warm_up(taking, taking.request.warmup);
}

}  // namespace

Response take_times(OpenedGpu& gpu, LoadedSequence& loaded, const TimeRequest& request) {
  Taking taking{gpu, loaded, request, 1, false, {}, {}};
  if (CudaStatus status = prepare(taking); !status.ok()) return to_response(status);
  taking.response.state = current_state(gpu);
  const auto wanted = static_cast<std::size_t>(std::max(request.samples, 0));
  while (taking.response.samples.size() < wanted) {
    const std::size_t count = std::min(taking.batch, wanted - taking.response.samples.size());
    if (CudaStatus status = take_batch(taking, count); !status.ok()) return to_response(status);
  }
  gpu.worked_at = gpu.clock();
  if (by_events(taking) && !taking.held)
    taking.response.capabilities.push_back(
        {"held stream", "limited",
         gpu.blocker.works() ? "too many launches to hold the stream for" : gpu.blocker.reason(),
         "times by events contain what the host took between launches"});
  return std::move(taking.response);
}

}  // namespace tailor::gpu
