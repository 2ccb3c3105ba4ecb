// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The check stage as a whole: how it shares memory out, and what one group's failure does to the others. The kernels
// are stand-ins that store what the evaluator says, so a verdict other than passed is the stage's own doing.
// Part of the suite `profiler`.
#include "profiler/check/check_pool.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include "base/memory.h"
#include "profiler/check/memory_need.h"
#include "support/group_family.h"
#include "support/thorough.h"

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
  kernel.grid = kernel.virtual_blocks = 100;
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

  /// The same where inputs repeat: what is right of the kept rows, all over the output.
  std::function<Executor(const ir::Kernel&, const ir::Binary&)> repeated(std::function<void(std::int64_t)> told) {
    return [told](const ir::Kernel& kernel, const ir::Binary&) {
      return [told, &kernel](const GivenInputs& given, const simulator::SimulationOptions&) {
        REQUIRE(given.repeats != nullptr);
        told(given.repeats->kept);
        const ir::Graph graph = kept_graph(*given.repeats);
        const std::vector<std::byte> kept = reference::evaluate(graph, given.tensors)[0].bytes;
        const ir::Buffer& output = kernel.buffers.back();
        Executed run;
        std::vector<std::byte>& after = run.after.emplace_back();
        run.before.emplace_back(static_cast<std::size_t>(output.elements) * 4, std::byte{0xab});
        while (after.size() < run.before[0].size())
          after.insert(after.end(), kept.begin(),
                       kept.begin() + std::min(std::ssize(kept), std::ssize(run.before[0]) - std::ssize(after)));
        run.simulation.blocks_run = run.simulation.blocks_total = kernel.grid;
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
    CHECK(all.verdicts[i]->reason.find("--blocks or --shape small takes less") != std::string::npos);
    CHECK(all.verdicts[i]->reason.find("; --memory ") != std::string::npos);
  }
  CHECK(large == 0);
  stage.each.may_shrink = false;  // it was asked for: no hint says so again
  const std::string reason = check_all(bench.requests, stage).verdicts[2]->reason;
  CHECK(reason.find("--blocks takes less") != std::string::npos);
  CHECK(reason.find("--shape") == std::string::npos);
  stage.each.may_shrink = true;
  for (ir::Kernel& kernel : bench.kernels) kernel.grid = kernel.virtual_blocks = 4;  // as few as the small shape has
  CHECK(check_all(bench.requests, stage).verdicts[2]->reason.find("--shape") == std::string::npos);
}

TEST_CASE("who looks on is told that the work goes on while one kernel takes long, and how much of it is done") {
  Bench bench({4000});
  CheckStage stage;
  stage.workers = 1;
  std::vector<CheckProgress> told;
  std::atomic<int> under_way = 0;  // told while the first one runs, whose reference is there
  stage.progress = [&](const CheckProgress& progress) {
    told.push_back(progress);
    if (progress.done == 0 && progress.share > 0) ++under_way;
  };
  bool first = true;
  stage.executor = bench.right([&](std::size_t) {
    for (int i = 0; first && under_way < 2 && i < 600; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    first = false;
  });
  const CheckedAll all = check_all(bench.requests, stage);
  REQUIRE(all.verdicts.size() == 2);
  CHECK(under_way >= 2);
  REQUIRE(told.size() >= 4);  // those, and once after each
  CHECK(told.front().done == 0);
  CHECK(told.front().total == 2);
  for (std::size_t i = 1; i < told.size(); ++i) CHECK(told[i].share >= told[i - 1].share);
  CHECK(told.back().done == 2);
  CHECK(told.back().share > 0.999);
}

TEST_CASE("groups that do not fit together run one after the other, and all of them end") {
  Bench bench({4000, 4001, 4002, 4003, 4004});
  const std::int64_t inputs = bytes_of_inputs(bench.groups[0].graph);
  const ir::Graph& graph = bench.groups[0].graph;
  const std::int64_t one =
      inputs + std::max(bytes_to_evaluate(graph, parts_of(graph)),
                        reference::bytes_of_outputs(graph) + bytes_to_execute(bench.kernels[0], true, 0));
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

TEST_CASE("a large group repeats its inputs where the whole would not fit" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  Bench bench({40'000});
  const std::int64_t inputs = bytes_of_inputs(bench.groups[0].graph);
  CheckStage stage;
  stage.workers = 1;
  stage.memory = held_memory() + inputs + bytes_to_execute(bench.kernels[0], true, 0) + 60 * mb;
  REQUIRE(reference::bytes_of_outputs(bench.groups[0].graph) > 60 * mb);
  stage.executor = bench.repeated([](std::int64_t kept) { CHECK(kept < 2000); });
  const CheckedAll all = check_all(bench.requests, stage);
  for (const std::optional<Checked>& verdict : all.verdicts) {
    CHECK_MESSAGE(verdict->state == Verdict::passed, verdict->reason);
    CHECK(verdict->judged == 1);
  }
}

TEST_CASE("of a group forty times the memory a sample of blocks is executed and judged") {
  Bench bench({8'000'000});  // 8 GB for each of input and output
  for (ir::Kernel& kernel : bench.kernels) kernel.grid = 1'000'000;
  CheckStage stage;
  stage.workers = 2;
  stage.memory = held_memory() + 400 * mb;
  stage.each.most_elements = default_most_elements;
  std::atomic<int> runs = 0;
  stage.executor = [&](const ir::Kernel&, const ir::Binary&) {
    return [&](const GivenInputs& given, const simulator::SimulationOptions& options) {
      ++runs;
      REQUIRE(given.repeats != nullptr);
      const std::int64_t kept = given.repeats->kept;
      const std::vector<reference::Tensor> right = reference::evaluate(kept_graph(*given.repeats), given.tensors);
      Executed run;
      run.pieces.resize(1);
      run.before.resize(1);
      run.after.resize(1);
      for (const std::int64_t block : options.blocks) {  // the first of its eight rows
        run.pieces[0].push_back({block * 8 * 1024, 1024});
        run.before[0].resize(run.before[0].size() + 1024, std::byte{0xab});
        const std::byte* row = right[0].bytes.data() + block * 8 % kept * 1024;
        run.after[0].insert(run.after[0].end(), row, row + 1024);
      }
      run.simulation.blocks_run = std::ssize(options.blocks);
      run.simulation.blocks_total = 1'000'000;
      return run;
    };
  };
  for (const std::optional<Checked>& verdict : check_all(bench.requests, stage).verdicts) {
    CHECK_MESSAGE(verdict->state == Verdict::passed, verdict->reason);
    CHECK(verdict->judged == 1);
  }
  CHECK(runs == 10);
  CHECK(bytes_to_execute(bench.kernels[0], true, 2000) < 400 * mb);
  CHECK(bytes_to_execute(bench.kernels[0], true, 0) > 80'000 * mb);
}

TEST_CASE("where all blocks would not fit a sample of them runs, unless all were asked for") {
  Bench bench({40'000});
  for (ir::Kernel& kernel : bench.kernels) kernel.grid = kernel.virtual_blocks = 40'000;
  CheckStage stage;
  stage.workers = 1;
  stage.memory = held_memory() + 60 * mb;
  stage.executor = [&](const ir::Kernel& kernel, const ir::Binary&) {
    return [&](const GivenInputs& given, const simulator::SimulationOptions& options) {
      REQUIRE(given.repeats != nullptr);
      const std::vector<reference::Tensor> right = reference::evaluate(kept_graph(*given.repeats), given.tensors);
      Executed run;
      run.pieces.resize(1);
      run.before.resize(1);
      run.after.resize(1);
      for (const std::int64_t block : options.blocks) {
        run.pieces[0].push_back({block * 1024, 1024});
        run.before[0].resize(run.before[0].size() + 1024, std::byte{0xab});
        const std::byte* row = right[0].bytes.data() + block % given.repeats->kept * 1024;
        run.after[0].insert(run.after[0].end(), row, row + 1024);
      }
      run.simulation.blocks_run = std::ssize(options.blocks);
      run.simulation.blocks_total = kernel.grid;
      return run;
    };
  };
  stage.each.most_elements = default_most_elements;
  for (const std::optional<Checked>& verdict : check_all(bench.requests, stage).verdicts) {
    CHECK_MESSAGE(verdict->state == Verdict::passed, verdict->reason);
    CHECK(verdict->sampled_for.starts_with("all need "));
    CHECK(verdict->counts.blocks_run < verdict->counts.blocks_total);
  }
  stage.each.most_elements = 0;
  for (const std::optional<Checked>& verdict : check_all(bench.requests, stage).verdicts) {
    CHECK(verdict->state == Verdict::not_executed);
    CHECK(verdict->reason.find("--blocks") != std::string::npos);
  }
}

TEST_CASE("a reference that takes longer than an execution may is given up, and nothing is judged") {
  Bench bench({2000, 3});
  CheckStage stage;
  stage.workers = 2;
  stage.each.time_limit = {0};
  stage.executor = bench.right([](std::size_t) { FAIL("executed without a reference"); });
  for (const std::optional<Checked>& verdict : check_all(bench.requests, stage).verdicts) {
    REQUIRE(verdict);
    CHECK(verdict->state == Verdict::not_executed);
    CHECK_MESSAGE(verdict->reason.starts_with("its reference takes longer than 0 s; a larger --time-limit"),
                  verdict->reason);
    CHECK(verdict->reference_late);
    CHECK(verdict->judged == 0);
  }
}

TEST_CASE("a launch that executes much for each element is sampled, and of its rows few are made") {
  ir::Kernel kernel;
  kernel.buffers = {{"x", ir::DType::f32, 1 << 24, ir::BufferRole::input},
                    {"y", ir::DType::f32, 1 << 24, ir::BufferRole::output}};
  kernel.threads = 128;
  kernel.grid = kernel.virtual_blocks = 1 << 17;
  CheckOptions options;
  options.most_elements = default_most_elements;
  kernel.body.resize(256);
  CHECK(blocks_to_run(kernel, options) == 0);
  // A statement more, and inside a loop each counts as often as it runs.
  kernel.body.emplace_back();
  CHECK(blocks_to_run(kernel, options) > 0);
  kernel.body.resize(3);
  kernel.indices.vars = {{"i", ir::VarKind::loop, 128, 1}};
  kernel.body[0].kind = ir::StmtKind::loop;
  kernel.body[0].end = 3;
  CHECK(blocks_to_run(kernel, options) > 0);
  kernel.body[0].end = 2;
  CHECK(blocks_to_run(kernel, options) == 0);
  options.most_elements = 0;
  kernel.body.resize(6000);
  CHECK(blocks_to_run(kernel, options) == 0);

  std::string lines = "graph g {\n  %x0 = parameter 0 : f32[4096,4096]\n";
  for (int i = 1; i <= 3000; ++i) lines += fmt::format("  %x{} = add %x{}, %x0 : f32[4096,4096]\n", i, i - 1);
  const auto repeats = repeats_of(ir::parse_graph(lines + "  output %x3000\n}\n"));
  REQUIRE(repeats != nullptr);
  CHECK(repeats->kept == 5);
}

TEST_CASE("what is offered where memory is too small is what helps") {
  CHECK(out_of_memory(5 * mb, 2 * mb, {})
            .find("needs 5.00 MB of memory, 2.00 MB are free for it; --memory 1 allows it, "
                  "--blocks or --shape small takes less") == 0);
  CHECK(out_of_memory(5 * mb, 2 * mb, {.raised = true, .sampled = false})
            .ends_with("allows it, --shape small takes less"));
  CHECK(out_of_memory(5 * mb, 2 * mb, {.sampled = false, .elsewhere = true, .smaller = false})
            .ends_with("; tailor check --memory 1 allows it"));
  CHECK(out_of_memory(std::int64_t{1} << 60, 2 * mb, {}).find("--memory") == std::string::npos);
  CHECK(out_of_memory(5 * mb, 2 * mb, {.raised = false, .sampled = true}).find("--memory") == std::string::npos);
}

TEST_CASE("what repeats is the outermost dimension, or one further in where its steps are large") {
  const auto kept = [](const std::string& lines) {
    const auto repeats = repeats_of(ir::parse_graph("graph g {\n" + lines + "}\n"));
    return repeats ? std::pair(repeats->parts.extent.steps, repeats->kept) : std::pair<std::int64_t, std::int64_t>();
  };
  CHECK(kept("  %x = parameter 0 : f32[100000,512]\n  %y = exp %x : f32[100000,512]\n  output %y\n") ==
        std::pair<std::int64_t, std::int64_t>(100'000, 257));
  CHECK(kept("  %x = parameter 0 : f32[32,512,14336]\n  %y = exp %x : f32[32,512,14336]\n  output %y\n") ==
        std::pair<std::int64_t, std::int64_t>(512, 3));
  // A result that is the same for all steps does not matter.
  CHECK(kept("  %x = parameter 0 : f32[100000,512]\n  %s = parameter 1 : f32[]\n  %b = broadcast %s : "
             "f32[100000,512]\n  %y = add %x, %b : f32[100000,512]\n  %t = exp %s : f32[]\n  output %y, %t\n") ==
        std::pair<std::int64_t, std::int64_t>(100'000, 257));
  // Steps that know their number.
  CHECK(kept("  %x = parameter 0 : f32[100000]\n  %n = iota, axes={0} : f32[100000]\n  %y = add %x, %n : "
             "f32[100000]\n  output %y\n") == std::pair<std::int64_t, std::int64_t>());
}

TEST_CASE("each verdict is told of when it is reached, and before the next kernel of its thread begins") {
  Bench bench({8, 9, 10});
  CheckStage stage;
  stage.workers = 1;
  std::vector<std::size_t> reached;
  std::size_t begun = 0;
  stage.executor = bench.right([&](std::size_t) {
    CHECK(reached.size() == begun);
    ++begun;
  });
  stage.reached = [&](std::size_t at, const Checked& verdict) {
    CHECK(verdict.state == Verdict::passed);
    reached.push_back(at);
  };
  check_all(bench.requests, stage);
  CHECK(reached == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("a kernel that one seed tells nothing of has nothing judged") {
  Bench bench({8});
  CheckStage stage;
  stage.workers = 1;
  stage.seeds = 2;
  const auto right = bench.right([](std::size_t) {});
  stage.each.sample_blocks = 20;
  int count = 0;  // five runs for each seed
  stage.executor = [&](const ir::Kernel& kernel, const ir::Binary& binary) {
    return [&, execute = right(kernel, binary)](const GivenInputs& given, const simulator::SimulationOptions& options) {
      Executed run = execute(given, options);
      if (count++ >= 5) run.after = run.before;
      return run;
    };
  };
  const CheckedAll all = check_all(std::span(bench.requests).first(1), stage);
  CHECK(all.verdicts[0]->state == Verdict::not_judged);
  CHECK(all.verdicts[0]->judged == 0);
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
