// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the lowering makes of a plan's arithmetic class: divisions by constants as products, and kernels that are told
// apart where they are printed differently and only there. In: small groups in text form, each under all classes.
// Part of the suite `codegen`; needs no NVRTC.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "codegen/lower/lower.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr Limits lower_limits{90, 2, 32, 1024, 2048, 16, 65536, 65536, 255, 256, 4, 4, 65536, 49152, 65536, 0, 128};

/// y = what `lines` make of x, of a type.
Kernel kernel_of(std::string_view dtype, const std::string& lines, Arithmetic arithmetic) {
  std::string source =
      "graph g {\n  %x = parameter 0 : T[64]\n  %z = parameter 1 : T[64]\n" + lines + "  output %y\n}\n";
  for (std::size_t at = source.find("T["); at != source.npos; at = source.find("T[", at + 1))
    source.replace(at, 1, dtype);
  const Group group{parse_graph(source), {}};
  const auto ready = codegen::prepare(group);
  const auto& prepared = std::get<codegen::Prepared>(ready);
  Plan plan;
  plan.skeleton = prepared.skeleton;
  plan.dominant = prepared.dominants.front();
  plan.vector = 1;
  plan.arithmetic = arithmetic;
  codegen::LowerScratch scratch;
  return std::get<Kernel>(codegen::lower(prepared, plan, lower_limits, scratch));
}

std::string divided_by(std::string_view constant) {
  return fmt::format("  %c = constant {} : T[]\n  %b = broadcast %c, axes={{}} : T[64]\n  %y = divide %x, %b : T[64]\n",
                     constant);
}

std::vector<const Value*> operations(const Kernel& kernel, Op op) {
  std::vector<const Value*> all;
  for (const Value& value : kernel.values)
    if (value.kind == ValueKind::op && value.op == op) all.push_back(&value);
  return all;
}

}  // namespace

TEST_CASE(
    "x / constant is a product with the reciprocal, but in ieee, in f64, in integers and where that is subnormal") {
  for (const std::string_view dtype : {"f32", "f16", "bf16"})
    for (const Arithmetic arithmetic : {Arithmetic::xla, Arithmetic::approx}) {
      const Kernel kernel = kernel_of(dtype, divided_by("3.0"), arithmetic);
      CHECK(operations(kernel, Op::divide).empty());
      const auto products = operations(kernel, Op::multiply);
      REQUIRE(products.size() == 1);
      CHECK(kernel.values[products[0]->operands[1]].real == static_cast<double>(1.0F / 3.0F));
    }
  CHECK(operations(kernel_of("f32", divided_by("3.0"), Arithmetic::ieee), Op::divide).size() == 1);
  CHECK(operations(kernel_of("f64", divided_by("3.0"), Arithmetic::approx), Op::divide).size() == 1);
  CHECK(operations(kernel_of("s32", divided_by("3"), Arithmetic::approx), Op::divide).size() == 1);
  for (const std::string_view constant : {"3e38", "0.0", "inf"})
    CHECK(operations(kernel_of("f32", divided_by(constant), Arithmetic::xla), Op::divide).size() == 1);
  CHECK(operations(kernel_of("f32", "  %y = divide %x, %z : T[64]\n", Arithmetic::xla), Op::divide).size() == 1);
}

TEST_CASE("kernels of two classes are the same program where they are printed alike, and only there") {
  const auto id = [](std::string_view dtype, const std::string& lines, Arithmetic arithmetic) {
    return id_of(kernel_of(dtype, lines, arithmetic));
  };
  using enum Arithmetic;
  const std::string divide = "  %y = divide %x, %z : T[64]\n", exp = "  %y = exp %x : T[64]\n",
                    tanh = "  %y = tanh %x : T[64]\n", add = "  %y = add %x, %z : T[64]\n";
  CHECK(id("f32", divide, ieee) != id("f32", divide, xla));
  CHECK(id("f32", divide, xla) != id("f32", divide, approx));
  CHECK(id("f32", tanh, ieee) == id("f32", tanh, xla));
  CHECK(id("f32", tanh, xla) != id("f32", tanh, approx));
  CHECK(id("f32", exp, ieee) != id("f32", exp, xla));
  CHECK(id("f32", exp, xla) != id("f32", exp, approx));
  CHECK(id("f16", exp, xla) != id("f16", exp, approx));
  CHECK(id("f64", exp, ieee) == id("f64", exp, approx));
  CHECK(id("s32", divide, ieee) == id("s32", divide, approx));
  CHECK(id("f32", add, ieee) == id("f32", add, approx));
}
