// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which recorded kernel belongs to which sample, and what clock the SM ran at. In: CUPTI's records of kernels with
// their names and timestamps; readings of cycles and nanoseconds. Out: a time for each sample and launch, or in words
// what does not fit. Called by sampling on a GPU; plain arithmetic, so it is tested without one.
//
// Kernels of one stream run one after the other, so sorting by start gives back the order in which they were queued.
// Each sample lies between two marker kernels; what stands before its launches there are kernels of ours that prepare
// caches, so its launches are the last ones before the second marker. Names and numbers must agree with what was
// queued; where a name is that of an earlier kernel with the same handle, the number of records decides. Anything that
// does not fit is said, and then no sample of the batch is believed.
//
// The clock is cycles over nanoseconds between two readings on the same SM. The global timer of some GPUs steps by a
// microsecond, so readings that are close together are widened to their neighbours until the step matters little.
#include "profiler/gpu/cupti/timing.h"

#include <fmt/format.h>

#include <algorithm>

namespace tailor::gpu {
namespace {

/// The global timer of some GPUs steps by a microsecond: over this span an edge is off by 2 %.
constexpr std::uint64_t wanted_span_ns = 50000, least_span_ns = 5000;

Seconds seconds(std::uint64_t nanoseconds) { return {static_cast<double>(nanoseconds) * 1e-9}; }

/// Whether a name may be that of a kernel which had the same handle before.
bool may_be_old(std::string_view name, std::size_t recorded, const QueuedSample& queued) {
  return queued.loaded != nullptr && queued.loaded->contains(name) &&
         recorded == queued.prepared + queued.launches.size();
}

/// The last launches among the kernels between two markers; what is wrong with them, or "".
std::string sample_of(std::span<const KernelSpan> between, const QueuedSample& queued, SampleTime& time) {
  const std::span<const std::string> launches = queued.launches;
  if (between.size() < launches.size())
    return fmt::format("{} launches were queued and {} were recorded", launches.size(), between.size());
  const std::span<const KernelSpan> timed = between.last(launches.size());
  for (std::size_t i = 0; i < timed.size(); ++i) {
    const KernelSpan& span = timed[i];
    if (!span.name.empty() && span.name != launches[i] && !may_be_old(span.name, between.size(), queued))
      return fmt::format("kernel {} was recorded where {} was queued", span.name, launches[i]);
    if (span.start == 0 || span.end < span.start) return fmt::format("kernel {} was recorded without times", span.name);
    time.launches.push_back(seconds(span.end - span.start));
  }
  if (!timed.empty()) time.whole = seconds(timed.back().end - timed.front().start);
  return {};
}

}  // namespace

std::variant<std::vector<SampleTime>, std::string> sample_times(std::vector<KernelSpan> spans,
                                                                const QueuedSample& queued, std::size_t samples) {
  std::stable_sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  std::vector<std::size_t> markers;
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (spans[i].name == queued.marker) markers.push_back(i);
  if (markers.size() != 2 * samples)
    return fmt::format("of {} kernels that mark samples {} were recorded", 2 * samples, markers.size());
  std::vector<SampleTime> times(samples);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const std::size_t first = markers[2 * sample] + 1, last = markers[2 * sample + 1];
    const auto between = std::span<const KernelSpan>(spans).subspan(first, last - first);
    if (std::string reason = sample_of(between, queued, times[sample]); !reason.empty()) return reason;
  }
  return times;
}

double clock_between(std::span<const ClockReading> readings, std::size_t first, std::size_t last) {
  const auto span_of = [&] {
    const std::uint64_t from = readings[first].nanoseconds, to = readings[last].nanoseconds;
    return to > from ? to - from : 0;
  };
  while (span_of() < wanted_span_ns && (first > 0 || last + 1 < readings.size())) {
    if (first > 0) --first;
    if (last + 1 < readings.size()) ++last;
  }
  const ClockReading &from = readings[first], &to = readings[last];
  if (span_of() < least_span_ns || from.sm != to.sm || to.cycles <= from.cycles) return 0;
  return static_cast<double>(to.cycles - from.cycles) / static_cast<double>(span_of()) * 1e9;
}

}  // namespace tailor::gpu
