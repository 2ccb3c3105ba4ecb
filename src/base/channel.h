// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages between two processes of this program over a local socket: a text and, beside it, bytes in memory that both
// map, so that tensors are copied once and not through the socket. Either end may die at any moment; the other sees it
// as an end of messages, never as a signal.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tailor {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  int number() const { return number_; }
  int release();

 private:
  int number_ = -1;
};

/// Memory that another process may map too.
class SharedBytes {
 public:
  SharedBytes() = default;
  ~SharedBytes();
  SharedBytes(SharedBytes&& other) noexcept;
  SharedBytes& operator=(SharedBytes&& other) noexcept;
  /// The pieces one after the other in new memory; nothing when the machine has not that much.
  static std::optional<SharedBytes> holding(std::span<const std::span<const std::byte>> pieces);
  /// Maps what another process made; nothing when that fails.
  static std::optional<SharedBytes> mapped(Descriptor file, std::size_t bytes);
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  int file() const { return file_.number(); }

 private:
  Descriptor file_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

struct Message {
  std::string text;
  SharedBytes blob;
};

/// What came of waiting. ended: the other end is closed.
enum class ReceiveResult : std::uint8_t { message, ended, too_late, stopped };

/// Sends a text with its blob. False when the other end is gone.
bool send_message(int socket, std::string_view text, const SharedBytes& blob);
/// Waits until one begins to arrive, and reads nothing; `limit` as below.
ReceiveResult await_message(int socket, Seconds limit, const std::stop_token& stop);
/// Waits for one; `limit` in seconds, infinite allowed. A stop is heard at once.
ReceiveResult receive_message(int socket, Seconds limit, const std::stop_token& stop, Message& into);

}  // namespace tailor
