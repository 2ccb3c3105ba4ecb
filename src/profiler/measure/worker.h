// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A GPU behind a process boundary. Compiled candidates may hang, trap, overwrite what is not theirs or take the whole
// process down; so the process that owns the GPU is a worker, started when first asked, killed when it exceeds its
// time, started again after it died or lost its context. Whoever asks gets an answer in any case. A restart forgets
// what was loaded: `generation` tells.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "base/units.h"
#include "profiler/gpu/request/request.h"

namespace tailor::profiler {

/// How to start a worker, and which GPU it opens.
struct WorkerSetup {
  std::vector<std::string> command;  ///< program and arguments of a process that calls serve(worker_socket)
  gpu::LibraryPaths paths;
  int ordinal = 0;
  gpu::Use use = gpu::Use::trace;  ///< what the process is for; each use needs a worker of its own
  Seconds start_limit{60};         ///< for starting and opening the GPU
  std::stop_token stop;
};

/// The descriptor on which a worker finds its socket.
inline constexpr int worker_socket = child_socket;

class Worker {
 public:
  explicit Worker(WorkerSetup setup);
  ~Worker();
  Worker(Worker&&) noexcept;
  Worker& operator=(Worker&&) noexcept;

  /// Asks the worker, which is started and told to open its GPU when there is none. Outcomes of its own: timed_out (it
  /// was killed), crashed (with the signal and the end of its error output), unavailable (it cannot be started, no
  /// GPU), stopped.
  gpu::Response call(const gpu::Request& request, std::span<const std::byte> blob, Seconds limit);

  /// The response to OpenRequest of the worker that runs, or of the last that did. Starts one when there was none.
  const gpu::Response& opened();
  /// Counts workers: what was loaded under another generation is gone.
  int generation() const;
  bool is_running() const;
  /// A number for a sequence that no other on this worker has.
  int new_number();

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

/// The worker's side: answers questions until the other end closes. 1 when `socket` is no socket, else 0.
int serve(int socket);

}  // namespace tailor::profiler
