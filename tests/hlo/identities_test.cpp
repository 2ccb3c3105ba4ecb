// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Folding is asked exhaustively: every operation of two operands with a known number on either side, or with one value
// on both, for all values of small types and the odd ones of floats (zeros of both signs, infinities, NaN). What is
// left after all passes computes the same bits as what the text says. Part of the suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "hlo/as_written.h"
#include "hlo/import.h"
#include "reference/evaluate.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

/// All values of a small type, or those of floats at which identities break.
Tensor telling_values(DType dtype) {
  if (is_floating(dtype)) {
    const std::vector<double> odd{0.0,
                                  -0.0,
                                  1,
                                  -1,
                                  0.5,
                                  2,
                                  -3,
                                  std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity(),
                                  std::nan("")};
    Tensor made = zeros(make_shape(dtype, {static_cast<std::int64_t>(odd.size())}));
    for (std::size_t i = 0; i < odd.size(); ++i) store(made, static_cast<std::int64_t>(i), odd[i]);
    return made;
  }
  const std::int64_t count = dtype == DType::pred ? 2 : 256, low = is_signed(dtype) ? -128 : 0;
  Tensor made = zeros(make_shape(dtype, {count}));
  for (std::int64_t i = 0; i < count; ++i) store_integer(made, i, low + i);
  return made;
}

bool is_same(const Tensor& a, const Tensor& b) {
  if (!is_floating(a.shape.dtype)) return a.bytes == b.bytes;
  for (std::int64_t i = 0; i < elements(a.shape); ++i) {
    const double left = as_double(a, i), right = as_double(b, i);
    if (std::isnan(left) ? !std::isnan(right) : left != right || std::signbit(left) != std::signbit(right))
      return false;
  }
  return true;
}

/// Whether the imported graph computes what the text says; counts those of which less is left.
bool keeps_its_value(const std::string& lines, const Tensor& given, int& folded) {
  const std::string text = "HloModule m\n\nENTRY e {\n" + lines + "\n}\n";
  const Graph before = testing::as_written(text), after = hlo::import_hlo(text, "test.hlo").graph;
  verify(after);
  folded += after.nodes.size() < before.nodes.size() ? 1 : 0;
  return is_same(evaluate(before, std::vector{given}).front(), evaluate(after, std::vector{given}).front());
}

struct TypeOfIdentity {
  std::string_view name;
  std::vector<std::string_view> numbers, operations;
};

const std::vector<TypeOfIdentity>& identity_types() {
  static const std::vector<std::string_view> whole{"add",
                                                   "subtract",
                                                   "multiply",
                                                   "divide",
                                                   "remainder",
                                                   "maximum",
                                                   "minimum",
                                                   "and",
                                                   "or",
                                                   "xor",
                                                   "power",
                                                   "shift-left",
                                                   "shift-right-logical",
                                                   "shift-right-arithmetic"};
  static const std::vector<TypeOfIdentity> types{
      {"s8", {"0", "1", "-1", "2", "-128", "127"}, whole},
      {"u8", {"0", "1", "2", "255", "128"}, whole},
      {"pred", {"false", "true"}, {"and", "or", "xor", "add", "multiply", "maximum", "minimum"}},
      {"f32",
       {"0", "-0", "1", "-1", "2", "inf", "-inf", "nan"},
       {"add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "remainder"}},
      {"f16", {"0", "-0", "1", "inf"}, {"add", "subtract", "multiply", "divide", "maximum", "minimum"}}};
  return types;
}

}  // namespace

TEST_CASE("an operation with a known number on either side keeps its value for every value of the other") {
  int folded = 0;
  for (const TypeOfIdentity& type : identity_types()) {
    const Tensor given = telling_values(find_dtype(type.name)->dtype);
    const std::int64_t count = elements(given.shape);
    for (const std::string_view operation : type.operations)
      for (const std::string_view number : type.numbers)
        for (const std::string_view operands : {"x, k", "k, x"}) {
          CAPTURE(type.name);
          CAPTURE(operation);
          CAPTURE(number);
          CAPTURE(operands);
          CHECK(keeps_its_value(fmt::format("x = {0}[{1}] parameter(0)\nc = {0}[] constant({2})\n"
                                            "k = {0}[{1}] broadcast(c), dimensions={{}}\nROOT y = {0}[{1}] {3}({4})",
                                            type.name, count, number, operation, operands),
                                given, folded));
        }
  }
  CHECK(folded > 60);
}

TEST_CASE(
    "an operation of a value with itself, and a selection with a known predicate or equal sides, keeps its value") {
  int folded = 0;
  for (const TypeOfIdentity& type : identity_types()) {
    const Tensor given = telling_values(find_dtype(type.name)->dtype);
    const std::string shape = fmt::format("{}[{}]", type.name, elements(given.shape));
    CAPTURE(type.name);
    for (const std::string_view operation : type.operations) {
      CAPTURE(operation);
      CHECK(keeps_its_value(fmt::format("x = {0} parameter(0)\nROOT y = {0} {1}(x, x)", shape, operation), given,
                            folded));
    }
    for (const std::string_view direction : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
      CAPTURE(direction);
      CHECK(keeps_its_value(fmt::format("x = {0} parameter(0)\nROOT y = pred[{1}] compare(x, x), direction={2}", shape,
                                        elements(given.shape), direction),
                            given, folded));
    }
    for (const std::string_view predicate : {"true", "false"})
      for (const std::string_view sides : {"x, n", "n, x", "x, x"}) {
        CAPTURE(sides);
        CHECK(keeps_its_value(
            fmt::format("x = {0} parameter(0)\nn = {0} {3}(x, x)\nq = pred[] constant({1})\n"
                        "p = pred[{4}] broadcast(q), dimensions={{}}\nROOT y = {0} select(p, {2})",
                        shape, predicate, sides, type.name == "pred" ? "xor" : "add", elements(given.shape)),
            given, folded));
      }
  }
  CHECK(folded > 40);
}
