// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bits from the graph to the machine: one kernel that converts, rounds and orders is lowered, printed, compiled for a
// GPU with conversions of its own to 8 bits and for one without, and executed on every number of 16 bits, every number
// of 8 bits, and f32 numbers of every exponent with every tie. What it gives is what the reference gives, number for
// number. Part of the suite `profiler`; skipped without NVRTC.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "profiler/check/simulate.h"
#include "profiler/compile/compile.h"
#include "support/kernel_cache.h"
#include "tests/profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

constexpr std::int64_t bit_patterns = 1 << 16;
constexpr ir::Limits bits_limits{80, 2, 32, 1024, 2048, 16, 65536, 65536, 255, 256, 4, 4, 65536, 49152, 65536, 0, 128};

constexpr std::string_view everything = R"(graph everything {{
  %x = parameter 0 : u16[{0}]
  %q = parameter 1 : u8[{0}]
  %y = parameter 2 : f32[{0}]
  %h = bitcast_convert %x : f16[{0}]
  %b = bitcast_convert %x : bf16[{0}]
  %n = bitcast_convert %q : f8e4m3fn[{0}]
  %m = bitcast_convert %q : f8e5m2[{0}]
  %o0 = convert %h : f8e4m3fn[{0}]
  %o1 = convert %b : f8e5m2[{0}]
  %o2 = convert %y : f8e4m3fn[{0}]
  %o3 = convert %y : f8e5m2[{0}]
  %o4 = convert %y : f8e4m3fnuz[{0}]
  %o5 = convert %y : f8e3m4[{0}]
  %o6 = convert %n : f32[{0}]
  %o7 = convert %m : f16[{0}]
  %o8 = reduce_precision %y, text="exponent_bits=5, mantissa_bits=10" : f32[{0}]
  %o9 = reduce_precision %h, text="exponent_bits=4, mantissa_bits=3" : f16[{0}]
  %half = reduce_precision %y, text="exponent_bits=8, mantissa_bits=22" : f32[{0}]
  %o10 = compare lt %y, %half, total_order : pred[{0}]
  %r = reverse %h, axes={{0}} : f16[{0}]
  %o11 = compare le %h, %r, total_order : pred[{0}]
  output %o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7, %o8, %o9, %o10, %o11
}})";

/// Bits of f32: every sign and exponent, with mantissas that end in a tie, or beside one, at some digit.
std::uint32_t single_at(std::uint32_t i) {
  const std::uint32_t mantissa = i >> 9, digit = mantissa % 24, step = mantissa / 24 % 3;
  return i << 23 | (((mantissa / 72 % 2 != 0 ? 3U : 1U) << digit >> 1) + step - 1) % (1U << 23);
}

template <class Bits, class Of>
reference::Tensor patterns_of(ir::DType dtype, Of&& of) {
  reference::Tensor tensor = reference::zeros(ir::make_shape(dtype, {bit_patterns}));
  for (std::uint32_t i = 0; i < bit_patterns; ++i) {
    const Bits bits = static_cast<Bits>(of(i));
    std::memcpy(tensor.bytes.data() + i * sizeof bits, &bits, sizeof bits);
  }
  return tensor;
}

void check_on(const Nvrtc& api, const std::string& arch) {
  CAPTURE(arch);
  ir::Group group;
  group.graph = ir::parse_graph(fmt::format(everything, bit_patterns), "everything");
  const auto ready = codegen::prepare(group);
  REQUIRE(std::holds_alternative<codegen::Prepared>(ready));
  const auto& prepared = std::get<codegen::Prepared>(ready);
  ir::Plan plan;
  plan.skeleton = prepared.skeleton;
  plan.dominant = prepared.dominants.front();
  plan.vector = 4;
  codegen::LowerScratch scratch;
  const auto kernel = std::get<ir::Kernel>(codegen::lower(prepared, plan, bits_limits, scratch));
  const ir::Binary binary = kernels::compiled(api, {.cuda = codegen::cuda(kernel, &plan), .arch = arch});
  REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
  const std::vector<reference::Tensor> inputs{
      patterns_of<std::uint16_t>(ir::DType::u16, [](std::uint32_t i) { return i; }),
      patterns_of<std::uint8_t>(ir::DType::u8, [](std::uint32_t i) { return i % 256; }),
      patterns_of<std::uint32_t>(ir::DType::f32, single_at)};
  const Executed executed = make_simulator(kernel, binary)(std::span<const reference::Tensor>(inputs), {});
  REQUIRE_MESSAGE(executed.simulation.outcome == simulator::SimulationOutcome::finished, executed.simulation.reason);
  const std::vector<reference::Tensor> expected = evaluate(group.graph, inputs);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    reference::Tensor found{expected[k].shape, {}};
    found.bytes.assign(executed.after[k].begin(), executed.after[k].end());
    int wrong = 0;
    for (std::int64_t i = 0; i < bit_patterns; ++i) {
      const double right = as_double(expected[k], i), seen = as_double(found, i);
      const bool same =
          right == seen ? std::signbit(right) == std::signbit(seen) : std::isnan(right) && std::isnan(seen);
      if (same || wrong++ > 3) continue;
      CAPTURE(k);
      CAPTURE(i);
      CHECK(seen == right);
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("numbers of 8 and 16 bits, and their digits, are on the machine what they are in the reference") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  check_on(*api, "sm_90");
  check_on(*api, "sm_80");
}
