// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Small words the models share: a part of an estimate, the greatest of some parts, the interval around the total, what
// a regime adds to a kernel's own time, and where a kernel stands in its program. Included by the files of the levels
// (sol, projected, counted, library). Everything here is a few lines over records of ir; a formula with an argument for
// it stands in its level's file.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "base/indexed.h"
#include "base/sparse.h"
#include "costmodel/calibration.h"
#include "costmodel/model.h"
#include "ir/estimate.h"
#include "ir/regime.h"

namespace tailor::costmodel {

inline Seconds& part(ir::Estimate& estimate, ir::Part which) { return row_for(estimate.parts, which); }
inline Seconds part(const ir::Estimate& estimate, ir::Part which) { return row_for(estimate.parts, which); }

inline ir::Part greatest(const ir::Estimate& estimate, std::initializer_list<ir::Part> among) {
  ir::Part best = *among.begin();
  for (const ir::Part one : among)
    if (part(estimate, one) > part(estimate, best)) best = one;
  return best;
}

/// Sets the total and its interval: a time t is claimed to lie in t * (1 - low) .. t * (1 + high).
inline void close(ir::Estimate& estimate, Seconds total, double low, double high) {
  estimate.total = total;
  estimate.low = total * (1 - low);
  estimate.high = total * (1 + high);
}

/// What lies between the end of one kernel and the start of the next, however they are timed.
inline Seconds gap_between(const CalibratedDevice& d, const ir::Regime& regime) {
  const bool in_graph = regime.timer == ir::Timer::graph || regime.launch == ir::LaunchMode::graph;
  return {in_graph ? std::min(d.graph_overhead, d.launch_overhead) : d.launch_overhead};
}

/// The same, where a time of this regime contains that.
inline Seconds launch_gap(const CalibratedDevice& d, const ir::Regime& regime) {
  return regime.includes.launch_gap ? gap_between(d, regime) : Seconds{0};
}

/// What a kernel of a program takes beside its body where it is launched behind another one: every time of the program
/// contains that, also one from the first kernel's start to the last one's end. Nobody has measured how much less it is
/// where it may begin early, so it is that of any two kernels.
inline Seconds follower_launch(const CalibratedDevice& d, const ir::Regime& regime) {
  return gap_between(d, regime) + Seconds{d.ramp};
}

/// What a time of this regime contains beside the body of the kernel. Around a call of a framework on an idle device
/// that is what the host takes before the kernel starts and after it ended: less than an empty call takes (the floor),
/// because the host goes on while a kernel runs.
inline Seconds launch_part(const CalibratedDevice& d, const ir::Regime& regime) {
  const Seconds launch = launch_gap(d, regime) + Seconds{regime.includes.ramp ? d.ramp : 0};
  return regime.includes.dispatch_floor ? std::max(launch, Seconds{d.dispatch_lead}) : launch;
}

/// No call of a framework returns sooner than the host can dispatch one.
inline Seconds with_floor(Seconds total, const CalibratedDevice& d, const ir::Regime& regime) {
  return regime.includes.dispatch_floor ? std::max(total, Seconds{d.dispatch_floor}) : total;
}

/// What L2 hands out at most: its own peak, or what the ports of all SMs take.
inline double l2_peak(const CalibratedDevice& d) { return std::min(d.l2_bandwidth, d.sms * d.sm_bandwidth * d.clock); }

/// Share of re-reads that miss a cache of `room` bytes when `between` bytes are touched before the next use.
inline double miss(double between, double room, const CalibratedDevice& device) {
  return 1 - 1 / (1 + std::pow(between / room, device.reuse_knee));
}

/// The same of what is read again from its end to its beginning: of the last element nothing was touched meanwhile, of
/// the first `between` bytes. The mean of miss() from 0 to `between`, by Simpson's rule; past eight times the room all
/// of it is the last value.
inline double miss_backward(double between, double room, const CalibratedDevice& device) {
  constexpr int steps = 16;
  constexpr double most_rooms = 8;
  const double end = std::min(between, most_rooms * room), last = miss(end, room, device);
  double sum = last;  // miss(0) is 0
  for (int i = 1; i < steps; ++i) sum += (i % 2 == 1 ? 4 : 2) * miss(end * i / steps, room, device);
  const double mean = sum / (3 * steps);
  return between > end ? (mean * end + last * (between - end)) / between : mean;
}

/// Shares of a kernel's bytes that L2 holds when it starts. Nothing where runs are cold; else
/// warm_share / (1 + (bytes / room)^reuse_knee), of what it writes only where the same launch ran before.
struct WarmShares {
  double read = 0, written = 0;
};
WarmShares warm_shares(double bytes, const CalibratedDevice& device, const ir::Regime& regime);

/// Of one buffer, what the last launch before that touched it left.
struct Left {
  double touched = 0;  ///< bytes; 0: none of them touched it
  double between = 0;  ///< bytes of all buffers that were touched since, on average over them
  bool operator==(const Left&) const = default;
};

/// Where a kernel stands in its program.
struct Place {
  bool follows = false;  ///< another one comes before it
  ir::Begins begins = ir::Begins::launch;
  double once = 0;       ///< bytes that the whole program moves at least
  GroupWork compulsory;  ///< of them those of this kernel
  Sparse<Left> left;     ///< of those that it touches
};
/// Of each kernel, in order.
std::vector<Place> places_in(const Work& program);

}  // namespace tailor::costmodel
