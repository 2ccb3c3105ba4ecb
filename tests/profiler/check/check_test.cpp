// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Verdicts, with a stand-in for the simulator: outputs, findings and endings of an execution are made up here, so that
// each can be tried apart, and the verdict must follow from them and from the reference alone. Which blocks a sample
// runs and which inputs are tried is looked at too. Part of the suite `profiler`; needs no compiler.
#include "profiler/check/check.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/parallel.h"
#include "profiler/check/parts.h"
#include "reference/evaluate_cells.h"
#include "reference/inputs.h"
#include "support/approx.h"
#include "support/group_family.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

/// A group, its reference, and as much of a kernel as a verdict looks at.
struct CheckBench {
  ir::Group group = ir::make_group(ir::family_member("layernorm_f16"), 4, 64);
  Reference reference = evaluate_reference(group, 1);
  ir::Kernel kernel;

  CheckBench() {
    for (const reference::Tensor& input : reference.inputs)
      kernel.buffers.push_back({"in", input.shape.dtype, ir::elements(input.shape), ir::BufferRole::input});
    for (const reference::BoundedTensor& output : reference.outputs)
      kernel.buffers.push_back(
          {"out", output.value.shape.dtype, ir::elements(output.value.shape), ir::BufferRole::output});
    kernel.grid = 100;
    kernel.threads = 128;
  }
  /// A right execution of all blocks.
  Executed right() const {
    Executed run;
    for (const reference::BoundedTensor& output : reference.outputs) {
      run.before.emplace_back(output.value.bytes.size(), std::byte{0xab});
      run.after.push_back(output.value.bytes);
    }
    run.simulation.blocks_run = run.simulation.blocks_total = kernel.grid;
    run.simulation.counters.instructions = 1000;
    run.simulation.buffers.resize(kernel.buffers.size());
    run.simulation.buffers[0].load = {10, 40, 1280};
    return run;
  }
  Checked verdict(const Executor& execute, const CheckOptions& options = {}) const {
    return check(kernel, reference, execute, options);
  }
  Checked verdict(Executed run) const {
    return verdict([run](std::span<const reference::Tensor>, const simulator::SimulationOptions&) { return run; });
  }
};

simulator::Finding finding(simulator::FindingKind kind) {
  simulator::Finding one;
  one.kind = kind;
  one.text = "shared memory: two threads";
  return one;
}

}  // namespace

TEST_CASE("a reference in parts makes what is the same for all parts no more often than the rest") {
  const auto parts_of_rows = [](std::string_view table, int rows) {
    const ir::Graph graph = ir::parse_graph(fmt::format(
        "graph rows {{\n  %t = parameter 0 : f32[20000,64]\n  %i = parameter 1 : s32[{0},1]\n{1}"
        "  %g = gather %s, %i, text=\"offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
        "index_vector_dim=1, slice_sizes={{1,64}}\" : f32[{0},64]\n  %e = exp %g : f32[{0},64]\n"
        "  output %e\n}}\n",
        rows, table));
    ir::verify(graph);
    const std::optional<profiler::Parts> parts = profiler::parts_of(graph);
    REQUIRE(parts);
    return (rows + parts->steps_at_once - 1) / parts->steps_at_once;
  };
  const std::string_view scaled = "  %s = add %t, %t : f32[20000,64]\n", plain = "  %s = copy %t : f32[20000,64]\n";
  CHECK(parts_of_rows(scaled, 512) == 1);  // the table is 20 times as much as the rows
  CHECK(parts_of_rows(plain, 512) == 1);
  CHECK(parts_of_rows(scaled, 200000) <= 20);  // the rows are 20 times the table, in two operations
  CHECK(parts_of_rows(scaled, 200000) >= 2);
}

TEST_CASE("a right execution passes with its counts") {
  const CheckBench bench;
  const Checked checked = bench.verdict(bench.right());
  CHECK(checked.state == Verdict::passed);
  CHECK(checked.reason.empty());
  CHECK(checked.worst == 0);
  CHECK(checked.counts.instructions == 1000);
  CHECK(checked.counts.buffers[0].load == ir::AccessCounts{10, 40, 1280});
  CHECK(checked.counts.standard_error == 0);
}

TEST_CASE("one wrong element is a wrong kernel, and the reason says which") {
  const CheckBench bench;
  Executed run = bench.right();
  run.after[1][4 * 2 + 3] ^= std::byte{0x40};  // the mean of the third row
  const Checked checked = bench.verdict(run);
  CHECK(checked.state == Verdict::wrong);
  CHECK(checked.worst > 1);
  CHECK(checked.reason.find("1 of 4 elements is wrong; [2] is") != std::string::npos);
}

TEST_CASE("an output that was not written is wrong") {
  const CheckBench bench;
  Executed run = bench.right();
  run.after[0] = run.before[0];
  CHECK(bench.verdict(run).state == Verdict::wrong);
}

TEST_CASE("a finding refutes a kernel whose results are right") {
  const CheckBench bench;
  Executed run = bench.right();
  run.simulation.findings.push_back(finding(simulator::FindingKind::race));
  const Checked checked = bench.verdict(run);
  CHECK(checked.state == Verdict::unsound);
  CHECK(checked.reason.find("two threads") != std::string::npos);
  CHECK(is_refuted(checked.state));
}

TEST_CASE("advice refutes no kernel, and hides no error") {
  const CheckBench bench;
  Executed run = bench.right();
  run.simulation.findings.push_back(finding(simulator::FindingKind::bad_mask));
  run.simulation.findings.back().severity = simulator::Severity::advice;
  CHECK(bench.verdict(run).state == Verdict::passed);
  CHECK(bench.verdict(run).findings.size() == 1);
  run.simulation.findings.push_back(finding(simulator::FindingKind::race));
  CHECK(bench.verdict(run).state == Verdict::unsound);
  CHECK(bench.verdict(run).reason.starts_with("race"));
}

TEST_CASE("how a simulation ends decides what is known of the kernel") {
  using simulator::SimulationOutcome;
  const CheckBench bench;
  Executed run = bench.right();
  run.simulation.reason = "why";
  run.simulation.outcome = SimulationOutcome::unsupported;
  CHECK(bench.verdict(run).state == Verdict::not_executed);
  run.simulation.outcome = SimulationOutcome::out_of_memory;
  CHECK(bench.verdict(run).state == Verdict::not_executed);
  CHECK(bench.verdict(run).judged == 0);
  run.simulation.outcome = SimulationOutcome::refused;
  CHECK(bench.verdict(run).state == Verdict::unsound);
  run.simulation.outcome = SimulationOutcome::stopped;
  CHECK(bench.verdict(run).state == Verdict::timed_out);
  run.simulation.findings.push_back(finding(simulator::FindingKind::deadlock));
  CHECK(bench.verdict(run).state == Verdict::unsound);
  std::stop_source source;
  source.request_stop();
  CheckOptions options;
  options.stop = source.get_token();
  const auto execute = [&](std::span<const reference::Tensor>, const simulator::SimulationOptions&) { return run; };
  CHECK(bench.verdict(execute, options).state == Verdict::stopped);
}

TEST_CASE("a sample runs the first, the last and random blocks, judges what they wrote and scales what they did") {
  const CheckBench bench;
  std::set<std::int64_t> ran;
  int runs = 0;
  const auto execute = [&](std::span<const reference::Tensor>, const simulator::SimulationOptions& options) {
    Executed run = bench.right();
    ++runs;
    CHECK(!options.blocks.empty());
    CHECK(std::is_sorted(options.blocks.begin(), options.blocks.end()));
    ran.insert(options.blocks.begin(), options.blocks.end());
    run.simulation.blocks_run = static_cast<std::int64_t>(options.blocks.size());
    run.simulation.counters.instructions = 7 * run.simulation.blocks_run;
    run.after[0] = run.before[0];  // nothing of the first output was written by these blocks
    return run;
  };
  CheckOptions options;
  options.sample_blocks = 22;
  const Checked checked = bench.verdict(execute, options);
  CHECK(checked.state == Verdict::passed);
  CHECK(runs == 5);
  CHECK(ran.contains(0));
  CHECK(ran.contains(99));
  CHECK(ran.size() <= 22);
  CHECK(checked.counts.instructions == approx(700));
  CHECK(checked.counts.standard_error == approx(0));
  CHECK(checked.counts.blocks_run < checked.counts.blocks_total);
}

TEST_CASE("roots of negative numbers are checked on positive inputs") {
  ir::Group group;
  group.graph =
      ir::parse_graph("graph g {\n  %x = parameter 0 : f32[100]\n  %y = sqrt %x : f32[100]\n  output %y\n}\n");
  const Reference reference = evaluate_reference(group, 1);
  CHECK(reference.judged == 1);
}

TEST_CASE("edges are drawn so that every element can be judged, and some are infinite and no number") {
  for (const char* member : {"bias_gelu_f16", "softmax", "layernorm_f16", "rms_residual_bf16", "slice_reverse"}) {
    CAPTURE(member);
    const Reference reference = evaluate_reference(ir::make_group(ir::family_member(member), 48, 96), 1);
    CHECK(reference.judged == 1);
    CHECK(reference.inputs_are == "as their uses ask, with edges, infinities and NaN");
  }
}

TEST_CASE("integers that are masks are made ones where others leave nothing to judge") {
  ir::Group group;
  group.graph = ir::parse_graph(R"(graph g {
  %x = parameter 0 : f16[4,8]
  %m = parameter 1 : s32[4,8]
  %lowest = constant -10000 : f16[]
  %l = broadcast %lowest : f16[4,8]
  %f = convert %m : f16[4,8]
  %a = multiply %f, %l : f16[4,8]
  %y = add %x, %a : f16[4,8]
  %e = exp %y : f16[4,8]
  %d = divide %e, %e : f16[4,8]
  %z = subtract %y, %y : f16[4,8]
  output %z
})");
  const Reference reference = evaluate_reference(group, 1);
  CHECK(reference.inputs_are.find("integers 0 or 1") != std::string::npos);
  CHECK(reference.judged >= 0.95);  // an edge beside a mask may overflow f16
}

TEST_CASE("a group that the reference has no semantics for is not executed") {
  CheckBench bench;
  bench.reference.reason = "no semantics for rng";
  const auto never = [](std::span<const reference::Tensor>, const simulator::SimulationOptions&) -> Executed {
    FAIL("must not run");
    return {};
  };
  const Checked checked = bench.verdict(never);
  CHECK(checked.state == Verdict::not_executed);
  CHECK(checked.reason == "no semantics for rng");
}

TEST_CASE("a group that no machine can hold is not evaluated, and takes no memory") {
  const ir::Group group = ir::make_group(ir::family_member("layernorm_f16"), std::int64_t{1} << 32, 1 << 10);
  const Reference reference = evaluate_reference(group, 1);
  CHECK(reference.reason.starts_with("needs "));
  CHECK(reference.reason.ends_with(" free for it; --blocks or --shape small takes less"));
  CHECK(reference.reason.find("--memory") == std::string::npos);  // the machine has not that much
  CHECK(reference.inputs.empty());
}

TEST_CASE("what ran and cannot be judged has a state of its own, unless it stored nothing at all") {
  ir::Group group;
  group.graph = ir::parse_graph(
      "graph g {\n  %x = parameter 0 : f32[100]\n  %z = subtract %x, %x : f32[100]\n"
      "  %y = divide %z, %z : f32[100]\n  output %y\n}\n");
  const Reference reference = evaluate_reference(group, 1);
  ir::Kernel kernel;
  kernel.buffers = {{"x", ir::DType::f32, 100, ir::BufferRole::input},
                    {"y", ir::DType::f32, 100, ir::BufferRole::output}};
  kernel.grid = 1;
  Executed run;
  run.before = {std::vector<std::byte>(400, std::byte{0xff})};  // NaN, which is what has to be there
  run.after = {reference.outputs[0].value.bytes};
  const auto verdict = [&](const Executed& one) {
    return check(kernel, reference,
                 [&](std::span<const reference::Tensor>, const simulator::SimulationOptions&) { return one; }, {});
  };
  const Checked ran = verdict(run);
  CHECK(ran.state == Verdict::not_judged);
  CHECK(name(ran.state) == "not judged");
  CHECK(ran.reason == "no result can be compared: each is NaN or beyond its type, as it has to be on these inputs");
  CHECK(ran.judged == 0);
  CHECK_FALSE(is_refuted(ran.state));
  run.after = run.before;
  const Checked idle = verdict(run);
  CHECK(idle.state == Verdict::wrong);
  CHECK(idle.reason == "y: nothing was stored there");
}

TEST_CASE("a verdict carries the fraction of the results that was judged") {
  CheckBench bench;
  Reference& reference = bench.reference;
  CHECK(bench.verdict(bench.right()).judged == 1);
  std::int64_t all = 0;
  for (const reference::BoundedTensor& output : reference.outputs) all += ir::elements(output.value.shape);
  reference.outputs[0].error.assign(static_cast<std::size_t>(ir::elements(reference.outputs[0].value.shape)), 0);
  for (std::size_t i = 0; i < 64; ++i) reference.outputs[0].error[i] = reference::infinity;
  const Checked part = bench.verdict(bench.right());
  CHECK(part.state == Verdict::passed);
  CHECK(part.judged == approx(1 - 64.0 / static_cast<double>(all)));
}

TEST_CASE("a reference put together from parts is the reference of the whole, bit by bit") {
  for (const char* member : {"softmax", "layernorm_f16"}) {
    CAPTURE(member);
    const ir::Group group = ir::make_group(ir::family_member(member), 41, 64);
    std::optional<Parts> parts = parts_of(group.graph);
    REQUIRE(parts);
    const std::vector<reference::Tensor> inputs =
        reference::sensible_inputs(group.graph, 5, reference::Edges::not_finite);
    const auto whole = reference::evaluate_with_error_bounds(group.graph, inputs);
    int threads = 0;
    for (const std::int64_t steps : {1, 7, 41, 1, 7}) {
      parts->steps_at_once = steps;
      const ThreadLimit limit(++threads);
      CAPTURE(threads);
      const auto all = evaluate_all(*parts, inputs);
      REQUIRE(all.size() == whole.size());
      for (std::size_t k = 0; k < all.size(); ++k) {
        CHECK(all[k].value.bytes == whole[k].value.bytes);
        CHECK(all[k].error == whole[k].error);
      }
    }
  }
}

TEST_CASE("an evaluation that is asked to stop ends, and is nobody's verdict") {
  const ir::Group group = ir::make_group(ir::family_member("softmax"), 40, 64);
  std::stop_source source;
  source.request_stop();
  const auto fault_of = [](auto&& work) -> std::optional<Fault> {
    try {
      work();
      return {};
    } catch (const Error& error) {
      return error.fault;
    }
  };
  CHECK(fault_of([&] { evaluate_reference(group, 1, nullptr, source.get_token()); }) == Fault::interrupted);
  const auto inputs = reference::sensible_inputs(group.graph, 1);
  CHECK(fault_of([&] { reference::evaluate(group.graph, inputs, source.get_token()); }) == Fault::interrupted);
  CHECK(fault_of([&] { reference::evaluate_with_error_bounds(group.graph, inputs, {}, source.get_token()); }) ==
        Fault::interrupted);
  // Inside an operation: no more than the block that is being looked at.
  std::stop_source later;
  std::int64_t seen = 0;
  const reference::Tensor large = reference::zeros(ir::make_shape(ir::DType::f32, {1 << 20}));
  const auto look = [&](std::int64_t, double) {
    ++seen;
    later.request_stop();
  };
  CHECK(fault_of([&] { reference::each_real(large, look, later.get_token()); }) == Fault::interrupted);
  CHECK(seen == reference::block_cells);
}

TEST_CASE("of a launch that is too large a sample runs, but not where blocks add up what others wrote") {
  ir::Kernel kernel;
  kernel.grid = 1 << 16;
  kernel.buffers = {{"x", ir::DType::f32, 1 << 26, ir::BufferRole::input},
                    {"y", ir::DType::f32, 1 << 26, ir::BufferRole::output}};
  CheckOptions options;
  CHECK(blocks_to_run(kernel, options) == 0);
  options.most_elements = default_most_elements;
  CHECK(blocks_to_run(kernel, options) == kernel.grid * sampled_elements / (1 << 26));
  kernel.grid = 512;  // of 131,072 elements each
  CHECK(blocks_to_run(kernel, options) == 64);
  kernel.grid = 264;
  kernel.buffers[1].elements = 1 << 28;
  CHECK(blocks_to_run(kernel, options) == 16);
  kernel.buffers[1].elements = 1 << 30;
  CHECK(blocks_to_run(kernel, options) == 6);
  kernel.buffers[1].elements = 1 << 26;
  kernel.grid = 1 << 16;
  options.sample_blocks = 100;
  CHECK(blocks_to_run(kernel, options) == 100);
  options.sample_blocks = 0;
  kernel.buffers[1].elements = kernel.buffers[0].elements = default_most_elements;
  CHECK(blocks_to_run(kernel, options) == 0);
  // Each array may be so large, nine of them may not.
  for (int i = 0; i < 7; ++i)
    kernel.buffers.push_back({"more", ir::DType::f32, default_most_elements, ir::BufferRole::input});
  CHECK(blocks_to_run(kernel, options) == kernel.grid * sampled_elements / default_most_elements);
  kernel.buffers.resize(2);
  kernel.buffers[0].elements = 1 << 26;
  kernel.buffers.push_back({"tickets", ir::DType::u32, 1, ir::BufferRole::ticket});
  CHECK(blocks_to_run(kernel, options) == 0);
  kernel.buffers.pop_back();
  kernel.cooperative = true;
  CHECK(blocks_to_run(kernel, options) == 0);
}

TEST_CASE("only rows that do not know their number are taken apart") {
  const auto has_parts = [](const std::string& lines) {
    return parts_of(ir::parse_graph("graph g {\n  %x = parameter 0 : f32[8,4]\n" + lines + "}\n")).has_value();
  };
  CHECK(has_parts("  %y = exp %x : f32[8,4]\n  output %y\n"));
  CHECK_FALSE(has_parts("  %y = reverse %x, axes={0} : f32[8,4]\n  output %y\n"));
  CHECK(has_parts("  %y = reverse %x, axes={1} : f32[8,4]\n  output %y\n"));
  CHECK_FALSE(has_parts("  %n = iota, axes={0} : f32[8,4]\n  %y = add %x, %n : f32[8,4]\n  output %y\n"));
  CHECK(has_parts("  %n = iota, axes={1} : f32[8,4]\n  %y = add %x, %n : f32[8,4]\n  output %y\n"));
}

TEST_CASE("outputs are compared where their layout puts them") {
  ir::Group group;
  group.graph = ir::parse_graph(
      "graph g {\n  %x = parameter 0 : f32[2,3]\n  %y = transpose %x, axes={1,0} : f32[3,2]{0,1}\n  output %y\n}\n");
  const Reference reference = evaluate_reference(group, 1);
  ir::Kernel kernel;
  kernel.buffers = {{"x", ir::DType::f32, 6, ir::BufferRole::input}, {"y", ir::DType::f32, 6, ir::BufferRole::output}};
  kernel.grid = 1;
  const auto copies = [](std::span<const reference::Tensor> inputs, const simulator::SimulationOptions&) {
    Executed run;
    run.before = {std::vector<std::byte>(24)};
    run.after = {inputs[0].bytes};  // a transpose into the other layout moves nothing
    return run;
  };
  CHECK(check(kernel, reference, copies, {}).state == Verdict::passed);
}
