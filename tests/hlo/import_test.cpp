// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Import: what the text may look like, what becomes of it, how bad text is refused, and the audit over real dumps:
// every file imports, its graph's text reads back, its ledger balances. Texts are written here, one per form; dumps
// come from the data folder and are skipped without it. Part of the suite `hlo`.
#include "hlo/import.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "hlo/normalise.h"
#include "support/ledger.h"
#include "support/paths.h"
#include "support/skip.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::hlo;

namespace {

Graph graph_of(std::string_view text) { return import_hlo(text, "test.hlo").graph; }

const Node& output_node(const Graph& graph, std::size_t i = 0) { return graph[graph.outputs[i]]; }

const Node& operand(const Graph& graph, const Node& node, std::size_t i) { return graph[node.operands[i]]; }

/// A module whose module_text has these lines.
std::string module_text(std::string_view lines) { return fmt::format("HloModule m\n\nENTRY e {{\n{}\n}}\n", lines); }

Error refusal(std::string_view text) {
  try {
    import_hlo(text, "bad.hlo");
  } catch (const Error& error) {
    return error;
  }
  FAIL("expected an error for: ", text);
  return {Fault::failed, ""};
}

template <class T>
std::vector<T> contents(const Node& node) {
  const std::vector<std::byte>& bytes = attributes_as<Literal>(node).bytes;
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

constexpr std::string_view sum_region =
    "add_f32 {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
    "  ROOT c = f32[] add(a, b)\n}\n";

}  // namespace

TEST_CASE("percent signs, operand shapes, comments and line breaks make no difference") {
  const Graph plain = graph_of(module_text("x = f32[4,8]{1,0} parameter(0)\nROOT y = f32[4,8]{1,0} add(x, x)"));
  CHECK(plain ==
        graph_of("HloModule m\nENTRY %e (x: f32[4,8]) -> f32[4,8] {\n %x = f32[4,8]{1,0} parameter(0)\n"
                 " ROOT %y = f32[4,8]{1,0} add(f32[4,8]{1,0} %x, f32[4,8]{1,0} %x), metadata={op_name=\"a}(\"}\n}"));
  CHECK(plain ==
        graph_of("HloModule m, is_scheduled=true\n// a comment\nENTRY e {\nx = f32[4,/*index=1*/8] parameter(0)\n"
                 "ROOT y = f32[4,8]{1,0:T(8,128)} add(\n  x,\n  x)\n}"));
}

TEST_CASE("stack-frame tables and unknown attributes are skipped, unknown module attributes with a warning") {
  const Imported imported = import_hlo(
      "HloModule m, frontend_attributes={k=\"}\"}, strange={{1},{2}}\n\nFileNames\n1 \"a.py\"\n2 "
      "\"b}.py\"\n\nFunctionNames\n"
      "1 \"f\"\n\nFileLocations\n1 {file_name_id=1 line=3}\n\nStackFrames\n1 {file_location_id=1}\n\nENTRY e {\n"
      "  x = f32[2] parameter(0), mystery={a=[1,{2}], b=\"]\"}\n  ROOT y = f32[2] negate(x), other=3x4x5\n"
      "}, execution_thread=\"main\"\n",
      "test.hlo");
  CHECK(imported.graph.nodes.size() == 2);
  REQUIRE_FALSE(imported.report.warnings.empty());
  CHECK(imported.report.warnings[0] == "unknown module attribute 'strange' skipped");
}

TEST_CASE("what the text says and the import does not take into account is a warning with its number") {
  const Imported imported = import_hlo(
      "HloModule m, replica_count=1, num_partitions=8\nENTRY e {\n x = f32[<=10,4] parameter(0), "
      "sharding={replicated}\n"
      " c = f32[10,4] constant({...})\n d = f32[10,4] constant({ {1,2,3,4}, ... })\n"
      " y = f32[10,4] add(x, c), novelty=7, dimensions={0}\n z = f32[10,4] add(y, d), novelty={8}\n"
      " u = f32[10,4] never-heard-of(z)\n ROOT v = f32[10,4] never-heard-of(u)\n}\n",
      "test.hlo");
  CHECK(
      imported.report.warnings ==
      std::vector<std::string>{
          "num_partitions=8: a program for 8 GPUs; everything is counted and priced as if one GPU ran this text alone",
          "unknown attribute 'novelty' at 2 instructions: what it means is not taken into account",
          "2 constants without contents ('{...}'): kernels read it from memory like an input, and checks make its "
          "values up",
          "1 shape with a bound ('<='): counted at the largest size",
          "2 operations are not understood (2 never-heard-of): counted as library calls by the bytes of their arrays, "
          "without their work"});
  CHECK(import_hlo(
            "HloModule m, num_partitions=1\nENTRY e {\n x = f32[10] parameter(0)\n ROOT y = f32[10] negate(x)\n}\n",
            "test.hlo")
            .report.warnings.empty());
}

TEST_CASE("a custom call that is an operation under another name is that operation; one that is not is named") {
  const auto imported = [](std::string_view call) {
    return import_hlo(module_text(fmt::format("x = f32[4,4] parameter(0)\nROOT y = {}", call)), "test.hlo");
  };
  const Imported erf = imported("f32[4,4] custom-call(x), custom_call_target=\"mhlo.erf\"");
  CHECK(output_node(erf.graph).op == Op::erf);
  CHECK(output_node(erf.graph).name == "y");
  CHECK(erf.report.warnings.empty());
  // Its polynomial is the compiler's own.
  const Imported inverse = imported("f32[4,4] custom-call(x), custom_call_target=\"mhlo.erf_inv\"");
  CHECK(output_node(inverse.graph).op == Op::custom_call);
  REQUIRE(inverse.report.warnings.size() == 1);
  CHECK(inverse.report.warnings[0].starts_with("1 custom call is not understood (1 mhlo.erf_inv)"));
  // Not of one array of that shape.
  CHECK(output_node(imported("f32[16] custom-call(x), custom_call_target=\"mhlo.erf\"").graph).op == Op::custom_call);
}

TEST_CASE("custom calls whose work nobody knows are a warning with their targets; known ones pass in silence") {
  const auto warnings = [](std::string_view calls) {
    return import_hlo(module_text(fmt::format("x = f32[4,4] parameter(0)\n{}", calls)), "test.hlo").report.warnings;
  };
  CHECK(warnings("a = f32[4,4] custom-call(x), custom_call_target=\"secret\"\n"
                 "b = f32[4,4] custom-call(a), custom_call_target=\"te_fused_attn\"\n"
                 "ROOT c = f32[4,4] custom-call(b), custom_call_target=\"secret\"") ==
        std::vector<std::string>{"3 custom calls are not understood (2 secret, 1 te_fused_attn): counted as library "
                                 "calls by the bytes of their arrays, without their work"});
  CHECK(warnings("ROOT a = f32[4,4] custom-call(x)") ==
        std::vector<std::string>{"1 custom call is not understood (1 without a target): counted as library calls by "
                                 "the bytes of their arrays, without their work"});
  for (const char* known :
       {"__cublas$gemm", "__cublas$lt$matmul", "__cudnn$convForward", "MoveToHost", "Sharding", "AllocateBuffer"})
    CHECK_MESSAGE(
        warnings(fmt::format("ROOT a = f32[4,4] custom-call(x, x), custom_call_target=\"{}\"", known)).empty(), known);
}

TEST_CASE("the root may stand anywhere, operands may follow their users, the module_text may come first") {
  const Graph graph = graph_of(
      "HloModule m\nENTRY e {\n ROOT y = f32[2] call(x), to_apply=g\n x = f32[2] parameter(0)\n"
      " dead = f32[2] negate(x)\n}\ng {\n p = f32[2] parameter(0)\n r = f32[2] exponential(p)\n}\n");
  CHECK(graph.nodes.size() == 2);
  CHECK(output_node(graph).op == Op::exp);
  CHECK(output_node(graph).name == "y/r");
}

TEST_CASE("literals are read element by element") {
  CHECK(
      contents<float>(output_node(graph_of(module_text("ROOT c = f32[2,2] constant({ {1, -2.5}, { inf, 1e-3 } })")))) ==
      std::vector<float>{1, -2.5F, INFINITY, 1e-3F});
  CHECK(contents<std::uint16_t>(output_node(graph_of(module_text("ROOT c = bf16[3] constant({1, 0.1, -inf})")))) ==
        std::vector<std::uint16_t>{0x3f80, 0x3dcd, 0xff80});
  CHECK(contents<std::uint16_t>(
            output_node(graph_of(module_text("ROOT c = f16[4] constant({1, 65504, 65520, 6e-8})")))) ==
        std::vector<std::uint16_t>{0x3c00, 0x7bff, 0x7c00, 1});
  CHECK(contents<std::uint8_t>(
            output_node(graph_of(module_text("ROOT c = f8e4m3fn[4] constant({1, 448, 1000, nan})")))) ==
        std::vector<std::uint8_t>{0x38, 0x7e, 0x7f, 0x7f});
  // Powers of two alone: the nearest, as a conversion gives.
  CHECK(contents<std::uint8_t>(output_node(graph_of(module_text("ROOT c = f8e8m0fnu[3] constant({1, 2.5, 3.5})")))) ==
        std::vector<std::uint8_t>{127, 128, 129});
  CHECK(contents<std::uint8_t>(output_node(graph_of(module_text("ROOT c = pred[3] constant({true, 0, 1})")))) ==
        std::vector<std::uint8_t>{1, 0, 1});
  CHECK(contents<std::int8_t>(output_node(graph_of(module_text("ROOT c = s4[3] constant({-8, 7, 0})")))) ==
        std::vector<std::int8_t>{-8, 7, 0});
  CHECK(contents<std::uint64_t>(output_node(graph_of(module_text("ROOT c = u64[] constant(18446744073709551615)")))) ==
        std::vector<std::uint64_t>{UINT64_MAX});
  CHECK(contents<float>(output_node(graph_of(module_text("ROOT c = c64[1] constant({(1, -2)})")))) ==
        std::vector<float>{1, -2});
  const std::vector<float> odd =
      contents<float>(output_node(graph_of(module_text("ROOT c = f32[2] constant({-nan, nan(0x1)})"))));
  CHECK((std::isnan(odd[0]) && std::isnan(odd[1])));
  const auto far =
      contents<double>(output_node(graph_of(module_text("ROOT c = f64[3] constant({1e400, -1e400, 1e-400})"))));
  CHECK((far[0] == INFINITY && far[1] == -INFINITY && far[2] == 0));
  const auto near =
      contents<float>(output_node(graph_of(module_text("ROOT c = f32[3] constant({1e39, 1e-60, 1e400})"))));
  CHECK((near[0] == INFINITY && near[1] == 0 && near[2] == INFINITY));
  CHECK(known_literal(output_node(graph_of(module_text("ROOT c = f32[100] constant({...})")))) == nullptr);
}

TEST_CASE("every value of a 16-bit float survives being written out and read") {
  for (const std::string_view type : {"f16", "bf16"}) {
    const int exponent = type == "f16" ? 5 : 8;
    const int mantissa = 15 - exponent;
    const int bias = (1 << (exponent - 1)) - 1;
    std::string list;
    std::vector<std::uint16_t> codes;
    for (int code = 0; code < 1 << 16; ++code) {
      const int e = code >> mantissa & ((1 << exponent) - 1);
      const int m = code & ((1 << mantissa) - 1);
      if (e == (1 << exponent) - 1) continue;
      const double size =
          e == 0 ? std::ldexp(m, 1 - bias - mantissa) : std::ldexp(m + (1 << mantissa), e - bias - mantissa);
      list += fmt::format("{}{}{:.17g}", codes.empty() ? "" : ",", (code & 0x8000) != 0 ? "-" : "", size);
      codes.push_back(static_cast<std::uint16_t>(code));
    }
    const Graph graph =
        graph_of(module_text(fmt::format("ROOT c = {}[{}] constant({{{}}})", type, codes.size(), list)));
    CHECK(contents<std::uint16_t>(output_node(graph)) == codes);
  }
}

TEST_CASE("nested tuples dissolve, results and parameters are flattened") {
  const Graph graph = graph_of(
      module_text("p = (f32[2], (s32[3], f32[])) parameter(1)\nx = f32[2] parameter(0)\n"
                  "inner = (s32[3], f32[]) get-tuple-element(p), index=1\ns = f32[] get-tuple-element(inner), index=1\n"
                  "first = f32[2] get-tuple-element(p), index=0\nsum = f32[2] add(x, first)\n"
                  "ROOT out = ((f32[2], f32[]), s32[3]) tuple(pair, p#1#0)\npair = (f32[2], f32[]) tuple(sum, s)"));
  REQUIRE(graph.outputs.size() == 3);
  CHECK(output_node(graph, 0).op == Op::add);
  CHECK(parameter_number(output_node(graph, 1)) == 3);
  CHECK(parameter_number(output_node(graph, 2)) == 2);
  CHECK(parameter_number(operand(graph, output_node(graph, 0), 0)) == 0);
  CHECK(parameters(graph).size() == 4);
}

TEST_CASE("a region of one operation is recognised, in any order and through widening") {
  const auto reducer = [](std::string_view type, std::string_view body) {
    const Graph graph = graph_of(
        fmt::format("HloModule m\nr {{\n a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n {1}\n}}\nENTRY e {{\n x = "
                    "{0}[4,8] parameter(0)\n"
                    " i = {0}[] parameter(1)\n ROOT y = {0}[4] reduce(x, i), dimensions={{1}}, to_apply=r\n}}\n",
                    type, body));
    return ir::reducer(output_node(graph));
  };
  CHECK(reducer("f32", "ROOT c = f32[] add(a, b)") == Reducer::add);
  CHECK(reducer("f32", "ROOT c = f32[] maximum(b, a)") == Reducer::maximum);
  CHECK(reducer("pred", "ROOT c = pred[] and(a, b)") == Reducer::bit_and);
  CHECK(reducer("pred", "ROOT c = pred[] or(a, b)") == Reducer::bit_or);
  CHECK(reducer("bf16",
                "aw = f32[] convert(a)\n bw = f32[] convert(b)\n s = f32[] add(aw, bw)\n ROOT c = bf16[] convert(s)") ==
        Reducer::add);
  CHECK(
      reducer("f32",
              "an = bf16[] convert(a)\n bn = bf16[] convert(b)\n s = bf16[] add(an, bn)\n ROOT c = f32[] convert(s)") ==
      Reducer::custom);
  CHECK(reducer("f32", "ROOT c = f32[] add(a, a)") == Reducer::custom);
  CHECK(reducer("f32", "ROOT c = f32[] subtract(a, b)") == Reducer::custom);
}

TEST_CASE("a custom region stays as a body") {
  const Graph graph = graph_of(
      "HloModule m\nr {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n t = f32[] multiply(b, b)\n ROOT c = f32[] "
      "add(a, t)\n}\n"
      "ENTRY e {\n x = f32[4,8] parameter(0)\n i = f32[] constant(0)\n ROOT y = f32[4] reduce(x, i), dimensions={1}, "
      "to_apply=r\n}\n");
  REQUIRE(output_node(graph).bodies.size() == 1);
  CHECK(graph.bodies[0].nodes.size() == 4);
}

TEST_CASE("fusions are inlined and remembered") {
  const Graph graph = graph_of(
      "HloModule m\nf {\n p = f32[8] parameter(0)\n n = f32[8] negate(p)\n ROOT e = f32[8] exponential(n)\n}\nENTRY e "
      "{\n"
      " x = f32[8] parameter(0)\n a = f32[8] add(x, x)\n ROOT y = f32[8] fusion(a), kind=kLoop, calls=f, "
      "backend_config={\"fusion_backend_config\":{\"kind\":\"__triton\"}}\n}\n");
  REQUIRE(graph.given.size() == 1);
  CHECK(graph.given[0].name == "y");
  CHECK(graph.given[0].kind == "kLoop__triton");
  CHECK(graph.given[0].nodes == std::vector<NodeId>{2, 3});
}

namespace {

/// A loop over (i, x) from `start` while i < `limit` by `step`; its node.
Node counted_loop(std::string_view start, std::string_view limit, std::string_view step, std::string_view config = "") {
  const Graph graph = graph_of(
      fmt::format("HloModule m\ncond {{\n p = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
                  " n = s32[] constant({})\n ROOT lt = pred[] compare(i, n), direction=LT\n}}\n"
                  "body {{\n p = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
                  " x = f32[4] get-tuple-element(p), index=1\n s = s32[] constant({})\n j = s32[] add(s, i)\n y = "
                  "f32[4] custom-call(x), custom_call_target=\"far\"\n"
                  " ROOT t = (s32[], f32[4]) tuple(j, y)\n}}\n"
                  "ENTRY e {{\n x = f32[4] parameter(0)\n z = s32[] constant({})\n t = (s32[], f32[4]) tuple(z, x)\n"
                  " w = (s32[], f32[4]) while(t), condition=cond, body=body{}\n ROOT r = f32[4] get-tuple-element(w), "
                  "index=1\n}}\n",
                  limit, step, start, config));
  CHECK(output_node(graph).op == Op::get_tuple_element);
  const Node& loop = operand(graph, output_node(graph), 0);
  REQUIRE(loop.bodies.size() == 2);
  CHECK(body(graph, loop, 1).outputs.size() == 2);
  CHECK(parameters(body(graph, loop, 0)).size() == 2);
  return loop;
}

}  // namespace

TEST_CASE("a loop keeps its state flattened and its trips are counted") {
  for (int start = -2; start < 3; ++start)
    for (int limit = -2; limit < 6; ++limit)
      for (int step = 1; step < 4; ++step) {
        std::int64_t trips = 0;
        for (int i = start; i < limit; i += step) ++trips;
        const Node loop = counted_loop(std::to_string(start), std::to_string(limit), std::to_string(step));
        CHECK(trip_count(loop) == trips);
      }
  CHECK(trip_count(counted_loop("0", "8", "-1")) == 0);
  CHECK(trip_count(counted_loop("0", "8", "1", ", backend_config={\"known_trip_count\":{\"n\":\"5\"}}")) == 5);
}

TEST_CASE("branches keep their operands one after another") {
  const Graph graph = graph_of(
      "HloModule m\na {\n p = (f32[4], f32[]) parameter(0)\n ROOT x = f32[4] get-tuple-element(p), index=0\n}\n"
      "b {\n p = f32[4] parameter(0)\n ROOT x = f32[4] negate(p)\n}\nENTRY e {\n c = pred[] parameter(0)\n x = f32[4] "
      "parameter(1)\n"
      " s = f32[] parameter(2)\n t = (f32[4], f32[]) tuple(x, s)\n"
      " ROOT r = f32[4] conditional(c, t, x), true_computation=a, false_computation=b\n}\n");
  CHECK(output_node(graph).operands.size() == 4);
  CHECK(output_node(graph).bodies.size() == 2);
}

TEST_CASE("asynchronous wrappers, barriers and markers leave only what they wrap") {
  const Graph graph = graph_of(
      "HloModule m\nw {\n p = f32[8] parameter(0)\n ROOT n = f32[8] negate(p)\n}\nENTRY e {\n x = f32[8] parameter(0)\n"
      " s = ((f32[8]), f32[8], u32[]) async-start(x), calls=w\n d = f32[8] async-done(s)\n"
      " m = f32[8] custom-call(d), custom_call_target=\"Sharding\", sharding={replicated}\n"
      " g = (f32[8], f32[64]) all-gather-start(m), dimensions={0}\n h = f32[64] all-gather-done(g)\n"
      " t = (f32[64], f32[8]) tuple(h, m)\n b = (f32[64], f32[8]) opt-barrier(t)\n"
      " ROOT r = f32[64] get-tuple-element(b), index=0\n}\n");
  CHECK(graph.nodes.size() == 3);
  CHECK(output_node(graph).op == Op::all_gather);
  CHECK(output_node(graph).shape.dims == Dims{64});
}

TEST_CASE("library calls keep their text and their floating operations") {
  const Graph dot = graph_of(
      module_text("a = f32[4,8,16] parameter(0)\nb = f32[4,16,32] parameter(1)\nROOT d = f32[4,8,32] dot(a, b), "
                  "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"));
  CHECK(flops(output_node(dot)) == 2.0 * 4 * 8 * 32 * 16);
  const Graph convolution = graph_of(
      module_text("x = f32[1,8,8,3] parameter(0)\nk = f32[3,3,3,16] parameter(1)\nROOT c = "
                  "f32[1,8,8,16] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"));
  CHECK(flops(output_node(convolution)) == 2.0 * 8 * 8 * 16 * 3 * 3 * 3);
  const Graph call = graph_of(module_text(
      "a = f32[8,16] parameter(0)\nb = f32[16,32] parameter(1)\nc = (f32[8,32], s8[64]) custom-call(a, b), "
      "custom_call_target=\"__cublas$gemm\", backend_config={\"gemm_backend_config\":{\"dot_dimension_numbers\":"
      "{\"lhs_contracting_dimensions\":[\"1\"]}}}\nROOT r = f32[8,32] get-tuple-element(c), index=0"));
  CHECK(target(operand(call, output_node(call), 0)) == "__cublas$gemm");
  CHECK(flops(operand(call, output_node(call), 0)) == 2.0 * 8 * 32 * 16);
}

TEST_CASE("what is not understood is kept by name and counted") {
  const Imported imported = import_hlo(module_text("x = f32[2] parameter(0)\ny = f32[3] frobnicate(x), knob=7\n"
                                                   "ROOT r = f32[3] negate(y)"),
                                       "test.hlo");
  const Node& kept = operand(imported.graph, output_node(imported.graph, 0), 0);
  CHECK(kept.op == Op::opaque);
  CHECK(target(kept) == "frobnicate");
  CHECK(hlo_text(kept) == "knob=7");
  using Counts = std::vector<std::pair<std::string, std::int64_t>>;
  CHECK(imported.report.opaque == Counts{{"frobnicate", 1}});
}

TEST_CASE("an element type that HLO does not have is an error with the nearest name") {
  try {
    import_hlo(module_text("x = f33[4] parameter(0)\nROOT r = f33[4] negate(x)"), "test.hlo");
    FAIL("accepted");
  } catch (const tailor::Error& error) {
    CHECK(tailor::error_text(error).find("found 'f33'") != std::string::npos);
    CHECK(error.hint.find("f32") != std::string::npos);
    CHECK(error.at.line > 0);
  }
}

TEST_CASE("layouts are honoured") {
  const Graph graph =
      graph_of(module_text("x = f32[4,8]{0,1:T(8,128)S(5)} parameter(0)\nROOT b = f32[8,4]{1,0} bitcast(x)"));
  CHECK(output_node(graph).op == Op::bitcast);
  CHECK(strides(operand(graph, output_node(graph), 0).shape) == Dims{1, 4});
}

TEST_CASE("a bitcast that reads the bits as another type is a conversion of bits, and no move of elements") {
  const auto op = [](std::string_view from, std::string_view to) {
    return output_node(graph_of(module_text(fmt::format("x = {} parameter(0)\nROOT b = {} bitcast(x)", from, to)))).op;
  };
  CHECK(op("f32[4,8]", "s32[4,8]") == Op::bitcast_convert);
  CHECK(op("f32[4,8]{0,1}", "s32[4,8]{0,1}") == Op::bitcast_convert);
  CHECK(op("f32[]", "u32[]") == Op::bitcast_convert);
  CHECK(op("f32[4,8]", "s32[4,8]{0,1}") == Op::bitcast);
  CHECK(op("f32[4,8]", "s32[32]") == Op::bitcast);
  CHECK(op("f32[4,8]", "s16[4,16]") == Op::bitcast);
}

namespace {

struct Refused {
  std::string_view what;
  std::string text;
  std::int64_t line, column;
  std::string_view message;
};

std::vector<Refused> refused_texts() {
  return {
      {"nothing", "", 1, 1, "found the end of the text, expected 'HloModule'"},
      {"another format", "module { func.func }", 1, 1, "found 'module', expected 'HloModule'"},
      {"binary", std::string("HloModule m\n\0\1", 14), 2, 1, "found a zero byte, expected HLO text"},
      {"truncated", "HloModule m\nENTRY e {\n x = f32[2] parameter(0)\n", 4, 1, "expected '}'"},
      {"no computation", "HloModule m\n", 2, 1, "expected an ENTRY computation"},
      {"an empty computation", "HloModule m\nENTRY e {\n}\n", 2, 7, "without instructions, expected a root"},
      {"two entries", "HloModule m\nENTRY e {\n x = f32[] parameter(0)\n}\nENTRY f {\n x = f32[] parameter(0)\n}\n", 5,
       7, "second ENTRY"},
      {"two modules",
       module_text("ROOT x = f32[2] parameter(0)") + "HloModule n\nENTRY e {\n x = f32[] parameter(0)\n}\n", 6, 1,
       "a second 'HloModule'"},
      {"two roots", module_text("ROOT x = f32[2] parameter(0)\nROOT y = f32[2] negate(x)"), 5, 6, "second ROOT"},
      {"a bracket that does not match", module_text("x = f32[2] parameter(0)\ny = f32[2] negate(x), a={[1}]"), 5, 28,
       "expected ']'"},
      {"a string that does not end", module_text("x = f32[2] parameter(0), a=\"b"), 4, 28, "string that does not end"},
      {"an unknown operand", module_text("alpha = f32[2] parameter(0)\ny = f32[2] negate(alpho)"), 5, 19,
       "found operand 'alpho'"},
      {"an unknown computation", module_text("x = f32[2] parameter(0)\ny = f32[2] call(x), to_apply=g"), 5, 1,
       "calling 'g'"},
      {"a name twice", module_text("x = f32[2] parameter(0)\nx = f32[2] parameter(1)"), 5, 1, "second instruction 'x'"},
      {"a computation twice", "HloModule m\na {\n x = f32[] parameter(0)\n}\na {\n x = f32[] parameter(0)\n}\n", 5, 1,
       "second computation 'a'"},
      {"operands of another shape", module_text("x = f32[2] parameter(0)\ny = f32[3] negate(x)"), 5, 1,
       "found f32[2], expected f32[3]"},
      {"too few operands", module_text("x = f32[2] parameter(0)\ny = f32[2] add(x)"), 5, 1,
       "found 1 operands, expected 2"},
      {"a broadcast out of range", module_text("x = f32[2] parameter(0)\ny = f32[2,3] broadcast(x), dimensions={7}"), 5,
       1, "found axes {7}"},
      {"a missing attribute", module_text("x = f32[2] parameter(0)\ny = f32[2,3] broadcast(x)"), 5, 1,
       "without 'dimensions='"},
      {"a cycle of values", module_text("x = f32[2] negate(y)\ny = f32[2] negate(x)"), 5, 1, "expected no cycle"},
      {"a cycle of calls", "HloModule m\nENTRY e {\n x = f32[] parameter(0)\n ROOT y = f32[] call(x), to_apply=e\n}\n",
       3, 2, "calling itself"},
      {"a size beyond 64 bits", module_text("x = f32[4294967296,4294967296,8] parameter(0)"), 4, 9,
       "does not fit 64 bits"},
      {"a number beyond 64 bits", module_text("x = f32[99999999999999999999] parameter(0)"), 4, 9, "that fits 64 bits"},
      {"too many dimensions", module_text("x = f32[1,1,1,1,1,1,1,1,1,1,1,1,1] parameter(0)"), 4, 33, "at most 12"},
      {"a dynamic dimension", module_text("x = f32[?] parameter(0)"), 4, 9,
       "found '?', a dimension without a size, expected a number or a bound such as '<=128'"},
      {"no shape", module_text("x = parameter(0)"), 4, 5, "expected a shape such as"},
      {"a type in capitals", module_text("x = F32[2] parameter(0)"), 4, 5, "expected an element type"},
      {"a layout that is no permutation", module_text("x = f32[2,3]{1,1} parameter(0)"), 4, 13,
       "expected a permutation"},
      {"a window of another size",
       module_text("x = f32[8] parameter(0)\n  i = s32[] constant(1)\n  y = f32[2] dynamic-slice(x, i), "
                   "dynamic_slice_sizes={3}"),
       6, 3, "found dynamic_slice_sizes={3}, expected the dimensions of its result f32[2]"},
      {"a literal too short", module_text("x = f32[3] constant({1,2})"), 4, 26, "expected 3 elements, 2 stand here"},
      {"a literal too long", module_text("x = f32[1] constant({1,2})"), 4, 24, "expected the end of a literal"},
      {"a literal out of range", module_text("x = s8[] constant(200)"), 4, 19,
       "found 200, expected a number from -128 to 127"},
      {"a parameter missing", module_text("x = f32[] parameter(1)"), 4, 1, "found parameter(1)"},
      {"a tuple index out of range", module_text("x = (f32[]) parameter(0)\ny = f32[] get-tuple-element(x), index=3"),
       5, 1, "found element 3"},
      {"a nested instruction", module_text("x = f32[] parameter(0)\ny = f32[] negate(abs(x))"), 5, 18, "as an operand"},
  };
}

}  // namespace

TEST_CASE("bad text is refused with its place, what was found and what was expected") {
  for (const Refused& refused : refused_texts()) {
    CAPTURE(refused.what);
    const Error error = refusal(refused.text);
    CHECK(error.at.file == "bad.hlo");
    CHECK(error.at.line == refused.line);
    CHECK(error.at.column == refused.column);
    CHECK_MESSAGE(error.message.find(refused.message) != std::string::npos, error.message);
  }
}

TEST_CASE("nesting deeper than any dump is an error, not a crash") {
  const std::string open(100000, '(');
  CHECK(refusal(module_text("x = " + open)).message.find("nested tuples") != std::string::npos);
  CHECK(refusal(module_text("x = f32[] parameter(0), a=" + std::string(100000, '{'))).message.find("too deep") !=
        std::string::npos);
  std::string chain = "HloModule m\nc0 {\n x = f32[] parameter(0)\n}\n";
  for (int i = 1; i < 300; ++i)
    chain += fmt::format("c{} {{\n x = f32[] parameter(0)\n ROOT y = f32[] call(x), to_apply=c{}\n}}\n", i, i - 1);
  CHECK(refusal(chain).message.find("nested more than") != std::string::npos);
}

TEST_CASE("calls that multiply are refused before they fill the memory" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  std::string text = "HloModule m\nc0 {\n x = f32[] parameter(0)\n ROOT y = f32[] negate(x)\n}\n";
  for (int i = 1; i < 60; ++i)
    text += fmt::format(
        "c{0} {{\n x = f32[] parameter(0)\n a = f32[] call(x), to_apply=c{1}\n ROOT b = f32[] call(a), "
        "to_apply=c{1}\n}}\n",
        i, i - 1);
  CHECK(refusal(text).message.find("once calls are inlined") != std::string::npos);
}

TEST_CASE("every prefix of a module is refused or imports") {
  const std::string text = fmt::format(
      "HloModule m, is_scheduled=true\n{}ENTRY e {{\n x = f32[4,8]{{1,0}} parameter(0)\n z = f32[] "
      "constant(0)\n ROOT r = f32[4] reduce(x, z), dimensions={{1}}, to_apply=add_f32, "
      "metadata={{op_name=\"a\"}}\n}}\n",
      sum_region);
  int imported = 0;
  for (std::size_t length = 0; length <= text.size(); ++length) {
    try {
      import_hlo(std::string_view(text).substr(0, length), "prefix.hlo");
      ++imported;
    } catch (const Error& error) {
      CHECK(error.at.line > 0);
    }
  }
  CHECK(imported >= 2);  // whole, and without its last line break
}

TEST_CASE("an import that is asked to stop ends as an interrupt, whatever it reads") {
  std::stop_source source;
  source.request_stop();
  const auto fault_of = [&](const std::string& name, const std::string& text) -> std::optional<Fault> {
    const std::filesystem::path path = std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + name);
    write_file(path, text);
    std::optional<Fault> fault;
    try {
      import_file(path.string(), source.get_token());
    } catch (const Error& error) {
      fault = error.fault;
    }
    std::filesystem::remove(path);
    return fault;
  };
  const std::string text = module_text("x = f32[4] parameter(0)\nROOT r = f32[4] negate(x)");
  CHECK(fault_of("stop.hlo", text) == Fault::interrupted);
  CHECK(fault_of("stop.graph", tailor::ir::text(import_hlo(text, "t").graph)) == Fault::interrupted);
  // A pass alone.
  Graph graph = import_hlo(text, "t").graph;
  Ledger ledger;
  CHECK_THROWS_AS(run_passes(graph, ledger, source.get_token()), Error);
}

TEST_CASE("files are read as HLO, as our own text, and not when they are damaged") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("tailor_import_{}", ::getpid());
  std::filesystem::create_directories(folder);
  const std::string hlo = module_text("x = f32[2] parameter(0)\nROOT y = f32[2] negate(x)");
  write_file(folder / "a.hlo", hlo);
  const Graph graph = import_file((folder / "a.hlo").string()).graph;
  write_file(folder / "a.graph", text(graph));
  CHECK(import_file((folder / "a.graph").string()).graph == graph);
  write_file(folder / "a.hlo.gz", "\x1f\x8b\x08 and nothing more");
  CHECK_THROWS_AS(import_file((folder / "a.hlo.gz").string()), Error);
  CHECK_THROWS_AS(import_file((folder / "absent.hlo").string()), Error);
  std::filesystem::remove_all(folder);
}

TEST_CASE("real dumps import whole: verified shapes, text that reads back, a ledger that balances" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const std::filesystem::path folder = third_party_folder();
  if (folder.empty() || !std::filesystem::exists(folder)) return skip("no third-party dumps");
  int files = 0;
  for (const std::string_view part : {"hlo", "workloads/hlo", "xla_reference"}) {
    if (!std::filesystem::exists(folder / part)) continue;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder / part)) {
      const std::string path = file.path().string();
      if (!path.ends_with(".hlo") && !path.ends_with(".hlo.gz")) continue;
      CAPTURE(path);
      const Imported imported = import_file(path);
      CHECK(nodes_by_ledger(imported) == nodes_in_all(imported.graph));
      verify(imported.graph);
      CHECK(parse_graph(text(imported.graph)) == imported.graph);
      CHECK(imported.report.opaque.empty());
      ++files;
    }
  }
  MESSAGE(files, " dumps imported");
}
