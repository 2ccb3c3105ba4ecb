// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The bound is sound: no right computation exceeds it, whatever its order and its types. And it is sharp: small wrongs
// do. Oracles: the same graph evaluated in f64, lowered kernels run by the interpreter, sums in other orders. Part of
// the suite `reference`.
#include "reference/compare.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "codegen/lower/lower.h"
#include "reference/memory_layout.h"
#include "support/group_family.h"
#include "support/interpret.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;
using namespace tailor::codegen;

namespace {

std::vector<Tensor> inputs_of(const Graph& graph, std::uint64_t seed) {
  std::vector<Tensor> inputs;
  for (const NodeId id : parameters(graph)) inputs.push_back(random_tensor(graph[id].shape, seed++));
  return inputs;
}

std::vector<std::byte> floats(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

BoundedTensor of_floats(const std::vector<float>& values, double error) {
  return {{make_shape(DType::f32, {static_cast<std::int64_t>(values.size())}), floats(values)},
          std::vector<double>(values.size(), error)};
}

std::string with_type(std::string text, std::string_view type) {
  for (std::size_t at = text.find("{T}"); at != text.npos; at = text.find("{T}")) text.replace(at, 3, type);
  return text;
}

/// A chain of random operations that keep their values finite: two operands from the values so far.
std::string chain(std::uint64_t seed, int length) {
  constexpr std::array unary = {"exp",  "tanh",  "logistic", "erf",  "sin",   "cos",   "abs",   "negate",
                                "sqrt", "rsqrt", "log",      "cbrt", "expm1", "log1p", "asinh", "sinh"};
  constexpr std::array binary = {"add", "subtract", "multiply", "divide", "maximum", "minimum", "atan2"};
  std::mt19937_64 random(seed);
  std::string text = "graph g {\n  %x0 = parameter 0 : {T}[3,40]\n  %x1 = parameter 1 : {T}[3,40]\n";
  // No sum of exact operands: f64 does not round it where every kernel does.
  text += "  %v0 = tanh %x0 : {T}[3,40]\n  %v1 = tanh %x1 : {T}[3,40]\n";
  text += "  %zero = constant 0 : {T}[]\n  %half = constant 0.5 : {T}[]\n  %h = broadcast %half : {T}[3,40]\n";
  for (int i = 2; i < length + 2; ++i) {
    const auto any = [&] { return random() % static_cast<std::uint64_t>(i); };
    const std::size_t a = any(), b = any();
    switch (random() % 5) {
      case 0: {
        const char* op = unary[random() % unary.size()];
        // Into the domain of roots and logarithms, and away from the pole.
        text += fmt::format("  %p{0} = abs %v{1} : {{T}}[3,40]\n  %q{0} = add %p{0}, %h : {{T}}[3,40]\n", i, a);
        text += fmt::format("  %t{0} = tanh %q{0} : {{T}}[3,40]\n  %v{0} = {1} %t{0} : {{T}}[3,40]\n", i, op);
        break;
      }
      case 1: {
        text += fmt::format("  %s{0} = reduce add %v{1}, %zero, axes={{1}} : {{T}}[3]\n", i, a);
        text += fmt::format("  %b{0} = broadcast %s{0}, axes={{0}} : {{T}}[3,40]\n", i);
        text += fmt::format("  %v{0} = tanh %b{0} : {{T}}[3,40]\n", i);
        break;
      }
      case 2: {
        text += fmt::format("  %c{0} = compare lt %v{1}, %v{2} : pred[3,40]\n", i, a, b);
        text += fmt::format("  %v{0} = select %c{0}, %v{1}, %h : {{T}}[3,40]\n", i, a);
        break;
      }
      default:
        text += fmt::format("  %v{} = {} %v{}, %v{} : {{T}}[3,40]\n", i, binary[random() % binary.size()], a, b);
    }
  }
  return text + fmt::format("  output %v{}\n}}\n", length + 1);
}

Tensor widened(const Tensor& tensor) {
  Shape shape = tensor.shape;
  shape.dtype = DType::f64;
  Tensor wide = zeros(shape);
  for (std::int64_t i = 0; i < elements(shape); ++i) store(wide, i, as_double(tensor, i));
  return wide;
}

/// Largest error of the reference against f64 over its bound; counts elements that have none.
double worst_against_f64(const std::string& text, DType dtype, std::uint64_t seed, std::int64_t& unjudged) {
  const Graph narrow = parse_graph(with_type(text, name(dtype)));
  const Graph wide = parse_graph(with_type(text, "f64"));
  const std::vector<Tensor> inputs = inputs_of(narrow, seed);
  std::vector<Tensor> wide_inputs;
  for (const Tensor& input : inputs) wide_inputs.push_back(widened(input));
  const std::vector<BoundedTensor> bounded = evaluate_with_error_bounds(narrow, inputs);
  const std::vector<Tensor> exact = evaluate(wide, wide_inputs);
  double worst = 0;
  for (std::int64_t i = 0; i < elements(exact[0].shape); ++i) {
    const double bound = bounded[0].error.empty() ? 0 : bounded[0].error[static_cast<std::size_t>(i)];
    const double y = as_double(bounded[0].value, i), z = as_double(exact[0], i);
    unjudged += std::isinf(bound) ? 1 : 0;
    if (std::isinf(bound) || y == z || (std::isnan(y) && std::isnan(z))) continue;
    worst = std::max(worst, std::fabs(y - z) / bound);
  }
  return worst;
}

struct Run {
  Group group;
  Plan plan;
  Kernel kernel;
};

constexpr Limits limits_of_test{90, 2, 32, 256, 512, 4, 65536, 65536, 255, 256, 4, 4, 16384, 1024, 15360, 0, 128};

/// Kernels of one member under some legal plans.
std::vector<Run> kernels(const FamilyMember& member) {
  std::vector<Run> runs;
  for (const int lanes : {1, 8, 32, 128})
    for (const HomesWord homes : {HomesWord::registers, HomesWord::reload}) {
      Run run{make_group(member, 5, 96), {}, {}};
      const auto ready = prepare(run.group);
      const auto* prepared = std::get_if<Prepared>(&ready);
      if (prepared == nullptr) continue;
      run.plan.skeleton = prepared->skeleton;
      run.plan.dominant = prepared->dominants.front();
      run.plan.vector = 1;
      run.plan.homes = homes_of(*prepared, homes);
      run.plan.threads_per_row = row(prepared->skeleton).has(PlanField::threads_per_row) ? lanes : 1;
      Lowered lowered = lower(run.group, run.plan, limits_of_test);
      if (!std::holds_alternative<Kernel>(lowered)) continue;
      run.kernel = std::get<Kernel>(std::move(lowered));
      runs.push_back(std::move(run));
    }
  return runs;
}

std::vector<std::vector<std::byte>> outputs_of(const Run& run, const std::vector<Tensor>& inputs) {
  std::vector<std::vector<std::byte>> buffers;
  for (const Tensor& input : inputs) to_memory(input, buffers.emplace_back(memory_bytes(input.shape)));
  for (const Buffer& buffer : std::span(run.kernel.buffers).subspan(inputs.size()))
    buffers.emplace_back(static_cast<std::size_t>(bytes(make_shape(buffer.dtype, {buffer.elements}))),
                         is_result(buffer.role) ? std::byte{0xab} : std::byte{0});
  buffers = interpret(run.kernel, std::move(buffers)).buffers;
  buffers.erase(buffers.begin(), buffers.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
  const Graph& graph = run.group.graph;
  buffers.resize(graph.outputs.size());  // workspaces stand behind results
  for (std::size_t i = 0; i < buffers.size(); ++i)
    buffers[i] = from_memory(graph[graph.outputs[i]].shape, buffers[i]).bytes;
  return buffers;
}

/// Element i moved by a fraction of itself.
std::vector<std::byte> moved(const BoundedTensor& expected, std::vector<std::byte> bytes, std::int64_t i,
                             double fraction) {
  Tensor tensor{expected.value.shape, std::move(bytes)};
  store(tensor, i, as_double(tensor, i) * (1 + fraction));
  return std::move(tensor.bytes);
}

}  // namespace

TEST_CASE("the bound holds between each narrower type and f64 for random chains of operations") {
  constexpr std::array types = {DType::f32, DType::bf16, DType::f16};
  for (const DType dtype : types) {
    std::int64_t unjudged = 0, all = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      const std::string text = chain(seed, 2 + static_cast<int>(seed % 7));
      CAPTURE(name(dtype));
      CAPTURE(seed);
      CAPTURE(text);
      const double worst = worst_against_f64(text, dtype, seed, unjudged);
      CHECK(worst <= 1);
      all += 120;
    }
    CAPTURE(name(dtype));
    CHECK(unjudged < all / (dtype == DType::f32 ? 50 : 10));
  }
}

TEST_CASE("the bound of one operation is a few roundings, not more") {
  for (const char* op : {"exp", "tanh", "sqrt", "log", "erf"}) {
    const Graph graph = parse_graph(
        fmt::format("graph g {{\n  %x = parameter 0 : f32[500]\n  %a = abs %x : f32[500]\n  %y = {} %a : f32[500]\n"
                    "  output %y\n}}\n",
                    op));
    const std::vector<BoundedTensor> bounded = evaluate_with_error_bounds(graph, inputs_of(graph, 3));
    CAPTURE(op);
    for (std::int64_t i = 0; i < 500; ++i)
      CHECK(bounded[0].error[static_cast<std::size_t>(i)] <= 1e-6 * std::fabs(as_double(bounded[0].value, i)) + 1e-37);
  }
}

TEST_CASE("moved data, integers, predicates and single sums allow no error") {
  const Graph graph = parse_graph(R"(graph g {
  %x = parameter 0 : f32[4,6]
  %i = parameter 1 : s32[4,6]
  %t = transpose %x, axes={1,0} : f32[6,4]
  %j = multiply %i, %i : s32[4,6]
  %p = compare lt %x, %x : pred[4,6]
  %s = add %x, %x : f32[4,6]
  %n = negate %x : f32[4,6]
  output %t, %j, %p, %s, %n
})");
  for (const BoundedTensor& output : evaluate_with_error_bounds(graph, inputs_of(graph, 1))) {
    CHECK(output.error.empty());
    std::vector<std::byte> bytes = output.value.bytes;
    CHECK(compare(output, bytes).wrong == 0);
    bytes[bytes.size() - 1] ^= std::byte{1};
    const Difference difference = compare(output, bytes);
    CHECK(difference.wrong == 1);
    CHECK(difference.index == elements(output.value.shape) - 1);
    CHECK(std::isinf(difference.worst));
  }
}

TEST_CASE("an unsigned number beyond the signed ones is told as what it is") {
  const Graph graph =
      parse_graph("graph g {\n  %x = parameter 0 : u64[2]\n  %y = multiply %x, %x : u64[2]\n  output %y\n}");
  Tensor x{make_shape(DType::u64, {2}), std::vector<std::byte>(16)};
  x.bytes[4] = x.bytes[12] = std::byte{1};  // 2^32: its square wraps to 0
  x.bytes[0] = std::byte{255};
  const std::vector<BoundedTensor> outputs = evaluate_with_error_bounds(graph, std::array{x});
  std::vector<std::byte> bytes = outputs[0].value.bytes;
  bytes[15] ^= std::byte{0xC0};
  const Difference difference = compare(outputs[0], bytes);
  CHECK(difference.wrong == 1);
  CHECK(difference.expected == 0);
  CHECK(difference.found == 0xC0p56);
}

TEST_CASE("sums in any order pass, a sum without one of its terms does not") {
  constexpr int n = 3000;
  const Graph graph = parse_graph(fmt::format(
      "graph g {{\n  %x = parameter 0 : f32[{}]\n  %z = constant 0 : f32[]\n  %s = reduce add %x, %z, axes={{0}} : "
      "f32[]\n  output %s\n}}\n",
      n));
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const std::vector<Tensor> inputs = inputs_of(graph, seed);
    std::vector<float> values(n);
    std::memcpy(values.data(), inputs[0].bytes.data(), inputs[0].bytes.size());
    const BoundedTensor expected = evaluate_with_error_bounds(graph, inputs).front();
    std::mt19937_64 random(seed);
    std::shuffle(values.begin(), values.end(), random);
    if (seed % 3 == 0) std::sort(values.begin(), values.end());  // the worst order: large partial sums
    const float sum = std::accumulate(values.begin(), values.end(), 0.0F);
    CAPTURE(seed);
    CHECK(compare(expected, floats({sum})).worst <= 1);
    const auto left_out =
        std::max_element(values.begin(), values.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); });
    CHECK(compare(expected, floats({sum - *left_out})).wrong == 1);
  }
}

TEST_CASE("lowered kernels of the family are within the bounds, and mutated results are not" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  int runs = 0;
  for (const FamilyMember& member : group_family())
    for (const Run& run : kernels(member)) {
      ++runs;
      CAPTURE(member.name);
      CAPTURE(text(run.plan));
      const std::vector<Node>& nodes = run.group.graph.nodes;
      const bool picks_rows = std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
        return node.op == Op::gather;  // any number is a place, so neighbours may read the same row
      });
      // Rows that no update reaches may be zeros, all of them alike.
      const bool leaves_rows =
          std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.op == Op::scatter; });
      const std::vector<Tensor> inputs = inputs_of(run.group.graph, 11);
      const std::vector<BoundedTensor> expected = evaluate_with_error_bounds(run.group.graph, inputs);
      const std::vector<std::vector<std::byte>> found = outputs_of(run, inputs);
      REQUIRE(found.size() == expected.size());
      for (std::size_t k = 0; k < found.size(); ++k) {
        const Difference difference = compare(expected[k], found[k]);
        CAPTURE(k);
        CHECK_MESSAGE(difference.wrong == 0, describe(difference, expected[k].value.shape));
        CHECK(difference.unjudged == 0);
        const Shape& shape = expected[k].value.shape;
        if (!is_floating(shape.dtype)) continue;
        // One element off by a part in a thousand (types of 16 and 8 bits: what a few of their roundings make).
        const std::int64_t last = elements(shape) - 1;
        const double fraction = shape.dtype == DType::f32 || shape.dtype == DType::f64 ? 1e-3
                                : shape.dtype == DType::f16                            ? 2e-2
                                : shape.dtype == DType::bf16                           ? 0.1
                                                                                       : 0.5;
        if (std::fabs(as_double(expected[k].value, last)) > 0.05)
          CHECK(compare(expected[k], moved(expected[k], found[k], last, fraction)).wrong == 1);
        // A row that was never written, and one that holds its neighbour's; single numbers have none.
        if (elements(shape) < 5) continue;
        const auto row_bytes = found[k].size() / 5;
        std::vector<std::byte> stale = found[k], shifted = found[k];
        std::fill_n(stale.begin() + static_cast<std::ptrdiff_t>(row_bytes), row_bytes, std::byte{0});
        std::copy_n(found[k].begin(), row_bytes, shifted.begin() + static_cast<std::ptrdiff_t>(row_bytes));
        if (leaves_rows) continue;
        CHECK(compare(expected[k], stale).wrong > 0);
        if (!picks_rows) CHECK(compare(expected[k], shifted).wrong > 0);
      }
    }
  CHECK(runs > 20);
}

TEST_CASE("NaN must be NaN and infinity that infinity") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const BoundedTensor expected = of_floats({1, nan, inf, 0}, 0.5);
  CHECK(compare(expected, floats({1.25F, -nan, inf, -0.0F})).wrong == 0);
  CHECK(compare(expected, floats({nan, nan, inf, 0})).wrong == 1);
  CHECK(compare(expected, floats({1, 1, inf, 0})).wrong == 1);
  CHECK(compare(expected, floats({1, nan, -inf, 0})).wrong == 1);
  CHECK(compare(expected, floats({1, nan, 1e38F, 0})).wrong == 1);
  CHECK(compare(expected, floats({inf, nan, inf, 0})).wrong == 1);
  const Difference swapped = compare(expected, floats({0, nan, inf, 1}));
  CHECK(swapped.wrong == 2);
  CHECK(swapped.first_wrong == 0);
  CHECK(swapped.worst == 2);
  CHECK(describe(swapped, expected.value.shape) ==
        "2 of 4 elements are wrong; [0] is 0, expected 1 +- 0.5 (2 times the tolerance)");
  // The sign of a NaN means nothing.
  const BoundedTensor nans{of_floats({-nan}, 0).value, {}};
  CHECK(describe(compare(nans, floats({inf})), nans.value.shape) ==
        "1 of 1 elements is wrong; [0] is inf, expected nan exactly");
  const BoundedTensor ones = of_floats({1}, 0.5);
  CHECK(describe(compare(ones, floats({-nan})), ones.value.shape) ==
        "1 of 1 elements is wrong; [0] is nan, expected 1 +- 0.5 (inf times the tolerance)");
}

TEST_CASE("masks of minus infinity stay certain") {
  const Graph graph = parse_graph(R"(graph g {
  %x = parameter 0 : f32[2,8]
  %low = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %lows = broadcast %low : f32[2,8]
  %zeros = broadcast %zero : f32[2,8]
  %t = tanh %x : f32[2,8]
  %p = compare lt %x, %zeros : pred[2,8]
  %m = select %p, %lows, %t : f32[2,8]
  %r = reduce max %m, %low, axes={1} : f32[2]
  %b = broadcast %r, axes={0} : f32[2,8]
  %d = subtract %m, %b : f32[2,8]
  %e = exp %d : f32[2,8]
  output %d, %e
})");
  for (const BoundedTensor& output : evaluate_with_error_bounds(graph, inputs_of(graph, 5))) {
    bool masked = false;
    for (std::int64_t i = 0; i < 16; ++i) {
      CHECK(std::isfinite(output.error[static_cast<std::size_t>(i)]));
      masked = masked || std::isinf(as_double(output.value, i)) || as_double(output.value, i) == 0;
    }
    CHECK(masked);
    CHECK(compare(output, output.value.bytes).wrong == 0);
  }
}

TEST_CASE("a comparison too close to call lets either choice pass, a clear one does not") {
  const Graph graph = parse_graph(R"(graph g {
  %x = parameter 0 : f32[3]
  %y = parameter 1 : f32[3]
  %z = constant 10 : f32[]
  %e = exp %x : f32[3]
  %p = compare lt %e, %y : pred[3]
  %b = broadcast %z : f32[3]
  %s = select %p, %x, %b : f32[3]
  output %s
})");
  Tensor x = zeros(make_shape(DType::f32, {3})), y = x;
  for (std::int64_t i = 0; i < 3; ++i) store(x, i, 0.5);
  store(y, 0, std::exp(0.5));
  store(y, 1, 1.7);
  store(y, 2, 1.6);
  const std::vector<Tensor> inputs{x, y};
  const BoundedTensor output = evaluate_with_error_bounds(graph, inputs).front();
  CHECK(compare(output, floats({0.5F, 0.5F, 10})).wrong == 0);
  CHECK(compare(output, floats({10, 0.5F, 10})).wrong == 0);
  CHECK(compare(output, floats({0.5F, 10, 10})).wrong == 1);
  CHECK(compare(output, floats({0.5F, 0.5F, 0.5F})).wrong == 1);
}

TEST_CASE("a mask as large as its type is judged behind the exponential, however far it may be off") {
  const Graph graph = parse_graph(R"(graph g {
  %x = parameter 0 : bf16[1,8]
  %m = parameter 1 : pred[1,8]
  %mask = constant -2.38e38 : bf16[]
  %lowest = constant -inf : bf16[]
  %zero = constant 0 : f32[]
  %masks = broadcast %mask : bf16[1,8]
  %s = select %m, %x, %masks : bf16[1,8]
  %top = reduce max %s, %lowest, axes={1} : bf16[1]
  %tops = broadcast %top, axes={0} : bf16[1,8]
  %d = subtract %s, %tops : bf16[1,8]
  %f = convert %d : f32[1,8]
  %e = exp %f : f32[1,8]
  %t = tanh %f : f32[1,8]
  %l = logistic %f : f32[1,8]
  %sum = reduce add %e, %zero, axes={1} : f32[1]
  output %e, %sum, %t, %l
})");
  std::vector<Tensor> inputs{random_tensor(graph[0].shape, 3), zeros(make_shape(DType::pred, {1, 8}))};
  inputs[1].bytes[2] = inputs[1].bytes[5] = std::byte{1};
  const std::vector<BoundedTensor> found = evaluate_with_error_bounds(graph, inputs);
  REQUIRE(found.size() == 4);
  for (const BoundedTensor& one : found)
    for (std::size_t i = 0; i < one.error.size(); ++i) {
      CAPTURE(i);
      CHECK(one.error[i] < 0.1);  // a bound that says something beside values up to 2
    }
}

TEST_CASE("a product that a fused multiply-add may take back below infinity is not judged") {
  const Graph graph = parse_graph(R"(graph g {
  %x = parameter 0 : f32[3]
  %c = parameter 1 : f32[3]
  %y = multiply %x, %x : f32[3]
  %z = add %y, %c : f32[3]
  output %z
})");
  std::vector<Tensor> inputs{zeros(make_shape(DType::f32, {3})), zeros(make_shape(DType::f32, {3}))};
  const double x[] = {2e19, 3e19, 1e19};
  for (int i = 0; i < 3; ++i) store(inputs[0], i, x[i]), store(inputs[1], i, -3e38);
  const BoundedTensor found = evaluate_with_error_bounds(graph, inputs).front();
  CHECK(std::isinf(found.error[0]));     // fma(2e19, 2e19, -3e38) is 1e38
  CHECK(std::isfinite(found.error[1]));  // 9e38 is too much for any finite number
  CHECK(std::isinf(as_double(found.value, 1)));
  CHECK(std::isfinite(found.error[2]));
}

TEST_CASE(
    "where a product overflows and an infinity of the other sign is added, by a sum of any kind, nothing is judged") {
  const Graph graph = parse_graph(R"(graph g {
  %a = parameter 0 : f32[4]
  %b = parameter 1 : f32[4]
  %c = parameter 2 : f32[4]
  %y = multiply %a, %b : f32[4]
  %n = negate %y : f32[4]
  %r = reverse %n, axes={0} : f32[4]
  %back = reverse %r, axes={0} : f32[4]
  %z = subtract %c, %back : f32[4]
  %p = add %c, %a : f32[4]
  output %z, %p
})");
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const double a[] = {1e30, 1e30, 1e30, nan}, b[] = {-1e30, 1e30, 2, 1}, c[] = {inf, inf, inf, inf};
  std::vector<Tensor> inputs(3, zeros(make_shape(DType::f32, {4})));
  for (int i = 0; i < 4; ++i) store(inputs[0], i, a[i]), store(inputs[1], i, b[i]), store(inputs[2], i, c[i]);
  const std::vector<BoundedTensor> found = evaluate_with_error_bounds(graph, inputs);
  CHECK(std::isnan(as_double(found[0].value, 0)));  // fma(1e30, -1e30, inf) is inf
  CHECK(std::isinf(found[0].error[0]));
  for (int i = 1; i < 4; ++i) CHECK(std::isfinite(found[0].error[static_cast<std::size_t>(i)]));
  for (const double error : found[1].error) CHECK(std::isfinite(error));

  const Graph sums = parse_graph(R"(graph g {
  %a = parameter 0 : f32[2,3]
  %y = multiply %a, %a : f32[2,3]
  %n = multiply %y, %a : f32[2,3]
  %zero = constant 0 : f32[]
  %s = reduce add %n, %zero, axes={1} : f32[2]
  %t = reduce add %a, %zero, axes={1} : f32[2]
  output %s, %t
})");
  std::vector<Tensor> terms{zeros(make_shape(DType::f32, {2, 3}))};
  const double rows[] = {1e15, -inf, 1, inf, nan, -inf};
  for (int i = 0; i < 6; ++i) store(terms[0], i, rows[i]);
  const std::vector<BoundedTensor> summed = evaluate_with_error_bounds(sums, terms);
  CHECK(std::isnan(as_double(summed[0].value, 0)));
  CHECK(std::isinf(summed[0].error[0]));
  CHECK(std::isfinite(summed[0].error[1]));  // a NaN stays one
  for (const double error : summed[1].error) CHECK(std::isfinite(error));
}

TEST_CASE("a product beyond the largest f32 is infinite for certain, where its factors are not exact either") {
  const Graph graph = parse_graph(R"(graph g {
  %x = parameter 0 : f32[2]
  %y = multiply %x, %x : f32[2]
  %z = multiply %y, %x : f32[2]
  %r = rsqrt %z : f32[2]
  output %z, %r
})");
  Tensor x = zeros(make_shape(DType::f32, {2}));
  store(x, 0, 3e13);
  store(x, 1, 1.5e12);
  const std::vector<Tensor> inputs{x};
  const std::vector<BoundedTensor> found = evaluate_with_error_bounds(graph, inputs);
  CHECK(std::isinf(as_double(found[0].value, 0)));
  CHECK(std::isfinite(as_double(found[0].value, 1)));
  for (const BoundedTensor& one : found)
    for (const double error : one.error) CHECK(std::isfinite(error));
}

TEST_CASE("what overflows in f16 only cannot be judged, and is counted") {
  const Graph graph = parse_graph(R"(graph g {
  %x = parameter 0 : f16[2]
  %big = constant 60000 : f16[]
  %b = broadcast %big : f16[2]
  %m = multiply %x, %b : f16[2]
  %d = divide %m, %b : f16[2]
  output %d
})");
  Tensor x = zeros(make_shape(DType::f16, {2}));
  store(x, 0, 0.5);
  store(x, 1, 2.0);
  const std::vector<Tensor> inputs{x};
  const BoundedTensor output = evaluate_with_error_bounds(graph, inputs).front();
  CHECK(compare(output, x.bytes).wrong == 0);
  CHECK(compare(output, x.bytes).unjudged == 1);
}
