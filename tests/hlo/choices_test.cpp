// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Scatters of few updates a row, at import: what stands for them in the graph, an elementwise choice, writes what the
// scatter means, for places inside and outside, several updates a row, windows, and rows that batching dimensions or
// indices number. The oracle is the same scatter of an array that lies in memory, which stays one node: the reference
// evaluates both. Part of the suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "hlo/import.h"
#include "hlo/normalise.h"
#include "reference/evaluate.h"
#include "support/ledger.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

/// @ stands for the type of indices.
struct RowsCase {
  std::string_view array, given, indices, updates, attributes;
};

constexpr RowsCase rows_cases[] = {
    {"f32[5,9]", "@[5,1]", "j = @[5,1] reshape(i)", "f32[5]",
     "update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
     "scatter_indices_batching_dims={0}, index_vector_dim=1"},
    {"f32[5,9]{0,1}", "@[5]", "j = @[5] copy(i)", "f32[5]",
     "update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
     "scatter_indices_batching_dims={0}, index_vector_dim=1"},
    {"f32[5,9]", "@[5,3,1]", "j = @[5,3,1] reshape(i)", "f32[5,3]",
     "update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
     "scatter_indices_batching_dims={0}, index_vector_dim=2"},
    {"f32[3,2,9]", "@[2,4,2]", "j = @[2,4,2] reshape(i)", "f32[4,2]",
     "update_window_dims={}, inserted_window_dims={0,2}, scatter_dims_to_operand_dims={2,0}, input_batching_dims={1}, "
     "scatter_indices_batching_dims={2}, index_vector_dim=0"},
    {"f32[5,9,3]", "@[5,2,1]", "j = @[5,2,1] reshape(i)", "f32[5,2,3]",
     "update_window_dims={2}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
     "scatter_indices_batching_dims={0}, index_vector_dim=2"},
    {"f32[5,9]", "@[5,1]", "r = @[5,1] iota(), iota_dimension=0\n  j = @[5,2] concatenate(r, i), dimensions={1}",
     "f32[5]",
     "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1"},
    {"f32[9,5]", "@[5,1]",
     "c = @[5] constant({0, 1, 2, 3, 4})\n  r = @[5,1] reshape(c)\n  j = @[5,2] concatenate(r, i), "
     "dimensions={1}",
     "f32[5]",
     "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=1"},
    {"f32[5,9]", "@[5,4,1]",
     "q = @[5] iota(), iota_dimension=0\n  z = @[] constant(0)\n  zs = @[5] broadcast(z), dimensions={}\n"
     "  lt = pred[5] compare(q, zs), direction=LT\n  n = @[] constant(5)\n  ns = @[5] broadcast(n), dimensions={}\n"
     "  m = @[5] add(q, ns)\n  s = @[5] select(lt, m, q)\n  r = @[5,4,1] broadcast(s), dimensions={0}\n"
     "  j = @[5,4,2] concatenate(r, i), dimensions={2}",
     "f32[5,4]",
     "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=2"},
    {"f32[5,1,9]", "@[5,2,1]", "j = @[5,2,1] reshape(i)", "f32[5,2,1]",
     "update_window_dims={2}, inserted_window_dims={1}, scatter_dims_to_operand_dims={2}, input_batching_dims={0}, "
     "scatter_indices_batching_dims={0}, index_vector_dim=2"},
    {"f32[5,9]", "@[5,1]", "r = @[5,1] iota(), iota_dimension=0\n  j = @[5,2] concatenate(r, i), dimensions={1}",
     "f32[5,1]",
     "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1"},
    {"f32[5,5]", "@[5,1]", "r = @[5,1] iota(), iota_dimension=0\n  j = @[5,2] concatenate(r, r), dimensions={1}",
     "f32[5]",
     "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1"},
    {"f32[5,9]", "@[5,1]",
     "r = @[5,1] iota(), iota_dimension=0\n  k = @[5,2] concatenate(r, i), dimensions={1}\n  z = @[] constant(0)\n"
     "  lo = @[5,2] broadcast(z), dimensions={}\n  m = @[2] constant({4, 8})\n"
     "  hi = @[5,2] broadcast(m), dimensions={1}\n  j = @[5,2] clamp(lo, k, hi)",
     "f32[5]",
     "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1"},
};

std::string with_type(std::string_view text, std::string_view type) {
  std::string made;
  for (const char c : text) made += c == '@' ? std::string(type) : std::string(1, c);
  return made;
}

/// `made`: the array is computed, as x = -p; else it is a parameter that is given away.
std::string text_of(const RowsCase& one, std::string_view type, std::string_view region, bool made) {
  const std::string root = region == "second"
                               ? "ROOT q = f32[] parameter(1)"
                               : fmt::format("q = f32[] parameter(1)\n  ROOT s = f32[] {}(p, q)", region);
  return fmt::format(
      "HloModule m{}\n\nr {{\n  p = f32[] parameter(0)\n  {}\n}}\n\nENTRY e {{\n  p = {} parameter(0)\n{}"
      "  i = {} parameter(1)\n  {}\n  u = {} parameter(2)\n  ROOT y = {} scatter({}, j, u), {}, to_apply=r\n}}\n",
      made ? "" : ", input_output_alias={ {}: (0, {}, may-alias) }", root, one.array,
      made ? fmt::format("  x = {} negate(p)\n", one.array) : "", with_type(one.given, type),
      with_type(one.indices, type), one.updates, one.array, made ? "x" : "p", one.attributes);
}

std::ptrdiff_t scatters(const Graph& graph) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) { return n.op == Op::scatter; });
}

/// Numbers from -7 on, each times `sign`; no two of a row are equal.
Tensor numbers(const Shape& shape, float sign) {
  Tensor made = zeros(shape);
  for (std::size_t k = 0; 4 * k < made.bytes.size(); ++k) {
    const float value = sign * (static_cast<float>(k % 23) - 7.0F);
    std::memcpy(made.bytes.data() + 4 * k, &value, 4);
  }
  return made;
}

std::vector<std::byte> written(const Graph& graph, Tensor array, Tensor at, Tensor update) {
  return evaluate(graph, std::vector<Tensor>{std::move(array), std::move(at), std::move(update)})[0].bytes;
}

}  // namespace

TEST_CASE("a scatter of few updates a row is a choice of each element, wherever they go") {
  std::mt19937_64 random(11);
  int places = 0, outside = 0;
  for (const RowsCase& one : rows_cases)
    for (const std::string_view region : {"second", "add", "maximum"})
      for (const std::string_view type : {"s32", "s64", "u32", "s8", "u8", "u64"}) {
        const std::string text = text_of(one, type, region, true);
        CAPTURE(text);
        const hlo::Imported chosen = hlo::import_hlo(text, "test.hlo"),
                            whole = hlo::import_hlo(text_of(one, type, region, false), "test.hlo");
        verify(chosen.graph);
        CHECK(nodes_by_ledger(chosen) == hlo::nodes_in_all(chosen.graph));
        CHECK(scatters(chosen.graph) == 0);
        CHECK(scatters(whole.graph) == 1);
        CHECK(chosen.graph[chosen.graph.outputs[0]].name == "y");
        std::vector<Shape> shapes;
        for (const Node& node : whole.graph.nodes)
          if (node.op == Op::parameter) shapes.push_back(node.shape);
        REQUIRE(shapes.size() == 3);
        const std::size_t bytes = static_cast<std::size_t>(row(shapes[1].dtype).bits) / 8;
        for (int draw = 0; draw < 12; ++draw) {
          Tensor at = zeros(shapes[1]);
          for (std::size_t k = 0; k < at.bytes.size() / bytes; ++k) {
            const std::int64_t choices[] = {0,
                                            8,
                                            9,
                                            -1,
                                            static_cast<std::int64_t>(random() % 9),
                                            127,
                                            2,
                                            static_cast<std::int64_t>(random() % 3),
                                            (std::int64_t{1} << 32) + 1};
            const std::int64_t place = choices[random() % std::size(choices)];
            std::memcpy(at.bytes.data() + k * bytes, &place, bytes);
            ++places;
            outside += place < 0 || place > 8;
          }
          const Tensor update = numbers(shapes[2], 3.0F);
          CHECK(written(chosen.graph, numbers(shapes[0], -1.0F), at, update) ==
                written(whole.graph, numbers(shapes[0], 1.0F), at, update));
        }
      }
  MESSAGE(places, " places, ", outside, " of them outside");
  CHECK(outside > places / 8);
  CHECK(outside < places * 7 / 8);
}

TEST_CASE("coordinates beyond the numbers of a narrow index are reached by none") {
  // Of 300 columns an index of 8 bits names the first 128 or 256; 44 is 300 - 256.
  const RowsCase wide{"f32[2,300]", "@[2,1]", "j = @[2,1] reshape(i)", "f32[2]", rows_cases[0].attributes};
  for (const std::string_view type : {"s8", "u8"}) {
    const hlo::Imported chosen = hlo::import_hlo(text_of(wide, type, "add", true), "test.hlo"),
                        whole = hlo::import_hlo(text_of(wide, type, "add", false), "test.hlo");
    const Shape array = whole.graph.nodes[0].shape;
    for (int place = 0; place < 256; ++place) {
      Tensor at = zeros(make_shape(find_dtype(type)->dtype, Dims{2, 1}));
      at.bytes[0] = static_cast<std::byte>(place);
      at.bytes[1] = static_cast<std::byte>(44);
      const Tensor update = numbers(make_shape(DType::f32, Dims{2}), 1.0F);
      REQUIRE(written(chosen.graph, numbers(array, -1.0F), at, update) ==
              written(whole.graph, numbers(array, 1.0F), at, update));
    }
  }
}

TEST_CASE("scatters that a choice does not stand for stay") {
  const auto stays = [](const RowsCase& one, std::string_view region = "add") {
    const std::string text = text_of(one, "s32", region, true);
    CAPTURE(text);
    CHECK(scatters(hlo::import_hlo(text, "test.hlo").graph) == 1);
  };
  const RowsCase& rows = rows_cases[0];
  // Nine updates a row; three windows a row; rows that nothing numbers; numbers that do not count, or count otherwise.
  stays({"f32[5,9]", "@[5,9,1]", "j = @[5,9,1] reshape(i)", "f32[5,9]", rows_cases[2].attributes});
  stays({"f32[5,9,3]", "@[5,3,1]", "j = @[5,3,1] reshape(i)", "f32[5,3,3]", rows_cases[4].attributes});
  stays({"f32[9]", "@[5,1]", "j = @[5,1] reshape(i)", "f32[5]",
         "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"});
  stays({"f32[5,9]", "@[5,2]", "j = @[5,2] reshape(i)", "f32[5]", rows_cases[5].attributes});
  stays({"f32[5,9]", "@[5,1]",
         "c = @[5,1] constant({{0}, {1}, {2}, {4}, {3}})\n  j = @[5,2] concatenate(c, i), dimensions={1}", "f32[5]",
         rows_cases[5].attributes});
  stays({"f32[6,9]", "@[5,1]", "r = @[5,1] iota(), iota_dimension=0\n  j = @[5,2] concatenate(r, i), dimensions={1}",
         "f32[5]", rows_cases[5].attributes});
  stays({"f32[5,9]", "@[5,1]",
         "q = @[5,1] iota(), iota_dimension=0\n  n = @[] constant(1)\n  ns = @[5,1] broadcast(n), dimensions={}\n"
         "  lt = pred[5,1] compare(q, ns), direction=LT\n  s = @[5,1] select(lt, ns, q)\n"
         "  j = @[5,2] concatenate(s, i), dimensions={1}",
         "f32[5]", rows_cases[5].attributes});
  // Bounds that the numbers of rows do not stay within.
  stays({"f32[5,9]", "@[5,1]",
         "r = @[5,1] iota(), iota_dimension=0\n  k = @[5,2] concatenate(r, i), dimensions={1}\n  z = @[] constant(0)\n"
         "  lo = @[5,2] broadcast(z), dimensions={}\n  m = @[2] constant({3, 8})\n"
         "  hi = @[5,2] broadcast(m), dimensions={1}\n  j = @[5,2] clamp(lo, k, hi)",
         "f32[5]", rows_cases[5].attributes});
  stays({"f32[5,9]", "@[5,1]",
         "r = @[5,1] iota(), iota_dimension=0\n  k = @[5,2] concatenate(r, i), dimensions={1}\n  z = @[] constant(0)\n"
         "  lo = @[5,2] broadcast(z), dimensions={}\n"
         "  hi = @[5,2] constant({{4, 8}, {4, 8}, {4, 8}, {4, 8}, {2, 8}})\n  j = @[5,2] clamp(lo, k, hi)",
         "f32[5]", rows_cases[5].attributes});
  // Numbers of 8 bits begin again behind the 256th row.
  stays({"f32[300,9]", "@[300,1]",
         "q = u8[300,1] iota(), iota_dimension=0\n  r = @[300,1] convert(q)\n"
         "  j = @[300,2] concatenate(r, i), dimensions={1}",
         "f32[300]", rows_cases[5].attributes});
  // A window that does not have all of its dimension; a region that is no one operation.
  stays({"f32[5,9,3]", "@[5,1,1]", "j = @[5,1,1] reshape(i)", "f32[5,1,2]", rows_cases[4].attributes});
  stays(rows, "power");
}

TEST_CASE("a scatter inside a fusion stays, whatever its array") {
  const std::string scatter = fmt::format("scatter(z, i, u), {}, to_apply=r", rows_cases[0].attributes);
  const std::string text = fmt::format(
      "HloModule m\n\nr {{\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}}\n\n"
      "f {{\n  i = s32[5,1] parameter(0)\n  u = f32[5] parameter(1)\n  c = f32[] constant(0)\n"
      "  z = f32[5,9] broadcast(c), dimensions={{}}\n  ROOT y = f32[5,9] {}\n}}\n\n"
      "ENTRY e {{\n  i = s32[5,1] parameter(0)\n  u = f32[5] parameter(1)\n"
      "  ROOT y = f32[5,9] fusion(i, u), kind=kInput, calls=f\n}}\n",
      scatter);
  CAPTURE(text);
  CHECK(scatters(hlo::import_hlo(text, "test.hlo").graph) == 1);
}
