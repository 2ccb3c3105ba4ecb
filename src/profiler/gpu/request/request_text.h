// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests and responses as text (JSON), so that they can travel to another process. In: a record. Out: text, and back.
// Called by both ends of a worker's channel (measure/worker.cpp, measure/worker_serve.cpp). Bytes travel beside the
// text, in a blob: of a request first the code of its images, then what the caller gave; of a response its own blob.
// Both ends are the same program, so there is no version; text that is no request is a bug of the sender.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/gpu/request/request.h"

namespace tailor::gpu {

/// Text of a request; images' code is left out of it.
std::string request_text(const Request& request);
/// The pieces of a request's blob, in order: code of images, then `contents`. They point into `request` and `contents`.
std::vector<std::span<const std::byte>> blob_pieces(const Request& request, std::span<const std::byte> contents);
/// The request, and what is left of the blob for the caller's contents. Throws std::exception for text that is none.
std::pair<Request, std::span<const std::byte>> parse_request(std::string_view text, std::span<const std::byte> blob);

/// Text of a response without its blob, and back.
std::string response_text(const Response& response);
Response parse_response(std::string_view text);

}  // namespace tailor::gpu
