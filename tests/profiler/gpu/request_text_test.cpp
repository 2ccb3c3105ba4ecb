// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests to a GPU and its responses as text: with random contents in every member they come back as they were,
// member by member, and a text or blob that does not fit is an error. Draws come from fixed seeds. The text is what
// goes between a worker process and those who ask it. Part of the suite `gpu`.
#include "profiler/gpu/request/request_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace {

using namespace tailor;
using namespace tailor::gpu;

constexpr std::uint64_t first_seed = 20260101, rounds = 200;

/// Draws what a member may hold.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::int64_t integer(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }
  std::uint64_t word() { return random_(); }
  bool flag() { return random_() % 2 == 0; }
  double number() {
    switch (integer(6)) {
      case 0:
        return 0;
      case 1:
        return std::numeric_limits<double>::infinity();
      case 2:
        return -std::numeric_limits<double>::denorm_min();
      default:
        return std::ldexp(static_cast<double>(random_()), static_cast<int>(integer(200)) - 150);
    }
  }
  double finite() { return std::ldexp(static_cast<double>(random_()), static_cast<int>(integer(100)) - 100); }
  std::string text() {
    constexpr std::string_view some[] = {"a", "\"", "\\", "\n", "Ω", "🙂", "}", "null", " ", "\x7f"};
    std::string made;
    for (std::int64_t i = integer(6); i > 0; --i) made += some[integer(10)];
    return made + std::string(static_cast<std::size_t>(integer(3)), '\0');
  }
  std::filesystem::path path() { return fmt::format("/some Ω/{}", integer(1000)); }
  std::vector<std::byte> bytes(std::int64_t most) {
    std::vector<std::byte> made(static_cast<std::size_t>(integer(most)));
    for (std::byte& one : made) one = static_cast<std::byte>(random_());
    return made;
  }
  template <class Make>
  auto several(Make make) {
    std::vector<decltype(make())> made;
    for (std::int64_t i = integer(4); i > 0; --i) made.push_back(make());
    return made;
  }

 private:
  std::mt19937_64 random_;
};

LibraryPaths places(Draw& draw) {
  return {draw.path(), draw.path(), draw.path(), draw.several([&] { return draw.path(); }),
          draw.several([&] { return draw.path(); })};
}

Extent3 extent(Draw& draw) {
  const auto one = [&] { return static_cast<std::uint32_t>(draw.word()); };
  return {one(), one(), one()};
}

Sequence sequence(Draw& draw) {
  Sequence made;
  made.images = draw.several([&] { return Image{draw.text(), draw.bytes(100)}; });
  made.buffers = draw.several([&] {
    return Buffer{draw.text(), draw.integer(std::int64_t{1} << 60), static_cast<BufferRole>(draw.integer(5)),
                  static_cast<Pattern>(draw.integer(3))};
  });
  made.launches = draw.several([&] {
    Launch launch{{extent(draw), extent(draw), extent(draw), draw.integer(1 << 20), draw.integer(1 << 20),
                   static_cast<int>(draw.integer(9)), draw.flag()},
                  static_cast<int>(draw.integer(9)),
                  draw.text(),
                  {}};
    launch.arguments = draw.several([&] {
      return Argument{static_cast<int>(draw.integer(9)) - 1, draw.integer(1 << 30), draw.bytes(20)};
    });
    launch.kind = static_cast<StepKind>(draw.integer(3));
    launch.bytes = draw.integer(std::int64_t{1} << 40);
    launch.word = static_cast<std::uint32_t>(draw.word());
    return launch;
  });
  return made;
}

Request question(Draw& draw, std::size_t kind) {
  const auto number = [&] { return static_cast<int>(draw.integer(1 << 30)); };
  const auto cache = [&] { return static_cast<ir::CacheState>(draw.integer(4)); };
  const auto use = [&] { return static_cast<Use>(draw.integer(3)); };
  switch (kind) {
    case 0:
      return OpenRequest{places(draw), number(), use()};
    case 1:
      return CapabilitiesRequest{places(draw), number(), use()};
    case 2:
      return LoadRequest{number(), sequence(draw), number() - 1, draw.integer(1 << 30), draw.flag()};
    case 3:
      return RunRequest{number(), draw.word(), draw.flag()};
    case 4:
      return TimeRequest{number(),
                         cache(),
                         static_cast<ir::TimedBy>(draw.integer(2)),
                         static_cast<ir::LaunchMode>(draw.integer(2)),
                         number(),
                         number(),
                         draw.flag()};
    case 5:
      return CountRequest{number(), cache(), draw.several([&] { return draw.text(); }), draw.flag()};
    case 6:
      return StateRequest{};
    default:
      return UnloadRequest{number()};
  }
}

Response answer(Draw& draw) {
  const auto number = [&] { return static_cast<int>(draw.integer(1 << 30)); };
  const auto large = [&] { return draw.integer(std::int64_t{1} << 60); };
  Response made;
  made.outcome = static_cast<ir::Outcome>(draw.integer(13));
  made.reason = draw.text();
  made.context_lost = draw.flag();
  made.properties = {draw.text(),   draw.text(),   draw.text(), draw.text(), number(),    number(),    number(),
                     number(),      large(),       large(),     large(),     large(),     number(),    number(),
                     draw.finite(), draw.finite(), number(),    draw.flag(), draw.flag(), draw.flag(), draw.flag()};
  made.capabilities = draw.several([&] { return Capability{draw.text(), draw.text(), draw.text(), draw.text()}; });
  made.entries =
      draw.several([&] { return KernelAttributes{number(), large(), large(), large(), number(), number()}; });
  made.samples = draw.several([&] {
    return ir::Sample{{draw.number()}, draw.finite(), static_cast<std::uint32_t>(draw.word())};
  });
  made.launches = draw.several([&] { return draw.several([&] { return Seconds{draw.number()}; }); });
  made.values = draw.several([&] { return draw.number(); });
  made.passes = number();
  made.state = {draw.finite(), draw.finite(), draw.finite(),
                draw.finite(), draw.finite(), static_cast<std::uint32_t>(draw.word())};
  return made;
}

}  // namespace

TEST_CASE("questions come back from their text and blob as they were") {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t seed = first_seed + round;
    CAPTURE(seed);
    Draw draw(seed);
    const Request request = question(draw, round % std::variant_size_v<Request>);
    const std::vector<std::byte> contents = draw.bytes(50);
    std::vector<std::byte> blob;
    for (const std::span<const std::byte> piece : blob_pieces(request, contents))
      blob.insert(blob.end(), piece.begin(), piece.end());
    const auto [back, rest] = parse_request(request_text(request), blob);
    CHECK(back == request);
    CHECK(std::vector<std::byte>(rest.begin(), rest.end()) == contents);
  }
}

TEST_CASE("answers come back from their text as they were") {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t seed = first_seed + round;
    CAPTURE(seed);
    Draw draw(seed);
    const Response before = answer(draw);
    CHECK(parse_response(response_text(before)) == before);
  }
}

TEST_CASE("a value that is no number stays none") {
  Response response;
  response.values = {1.5, std::nan(""), -std::numeric_limits<double>::infinity()};
  const Response back = parse_response(response_text(response));
  REQUIRE(back.values.size() == 3);
  CHECK(back.values[0] == 1.5);
  CHECK(std::isnan(back.values[1]));
  CHECK(back.values[2] == response.values[2]);
}

TEST_CASE("bytes that are no text are told apart from an error") {
  Response response;
  response.reason = "kernel \xff\xfe of file \x80";
  CHECK(parse_response(response_text(response)).reason.starts_with("kernel "));
}

TEST_CASE("text that is no question, and a blob that is too short, throw") {
  const auto throws = [](std::string_view text) {
    CHECK_THROWS_AS(parse_request(text, {}), std::exception);
    CHECK_THROWS_AS(parse_response(text), std::exception);
  };
  for (const char* text : {"", "x", "{}", "[]", "{\"request\": 99, \"with\": {}}", "{\"request\": 3, \"with\": {}}",
                           "{\"request\": -1, \"with\": {}}", "{\"request\": \"3\", \"with\": {}}"})
    throws(text);
  Draw draw(first_seed);
  LoadRequest load{1, {}};
  load.sequence.images = {{"image", std::vector<std::byte>(10)}};
  const std::vector<std::byte> blob(9);
  CHECK_THROWS_AS(parse_request(request_text(load), blob), std::exception);
}
