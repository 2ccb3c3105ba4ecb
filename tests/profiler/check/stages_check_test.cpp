// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches in steps with the real compiler, the simulator and the stand-in GPU: real blocks loop over virtual ones,
// meet, and go on; what they count is what the model counts, but for looks at the ticket. Launches of bodies side by
// side that form clusters, meet, or loop. And launches with one mistake each. In: groups with plans by hand. Part of
// the suite `profiler`; skipped without NVRTC, and in part without CUDA's headers.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "codegen/cuda/cuda.h"
#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "costmodel/model.h"
#include "ir/device.h"
#include "ir/graph/graph_parse.h"
#include "profiler/check/check.h"
#include "profiler/check/simulate.h"
#include "profiler/compile/machine_work.h"
#include "profiler/gpu/fake_machine.h"
#include "profiler/gpu/request/request_text.h"
#include "profiler/measure/sequence_of.h"
#include "profiler/measure/test_worker.h"
#include "profiler/measure/worker.h"
#include "support/kernel_cache.h"
#include "support/paths.h"
#include "tests/profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

struct Staged {
  ir::Group group;
  ir::Kernel kernel;
};

Staged staged(const std::string& graph, const std::string& plan) {
  Staged made;
  made.group.graph = ir::parse_graph(graph);
  verify(made.group.graph);
  made.group.id = id_of(std::string_view(canonical_text(made.group.graph)));
  codegen::Lowered lowered = codegen::lower(made.group, ir::parse_plan(plan),
                                            ir::limits(ir::find_device("h200", source_folder() + "/data/devices")));
  if (const auto* refused = std::get_if<ir::Rejection>(&lowered)) FAIL(refused->rule << ": " << refused->reason);
  made.kernel = std::get<ir::Kernel>(std::move(lowered));
  return made;
}

/// Rows of several warps each, which meet in shared memory and are more than the blocks; then columns.
Staged rows_then_columns() {
  return staged(R"(graph rows_then_columns {
  %x = parameter 0 : f32[700,96]
  %z = constant 0 : f32[]
  %s = reduce add %x, %z, axes={1} : f32[700]
  %sb = broadcast %s, axes={0} : f32[700,96]
  %y = divide %x, %sb : f32[700,96]
  %c = reduce max %y, %z, axes={0} : f32[96]
  %cb = broadcast %c, axes={1} : f32[700,96]
  %w = subtract %y, %cb : f32[700,96]
  output %w
}
)",
                "stages threads=64 homes=%2@grid,%5@grid grid=persistent blocks_per_sm=1 index_cache=on value_cache=on "
                "arithmetic=ieee || row dominant=%2 threads_per_row=64 vector=1 in_flight=1 split=1 "
                "homes=%0@register || map dominant=%7 vector=4 unroll=1");
}

/// Rows of two warps, which meet in shared memory, and are more than the blocks; then rows of their sums.
Staged rows_then_rows() {
  return staged(R"(graph rows_then_rows {
  %x = parameter 0 : f32[700,96]
  %z = constant 0 : f32[]
  %s = reduce add %x, %z, axes={1} : f32[700]
  %r = reshape %s : f32[7,100]
  %t = reduce max %r, %z, axes={1} : f32[7]
  output %t
}
)",
                "stages threads=64 homes=%2@grid grid=persistent blocks_per_sm=1 index_cache=on value_cache=on "
                "arithmetic=ieee || row dominant=%2 threads_per_row=64 vector=1 in_flight=1 split=1 || row dominant=%4 "
                "threads_per_row=32 vector=1 in_flight=1 split=1");
}

/// A pack of two sums of which one has many blocks, then what needs both.
Staged sums_then_map() {
  return staged(R"(graph sums_then_map {
  %a = parameter 0 : f32[256,300]
  %b = parameter 1 : f32[5000]
  %z = constant 0 : f32[]
  %sa = reduce add %a, %z, axes={0,1} : f32[]
  %sb = reduce add %b, %z, axes={0} : f32[]
  %s = add %sa, %sb : f32[]
  %na = broadcast %s : f32[256,300]
  %ya = divide %a, %na : f32[256,300]
  output %ya
}
)",
                "stages threads=128 homes=%3@grid,%4@grid grid=persistent blocks_per_sm=2 index_cache=on "
                "value_cache=on arithmetic=ieee || pack | row dominant=%3 threads_per_row=128 vector=4 in_flight=1 "
                "split=30 | row dominant=%4 threads_per_row=128 vector=4 in_flight=1 split=1 || map dominant=%7 "
                "vector=4 unroll=1");
}

/// Two loops that need the same and not one another: blocks go from one to the other without meeting. Each has fewer
/// virtual blocks than there are blocks.
Staged two_of_a_level() {
  return staged(R"(graph two_of_a_level {
  %x = parameter 0 : f32[300,64]
  %y = parameter 1 : f32[200,300]
  %z = constant 0 : f32[]
  %s = reduce add %x, %z, axes={1} : f32[300]
  %m = negate %s : f32[300]
  %mb = broadcast %m, axes={1} : f32[200,300]
  %p = add %y, %mb : f32[200,300]
  %r = reduce add %p, %z, axes={1} : f32[200]
  %a = reduce min %m, %z, axes={0} : f32[]
  %ab = broadcast %a : f32[200]
  %o = add %r, %ab : f32[200]
  output %o
}
)",
                "stages threads=128 homes=%3@grid,%7@grid,%8@grid grid=persistent blocks_per_sm=1 index_cache=on "
                "value_cache=on arithmetic=ieee || row dominant=%3 threads_per_row=32 vector=1 in_flight=1 split=1 || "
                "row dominant=%7 threads_per_row=64 vector=1 in_flight=1 split=1 || row dominant=%8 "
                "threads_per_row=128 vector=1 in_flight=1 split=1 || map dominant=%10 vector=1 unroll=1");
}

/// Side by side: clusters of two blocks for few rows, blocks that are an odd number without them, and clusters again.
Staged clusters_beside() {
  return staged(R"(graph clusters_beside {
  %x = parameter 0 : f32[6,1000]
  %u = parameter 1 : f32[3,600]
  %w = parameter 2 : f32[4900]
  %z = constant 0 : f32[]
  %s = reduce add %x, %z, axes={1} : f32[6]
  %sb = broadcast %s, axes={0} : f32[6,1000]
  %y = divide %x, %sb : f32[6,1000]
  %t = reduce add %u, %z, axes={1} : f32[3]
  %tb = broadcast %t, axes={0} : f32[3,600]
  %v = divide %u, %tb : f32[3,600]
  %n = negate %w : f32[4900]
  output %y, %v, %n
}
)",
                "pack threads=128 index_cache=on value_cache=on arithmetic=ieee | row dominant=%4 threads_per_row=128 "
                "vector=2 in_flight=1 split=1 cluster=2 homes=%0@register | map dominant=%10 vector=1 unroll=1 | row "
                "dominant=%7 threads_per_row=128 vector=1 in_flight=1 split=1 cluster=2 homes=%1@register");
}

/// Side by side: blocks that share rows and meet, a flat loop and rows of two warps whose blocks loop so that all are
/// resident, and columns whose blocks put their parts together.
Staged meetings_beside() {
  return staged(R"(graph meetings_beside {
  %x = parameter 0 : f32[4,5000]
  %u = parameter 1 : f32[300,96]
  %w = parameter 2 : f32[40000]
  %c = parameter 3 : f32[512,24]
  %z = constant 0 : f32[]
  %s = reduce add %x, %z, axes={1} : f32[4]
  %sb = broadcast %s, axes={0} : f32[4,5000]
  %y = divide %x, %sb : f32[4,5000]
  %t = reduce add %u, %z, axes={1} : f32[300]
  %tb = broadcast %t, axes={0} : f32[300,96]
  %v = divide %u, %tb : f32[300,96]
  %n = negate %w : f32[40000]
  %k = reduce add %c, %z, axes={0} : f32[24]
  output %y, %v, %n, %k
}
)",
                "pack threads=128 index_cache=on value_cache=on arithmetic=ieee | map dominant=%11 vector=1 unroll=1 "
                "grid=persistent blocks_per_sm=1 | row dominant=%8 threads_per_row=64 vector=1 in_flight=1 split=1 "
                "homes=%1@register grid=persistent blocks_per_sm=1 | row dominant=%5 threads_per_row=128 vector=4 "
                "in_flight=1 split=8 meet=grid homes=%0@register | column dominant=%12 threads_per_row=8 vector=1 "
                "in_flight=1 split=4");
}

ir::Binary compiled_stages(const Nvrtc& api, const ir::Kernel& kernel, const std::string& arch = "sm_90") {
  ir::Binary binary =
      kernels::compiled(api, {.cuda = codegen::cuda(kernel), .entry = kernel.name, .followers = {}, .arch = arch});
  REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
  return binary;
}

Checked checked_stages(const Nvrtc& api, const Staged& one) {
  const ir::Binary binary = compiled_stages(api, one.kernel);
  CheckOptions options;
  options.count_cache = true;
  options.machine.l2_bytes = std::int64_t{1} << 26;
  return check(one.kernel, evaluate_reference(one.group, 1), make_simulator(one.kernel, binary), options);
}

}  // namespace

TEST_CASE("stages pass under sanitizers, and what they count is what the model counts") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  for (const Staged& one : {rows_then_columns(), rows_then_rows(), sums_then_map(), two_of_a_level()}) {
    CAPTURE(one.kernel.name);
    const Checked checked = checked_stages(*api, one);
    CHECK_MESSAGE(checked.state == Verdict::passed, checked.reason);
    CHECK(checked.findings.empty());
    CHECK(checked.judged == 1);
    CHECK(checked.counts.blocks_run == one.kernel.grid);
    const costmodel::Work work = costmodel::count(one.kernel, costmodel::Mode::exact);
    // What a step reads of another one's writing, or of its own, lies in L2: memory has but the inputs, and a sector of
    // each counter that blocks meet at.
    const double read = costmodel::model_count(work, "dram_read_bytes").value_or(0);
    CHECK(checked.counts.dram_read_bytes >= read);
    CHECK(checked.counts.dram_read_bytes <= read + 32.0 * static_cast<double>(one.kernel.buffers.size()));
    for (const ir::CounterRow& row : ir::counter_table()) {
      CAPTURE(row.name);
      if (row.name == "shared_load_requests" || row.name == "shared_store_requests" || row.name == "shuffles" ||
          row.name == "block_barriers")
        CHECK(checked.counts.*row.launch == costmodel::model_count(work, row.name));
      if (row.direction == nullptr) continue;
      for (std::size_t b = 0; b < checked.counts.buffers.size(); ++b) {
        if (one.kernel.buffers[b].name == "arrivals") continue;  // how often blocks look is not for a program to say
        CAPTURE(one.kernel.buffers[b].name);
        CHECK(checked.counts.buffers[b].*row.direction.*row.part ==
              costmodel::model_count(costmodel::buffer_of_program(work, b), row.name));
      }
    }
  }
}

TEST_CASE("a mistake between steps is found") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  // Without the meeting a block reads sums that others have not written yet.
  Staged hasty = sums_then_map();
  std::erase_if(hasty.kernel.followers, [](const ir::Kernel& one) { return is_meeting(one); });
  CHECK(checked_stages(*api, hasty).state != Verdict::passed);
  // Without the barrier at the end of a virtual block the next one writes over what others of the block still read.
  Staged racing = rows_then_rows();
  REQUIRE(racing.kernel.body.back().kind == ir::StmtKind::barrier);
  racing.kernel.body.pop_back();
  CHECK(checked_stages(*api, racing).state != Verdict::passed);
  // Nor where the blocks do not meet before the next stage, which has shared memory too.
  Staged unmet = two_of_a_level();
  ir::Kernel& first = unmet.kernel.followers[1];
  REQUIRE(!is_meeting(unmet.kernel.followers[2]));
  REQUIRE(first.body.back().kind == ir::StmtKind::barrier);
  first.body.pop_back();
  CHECK(checked_stages(*api, unmet).state != Verdict::passed);
}

TEST_CASE("machine code of a launch in steps is followed, and makes the requests of all of them") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  for (const Staged& one : {rows_then_columns(), rows_then_rows(), sums_then_map(), two_of_a_level()}) {
    CAPTURE(one.kernel.name);
    const ir::Binary binary = compiled_stages(*api, one.kernel);
    const costmodel::Work work = costmodel::count(one.kernel, costmodel::Mode::exact);
    const ir::MachineRequests expected = costmodel::program_requests(costmodel::by_launch(work));
    const ir::MachineWork followed =
        machine_work(binary, entries_of(binary)[0], {launch_shape(launches_of(one.kernel)[0]), &expected, true});
    CHECK_MESSAGE(followed.counted, followed.note);
    // Who comes last is the data's to say; where nobody asks, the requests are the program's.
    const bool asks = one.kernel.name != "sum_max_reshape_stages";
    if (!asks) CHECK(followed.requests.global_stores == expected.global_stores);
    CHECK(followed.requests.global_stores >= expected.global_stores);
    const costmodel::CalibratedDevice device =
        costmodel::calibrated(ir::find_device("h200", source_folder() + "/data/devices"),
                              ir::read_calibration(source_folder() + "/data/calibrations/uncalibrated.json"));
    const costmodel::Work steps = costmodel::executed_by_step(work, followed);
    std::int64_t parted = 0;
    for (const costmodel::Work& step : costmodel::works_of(steps)) parted += costmodel::instructions(step.pipes);
    CHECK(std::abs(parted - ir::total(followed.executed)) <= 42);  // rounded for each pipe and step
    CHECK(costmodel::compiled(work, binary, device, {}, &followed).total.value > 0);
  }
}

TEST_CASE("bodies that form clusters, meet or loop pass under sanitizers, and count what the model counts") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  for (const Staged& one : {clusters_beside(), meetings_beside()}) {
    CAPTURE(one.kernel.name);
    verify(one.kernel);
    const Checked checked = checked_stages(*api, one);
    CHECK_MESSAGE(checked.state == Verdict::passed, checked.reason);
    CHECK(checked.findings.empty());
    CHECK(checked.judged == 1);
    CHECK(checked.counts.blocks_run == launch_shape(launches_of(one.kernel)[0]).grid[0]);
    const costmodel::Work work = costmodel::count(one.kernel, costmodel::Mode::exact);
    for (const ir::CounterRow& row : ir::counter_table()) {
      CAPTURE(row.name);
      if (row.name == "shared_load_requests" || row.name == "shared_store_requests" || row.name == "shuffles" ||
          row.name == "block_barriers" || row.name == "cluster_barriers")
        CHECK(checked.counts.*row.launch == costmodel::model_count(work, row.name));
      if (row.direction == nullptr) continue;
      for (std::size_t b = 0; b < checked.counts.buffers.size(); ++b) {
        const bool is_ticket = one.kernel.buffers[b].role == ir::BufferRole::ticket;
        if (is_ticket && row.name.find("load") != row.name.npos) continue;  // looks
        CAPTURE(one.kernel.buffers[b].name);
        CHECK(checked.counts.buffers[b].*row.direction.*row.part ==
              costmodel::model_count(costmodel::buffer_of_program(work, b), row.name));
      }
    }
    const ir::Binary binary = compiled_stages(*api, one.kernel);
    const ir::MachineRequests expected = costmodel::program_requests(costmodel::by_launch(work));
    const ir::MachineWork followed =
        machine_work(binary, entries_of(binary)[0], {launch_shape(launches_of(one.kernel)[0]), &expected, true});
    CHECK_MESSAGE(followed.counted, followed.note);
    CHECK(followed.requests.global_stores >= expected.global_stores);
  }
}

TEST_CASE("a body that begins within a cluster is found, and one that loops without a barrier") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  Staged apart = clusters_beside();
  REQUIRE(apart.kernel.followers.size() == 2);
  ir::Kernel &flat = apart.kernel.followers[0], &rows = apart.kernel.followers[1];
  REQUIRE(flat.virtual_blocks == 39);
  REQUIRE(flat.grid == 40);
  --flat.grid, ++rows.grid;
  CHECK_THROWS_AS(verify(apart.kernel), std::logic_error);
  CHECK(checked_stages(*api, apart).state != Verdict::passed);
  Staged racing = meetings_beside();
  ir::Kernel& looping = racing.kernel.followers[0];
  REQUIRE(looping.persistent);
  REQUIRE(looping.body.back().kind == ir::StmtKind::barrier);
  looping.body.pop_back();
  CHECK(checked_stages(*api, racing).state != Verdict::passed);
}

TEST_CASE("a GPU runs all stages, and all bodies, as one launch, again and again") {
  if (!has_fake_gpu()) return skip("this build has no fake GPU: it was made without CUDA's headers");
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const tests::FakeMachine machine(R"({"noise": 0, "chip": {"l2_bytes": 1048576, "compute_capability": 90}})");
  WorkerSetup setup;
  setup.command = {tests::test_worker()};
  setup.paths = machine.library_paths();
  Worker worker(std::move(setup));
  int id = 0;
  for (const Staged& one : {sums_then_map(), clusters_beside(), meetings_beside()}) {
    CAPTURE(one.kernel.name);
    ++id;
    std::int64_t elements = 0;
    for (const ir::NodeId output : one.group.graph.outputs) elements += ir::elements(one.group.graph[output].shape);
    const Reference reference = evaluate_reference(one.group, 1);
    const ir::Binary binary = compiled_stages(*api, one.kernel);
    const gpu::Sequence sequence = sequence_of(one.kernel, binary, ImageForm::ptx);
    REQUIRE(sequence.launches.size() == 1);
    CHECK(sequence.launches[0].cooperative == one.kernel.cooperative);
    CHECK(sequence.launches[0].cluster[0] == static_cast<std::uint32_t>(one.kernel.cluster));
    const gpu::Response loaded = worker.call(gpu::LoadRequest{.id = id, .sequence = sequence},
                                             contents_of(one.kernel, reference.inputs), Seconds{20});
    REQUIRE_MESSAGE(loaded.outcome == ir::Outcome::ok, loaded.reason);
    for (int again = 0; again < 2; ++again) {
      const gpu::Response run = worker.call(gpu::RunRequest{.id = id}, {}, Seconds{20});
      REQUIRE_MESSAGE(run.outcome == ir::Outcome::ok, run.reason);
      const Judgement judged = judge(one.kernel, reference, outputs_in(one.kernel, run.blob));
      CHECK_MESSAGE(judged.reason.empty(), judged.reason);
      CHECK(judged.judged == elements);
    }
  }
}
