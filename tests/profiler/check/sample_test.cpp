// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers of a check that stand behind its verdict, each against a figure worked out by hand: what the runs of a sample
// add up to, how far they are from one another, which options reach a run, which of several seeds is told, what an
// execution is said to take, and how small a small shape is. Executions are made up. Part of the suite `profiler`;
// needs no compiler.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "profiler/check/check.h"
#include "profiler/check/check_pool.h"
#include "profiler/check/memory_need.h"
#include "profiler/check/small_shape.h"
#include "support/approx.h"
#include "support/group_family.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

/// A group y = exp(x) of 100 blocks, and an execution of its kernel that stores what is right.
struct ExpBench {
  ir::Group group;
  ir::Kernel kernel;

  ExpBench() {
    group.graph =
        ir::parse_graph("graph g {\n  %x = parameter 0 : f32[800]\n  %y = exp %x : f32[800]\n  output %y\n}\n");
    kernel.buffers = {{"x", ir::DType::f32, 800, ir::BufferRole::input},
                      {"y", ir::DType::f32, 800, ir::BufferRole::output}};
    kernel.grid = kernel.virtual_blocks = 100;
    kernel.threads = 8;
  }
  static Executed right(const Reference& reference, std::int64_t blocks) {
    Executed run;
    run.before.emplace_back(3200, std::byte{0xab});
    run.after.push_back(reference.outputs[0].value.bytes);
    run.simulation.blocks_run = blocks;
    run.simulation.blocks_total = 100;
    run.simulation.buffers.resize(2);
    return run;
  }
};

/// Makes element `at` of an f32 output differ by `times` the bound of `reference`.
void shift(std::vector<std::byte>& bytes, const Reference& reference, std::size_t at, double times) {
  float value = 0;
  std::memcpy(&value, bytes.data() + at * 4, 4);
  value = static_cast<float>(value + times * reference.outputs[0].error[at]);
  std::memcpy(bytes.data() + at * 4, &value, 4);
}

/// An element whose bound is many units in its last place, so that a float can lie anywhere within it.
std::size_t wide_element(const Reference& reference) {
  const reference::BoundedTensor& output = reference.outputs[0];
  for (std::size_t i = 0; i < output.error.size(); ++i) {
    float value = 0;
    std::memcpy(&value, output.value.bytes.data() + i * 4, 4);
    if (std::isfinite(value) && value > 1e-3 && output.error[i] < 1 && output.error[i] > value * 0x1p-24) return i;
  }
  FAIL("no element has a bound");
  return 0;
}

}  // namespace

TEST_CASE("a sample's counts: the ends as they are, the rest by the mean of its batches, with its standard error") {
  const ExpBench bench;
  const Reference reference = evaluate_reference(bench.group, 1);
  // Instructions of a block in each run: the ends first, then four batches. Mean 7, squares of what is apart 20.
  const double per_block[] = {50, 4, 6, 8, 10};
  std::size_t runs = 0;
  std::vector<std::vector<std::int64_t>> ran;
  const auto execute = [&](const GivenInputs&, const simulator::SimulationOptions& options) {
    ran.push_back(options.blocks);
    const auto blocks = static_cast<std::int64_t>(options.blocks.size());
    Executed run = ExpBench::right(reference, blocks);
    const auto count = static_cast<std::int64_t>(per_block[runs]) * blocks;
    run.simulation.counters.instructions = count;
    run.simulation.counters.lane_instructions = 32 * count;
    run.simulation.buffers[0].load = {count, 2 * count, 3 * count};
    run.simulation.buffers[1].store = {4 * count, 5 * count, 6 * count};
    run.simulation.time = {static_cast<double>(++runs)};
    return run;
  };
  CheckOptions options;
  options.sample_blocks = 22;
  const Checked checked = check(bench.kernel, reference, execute, options);
  CHECK(checked.state == Verdict::passed);
  REQUIRE(runs == 5);
  CHECK(ran[0] == std::vector<std::int64_t>{0, 99});
  std::int64_t blocks = 2;
  double executed = 100;
  for (std::size_t i = 1; i < 5; ++i) {
    CHECK(ran[i].size() <= 5);
    CHECK(ran[i].size() >= 3);  // drawn with repetitions
    CHECK(ran[i].front() > 0);
    CHECK(ran[i].back() < 99);
    blocks += std::ssize(ran[i]);
    executed += per_block[i] * static_cast<double>(ran[i].size());
  }
  const double all = 100 + 98 * 7;
  CHECK(checked.counts.instructions == approx(all));
  CHECK(checked.counts.buffers[0].load.requests == approx(all));
  CHECK(checked.counts.buffers[0].load.sectors == approx(2 * all));
  CHECK(checked.counts.buffers[0].load.bytes == approx(3 * all));
  CHECK(checked.counts.buffers[1].store.bytes == approx(6 * all));
  CHECK(checked.counts.standard_error == approx(std::sqrt(20.0 / (4 * 3)) / 7));
  CHECK(checked.counts.blocks_run == static_cast<double>(blocks));
  CHECK(checked.counts.blocks_total == 100);
  CHECK(static_cast<double>(checked.lane_instructions) == 32 * executed);  // not scaled
  CHECK(checked.time.value == 15);
}

TEST_CASE("every option of a check reaches its runs, and each run has what the runs before it left of the time") {
  const ExpBench bench;
  const Reference reference = evaluate_reference(bench.group, 1);
  std::stop_source source;
  CheckOptions options;
  options.seed = 7;
  options.threads = 3;
  options.sanitize = false;
  options.count_cache = true;
  options.sample_blocks = 22;
  options.time_limit = {20};
  options.most_memory = 12345;
  options.machine.sms = 17;
  options.stop = source.get_token();
  std::vector<double> limits;
  const auto execute = [&](const GivenInputs&, const simulator::SimulationOptions& how) {
    CHECK(how.seed == 7);
    CHECK(how.threads == 3);
    CHECK_FALSE(how.sanitize);
    CHECK(how.count_cache);
    CHECK(how.most_lazy_bytes == 12345);
    CHECK(how.machine.sms == 17);
    CHECK(how.stop == source.get_token());
    limits.push_back(how.time_limit.value);
    Executed run = ExpBench::right(reference, std::ssize(how.blocks));
    run.simulation.time = {7};
    return run;
  };
  (void)check(bench.kernel, reference, execute, options);
  CHECK(limits == std::vector<double>{20, 13, 6, 0, 0});
}

TEST_CASE("of several runs the worst error and all findings are kept, and a finding is told with what is wrong") {
  const ExpBench bench;
  const Reference reference = evaluate_reference(bench.group, 1);
  const std::size_t wide = wide_element(reference);
  int run_number = 0;
  bool finds = false;
  double part = 0.5;
  const auto execute = [&](const GivenInputs&, const simulator::SimulationOptions& how) {
    Executed run = ExpBench::right(reference, std::ssize(how.blocks));
    if (run_number == 1) shift(run.after[0], reference, wide, part);
    if (run_number < 2 && finds) run.simulation.findings.resize(1);
    ++run_number;
    return run;
  };
  CheckOptions options;
  options.sample_blocks = 22;
  const Checked right = check(bench.kernel, reference, execute, options);
  CHECK(right.state == Verdict::passed);
  CHECK(right.worst > 0.3);
  CHECK(right.worst < 0.7);
  CHECK(right.results == 5 * 800);
  run_number = 0;
  finds = true;
  part = 40;
  const Checked both = check(bench.kernel, reference, execute, options);
  CHECK(both.state == Verdict::unsound);
  CHECK(both.findings.size() == 2);
  CHECK(both.worst > 30);
  CHECK(both.reason.find("; y: 1 of 800 elements is wrong; [") != std::string::npos);
}

TEST_CASE("a few bytes may be stored and be what was there before, where other results tell; eight may not") {
  for (const auto& [elements, state] : {std::pair(1, Verdict::passed), std::pair(2, Verdict::wrong)}) {
    ir::Group group;
    group.graph = ir::parse_graph(fmt::format(
        "graph g {{\n  %x = parameter 0 : f32[100]\n  %s = parameter 1 : f32[{0}]\n  %y = exp %x : f32[100]\n"
        "  %t = negate %s : f32[{0}]\n  output %y, %t\n}}\n",
        elements));
    const Reference reference = evaluate_reference(group, 1);
    ir::Kernel kernel;
    kernel.buffers = {{"x", ir::DType::f32, 100, ir::BufferRole::input},
                      {"s", ir::DType::f32, elements, ir::BufferRole::input},
                      {"y", ir::DType::f32, 100, ir::BufferRole::output},
                      {"t", ir::DType::f32, elements, ir::BufferRole::output}};
    kernel.grid = 1;
    const auto execute = [&](const GivenInputs&, const simulator::SimulationOptions&) {
      Executed run;
      for (const reference::BoundedTensor& output : reference.outputs) run.after.push_back(output.value.bytes);
      run.before = run.after;
      run.before[0].assign(400, std::byte{0xab});
      return run;
    };
    CHECK(check(kernel, reference, execute, {}).state == state);
    kernel.buffers[3].role = ir::BufferRole::in_place;  // what is written in place may stay as it was
    CHECK(check(kernel, reference, execute, {}).state == Verdict::passed);
  }
}

TEST_CASE("the first seed under which a kernel is not right is its verdict, and later ones are not run") {
  const ExpBench bench;
  const ir::Binary binary;
  const std::vector<CheckRequest> requests{{&bench.group, &bench.kernel, &binary, {}}};
  for (const int wrong_from : {0, 1, 2, 9}) {
    CAPTURE(wrong_from);
    int runs = 0;
    CheckStage stage;
    stage.workers = 1;
    stage.seeds = 3;
    stage.each.seed = 11;
    stage.executor = [&](const ir::Kernel&, const ir::Binary&) {
      return [&](const GivenInputs& given, const simulator::SimulationOptions& how) {
        CHECK(how.seed == 11 + static_cast<std::uint64_t>(runs));
        const Reference reference = evaluate_reference(bench.group, how.seed);
        CHECK(given.tensors[0].bytes == reference.inputs[0].bytes);
        Executed run = ExpBench::right(reference, 100);
        // Seed 11 is half a bound off, the others nothing, until one is wrong.
        if (runs == 0) shift(run.after[0], reference, wide_element(reference), 0.5);
        if (runs >= wrong_from) shift(run.after[0], reference, wide_element(reference), 40);
        run.simulation.counters.lane_instructions = 1000;
        ++runs;
        return run;
      };
    };
    const CheckedAll all = check_all(requests, stage);
    const Checked& verdict = *all.verdicts[0];
    CHECK(verdict.state == (wrong_from < 3 ? Verdict::wrong : Verdict::passed));
    CHECK(runs == std::min(wrong_from + 1, 3));
    CHECK(verdict.lane_instructions == 1000 * runs);
    if (wrong_from < 3) CHECK(verdict.worst > 30);
    if (wrong_from == 9) CHECK(verdict.worst == approx(0.5).epsilon(0.4));
    CHECK(all.account.references == 1);
    CHECK(all.account.lane_instructions == 1000.0 * runs);
  }
}

TEST_CASE("kernels of another arithmetic are held against bounds of their own, whichever comes first") {
  const ExpBench bench;
  const auto reference_of = [&](ir::Arithmetic arithmetic) {
    return evaluate_reference(bench.group, 1, nullptr, {}, {.arithmetic = arithmetic});
  };
  const Reference exact = reference_of(ir::Arithmetic::ieee), loose = reference_of(ir::Arithmetic::approx);
  std::size_t at = 0;
  for (std::size_t i = 0; i < exact.outputs[0].error.size(); ++i)
    if (loose.outputs[0].error[i] > loose.outputs[0].error[at] && loose.outputs[0].error[i] < 1) at = i;
  REQUIRE(loose.outputs[0].error[at] > 2.5 * exact.outputs[0].error[at]);
  const ir::Binary binary;
  ir::Kernel of_ieee = bench.kernel, of_approx = bench.kernel;
  of_ieee.arithmetic = ir::Arithmetic::ieee;
  of_approx.arithmetic = ir::Arithmetic::approx;
  CheckStage stage;
  stage.workers = 1;
  stage.executor = [&](const ir::Kernel&, const ir::Binary&) {
    return [&](const GivenInputs&, const simulator::SimulationOptions&) {
      Executed run = ExpBench::right(exact, 100);
      shift(run.after[0], loose, at, 0.6);
      return run;
    };
  };
  for (const bool exact_first : {false, true}) {
    std::vector<CheckRequest> requests{{&bench.group, &of_approx, &binary, {}}, {&bench.group, &of_ieee, &binary, {}}};
    if (exact_first) std::swap(requests[0], requests[1]);
    const CheckedAll all = check_all(requests, stage);
    CHECK(all.verdicts[exact_first ? 1 : 0]->state == Verdict::passed);
    CHECK(all.verdicts[exact_first ? 0 : 1]->state == Verdict::wrong);
    CHECK(all.account.references == 2);
  }
}

TEST_CASE("what an execution takes, to the byte: arrays, outputs before and after, records of what may be written") {
  ir::Kernel kernel;
  kernel.buffers = {{"x", ir::DType::f32, 1000, ir::BufferRole::input},
                    {"y", ir::DType::f16, 500, ir::BufferRole::output},
                    {"w", ir::DType::f64, 10, ir::BufferRole::workspace}};
  kernel.grid = 1 << 20;
  // 4,000 + 1,000 + 80 bytes; the output four times more; 20 bytes of records for each element of 4 bytes or fewer.
  CHECK(bytes_to_execute(kernel, false, 0) == 5080 + 4 * 1000);
  CHECK(bytes_to_execute(kernel, true, 0) == 5080 + 4 * 1000 + 500 * 20 + 20 * 20);
  // Of two blocks: their share of an array rounded up, with a piece at each end of each block's part; no small array.
  kernel.buffers[0].elements = 1 << 28;
  kernel.buffers[1].elements = 1 << 27;
  const std::int64_t ends = 2 * 2 * simulator::lazy_piece_bytes;
  CHECK(bytes_to_execute(kernel, false, 2) == (2048 + ends) + (512 + ends) + 80 + 2 * (512 + ends));
  CHECK(bytes_to_execute(kernel, true, 2) ==
        (2048 + ends) + (512 + ends) + 80 + 2 * (512 + ends) + (512 + ends) / 2 * 20 + 400);
  const ir::Graph graph = ir::parse_graph(
      "graph g {\n  %x = parameter 0 : f32[8,3]\n  %z = parameter 1 : f16[5]\n  %y = exp %x : f32[8,3]\n  output "
      "%y\n}\n");
  CHECK(bytes_of_inputs(graph) == 96 + 10);
}

TEST_CASE("a small shape has four blocks, a persistent one enough for every block to go round twice") {
  ir::Kernel whole;
  for (const auto& [persistent, virtual_blocks, grid, blocks] :
       {std::tuple(false, 100, 100, 4), std::tuple(false, 4, 4, 4), std::tuple(false, 3, 3, 3),
        std::tuple(true, 100, 8, 17), std::tuple(true, 17, 8, 17), std::tuple(true, 16, 8, 16),
        std::tuple(true, 100, 1, 3)}) {
    whole.persistent = persistent;
    whole.virtual_blocks = virtual_blocks;
    whole.grid = grid;
    CHECK(blocks_of_small(whole) == blocks);
  }
}
