// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a value waits between two phases of a row, and whether it is computed once or again, changes no bit of the
// results: a value of 16 bits that some plan keeps is rounded under every plan. The row groups of the family in their
// own types and in 16-bit ones, interpreted under every list of homes that is legal; which values can have one, and why
// others cannot; and indices that a narrow type has no number for. Part of the suite `codegen lower`.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "codegen/lower/lower.h"
#include "reference/evaluate.h"
#include "reference/inputs.h"
#include "support/group_family.h"
#include "support/interpret.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr Limits roomy{90, 2, 32, 1024, 2048, 16, 65536, 65536, 255, 256, 4, 4, 65536, 49152, 65536, 0, 128, 8};
constexpr auto in_registers = StitchLevel::registers, in_shared = StitchLevel::block, in_cluster = StitchLevel::cluster;

/// Every list over the values that can have a home, legal or not; the empty one first. Those of many values are cut
/// short: each value alone, and the named ones.
std::vector<std::vector<Home>> all_lists(const codegen::Prepared& prepared,
                                         const std::vector<StitchLevel>& levels = {in_registers, in_shared}) {
  std::vector<std::vector<Home>> lists{{}};
  std::set<NodeId> nodes;
  for (const codegen::KeptHomes& one : prepared.homes)
    for (const Home& home : one.homes) nodes.insert(home.node);
  constexpr std::size_t few = 3;
  if (nodes.size() > few) {
    for (const codegen::KeptHomes& one : prepared.homes) lists.push_back(one.homes);
    for (const NodeId node : nodes)
      for (const StitchLevel level : levels) lists.push_back({{node, level}});
    return lists;
  }
  for (const NodeId node : nodes)
    for (std::size_t i = 0, known = lists.size(); i < known; ++i)
      for (const StitchLevel level : levels) {
        lists.push_back(lists[i]);
        lists.back().push_back({node, level});
      }
  return lists;
}

/// The member with all its f32 arrays of another type.
FamilyMember in_type(const FamilyMember& member, std::string_view dtype, std::string& text) {
  text = member.text;
  for (std::size_t at = text.find("f32["); at != text.npos; at = text.find("f32[", at + 1)) text.replace(at, 3, dtype);
  return {member.name, text};
}

std::vector<std::vector<std::byte>> buffers_of(const Kernel& kernel, const std::vector<reference::Tensor>& inputs) {
  std::vector<std::vector<std::byte>> buffers;
  for (const reference::Tensor& input : inputs) buffers.push_back(input.bytes);
  for (const Buffer& buffer : std::span(kernel.buffers).subspan(inputs.size()))
    buffers.emplace_back(static_cast<std::size_t>(bytes(make_shape(buffer.dtype, {buffer.elements}))));
  return buffers;
}

std::vector<std::vector<std::byte>> results_of(const Kernel& kernel, const std::vector<reference::Tensor>& inputs) {
  KernelRun run = interpret(kernel, buffers_of(kernel, inputs));
  REQUIRE(run.violations.empty());
  std::vector<std::vector<std::byte>> results;
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
    if (is_result(kernel.buffers[i].role)) results.push_back(std::move(run.buffers[i]));
  return results;
}

}  // namespace

TEST_CASE("all homes of the values of a row group give the same bits, whatever its types") {
  int groups = 0, compared = 0, mixed = 0;
  for (const FamilyMember& original : group_family())
    for (const std::string_view dtype : {"f32", "f16", "bf16"}) {
      std::string source;
      const Group group = make_group(in_type(original, dtype, source), 5, 96);
      const auto ready = codegen::prepare(group);
      const auto* prepared = std::get_if<codegen::Prepared>(&ready);
      if (prepared == nullptr || prepared->skeleton != Skeleton::row || prepared->phases.size() < 2) continue;
      ++groups;
      const std::vector<reference::Tensor> inputs =
          reference::sensible_inputs(group.graph, 7, reference::Edges::none, {}, {});
      codegen::LowerScratch scratch;
      for (const auto& [lanes, vector] : {std::pair(1, 1), std::pair(8, 4), std::pair(64, 1)}) {
        if (dtype != "f32" && lanes != 8) continue;  // what they change is rounding
        std::optional<std::vector<std::vector<std::byte>>> first;
        bool value_cache = true;
        for (const std::vector<Home>& homes : all_lists(*prepared)) {
          Plan plan;
          plan.skeleton = Skeleton::row;
          plan.dominant = prepared->dominants.front();
          plan.threads = 64;
          plan.threads_per_row = lanes;
          plan.vector = vector;
          plan.homes = homes;
          plan.value_cache = std::exchange(value_cache, !value_cache);
          const codegen::Lowered lowered = codegen::lower(*prepared, plan, roomy, scratch);
          if (!std::holds_alternative<Kernel>(lowered)) continue;
          const auto results = results_of(std::get<Kernel>(lowered), inputs);
          if (!first) first = results;
          CAPTURE(original.name);
          CAPTURE(dtype);
          CAPTURE(text(plan));
          CHECK((*first == results));
          ++compared;
          mixed += codegen::has_level(homes, StitchLevel::registers) && codegen::has_level(homes, StitchLevel::block);
        }
      }
    }
  CHECK(groups >= 12);
  CHECK(compared > 400);
  CHECK(mixed > 60);
}

TEST_CASE("all homes of the values of a column group give the same bits, however its columns are dealt out") {
  struct Dealt {
    int threads, beside, vector, in_flight, split, cluster;
  };
  constexpr std::array dealt = std::to_array<Dealt>({{64, 8, 1, 1, 1, 0},
                                                     {64, 8, 4, 2, 1, 0},
                                                     {96, 24, 2, 4, 1, 0},
                                                     {64, 64, 1, 8, 1, 0},
                                                     {64, 16, 2, 3, 3, 0},
                                                     {64, 16, 1, 2, 1, 4},
                                                     {32, 32, 4, 1, 1, 2},
                                                     {256, 8, 1, 1, 1, 2}});
  int groups = 0, compared = 0, shared = 0, clusters = 0;
  for (const FamilyMember& original : group_family())
    for (const std::string_view dtype : {"f32", "f16", "bf16"}) {
      std::string source;
      const Group group = make_group(in_type(original, dtype, source), 50, 48);
      const auto ready = codegen::prepare(group);
      const auto* prepared = std::get_if<codegen::Prepared>(&ready);
      if (prepared == nullptr || prepared->skeleton != Skeleton::column || prepared->walks < 2) continue;
      ++groups;
      const std::vector<reference::Tensor> inputs =
          reference::sensible_inputs(group.graph, 7, reference::Edges::none, {}, {});
      codegen::LowerScratch scratch;
      for (const Dealt& one : dealt) {
        std::optional<std::vector<std::vector<std::byte>>> first;
        for (const std::vector<Home>& homes : all_lists(*prepared)) {
          Plan plan;
          plan.skeleton = Skeleton::column;
          plan.dominant = prepared->dominants.front();
          plan.threads = one.threads;
          plan.threads_per_row = one.beside;
          plan.vector = one.vector;
          plan.in_flight = one.in_flight;
          plan.split = one.split;
          plan.meet = one.split > 1 ? Meeting::grid : Meeting::last;
          plan.cluster = one.cluster;
          plan.homes = homes;
          const codegen::Lowered lowered = codegen::lower(*prepared, plan, roomy, scratch);
          if (!std::holds_alternative<Kernel>(lowered)) continue;
          const auto results = results_of(std::get<Kernel>(lowered), inputs);
          if (!first) first = results;
          CAPTURE(original.name);
          CAPTURE(dtype);
          CAPTURE(text(plan));
          CHECK((*first == results));
          ++compared;
          shared += codegen::has_level(homes, StitchLevel::block);
          clusters += one.cluster > 1;
        }
      }
    }
  CHECK(groups >= 6);
  CHECK(compared > 100);
  CHECK(shared > 40);
  CHECK(clusters > 40);
}

TEST_CASE("blocks of a cluster and one block compute the same of a column") {
  const Group group = make_group(family_member("column_softmax"), 50, 48);
  const auto ready = codegen::prepare(group);
  const auto& prepared = std::get<codegen::Prepared>(ready);
  const std::vector<reference::Tensor> inputs =
      reference::sensible_inputs(group.graph, 7, reference::Edges::none, {}, {});
  codegen::LowerScratch scratch;
  const auto results = [&](int cluster) {
    Plan plan;
    plan.skeleton = Skeleton::column;
    plan.dominant = prepared.dominants.front();
    plan.threads = 64;
    plan.threads_per_row = 16;
    plan.cluster = cluster;
    plan.homes = codegen::homes_of(prepared, HomesWord::registers);
    const codegen::Lowered lowered = codegen::lower(prepared, plan, roomy, scratch);
    REQUIRE(std::holds_alternative<Kernel>(lowered));
    const auto& kernel = std::get<Kernel>(lowered);
    CHECK(kernel.cluster == std::max(cluster, 1));
    const std::vector<std::byte> found = results_of(kernel, inputs).front();
    std::vector<float> values(found.size() / sizeof(float));
    std::memcpy(values.data(), found.data(), found.size());
    return values;
  };
  const std::vector<float> alone = results(0), shared = results(8);
  REQUIRE(alone.size() == 50 * 48);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    CHECK(std::isfinite(alone[i]));
    CHECK(std::abs(shared[i] - alone[i]) <= 2e-6f * std::abs(alone[i]));
  }
}

TEST_CASE("a column that waits is read once, and once for each walk where nothing waits") {
  const Group group = make_group(family_member("column_softmax"), 50, 48);
  const auto ready = codegen::prepare(group);
  const auto& prepared = std::get<codegen::Prepared>(ready);
  REQUIRE(prepared.skeleton == Skeleton::column);
  codegen::LowerScratch scratch;
  const auto inputs = reference::sensible_inputs(group.graph, 7, reference::Edges::none, {}, {});
  const auto requests = [&](std::vector<Home> homes) {
    Plan plan;
    plan.skeleton = Skeleton::column;
    plan.dominant = prepared.dominants.front();
    plan.threads = 64;
    plan.threads_per_row = 16;
    plan.homes = std::move(homes);
    const codegen::Lowered lowered = codegen::lower(prepared, plan, roomy, scratch);
    REQUIRE(std::holds_alternative<Kernel>(lowered));
    const auto& kernel = std::get<Kernel>(lowered);
    const KernelRun run = interpret(kernel, buffers_of(kernel, inputs));
    CHECK(run.violations.empty());
    return run.counts.buffers[0][0].requests;
  };
  using enum HomesWord;
  const std::int64_t once = requests(codegen::homes_of(prepared, registers));
  CHECK(once > 0);
  CHECK(requests(codegen::homes_of(prepared, HomesWord::shared)) == once);
  CHECK(requests(codegen::homes_of(prepared, recompute)) == once);
  CHECK(requests({}) == 3 * once);
}

namespace {

/// The gradient of a softmax: two inputs wait for the sum of their product.
Group softmax_gradient(std::string_view of_y, std::string_view of_dy) {
  const std::string widened = of_dy == of_y ? "" : fmt::format("  %w = convert %dy : {}[6,256]\n", of_y);
  return make_group({"gradient", fmt::format("graph gradient {{\n  %y = parameter 0 : {0}[6,256]\n"
                                             "  %dy = parameter 1 : {1}[6,256]\n{2}"
                                             "  %p = multiply %y, %{3} : {0}[6,256]\n  %z = constant 0 : {0}[]\n"
                                             "  %s = reduce add %p, %z, axes={{1}} : {0}[6]\n"
                                             "  %b = broadcast %s, axes={{0}} : {0}[6,256]\n"
                                             "  %d = subtract %{3}, %b : {0}[6,256]\n"
                                             "  %r = multiply %d, %y : {0}[6,256]\n  output %r\n}}\n",
                                             of_y, of_dy, widened, widened.empty() ? "dy" : "w")},
                    6, 256);
}

std::string words_of(const codegen::Prepared& prepared, HomesWord word) {
  Plan plan;
  plan.homes = codegen::homes_of(prepared, word);
  return field_text(plan, PlanField::homes);
}

}  // namespace

TEST_CASE("words name the lists: most computed values, inputs behind them, the widest one elsewhere") {
  using enum HomesWord;
  const Group group = softmax_gradient("f32", "f32");
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  CHECK(words_of(prepared, registers) == "%0@register,%1@register");
  CHECK(words_of(prepared, shared) == "%0@block,%1@block");
  CHECK(words_of(prepared, recompute) == "%0@register,%1@register");
  CHECK(words_of(prepared, reload).empty());
  CHECK(words_of(prepared, widest_shared) == "%0@register,%1@block");  // of two as wide the later one
  CHECK(words_of(prepared, widest_reload) == "%0@register");
  CHECK(words_of(prepared, recompute_shared) == "%0@block,%1@block");
  CHECK(words_of(prepared, recompute_mixed) == "%0@register,%1@block");
  // A narrow input that is only widened waits as it is, and the other one is the widest.
  const Group narrow = softmax_gradient("f32", "f16");
  const auto of_two = std::get<codegen::Prepared>(codegen::prepare(narrow));
  CHECK(words_of(of_two, registers) == "%0@register,%1@register");
  CHECK(words_of(of_two, widest_shared) == "%0@block,%1@register");
  CHECK(words_of(of_two, widest_reload) == "%1@register");
  // A softmax keeps its input for the sum, and the exponential for the quotient.
  const Group softmax = make_group(family_member("softmax"), 8, 64);
  const auto of_softmax = std::get<codegen::Prepared>(codegen::prepare(softmax));
  const std::vector<Home>& all = codegen::homes_of(of_softmax, registers);
  REQUIRE(all.size() == 2);
  CHECK(codegen::homes_of(of_softmax, recompute) == std::vector<Home>{all[0]});
  CHECK(codegen::homes_of(of_softmax, recompute_shared) == std::vector<Home>{{all[0].node, StitchLevel::block}});
  CHECK(words_of(of_softmax, recompute_mixed) == words_of(of_softmax, recompute_shared));
  const codegen::KeptHomes& kept = of_softmax.homes[registers];
  REQUIRE(kept.phases.size() == 3);
  CHECK(kept.phases[0] == std::vector<Home>{all[0]});
  CHECK(kept.phases[1] == std::vector<Home>{all[1]});
  CHECK(kept.phases[2].empty());
  CHECK(codegen::most_in_registers(kept) == 1);
  CHECK(codegen::most_in_registers(prepared.homes[registers]) == 2);
  CHECK(codegen::most_in_registers(prepared.homes[widest_shared]) == 1);
  CHECK(codegen::most_in_registers(prepared.homes[shared]) == 0);
  // What is read at other places of a row: the quotient's dividend where that is reversed, the input of a norm.
  const Group reversed = make_group(family_member("softmax_reversed"), 8, 64);
  const auto of_reversed = std::get<codegen::Prepared>(codegen::prepare(reversed));
  CHECK(words_of(of_reversed, moved_shared) == "%0@register,%6@block");
  CHECK(words_of(of_reversed, moved_cluster) == "%0@register,%6@cluster");
  CHECK(of_reversed.homes[registers].elsewhere[2] == std::vector<NodeId>{6});
  CHECK(of_reversed.homes[recompute].elsewhere[2] == std::vector<NodeId>{0});
  const Group rotated = make_group(family_member("norm_rotated"), 8, 64);
  CHECK(words_of(std::get<codegen::Prepared>(codegen::prepare(rotated)), moved_cluster) == "%0@cluster");
  CHECK(words_of(of_softmax, moved_cluster) == words_of(of_softmax, registers));
  for (const HomesWord word : {registers, shared, reload, widest_shared, widest_reload})
    CHECK(codegen::word_for(prepared, codegen::homes_of(prepared, word)) == word);
  CHECK(codegen::word_for(prepared, {{1, StitchLevel::registers}}) == std::nullopt);
  Plan plan;
  CHECK(codegen::homes_text(prepared, plan) == "reload");
  plan.homes = {{1, StitchLevel::registers}};
  CHECK(codegen::homes_text(prepared, plan) == "%1@register");
}

TEST_CASE("what a list keeps is kept where it says, and the rest is read again") {
  const Group group = softmax_gradient("f32", "f32");
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  struct Row {
    std::vector<Home> homes;
    std::int64_t shared_bytes;
    std::array<int, 2> loads;  ///< of y and dy: vectors of a row by one thread
  };
  for (const Row& row : {Row{{}, 0, {4, 4}},
                         {{{0, in_registers}}, 0, {2, 4}},
                         {{{1, in_registers}}, 0, {4, 2}},
                         {{{0, in_registers}, {1, in_registers}}, 0, {2, 2}},
                         {{{0, in_registers}, {1, in_shared}}, 2 * 256 * 4, {2, 2}},
                         {{{0, in_shared}, {1, in_registers}}, 2 * 256 * 4, {2, 2}},
                         {{{0, in_shared}, {1, in_shared}}, 2 * 2 * 256 * 4, {2, 2}},
                         {{{0, in_shared}}, 2 * 256 * 4, {2, 4}},
                         {{{1, in_shared}}, 2 * 256 * 4, {4, 2}}}) {
    Plan plan;
    plan.skeleton = Skeleton::row;
    plan.dominant = prepared.dominants.front();
    plan.threads = 64;
    plan.threads_per_row = 32;
    plan.vector = 4;  // so that loads are made ahead
    plan.homes = row.homes;
    CAPTURE(text(plan));
    codegen::LowerScratch scratch;
    const codegen::Lowered lowered = codegen::lower(prepared, plan, roomy, scratch);
    REQUIRE(std::holds_alternative<Kernel>(lowered));
    const Kernel& kernel = std::get<Kernel>(lowered);
    CHECK(kernel.shared_bytes == row.shared_bytes);
    const auto inputs = reference::sensible_inputs(group.graph, 7, reference::Edges::none, {}, {});
    std::vector<std::vector<std::byte>> buffers{inputs[0].bytes, inputs[1].bytes, inputs[0].bytes};
    const KernelRun run = interpret(kernel, std::move(buffers));
    CHECK(run.violations.empty());
    for (std::size_t i = 0; i < 2; ++i) CHECK(run.counts.buffers[i][0].requests == 6 * row.loads[i]);
  }
}

TEST_CASE("a home that keeps nothing, or is nowhere, is refused with what could be") {
  const auto refusal_by = [](const Group& group, Skeleton skeleton, const std::vector<Home>& homes) {
    const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
    Plan plan;
    plan.skeleton = skeleton;
    plan.dominant = prepared.dominants.front();
    plan.threads = 64;
    plan.threads_per_row = skeleton == Skeleton::row ? 32 : 8;
    plan.vector = 1;
    plan.homes = homes;
    codegen::LowerScratch scratch;
    const codegen::Lowered lowered = codegen::lower(prepared, plan, roomy, scratch);
    const auto* refused = std::get_if<Rejection>(&lowered);
    if (refused != nullptr) CHECK(refused->sound);
    return refused == nullptr ? "legal" : fmt::format("{}: {}", refused->rule, refused->reason);
  };
  const Group group = softmax_gradient("f32", "f32");
  const auto row = [&](const std::vector<Home>& homes) { return refusal_by(group, Skeleton::row, homes); };
  CHECK(row({{0, in_registers}}) == "legal");
  for (const StitchLevel level : {StitchLevel::warp, StitchLevel::grid})
    CHECK(
        row({{1, level}}) ==
        fmt::format("homes: %1@{}: a value waits in its thread's registers or in shared memory of its block or of its "
                    "cluster's blocks, so a home is %1@register, %1@block or %1@cluster",
                    name(level)));
  CHECK(row({{1, in_cluster}}) ==
        "homes: %1@cluster: no phase reads %1 at another place of its row, so no other block of a cluster asks for it");
  CHECK(row({{1, in_registers}, {0, in_shared}}) == "homes: %0 stands behind %1: homes ascend, each node once");
  CHECK(row({{1, in_registers}, {1, in_shared}}) == "homes: %1 stands behind %1: homes ascend, each node once");
  for (const NodeId node : {8, 99})
    CHECK(row({{node, in_registers}}) == fmt::format("homes: %{} is no node of the group, which has %0 to %7", node));
  for (const NodeId node : {2, 3, 4, 5, 6, 7})  // products, numbers of rows, the result
    CHECK(row({{node, in_registers}}) ==
          fmt::format("homes: %{} cannot have a home: %0 and %1 can, because they have an "
                      "element for each of a row and a later phase needs them",
                      node));
  // Behind the exponential nobody needs what it is made of, in the last phase.
  const Group sum = make_group(family_member("row_sum"), 6, 64);
  CHECK(refusal_by(sum, Skeleton::row, {{0, in_registers}}) ==
        "homes: %0 cannot have a home: no value of this group can, because no later phase needs elements of an earlier "
        "one");
  const Group columns = make_group(family_member("column_softmax"), 64, 32);
  CHECK(refusal_by(columns, Skeleton::column, {{0, in_shared}}) == "legal");
  const Group added = make_group(family_member("column_sum"), 64, 32);
  CHECK(refusal_by(added, Skeleton::column, {{0, in_shared}}).starts_with("homes: %0 cannot have a home: no value"));
  const Group map = make_group(family_member("bias_gelu_f16"), 64, 32);
  CHECK(refusal_by(map, Skeleton::map, {{0, in_shared}}).starts_with("homes: %0 cannot have a home: no value"));
}

TEST_CASE("what is read at other places of a row is the same wherever it waits, in one block or in several") {
  int compared = 0, by_block = 0, by_cluster = 0;
  for (const FamilyMember& original : moved_family())
    for (const std::string_view dtype : {"f32", "f16", "bf16"}) {
      if (dtype != "f32" && original.text.find("f32[{R},{N}]") == original.text.npos) continue;
      std::string source;
      const Group group = make_group(in_type(original, dtype, source), 3, 60);
      const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
      const std::vector<reference::Tensor> inputs =
          reference::sensible_inputs(group.graph, 7, reference::Edges::none, {}, {});
      codegen::LowerScratch scratch;
      for (const auto& [cluster, lanes, vector] : {std::tuple(0, 8, 2), std::tuple(0, 64, 1), std::tuple(2, 16, 1),
                                                   std::tuple(3, 8, 2), std::tuple(4, 4, 4)}) {
        std::optional<std::vector<std::vector<std::byte>>> first;
        for (const std::vector<Home>& homes : all_lists(prepared, {in_registers, in_shared, in_cluster})) {
          Plan plan;
          plan.skeleton = Skeleton::row;
          plan.dominant = prepared.dominants.front();
          plan.threads = 64;
          plan.threads_per_row = lanes;
          plan.vector = vector;
          plan.cluster = cluster;
          plan.homes = homes;
          const codegen::Lowered lowered = codegen::lower(prepared, plan, roomy, scratch);
          if (!std::holds_alternative<Kernel>(lowered)) continue;
          verify(std::get<Kernel>(lowered));
          const auto results = results_of(std::get<Kernel>(lowered), inputs);
          if (!first) first = results;
          CAPTURE(original.name);
          CAPTURE(dtype);
          CAPTURE(text(plan));
          CHECK((*first == results));
          ++compared;
          by_block += codegen::has_level(homes, in_shared) && cluster == 0;
          by_cluster += codegen::has_level(homes, in_cluster);
        }
      }
    }
  CHECK(compared > 400);
  CHECK(by_block > 60);
  CHECK(by_cluster > 60);
}

namespace {

/// The kernel of a softmax whose rows are reversed, or why there is none.
codegen::Lowered reversed(std::string_view member, std::int64_t columns, int cluster, int vector, HomesWord word) {
  const Group group = make_group(family_member(member), 4, columns);
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  Plan plan;
  plan.skeleton = Skeleton::row;
  plan.dominant = prepared.dominants.front();
  plan.threads = plan.threads_per_row = 32;
  plan.vector = vector;
  plan.cluster = cluster;
  plan.homes = codegen::homes_of(prepared, word);
  codegen::LowerScratch scratch;
  return codegen::lower(prepared, plan, roomy, scratch);
}

}  // namespace

TEST_CASE("a row that is read at other places is read once from memory where it waits for its block or its cluster") {
  using enum HomesWord;
  constexpr std::int64_t columns = 384;
  struct Row {
    int cluster;
    HomesWord homes;
    std::int64_t times;  ///< that the row is read from memory
    std::int64_t loads;  ///< of a warp from shared memory, of values
  };
  for (const Row& row : {Row{0, registers, 2, 0},
                         {0, moved_shared, 1, 3},   // three vectors of four a thread, from the last one on
                         {2, moved_shared, 2, 0},   // other blocks have it
                         {2, moved_cluster, 1, 2},  // two vectors a thread, of which one block has one
                         {3, moved_cluster, 1, 1}}) {
    const codegen::Lowered lowered = reversed("softmax_reversed", columns, row.cluster, 4, row.homes);
    REQUIRE(std::holds_alternative<Kernel>(lowered));
    const Kernel& kernel = std::get<Kernel>(lowered);
    int loads = 0, backward = 0;
    for (const Stmt& stmt : kernel.body)
      if (stmt.kind == StmtKind::load && is_array(stmt.space) && stmt.width == 4) {
        ++loads;
        backward += stmt.space == (row.cluster > 0 ? Space::distributed : Space::shared);
      }
    CAPTURE(row.cluster);
    CAPTURE(static_cast<int>(row.homes));
    CHECK(loads == (row.loads > 0 ? 1 : 0));
    CHECK(backward == loads);
    std::vector<std::vector<std::byte>> buffers(2, std::vector<std::byte>(4 * columns * 4));
    const KernelRun run = interpret(kernel, std::move(buffers));
    CHECK(run.violations.empty());
    CHECK(run.counts.buffers[0][0].bytes == row.times * 4 * columns * 4);
  }
}

TEST_CASE("lanes of a warp meet before they read one another, and before a persistent block's next row") {
  const Group group = make_group(family_member("softmax_reversed"), 64, 64);
  const auto prepared = std::get<codegen::Prepared>(codegen::prepare(group));
  Plan plan = parse_plan("row threads=32 threads_per_row=32 vector=1 in_flight=1");
  plan.dominant = prepared.dominants.front();
  for (const auto& [word, persistent, barriers] :
       {std::tuple(HomesWord::registers, true, 0), std::tuple(HomesWord::moved_shared, false, 1),
        std::tuple(HomesWord::moved_shared, true, 2)}) {
    plan.homes = codegen::homes_of(prepared, word);
    plan.grid = persistent ? GridShape::persistent : GridShape::tile;
    plan.blocks_per_sm = persistent ? 1 : 0;
    codegen::LowerScratch scratch;
    const codegen::Lowered lowered = codegen::lower(prepared, plan, roomy, scratch);
    REQUIRE(std::holds_alternative<Kernel>(lowered));
    const std::vector<Stmt>& body = std::get<Kernel>(lowered).body;
    CHECK(std::count_if(body.begin(), body.end(), [](const Stmt& s) { return s.kind == StmtKind::barrier; }) ==
          barriers);
  }
}

TEST_CASE("a home in a cluster is refused where no block can find it") {
  const auto refusal = [](const codegen::Lowered& lowered) {
    const auto* refused = std::get_if<Rejection>(&lowered);
    return refused == nullptr ? "legal" : fmt::format("{}: {}", refused->rule, refused->reason);
  };
  const auto cluster = [&](std::string_view member, std::int64_t columns, int blocks, int vector) {
    return refusal(reversed(member, columns, blocks, vector, HomesWord::moved_cluster));
  };
  CHECK(cluster("softmax_reversed", 256, 2, 4) == "legal");
  CHECK(cluster("softmax_reversed", 97, 2, 1) == "legal");
  CHECK(cluster("softmax_reversed", 256, 0, 4) ==
        "homes: %6@cluster waits for other blocks of a cluster, and the plan has no clusters");
  CHECK(cluster("softmax_reversed", 301, 2, 4) ==
        "homes: %6@cluster is found by its place in whole vectors, and rows of 301 have elements around vectors of 4");
  CHECK(cluster("rows_move_too", 128, 2, 1) ==
        "homes: %0@cluster: where a later phase reads %0, its place does not tell which block of the cluster has it");
}

TEST_CASE("an index becomes a number of its own type before anything is done with it") {
  for (const std::string_view dtype : {"bf16", "f16", "s8", "u8", "s16", "s32", "f32"})
    for (const std::string_view use : {"convert %i : f32[3000]", "convert %d : f32[3000]"}) {
      if (dtype.ends_with("f16") && use.starts_with("convert %d")) continue;  // the difference need not be rounded
      const std::string source = fmt::format(
          "graph indices {{\n  %x = parameter 0 : f32[3000]\n  %i = iota, axes={{0}} : {0}[3000]\n"
          "  %t = constant 100 : {0}[]\n  %b = broadcast %t : {0}[3000]\n  %d = subtract %i, %b : {0}[3000]\n"
          "  %c = {1}\n  %y = add %c, %x : f32[3000]\n  output %y\n}}\n",
          dtype, use);
      const Group group = make_group({"indices", source}, 1, 1);
      const auto ready = codegen::prepare(group);
      const auto* prepared = std::get_if<codegen::Prepared>(&ready);
      REQUIRE(prepared != nullptr);
      reference::Tensor zeros{make_shape(DType::f32, {3000}), std::vector<std::byte>(12000)};
      codegen::LowerScratch scratch;
      for (const int vector : {1, 4}) {
        Plan plan;
        plan.dominant = prepared->dominants.front();
        plan.threads = 64;
        plan.vector = vector;
        const codegen::Lowered lowered = codegen::lower(*prepared, plan, roomy, scratch);
        CAPTURE(dtype);
        CAPTURE(use);
        REQUIRE(std::holds_alternative<Kernel>(lowered));
        const auto results = results_of(std::get<Kernel>(lowered), {zeros});
        CHECK((results.front() == reference::evaluate(group.graph, std::array{zeros}).front().bytes));
      }
    }
}
