// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The pipeline's own promises: a sweep lowers each plan once and a resumed one lowers what it finds once; the short
// list that is kept on the way is the one that the finished ranking has; a climb looks only at the best of each group.
// Part of the suite `study`; what compiles is skipped without NVRTC.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/text.h"
#include "codegen/lower/lower.h"
#include "explore/plans/walk.h"
#include "folder.h"
#include "store/store.h"
#include "study/pipeline/question.h"
#include "study/sweep/sweep.h"
#include "support/kernel_cache.h"
#include "support/listener.h"
#include "support/skip.h"

using namespace tailor;
using namespace tailor::study;

namespace {

SweepOutcome sweep(const Folder& folder, bool compile) {
  write_file(folder.path / "sweep.json",
             "{\"question\": \"how long?\", \"models\": [\"" +
                 (source / "data/models/softmax_fwd_f32_4096x1024.hlo").string() +
                 "\"], \"devices\": [\"h200\"], \"strategies\": [\"unfused\", \"stitch-v1\"], \"shortlist\": 3, "
                 "\"check\": {\"top\": 2, \"shape\": \"small\"}, \"plans\": {\"axes\": {\"threads\": [128, 256]}}}");
  Listener listener;
  SweepOptions options;
  options.config = folder.path / "sweep.json";
  options.data = source / "data";
  options.cache = kernels::cache().folder;
  options.nvrtc = profiler::default_nvrtc_paths({source / ".venv"});
  options.compile = compile;
  options.workers = 2;
  options.command = "test";
  return run_sweep(options, {listener});
}

Question softmax_question() {
  Question question;
  question.model = (source / "data/models/softmax_fwd_f32_4096x1024.hlo").string();
  question.device = "h200";
  question.axes = {"threads=128,256"};
  return question;
}

/// Plans of the sweep's space that no rule drops: those that lowering has to be asked about.
std::int64_t plans_asked() {
  Listener listener;
  std::set<Id> known;
  std::int64_t asked = 0;
  for (const char* strategy : {"unfused", "stitch-v1"}) {
    Question question = softmax_question();
    question.strategy = strategy;
    FusedModel model(question, source / "data", {listener});
    for (std::size_t i = 0; i < model.partition.groups.size(); ++i) {
      const PreparedGroup& group = model.group(i);
      if (group.ready() == nullptr || !known.insert(group.group.id).second) continue;
      explore::Axes axes = explore::default_axes(*group.ready(), model.target.limits);
      explore::restrict_axis(axes, {"threads", {"128", "256"}});
      explore::Plans plans(*group.ready(), axes, model.target.limits);
      while (const auto plan = plans.next())
        asked += explore::dropped_by(*group.ready(), *plan, model.target.limits) == nullptr ? 1 : 0;
    }
  }
  return asked;
}

std::int64_t plans_listed(const store::Store& stored) {
  std::int64_t listed = 0;
  for (const store::GroupRow& group : stored.groups())
    for (const store::PlanRow& plan : stored.plans(group.id))
      for (const store::DeviceRow& device : stored.devices()) listed += stored.lowering(plan.id, device.id) ? 1 : 0;
  return listed;
}

explore::Standing standing(std::string_view group, double seconds, bool refuted = false) {
  explore::Standing one;
  one.group = id_of(group);
  one.refuted = refuted;
  ir::Estimate estimate;
  estimate.level = ir::Level::projected;
  estimate.total = Seconds{seconds};
  one.estimates = {estimate};
  return one;
}

}  // namespace

TEST_CASE("a sweep lowers each plan once, through scoring, compiling and checking") {
  const profiler::FoundNvrtc compiler = profiler::find_nvrtc(profiler::default_nvrtc_paths({source / ".venv"}));
  if (!compiler) return skip(compiler.reason);
  const Folder folder;
  const SweepOutcome outcome = sweep(folder, true);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.kernels_passed > 0);
  CHECK(outcome.plans_lowered == plans_asked());
  CHECK(outcome.plans_lowered >= outcome.plans_scored);
}

TEST_CASE("a sweep that goes on from a database lowers each plan of its short lists once") {
  const profiler::FoundNvrtc compiler = profiler::find_nvrtc(profiler::default_nvrtc_paths({source / ".venv"}));
  if (!compiler) return skip(compiler.reason);
  const Folder folder;
  const SweepOutcome first = sweep(folder, false);
  const store::Store stored = store::Store::open_read_only(folder.path / "sweep.db");
  CHECK(first.plans_lowered == plans_asked());
  const SweepOutcome second = sweep(folder, true);
  CHECK(second.plans_scored == 0);
  CHECK(second.kernels_passed > 0);
  CHECK(second.plans_lowered == plans_listed(stored));
  CHECK(sweep(folder, true).plans_lowered == 0);
}

TEST_CASE("a short list of no plans keeps none") {
  Listener listener;
  FusedModel model(softmax_question(), source / "data", {listener});
  Choosing how = model.choosing(1);
  how.keep = 0;
  const Choice none = choose(model.group(model.chosen_group()), model.target, how, {});
  CHECK(none.candidates.empty());
  CHECK(none.tuned.ranked.size() > 8);
}

TEST_CASE("the kernels kept on the way are the first different ones of the ranking") {
  Listener listener;
  FusedModel model(softmax_question(), source / "data", {listener});
  const std::size_t number = model.chosen_group();
  const PreparedGroup& group = model.group(number);
  CHECK(&group == &model.group(number));
  const Choice all = choose(group, model.target, model.choosing(0), {});
  std::vector<std::pair<std::string, Id>> expected;
  std::set<Id> seen;
  codegen::LowerScratch scratch;
  for (const explore::Scored& scored : all.tuned.ranked) {
    const auto lowered = codegen::lower(*group.ready(), scored.plan, model.target.limits, scratch);
    const Id id = ir::id_of(std::get<ir::Kernel>(lowered));
    if (seen.insert(id).second) expected.emplace_back(ir::text(scored.plan), id);
  }
  REQUIRE(expected.size() > 8);
  for (const std::size_t top : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{8}, expected.size()}) {
    const Choice some = choose(group, model.target, model.choosing(static_cast<std::int64_t>(top)), {});
    std::vector<std::pair<std::string, Id>> found;
    for (const Candidate& one : some.candidates) found.emplace_back(ir::text(one.plan), one.kernel_id);
    CHECK(found == std::vector(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(top)));
    CHECK(some.tuned.lowerings == all.tuned.lowerings);
  }
}

TEST_CASE("random plans come one from each equal stretch of the ranking behind the best, the same for a seed") {
  Listener listener;
  FusedModel model(softmax_question(), source / "data", {listener});
  const PreparedGroup& group = model.group(model.chosen_group());
  const auto ranks = [&](std::int64_t top, std::int64_t random, std::uint64_t seed) {
    std::vector<std::int64_t> all;
    const Choice choice = choose(group, model.target, model.choosing(top, random, seed), {});
    for (const Candidate& one : choice.candidates) all.push_back(one.rank);
    return all;
  };
  const std::vector<std::int64_t> every = ranks(0, 0, 1);
  const auto all = std::ssize(every);
  constexpr std::int64_t top = 3, random = 5;
  REQUIRE(all > 2 * (top + random));
  std::set<std::vector<std::int64_t>> drawn;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const std::vector<std::int64_t> found = ranks(top, random, seed);
    REQUIRE(std::ssize(found) == top + random);
    for (std::int64_t k = 0; k < top; ++k) CHECK(found[static_cast<std::size_t>(k)] == k + 1);
    for (std::int64_t k = 0; k < random; ++k) {
      const std::int64_t place = found[static_cast<std::size_t>(top + k)] - 1;
      CHECK(place >= top + (all - top) * k / random);
      CHECK(place < top + (all - top) * (k + 1) / random);
    }
    CHECK(ranks(top, random, seed) == found);
    drawn.insert(found);
  }
  CHECK(drawn.size() > 3);
  CHECK(ranks(top, 10 * all, 1) == every);
}

TEST_CASE("a plan by its rank and by its text is the same candidate") {
  Listener listener;
  FusedModel model(softmax_question(), source / "data", {listener});
  const std::size_t number = model.chosen_group();
  const Candidate ranked = choose_plan(model, number, "3", {listener});
  const Candidate named = choose_plan(model, number, ir::text(ranked.plan), {listener});
  CHECK(ranked.rank == 3);
  CHECK(named.rank == 0);
  CHECK(named.kernel_id == ranked.kernel_id);
  CHECK(named.standing.estimates == ranked.standing.estimates);
}

TEST_CASE("a climb looks at the best of each group, and at no plan that is refuted or was not estimated") {
  std::vector<explore::Standing> all{standing("a", 3), standing("b", 9), standing("a", 1, true),
                                     standing("a", 2), standing("b", 8), standing("a", 2)};
  all.emplace_back().group = id_of("a");
  std::vector<const explore::Standing*> plans;
  for (const explore::Standing& one : all) plans.push_back(&one);
  CHECK(explore::best_by(plans, ir::Level::projected, 2) == std::vector<std::size_t>{3, 5, 4, 1});
  CHECK(explore::best_by(plans, ir::Level::projected, 1) == std::vector<std::size_t>{3, 4});
  CHECK(explore::best_by(plans, ir::Level::projected, 0).empty());
  CHECK(explore::best_by(plans, ir::Level::compiled, 2).empty());
  std::vector<std::vector<std::size_t>> looked;
  const auto estimate_first = [&](std::span<const std::size_t> chosen) {
    looked.emplace_back(chosen.begin(), chosen.end());
    for (const std::size_t i : chosen) {
      ir::Estimate closer = all[i].estimates.front();
      closer.level = ir::Level::compiled;
      closer.total = Seconds{10 - closer.total.value};
      all[i].estimates.push_back(closer);
    }
  };
  const auto look = [&](std::span<const std::size_t> chosen) { looked.emplace_back(chosen.begin(), chosen.end()); };
  const std::vector<explore::Rung> rungs{{ir::Level::projected, 3, estimate_first}, {ir::Level::compiled, 1, look}};
  explore::climb(plans, rungs);
  REQUIRE(looked.size() == 2);
  CHECK(looked[0] == std::vector<std::size_t>{3, 5, 0, 4, 1});
  CHECK(looked[1] == std::vector<std::size_t>{0, 1});
}
