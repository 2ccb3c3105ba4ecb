// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The worker's own side: one loop over requests, each of which the GPU that this process owns answers. In: messages of
// a channel. Out: responses, until the other end is gone. Called by main when it is told to be a worker, and by the
// program that plays one in tests.
#include <limits>

#include "base/channel.h"
#include "profiler/gpu/request/request_text.h"
#include "profiler/gpu/session/gpu.h"
#include "profiler/measure/worker.h"

namespace tailor::profiler {

int serve(int socket) {
  if (!begin_as_child(socket)) return 1;
  gpu::Gpu gpu;
  Message message;
  const Seconds forever{std::numeric_limits<double>::infinity()};
  while (receive_message(socket, forever, {}, message) == ReceiveResult::message) {
    const auto [request, contents] = gpu::parse_request(message.text, message.blob.bytes());
    gpu::Response response = gpu.answer(request, contents);
    const std::span<const std::byte> piece = response.blob;
    std::optional<SharedBytes> blob = SharedBytes::holding({&piece, 1});
    if (!blob) {
      response.outcome = ir::Outcome::unavailable;
      response.reason = "this machine has no memory left for the results";
      blob.emplace();
    }
    if (!send_message(socket, gpu::response_text(response), *blob)) break;
  }
  return 0;
}

}  // namespace tailor::profiler
