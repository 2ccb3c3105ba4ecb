// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs of several launches with the real compiler, the simulator and the stand-in GPU: an entry for each launch in
// one binary, launches one behind the other over one memory, counts that are those of the program, one sequence on a
// GPU. And programs with one mistake each. In: programs by hand. Part of the suite `profiler`; skipped without NVRTC,
// and in part without CUDA's headers.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "codegen/cuda/cuda.h"
#include "costmodel/count.h"
#include "costmodel/model.h"
#include "ir/device.h"
#include "profiler/check/check.h"
#include "profiler/check/memory_need.h"
#include "profiler/check/simulate.h"
#include "profiler/compile/cache.h"
#include "profiler/compile/machine_work.h"
#include "profiler/gpu/fake_machine.h"
#include "profiler/gpu/request/request_text.h"
#include "profiler/measure/sequence_of.h"
#include "profiler/measure/test_worker.h"
#include "profiler/measure/worker.h"
#include "support/group_family.h"
#include "support/kernel_builder.h"
#include "support/kernel_cache.h"
#include "tests/profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

constexpr std::int64_t few_rows = 5, row_length = 3072;
constexpr int row_parts = 12;

struct SplitRows {
  ir::Group group;
  ir::Kernel kernel;
};

SplitRows program_of(int launches) {
  return {ir::make_group({"split_rows", ir::split_rows_graph(launches)}, few_rows, row_length),
          ir::example_split_rows(few_rows, row_length, row_parts, launches)};
}

CompileRequest request_for(const ir::Kernel& kernel, const std::string& arch = "sm_90") {
  CompileRequest request{.cuda = codegen::cuda(kernel), .entry = kernel.name, .arch = arch};
  for (const ir::Kernel& follower : kernel.followers) request.followers.push_back(follower.name);
  return request;
}

ir::Binary compiled_program(const Nvrtc& api, const ir::Kernel& kernel, const std::string& arch = "sm_90") {
  ir::Binary binary = kernels::compiled(api, request_for(kernel, arch));
  REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
  return binary;
}

Checked checked_program(const Nvrtc& api, const SplitRows& program, const CheckOptions& options = {}) {
  const ir::Binary binary = compiled_program(api, program.kernel);
  return check(program.kernel, evaluate_reference(program.group, 1), make_simulator(program.kernel, binary), options);
}

/// The statement of a kind in a kernel, the first or the last one.
ir::Stmt& statement(ir::Kernel& kernel, ir::StmtKind kind, bool last = false) {
  ir::Stmt* found = nullptr;
  for (ir::Stmt& s : kernel.body)
    if (s.kind == kind && (found == nullptr || last)) found = &s;
  REQUIRE(found != nullptr);
  return *found;
}

}  // namespace

TEST_CASE("programs of two and of three launches pass, and what they count is what the model counts") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  for (const int launches : {2, 3}) {
    CAPTURE(launches);
    const SplitRows program = program_of(launches);
    const Checked checked = checked_program(*api, program);
    CHECK_MESSAGE(checked.state == Verdict::passed, checked.reason);
    CHECK(checked.findings.empty());
    CHECK(checked.judged == 1);
    std::int64_t blocks = 0;
    for (const ir::Kernel& one : kernels_of(program.kernel)) blocks += one.grid;
    CHECK(checked.counts.blocks_run == blocks);
    CHECK(checked.counts.blocks_total == blocks);
    const costmodel::Work work = costmodel::count(program.kernel, costmodel::Mode::exact);
    for (const std::string_view counter : {"shared_load_requests", "shared_load_wavefronts", "shared_store_requests",
                                           "shared_load_bytes", "shuffles", "block_barriers"}) {
      CAPTURE(counter);
      for (const ir::CounterRow& row : ir::counter_table())
        if (row.name == counter) CHECK(checked.counts.*row.launch == costmodel::model_count(work, counter));
    }
    REQUIRE(checked.counts.buffers.size() == program.kernel.buffers.size());
    for (std::size_t b = 0; b < checked.counts.buffers.size(); ++b)
      for (const ir::CounterRow& row : ir::counter_table())
        if (row.direction != nullptr)
          CHECK(checked.counts.buffers[b].*row.direction.*row.part ==
                costmodel::model_count(costmodel::buffer_of_program(work, b), row.name));
    // Parted again, the memory traffic of each launch is the program's.
    const costmodel::Work seen = costmodel::with_counts(work, checked.counts);
    for (std::size_t k = 0; k < costmodel::works_of(work).size(); ++k)
      CHECK(costmodel::works_of(seen)[k].buffers == costmodel::works_of(work)[k].buffers);
  }
}

TEST_CASE("a mistake in any launch of a program is found") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const auto state = [&](const std::function<void(ir::Kernel&)>& spoil, int launches) {
    SplitRows program = program_of(launches);
    spoil(program.kernel);
    return checked_program(*api, program).state;
  };
  using ir::StmtKind;
  CHECK(state([](ir::Kernel& k) { statement(k, StmtKind::assign).op = ir::Op::maximum; }, 2) == Verdict::wrong);
  CHECK(state([](ir::Kernel& k) { statement(k.followers[0], StmtKind::shuffle).lanes = 8; }, 2) == Verdict::wrong);
  CHECK(state([](ir::Kernel& k) { k.followers[1].virtual_blocks = k.followers[1].grid -= 1; }, 3) == Verdict::wrong);
  // Launched in another order the third one reads totals that nobody has made, which nobody zeroed either.
  CHECK(state([](ir::Kernel& k) { std::swap(k.followers[0], k.followers[1]); }, 3) == Verdict::unsound);
  // What runs out of its buffers is found where it is launched last, too.
  CHECK(state(
            [](ir::Kernel& k) {
              ir::Kernel& last = k.followers[1];
              last.virtual_blocks = last.grid += 1;
              for (ir::Var& var : last.indices.vars)
                if (var.kind == ir::VarKind::block) var.extent += 1;
            },
            3) == Verdict::unsound);
}

TEST_CASE("a follower may read a result that an earlier launch stored, but none that nobody did") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const auto store_then_double = [](bool all) {
    ir::KernelBuilder a("stored", 64, 2), b("stored_2", 64, 2);
    const ir::BufferId x = a.in("x", ir::DType::f32, 128), y = a.out("y", ir::DType::f32, 128);
    const ir::VarId tid = a.thread("tid", 1, 64), other = b.thread("tid", 1, 64);
    const ir::ExprId at = a.sum({a.var(tid), a.var(a.vb, all ? 64 : 0)});
    const ir::LetId v = a.load_let("v", x, at);
    a.store(y, at, a.get(v));
    b.kernel.buffers = a.kernel.buffers;
    b.wait();
    const ir::ExprId again = b.sum({b.var(other), b.var(b.vb, 64)});
    const ir::LetId w = b.load_let("w", y, again, ir::Policy::reload);
    b.store(y, again, b.op(ir::Op::add, {b.get(w), b.get(w)}));
    ir::Kernel kernel = a.kernel;
    kernel.followers.push_back(b.kernel);
    ir::verify(kernel);
    return kernel;
  };
  const ir::Group group = ir::make_group({"doubled", R"(graph doubled {
  %x = parameter 0 : f32[{R},{N}]
  %y = add %x, %x : f32[{R},{N}]
  output %y
})"},
                                         2, 64);
  CHECK(checked_program(*api, {group, store_then_double(true)}).state == Verdict::passed);
  const Checked unwritten = checked_program(*api, {group, store_then_double(false)});
  CHECK(unwritten.state == Verdict::unsound);
  CHECK(std::any_of(unwritten.findings.begin(), unwritten.findings.end(), [](const simulator::Finding& one) {
    return one.kind == simulator::FindingKind::uninitialised_read;
  }));
}

TEST_CASE("of a program all blocks run, whoever asks for some") {
  SplitRows program{ir::make_group({"split_rows", ir::split_rows_graph(2)}, 4096, 1024),
                    ir::example_split_rows(4096, 1024, 4, 2)};
  CheckOptions few;
  few.sample_blocks = 8;
  CHECK(blocks_to_run(program.kernel, few) == 0);
  few.sample_blocks = 0;
  few.most_elements = 1;
  CHECK(blocks_to_run(program.kernel, few) == 0);
  CHECK_FALSE(can_sample(program.kernel));
  ir::Kernel alone = program.kernel;
  alone.followers.clear();
  CHECK(can_sample(alone));
  CHECK(bytes_to_execute(program.kernel, true, 0) == bytes_to_execute(alone, true, 0));
}

TEST_CASE("a binary has what the compiler says of each entry, through the cache too") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const ir::Kernel program = program_of(3).kernel;
  const ir::Binary binary = compiled_program(*api, program);
  REQUIRE(entries_of(binary).size() == 3);
  for (std::size_t k = 0; k < 3; ++k) {
    const ir::CompiledEntry& entry = entries_of(binary)[k];
    CHECK(entry.entry == kernels_of(program)[k].name);
    CHECK(entry.registers > 8);
    CHECK(entry.machine_instructions > 10);
    CHECK(entry.static_shared == (k == 0 ? 8 : 0));  // two numbers
    CHECK(entry.loads_outstanding >= 1);
    // As if it were compiled alone.
    CompileRequest request = request_for(program);
    request.entry = entry.entry;
    request.followers.clear();
    const ir::Binary alone = kernels::compiled(*api, request);
    CHECK(alone.registers == entry.registers);
    CHECK(alone.machine_instructions == entry.machine_instructions);
    CHECK(source_id(*api, request) != binary.source);
  }
  CHECK(most_of(binary, &ir::CompiledEntry::registers) ==
        std::max({binary.registers, binary.followers[0].registers, binary.followers[1].registers}));
  const std::optional<ir::Binary> again = unpacked(packed(binary));
  REQUIRE(again);
  REQUIRE(again->followers.size() == 2);
  CHECK(again->followers[1].entry == "split_rows_3");
  CHECK(again->followers[0].registers == binary.followers[0].registers);
  CHECK(again->registers == binary.registers);
  CompileRequest missing = request_for(program);
  missing.followers[1] = "nobody";
  const ir::Binary failed = kernels::compiled(*api, missing);
  CHECK(failed.outcome == ir::CompileOutcome::failed);
  CHECK(failed.log.find("no kernel 'nobody'") != std::string::npos);
}

TEST_CASE("the machine code of each entry is followed, and makes the requests of its launch") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const ir::Kernel program = program_of(3).kernel;
  const ir::Binary binary = compiled_program(*api, program);
  const costmodel::Work work = costmodel::count(program, costmodel::Mode::exact);
  for (std::size_t k = 0; k < 3; ++k) {
    CAPTURE(k);
    const ir::MachineRequests expected = costmodel::program_requests(costmodel::works_of(work)[k]);
    const ir::MachineWork followed =
        machine_work(binary, entries_of(binary)[k], {launch_shape(kernels_of(program)[k]), &expected, true});
    CHECK_MESSAGE(followed.counted, followed.note);
    for (const ir::RequestKind& kind : ir::request_kinds()) {
      CAPTURE(kind.name);
      // The assembler loads from shared memory in the only warp that needs the sum.
      const std::int64_t wanted = k == 0 && kind.name == "shared_loads" ? few_rows * row_parts : expected.*kind.count;
      CHECK(followed.requests.*kind.count == wanted);
    }
  }
}

TEST_CASE("a program is one sequence: a launch for each kernel with the same arguments, followers as dependent ones") {
  ir::Binary binary;
  binary.entry = "split_rows";
  binary.followers.resize(2);
  binary.followers[0].entry = "split_rows_2";
  binary.followers[1].entry = "split_rows_3";
  const ir::Kernel program = program_of(3).kernel;
  const gpu::Sequence sequence = sequence_of(program, binary, ImageForm::cubin);
  CHECK(sequence.images.size() == 1);
  CHECK(sequence.buffers.size() == program.buffers.size());
  REQUIRE(sequence.launches.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(sequence.launches[k].entry == entries_of(binary)[k].entry);
    CHECK(sequence.launches[k].arguments == sequence.launches[0].arguments);
    CHECK(sequence.launches[k].grid[0] == kernels_of(program)[k].grid);
    CHECK(sequence.launches[k].dependent == (k > 0));
  }
  binary.followers.pop_back();
  CHECK_THROWS_AS(sequence_of(program, binary, ImageForm::cubin), std::logic_error);
}

TEST_CASE("a GPU runs a program as one run and times it as one, told where it may begin early") {
  if (!has_fake_gpu()) return skip("this build has no fake GPU: it was made without CUDA's headers");
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const SplitRows program = program_of(3);
  const Reference reference = evaluate_reference(program.group, 1);
  // A GPU before sm_90 refuses the attribute, so it must not be told; a later one must, and loses no time in between.
  for (const int capability : {90, 80}) {
    CAPTURE(capability);
    const ir::Binary binary = compiled_program(*api, program.kernel, fmt::format("sm_{}", capability));
    const std::string chip =
        fmt::format(R"({{"noise": 0, "chip": {{"l2_bytes": 1048576, "compute_capability": {}}}}})", capability);
    const tests::FakeMachine machine(chip);
    WorkerSetup setup;
    setup.command = {tests::test_worker()};
    setup.paths = machine.library_paths();
    Worker worker(std::move(setup));
    const gpu::Sequence sequence = sequence_of(program.kernel, binary, ImageForm::ptx);
    const gpu::Response loaded = worker.call(gpu::LoadRequest{.id = 1, .sequence = sequence},
                                             contents_of(program.kernel, reference.inputs), Seconds{20});
    REQUIRE_MESSAGE(loaded.outcome == ir::Outcome::ok, loaded.reason);
    CHECK(loaded.entries.size() == 3);
    for (int again = 0; again < 2; ++again) {
      const gpu::Response run = worker.call(gpu::RunRequest{.id = 1}, {}, Seconds{20});
      REQUIRE_MESSAGE(run.outcome == ir::Outcome::ok, run.reason);
      const Judgement judged = judge(program.kernel, reference, outputs_in(program.kernel, run.blob));
      CHECK_MESSAGE(judged.reason.empty(), judged.reason);
      CHECK(judged.judged == few_rows * row_length);
    }
    for (const ir::LaunchMode mode : {ir::LaunchMode::stream, ir::LaunchMode::graph}) {
      const gpu::Response timed =
          worker.call(gpu::TimeRequest{.id = 1, .launch = mode, .samples = 3, .per_launch = true}, {}, Seconds{20});
      REQUIRE_MESSAGE(timed.outcome == ir::Outcome::ok, timed.reason);
      REQUIRE(timed.samples.size() == 3);
      REQUIRE(timed.launches.at(0).size() == 3);
      double launches = 0;
      for (const Seconds one : timed.launches[0]) launches += one.value;
      const double between = timed.samples[0].duration.value - launches;
      if (capability == 90)
        CHECK(std::abs(between) < 1e-9);
      else
        CHECK(between > 0.9e-6);  // twice the gap of a graph
    }
  }
}
