// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic classes from the table to the machine: each function of arithmetic.def, and the accurate one beside it, is
// lowered, printed, compiled and executed on f32 numbers that reach all edges, and held against the C library's double
// one. The bounds of a class admit its own kernels and not those of a less exact one. Part of the suite `profiler`,
// and with more numbers of the slow one; skipped without NVRTC.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "profiler/check/simulate.h"
#include "profiler/compile/compile.h"
#include "support/group_family.h"
#include "support/kernel_cache.h"
#include "tests/profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

#ifdef TAILOR_WHOLE_SWEEP
constexpr std::int64_t numbers = 1 << 24;
#else
constexpr std::int64_t numbers = 1 << 15;
#endif
constexpr std::int64_t few_numbers = 1 << 15;
constexpr std::array all_classes{ir::Arithmetic::ieee, ir::Arithmetic::xla, ir::Arithmetic::approx};
constexpr ir::Limits class_limits{90, 2, 32, 1024, 2048, 16, 65536, 65536, 255, 256, 4, 4, 65536, 49152, 65536, 0, 128};

struct Classed {
  ir::Kernel kernel;
  std::string cuda;
};

/// The group under a plain plan of that class; threads of a whole row where it has rows.
Classed lowered_as(const ir::Group& group, ir::Arithmetic arithmetic) {
  const auto ready = codegen::prepare(group);
  const auto& prepared = std::get<codegen::Prepared>(ready);
  ir::Plan plan;
  plan.skeleton = prepared.skeleton;
  plan.dominant = prepared.dominants.front();
  plan.vector = 1;
  plan.arithmetic = arithmetic;
  plan.threads_per_row = plan.skeleton == ir::Skeleton::row ? 32 : 1;
  plan.homes = codegen::homes_of(prepared, ir::HomesWord::registers);
  codegen::LowerScratch scratch;
  Classed made{std::get<ir::Kernel>(codegen::lower(prepared, plan, class_limits, scratch)), {}};
  made.cuda = codegen::cuda(made.kernel, &plan);
  return made;
}

std::vector<float> executed_on(const Nvrtc& api, const Classed& what, const std::vector<reference::Tensor>& inputs) {
  const ir::Binary binary = kernels::compiled(api, {.cuda = what.cuda});
  REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
  const Executed executed = make_simulator(what.kernel, binary)(std::span<const reference::Tensor>(inputs), {});
  REQUIRE_MESSAGE(executed.simulation.outcome == simulator::SimulationOutcome::finished, executed.simulation.reason);
  std::vector<float> values(executed.after[0].size() / sizeof(float));
  std::memcpy(values.data(), executed.after[0].data(), executed.after[0].size());
  return values;
}

/// Edges, then all exponents alike, then what models compute with, then numbers around 1.
std::vector<float> seeded_numbers(std::uint64_t seed) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  std::vector<float> all = {0.0F,
                            -0.0F,
                            inf,
                            -inf,
                            std::nanf(""),
                            1.0F,
                            -1.0F,
                            0x1p-149F,
                            -0x1p-149F,
                            0x1p-126F,
                            0x1p-127F,
                            0x1.fffffep127F,
                            -0x1.fffffep127F,
                            88.72F,
                            88.73F,
                            -87.3F,
                            -103.0F,
                            0x1p126F,
                            0x1.8p126F,
                            0x1p127F,
                            0.5F,
                            0.55F,
                            0.6F,
                            8.0F,
                            -8.6F,
                            9.1F,
                            3.9F,
                            1e-4F};
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> usual(-30.0F, 30.0F);
  // In the slow suite one of each 256 neighbouring numbers, which is all there are of exponents and upper mantissas.
  for (std::int64_t i = 0; numbers == 1 << 24 && i < numbers - 4096; ++i)
    all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(i << 8 | static_cast<std::int64_t>(random() % 256))));
  while (std::ssize(all) < numbers) {
    all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    all.push_back(usual(random));
    all.push_back(1.0F + std::ldexp(usual(random), -static_cast<int>(random() % 24) - 5));
  }
  all.resize(static_cast<std::size_t>(numbers));
  return all;
}

reference::Tensor tensor_of(const std::vector<float>& values) {
  reference::Tensor tensor{ir::make_shape(ir::DType::f32, {std::ssize(values)}), {}};
  tensor.bytes.resize(values.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

double oracle(ir::Op op, double a, double b) {
  switch (op) {
    case ir::Op::divide:
      return a / b;
    case ir::Op::exp:
      return std::exp(a);
    case ir::Op::expm1:
      return std::expm1(a);
    case ir::Op::log:
      return std::log(a);
    case ir::Op::sqrt:
      return std::sqrt(a);
    case ir::Op::rsqrt:
      return 1 / std::sqrt(a);
    case ir::Op::tanh:
      return std::tanh(a);
    case ir::Op::erf:
      return std::erf(a);
    case ir::Op::logistic:
      return 1 / (1 + std::exp(-a));
    default:
      FAIL("no oracle for " << ir::name(op));
      return 0;
  }
}

ir::Group group_of_op(ir::Op op, std::int64_t count) {
  const bool two = ir::row(op).arity == 2;
  return ir::Group{ir::parse_graph(
      fmt::format("graph g {{\n  %x = parameter 0 : f32[{0}]\n{1}  %y = {2} %x{3} : f32[{0}]\n  output %y\n}}\n", count,
                  two ? fmt::format("  %z = parameter 1 : f32[{}]\n", count) : "", ir::name(op), two ? ", %z" : ""))};
}

/// What a kernel of the row may be off by; infinite where the row promises nothing.
double allowed(const ir::ArithmeticRow& row, double a, double b, double y) {
  constexpr double ulp = 0x1p-23, half_ulp = 0x1p-24, flushed = 0x1p-126, largest = 0x1.fffffep127;
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double last = std::fabs(ir::row(row.op).arity == 2 ? b : a);
  if (last != 0 && last < row.least) return inf;
  if (row.most > 0 && last > row.most && last != inf) return inf;
  const double relative = (row.ulps + (std::isinf(a) ? 0 : row.ulps_per_argument * std::fabs(a))) * ulp + half_ulp;
  const double bound = relative * std::fabs(y) + row.absolute + flushed;
  return std::fabs(y) + bound > largest ? inf : bound;
}

/// The numbers for which the kernel is off by more than the row says, of so many asked.
struct Outside {
  int wrong = 0, asked = 0;
  std::string first;
};

Outside outside(const ir::ArithmeticRow& row, const std::vector<float>& a, const std::vector<float>& b,
                const std::vector<float>& found) {
  Outside all;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double y = oracle(row.op, a[i], b[i]), is = found[i];
    bool right = true;
    if (std::isnan(y)) {
      const double last = std::fabs(ir::row(row.op).arity == 2 ? b[i] : a[i]);
      right = std::isnan(is) || (last != 0 && last < row.least);
    } else if (std::isinf(y) || std::fabs(y) > 0x1.fffffep127) {
      right = std::isinf(is) || std::isinf(allowed(row, a[i], b[i], std::isinf(y) ? 0 : y));
    } else if (const double most = allowed(row, a[i], b[i], y); most < std::numeric_limits<double>::infinity()) {
      ++all.asked;
      right = std::fabs(is - y) <= most;
    }
    if (right) continue;
    if (all.wrong++ == 0) all.first = fmt::format("{}({}, {}) is {}, found {}", ir::name(row.op), a[i], b[i], y, is);
  }
  return all;
}

}  // namespace

TEST_CASE("a kernel of each class is off by no more than its row of the arithmetic table says, on all edges") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  std::vector<float> a = seeded_numbers(1), b = seeded_numbers(2);
  std::mt19937_64 random(3);
  std::shuffle(b.begin(), b.end(), random);
  for (const ir::ArithmeticRow& row : ir::arithmetic_table) {
    const Classed kernel = lowered_as(group_of_op(row.op, numbers), row.arithmetic);
    std::vector<reference::Tensor> inputs = {tensor_of(a)};
    if (ir::row(row.op).arity == 2) inputs.push_back(tensor_of(b));
    const Outside found = outside(row, a, b, executed_on(*api, kernel, inputs));
    CAPTURE(ir::name(row.op));
    CAPTURE(ir::name(row.arithmetic));
    CHECK_MESSAGE(found.wrong == 0, found.first);
    CHECK(found.asked > numbers / 8);
    if (row.real.empty()) continue;
    // A bound that any function would keep is none.
    std::vector<float> spoiled_results = executed_on(*api, kernel, inputs);
    const double off = 1 + 4 * (row.ulps + 1 + 40 * row.ulps_per_argument) * 0x1p-23 + 4 * row.absolute;
    for (float& value : spoiled_results) value = static_cast<float>(value * off + 4 * row.absolute);
    CHECK(outside(row, a, b, spoiled_results).wrong > found.asked / 4);
  }
}

TEST_CASE("the exponential of class xla is whole from the least subnormal result to the largest, that of approx not") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  constexpr double first = -103.9, last = 88.72, subnormal_below = -87.4;
  std::vector<float> a;
  for (std::int64_t i = 0; i < few_numbers; ++i)
    a.push_back(static_cast<float>(first + (last - first) * static_cast<double>(i) / few_numbers));
  const auto found_by = [&](ir::Arithmetic arithmetic) {
    return executed_on(*api, lowered_as(group_of_op(ir::Op::exp, few_numbers), arithmetic), {tensor_of(a)});
  };
  const ir::ArithmeticRow& row = *ir::error_row(ir::Op::exp, ir::Arithmetic::xla);
  const std::vector<float> whole = found_by(ir::Arithmetic::xla), flushed = found_by(ir::Arithmetic::approx);
  int subnormal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double y = std::exp(static_cast<double>(a[i]));
    const double relative = (row.ulps + row.ulps_per_argument * std::fabs(a[i]) + 0.5) * 0x1p-23;
    CHECK_MESSAGE(std::fabs(whole[i] - y) <= relative * y + 0x1p-150, fmt::format("exp({}) is {}", a[i], whole[i]));
    if (a[i] > subnormal_below) continue;
    ++subnormal;
    CHECK(flushed[i] == 0);
  }
  CHECK(subnormal > few_numbers / 16);
}

TEST_CASE("the bounds of a class admit its kernels on the check's own inputs") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  for (const ir::Op op : {ir::Op::divide, ir::Op::exp, ir::Op::expm1, ir::Op::log, ir::Op::sqrt, ir::Op::rsqrt,
                          ir::Op::tanh, ir::Op::erf, ir::Op::logistic})
    for (const ir::Arithmetic arithmetic : all_classes) {
      const ir::Group group = group_of_op(op, few_numbers);
      const Classed kernel = lowered_as(group, arithmetic);
      const ir::Binary binary = kernels::compiled(*api, {.cuda = kernel.cuda});
      REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
      const Reference reference = evaluate_reference(group, 1, nullptr, {}, {.arithmetic = arithmetic});
      const Checked checked = check(kernel.kernel, reference, make_simulator(kernel.kernel, binary), CheckOptions{});
      CAPTURE(ir::name(op));
      CAPTURE(ir::name(arithmetic));
      CHECK_MESSAGE(checked.state == Verdict::passed, checked.reason);
      CHECK(checked.judged > 0.8);
    }
}

TEST_CASE("approximate softmax passes under its own bound and not under that of exact arithmetic") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  constexpr std::int64_t rows = 64, columns = 32;
  const ir::Group group = ir::make_group(ir::family_member("softmax"), rows, columns);
  // One large number per row: the others' exponentials are small, and their arguments' rounding is most of the error.
  std::mt19937_64 random(5);
  std::uniform_real_distribution<float> far(-80.0F, -40.0F);
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; ++i) values.push_back(i % columns == 0 ? 0.0F : far(random));
  reference::Tensor input = tensor_of(values);
  input.shape = group.graph.nodes[0].shape;
  REQUIRE(ir::elements(input.shape) == rows * columns);
  const auto verdict_of = [&](ir::Arithmetic kernel_class, ir::Arithmetic bound_class) {
    const Classed kernel = lowered_as(group, kernel_class);
    const ir::Binary binary = kernels::compiled(*api, {.cuda = kernel.cuda});
    Reference reference;
    reference.arithmetic = bound_class;
    reference.inputs = {input};
    reference.outputs =
        reference::evaluate_with_error_bounds(group.graph, reference.inputs, {.arithmetic = bound_class});
    return check(kernel.kernel, reference, make_simulator(kernel.kernel, binary), CheckOptions{}).state;
  };
  for (const ir::Arithmetic arithmetic : all_classes) CHECK(verdict_of(arithmetic, arithmetic) == Verdict::passed);
  CHECK(verdict_of(ir::Arithmetic::ieee, ir::Arithmetic::approx) == Verdict::passed);
  CHECK(verdict_of(ir::Arithmetic::approx, ir::Arithmetic::ieee) == Verdict::wrong);
}
