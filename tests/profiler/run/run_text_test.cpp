// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches as people write them: heads and arguments read as what they say, every kind of mistake is one sentence, and
// random words neither crash nor take memory. What is expected is written down here.
// Part of the suite `profiler`.
#include "profiler/run/run_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "profiler/run/npy.h"

using namespace tailor;
using namespace tailor::profiler;
using simulator::BufferUse;

namespace {

RunSpec spec_of(std::initializer_list<std::string_view> arguments, const std::filesystem::path& folder = ".") {
  RunSpec spec;
  for (const std::string_view one : arguments) read_argument(spec, one, "seed", folder);
  return spec;
}

std::string argument_refusal(std::string_view argument) {
  try {
    spec_of({argument});
  } catch (const Error& error) {
    return error.message;
  }
  return "accepted";
}

template <class T>
T value_of(const std::vector<std::byte>& bytes, std::size_t at = 0) {
  T value;
  std::memcpy(&value, bytes.data() + at * sizeof value, sizeof value);
  return value;
}

}  // namespace

TEST_CASE("a head says launch, machine, architecture and arguments, and other comments say nothing") {
  const RunSpec spec = read_head(
      "// Sums: one block a row.\n// Note: see the paper\n// launch: grid=4x2 block=128 shared=512 cooperative\n"
      "// machine: sms=2 blocks_per_sm=3\n// arch: sm_80\n// buffer: x f32[4,3] input iota\n// value: i32 -7\n"
      "// buffer: y f16[2] output\nextern int a;\n// buffer: late f32[1]\n",
      "k.cu");
  CHECK(spec.launch.grid == simulator::Extent3{4, 2, 1});
  CHECK(spec.launch.block == simulator::Extent3{128, 1, 1});
  CHECK(spec.launch.dynamic_shared == 512);
  CHECK(spec.launch.cooperative);
  CHECK(spec.machine.sms == 2);
  CHECK(spec.machine.blocks_per_sm == 3);
  CHECK(spec.arch == "sm_80");
  REQUIRE(spec.buffers.size() == 2);
  REQUIRE(spec.parameters.size() == 3);
  CHECK(spec.buffers[0].dims == std::vector<std::int64_t>{4, 3});
  CHECK(value_of<float>(spec.buffers[0].bytes, 11) == 11);
  CHECK(spec.buffers[1].use == BufferUse::output);
  CHECK(spec.buffers[1].bytes.size() == 4);
  CHECK(value_of<std::int32_t>(spec.parameters[1].value) == -7);
  CHECK(spec.parameters[2].buffer == 1);
}

TEST_CASE("every word of a launch is its own number, three extents each") {
  RunSpec spec;
  for (const char* word : {"grid=2x3x4", "block=5x6x7", "cluster=8x9x10", "shared=11", "limit=12", "sms=13",
                           "blocks_per_sm=14", "cooperative"})
    read_launch_word(spec, word);
  CHECK(spec.launch.grid == simulator::Extent3{2, 3, 4});
  CHECK(spec.launch.block == simulator::Extent3{5, 6, 7});
  CHECK(spec.launch.cluster == simulator::Extent3{8, 9, 10});
  CHECK(spec.launch.dynamic_shared == 11);
  CHECK(spec.limit == 12);
  CHECK(spec.machine.sms == 13);
  CHECK(spec.machine.blocks_per_sm == 14);
  CHECK(spec.launch.cooperative);
  read_launch_word(spec, "cooperative=0");
  CHECK_FALSE(spec.launch.cooperative);
  CHECK(parse_extents("7") == simulator::Extent3{7, 1, 1});
  CHECK(parse_extents("7,8") == simulator::Extent3{7, 8, 1});
}

TEST_CASE("each fill fills all of a buffer, within its range") {
  const auto filled = [](const char* how) {
    return spec_of({fmt::format("x f32[500] input {}", how)}).buffers.at(0).bytes;
  };
  double least = 9, most = -9;
  for (std::size_t i = 0; i < 500; ++i) {
    CHECK(value_of<float>(filled("zero"), i) == 0);
    CHECK(value_of<float>(filled("iota"), i) == static_cast<float>(i));
    least = std::min<double>(least, value_of<float>(filled("random"), i));
    most = std::max<double>(most, value_of<float>(filled("random"), i));
  }
  CHECK(least >= -1);
  CHECK(least < -0.95);
  CHECK(most <= 1);
  CHECK(most > 0.95);
  std::vector<int> seen(3);
  const std::vector<std::byte> below = spec_of({"x u8[300] input below:3"}).buffers.at(0).bytes;
  for (const std::byte one : below) ++seen.at(static_cast<std::size_t>(one));
  for (const int count : seen) CHECK(count > 60);
  const std::vector<std::byte> truths = spec_of({"x pred[300] input random"}).buffers.at(0).bytes;
  CHECK(std::set(truths.begin(), truths.end()) == std::set{std::byte{0}, std::byte{1}});
}

TEST_CASE("an argument is the same with colons and with blanks, and its random contents depend on its name alone") {
  CHECK(spec_of({"x:f32[8]:input:random"}).buffers == spec_of({"x f32[8] input random"}).buffers);
  CHECK(spec_of({"x:i32[8]:both:below:5"}).buffers == spec_of({"x i32[8] both below:5"}).buffers);
  CHECK(spec_of({"n:i32[1]", "x:f32[8]:input:random"}).buffers[1] == spec_of({"x:f32[8]:input:random"}).buffers[0]);
  CHECK(spec_of({"z:f32[8]:input:random"}).buffers[0].bytes != spec_of({"x:f32[8]:input:random"}).buffers[0].bytes);
  CHECK(spec_of({"y:f32[2]"}).buffers[0].use == BufferUse::input);
  CHECK(value_of<std::uint64_t>(spec_of({"u64:18446744073709551615"}).parameters[0].value) == ~std::uint64_t{0});
  CHECK(value_of<std::int64_t>(spec_of({"i64:-9223372036854775808"}).parameters[0].value) == INT64_MIN);
  CHECK(value_of<double>(spec_of({"f64:1e-300"}).parameters[0].value) == 1e-300);
  CHECK(value_of<std::uint16_t>(spec_of({"f16:-1.5"}).parameters[0].value) == 0xbe00);
}

TEST_CASE("an array comes from a file, with its type and shape or against those that are named") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "tailor_run_text_test";
  std::filesystem::create_directories(folder);
  const NpyArray array{ir::DType::s16, {2, 1}, {std::byte{5}, {}, std::byte{6}, {}}};
  write_file(folder / "a.npy", *npy_text(array));
  for (const std::string_view words :
       {"x:input:a.npy", "x input a.npy", "x:s16[2,1]:input:a.npy", "x i16[2,1] input a.npy"}) {
    const RunBuffer read = spec_of({words}, folder).buffers.at(0);
    CHECK(read.dtype == array.dtype);
    CHECK(read.dims == array.dims);
    CHECK(read.bytes == array.bytes);
  }
  CHECK_THROWS_AS(spec_of({"x:s16[1,2]:input:a.npy"}, folder), Error);
  CHECK_THROWS_AS(spec_of({"x:input:none.npy"}, folder), Error);
  std::filesystem::remove_all(folder);
}

TEST_CASE("each mistake is named") {
  CHECK(argument_refusal("x").starts_with("found argument 'x', expected a value or a buffer"));
  CHECK(argument_refusal("x:f33[4]").starts_with("found type 'f33'"));
  CHECK(argument_refusal("x:f32").find("expected TYPE[COUNT]") != std::string::npos);
  CHECK(argument_refusal("x:f32[-1]").find("found '-1', expected a whole number from 0") != std::string::npos);
  CHECK(argument_refusal("x:f32[4]:in").find("found use 'in', expected input, output") != std::string::npos);
  CHECK(argument_refusal("x:f32[4]:input:ones").find("found fill 'ones'") != std::string::npos);
  CHECK(argument_refusal("x:f32[4]:input:below:0").find("found '0', expected a whole number from 1") !=
        std::string::npos);
  CHECK(argument_refusal("x f32[4] input zero more").find("'more', which is one word too many") != std::string::npos);
  CHECK(argument_refusal("x:f64[1073741824]").find("takes more than 4 GB") != std::string::npos);
  CHECK(argument_refusal("x:f64[1099511627776,1099511627776]").find("takes more than 4 GB") != std::string::npos);
  CHECK(argument_refusal("i8:128") == "found value '128', expected a number of type s8");
  CHECK(argument_refusal("u32:-1") == "found value '-1', expected a number of type u32");
  CHECK(argument_refusal("f32:one") == "found value 'one', expected a number of type f32");
  CHECK_THROWS_AS(spec_of({"x:f32[1]", "x:f32[1]"}), Error);
  for (const std::string_view bad : {"", "0", "4x", "1x1x1x1", "-1", "4294967296", "a"})
    CHECK_THROWS_AS(parse_extents(bad), Error);
  RunSpec spec;
  for (const std::string_view bad : {"grd=4", "grid", "shared=-1", "cooperative=2", "limit=x"})
    CHECK_THROWS_AS(read_launch_word(spec, bad), Error);
  try {
    read_head("// fine\n// launch: grid=0\n", "k.cu");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.at.file == "k.cu");
    CHECK(error.at.line == 2);
  }
}

TEST_CASE("random words are read or refused") {
  std::mt19937 random(7);
  constexpr std::string_view pieces[] = {"x",     ":",     " ", "f32", "[", "4",    "]",
                                         "input", "below", ",", "i8",  "-", ".npy", "random"};
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (auto k = 1 + random() % 9; k > 0; --k) text += pieces[random() % std::size(pieces)];
    CAPTURE(text);
    try {
      spec_of({text});
    } catch (const Error& error) {
      CHECK_FALSE(error.message.empty());
    }
  }
}
