// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// verify() accepts a small graph and refuses it with one thing wrong. Each row of the table below breaks one rule of
// one operation: a shape, a type, a dimension out of range, a body that does not fit. The message must name the node.
// Part of the suite `ir`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "ir/graph/graph.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

struct Case {
  std::string_view good, bad;
};

/// Lines that may use %x f32[4,6], %p pred[4,6], %s f32[], %i s32[], body 0 (add), body 1 (less).
constexpr auto cases = std::to_array<Case>({
    {"add %x, %x : f32[4,6]", "add %x, %x : f32[4,5]"},
    {"add %x, %x : f32[4,6]", "add %x, %s : f32[4,6]"},
    {"add %x, %x : f32[4,6]", "add %x : f32[4,6]"},
    {"exp %x : f32[4,6]", "exp %x : f16[4,6]"},
    {"compare lt %x, %x : pred[4,6]", "compare lt %x, %x : f32[4,6]"},
    {"is_finite %x : pred[4,6]", "is_finite %x : f32[4,6]"},
    {"select %p, %x, %x : f32[4,6]", "select %x, %x, %x : f32[4,6]"},
    {"clamp %s, %x, %s : f32[4,6]", "clamp %x, %s, %x : f32[4,6]"},
    {"convert %x : s8[4,6]", "convert %x : s8[6,4]"},
    {"bitcast_convert %x : u8[4,6,4]", "bitcast_convert %x : u8[4,6]"},
    {"broadcast %x, axes={0,2} : f32[4,9,6]", "broadcast %x, axes={0,1} : f32[4,9,6]"},
    {"broadcast %x, axes={0,2} : f32[4,9,6]", "broadcast %x, axes={0} : f32[4,9,6]"},
    {"broadcast %x, axes={0,2} : f32[4,9,6]", "broadcast %x, axes={0,3} : f32[4,9,6]"},
    {"reshape %x : f32[24]", "reshape %x : f32[23]"},
    {"bitcast %x : s32[24]", "bitcast %x : f16[24]"},
    {"transpose %x, axes={1,0} : f32[6,4]", "transpose %x, axes={1,0} : f32[4,6]"},
    {"transpose %x, axes={1,0} : f32[6,4]", "transpose %x, axes={1,1} : f32[6,6]"},
    {"slice %x, ranges={0:4:3, 1:6:2} : f32[2,3]", "slice %x, ranges={0:4:3, 1:6:2} : f32[1,3]"},
    {"slice %x, ranges={0:4:1, 0:6:1} : f32[4,6]", "slice %x, ranges={0:4:1, 0:7:1} : f32[4,7]"},
    {"slice %x, ranges={0:4:1, 0:6:1} : f32[4,6]", "slice %x, ranges={0:4:1} : f32[4,6]"},
    {"reverse %x, axes={1} : f32[4,6]", "reverse %x, axes={2} : f32[4,6]"},
    {"pad %x, %s, ranges={1:-2:0, 0:0:1} : f32[3,11]", "pad %x, %s, ranges={1:-2:0, 0:0:1} : f32[3,12]"},
    {"pad %x, %s, ranges={0:0:0, 0:0:0} : f32[4,6]", "pad %x, %x, ranges={0:0:0, 0:0:0} : f32[4,6]"},
    {"concatenate %x, %x, axes={1} : f32[4,12]", "concatenate %x, %x, axes={1} : f32[8,6]"},
    {"concatenate %x, %x, axes={1} : f32[4,12]", "concatenate %x, %x : f32[4,12]"},
    {"reduce_precision %x, text=\"exponent_bits=1, mantissa_bits=0\" : f32[4,6]",
     "reduce_precision %x, text=\"exponent_bits=0, mantissa_bits=0\" : f32[4,6]"},
    {"reduce_precision %x, text=\"exponent_bits=8, mantissa_bits=7\" : f32[4,6]",
     "reduce_precision %x, text=\"exponent_bits=8, mantissa_bits=-1\" : f32[4,6]"},
    {"reduce_precision %x, text=\"exponent_bits=8, mantissa_bits=7\" : f32[4,6]",
     "reduce_precision %x, text=\"mantissa_bits=7\" : f32[4,6]"},
    {"dynamic_slice %x, %i, %i : f32[1,6]", "dynamic_slice %x, %i : f32[1,6]"},
    {"dynamic_slice %x, %i, %i : f32[1,6]", "dynamic_slice %x, %i, %i : f32[1,7]"},
    {"dynamic_slice %x, %i, %i : f32[1,6]", "dynamic_slice %x, %s, %s : f32[1,6]"},
    {"dynamic_update_slice %x, %x, %i, %i : f32[4,6]", "dynamic_update_slice %x, %x, %i, %i : f32[4,5]"},
    {"reduce add %x, %s, axes={1} : f32[4]", "reduce add %x, %s, axes={0} : f32[4]"},
    {"reduce add %x, %s, axes={1} : f32[4]", "reduce add %x, %i, axes={1} : f32[4]"},
    {"reduce add %x, %s, axes={1} : f32[4]", "reduce custom %x, %s, axes={1} : f32[4]"},
    {"reduce custom %x, %s, axes={1}, bodies={0} : f32[4]", "reduce add %x, %s, axes={1,1} : f32[4]"},
    {"reduce_window add %x, %s, text=\"window={size=2x2}\" : f32[3,5]",
     "reduce_window add %x, %s, text=\"window={size=2x2}\" : f32[4,6]"},
    {"sort %x, axes={1}, bodies={1} : f32[4,6]", "sort %x, axes={1} : f32[4,6]"},
    {"sort %x, axes={1}, bodies={1} : f32[4,6]", "sort %x, axes={1}, bodies={1} : f32[4]"},
    {"dot %x, %x, text=\"lhs_contracting_dims={1}, rhs_contracting_dims={1}\" : f32[4,4]",
     "dot %x, %x, text=\"lhs_contracting_dims={1}, rhs_contracting_dims={0}\" : f32[4,6]"},
    {"dot %x, %x, text=\"lhs_contracting_dims={1}, rhs_contracting_dims={1}\" : f32[4,4]",
     "dot %x, %x, text=\"lhs_contracting_dims={1}, rhs_contracting_dims={1}\" : f32[4,6]"},
    {"gather %x, %i, text=\"slice_sizes={1,6}, offset_dims={0,1}, start_index_map={0}\" : f32[1,6]",
     "gather %x, %i, text=\"slice_sizes={1,7}, offset_dims={0,1}\" : f32[1,7]"},
    {"iota, axes={1} : s32[4,6]", "iota, axes={2} : s32[4,6]"},
    {"map %x, %x, bodies={0} : f32[4,6]", "map %x : f32[4,6]"},
    {"map %x, %x, bodies={0} : f32[4,6]", "map %x, bodies={0} : f32[4,6]"},
    {"reduce custom %x, %s, axes={1}, bodies={0} : f32[4]", "reduce custom %x, %s, axes={1}, bodies={1} : f32[4]"},
    {"reduce add %x, %s, axes={1} : f32[4]", "reduce add %x, %s, axes={1}, results={f32[4]} : tuple"},
    {"sort %x, axes={1}, bodies={1} : f32[4,6]", "sort %x, axes={1}, bodies={0} : f32[4,6]"},
    {"get_tuple_element %t, number=1 : s32[2]", "get_tuple_element %t, number=2 : s32[2]"},
    {"get_tuple_element %t, number=1 : s32[2]", "get_tuple_element %t, number=1 : s32[3]"},
    {"get_tuple_element %t, number=1 : s32[2]", "get_tuple_element %x, number=1 : s32[2]"},
    {"constant hex\"0000803f\" : f32[]", "constant hex\"0000803f00\" : f32[]"},
    {"constant 1 : f32[]", "constant : f32[]"},
    {"parameter 2 : f32[3]", "parameter 3 : f32[3]"},
    {"parameter 2 : f32[3]", "parameter 1 : f32[3]"},
    {"custom_call %x, results={f32[1]} : tuple", "custom_call %x, results={f32[1]} : f32[1]"},
});

Graph with(std::string_view line) {
  return parse_graph(fmt::format(R"(graph g {{
    graph sum {{ %a = parameter 0 : f32[] %b = parameter 1 : f32[] %c = add %a, %b : f32[] output %c }}
    graph less {{ %a = parameter 0 : f32[] %b = parameter 1 : f32[] %c = compare lt %a, %b : pred[] output %c }}
    %x = parameter 0 : f32[4,6] %p = parameter 1 : pred[4,6] %s = constant 0 : f32[] %i = constant 1 : s32[]
    %t = custom_call %x, results={{f32[2], s32[2]}} : tuple
    %line = {} output %line }})",
                                 line));
}

Graph good() { return with("add %x, %x : f32[4,6]"); }

}  // namespace

TEST_CASE("verify accepts each rule kept and refuses it broken, naming the node") {
  for (const Case& entry : cases) {
    CAPTURE(entry.good);
    CAPTURE(entry.bad);
    CHECK_NOTHROW(verify(with(entry.good)));
    CHECK_THROWS_WITH_AS(verify(with(entry.bad)), doctest::Contains("%line"), Error);
  }
}

TEST_CASE("verify refuses broken order, names, layouts, lists, bodies and attributes of another operation") {
  const auto refused = [](auto&& change) {
    Graph graph = good();
    change(graph);
    CHECK_THROWS_AS(verify(graph), Error);
  };
  CHECK_NOTHROW(verify(good()));
  refused([](Graph& g) { g.nodes[5].operands[0] = 5; });
  refused([](Graph& g) { g.nodes[5].operands[0] = -1; });
  refused([](Graph& g) { g.nodes[5].name = "x"; });
  refused([](Graph& g) { g.nodes[5].name = ""; });
  refused([](Graph& g) { g.nodes[0].shape.minor_to_major[0] = 0; });
  refused([](Graph& g) { g.nodes[0].shape.dims[0] = -4; });
  refused([](Graph& g) { g.outputs = {6}; });
  refused([](Graph& g) { g.given.push_back({"f", "kLoop", {5, 4}}); });
  refused([](Graph& g) { g.given.push_back({"f", "kLoop", {9}}); });
  refused([](Graph& g) { g.nodes[5].bodies = {7}; });
  refused([](Graph& g) { g.nodes[5].bodies = {0}; });
  refused([](Graph& g) { g.nodes[5].attributes = AxisList{}; });
  refused([](Graph& g) { g.nodes[0].attributes = {}; });
  refused([](Graph& g) { g.bodies[0].nodes[2].shape.dtype = DType::s8; });
}
