// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A plan whose program has several launches, on its way through the stages: printed, compiled, executed, estimated at
// each level, kept in a database and compiled again from the text there, measured by the stand-in GPU, explained, and
// put into the sequence of a whole model. In: a program by hand in the place of what the lowering made. Part of the
// suite `study`; skipped without NVRTC.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "costmodel/count.h"
#include "profiler/gpu/fake_machine.h"
#include "profiler/kernels.h"
#include "profiler/measure/test_worker.h"
#include "study/folder.h"
#include "study/module/module_sequence.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/question.h"
#include "study/pipeline/recorder.h"
#include "study/pipeline/stages.h"
#include "study/pipeline/to_rows.h"
#include "study/run_row.h"
#include "study/tables/explain_page.h"
#include "study/tables/machine_table.h"
#include "study/tables/work_tables.h"
#include "support/group_family.h"
#include "support/kernel_builder.h"
#include "support/kernel_cache.h"
#include "support/listener.h"

using namespace tailor;
using namespace tailor::study;

namespace {

constexpr std::int64_t few_rows = 6, row_length = 3072;
constexpr int row_parts = 12;
constexpr std::size_t launch_count = 3;

/// A model of one group, and a plan of it whose kernel is the program by hand.
struct ProgramPlan {
  Folder folder;
  Listener listener;
  std::unique_ptr<FusedModel> model;
  Candidate one;

  ProgramPlan() {
    const ir::Group group = ir::make_group({"split_rows", ir::split_rows_graph(3)}, few_rows, row_length);
    write_file(folder.path / "model.graph", text(group.graph));
    Question question;
    question.model = (folder.path / "model.graph").string();
    question.device = "h200";
    model = std::make_unique<FusedModel>(question, source / "data", Watch{listener});
    const PreparedGroup& prepared = model->group(model->chosen_group());
    std::vector<Candidate> chosen = choose(prepared, model->target, model->choosing(1), {}).candidates;
    REQUIRE(chosen.size() == 1);
    one = std::move(chosen.front());
    one.kernel = ir::example_split_rows(few_rows, row_length, row_parts, 3);
    REQUIRE(one.kernel.buffers[2].elements ==
            ir::elements(prepared.group.graph[prepared.group.graph.outputs[0]].shape));
    one.kernel_id = id_of(one.kernel);
    one.work = costmodel::count(one.kernel, costmodel::Mode::fast);
    one.standing.estimates = {costmodel::projected(one.work, one.on->calibrated)};
    print({&one, 1});
  }

  void compile_it(const profiler::Nvrtc& api) {
    compile({&one, 1}, {.api = &api, .cache = kernels::cache().folder, .workers = 1}, Watch{listener});
    REQUIRE(one.compiled());
  }
};

}  // namespace

TEST_CASE("a program is compiled, executed and estimated at each level as one plan") {
  const profiler::Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  ProgramPlan plan;
  plan.compile_it(*api);
  Candidate& one = plan.one;
  CHECK(entries_of(*one.binary).size() == launch_count);
  REQUIRE(one.machine);
  CHECK(works_of(*one.machine).size() == launch_count);
  for (const ir::MachineWork& machine : works_of(*one.machine)) CHECK_MESSAGE(machine.counted, machine.note);
  check({&one, 1}, {.workers = 1}, Watch{plan.listener});
  REQUIRE(one.verdict);
  CHECK_MESSAGE(one.verdict->state == profiler::Verdict::passed, one.verdict->reason);
  const std::optional<ir::Estimate> projected = predict(one, ir::Level::projected, {}),
                                    compiled = predict(one, ir::Level::compiled, {}),
                                    counted = predict(one, ir::Level::counted, {});
  REQUIRE(projected);
  REQUIRE(compiled);
  REQUIRE(counted);
  for (const std::optional<ir::Estimate>& e : {projected, compiled, counted}) {
    CHECK(e->total.value > 2 * one.on->calibrated.launch_overhead);
    CHECK(e->total.value < 100e-6);
  }
  CHECK(compiled->registers == most_of(*one.binary, &ir::CompiledEntry::registers));
}

TEST_CASE("a database keeps a program as one kernel, whose text says all its entries") {
  const profiler::Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  ProgramPlan plan;
  plan.compile_it(*api);
  check({&plan.one, 1}, {.workers = 1}, Watch{plan.listener});
  {
    Recorder recorder(plan.folder.path / "kept.db", run_row());
    recorder.unit([&] {
      recorder.save(plan.model->target);
      recorder.save_chosen(plan.one);
      recorder.save_compiled(plan.one);
      recorder.save_checked(plan.one, "simulator");
    });
  }
  const store::Store kept = store::Store::open_read_only(plan.folder.path / "kept.db");
  const std::optional<store::KernelRow> kernel = kept.kernel(plan.one.kernel_id);
  REQUIRE(kernel);
  CHECK(kernel->text == text(plan.one.kernel));
  CHECK(kernel->text.find("then split_rows_3 ") != std::string::npos);
  CHECK(kernel->threads == 128);
  CHECK(kernel->blocks == few_rows * row_parts + few_rows / 2 + few_rows * row_length / 512);
  const store::BinaryRow binary = kept.binaries(kernel->id).at(0);
  CHECK(binary.registers == most_of(*plan.one.binary, &ir::CompiledEntry::registers));
  std::int64_t instructions = 0;
  for (const ir::CompiledEntry& entry : entries_of(*plan.one.binary)) instructions += entry.machine_instructions;
  CHECK(binary.machine_instructions == instructions);
  CHECK(kept.measurements(binary.id).size() == 1);
  // A plan out of a database has its text alone: that names the entries, and is the same binary.
  Candidate stored;
  stored.of = plan.one.of;
  stored.on = plan.one.on;
  stored.cuda = kernel->cuda;
  compile({&stored, 1}, {.api = api, .cache = kernels::cache().folder, .workers = 1}, Watch{plan.listener});
  REQUIRE(stored.compiled());
  CHECK(stored.binary->source == binary.id);
  CHECK(stored.binary->followers.size() == launch_count - 1);
}

TEST_CASE("a GPU measures a program as one plan") {
  if (!has_fake_gpu()) return skip("this build has no fake GPU: it was made without CUDA's headers");
  const profiler::Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  ProgramPlan plan;
  plan.compile_it(*api);
  const tests::FakeMachine machine(R"({"noise": 0.01, "chip": {"l2_bytes": 1048576}})");
  const auto worker = [&](gpu::Use use) {
    profiler::WorkerSetup setup;
    setup.command = {tests::test_worker()};
    setup.paths = machine.library_paths();
    setup.use = use;
    return profiler::Worker(std::move(setup));
  };
  profiler::Worker timing = worker(gpu::Use::trace), counting = worker(gpu::Use::count);
  Measuring how;
  how.how.image = profiler::ImageForm::ptx;
  how.by = [&](std::span<const profiler::MeasureRequest> requests, const profiler::MeasureOptions& options) {
    return profiler::measure_group(timing, counting, requests, options);
  };
  measure({&plan.one, 1}, how, [](const RacedGroup&) {});
  REQUIRE(plan.one.measured);
  CHECK_MESSAGE(plan.one.measured->outcome == ir::Outcome::ok, plan.one.measured->reason);
  CHECK(plan.one.measured->judged);
  REQUIRE(plan.one.measured->times.size() == 1);
  CHECK(plan.one.measured->times[0].samples.size() > 2);
  CHECK(plan.one.measured->entry.blocks_per_sm > 0);
}

TEST_CASE("explain shows every launch of a program, and counts of all together") {
  ProgramPlan plan;
  Explained all{plan.one, "split rows"};
  all.estimate = plan.one.standing.estimates.front();
  const std::string page = explanation(all, {.width = 120});
  for (const std::string_view words : {"split_rows_2", "split_rows_3", "wait for the launches before"})
    CHECK(page.find(words) != std::string::npos);
  CHECK(page.find("72 blocks of 64 threads") != std::string::npos);
  CHECK(page.find("3 blocks of 64 threads") != std::string::npos);
  CHECK(page.find("36 blocks of 128 threads") != std::string::npos);
  const report::Table buffers = buffer_table(plan.one);
  std::int64_t loads_of_x = 0;
  for (const auto& row : buffers.rows)
    if (std::get<std::string>(row[0]) == "x") loads_of_x = std::get<std::int64_t>(row[4]);
  CHECK(loads_of_x == 2 * few_rows * row_length / 128);  // by the first launch and by the third
}

TEST_CASE("in the sequence of a model the launches of a program stand behind one another, over one memory") {
  const profiler::Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  ProgramPlan plan;
  plan.compile_it(*api);
  const explore::Partition& partition = plan.model->partition;
  REQUIRE(partition.groups.size() == 1);
  const GroupKernel kernel{&plan.one.kernel, &*plan.one.binary};
  const ModuleSequence made = module_sequence(plan.model->graph, partition, {&kernel, 1}, profiler::ImageForm::ptx);
  CHECK(made.launched_groups == 1);
  REQUIRE(made.sequence.launches.size() == launch_count);
  CHECK(made.sequence.images.size() == 1);
  CHECK(made.sequence.buffers.size() == plan.one.kernel.buffers.size());
  for (std::size_t k = 0; k < launch_count; ++k) {
    CHECK(made.sequence.launches[k].entry == ir::kernels_of(plan.one.kernel)[k].name);
    CHECK(made.sequence.launches[k].arguments == made.sequence.launches[0].arguments);
    CHECK(made.sequence.launches[k].dependent == (k > 0));
  }
}
