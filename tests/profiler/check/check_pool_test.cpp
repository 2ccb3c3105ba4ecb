// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The check stage as a whole: how it shares memory out, and what one group's failure does to the others. The kernels
// are stand-ins that store what the evaluator says, so a verdict other than passed is the stage's own doing.
// Part of the suite `profiler`.
#include "profiler/check/check_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <thread>

#include "base/memory.h"
#include "profiler/check/memory_need.h"
#include "support/group_family.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

ir::Kernel kernel_of(const ir::Group& group) {
  ir::Kernel kernel;
  for (const ir::NodeId id : parameters(group.graph))
    kernel.buffers.push_back(
        {"in", group.graph[id].shape.dtype, elements(group.graph[id].shape), ir::BufferRole::input});
  for (const ir::NodeId id : group.graph.outputs)
    kernel.buffers.push_back(
        {"out", group.graph[id].shape.dtype, elements(group.graph[id].shape), ir::BufferRole::output});
  kernel.grid = 100;
  kernel.threads = 128;
  return kernel;
}

/// Some groups with two kernels each, in the order in which a sweep asks for them.
struct Bench {
  std::vector<ir::Group> groups;
  std::vector<ir::Kernel> kernels;
  ir::Binary binary;
  std::vector<CheckRequest> requests;

  explicit Bench(std::vector<std::int64_t> rows) {
    for (const std::int64_t count : rows) groups.push_back(ir::make_group(ir::family_member("softmax"), count, 256));
    for (const ir::Group& group : groups)
      for (int i = 0; i < 2; ++i) kernels.push_back(kernel_of(group));
    for (std::size_t i = 0; i < kernels.size(); ++i) requests.push_back({&groups[i / 2], &kernels[i], &binary, {}});
  }
  std::size_t group_of(const ir::Kernel& kernel) const {
    return static_cast<std::size_t>(&kernel - kernels.data()) / 2;
  }

  /// Stores what is right; `meanwhile` is told of the group.
  std::function<Executor(const ir::Kernel&, const ir::Binary&)> right(std::function<void(std::size_t)> meanwhile) {
    return [this, meanwhile](const ir::Kernel& kernel, const ir::Binary&) {
      return [this, meanwhile, &kernel](std::span<const reference::Tensor> inputs,
                                        const simulator::SimulationOptions& options) {
        meanwhile(group_of(kernel));
        Executed run;
        for (const reference::Tensor& output : reference::evaluate(groups[group_of(kernel)].graph, inputs)) {
          run.before.emplace_back(output.bytes.size(), std::byte{0xab});
          run.after.push_back(output.bytes);
        }
        run.simulation.blocks_run = options.blocks.empty() ? kernel.grid : std::ssize(options.blocks);
        run.simulation.blocks_total = kernel.grid;
        return run;
      };
    };
  }
};

constexpr std::int64_t mb = 1'000'000;

}  // namespace

TEST_CASE("what does not fit is not executed, and says how much it needs") {
  Bench bench({8, 400'000, 9});
  CheckStage stage;
  stage.workers = 2;
  stage.memory = held_memory() + 200 * mb;
  std::atomic<int> large = 0;
  stage.executor = bench.right([&](std::size_t group) { large += group == 1 ? 1 : 0; });
  const CheckedAll all = check_all(bench.requests, stage);
  REQUIRE(all.verdicts.size() == 6);
  for (const std::size_t i : {0, 1, 4, 5}) CHECK(all.verdicts[i]->state == Verdict::passed);
  for (const std::size_t i : {2, 3}) {
    CHECK(all.verdicts[i]->state == Verdict::not_executed);
    CHECK(all.verdicts[i]->reason.starts_with("needs "));
    CHECK(all.verdicts[i]->reason.find("--blocks or --shape small") != std::string::npos);
  }
  CHECK(large == 0);
}

TEST_CASE("groups that do not fit together run one after the other, and all of them end") {
  Bench bench({4000, 4001, 4002, 4003, 4004});
  const std::int64_t inputs = bytes_of_inputs(bench.groups[0].graph);
  const ir::Graph& graph = bench.groups[0].graph;
  const std::int64_t one =
      inputs + std::max(bytes_to_evaluate(graph, parts_of(graph)),
                        reference::bytes_of_outputs(graph) + bytes_to_execute(bench.kernels[0], true, 1));
  CheckStage stage;
  stage.workers = 4;
  stage.memory = held_memory() + one + one / 2;
  std::mutex mutex;
  std::map<std::size_t, int> inside;
  std::size_t most = 0;
  stage.executor = bench.right([&](std::size_t group) {
    {
      const std::lock_guard lock(mutex);
      ++inside[group];
      std::size_t groups = 0;
      for (const auto& [number, count] : inside) groups += count > 0 ? 1 : 0;
      most = std::max(most, groups);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::lock_guard lock(mutex);
    --inside[group];
  });
  const CheckedAll all = check_all(bench.requests, stage);
  for (const std::optional<Checked>& verdict : all.verdicts) {
    REQUIRE(verdict);
    CHECK_MESSAGE(verdict->state == Verdict::passed, verdict->reason);
  }
  CHECK(most == 1);
}

TEST_CASE("a large group is evaluated in parts where the whole would not fit") {
  Bench bench({40'000});
  const std::int64_t inputs = bytes_of_inputs(bench.groups[0].graph);
  CheckStage stage;
  stage.workers = 1;
  stage.memory = held_memory() + inputs + bytes_to_execute(bench.kernels[0], true, 1) + 60 * mb;
  REQUIRE(reference::bytes_of_outputs(bench.groups[0].graph) > 60 * mb);
  stage.executor = bench.right([](std::size_t) {});
  const CheckedAll all = check_all(bench.requests, stage);
  for (const std::optional<Checked>& verdict : all.verdicts) {
    CHECK_MESSAGE(verdict->state == Verdict::passed, verdict->reason);
    CHECK(verdict->judged == 1);
  }
}

TEST_CASE("a stop loses no verdict that was there, and gives none to what was not finished") {
  Bench bench({8, 9, 10'000});
  std::stop_source source;
  CheckStage stage;
  stage.workers = 1;
  stage.each.stop = source.get_token();
  stage.executor = bench.right([&](std::size_t group) {
    if (group == 1) source.request_stop();
  });
  const CheckedAll all = check_all(bench.requests, stage);
  REQUIRE(all.verdicts.size() == 6);
  for (const std::size_t i : {0, 1}) CHECK(all.verdicts[i]->state == Verdict::passed);
  for (const std::size_t i : {2, 3, 4, 5}) CHECK_FALSE(all.verdicts[i]);
  CHECK(all.account.references == 2);
}

TEST_CASE("one kernel's failure is its verdict and loses no other's") {
  Bench bench({8, 9, 10});
  CheckStage stage;
  stage.workers = 2;
  stage.executor = bench.right([](std::size_t group) {
    if (group == 0) throw std::bad_alloc();
    if (group == 1) throw std::runtime_error("a reason");
  });
  const CheckedAll all = check_all(bench.requests, stage);
  for (std::size_t i = 0; i < 6; ++i) REQUIRE(all.verdicts[i]);
  for (const std::size_t i : {0, 1}) {
    CHECK(all.verdicts[i]->state == Verdict::not_executed);
    CHECK(all.verdicts[i]->reason.starts_with("the machine gave no more memory"));
  }
  for (const std::size_t i : {2, 3}) CHECK(all.verdicts[i]->reason == "a reason");
  for (const std::size_t i : {4, 5}) CHECK(all.verdicts[i]->state == Verdict::passed);
}

TEST_CASE("the estimate of an evaluation is not below what it takes") {
  const ir::Group group = ir::make_group(ir::family_member("layernorm_f16"), 20'000, 768);
  const Reference small = evaluate_reference(ir::make_group(ir::family_member("layernorm_f16"), 8, 768), 1);
  const std::int64_t estimate = reference::bytes_to_evaluate(group.graph);
  // Outputs and their bounds alone, and a value with bounds beside them.
  CHECK(estimate > reference::bytes_of_outputs(group.graph));
  CHECK(reference::bytes_of_outputs(group.graph) >= 20'000 * 768 * (2 + 8));
}
