// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages on a local socket. In: a text and a blob. Out: the same at the other end. On the wire a
// message is two lengths (text, blob), with the blob's file beside them where there is one, then the
// text.
#include "base/channel.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

namespace tailor {

namespace {

using Timer = std::chrono::steady_clock;

struct Lengths {
  std::uint64_t text = 0, blob = 0;
};

/// Longest text either side accepts: sequences of some thousand launches stay far below.
constexpr std::uint64_t most_text = std::uint64_t{1} << 30;

/// Control bytes for one descriptor.
union Control {
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
  cmsghdr alignment;
};

bool send_all(int socket, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = send(socket, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

/// How long somebody waits, and what ends it sooner: a descriptor that can be read once a stop was asked for, so that
/// it is heard at once and nobody looks now and then.
struct Patience {
  Timer::time_point end;
  bool endless = false;
  const std::stop_token& stop;
  Descriptor stopping{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::stop_callback<std::function<void()>> bell{stop, [number = stopping.number()] { eventfd_write(number, 1); }};
};

Timer::time_point end_of(Seconds limit) {
  const std::chrono::duration<double> from_now{std::isfinite(limit.value) ? limit.value : 0};
  return Timer::now() + std::chrono::duration_cast<Timer::duration>(from_now);
}

/// Waits until something can be read.
ReceiveResult wait_readable(int socket, const Patience& patience) {
  // Without a descriptor of its own (a process that has too many) the token is looked at now and then after all.
  const std::int64_t slice = patience.stopping.number() < 0 ? 50 : std::numeric_limits<int>::max();  // milliseconds
  while (true) {
    if (patience.stop.stop_requested()) return ReceiveResult::stopped;
    std::int64_t wait = slice;
    if (!patience.endless) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(patience.end - Timer::now()).count();
      if (left <= 0) return ReceiveResult::too_late;
      wait = std::min<std::int64_t>(slice, left);
    }
    std::array<pollfd, 2> both{{{socket, POLLIN, 0}, {patience.stopping.number(), POLLIN, 0}}};
    const int ready = poll(both.data(), both.size(), static_cast<int>(wait));
    if (both[0].revents != 0 && ready > 0) return ReceiveResult::message;
    if (ready < 0 && errno != EINTR) return ReceiveResult::ended;
  }
}

/// Fills `into`, and `file` when one comes with the bytes. The peer may stall after any byte.
ReceiveResult receive_all(int socket, std::span<std::byte> into, const Patience& patience, Descriptor& file) {
  while (!into.empty()) {
    if (const ReceiveResult heard = wait_readable(socket, patience); heard != ReceiveResult::message) return heard;
    Control control{};
    iovec part{into.data(), into.size()};
    msghdr head{};
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    head.msg_control = control.bytes.data();
    head.msg_controllen = control.bytes.size();
    const ssize_t got = recvmsg(socket, &head, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return ReceiveResult::ended;
    if (const cmsghdr* with = CMSG_FIRSTHDR(&head); with != nullptr && with->cmsg_type == SCM_RIGHTS) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(with), sizeof number);
      file = Descriptor(number);
    }
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return ReceiveResult::message;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this == &other) return *this;
  if (number_ >= 0) close(number_);
  number_ = other.release();
  return *this;
}

int Descriptor::release() { return std::exchange(number_, -1); }

SharedBytes::~SharedBytes() {
  if (data_ != nullptr) munmap(data_, size_);
}

SharedBytes::SharedBytes(SharedBytes&& other) noexcept
    : file_(std::move(other.file_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SharedBytes& SharedBytes::operator=(SharedBytes&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::optional<SharedBytes> SharedBytes::holding(std::span<const std::span<const std::byte>> pieces) {
  std::size_t total = 0;
  for (const auto& piece : pieces) total += piece.size();
  if (total == 0) return SharedBytes{};
  Descriptor file(memfd_create("tailor", MFD_CLOEXEC));
  if (file.number() < 0 || ftruncate(file.number(), static_cast<off_t>(total)) != 0) return {};
  std::optional<SharedBytes> made = mapped(std::move(file), total);
  if (!made) return {};
  std::byte* to = made->data_;
  for (const auto& piece : pieces) {
    if (!piece.empty()) std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  }
  return made;
}

std::optional<SharedBytes> SharedBytes::mapped(Descriptor file, std::size_t bytes) {
  SharedBytes made;
  if (bytes == 0) return made;
  // Reading beyond the file's end would be a signal, not an error.
  struct stat facts {};
  if (fstat(file.number(), &facts) != 0 || facts.st_size < static_cast<off_t>(bytes)) return {};
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (data == MAP_FAILED) return {};
  made.file_ = std::move(file);
  made.data_ = static_cast<std::byte*>(data);
  made.size_ = bytes;
  return made;
}

bool send_message(int socket, std::string_view text, const SharedBytes& blob) {
  Lengths lengths{text.size(), blob.bytes().size()};
  Control control{};
  iovec part{&lengths, sizeof lengths};
  msghdr head{};
  head.msg_iov = &part;
  head.msg_iovlen = 1;
  if (lengths.blob > 0) {
    head.msg_control = control.bytes.data();
    head.msg_controllen = control.bytes.size();
    cmsghdr* with = CMSG_FIRSTHDR(&head);
    with->cmsg_level = SOL_SOCKET;
    with->cmsg_type = SCM_RIGHTS;
    with->cmsg_len = CMSG_LEN(sizeof(int));
    const int number = blob.file();
    std::memcpy(CMSG_DATA(with), &number, sizeof number);
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &head, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof lengths) && send_all(socket, text.data(), text.size());
}

ReceiveResult await_message(int socket, Seconds limit, const std::stop_token& stop) {
  return wait_readable(socket, Patience{end_of(limit), !std::isfinite(limit.value), stop});
}

ReceiveResult receive_message(int socket, Seconds limit, const std::stop_token& stop, Message& into) {
  const Patience patience{end_of(limit), !std::isfinite(limit.value), stop};
  Lengths lengths;
  Descriptor file;
  const auto head = std::as_writable_bytes(std::span(&lengths, 1));
  if (const ReceiveResult heard = receive_all(socket, head, patience, file); heard != ReceiveResult::message)
    return heard;
  if (lengths.text > most_text) return ReceiveResult::ended;
  into.text.assign(lengths.text, '\0');
  const auto text = std::as_writable_bytes(std::span(into.text));
  if (const ReceiveResult heard = receive_all(socket, text, patience, file); heard != ReceiveResult::message)
    return heard;
  std::optional<SharedBytes> blob = SharedBytes::mapped(std::move(file), lengths.blob);
  if (!blob) return ReceiveResult::ended;
  into.blob = std::move(*blob);
  return ReceiveResult::message;
}

}  // namespace tailor
