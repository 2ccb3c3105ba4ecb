// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Partitions: run group by group they compute what the graph computes, whatever the strategy; and over every dump of
// the data folder they keep the laws of a partition and agree with the lowering. The oracle is the reference evaluator
// on the whole graph, over random graphs with seeds. The counts of kernels that ship are golden. Part of the suite
// `explore`.
#include "explore/partition.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "explore/strategy.h"
#include "hlo/import.h"
#include "reference/evaluate.h"
#include "support/golden.h"
#include "support/paths.h"
#include "support/random_graph.h"
#include "support/search_setting.h"
#include "support/skip.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;
using namespace tailor::hlo;
using namespace tailor::codegen;
using namespace tailor::explore;

namespace {

std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }

/// Runs a partition: values in memory are filled in by groups, and by nodes that are no work, once what they read is
/// there. Nothing if it gets stuck.
std::optional<std::vector<Tensor>> run_groups(const Graph& graph, const Fusion& fusion,
                                              const std::vector<Tensor>& inputs) {
  const DefUse wires = def_use(graph);
  std::vector<std::optional<Tensor>> memory(graph.nodes.size());
  const std::vector<NodeId> places = parameters(graph);
  for (std::size_t i = 0; i < places.size(); ++i) memory[index(places[i])] = inputs[i];
  std::vector<Boundary> borders;
  for (const auto& nodes : fusion.groups) borders.push_back(boundary(graph, wires, nodes));
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (wires.roles[i] != Role::work && graph.nodes[i].op != Op::parameter &&
        graph.nodes[i].shape.dtype != DType::tuple)
      borders.push_back({graph.nodes[i].operands, {id}, {id}, {}});
  }
  std::vector<bool> done(borders.size(), false);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t b = 0; b < borders.size(); ++b) {
      Boundary border = borders[b];
      std::sort(border.reads.begin(), border.reads.end());
      border.reads.erase(std::unique(border.reads.begin(), border.reads.end()), border.reads.end());
      const bool ready = std::all_of(border.reads.begin(), border.reads.end(),
                                     [&](NodeId id) { return memory[index(id)].has_value(); });
      if (done[b] || !ready) continue;
      std::vector<Tensor> read;
      for (const NodeId id : border.reads) read.push_back(*memory[index(id)]);
      const Group group = outline(graph, border);
      verify(group.graph);
      const std::vector<Tensor> written = evaluate(group.graph, read);
      for (std::size_t i = 0; i < border.writes.size(); ++i) memory[index(border.writes[i])] = written[i];
      done[b] = moved = true;
    }
  }
  std::vector<Tensor> outputs;
  for (const NodeId id : graph.outputs) {
    if (!memory[index(id)]) return std::nullopt;
    outputs.push_back(*memory[index(id)]);
  }
  return outputs;
}

void check_runs_alike(const Graph& graph, std::uint64_t seed) {
  std::vector<Tensor> inputs;
  for (const NodeId id : parameters(graph))
    inputs.push_back(random_tensor(graph[id].shape, seed + static_cast<std::uint64_t>(id)));
  const std::vector<Tensor> expected = evaluate(graph, inputs);
  for (const Strategy& strategy : strategies()) {
    INFO(graph.name, " seed ", seed, " ", strategy.name);
    const std::optional<std::vector<Tensor>> found = run_groups(graph, fuse(strategy, graph, search_setting()), inputs);
    REQUIRE(found.has_value());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK((*found)[i].bytes == expected[i].bytes);
  }
}

std::vector<std::filesystem::path> dumps(std::string_view folder, std::string_view ending) {
  std::vector<std::filesystem::path> found;
  const std::filesystem::path root = std::filesystem::path(third_party_folder()) / folder;
  if (third_party_folder().empty() || !std::filesystem::exists(root)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(root))
    if (entry.path().string().ends_with(ending)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::filesystem::path> all_dumps() {
  std::vector<std::filesystem::path> found = dumps("hlo", ".hlo");
  for (const auto& more :
       {dumps("workloads/hlo", ".hlo"), dumps("xla_reference", ".h200.notritongemm.optimized.hlo.gz"),
        dumps("xla_reference", ".h200.default.optimized.hlo.gz")})
    found.insert(found.end(), more.begin(), more.end());
  return found;
}

/// Every fusion of the file that does something is one group, every working node outside them is one more.
void check_given_groups(const Graph& graph) {
  const DefUse wires = def_use(graph);
  const auto does = [&](NodeId id) {
    return wires.roles[index(id)] == Role::work || wires.roles[index(id)] == Role::outside;
  };
  std::vector<bool> grouped(graph.nodes.size(), false);
  std::size_t expected = 0;
  for (const GivenGroup& given : graph.given) {
    for (const NodeId id : given.nodes) grouped[index(id)] = true;
    expected += std::any_of(given.nodes.begin(), given.nodes.end(), does) ? 1 : 0;
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) expected += wires.roles[i] == Role::work && !grouped[i] ? 1 : 0;
  CHECK(fuse(find_strategy("imported"), graph).groups.size() == expected);
}

/// Whether an operation of the group would have a plan if it stood alone.
bool holds_planned(const Graph& group) {
  for (std::size_t i = 0; i < group.nodes.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (group.nodes[i].op == Op::parameter || is_free(group, id)) continue;
    if (std::holds_alternative<codegen::Layout>(codegen::analyse(group, boundary(group, def_use(group), {id}))))
      return true;
  }
  return false;
}

}  // namespace

TEST_CASE("groups run one by one compute what the whole graph computes") {
  for (std::uint64_t seed = 1; seed <= testing::effort<std::uint64_t>(30, 75, 150); ++seed)
    check_runs_alike(well_formed_graph(seed, 24), seed);
}

TEST_CASE("overlapping fusions of a file compute what the whole graph computes") {
  constexpr std::string_view source = R"(graph overlap {
  %x = parameter 0 : f32[4,6]
  %a = exp %x : f32[4,6]
  %b = negate %a : f32[4,6]
  %c = add %a, %x : f32[4,6]
  %d = multiply %b, %c : f32[4,6]
  given fusion.1 kLoop { %a, %b }
  given fusion.2 kLoop { %a, %c }
  output %d, %b
}
)";
  const Graph graph = parse_graph(source);
  check_runs_alike(graph, 7);
  const Partition counted = partition(graph, fuse(find_strategy("imported"), graph));
  CHECK(counted.kernels == 3);
  // x is read by both fusions, b and c cross to the product, b and d are written; a is computed twice, never stored.
  CHECK(counted.bytes == (2 + 2 + 2 + 1) * 4.0 * 6 * 4);
}

TEST_CASE("a fusion of a file that holds a library call is one group and no library call") {
  constexpr std::string_view source = R"(graph product {
  %x = parameter 0 : f16[4,4]
  %w = convert %x : f32[4,4]
  %l = custom_call %w, target="lib" : f32[4,4]
  %y = negate %l : f32[4,4]
  given gemm kCustom { %w, %l, %y }
  output %y
}
)";
  const Graph graph = parse_graph(source);
  const Partition counted = partition(graph, fuse(find_strategy("imported"), graph));
  REQUIRE(counted.kernels == 1);
  CHECK(counted.library.empty());
  CHECK(counted.bytes == 4.0 * 4 * (2 + 4));
  CHECK(partition(graph, fuse(find_strategy("unfused"), graph)).library.size() == 1);
}

TEST_CASE("a fusion of free nodes is no kernel, a constant array crosses as a parameter") {
  constexpr std::string_view source = R"(graph free {
  %x = parameter 0 : f32[2]
  %c = constant {1, 1} : f32[2]
  %b = broadcast %x, axes={1} : f32[3,2]
  %cb = broadcast %c, axes={1} : f32[3,2]
  %y = add %b, %cb : f32[3,2]
  given wrapped kLoop { %b }
  output %y
}
)";
  const Graph graph = parse_graph(source);
  const Partition counted = partition(graph, fuse(find_strategy("imported"), graph));
  REQUIRE(counted.groups.size() == 1);
  CHECK(parameters(counted.groups[0].group.graph).size() == 2);
  CHECK(std::holds_alternative<codegen::Layout>(counted.groups[0].needs));
  check_runs_alike(graph, 3);
}

TEST_CASE("a result without elements is no launch, under any strategy, folded before or not") {
  constexpr std::string_view source = R"(graph empty {
  %x = parameter 0 : f32[0,6]
  %y = parameter 1 : f32[4,6]
  %e = exp %x : f32[0,6]
  %n = negate %y : f32[4,6]
  %s = slice %n, ranges={0:4:1, 3:3:1} : f32[4,0]
  output %e, %n, %s
}
)";
  const Graph graph = parse_graph(source);
  for (const Strategy& strategy : strategies()) {
    const Partition counted = partition(graph, fuse(strategy, graph, search_setting()));
    CHECK(counted.launches == 1);
    CHECK(counted.bytes == 2 * 4 * 6 * 4);
  }
  check_runs_alike(graph, 5);
}

namespace {

/// Laws of the structural analysis: what it refuses has no plan, for the same reason; what it recognises without a
/// doubt has one, of the same layout.
void check_structure(const DistinctGroup& distinct) {
  const Graph& graph = distinct.group.graph;
  const Boundary border = codegen::whole_border(graph);
  const codegen::Classified structure = codegen::analyse_stages(graph, border);
  const auto* layout = std::get_if<codegen::Layout>(&structure);
  if (layout == nullptr || !codegen::find_doubt(graph, border, *layout)) CHECK((structure == distinct.needs));
}

/// A dynamic slice or update, and single numbers: the index that it begins with.
bool is_slice_at_numbers(const Graph& group) {
  int slices = 0;
  for (std::size_t i = 0; i < group.nodes.size(); ++i) {
    const Node& node = group.nodes[i];
    if (is_free(group, static_cast<NodeId>(i))) continue;
    if (node.op == Op::dynamic_slice || node.op == Op::dynamic_update_slice)
      ++slices;
    else if (node.op != Op::parameter && (node.shape.dtype == DType::tuple || elements(node.shape) != 1))
      return false;
  }
  return slices == 1;
}

}  // namespace

TEST_CASE("in every dump the groups are sound, and what has a structure without a doubt has a plan") {
  if (all_dumps().empty()) return skip("no dumps configured");
  const std::vector<std::filesystem::path> every = all_dumps();
  for (std::size_t at = 0; at < every.size(); at += testing::effort<std::size_t>(40, 1)) {
    const std::filesystem::path& path = every[at];
    const Graph graph = import_file(path.string()).graph;
    check_given_groups(graph);
    for (const Strategy& strategy : strategies()) {
      const Partition counted = partition(graph, fuse(strategy, graph, search_setting()));
      for (const DistinctGroup& distinct : counted.groups) {
        INFO(path.string(), " ", strategy.name, " ", distinct.group.graph.name);
        CHECK_NOTHROW(verify(distinct.group.graph));
        check_structure(distinct);
        const auto* refused = std::get_if<Rejection>(&distinct.needs);
        if (strategy.name == "stitch-v1" && distinct.occurrences[0].nodes.size() > 1 && refused != nullptr) {
          INFO(refused->rule, ": ", refused->reason);
          CHECK((!holds_planned(distinct.group.graph) || is_slice_at_numbers(distinct.group.graph)));
        }
      }
    }
  }
}

TEST_CASE("LayerNorm, softmax and its gradient, and GELU are one kernel; twelve equal layers share their groups") {
  if (all_dumps().empty()) return skip("no dumps configured");
  for (const std::filesystem::path& path : dumps("workloads/hlo", ".hlo")) {
    const std::string name = path.stem().string();
    const auto starts = [&](std::string_view with) { return name.starts_with(with); };
    const bool one = starts("layernorm_fwd_tf") || starts("layernorm_fwd_direct") || starts("softmax_") ||
                     starts("attention_softmax") || starts("bias_gelu_fwd") || starts("bert_output_fwd");
    if (!one && name != "bert_infer_l12_b1_s128_f16" && name != "lstm_scan100_fwd_b128_h512") continue;
    INFO(name);
    const Graph graph = import_file(path.string()).graph;
    const Partition none = partition(graph, fuse(find_strategy("unfused"), graph));
    const Partition stitched = partition(graph, fuse(find_strategy("stitch-v1"), graph));
    CHECK(stitched.kernels >= stitched.least_kernels);
    CHECK(stitched.bytes <= none.bytes);
    if (one) CHECK(stitched.kernels == 1);
    if (starts("bert_infer")) {
      CHECK(5 * stitched.kernels < none.kernels);
      CHECK(static_cast<std::int64_t>(5 * stitched.groups.size()) < stitched.kernels);
    }
    if (starts("lstm_scan100"))
      for (const DistinctGroup& distinct : stitched.groups)
        for (const Occurrence& occurrence : distinct.occurrences)
          CHECK(occurrence.times == (occurrence.where == graph.name ? 1 : 100));
  }
}

TEST_CASE("a library call has a shape: a product that of its factors, any other that of its result") {
  const Graph graph = import_hlo(
                          "HloModule m\nENTRY e {\n a = f32[8,4]{1,0} parameter(0)\n b = f32[4,2]{1,0} parameter(1)\n"
                          " p = f32[8,2]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
                          " ROOT c = f32[3]{0} custom-call(p), custom_call_target=\"lib\"\n}\n",
                          "test")
                          .graph;
  const Partition counted = partition(graph, fuse(find_strategy("stitch-v1"), graph));
  REQUIRE(counted.library.size() == 2);
  CHECK(counted.library[0].shape == "f32[8,4] x f32[4,2]");
  CHECK(counted.library[1].shape == "f32[3]");
}

TEST_CASE("launches and bytes of every dump under stitch-v1: a rule that helps one may harm another" *
          doctest::test_suite(testing::in_broad_runs)) {
  if (all_dumps().empty()) return skip("no dumps configured");
  std::string table = "dump launches bytes\n";
  for (const std::filesystem::path& path : all_dumps()) {
    const Graph graph = import_file(path.string()).graph;
    const Partition counted = partition(graph, fuse(find_strategy("stitch-v1"), graph));
    table += fmt::format("{} {:.0f} {:.0f}\n", path.stem().string(), counted.launches, counted.bytes);
  }
  check_golden("launches.txt", table);
}

TEST_CASE("kernels of the models that ship, by strategy") {
  std::string table = "model strategy kernels distinct bytes\n";
  for (const std::string_view model :
       {"bert_infer_l12_b1_s128_f16", "layernorm_fwd_tf_f32_4096x768", "softmax_fwd_f32_4096x1024"}) {
    const Graph graph = import_file(fmt::format("{}/data/models/{}.hlo", source_folder(), model)).graph;
    for (const Strategy& strategy : strategies()) {
      const Partition counted = partition(graph, fuse(strategy, graph, search_setting()));
      table += fmt::format("{} {} {} {} {:.0f}\n", model, strategy.name, counted.kernels, counted.groups.size(),
                           counted.bytes);
    }
  }
  check_golden("kernels.txt", table);
}

TEST_CASE("three LayerNorms whose variance is guarded by a comparison of known numbers are three kernels") {
  // What jnp.var writes: 256 - 0 > 0 selects the quotient; all three share the guard, which is merged into one.
  std::string text =
      "HloModule m\nsum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n";
  text +=
      "norm {\n x = f32[512,256] parameter(0)\n zero = f32[] constant(0)\n n = f32[] constant(256)\n"
      " nb = f32[512] broadcast(n), dimensions={}\n s = f32[512] reduce(x, zero), dimensions={1}, to_apply=sum\n"
      " mean = f32[512] divide(s, nb)\n mb = f32[512,256] broadcast(mean), dimensions={0}\n"
      " d = f32[512,256] subtract(x, mb)\n q = f32[512,256] multiply(d, d)\n"
      " v = f32[512] reduce(q, zero), dimensions={1}, to_apply=sum\n ddof = s32[] constant(0)\n"
      " ddofr = f32[] convert(ddof)\n left = f32[] subtract(n, ddofr)\n leftb = f32[512] broadcast(left), "
      "dimensions={}\n"
      " var = f32[512] divide(v, leftb)\n ok = pred[] compare(left, zero), direction=GT\n"
      " okb = pred[512] broadcast(ok), dimensions={}\n nan = f32[] constant(nan)\n"
      " nanb = f32[512] broadcast(nan), dimensions={}\n safe = f32[512] select(okb, var, nanb)\n"
      " eps = f32[] constant(1e-6)\n epsb = f32[512] broadcast(eps), dimensions={}\n e = f32[512] add(safe, epsb)\n"
      " r = f32[512] rsqrt(e)\n rb = f32[512,256] broadcast(r), dimensions={0}\n"
      " ROOT y = f32[512,256] multiply(d, rb)\n}\n";
  text +=
      "ENTRY e {\n x = f32[512,256] parameter(0)\n w = f32[256,256] parameter(1)\n"
      " a = f32[512,256] call(x), to_apply=norm\n"
      " b = f32[512,256] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      " c = f32[512,256] call(b), to_apply=norm\n"
      " d = f32[512,256] dot(c, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      " ROOT f = f32[512,256] call(d), to_apply=norm\n}\n";
  const Imported imported = import_hlo(text, "test.hlo");
  const Partition counted = partition(imported.graph, fuse(find_strategy("stitch-v1"), imported.graph));
  CHECK(counted.kernels == 3);
  CHECK(counted.kernels == counted.least_kernels);
  CHECK(counted.groups.size() == 1);
}
