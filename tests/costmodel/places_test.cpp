// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Values that are asked for at several places. The oracle goes from every element of every result back to the elements
// that it is made of, operation by operation, on numbers: what it counts is for each operation the different functions
// from elements of a result to its own, each at as many elements as it has. The summary of a group knows boxes that
// move, and must count the same. Part of the suite `costmodel`.
#include "costmodel/places/places.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "costmodel/group_summary.h"
#include "ir/graph/graph_parse.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::costmodel;

namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Op;

/// By element of a result: the element of a value that it asks for; nowhere: none, a condition does not hold.
using Asked = std::vector<std::int64_t>;
constexpr std::int64_t nowhere = -1;

std::vector<std::int64_t> index_of(const ir::Dims& dims, std::int64_t element) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(dims.size()));
  for (int d = dims.size(); d-- > 0; element /= dims[d]) at[static_cast<std::size_t>(d)] = element % dims[d];
  return at;
}

/// The element of operand k that an element of the node is made of.
std::int64_t element_asked(const Graph& graph, const Node& node, std::size_t k, std::int64_t element) {
  const ir::Dims& source = graph[node.operands[k]].shape.dims;
  const std::vector<std::int64_t> at = index_of(node.shape.dims, element);
  std::vector<std::int64_t> from(static_cast<std::size_t>(source.size()));
  for (int d = 0; d < source.size(); ++d) {
    std::int64_t& one = from[static_cast<std::size_t>(d)];
    if (node.op == Op::broadcast) {
      one = at[static_cast<std::size_t>(axes(node)[d])];
      continue;
    }
    if (node.op == Op::transpose) continue;
    one = at[static_cast<std::size_t>(d)];
    if (node.op == Op::slice) one = slice_range(node, d).start + one * slice_range(node, d).stride;
    if (node.op == Op::pad) one -= pad_range(node, d).low;
    if (node.op == Op::concatenate && d == axis(node))
      for (std::size_t before = 0; before < k; ++before) one -= graph[node.operands[before]].shape.dims[d];
  }
  if (node.op == Op::transpose)
    for (int d = 0; d < source.size(); ++d)
      from[static_cast<std::size_t>(axes(node)[d])] = at[static_cast<std::size_t>(d)];
  std::int64_t linear = 0;
  for (int d = 0; d < source.size(); ++d) {
    const std::int64_t one = from[static_cast<std::size_t>(d)];
    if (one < 0 || one >= source[d]) return nowhere;
    linear = linear * source[d] + one;
  }
  return linear;
}

/// Of each node the functions at which it is computed.
std::vector<std::set<Asked>> functions_of(const Graph& graph) {
  std::vector<std::set<Asked>> all(graph.nodes.size());
  for (const NodeId id : graph.outputs) {
    Asked own(static_cast<std::size_t>(elements(graph[id].shape)));
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<std::int64_t>(i);
    all[ir::index(id)].insert(own);
  }
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    for (std::size_t k = 0; k < node.operands.size(); ++k) {
      if (node.op == Op::pad && k == 1) continue;
      for (const Asked& asked : all[i]) {
        Asked further = asked;
        bool any = false;
        for (std::int64_t& element : further) {
          if (element != nowhere) element = element_asked(graph, node, k, element);
          any = any || element != nowhere;
        }
        if (any) all[ir::index(node.operands[k])].insert(further);
      }
    }
  }
  return all;
}

std::int64_t evaluations_of(const std::set<Asked>& functions) {
  std::int64_t all = 0;
  for (const Asked& one : functions) all += std::count_if(one.begin(), one.end(), [](auto e) { return e != nowhere; });
  return all;
}

/// Operations that move elements among ones that compute, over arrays of two dimensions and one that is repeated.
class MovedGraph {
 public:
  explicit MovedGraph(std::uint64_t seed) : random_(seed) {}

  Graph make(int operations) {
    text_ =
        "graph moved {\n  %zero = constant 0 : f32[]\n  %p = parameter 0 : f32[5,4]\n  %q = parameter 1 : f32[4]\n"
        "  %r = exp %q : f32[4]\n";
    values_ = {{"p", {5, 4}}};
    used_.clear();
    for (int i = 0; i < operations; ++i) one_more(i);
    for (const Value& value : values_)
      if (!used_.contains(value.name)) text_ += "  output %" + value.name + "\n";
    return ir::parse_graph(text_ + "}\n");
  }

 private:
  struct Value {
    std::string name;
    std::vector<std::int64_t> dims;
  };

  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }

  /// One of the latest.
  const Value& some() {
    const auto n = static_cast<std::int64_t>(values_.size());
    const Value& value = values_[static_cast<std::size_t>(n - 1 - below(std::min<std::int64_t>(n, 4)))];
    return value;
  }

  void one_more(int number) {
    const Value a = some();
    Value made{fmt::format("v{}", number), a.dims};
    std::string operation;
    switch (below(7)) {
      case 0: {
        std::string ranges;
        for (std::int64_t& dim : made.dims) {
          const std::int64_t low = below(2), high = below(2);
          const bool fits = low + high + 1 < dim;  // single numbers are computed once for all
          ranges += fmt::format("{}{}:{}:1", ranges.empty() ? "" : ",", fits ? low : 0, fits ? dim - high : dim);
          if (fits) dim -= low + high;
        }
        operation = fmt::format("slice %{}, ranges={{{}}}", a.name, ranges);
        break;
      }
      case 1: {
        std::string ranges;
        for (std::int64_t& dim : made.dims) {
          const std::int64_t low = below(3) - (dim > 2 ? 1 : 0), high = below(2);
          ranges += fmt::format("{}{}:{}:0", ranges.empty() ? "" : ",", low, high);
          dim += low + high;
        }
        operation = fmt::format("pad %{}, %zero, ranges={{{}}}", a.name, ranges);
        break;
      }
      case 2: {
        const auto along = static_cast<std::size_t>(below(2));
        const Value b = some();
        if (b.dims[1 - along] != a.dims[1 - along] || a.dims[along] + b.dims[along] > 12) return;
        made.dims[along] += b.dims[along];
        operation = fmt::format("concatenate %{}, %{}, axes={{{}}}", a.name, b.name, along);
        used_.insert(b.name);
        break;
      }
      case 3:
        std::swap(made.dims[0], made.dims[1]);
        operation = fmt::format("transpose %{}, axes={{1,0}}", a.name);
        break;
      case 4: {
        const Value b = some();
        if (b.dims != a.dims) return;
        operation = fmt::format("add %{}, %{}", a.name, b.name);
        used_.insert(b.name);
        break;
      }
      case 5:
        if (a.dims[1] != 4) return;
        text_ += fmt::format("  %b{} = broadcast %r, axes={{1}} : f32[{},4]\n", number, a.dims[0]);
        operation = fmt::format("multiply %{}, %b{}", a.name, number);
        break;
      default:
        operation = fmt::format("exp %{}", a.name);
    }
    used_.insert(a.name);
    text_ += fmt::format("  %{} = {} : f32[{}]\n", made.name, operation, fmt::join(made.dims, ","));
    values_.push_back(made);
  }

  std::mt19937_64 random_;
  std::string text_;
  std::vector<Value> values_;
  std::set<std::string> used_;
};

}  // namespace

TEST_CASE("a value is computed once for each function by which results ask for its elements") {
  int again = 0, in_part = 0, many = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const Graph graph = MovedGraph(seed).make(14);
    CAPTURE(seed);
    CAPTURE(ir::text(graph));
    const std::vector<std::set<Asked>> functions = functions_of(graph);
    double expected = 0, own = 0;
    bool is_bounded = false;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      is_bounded = is_bounded || functions[i].size() > most_places;
      if (graph.nodes[i].op != Op::exp) continue;
      const auto all = static_cast<double>(elements(graph.nodes[i].shape));
      own += all;  // what nobody reads is computed all the same
      expected += functions[i].empty() ? all : static_cast<double>(evaluations_of(functions[i]));
    }
    many += is_bounded;
    if (is_bounded) continue;
    again += expected > own;
    in_part += expected < own;
    REQUIRE(summarise(graph).xu == expected);
  }
  CHECK(again > 100);
  CHECK(in_part > 10);
  CHECK(many < 60);
}

TEST_CASE("summaries of groups that ask at several places are the same whatever moves came before") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Graph graph = MovedGraph(seed).make(24);
    CAPTURE(ir::text(graph));
    const GroupFacts facts = group_facts(graph, ir::def_use(graph));
    std::vector<NodeId> work;
    for (std::size_t i = 0; i < facts.nodes.size(); ++i)
      if (facts.nodes[i].alive) work.push_back(static_cast<NodeId>(i));
    std::mt19937_64 random(seed);
    GroupSummaries summaries(facts);
    const std::vector<std::int32_t> groups{summaries.create(), summaries.create()};
    for (int move = 0; move < 100; ++move) {
      const NodeId id = work[random() % work.size()];
      if (summaries.group_of(id) != GroupSummaries::no_group) summaries.remove(id);
      if (random() % 5 != 0) summaries.add(groups[random() % 4 == 0 ? 1 : 0], id);
      if (move % 5 != 4) continue;
      for (const std::int32_t group : groups) {
        GroupSummaries fresh(facts);
        const std::int32_t one = fresh.create();
        for (const NodeId member : work)
          if (summaries.group_of(member) == group) fresh.add(one, member);
        REQUIRE(summaries.summary(group) == fresh.summary(one));
      }
    }
  }
}

TEST_CASE("steps of a difference scheme meet again: places grow with the steps and not with the ways") {
  const auto computed = [](int steps) {
    std::string lines = "graph g {\n  %x = parameter 0 : f32[1000]\n  %e = exp %x : f32[1000]\n";
    std::string last = "e";
    std::int64_t length = 1000;
    for (int i = 0; i < steps; ++i, length -= 2) {
      for (int k = 0; k < 3; ++k)
        lines += fmt::format("  %s{}{} = slice %{}, ranges={{{}:{}:1}} : f32[{}]\n", i, k, last, k, length - 2 + k,
                             length - 2);
      lines += fmt::format("  %a{0} = add %s{0}0, %s{0}1 : f32[{1}]\n  %b{0} = add %a{0}, %s{0}2 : f32[{1}]\n", i,
                           length - 2);
      last = fmt::format("b{}", i);
    }
    return summarise(ir::parse_graph(lines + "  output %" + last + "\n}\n"));
  };
  for (const int steps : {1, 2, 5, 20}) {
    CAPTURE(steps);
    const double asked = (2.0 * steps + 1) * (1000 - 2 * steps);
    CHECK(computed(steps).xu == asked);
    CHECK(computed(steps).loads == asked);
  }
  // Beyond what is told apart they are more, and bounded.
  CHECK(computed(60).xu >= 121.0 * (1000 - 120));
  CHECK(computed(testing::effort(90, 200, 200)).xu <= 65536.0 * 1000);
}

TEST_CASE("what waits behind a barrier or with the block of its row is computed once, wherever it is asked for") {
  const auto exps_of = [](const std::string& lines) {
    return summarise(ir::parse_graph("graph g {\n  %z = constant 0 : f32[]\n  %x = parameter 0 : f32[64,128]\n" +
                                     lines + "}\n"))
        .xu;
  };
  const std::string halves =
      "  %l = slice %e, ranges={0:64:1,0:64:1} : f32[64,64]\n  %h = slice %e, ranges={0:64:1,64:128:1} : f32[64,64]\n"
      "  %y = add %l, %h : f32[64,64]\n  output %y\n  output %e\n";
  // Its own place and the halves: each of half as many elements.
  CHECK(exps_of("  %e = exp %x : f32[64,128]\n" + halves) == 2 * 64 * 128);
  // With the block of a row that was added up before.
  CHECK(exps_of("  %s = reduce add %x, %z, axes={1} : f32[64]\n  %b = broadcast %s, axes={0} : f32[64,128]\n"
                "  %d = multiply %x, %b : f32[64,128]\n  %e = exp %d : f32[64,128]\n" +
                halves) == 64 * 128);
}
