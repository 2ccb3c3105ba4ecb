// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The reference evaluator on small graphs whose results can be worked out by hand or by a few independent lines. There
// is a case for each class of operation: moves, reductions, conversions, look-ups, windows, products, control flow,
// complex numbers. What it has no semantics for must be refused by name. Part of the suite `reference`.
#include "reference/evaluate.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "ir/graph/number.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

Tensor tensor(DType dtype, const Dims& dims, const std::vector<double>& values) {
  Tensor result = zeros(make_shape(dtype, dims));
  for (std::size_t i = 0; i < values.size(); ++i) store(result, static_cast<std::int64_t>(i), values[i]);
  return result;
}

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < elements(tensor.shape); ++i) result.push_back(as_double(tensor, i));
  return result;
}

std::vector<double> counted(std::int64_t count, double first = 0) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(first + static_cast<double>(i));
  return result;
}

/// Evaluates "graph g { BODY }" on inputs; output k as doubles.
std::vector<std::vector<double>> run(std::string_view body, const std::vector<Tensor>& inputs = {}) {
  const Graph graph = parse_graph(fmt::format("graph g {{ {} }}", body));
  std::vector<std::vector<double>> result;
  for (const Tensor& output : evaluate(graph, inputs)) result.push_back(values(output));
  return result;
}

using Lists = std::vector<std::vector<double>>;
constexpr double inf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("softmax of a row sums to one and orders as its input") {
  const Lists out = run(R"(
    %x = parameter 0 : f32[2,3] %lowest = constant -inf : f32[] %zero = constant 0 : f32[]
    %m = reduce max %x, %lowest, axes={1} : f32[2]
    %mb = broadcast %m, axes={0} : f32[2,3]
    %d = subtract %x, %mb : f32[2,3]
    %e = exp %d : f32[2,3]
    %s = reduce add %e, %zero, axes={1} : f32[2]
    %sb = broadcast %s, axes={0} : f32[2,3]
    %y = divide %e, %sb : f32[2,3]
    output %y, %m)",
                        {tensor(DType::f32, {2, 3}, {1, 2, 3, 1000, 1000, -inf})});
  CHECK(out[0][0] + out[0][1] + out[0][2] == approx(1));
  CHECK(out[0][2] / out[0][1] == approx(std::exp(1.0)));
  CHECK(out[0][3] == 0.5);
  CHECK(out[0][5] == 0);
  CHECK(out[1] == std::vector<double>{3, 1000});
}

TEST_CASE("index operations move elements where HLO says") {
  const Tensor x = tensor(DType::s32, {2, 3}, counted(6));
  const auto on_x = [&](std::string_view body) {
    return run(fmt::format("%x = parameter 0 : s32[2,3] %z = constant 9 : s32[] {} output %r", body), {x})[0];
  };
  CHECK(on_x("%r = transpose %x, axes={1,0} : s32[3,2]") == std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK(on_x("%r = reverse %x, axes={1} : s32[2,3]") == std::vector<double>{2, 1, 0, 5, 4, 3});
  CHECK(on_x("%r = slice %x, ranges={1:2:1, 0:3:2} : s32[1,2]") == std::vector<double>{3, 5});
  CHECK(on_x("%r = broadcast %z : s32[2]") == std::vector<double>{9, 9});
  CHECK(on_x("%r = broadcast %x, axes={0,2} : s32[2,2,3]") == std::vector<double>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  CHECK(on_x("%r = concatenate %x, %x, axes={0} : s32[4,3]") ==
        std::vector<double>{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
  CHECK(on_x("%r = pad %x, %z, ranges={0:0:1, -1:1:0} : s32[3,3]") == std::vector<double>{1, 2, 9, 9, 9, 9, 4, 5, 9});
  CHECK(on_x("%r = pad %x, %z, ranges={0:0:0, -2:0:1} : s32[2,3]") == std::vector<double>{1, 9, 2, 4, 9, 5});
  CHECK(on_x("%r = iota, axes={1} : s32[2,3]") == std::vector<double>{0, 1, 2, 0, 1, 2});
}

TEST_CASE("a bitcast reads the same memory through another layout") {
  const Tensor x = tensor(DType::s32, {2, 3}, counted(6));
  CHECK(run("%x = parameter 0 : s32[2,3] %r = bitcast %x : s32[3,2]{0,1} output %r", {x})[0] ==
        std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK(run("%x = parameter 0 : s32[2,3]{0,1} %r = bitcast %x : s32[6] output %r", {x})[0] ==
        std::vector<double>{0, 3, 1, 4, 2, 5});
}

TEST_CASE("reductions over nothing give the initial value, also custom ones") {
  const std::string_view body =
      R"(graph r { %a = parameter 0 : f32[] %b = parameter 1 : f32[] %c = add %a, %b : f32[] output %c }
    %x = parameter 0 : f32[2,0] %i = constant 7 : f32[]
    %r = reduce add %x, %i, axes={1} : f32[2]
    %q = reduce custom %x, %i, axes={1}, bodies={0} : f32[2]
    %e = reduce add %x, %i, axes={0} : f32[0]
    output %r, %q, %e)";
  CHECK(run(body, {tensor(DType::f32, {2, 0}, {})}) == Lists{{7, 7}, {7, 7}, {}});
}

TEST_CASE("known and custom reducers agree on every choice of dimensions") {
  const Tensor x = random_tensor(make_shape(DType::s32, {3, 4, 5}), 1);
  for (const auto& [axes, shape] : std::vector<std::pair<std::string, std::string>>{
           {"0", "4,5"}, {"1", "3,5"}, {"2", "3,4"}, {"0,1", "5"}, {"0,2", "4"}, {"1,2", "3"}, {"0,1,2", ""}}) {
    CAPTURE(axes);
    for (const std::string_view op : {"add", "maximum", "minimum", "bit_xor", "multiply"}) {
      CAPTURE(op);
      const std::string_view word = op == "bit_xor" ? "xor" : op;
      const Lists out = run(fmt::format(R"(
        graph r {{ %a = parameter 0 : s32[] %b = parameter 1 : s32[] %c = {0} %a, %b : s32[] output %c }}
        %x = parameter 0 : s32[3,4,5] %i = constant 2 : s32[]
        %k = reduce {1} %x, %i, axes={{{2}}} : s32[{3}]
        %c = reduce custom %x, %i, axes={{{2}}}, bodies={{0}} : s32[{3}]
        output %k, %c)",
                                        op, word, axes, shape),
                            {x});
      CHECK(out[0] == out[1]);
    }
  }
}

TEST_CASE("a variadic reduce finds the first largest element and its place") {
  const Lists out = run(R"(
    graph argmax { %v = parameter 0 : f32[] %i = parameter 1 : s32[] %w = parameter 2 : f32[] %j = parameter 3 : s32[]
      %g = compare ge %v, %w : pred[] %m = select %g, %v, %w : f32[] %n = select %g, %i, %j : s32[] output %m, %n }
    %x = parameter 0 : f32[2,4] %p = iota, axes={1} : s32[2,4] %l = constant -inf : f32[] %z = constant 0 : s32[]
    %r = reduce custom %x, %p, %l, %z, axes={1}, bodies={0}, results={f32[2], s32[2]} : tuple
    %v = get_tuple_element %r, number=0 : f32[2]
    %i = get_tuple_element %r, number=1 : s32[2]
    output %v, %i)",
                        {tensor(DType::f32, {2, 4}, {1, 5, 5, 2, 7, 0, 1, 7})});
  CHECK(out == Lists{{5, 7}, {1, 0}});
}

TEST_CASE("floating sums are the correctly rounded ones") {
  const Tensor x = tensor(DType::f32, {3}, {1, 0x1p-30, -1});
  CHECK(run("%x = parameter 0 : f32[3] %z = constant 0 : f32[] %r = reduce add %x, %z, axes={0} : f32[] output %r",
            {x})[0][0] == 0x1p-30);
}

TEST_CASE("maximum and minimum propagate NaN and order zeros") {
  const double nan = std::nan("");
  const Lists out = run(R"(%a = parameter 0 : f32[4] %b = parameter 1 : f32[4] %x = maximum %a, %b : f32[4]
    %n = minimum %a, %b : f32[4] output %x, %n)",
                        {tensor(DType::f32, {4}, {nan, 1, -0.0, 0.0}), tensor(DType::f32, {4}, {1, nan, 0.0, -0.0})});
  for (const std::vector<double>& list : out) {
    CHECK(std::isnan(list[0]));
    CHECK(std::isnan(list[1]));
  }
  CHECK_FALSE(std::signbit(out[0][2]));
  CHECK_FALSE(std::signbit(out[0][3]));
  CHECK(std::signbit(out[1][2]));
  CHECK(std::signbit(out[1][3]));
}

TEST_CASE("conversions truncate, saturate, send NaN to zero") {
  const Tensor x = tensor(DType::f32, {6}, {1.9, -1.9, 1e10, -1e10, std::nan(""), 0.5});
  const Lists out = run(R"(%x = parameter 0 : f32[6] %a = convert %x : s8[6] %b = convert %x : u8[6]
    %c = convert %x : pred[6] %d = convert %x : s32[6] output %a, %b, %c, %d)",
                        {x});
  CHECK(out[0] == std::vector<double>{1, -1, 127, -128, 0, 0});
  CHECK(out[1] == std::vector<double>{1, 0, 255, 0, 0, 0});
  CHECK(out[2] == std::vector<double>{1, 1, 1, 1, 1, 1});
  CHECK(out[3] == std::vector<double>{1, -1, 2147483647, -2147483648.0, 0, 0});
}

TEST_CASE("integers to narrow floats are rounded once") {
  // Rounding 2^54 + 2^30 + 1 first to double would make a tie of it, and the tie would go down.
  const Lists out = run(R"(%x = constant 18014399583223809 : s64[] %y = convert %x : f32[] output %y)");
  CHECK(out[0][0] == 0x1p54 + 0x1p31);
}

TEST_CASE("total order compares every special value") {
  const double nan = std::nan("");
  const Tensor a = tensor(DType::f32, {4}, {-0.0, nan, inf, -inf});
  const Tensor b = tensor(DType::f32, {4}, {0.0, inf, nan, -1});
  const Lists out =
      run(R"(%a = parameter 0 : f32[4] %b = parameter 1 : f32[4] %t = compare lt %a, %b, total_order : pred[4]
    %p = compare lt %a, %b : pred[4] output %t, %p)",
          {a, b});
  CHECK(out == Lists{{1, 0, 1, 1}, {0, 0, 0, 1}});
}

TEST_CASE("reduce-precision rounds, overflows and flushes") {
  const Tensor x = tensor(DType::f32, {5}, {1 + 0x1p-11, 65504, 65520, 0x1p-14, 0x1p-15});
  CHECK(run(R"(%x = parameter 0 : f32[5] %r = reduce_precision %x, text="exponent_bits=5, mantissa_bits=10" : f32[5]
    output %r)",
            {x})[0] == std::vector<double>{1, 65504, inf, 0x1p-14, 0});
}

TEST_CASE("bitcast-convert keeps bits, also to other widths") {
  const Lists out =
      run(R"(%x = constant {1, -2} : f32[2] %a = bitcast_convert %x : u32[2] %b = bitcast_convert %x : u8[2,4]
    %n = constant {1, 2, -1, 3} : s4[4] %v = reshape %n : s4[2,2] %c = bitcast_convert %v : u8[2] output %a, %b, %c)");
  CHECK(out[0] == std::vector<double>{0x3f800000, 0xc0000000});
  CHECK(out[1] == std::vector<double>{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0});
  CHECK(out[2] == std::vector<double>{0x21, 0x3f});
}

TEST_CASE("dynamic slices clamp their starts") {
  const Tensor x = tensor(DType::s32, {5}, counted(5));
  const std::string_view body = R"(%x = parameter 0 : s32[5] %i = parameter 1 : s32[] %u = constant {7, 8} : s32[2]
    %s = dynamic_slice %x, %i : s32[2] %d = dynamic_update_slice %x, %u, %i : s32[5] output %s, %d)";
  CHECK(run(body, {x, tensor(DType::s32, {}, {9})}) == Lists{{3, 4}, {0, 1, 2, 7, 8}});
  CHECK(run(body, {x, tensor(DType::s32, {}, {-9})}) == Lists{{0, 1}, {7, 8, 2, 3, 4}});
}

TEST_CASE("gather reads rows, scatter adds them back and drops what is outside") {
  const Tensor x = tensor(DType::f32, {3, 2}, counted(6));
  const Lists out = run(R"(%x = parameter 0 : f32[3,2] %i = constant {2, 0, 9} : s32[3] %z = constant 0 : f32[]
    %zs = broadcast %z : f32[3,2]
    %g = gather %x, %i, text="offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}" : f32[3,2]
    %s = scatter add %zs, %i, %g, text="update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1" : f32[3,2]
    output %g, %s)",
                        {x});
  CHECK(out == Lists{{4, 5, 0, 1, 4, 5}, {0, 1, 0, 0, 4, 5}});
}

TEST_CASE("sort is stable and carries its companions") {
  const Lists out = run(R"(graph c { %a = parameter 0 : f32[] %b = parameter 1 : f32[] %i = parameter 2 : s32[]
      %j = parameter 3 : s32[] %r = compare gt %a, %b : pred[] output %r }
    %x = parameter 0 : f32[2,3] %i = iota, axes={1} : s32[2,3]
    %s = sort %x, %i, axes={1}, bodies={0}, results={f32[2,3], s32[2,3]} : tuple
    %v = get_tuple_element %s : f32[2,3] %p = get_tuple_element %s, number=1 : s32[2,3] output %v, %p)",
                        {tensor(DType::f32, {2, 3}, {1, 3, 3, 2, 0, 2})});
  CHECK(out == Lists{{3, 3, 1, 2, 2, 0}, {1, 2, 0, 0, 2, 1}});
}

TEST_CASE("a comparator that reads floats as integers orders the bits, written as a move or as a conversion") {
  for (const std::string_view cast : {"bitcast", "bitcast_convert"}) {
    const Lists out =
        run(fmt::format(R"(graph c {{ %a = parameter 0 : f32[] %b = parameter 1 : f32[] %i = {0} %a : s32[]
      %j = {0} %b : s32[] %r = compare lt %i, %j : pred[] output %r }}
    %x = parameter 0 : f32[6] %v = sort %x, axes={{0}}, bodies={{0}} : f32[6] output %v)",
                        cast),
            {tensor(DType::f32, {6}, {0.75, -0.5, 0.25, 3, -2, 0.5})});
    CAPTURE(cast);
    CHECK(out == Lists{{-0.5, -2, 0.25, 0.5, 0.75, 3}});  // of two negative numbers the larger has the smaller bits
  }
}

TEST_CASE("windows: pooling and its gradient") {
  const Lists out =
      run(R"(graph ge { %a = parameter 0 : f32[] %b = parameter 1 : f32[] %r = compare ge %a, %b : pred[] output %r }
    %x = parameter 0 : f32[1,4] %l = constant -inf : f32[] %z = constant 0 : f32[]
    %p = reduce_window max %x, %l, text="window={size=1x2 stride=1x2}" : f32[1,2]
    %w = reduce_window add %x, %z, text="window={size=1x3 pad=0_0x1_1}" : f32[1,4]
    %g = select_and_scatter add %x, %p, %z, text="window={size=1x2 stride=1x2}", bodies={0} : f32[1,4]
    output %p, %w, %g)",
          {tensor(DType::f32, {1, 4}, {1, 5, 2, 2})});
  CHECK(out == Lists{{5, 2}, {6, 8, 9, 4}, {0, 5, 2, 0}});
}

TEST_CASE("windows much longer than their array take no longer than one as long") {
  const Lists out =
      run(R"(graph ge { %a = parameter 0 : f32[] %b = parameter 1 : f32[] %r = compare ge %a, %b : pred[] output %r }
    %x = parameter 0 : f32[1,4] %s = parameter 1 : f32[1,1] %z = constant 0 : f32[] %o = constant 1 : f32[]
    %w = reduce_window add %x, %z, text="window={size=2x1000000000000 pad=1_0x999999999996_0}" : f32[1,1]
    %d = reduce_window multiply %x, %o, text="window={size=1x1000000000000 pad=0_0x999999999993_2 lhs_dilate=1x2}" : f32[1,3]
    %g = select_and_scatter add %x, %s, %z, text="window={size=1x1000000000000 pad=0_0x999999999996_0}", bodies={0} : f32[1,4]
    output %w, %d, %g)",
          {tensor(DType::f32, {1, 4}, {1, 5, 2, 2}), tensor(DType::f32, {1, 1}, {3})});
  CHECK(out == Lists{{10}, {20, 20, 20}, {0, 3, 0, 0}});
}

TEST_CASE("dot agrees with three loops for batched operands in any order") {
  const Tensor a = random_tensor(make_shape(DType::f32, {2, 3, 4}), 1),
               b = random_tensor(make_shape(DType::f32, {4, 5, 2}), 2);
  const Lists out = run(R"(%a = parameter 0 : f32[2,3,4] %b = parameter 1 : f32[4,5,2]
    %r = dot %a, %b, text="lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={2}, rhs_contracting_dims={0}" : f32[2,3,5]
    output %r)",
                        {a, b});
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 5; ++j) {
        double sum = 0;
        for (int k = 0; k < 4; ++k) sum += as_double(a, (n * 3 + i) * 4 + k) * as_double(b, (k * 5 + j) * 2 + n);
        CHECK(out[0][static_cast<std::size_t>((n * 3 + i) * 5 + j)] == static_cast<double>(static_cast<float>(sum)));
      }
}

TEST_CASE("convolution: padding, stride, groups") {
  const Lists out = run(R"(%x = parameter 0 : f32[1,4,1] %k = constant {1, 10, 100} : f32[3,1,1]
    %r = convolution %x, %k, text="window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f" : f32[1,4,1]
    %s = convolution %x, %k, text="window={size=3 stride=2}, dim_labels=b0f_0io->b0f" : f32[1,1,1]
    %k2 = constant {1, 10} : f32[1,1,2] %y = reshape %x : f32[1,2,2]
    %g = convolution %y, %k2, text="window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=2" : f32[1,2,2]
    output %r, %s, %g)",
                        {tensor(DType::f32, {1, 4, 1}, {1, 2, 3, 4})});
  CHECK(out == Lists{{210, 321, 432, 43}, {321}, {1, 20, 3, 40}});
}

TEST_CASE("while runs until its condition fails, conditional takes its branch") {
  const Lists out = run(R"(
    graph cond { %i = parameter 0 : s32[] %s = parameter 1 : f32[2] %n = constant 3 : s32[] %r = compare lt %i, %n : pred[] output %r }
    graph step { %i = parameter 0 : s32[] %s = parameter 1 : f32[2] %one = constant 1 : s32[] %j = add %i, %one : s32[]
      %t = add %s, %s : f32[2] output %j, %t }
    graph yes { %a = parameter 0 : f32[2] %n = negate %a : f32[2] output %n }
    graph no { %a = parameter 0 : f32[2] output %a }
    %x = parameter 0 : f32[2] %z = constant 0 : s32[] %p = constant false : pred[]
    %w = while_loop %z, %x, bodies={0,1}, results={s32[], f32[2]} : tuple
    %v = get_tuple_element %w, number=1 : f32[2]
    %c = conditional %p, %v, %x, bodies={2,3} : f32[2]
    output %v, %c)",
                        {tensor(DType::f32, {2}, {1, 2})});
  CHECK(out == Lists{{8, 16}, {1, 2}});
}

TEST_CASE("a loop gives what its steps give one by one, whatever they read of what they update") {
  // States: a number, two arrays. Each step updates %a or %b in a few places; what stands there is read before, after,
  // or by the results, once or twice.
  const std::string_view places =
      "graph up { %a = parameter 0 : f32[6] %i = parameter 1 : s32[] %u = constant {7, 9} : f32[2] "
      "%n = dynamic_update_slice %a, %u, %i : f32[6] output %n } "
      "graph as_it_is { %a = parameter 0 : f32[6] %i = parameter 1 : s32[] output %a } "
      "graph twice { %i = parameter 0 : s32[] %a = parameter 1 : f32[6] %b = parameter 2 : f32[6] "
      "%n = constant 2 : s32[] %r = compare lt %i, %n : pred[] output %r } "
      "graph cross { %i = parameter 0 : s32[] %a = parameter 1 : f32[6] %b = parameter 2 : f32[6] "
      "%one = constant 1 : s32[] %j = add %i, %one : s32[] %u = constant {3, 5} : f32[2] "
      "%n = dynamic_update_slice %a, %u, %i : f32[6] output %j, %b, %n } "
      "%i = parameter 0 : s32[] %a = parameter 1 : f32[6] %b = parameter 2 : f32[6] "
      "%one = constant 1 : s32[] %j = add %i, %one : s32[] "
      "%x = dynamic_slice %b, %j : f32[2] %y = add %x, %x : f32[2] "
      "%at = reshape %i : s32[1] %u = slice %y, ranges={0:1:1} : f32[1] ";
  const std::string_view update = "%n = dynamic_update_slice %a, %y, %i : f32[6] ";
  const std::string_view scatter =
      "%n = scatter add %a, %at, %u, text=\"update_window_dims={0}, inserted_window_dims={}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=0\" : f32[6] ";
  int loops = 0;
  for (const std::string_view by : {update, scatter})
    for (const char* rest :
         {"output %j, %n, %b", "output %j, %b, %n", "output %j, %a, %n", "output %j, %n, %n", "output %j, %n, %a",
          "%s = add %n, %a : f32[6] output %j, %n, %s", "%s = subtract %a, %b : f32[6] output %j, %n, %s",
          "%m = dynamic_update_slice %n, %y, %j : f32[6] output %j, %m, %n",
          "%t = tuple %a, %b : tuple %c = get_tuple_element %t, number=0 : f32[6] "
          "%m = dynamic_update_slice %c, %x, %j : f32[6] output %j, %n, %m",
          // Branches and a loop inside, of what is needed afterwards or not, once or twice.
          "%p = compare lt %i, %one : pred[] %m = conditional %p, %n, %i, %n, %i, bodies={0,1} : f32[6] output %j, %m, "
          "%b",
          "%p = compare lt %i, %one : pred[] %m = conditional %p, %n, %i, %b, %i, bodies={0,1} : f32[6] output %j, %m, "
          "%n",
          "%z = constant 0 : s32[] %w = while_loop %z, %n, %n, bodies={2,3}, results={s32[], f32[6], f32[6]} : tuple "
          "%q = get_tuple_element %w, number=1 : f32[6] %r = get_tuple_element %w, number=2 : f32[6] output %j, %q, %r",
          "%z = constant 0 : s32[] %w = while_loop %z, %n, %b, bodies={2,3}, results={s32[], f32[6], f32[6]} : tuple "
          "%q = get_tuple_element %w, number=1 : f32[6] %s = add %q, %b : f32[6] output %j, %q, %s"}) {
      const std::string step = fmt::format("{}{}{}", places, by, rest);
      INFO(step);
      const std::vector<Tensor> first = {tensor(DType::s32, {}, {0}), tensor(DType::f32, {6}, counted(6, 1)),
                                         tensor(DType::f32, {6}, counted(6, -3))};
      std::vector<Tensor> by_hand = first;
      const Graph body = parse_graph(fmt::format("graph g {{ {} }}", step));
      for (int i = 0; i < 4; ++i) by_hand = evaluate(body, by_hand);
      const Graph loop = parse_graph(fmt::format(
          "graph g {{ graph cond {{ %i = parameter 0 : s32[] %a = parameter 1 : f32[6] %b = parameter 2 : f32[6] "
          "%n = constant 4 : s32[] %r = compare lt %i, %n : pred[] output %r }} graph step {{ {} }} "
          "%i = parameter 0 : s32[] %a = parameter 1 : f32[6] %b = parameter 2 : f32[6] "
          "%w = while_loop %i, %a, %b, bodies={{0,1}}, results={{s32[], f32[6], f32[6]}} : tuple "
          "%p = get_tuple_element %w, number=1 : f32[6] %q = get_tuple_element %w, number=2 : f32[6] "
          "output %p, %q, %a, %b }}",
          step));
      const std::vector<Tensor> out = evaluate(loop, first);
      CHECK(values(out[0]) == values(by_hand[1]));
      CHECK(values(out[1]) == values(by_hand[2]));
      CHECK(values(out[2]) == values(first[1]));  // what the loop began with is left as it was
      CHECK(values(out[3]) == values(first[2]));
      ++loops;
    }
  CHECK(loops == 26);
}

TEST_CASE("complex numbers are split, multiplied and joined") {
  const Lists out = run(R"(%a = constant {1, 2} : f32[2] %b = constant {3, -1} : f32[2] %c = complex %a, %b : c64[2]
    %p = multiply %c, %c : c64[2] %r = real %p : f32[2] %i = imag %p : f32[2] output %r, %i)");
  CHECK(out == Lists{{-8, 3}, {6, -4}});
}

TEST_CASE("every complex operation gives the parts that its definition by real ones gives") {
  // a = x + iy, b = u + iv. Definitions in real parts, from which std::complex is not asked.
  const double x = 0.5, y = -1.25, u = 2, v = 0.75;
  const double size = std::hypot(x, y), turn = std::atan2(y, x), square = u * u + v * v;
  const double root = std::sqrt(size), log_size = std::log(size);
  const auto polar = [](double r, double angle) { return std::pair(r * std::cos(angle), r * std::sin(angle)); };
  const std::pair<double, double> power = polar(std::exp(u * log_size - v * turn), v * log_size + u * turn);
  const double tanh_below = std::cosh(2 * x) + std::cos(2 * y);
  struct Row {
    std::string_view line;
    std::pair<double, double> expected;
  };
  const Row rows[] = {
      {"add %a, %b", {x + u, y + v}},
      {"subtract %a, %b", {x - u, y - v}},
      {"multiply %a, %b", {x * u - y * v, x * v + y * u}},
      {"divide %a, %b", {(x * u + y * v) / square, (y * u - x * v) / square}},
      {"power %a, %b", power},
      {"negate %a", {-x, -y}},
      {"exp %a", polar(std::exp(x), y)},
      {"log %a", {log_size, turn}},
      {"sqrt %a", polar(root, turn / 2)},
      {"rsqrt %a", polar(1 / root, -turn / 2)},
      {"tanh %a", {std::sinh(2 * x) / tanh_below, std::sin(2 * y) / tanh_below}},
      {"sin %a", {std::sin(x) * std::cosh(y), std::cos(x) * std::sinh(y)}},
      {"cos %a", {std::cos(x) * std::cosh(y), -std::sin(x) * std::sinh(y)}},
      {"copy %a", {x, y}},
      {"select %p, %a, %b", {x, y}},
      {"select %q, %a, %b", {u, v}},
  };
  for (const Row& row : rows)
    for (const auto& [part, whole] : {std::pair{"f64", "c128"}, {"f32", "c64"}}) {
      CAPTURE(row.line);
      CAPTURE(whole);
      const Lists out = run(fmt::format(
          "%x = constant {{{0}}} : {4}[1] %y = constant {{{1}}} : {4}[1] %u = constant {{{2}}} : {4}[1] %v = constant "
          "{{{3}}} : {4}[1]\n%a = complex %x, %y : {5}[1] %b = complex %u, %v : {5}[1] %p = constant {{true}} : "
          "pred[1] "
          "%q = constant {{false}} : pred[1]\n%r = {6} : {5}[1] %re = real %r : {4}[1] %im = imag %r : {4}[1] %m = abs "
          "%r : {4}[1]\n%e = compare eq %a, %b : pred[1] %n = compare ne %a, %b : pred[1] %s = compare eq %a, %a : "
          "pred[1]\noutput %re, %im, %m, %e, %n, %s",
          x, y, u, v, part, whole, row.line));
      const double near = std::string_view(part) == "f64" ? 1e-12 : 1e-6;
      CHECK(std::fabs(out[0][0] - row.expected.first) < near * 10);
      CHECK(std::fabs(out[1][0] - row.expected.second) < near * 10);
      CHECK(std::fabs(out[2][0] - std::hypot(row.expected.first, row.expected.second)) < near * 10);
      CHECK(Lists{out[3], out[4], out[5]} == Lists{{0}, {1}, {1}});
    }
}

TEST_CASE("the largest and the smallest of each line are in order, equal ones as they stood") {
  const auto picked = [](std::string_view largest) {
    return run(
        fmt::format("%x = constant {{3, 1, 3, 2, 0, 5, 5, 4}} : f32[2,4] %t = topk %x, text=\"k=3, largest={}\", "
                    "results={{f32[2,3], s32[2,3]}} : tuple %v = get_tuple_element %t, number=0 : f32[2,3] %i = "
                    "get_tuple_element %t, number=1 : s32[2,3] output %v, %i",
                    largest));
  };
  CHECK(picked("true") == Lists{{3, 3, 2, 5, 5, 4}, {0, 2, 3, 1, 2, 3}});
  CHECK(picked("false") == Lists{{1, 2, 3, 0, 4, 5}, {1, 3, 0, 0, 3, 1}});
}

TEST_CASE("a scalar that is spread is the same whoever reads it") {
  // Operations on elements read the scalar itself; a reduction, a move and an output need the array.
  const Lists out = run(R"(%s = parameter 0 : f32[] %x = parameter 1 : f32[2,2] %z = constant 0 : f32[]
    %b = broadcast %s : f32[2,2] %c = broadcast %s : f32[2,2] %d = broadcast %s : f32[2,2] %e = broadcast %s : f32[2,2]
    %p = add %x, %b : f32[2,2] %q = multiply %b, %b : f32[2,2] %r = reduce add %c, %z, axes={1} : f32[2]
    %t = add %x, %c : f32[2,2] %m = transpose %d, axes={1,0} : f32[2,2] %w = compare lt %x, %b : pred[2,2]
    %u = select %w, %x, %e : f32[2,2]
    output %p, %q, %r, %t, %m, %u, %e)",
                        {tensor(DType::f32, {}, {3}), tensor(DType::f32, {2, 2}, {1, 2, 4, 5})});
  CHECK(out == Lists{{4, 5, 7, 8}, {9, 9, 9, 9}, {6, 6}, {4, 5, 7, 8}, {3, 3, 3, 3}, {1, 2, 3, 3}, {3, 3, 3, 3}});
}

TEST_CASE("what has no semantics is refused by name") {
  const Graph g = parse_graph(R"(graph g { %x = parameter 0 : f32[2] %r = rng %x, %x : f32[2]
    %c = constant {...} : f32[2] %s = add %r, %c : f32[2] output %s })");
  CHECK_FALSE(can_evaluate(g, 1));
  CHECK_FALSE(can_evaluate(g, 2));
  CHECK(can_evaluate(g, 3));
  CHECK_THROWS_WITH_AS(evaluate(g, std::vector{zeros(make_shape(DType::f32, {2}))}), doctest::Contains("%r"), Error);
  CHECK_THROWS_AS(evaluate(g, std::vector{zeros(make_shape(DType::f32, {3}))}), Error);
  CHECK_THROWS_AS(evaluate(g, {}), Error);
}
