// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages of every size arrive as they were sent, and a peer that dies, stalls or talks nonsense at any byte is an
// answer and never a signal. Both ends live in the test, joined by a socket pair; contents are random with fixed
// seeds. Part of the suite `base`.
#include "base/channel.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

using namespace tailor;

namespace {

struct Ends {
  Ends() {
    std::array<int, 2> ends{-1, -1};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    here = Descriptor(ends[0]);
    there = Descriptor(ends[1]);
  }
  Descriptor here, there;
};

std::vector<std::byte> random_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& one : bytes) one = static_cast<std::byte>(random());
  return bytes;
}

std::string text_of(std::size_t size) {
  std::string words(size, 'x');
  for (std::size_t i = 0; i < size; ++i) words[i] = static_cast<char>(i * 7);
  return words;
}

SharedBytes shared(std::span<const std::byte> bytes) {
  std::optional<SharedBytes> made = SharedBytes::holding({&bytes, 1});
  REQUIRE(made);
  return std::move(*made);
}

ReceiveResult heard(const Ends& pair, Message& message, double limit = 10, const std::stop_token& stop = {}) {
  return receive_message(pair.here.number(), Seconds{limit}, stop, message);
}

void write_raw(const Ends& pair, const void* data, std::size_t size) {
  REQUIRE(write(pair.there.number(), data, size) == static_cast<ssize_t>(size));
}

constexpr double endless = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("texts and blobs of every size arrive as they were sent, one message after the other") {
  const Ends pair;
  const std::vector<std::pair<std::size_t, std::size_t>> sizes = {{0, 0},       {1, 0},       {0, 1}, {100, 4096},
                                                                  {3 << 20, 5}, {7, 8 << 20}, {2, 0}};
  std::jthread sender([&] {
    for (const auto& [text, blob] : sizes) {
      const std::vector<std::byte> bytes = random_bytes(blob, blob);
      send_message(pair.there.number(), text_of(text), shared(bytes));
    }
  });
  Message message;
  for (const auto& [text, blob] : sizes) {
    CAPTURE(text);
    CAPTURE(blob);
    REQUIRE(heard(pair, message, endless) == ReceiveResult::message);
    CHECK((message.text == text_of(text)));
    const std::span<const std::byte> got = message.blob.bytes();
    const std::vector<std::byte> sent = random_bytes(blob, blob);
    REQUIRE(got.size() == blob);
    CHECK((blob == 0 || std::memcmp(got.data(), sent.data(), blob) == 0));
  }
}

TEST_CASE("pieces lie one after the other") {
  const std::vector<std::byte> a = random_bytes(10, 1), b, c = random_bytes(5000, 2);
  const std::array<std::span<const std::byte>, 3> pieces{a, b, c};
  const std::optional<SharedBytes> made = SharedBytes::holding(pieces);
  REQUIRE(made);
  REQUIRE(made->bytes().size() == 5010);
  CHECK(std::memcmp(made->bytes().data(), a.data(), 10) == 0);
  CHECK(std::memcmp(made->bytes().data() + 10, c.data(), 5000) == 0);
}

TEST_CASE("a peer that dies after any byte of a message is an end") {
  const std::string text = "hello";
  std::array<std::uint64_t, 2> lengths{text.size(), 0};
  std::vector<char> whole(sizeof lengths + text.size());
  std::memcpy(whole.data(), lengths.data(), sizeof lengths);
  std::memcpy(whole.data() + sizeof lengths, text.data(), text.size());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    Ends pair;
    write_raw(pair, whole.data(), size);
    pair.there = Descriptor();
    Message message;
    CHECK(heard(pair, message) == ReceiveResult::ended);
  }
}

TEST_CASE("a closed peer refuses a message without a signal") {
  Ends pair;
  pair.there = Descriptor();
  CHECK_FALSE(send_message(pair.here.number(), std::string(1 << 20, 'x'), shared(random_bytes(100, 3))));
}

TEST_CASE("a peer that stalls after any byte of a message is too late") {
  const std::array<std::uint64_t, 2> lengths{5, 0};
  for (const std::size_t size : {std::size_t{0}, sizeof lengths - 1, sizeof lengths}) {
    CAPTURE(size);
    const Ends pair;
    write_raw(pair, lengths.data(), size);
    Message message;
    CHECK(heard(pair, message, 0.02) == ReceiveResult::too_late);
  }
}

TEST_CASE("a stop is heard while waiting for ever, whether it comes before, while or after the wait begins") {
  for (int turn = 0; turn < 50; ++turn) {
    const Ends pair;
    std::stop_source source;
    std::jthread other([&] { source.request_stop(); });
    if (turn % 2 == 0) std::this_thread::yield();
    Message message;
    CHECK(heard(pair, message, endless, source.get_token()) == ReceiveResult::stopped);
  }
}

TEST_CASE("lengths that cannot be are an end, and cost no memory") {
  using Lengths = std::array<std::uint64_t, 2>;
  for (const Lengths& lengths : {Lengths{~std::uint64_t{0}, 0}, Lengths{std::uint64_t{1} << 40, 0}, Lengths{0, 100},
                                 Lengths{0, ~std::uint64_t{0}}}) {
    CAPTURE(lengths[0]);
    CAPTURE(lengths[1]);
    const Ends pair;
    write_raw(pair, lengths.data(), sizeof lengths);
    Message message;
    CHECK(heard(pair, message, 1) == ReceiveResult::ended);
  }
}

TEST_CASE("a file shorter than its length is not mapped") {
  Descriptor file(memfd_create("short", MFD_CLOEXEC));
  REQUIRE(ftruncate(file.number(), 4096) == 0);
  CHECK_FALSE(SharedBytes::mapped(Descriptor(dup(file.number())), 4097).has_value());
  CHECK(SharedBytes::mapped(std::move(file), 4096).has_value());
}

TEST_CASE("random bytes never crash a receiver") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Ends pair;
    const std::vector<std::byte> junk = random_bytes(seed, seed);
    write_raw(pair, junk.data(), junk.size());
    pair.there = Descriptor();
    Message message;
    CHECK(heard(pair, message, 1) == ReceiveResult::ended);
  }
}
