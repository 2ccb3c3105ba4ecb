// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Questions and answers as text (JSON), so that they can travel to another process. Bytes travel beside the text, in a
// blob: of a question first the code of its images, then what the caller gave; of an answer its own blob. Both ends are
// the same program, so there is no version; text that is no question is a bug of the sender.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/ask.h"

namespace tailor::gpu {

/// Text of a question; images' code is left out of it.
std::string ask_text(const Ask& ask);
/// The pieces of a question's blob, in order: code of images, then `contents`. They point into `ask` and `contents`.
std::vector<std::span<const std::byte>> blob_of(const Ask& ask, std::span<const std::byte> contents);
/// The question, and what is left of the blob for the caller's contents. Throws std::exception for text that is none.
std::pair<Ask, std::span<const std::byte>> ask_from(std::string_view text, std::span<const std::byte> blob);

/// Text of an answer without its blob, and back.
std::string answer_text(const Answer& answer);
Answer answer_from(std::string_view text);

}  // namespace tailor::gpu
