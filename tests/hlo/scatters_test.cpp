// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Scatters of one window, at import: the update of a slice stands for them in the graph, and writes what the scatter
// means, inside, outside and across the border of the array. The oracle is the reference on the scatter itself. Part of
// the suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

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

struct ScatterCase {
  std::string_view index_type, region;  ///< region: an operation, or "second" where the window replaces what was there
  std::vector<std::int64_t> dims, window;
  std::vector<int> inserted, indexed;
  std::vector<std::int64_t> updates;  ///< the window without what is inserted, with a dimension for the one index

  std::string attributes() const {
    std::vector<int> from;
    for (int i = 0; i < static_cast<int>(dims.size() - inserted.size()); ++i) from.push_back(i);
    return fmt::format(
        "update_window_dims={{{}}}, inserted_window_dims={{{}}}, scatter_dims_to_operand_dims={{{}}}, "
        "index_vector_dim=0",
        fmt::join(from, ","), fmt::join(inserted, ","), fmt::join(indexed, ","));
  }
  std::string text() const {
    const std::string array = fmt::format("f32[{}]", fmt::join(dims, ","));
    const std::string root = region == "second"
                                 ? "ROOT q = f32[] parameter(1)"
                                 : fmt::format("q = f32[] parameter(1)\n  ROOT s = f32[] {}(p, q)", region);
    return fmt::format(
        "HloModule m\n\nr {{\n  p = f32[] parameter(0)\n  {}\n}}\n\nENTRY e {{\n  x = {} parameter(0)\n"
        "  i = {}[{}] parameter(1)\n  u = f32[{}] parameter(2)\n  ROOT y = {} scatter(x, i, u), {}, to_apply=r\n}}\n",
        root, array, index_type, indexed.size(), fmt::join(updates, ","), array, attributes());
  }
};

Node parameter(const Graph& imported, std::size_t i) { return imported.nodes[static_cast<NodeId>(i)]; }

/// The scatter as one node.
Graph as_one_scatter(const Graph& imported, const ScatterCase& one) {
  Graph graph;
  graph.name = "plain";
  for (std::size_t i = 0; i < 3; ++i) graph.nodes.push_back(parameter(imported, i));
  Node scatter;
  scatter.op = Op::scatter;
  scatter.name = "y";
  scatter.shape = graph.nodes[0].shape;
  scatter.operands = {0, 1, 2};
  const Reducer reducer = one.region == "add"       ? Reducer::add
                          : one.region == "maximum" ? Reducer::maximum
                                                    : Reducer::custom;
  scatter.attributes = RegionCall{reducer, one.attributes()};
  if (reducer == Reducer::custom) {
    graph.bodies.push_back(
        parse_graph("graph r {\n  %p = parameter 0 : f32[]\n  %q = parameter 1 : f32[]\n  output %q\n}\n"));
    scatter.bodies.push_back(0);
  }
  graph.nodes.push_back(std::move(scatter));
  graph.outputs = {3};
  return graph;
}

std::vector<Tensor> arguments(const Graph& imported, const std::vector<std::int64_t>& places) {
  std::vector<Tensor> given;
  for (std::size_t i = 0; i < 3; ++i) given.push_back(zeros(parameter(imported, i).shape));
  for (const std::size_t array : {0, 2})
    for (std::size_t k = 0; 4 * k < given[array].bytes.size(); ++k) {
      const auto value = static_cast<float>(k % 23) - 7.0F * static_cast<float>(array);
      std::memcpy(given[array].bytes.data() + 4 * k, &value, 4);
    }
  const std::size_t bytes = static_cast<std::size_t>(row(given[1].shape.dtype).bits) / 8;
  for (std::size_t k = 0; k < places.size(); ++k) std::memcpy(given[1].bytes.data() + k * bytes, &places[k], bytes);
  return given;
}

}  // namespace

TEST_CASE("a scatter of one window is the update of a slice, wherever the window lies") {
  int windows = 0, outside = 0;
  std::mt19937_64 random(7);
  for (const std::string_view region : {"second", "add", "maximum"})
    for (const std::string_view type : {"s32", "s64", "u32", "s8", "u8", "u64"})
      for (const ScatterCase& form :
           {ScatterCase{type, region, {9}, {1}, {0}, {0}, {}}, ScatterCase{type, region, {9}, {4}, {}, {0}, {4}},
            ScatterCase{type, region, {5, 7}, {1, 7}, {0}, {0}, {7}},
            ScatterCase{type, region, {5, 7}, {5, 1}, {1}, {1}, {5}},
            ScatterCase{type, region, {5, 7}, {2, 3}, {}, {1, 0}, {2, 3}},
            ScatterCase{type, region, {3, 300, 2}, {1, 1, 2}, {0, 1}, {0, 1}, {2}},
            ScatterCase{type, region, {4, 3, 6}, {4, 1, 2}, {1}, {2, 1}, {4, 2}}}) {
        CAPTURE(form.text());
        const hlo::Imported imported = hlo::import_hlo(form.text(), "test.hlo");
        verify(imported.graph);
        CHECK(nodes_by_ledger(imported) == hlo::nodes_in_all(imported.graph));
        for (const Node& node : imported.graph.nodes) CHECK(node.op != Op::scatter);
        CHECK(imported.graph[imported.graph.outputs[0]].name == "y");
        const Graph whole = as_one_scatter(imported.graph, form);
        for (int draw = 0; draw < 24; ++draw) {
          std::vector<std::int64_t> places;
          bool is_inside = true;
          for (const int d : form.indexed) {
            const std::int64_t most = form.dims[static_cast<std::size_t>(d)] - form.window[static_cast<std::size_t>(d)];
            const std::int64_t choices[] = {0, most, most + 1, -1, static_cast<std::int64_t>(random() % 8), 127};
            places.push_back(choices[random() % 6]);
            is_inside = is_inside && places.back() >= 0 && places.back() <= most;
          }
          CAPTURE(places);
          const std::vector<Tensor> given = arguments(imported.graph, places);
          CHECK(evaluate(imported.graph, given)[0].bytes == evaluate(whole, given)[0].bytes);
          ++windows;
          outside += !is_inside;
        }
      }
  MESSAGE(windows, " windows, ", outside, " of them outside");
  CHECK(outside > windows / 8);
  CHECK(outside < windows * 7 / 8);
}

TEST_CASE("scatters of several windows, and of regions that are no one operation, stay") {
  for (const std::string_view line :
       {"i = s32[2,1] parameter(1)\n  u = f32[2,7] parameter(2)\n  ROOT y = f32[5,7] scatter(x, i, u), "
        "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
        "i = s32[1] parameter(1)\n  u = f32[7] parameter(2)\n  ROOT y = f32[5,7] scatter(x, i, u), "
        "update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0"}) {
    const bool several = line.find("s32[2,1]") != line.npos;
    const std::string text = fmt::format(
        "HloModule m\n\nr {{\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] {}(p, q)\n}}\n\n"
        "ENTRY e {{\n  x = f32[5,7] parameter(0)\n  {}, to_apply=r\n}}\n",
        several ? "add" : "power", line);
    CAPTURE(text);
    const hlo::Imported imported = hlo::import_hlo(text, "test.hlo");
    CHECK(std::count_if(imported.graph.nodes.begin(), imported.graph.nodes.end(),
                        [](const Node& node) { return node.op == Op::scatter; }) == 1);
  }
}

TEST_CASE("a scatter's array lies as its result does, by a copy where the text has them apart") {
  for (const char* array : {"{1,0}", "{0,1}"})
    for (const char* result : {"{1,0}", "{0,1}"}) {
      const std::string text = fmt::format(
          "HloModule m\n\nr {{\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}}\n\n"
          "ENTRY e {{\n  x = f32[5,7]{} parameter(0)\n  i = s32[2,1] parameter(1)\n  u = f32[2,7] parameter(2)\n"
          "  ROOT y = f32[5,7]{} scatter(x, i, u), update_window_dims={{1}}, inserted_window_dims={{0}}, "
          "scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=r\n}}\n",
          array, result);
      CAPTURE(text);
      const Graph graph = hlo::import_hlo(text, "test.hlo").graph;
      const Node& scatter = graph[graph.outputs[0]];
      REQUIRE(scatter.op == Op::scatter);
      const Node& written = graph[scatter.operands[0]];
      CHECK(written.shape.same_layout(scatter.shape));
      CHECK((written.op == Op::copy) == (std::string_view(array) != result));
    }
}
