// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Collecting counters of a sequence of launches with CUPTI's Range Profiler. In: metrics, and two callbacks: one that
// puts buffers and caches back, one that launches. Out: a value per metric. Called by session/collect.cpp. There is one
// range over the whole sequence, and the sequence is replayed once for each pass, because only the caller can put
// buffers and caches back. Only what `launch` does lies in the range, so what `prepare` moves to reset buffers and
// overwrite caches is not counted. Never time anything here. All that was begun is ended on every path; nothing throws.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "profiler/gpu/cupti/cupti_api.h"
#include "profiler/gpu/request/request.h"

namespace tailor::gpu {

/// What to count. The callbacks answer with outcome ok, or with what went wrong, which ends the collection and is
/// passed on. Both must have synchronised when they return.
struct CountTask {
  CUcontext context = nullptr;  ///< current in this thread
  CUdevice device = 0;
  std::string chip;                   ///< as CUPTI calls it: "GH100"; what passes are planned for
  std::vector<std::string> metrics;   ///< CUPTI's names with their roll-ups
  std::function<Response()> prepare;  ///< before every pass: buffers and caches as they should be found
  std::function<Response()> launch;   ///< the sequence, once
};

/// CUPTI made ready to count, once for a process: loading its tables of a chip and planning a set of metrics takes it
/// longer than counting most kernels.
class CountSession {
 public:
  /// `api` must outlive it.
  explicit CountSession(const Cupti& api);
  ~CountSession();
  CountSession(const CountSession&) = delete;
  CountSession& operator=(const CountSession&) = delete;

  /// Values parallel to the metrics (not finite for a ratio of nothing), and the passes it took. When CUPTI cannot:
  /// outcome unavailable, the reason, and a capability with the remedy; everything is begun anew the next time. Chip,
  /// metrics and context that are those of the last task are planned already.
  Response count(const CountTask& task);
  /// Lets the GPU's counters go; what was planned stays.
  void rest();

 private:
  struct Planned;
  const Cupti& api_;
  std::unique_ptr<Planned> planned_;
};

/// One task with a session of its own.
Response counted(const Cupti& api, const CountTask& task);

/// Whether counters can be read here, as a capability named "counters"; asks for what only a permitted user is given,
/// but counts nothing. Without a context only device and configuration are looked at.
Capability counter_capability(const Cupti& api, CUdevice device, CUcontext context);

}  // namespace tailor::gpu
