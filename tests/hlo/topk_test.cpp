// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The few greatest of a row, at import: reductions give the values and places that sorting gives, equal elements, NaN
// of both signs and zeros of both signs among them. The oracle is the reference on the one instruction, bit for bit.
// So do the maxima of integers that a kernel computes in their place (ir/rewrite/packed_pairs.h). Part of the suite
// `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <random>

#include "base/error.h"
#include "hlo/import.h"
#include "hlo/normalise.h"
#include "ir/graph/number.h"
#include "ir/rewrite/packed_pairs.h"
#include "reference/evaluate.h"
#include "support/ledger.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

struct TopkCase {
  std::string_view type;
  std::vector<std::int64_t> dims;
  std::int64_t found = 1;
  bool largest = true;

  std::string result() const {
    std::vector<std::int64_t> all = dims;
    all.back() = found;
    return fmt::format("[{}]", fmt::join(all, ","));
  }
  std::string hlo() const {
    return fmt::format(
        "HloModule m\n\nENTRY e {{\n  x = {0}[{1}] parameter(0)\n  t = ({0}{2}, s32{2}) topk(x), k={3}, largest={4}\n"
        "  v = {0}{2} get-tuple-element(t), index=0\n  i = s32{2} get-tuple-element(t), index=1\n"
        "  ROOT y = ({0}{2}, s32{2}) tuple(v, i)\n}}\n",
        type, fmt::join(dims, ","), result(), found, largest);
  }
  std::string graph() const {
    return fmt::format(
        "graph m {{\n  %x = parameter 0 : {0}[{1}]\n  %t = topk %x, text=\"k={3}, largest={4}\", results={{{0}{2}, "
        "s32{2}}} : tuple[]\n"
        "  %v = get_tuple_element %t, number=0 : {0}{2}\n  %i = get_tuple_element %t, number=1 : s32{2}\n"
        "  output %v, %i\n}}\n",
        type, fmt::join(dims, ","), result(), found, largest);
  }
};

Tensor drawn_row_values(const Shape& shape, std::mt19937_64& random) {
  Tensor tensor = zeros(shape);
  const std::size_t bytes = static_cast<std::size_t>(row(shape.dtype).bits) / 8;
  const double odd[] = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::quiet_NaN(), -0.0};
  for (std::size_t k = 0; (k + 1) * bytes <= tensor.bytes.size(); ++k) {
    std::uint64_t bits = random() % 5 - 2;
    if (is_floating(shape.dtype) && random() % 16 != 0)  // else bits as they come: NaN of both signs, subnormal numbers
      bits = encode(shape.dtype, random() % 6 == 0 ? odd[random() % 4] : static_cast<double>(random() % 9) / 4 - 1);
    std::memcpy(tensor.bytes.data() + k * bytes, &bits, bytes);
  }
  return tensor;
}

/// The same values from one integer for each pair, where the graph can be written so.
void check_packed(const Graph& graph, const std::vector<Tensor>& given, const std::vector<Tensor>& expected,
                  bool is_packed) {
  const std::optional<Graph> packed = with_pairs_packed(graph);
  REQUIRE(packed.has_value() == is_packed);
  if (!packed) return;
  verify(*packed);
  CHECK(packed->nodes.size() == graph.nodes.size());
  CHECK(packed->outputs == graph.outputs);
  for (const Node& node : packed->nodes)
    if (node.op == Op::reduce) CHECK(reducer(node) == Reducer::maximum);
  const std::vector<Tensor> found = evaluate(*packed, given);
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(found[i].bytes == expected[i].bytes);
}

}  // namespace

TEST_CASE("reductions find the greatest elements of a row that sorting finds, in its order") {
  std::mt19937_64 random(5);
  for (const std::string_view type : {"f32", "bf16", "f16", "f64", "s32", "u8", "s8", "u32", "s64"})
    for (const bool largest : {true, false})
      for (int round = 0; round < 12; ++round) {
        const std::int64_t length = 1 + static_cast<std::int64_t>(random() % 20);
        TopkCase one{type, {}, 1, largest};
        one.found =
            1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(std::min<std::int64_t>(16, length)));
        for (std::size_t rank = random() % 3; rank > 0; --rank)
          one.dims.push_back(1 + static_cast<std::int64_t>(random() % 3));
        one.dims.push_back(length);
        CAPTURE(one.hlo());
        const hlo::Imported imported = hlo::import_hlo(one.hlo(), "test.hlo");
        verify(imported.graph);
        CHECK(nodes_by_ledger(imported) == hlo::nodes_in_all(imported.graph));
        for (const Node& node : imported.graph.nodes) REQUIRE(node.op != Op::topk);
        const Graph plain = parse_graph(one.graph());
        verify(plain);
        const std::vector<Tensor> given{drawn_row_values(imported.graph[parameters(imported.graph)[0]].shape, random)};
        const std::vector<Tensor> found = evaluate(imported.graph, given), expected = evaluate(plain, given);
        CHECK(found[0].bytes == expected[0].bytes);
        CHECK(found[1].bytes == expected[1].bytes);
        check_packed(imported.graph, given, expected, row(given[0].shape.dtype).bits <= 32);
      }
}

TEST_CASE("places that half an integer does not hold take a whole one") {
  std::mt19937_64 random(6);
  const hlo::Imported imported = hlo::import_hlo(TopkCase{"bf16", {2, 70000}, 3, true}.hlo(), "test.hlo");
  const std::vector<Tensor> given{drawn_row_values(imported.graph[parameters(imported.graph)[0]].shape, random)};
  check_packed(imported.graph, given, evaluate(imported.graph, given), true);
}

TEST_CASE("a chain that looks for more than a row has stays as it is") {
  // Import makes none; the text of a graph may.
  std::string text = ir::text(hlo::import_hlo(TopkCase{"f32", {2, 9}, 3, true}.hlo(), "test.hlo").graph);
  for (std::size_t at; (at = text.find("[2,9]")) != text.npos;) text.replace(at, 5, "[2,2]");
  const Graph graph = parse_graph(text);
  verify(graph);
  CHECK(!with_pairs_packed(graph));
}

TEST_CASE("a chain stays as it is where others read what lies between its reductions") {
  const Graph graph = hlo::import_hlo(TopkCase{"f32", {2, 9}, 3, true}.hlo(), "test.hlo").graph;
  int between = 0;
  for (NodeId id = 0; index(id) < graph.nodes.size(); ++id) {
    const bool is_read = graph[id].shape.dtype != DType::tuple && graph[id].op != Op::get_tuple_element &&
                         graph[id].op != Op::parameter && graph[id].op != Op::iota;
    const bool is_behind = graph[id].op == Op::reshape || graph[id].op == Op::concatenate;  // the values and places
    if (!is_read || is_behind) continue;
    CAPTURE(graph[id].name);
    Graph other = graph;
    other.outputs.push_back(id);
    verify(other);
    CHECK(!with_pairs_packed(other));
    ++between;
  }
  CHECK(between == 2 + 1 + 3 * 2);  // what they start from, no place, and what leaves two out
}

TEST_CASE("regions of equal searches are one, and searches for more than 16 stay as they are") {
  const hlo::Imported two = hlo::import_hlo(
      "HloModule m\n\nENTRY e {\n  x = f32[3,40] parameter(0)\n  z = f32[3,40] negate(x)\n"
      "  t = (f32[3,2], s32[3,2]) topk(x), k=2, largest=true\n  u = (f32[3,3], s32[3,3]) topk(z), k=3, largest=true\n"
      "  w = (f32[3,17], s32[3,17]) topk(z), k=17, largest=true\n  a = f32[3,2] get-tuple-element(t), index=0\n"
      "  b = s32[3,3] get-tuple-element(u), index=1\n  c = f32[3,17] get-tuple-element(w), index=0\n"
      "  ROOT y = (f32[3,2], s32[3,3], f32[3,17]) tuple(a, b, c)\n}\n",
      "test.hlo");
  verify(two.graph);
  CHECK(two.graph.bodies.size() == 1);
  CHECK(nodes_by_ledger(two) == hlo::nodes_in_all(two.graph));
  const auto count = [&](Op op) {
    return std::count_if(two.graph.nodes.begin(), two.graph.nodes.end(),
                         [&](const Node& node) { return node.op == op; });
  };
  CHECK(count(Op::reduce) == 5);
  CHECK(count(Op::topk) == 1);
}

TEST_CASE("a topk that is malformed is told in one message, with what was found and expected") {
  struct Malformed {
    std::string_view results, operands, attributes, found;
  };
  const auto errors = std::to_array<Malformed>({
      {"(f32[8,4], s32[8,4])", "", "k=4, largest=true", "0 operands"},
      {"(f32[8,4], s32[8,4])", "x, x", "k=4, largest=true", "2 operands"},
      {"(f32[8,4], s32[8,4])", "x", "largest=true", "no k"},
      {"(f32[8,4], s32[8,4])", "x", "k=-1, largest=true", "k=-1"},
      {"(f32[8,4], s32[8,4])", "x", "k=four, largest=true", "k=four"},
      {"(f32[8,4], s32[8,4])", "x", "k=99999999999999999999, largest=true", "k=99999999999999999999"},
      {"(f32[8,65], s32[8,65])", "x", "k=65, largest=true", "k=65"},
      {"(f32[8,4], s32[8,4])", "x", "k=4, largest=maybe", "largest=maybe"},
      {"(f32[8,5], s32[8,4])", "x", "k=4, largest=true", "f32[8,5]"},
      {"(f32[9,4], s32[9,4])", "x", "k=4, largest=true", "f32[9,4]"},
      {"(f32[8,4], f32[8,4])", "x", "k=4, largest=true", "f32[8,4]"},
      {"(f32[8,4])", "x", "k=4, largest=true", "1 results"},
  });
  for (const Malformed& one : errors) {
    const std::string text =
        fmt::format("HloModule m\n\nENTRY e {{\n  x = f32[8,64] parameter(0)\n  ROOT t = {} topk({}), {}\n}}\n",
                    one.results, one.operands, one.attributes);
    CAPTURE(text);
    try {
      hlo::import_hlo(text, "test.hlo");
      FAIL("it was taken");
    } catch (const Error& error) {
      CAPTURE(error.what());
      CHECK(std::string_view(error.what()).find(one.found) != std::string_view::npos);
    }
  }
}
