// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A sweep on a sample. In: the options of a sweep. Out: what each step has to do and how long that takes.
//
// The models are read and fused as a sweep would, into a copy of its database in the cache's folder. Then a dozen of
// the groups with open places are drawn, and the sweep's own steps run on these alone. Scoring is proportional to the
// plans that are enumerated, so its time is scaled by the size of the spaces; compiling by the places, since short
// lists are equally long; executing by the bytes that a group moves.
#include "study/sweep/dry_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "explore/plans/space.h"
#include "study/sweep/step_keys.h"
#include "study/sweep/sweep_stages.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

constexpr std::size_t sampled_groups = 12;

/// A copy of the database, or a new one, that is gone with it.
class ScratchDatabase {
 public:
  ScratchDatabase(const std::filesystem::path& database, const std::filesystem::path& folder)
      : path_(folder / fmt::format("dry-run-{}.db", ::getpid())) {
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (std::filesystem::exists(database)) std::filesystem::copy_file(database, path_, fault);
    if (fault)
      throw Error(Fault::failed, Position{path_.string()},
                  fmt::format("cannot copy the database there: {}", fault.message()), "--cache names another folder");
  }
  ScratchDatabase(const ScratchDatabase&) = delete;
  ScratchDatabase& operator=(const ScratchDatabase&) = delete;
  ~ScratchDatabase() {
    std::error_code ignored;
    for (const char* ending : {"", "-journal"}) std::filesystem::remove(path_.string() + ending, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Plans that scoring a group enumerates.
double space_size(const Sweep& sweep, const Place& place) {
  explore::Axes axes = explore::default_axes(*place.group->ready(), place.target->limits);
  for (const AxisRestriction& limit : sweep.config.axes) explore::restrict_axis(axes, {limit.axis, limit.values});
  const auto size = static_cast<double>(explore::Plans(*place.group->ready(), axes, place.target->limits).size());
  if (!sweep.config.max_plans_per_group) return size;
  return std::min(size, static_cast<double>(*sweep.config.max_plans_per_group));
}

/// A step of the sweep, what of it is open, and what its time is proportional to.
struct Step {
  std::string name, of;
  double (*size)(const Sweep& sweep, const Place& place);
  std::vector<Place> open = {};
  double factor = 1;  ///< all open places over those of the sample
};

/// The steps that this sweep takes, the first ones first.
std::vector<Step> steps_of(Sweep& sweep, bool compiles, bool checks) {
  const auto one = [](const Sweep&, const Place&) { return 1.0; };
  const auto bytes = [](const Sweep&, const Place& place) { return place.group->bytes; };
  std::vector<Step> steps{{"score", "plans", space_size}};
  steps[0].open = open_places(sweep, [](const Target&) { return "score"; });
  if (compiles) {
    steps.push_back({"compile", "kernels", one});
    steps.back().open = open_places(sweep, [](const Target&) { return "compile"; });
  }
  if (checks) {
    steps.push_back({"check", "kernels", bytes});
    steps.back().open = open_places(sweep, [&](const Target& on) { return check_key(sweep.config, on.device); });
  }
  return steps;
}

/// Some of the groups with open places: the first by their ids, which are hashes, so nothing about them is alike.
std::vector<const PreparedGroup*> sample_of(const std::vector<Place>& open) {
  std::vector<const PreparedGroup*> groups;
  for (const Place& place : open) groups.push_back(place.group);
  std::sort(groups.begin(), groups.end(),
            [](const PreparedGroup* a, const PreparedGroup* b) { return hex(a->group.id) < hex(b->group.id); });
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  groups.resize(std::min(groups.size(), sampled_groups));
  return groups;
}

/// Leaves the sweep with these groups alone, and says how much of each step they are.
void keep_only(Sweep& sweep, const std::vector<const PreparedGroup*>& sample, std::vector<Step>& steps) {
  const auto chosen = [&](const PreparedGroup* group) {
    return std::find(sample.begin(), sample.end(), group) != sample.end();
  };
  for (Step& step : steps) {
    double whole = 0, part = 0;
    for (const Place& place : step.open) {
      const double size = step.size(sweep, place);
      whole += size;
      part += chosen(place.group) ? size : 0;
    }
    step.factor = part > 0 ? whole / part : 1;
  }
  std::erase_if(sweep.groups, [&](const std::unique_ptr<PreparedGroup>& group) { return !chosen(group.get()); });
}

/// What a step did on the sample.
struct Sampled {
  std::int64_t amount = 0;
  Seconds time;
};
Sampled sampled(const Step& step, const SweepOutcome& o) {
  if (step.name == "score") return {o.plans_scored, o.scoring};
  if (step.name == "compile") return {o.kernels_compiled + o.kernels_cached + o.kernels_failed, o.compiling};
  return {o.kernels_passed + o.kernels_refuted + o.kernels_not_judged + o.kernels_not_executed, o.checking};
}

ExpectedStep expected(const Step& step, std::int64_t places, const SweepOutcome& outcome,
                      const profiler::FoundNvrtc& nvrtc) {
  const auto open = static_cast<std::int64_t>(step.open.size());
  ExpectedStep row{step.name, step.of, places, places - open, {}, {}, ""};
  if (open == 0) {
    row.amount = 0;
    row.time = Seconds{0};
  } else if (step.name != "score" && !nvrtc) {
    row.note = nvrtc.reason;
  } else {
    const Sampled part = sampled(step, outcome);
    row.amount = static_cast<std::int64_t>(static_cast<double>(part.amount) * step.factor + 0.5);
    row.time = Seconds{part.time.value * step.factor};
    row.note = fmt::format("{} of them took {}", with_commas(part.amount), humane_seconds(part.time.value));
  }
  return row;
}

}  // namespace

DryRun dry_run(const SweepOptions& options, const Watch& watch) {
  const auto started = std::chrono::steady_clock::now();
  const Watch quiet{silent(), watch.stop};
  SweepSetup setup = sweep_setup(options, watch);
  const profiler::FoundNvrtc nvrtc = setup.nvrtc;
  const bool compiles = setup.compiles, checks = compiles && options.check && setup.config.check.top.value_or(0) > 0;
  DryRun run;
  run.outcome.database = setup.config.database;
  const ScratchDatabase scratch(setup.config.database, options.cache);
  Sweep sweep = begun_sweep(options, std::move(setup), scratch.path(), quiet);
  for (const Target& device : sweep.devices) sweep.recorder.save(device);
  load_and_fuse(sweep);
  const std::chrono::duration<double> fusing = std::chrono::steady_clock::now() - started;
  run.steps.push_back({"fuse", "models", {}, {}, sweep.outcome.models, Seconds{fusing.count()}, "all of them, now"});

  std::vector<Step> steps = steps_of(sweep, compiles, checks);
  const auto places = static_cast<std::int64_t>(
      sweep.devices.size() * static_cast<std::size_t>(std::count_if(sweep.groups.begin(), sweep.groups.end(),
                                                                    [](const std::unique_ptr<PreparedGroup>& group) {
                                                                      return group->ready() != nullptr;
                                                                    })));
  keep_only(sweep, sample_of(steps.back().open), steps);
  score_groups(sweep);
  if (nvrtc && compiles) compile_short_lists(sweep, *nvrtc.api);
  if (nvrtc && checks) check_short_lists(sweep, *nvrtc.api);
  if (watch.stopped()) throw Error(Fault::interrupted, "interrupted");
  for (const Step& step : steps) run.steps.push_back(expected(step, places, sweep.outcome, nvrtc));
  run.outcome.left_out = std::move(sweep.outcome.left_out);
  return run;
}

report::Table dry_run_table(const DryRun& run) {
  using report::Cell;
  using report::Hint;
  report::Table table;
  table.title = "what the sweep would do; no database was written";
  table.columns = {column("step", "step"),
                   column("places", "groups on devices", Hint::count),
                   column("places_done", "done already", Hint::count),
                   column("of", "of"),
                   column("amount", "to do", Hint::count),
                   column("expected", "takes about", Hint::seconds),
                   sentence("how", "how that is known")};
  double sum = 0;
  bool whole = true;
  for (const ExpectedStep& step : run.steps) {
    sum += step.time ? step.time->value : 0;
    whole = whole && step.time.has_value();
    table.rows.push_back({step.step, step.places ? Cell(*step.places) : Cell(), step.done ? Cell(*step.done) : Cell(),
                          step.of, step.amount ? Cell(*step.amount) : Cell(),
                          step.time ? Cell(step.time->value) : Cell(), step.note});
  }
  table.rows.push_back({std::string("all"), Cell(), Cell(), Cell(), Cell(), Cell(sum),
                        std::string(whole ? "" : "without the steps that have no time")});
  return table;
}

}  // namespace tailor::study
