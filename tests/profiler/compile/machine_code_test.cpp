// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads that are on their way at once, read from machine code. In: random instructions, and kernels whose loads must
// travel together or cannot. Checked: the counts equal a naive reading, and what the assembler must have made.
// Part of the suite `profiler`; what compiles is skipped without NVRTC.
#include "profiler/compile/machine_code.h"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "profiler/compile/compile.h"
#include "profiler/compile/cubin.h"
#include "profiler/kernels.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

constexpr std::uint64_t load = 0x981, plain_load = 0x381, arithmetic = 0x221, nothing = 0x918;

struct Written {
  std::uint64_t operation = arithmetic;
  unsigned raises = 7;  ///< a scoreboard, or 7 for none
  unsigned waits = 0;   ///< a bit each
};

std::vector<std::byte> encoded(const std::vector<Written>& code) {
  std::vector<std::byte> bytes;
  for (const Written& one : code) {
    // All other bits are set: they must not matter.
    const std::uint64_t low = one.operation | ~std::uint64_t{0xfff};
    std::uint64_t high = ~std::uint64_t{0};
    high &= ~(std::uint64_t{0x7} << 46) & ~(std::uint64_t{0x3f} << 52);
    high |= std::uint64_t{one.raises} << 46 | std::uint64_t{one.waits} << 52;
    std::array<std::byte, 16> both{};
    std::memcpy(both.data(), &low, 8);
    std::memcpy(both.data() + 8, &high, 8);
    bytes.insert(bytes.end(), both.begin(), both.end());
  }
  return bytes;
}

/// Every load is remembered with its scoreboard, and looked for at each wait.
MachineCode read_naively(const std::vector<Written>& code) {
  MachineCode made;
  std::multiset<unsigned> out;
  for (const Written& one : code) {
    if (one.operation == nothing) continue;
    ++made.instructions;
    for (unsigned i = 0; i < 6; ++i)
      if ((one.waits >> i & 1) != 0) out.erase(i);
    if (one.operation != load && one.operation != plain_load) continue;
    ++made.global_loads;
    if (one.raises < 6) out.insert(one.raises);
    made.loads_outstanding = std::max<std::int64_t>(made.loads_outstanding, static_cast<std::int64_t>(out.size()));
  }
  return made;
}

/// Four loads, then four stores of what they brought; `order` is written between the loads and makes them strong or
/// not.
std::string four_loads(std::string_view kind, bool used_at_once) {
  std::string text =
      "extern \"C\" __global__ void four(const float* a, float* b) {\n"
      "  const float* from = a + threadIdx.x;\n  float x[4];\n";
  const auto one = [&](int i) {
    text += fmt::format("  asm volatile(\"{} %0, [%1];\" : \"=f\"(x[{}]) : \"l\"(from + {}));\n", kind, i, i * 1024);
    if (used_at_once) text += fmt::format("  from += __float_as_int(x[{}]);\n", i);
  };
  for (int i = 3; i >= 0; --i) one(i);
  for (int i = 0; i < 4; ++i) text += fmt::format("  b[threadIdx.x + {}] = x[{}] * x[{}];\n", i * 1024, i, i);
  return text + "}\n";
}

std::int64_t outstanding(const Nvrtc& api, const std::string& text, const char* arch) {
  const ir::Binary binary = compile(api, {.cuda = text, .entry = "four", .arch = arch});
  REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
  CHECK(binary.machine_instructions > 8);
  return binary.loads_outstanding;
}

}  // namespace

TEST_CASE("random instructions are read as naively") {
  const unsigned seed = 20261122;
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  std::int64_t most = 0;
  for (int round = 0; round < 2'000; ++round) {
    std::vector<Written> code(below(60));
    for (Written& one : code) {
      one.operation = std::array{load, plain_load, arithmetic, nothing}[below(4)];
      one.raises = below(8);
      one.waits = below(3) == 0 ? 1u << below(6) | 1u << below(6) : 0;
    }
    const MachineCode read = read_machine_code(encoded(code), 90);
    REQUIRE(read == read_naively(code));
    most = std::max(most, read.loads_outstanding);
  }
  CHECK(most > 6);  // more than there are scoreboards
}

TEST_CASE("code of another encoding is not read, and half an instruction neither") {
  const std::vector<std::byte> code = encoded({{load, 0, 0}, {load, 1, 0}});
  CHECK(read_machine_code(code, 90).loads_outstanding == 2);
  CHECK(read_machine_code(code, 60) == MachineCode{});
  CHECK(read_machine_code(std::span(code).first(24), 90) == MachineCode{});
  CHECK(read_machine_code({}, 90) == MachineCode{});
}

TEST_CASE("the machine code of ordered loads has all of them on their way, of dependent ones a single one" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  for (const char* arch : {"sm_75", "sm_80", "sm_90", "sm_120"}) {
    CAPTURE(arch);
    CHECK(outstanding(*api, four_loads("ld.relaxed.cta.global.f32", false), arch) == 4);
    CHECK(outstanding(*api, four_loads("ld.relaxed.cta.global.f32", true), arch) == 1);
    CHECK(outstanding(*api, four_loads("ld.global.nc.f32", true), arch) == 1);
  }
}
