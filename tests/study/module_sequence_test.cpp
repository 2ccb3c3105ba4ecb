// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A model as a stream of launches: whatever the graph and the strategy, every place is launched once and nobody reads
// what is written later; and executed one after the other the launches compute what the model does. The oracles are a
// check of order written here and the reference evaluator. Part of the suite `study`; only the last case needs NVRTC.
#include "study/module/module_sequence.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "codegen/lower/lower_pack.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "ir/graph/number.h"
#include "profiler/compile/compile.h"
#include "profiler/xla/xla_check.h"
#include "reference/error_bound.h"
#include "reference/memory_layout.h"
#include "support/group_family.h"
#include "support/kernel_cache.h"
#include "support/paths.h"
#include "support/random_graph.h"
#include "support/search_setting.h"
#include "support/sequence_run.h"
#include "support/thorough.h"
#include "tests/profiler/kernels.h"

using namespace tailor;
using namespace tailor::study;

namespace {

/// The simplest plan of a group; of a pack that of each body.
ir::Plan simple_plan(const codegen::Prepared& prepared) {
  ir::Plan plan;
  plan.skeleton = prepared.skeleton;
  for (const codegen::Body& body : prepared.bodies)
    plan.bodies.push_back(codegen::plan_in_whole(body, simple_plan(*body.prepared)));
  if (!prepared.bodies.empty()) return plan;
  plan.dominant = prepared.dominants.front();
  plan.vector = 1;
  plan.threads_per_row = row(plan.skeleton).has(ir::PlanField::threads_per_row) ? 32 : 1;
  plan.homes = codegen::homes_of(prepared, ir::HomesWord::registers);
  return plan;
}

/// A kernel for a group under its simplest plan; none where the group has no skeleton.
std::optional<ir::Kernel> simple_kernel(const ir::Group& group) {
  static const ir::Limits limits = ir::limits(ir::find_device("h200", source_folder() + "/data/devices"));
  const auto ready = codegen::prepare(group);
  const auto* prepared = std::get_if<codegen::Prepared>(&ready);
  if (prepared == nullptr) return {};
  codegen::LowerScratch scratch;
  codegen::Lowered lowered = codegen::lower(*prepared, simple_plan(*prepared), limits, scratch);
  if (!std::holds_alternative<ir::Kernel>(lowered)) return {};
  return std::get<ir::Kernel>(std::move(lowered));
}

/// A partition with a kernel for every group that has one; binaries are compiled where `api` is given.
struct LoweredModel {
  LoweredModel(const ir::Graph& graph, const explore::ChosenStrategy& strategy, const profiler::Nvrtc* api)
      : partition(explore::partition(graph, explore::fuse(strategy, graph, search_setting()))) {
    lowered.resize(partition.groups.size());
    binaries.resize(partition.groups.size());
    for (std::size_t g = 0; g < partition.groups.size(); ++g) {
      lowered[g] = simple_kernel(partition.groups[g].group);
      binaries[g].entry = fmt::format("kernel_{}", g);
      if (lowered[g] && api != nullptr) {
        binaries[g] = kernels::compiled(*api, {.cuda = codegen::cuda(*lowered[g])});
        REQUIRE_MESSAGE(binaries[g].outcome == ir::CompileOutcome::ok, binaries[g].log);
      }
      kernels.push_back({lowered[g] ? &*lowered[g] : nullptr, lowered[g] ? &binaries[g] : nullptr});
    }
  }
  LoweredModel(const LoweredModel&) = delete;

  explore::Partition partition;
  std::vector<std::optional<ir::Kernel>> lowered;
  std::vector<ir::Binary> binaries;
  std::vector<GroupKernel> kernels;
};

std::int64_t places_of(const LoweredModel& what, bool with_kernel) {
  std::int64_t places = 0;
  for (std::size_t g = 0; g < what.partition.groups.size(); ++g)
    if (what.lowered[g].has_value() == with_kernel)
      places += static_cast<std::int64_t>(what.partition.groups[g].occurrences.size());
  return places;
}

/// Every place once, every buffer as large as its kernel says, no reader before its writer, no writer of an input.
void check_order(const LoweredModel& what, const ModuleSequence& made) {
  CHECK(made.launched_groups == places_of(what, true));
  CHECK(made.groups_left_out == places_of(what, false));
  CHECK(static_cast<std::int64_t>(made.sequence.launches.size()) == made.launched_groups);
  std::map<std::string, std::size_t> launched, wanted;
  std::map<std::string, std::size_t> group_of;
  for (std::size_t g = 0; g < what.kernels.size(); ++g) {
    group_of[what.binaries[g].entry] = g;
    if (what.lowered[g]) wanted[what.binaries[g].entry] = what.partition.groups[g].occurrences.size();
  }
  std::map<int, std::size_t> written, read;  // the first writer, the first reader
  for (std::size_t i = 0; i < made.sequence.launches.size(); ++i) {
    const gpu::Launch& launch = made.sequence.launches[i];
    ++launched[launch.entry];
    const ir::Kernel& kernel = *what.lowered[group_of.at(launch.entry)];
    REQUIRE(launch.arguments.size() == kernel.buffers.size());
    for (std::size_t k = 0; k < kernel.buffers.size(); ++k) {
      const int number = launch.arguments[k].buffer;
      const gpu::Buffer& buffer = made.sequence.buffers.at(static_cast<std::size_t>(number));
      CHECK(buffer.bytes == kernel.buffers[k].elements * ir::element_bytes(kernel.buffers[k].dtype));
      if (is_result(kernel.buffers[k].role)) CHECK(buffer.role != gpu::BufferRole::input);
      (is_result(kernel.buffers[k].role) ? written : read).try_emplace(number, i);
    }
  }
  CHECK(launched == wanted);
  std::int64_t contents = 0, bytes = 0;
  for (std::size_t b = 0; b < made.sequence.buffers.size(); ++b) {
    const gpu::Buffer& buffer = made.sequence.buffers[b];
    const auto writer = written.find(static_cast<int>(b)), reader = read.find(static_cast<int>(b));
    CHECK((buffer.role == gpu::BufferRole::input) == (writer == written.end()));
    if (writer != written.end() && reader != read.end()) CHECK(writer->second < reader->second);
    bytes += buffer.bytes;
    contents += buffer.role == gpu::BufferRole::input ? buffer.bytes : 0;
  }
  CHECK(made.buffer_bytes == bytes);
  CHECK(static_cast<std::int64_t>(made.contents.size()) == contents);
}

/// Whether the bytes are the output within its bounds.
bool is_output(std::span<const std::byte> bytes, const reference::BoundedTensor& wanted) {
  const reference::Tensor found = reference::from_memory(wanted.value.shape, bytes);
  for (std::int64_t i = 0; i < ir::elements(wanted.value.shape); ++i) {
    const double error = wanted.error.empty() ? 0 : wanted.error[static_cast<std::size_t>(i)];
    if (!(std::fabs(reference::as_double(found, i) - reference::as_double(wanted.value, i)) <= error)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("two strategies are compared when they run the same operations, however they cut them") {
  const ir::Graph graph =
      hlo::import_hlo(
          "HloModule m\n\nfold {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] "
          "subtract(a, b)\n}\n\nfused {\n  p = f32[4,16,32]{2,1,0} parameter(0)\n  e = f32[4,16,32]{2,1,0} "
          "exponential(p)\n  z = f32[] parameter(1)\n  ROOT r = f32[16]{0} reduce(e, z), "
          "dimensions={0,2}, to_apply=fold\n}\n\nENTRY main {\n  x = f32[4,16,32]{2,1,0} parameter(0)\n  "
          "y = f32[] parameter(1)\n  f = f32[16]{0} fusion(x, y), kind=kInput, calls=fused\n  m = f32[16]{0} "
          "negate(f)\n  ROOT n = "
          "f32[16]{0} sqrt(m)\n}\n",
          "test.hlo")
          .graph;
  const auto left_out = [&](const char* strategy) {
    const LoweredModel model(graph, explore::find_strategy(strategy), nullptr);
    return work_left_out(graph, model.partition, model.kernels);
  };
  const WorkPlaces none = left_out("unfused"), imported = left_out("imported");
  REQUIRE(none.size() == 1);  // the reduction by a function of its own
  REQUIRE(imported.size() == 2);
  CHECK(none.begin()->first.first == graph.name);
  const std::string exponential = imported.begin()->second;
  CHECK(work_difference("a", none, 0, "b", none, 0).empty());
  CHECK(work_difference("imported", imported, 0, "unfused", none, 0) ==
        "imported has no kernel for %" + exponential + ", which unfused runs");
  CHECK(work_difference("unfused", none, 0, "imported", imported, 0) ==
        "imported has no kernel for %" + exponential + ", which unfused runs");
  CHECK(work_difference("a", imported, 0, "b", {}, 0) ==
        "a has no kernel for 2 operations (%" + exponential + " is one), which b runs");
  CHECK(work_difference("a", none, 2, "b", none, 1) == "a runs one trip of 2 loops, b of 1");
}

TEST_CASE("of random graphs every place is launched once, and nobody reads what is written later") {
  const std::uint64_t first_seed = 4100, graphs = testing::effort(10, 25, 25);
  std::int64_t places = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + graphs; ++seed) {
    const ir::Graph graph = well_formed_graph(seed, 30);
    for (const explore::Strategy& strategy : explore::strategies()) {
      CAPTURE(seed);
      CAPTURE(strategy.name);
      const LoweredModel what(graph, strategy, nullptr);
      const ModuleSequence made = module_sequence(graph, what.partition, what.kernels, profiler::ImageForm::ptx);
      check_order(what, made);
      places += made.launched_groups;
    }
  }
  CHECK(places > testing::effort(40, 100, 100));
}

TEST_CASE("a loop's places are launched once per trip, in the same order, and once where that would be too many") {
  constexpr std::string_view text = R"(HloModule loop

body {
  p = (s32[], f32[8,64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[8,64]{1,0} get-tuple-element(p), index=1
  y = f32[8,64]{1,0} exponential(x)
  z = f32[8,64]{1,0} negate(y)
  ROOT t = (s32[], f32[8,64]) tuple(next, z)
}

condition {
  p = (s32[], f32[8,64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}

ENTRY main {
  x = f32[8,64]{1,0} parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[8,64]) tuple(zero, x)
  w = (s32[], f32[8,64]) while(t), condition=condition, body=body, backend_config={"known_trip_count":{"n":"3"}}
  ROOT r = f32[8,64]{1,0} get-tuple-element(w), index=1
}
)";
  const hlo::Imported imported = hlo::import_hlo(text, "loop.hlo");
  const LoweredModel what(imported.graph, explore::find_strategy("unfused"), nullptr);
  const ModuleSequence made = module_sequence(imported.graph, what.partition, what.kernels, profiler::ImageForm::ptx);
  std::vector<std::string> names;
  for (const gpu::Launch& launch : made.sequence.launches) names.push_back(launch.entry);
  CHECK(made.shortened_loops == 0);
  CHECK(made.launched_groups >= 2);
  REQUIRE(static_cast<std::int64_t>(names.size()) == 3 * made.launched_groups);
  const std::ptrdiff_t trip = made.launched_groups;
  CHECK(std::equal(names.begin(), names.begin() + 2 * trip, names.begin() + trip));
  const ModuleSequence once = module_sequence(imported.graph, what.partition, what.kernels, profiler::ImageForm::ptx,
                                              3 * made.launched_groups - 1);
  CHECK(once.shortened_loops == 1);
  CHECK(static_cast<std::int64_t>(once.sequence.launches.size()) == made.launched_groups);
}

TEST_CASE("what is written in place lies where its input lay, and who reads it afterwards reads it there") {
  const ir::Graph graph = hlo::import_hlo(R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }

ENTRY e {
  cache = f32[8,4] parameter(0)
  new = f32[1,4] parameter(1)
  at = s32[] parameter(2)
  zero = s32[] constant(0)
  updated = f32[8,4] dynamic-update-slice(cache, new, at, zero)
  read = f32[8,4] exponential(updated)
  ROOT t = (f32[8,4], f32[8,4]) tuple(updated, read)
}
)",
                                          "test.hlo")
                              .graph;
  const LoweredModel what(graph, explore::find_strategy("unfused"), nullptr);
  const ModuleSequence made = module_sequence(graph, what.partition, what.kernels, profiler::ImageForm::ptx);
  REQUIRE(made.groups_left_out == 0);
  REQUIRE(made.sequence.launches.size() == 2);
  std::map<std::string, std::vector<int>> by_use;  // buffers of each launch: "0 input", "0 in_place", "1 output", ...
  for (std::size_t i = 0; i < 2; ++i) {
    const gpu::Launch& launch = made.sequence.launches[i];
    for (std::size_t g = 0; g < what.kernels.size(); ++g) {
      if (what.binaries[g].entry != launch.entry) continue;
      for (std::size_t k = 0; k < launch.arguments.size(); ++k)
        by_use[fmt::format("{} {}", i, ir::name(what.lowered[g]->buffers[k].role))].push_back(
            launch.arguments[k].buffer);
    }
  }
  REQUIRE(by_use["0 in_place"].size() == 1);
  const int cache = by_use["0 in_place"].front();
  CHECK(std::count(by_use["0 input"].begin(), by_use["0 input"].end(), cache) == 1);
  CHECK(made.sequence.buffers.at(static_cast<std::size_t>(cache)).role == gpu::BufferRole::in_place);
  CHECK(by_use["1 input"] == std::vector<int>{cache});
  REQUIRE(by_use["1 output"].size() == 1);
  CHECK(by_use["1 output"].front() != cache);
  CHECK(made.sequence.buffers.size() == by_use["0 input"].size() + 1);  // what is read, and the one result apart
}

TEST_CASE("the launches of a small model, executed in order, compute what the model does") {
  const profiler::Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  for (const std::string name : {"softmax", "layernorm_f16", "cross_entropy"}) {
    const ir::Group whole = ir::make_group(ir::family_member(name), 5, 64);
    for (const std::string_view with : {"unfused", "stitch-v1"}) {
      CAPTURE(name);
      CAPTURE(with);
      const LoweredModel what(whole.graph, explore::find_strategy(with), api);
      const ModuleSequence made = module_sequence(whole.graph, what.partition, what.kernels, profiler::ImageForm::ptx);
      REQUIRE(made.groups_left_out == 0);
      const testing::SequenceRun run = testing::run_sequence(made.sequence, made.contents);
      CHECK_MESSAGE(run.reason.empty(), run.reason);
      CHECK(run.findings.empty());

      // Parameters of these models differ in size, which tells whose bytes are whose.
      std::map<std::int64_t, std::span<const std::byte>> inputs;
      std::vector<std::span<const std::byte>> outputs;
      std::size_t in = 0, out = 0;
      for (const gpu::Buffer& buffer : made.sequence.buffers) {
        const auto size = static_cast<std::size_t>(buffer.bytes);
        if (buffer.role == gpu::BufferRole::input)
          inputs[buffer.bytes] = std::span(made.contents).subspan(in, size), in += size;
        else
          outputs.push_back(std::span(run.outputs).subspan(out, size)), out += size;
      }
      std::vector<reference::Tensor> tensors;
      for (const ir::NodeId id : ir::parameters(whole.graph)) {
        const ir::Shape& shape = whole.graph[id].shape;
        const auto found = inputs.find(ir::elements(shape) * ir::element_bytes(shape.dtype));
        REQUIRE(found != inputs.end());
        tensors.push_back(reference::from_memory(shape, found->second));
      }
      for (const reference::BoundedTensor& wanted : reference::evaluate_with_error_bounds(whole.graph, tensors)) {
        const auto bytes =
            static_cast<std::size_t>(ir::elements(wanted.value.shape) * ir::element_bytes(wanted.value.shape.dtype));
        CHECK(std::any_of(outputs.begin(), outputs.end(), [&](std::span<const std::byte> one) {
          return one.size() == bytes && is_output(one, wanted);
        }));
      }
    }
  }
}
