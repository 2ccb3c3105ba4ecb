// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker's life. In: requests with their bytes and a time limit. Out: a response in any case, and the reason when it
// is not the worker's own. Called by all that measures; worker.h says why there is a process.
//
// Asking. A request goes as text over the socket and its bytes as memory that both processes map. No response within
// the limit means that the worker hangs: it is killed, and the outcome is "timed out". A closed socket means that it
// died: how it ended is asked of the system. A response that cannot be read counts as a death too. After a response
// that says that the context was lost the worker is killed, because no later answer of it could be trusted.
//
// The next request starts another worker and opens the GPU again. What was loaded is gone then; generation() tells it
// to whoever loaded it. Leaving, the socket is closed, which a worker understands; one that stays is killed.
#include "profiler/measure/worker.h"

#include <fmt/format.h>

#include <utility>

#include "base/child_process.h"
#include "base/text.h"
#include "profiler/gpu/request/request_text.h"

namespace tailor::profiler {

namespace {

gpu::Response make_response(ir::Outcome outcome, std::string reason) {
  gpu::Response response;
  response.outcome = outcome;
  response.reason = std::move(reason);
  return response;
}

}  // namespace

struct Worker::Body {
  WorkerSetup setup;
  ChildProcess process;
  gpu::Response opened;
  int generation = 0;
  int numbers = 0;  ///< that were given out

  /// Empty, or why no process could be started.
  std::string start() {
    std::string reason = process.start(setup.command);
    generation += reason.empty();
    return reason;
  }

  /// One question to the process that runs.
  gpu::Response exchange(const gpu::Request& request, std::span<const std::byte> blob, Seconds limit) {
    const std::optional<SharedBytes> bytes = SharedBytes::holding(gpu::blob_pieces(request, blob));
    if (!bytes)
      return make_response(ir::Outcome::unavailable, "this machine has no memory left for the buffers' contents");
    Message message;
    ReceiveResult heard = ReceiveResult::ended;
    if (send_message(process.socket(), gpu::request_text(request), *bytes))
      heard = receive_message(process.socket(), limit, setup.stop, message);
    switch (heard) {
      case ReceiveResult::message:
        break;
      case ReceiveResult::too_late:
        process.kill();
        return make_response(ir::Outcome::timed_out,
                             fmt::format("no answer within {}: the worker was killed", humane_seconds(limit.value)));
      case ReceiveResult::stopped:
        process.kill();
        return make_response(ir::Outcome::stopped, "stopped");
      case ReceiveResult::ended:
        return make_response(ir::Outcome::crashed, "the worker died: " + process.ending());
    }
    gpu::Response response = read(message);
    if (response.context_lost) process.kill();
    return response;
  }

  /// What the process said; one that says something else than an answer is as good as dead.
  static gpu::Response read(const Message& message) {
    try {
      gpu::Response response = gpu::parse_response(message.text);
      const auto data = message.blob.bytes();
      response.blob.assign(data.begin(), data.end());
      return response;
    } catch (const std::exception& wrong) {
      gpu::Response response = make_response(
          ir::Outcome::crashed, fmt::format("the worker's answer cannot be read, it was killed: {}", wrong.what()));
      response.context_lost = true;
      return response;
    }
  }

  /// Starts a worker and opens its GPU; the answer says whether that went well.
  const gpu::Response& begin() {
    if (process.is_running()) return opened;
    if (const std::string reason = start(); !reason.empty()) {
      opened = make_response(ir::Outcome::unavailable, "no worker process: " + reason);
      return opened;
    }
    opened = exchange(gpu::OpenRequest{setup.paths, setup.ordinal, setup.use}, {}, setup.start_limit);
    if (opened.outcome != ir::Outcome::ok) process.kill();
    return opened;
  }
};

Worker::Worker(WorkerSetup setup) : body_(std::make_unique<Body>()) { body_->setup = std::move(setup); }
Worker::~Worker() = default;
Worker::Worker(Worker&&) noexcept = default;
Worker& Worker::operator=(Worker&&) noexcept = default;

gpu::Response Worker::call(const gpu::Request& request, std::span<const std::byte> blob, Seconds limit) {
  if (std::holds_alternative<gpu::CapabilitiesRequest>(request)) {
    // Tells more of an open GPU (who may read counters), and must answer where there is none.
    body_->begin();
    if (!body_->process.is_running())
      if (const std::string reason = body_->start(); !reason.empty())
        return make_response(ir::Outcome::unavailable, "no worker process: " + reason);
    gpu::Response response = body_->exchange(request, blob, limit);
    body_->process.kill();
    return response;
  }
  if (const gpu::Response& ready = body_->begin(); ready.outcome != ir::Outcome::ok) return ready;
  return body_->exchange(request, blob, limit);
}

const gpu::Response& Worker::opened() {
  if (body_->generation == 0) body_->begin();
  return body_->opened;
}

int Worker::generation() const { return body_->generation; }
int Worker::new_number() { return body_->numbers++; }
bool Worker::is_running() const { return body_->process.is_running(); }

}  // namespace tailor::profiler
