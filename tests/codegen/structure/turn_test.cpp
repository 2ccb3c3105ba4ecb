// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which groups are turned. In: graphs as text. Out: the runs that are written and read together, with batches, merged
// neighbours and layouts; the values that go through tiles; the reason where there is no turn; and that such a group
// stays a flat loop's too. Part of the suite `codegen structure`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <variant>

#include "codegen/lower/lower.h"
#include "codegen/structure/recognise.h"
#include "codegen/structure/turn.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

std::string dims_of(const codegen::TileRun& run) { return fmt::format("{}", fmt::join(run.dims, ",")); }

/// "written 0 (512), read 1 (64), others (1), %2", the dimensions fastest first; or the rule that says why not.
std::string turn_of(std::string_view body) {
  const Graph graph = parse_graph(fmt::format("graph g {{\n{}}}\n", body));
  verify(graph);
  const auto found = codegen::find_turn(graph, codegen::whole_border(graph));
  if (const auto* refused = std::get_if<Rejection>(&found)) return refused->rule;
  const auto& turn = std::get<codegen::Turn>(found);
  std::string values;
  for (const NodeId id : turn.values) values += fmt::format(", %{}", graph[id].name);
  return fmt::format("written {} ({}), read {} ({}), others {} ({}){}", dims_of(turn.written), turn.written.size,
                     dims_of(turn.read), turn.read.size, dims_of(turn.others), turn.others.size, values);
}

std::string transposed(std::string_view from, std::string_view axes, std::string_view to) {
  return turn_of(
      fmt::format("  %x = parameter 0 : {}\n  %t = transpose %x, axes={{{}}} : {}\n  output %t\n", from, axes, to));
}

}  // namespace

TEST_CASE("runs are the dimensions that are written and read together, neighbours merged") {
  CHECK(transposed("f32[64,512]", "1,0", "f32[512,64]") == "written 1 (64), read 0 (512), others  (1), %t");
  CHECK(transposed("f32[5,64,512]", "0,2,1", "f32[5,512,64]") == "written 2 (64), read 1 (512), others 0 (5), %t");
  // Channels last to channels first: both dimensions of the image are one run.
  CHECK(transposed("f16[8,14,14,256]", "0,3,1,2", "f16[8,256,14,14]") ==
        "written 3,2 (196), read 1 (256), others 0 (8), %t");
  CHECK(transposed("f16[8,256,14,14]", "0,2,3,1", "f16[8,14,14,256]") ==
        "written 3 (256), read 2,1 (196), others 0 (8), %t");
  // Short runs take in what comes next in their order, whatever the other order has there.
  CHECK(transposed("f32[8,6,512]", "2,1,0", "f32[512,6,8]") == "written 2,1 (48), read 0 (512), others  (1), %t");
  CHECK(transposed("f32[8,1,512]", "2,1,0", "f32[512,1,8]") == "written 2 (8), read 0 (512), others  (1), %t");
}

TEST_CASE("what a reshape makes one dimension is two where it was turned") {
  CHECK(turn_of("  %x = parameter 0 : f32[64,512]\n  %t = transpose %x, axes={1,0} : f32[512,64]\n"
                "  %r = reshape %t : f32[128,256]\n  output %r\n") == "written 1 (64), read 0 (512), others  (1), %r");
  CHECK(turn_of("  %x = parameter 0 : f32[6,64,512]\n  %t = transpose %x, axes={0,2,1} : f32[6,512,64]\n"
                "  %r = reshape %t : f32[3072,64]\n  %n = negate %r : f32[3072,64]\n  output %n\n") ==
        "written 2 (64), read 1 (512), others 0 (6), %n");
}

TEST_CASE("windows of arrays turn as arrays do, wherever they begin, read or written in place") {
  const std::string window =
      "  %x = parameter 0 : f16[64,512]\n  %i = parameter 1 : s32[]\n  %z = constant 0 : s32[]\n"
      "  %w = dynamic_slice %x, %i, %z : f16[32,512]\n"
      "  %t = transpose %w, axes={1,0} : f16[512,32]\n";
  CHECK(turn_of(window + "  output %t\n") == "written 1 (32), read 0 (512), others  (1), %t");
  // Rows of the window lie apart in the array, so a run ends with a row, which goes on to the next one in the window.
  const auto update = [](std::string_view array) {
    return turn_of(
        fmt::format("  %c = parameter 0 : f16{0}\n  %x = parameter 1 : f16[4,64,512]\n"
                    "  %i = parameter 2 : s32[]\n  %t = transpose %x, axes={{2,0,1}} : f16[512,4,64]\n"
                    "  %u = dynamic_update_slice %c, %t, %i, %i, %i : f16{0}\n  output %u\n"
                    "  in_place 0 of 0\n",
                    array));
  };
  CHECK(update("[513,4,64]") == "written 2,1 (256), read 0 (512), others  (1), %t");
  CHECK(update("[513,4,65]") == "written 2 (64), read 0 (512), others 1 (4), %t");
}

TEST_CASE("a layout turns as a transpose does") {
  CHECK(turn_of("  %x = parameter 0 : f32[64,512]{0,1}\n  %t = copy %x : f32[64,512]\n  output %t\n") ==
        "written 1 (512), read 0 (64), others  (1), %t");
  CHECK(turn_of("  %x = parameter 0 : f32[64,512]\n  %s = parameter 1 : f32[64,512]{0,1}\n"
                "  %t = add %x, %s : f32[64,512]\n  output %t\n") == "written 1 (512), read 0 (64), others  (1), %s");
}

TEST_CASE("values go through tiles where they have the fewest bytes") {
  const auto chain = [](std::string_view in, std::string_view middle, std::string_view out) {
    return turn_of(
        fmt::format("  %x = parameter 0 : {0}[64,512]\n  %e = convert %x : {1}[64,512]\n"
                    "  %n = exp %e : {1}[64,512]\n  %t = transpose %n, axes={{1,0}} : {1}[512,64]\n"
                    "  %c = convert %t : {2}[512,64]\n  output %c\n",
                    in, middle, out));
  };
  CHECK(chain("f32", "f32", "f16").ends_with(", %c"));
  CHECK(chain("f16", "f32", "f32").ends_with(", %x"));
  CHECK(chain("f32", "f16", "f32").ends_with(", %t"));
  // What is read straight is computed as it is written; equal bytes wait in their most computed form.
  CHECK(turn_of("  %x = parameter 0 : f32[64,512]\n  %s = parameter 1 : f32[512,64]\n  %n = exp %x : f32[64,512]\n"
                "  %t = transpose %n, axes={1,0} : f32[512,64]\n  %y = add %t, %s : f32[512,64]\n  output %y\n")
            .ends_with(", %t"));
  CHECK(turn_of("  %x = parameter 0 : f32[64,512]\n  %z = parameter 1 : f32[64,512]\n"
                "  %a = add %x, %z : f32[64,512]\n  %t = transpose %a, axes={1,0} : f32[512,64]\n  output %t\n")
            .ends_with(", %t"));
}

TEST_CASE("what no tile serves has a reason") {
  CHECK(transposed("f32[4,512]", "1,0", "f32[512,4]") == "turn-short");
  CHECK(transposed("f32[512,4]", "1,0", "f32[4,512]") == "turn-short");
  CHECK(transposed("u8[31,512]", "1,0", "u8[512,31]") == "turn-short");
  CHECK(transposed("u8[32,512]", "1,0", "u8[512,32]") == "written 1 (32), read 0 (512), others  (1), %t");
  CHECK(transposed("f32[512,1]", "1,0", "f32[1,512]") == "turn-short");
  CHECK(transposed("f32[6,8,512]", "1,0,2", "f32[8,6,512]") == "turn-none");
  CHECK(turn_of("  %x = parameter 0 : f32[64,512]\n  %y = exp %x : f32[64,512]\n  output %y\n") == "turn-none");
  CHECK(turn_of("  %x = parameter 0 : f32[64,512]\n  %z = constant 0 : f32[]\n"
                "  %y = reduce add %x, %z, axes={1} : f32[64]\n  output %y\n") == "turn-sums");
  CHECK(turn_of("  %x = parameter 0 : f32[64,512]\n  %t = transpose %x, axes={1,0} : f32[512,64]\n"
                "  %z = constant 0 : f32[]\n  %y = pad %t, %z, ranges={1:1:0, 0:0:0} : f32[514,64]\n  output %y\n") ==
        "turn-operation");
  CHECK(turn_of("  %x = parameter 0 : f32[64,512]\n  %t = transpose %x, axes={1,0} : f32[512,64]\n"
                "  %e = exp %x : f32[64,512]\n  output %t, %e\n") == "turn-outputs");
  CHECK(turn_of("  %x = parameter 0 : f32[8,64,512]\n  %y = parameter 1 : f32[64,8,512]\n"
                "  %t = transpose %x, axes={2,0,1} : f32[512,8,64]\n  %s = transpose %y, axes={2,1,0} : f32[512,8,64]\n"
                "  %a = add %t, %s : f32[512,8,64]\n  output %a\n") ==
        "written 2 (64), read 0 (512), others 1 (8), %a");
  CHECK(turn_of("  %x = parameter 0 : f32[64,64,64]\n  %y = parameter 1 : f32[64,64,64]\n"
                "  %t = transpose %x, axes={2,1,0} : f32[64,64,64]\n  %s = transpose %y, axes={0,2,1} : f32[64,64,64]\n"
                "  %a = add %t, %s : f32[64,64,64]\n  output %a\n") == "turn-two-ways");
  // The reshape parts what is written and what is read otherwise, and nothing has both.
  CHECK(turn_of("  %x = parameter 0 : f32[64,512]\n  %t = transpose %x, axes={1,0} : f32[512,64]\n"
                "  %r = reshape %t : f32[128,256]\n  %u = transpose %r, axes={1,0} : f32[256,128]\n"
                "  output %u\n") == "turn-reshape");
}

TEST_CASE("a group that is turned is a flat loop's too, and prepared for both") {
  Group group;
  group.graph = parse_graph(
      "graph g {\n  %x = parameter 0 : f32[64,512]\n  %t = transpose %x, axes={1,0} : f32[512,64]\n  output %t\n}\n");
  const Boundary border = codegen::whole_border(group.graph);
  const codegen::Classified whole = codegen::analyse(group.graph, border);
  REQUIRE(std::holds_alternative<codegen::Layout>(whole));
  CHECK((std::get<codegen::Layout>(whole).skeleton == Skeleton::map));
  const codegen::Region region(group.graph, border);
  const auto turned = codegen::structure(Skeleton::transpose).recognise(region);
  REQUIRE(turned.has_value());
  REQUIRE(std::holds_alternative<codegen::Layout>(*turned));
  const auto& layout = std::get<codegen::Layout>(*turned);
  CHECK(codegen::text(layout) == "transpose 32768");
  CHECK_FALSE(codegen::structure(Skeleton::transpose).doubt(region, layout).has_value());
  const auto ready = codegen::prepare(group);
  const auto& prepared = std::get<codegen::Prepared>(ready);
  REQUIRE(prepared.turned != nullptr);
  CHECK(codegen::structures_of(prepared).size() == 2);
  Plan plan;
  plan.skeleton = Skeleton::transpose;
  CHECK(&codegen::prepared_for(prepared, plan) == prepared.turned.get());
  plan.skeleton = Skeleton::map;
  CHECK(&codegen::prepared_for(prepared, plan) == &prepared);
}
