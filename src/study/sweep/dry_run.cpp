// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A sweep on a sample. In: the options of a sweep. Out: what each step has to do and how long that takes.
//
// The models are read, fused and scored as a sweep would, into a copy of its database in the cache's folder. Then the
// short lists are known, and with them how many kernels will be compiled and executed. Where scoring takes longer than
// somebody waits for such an answer it ends early, its groups in the order of their ids, which are hashes; plans are
// then scaled by the size of the spaces and short lists by the places. A dozen of the groups with open places are
// drawn, and the sweep's own steps run on these alone: compiling is scaled by the kernels, executing by the bytes that
// a group moves.
//
// The points of a grid are looked at one by one. What an earlier point will have done by then is done.
#include "study/sweep/dry_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/counted.h"
#include "base/error.h"
#include "base/text.h"
#include "explore/plans/walk.h"
#include "study/sweep/step_keys.h"
#include "study/sweep/sweep_stages.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

constexpr std::size_t sampled_groups = 12;
constexpr Seconds longest_scoring{10};  ///< of a point

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
  const auto size = static_cast<double>(explore::size_of_space(*place.group->ready(), axes, place.target->limits));
  if (!sweep.config.max_plans_per_group) return size;
  return std::min(size, static_cast<double>(*sweep.config.max_plans_per_group));
}

/// What of a step is open at the places of a sweep, and what is known of that.
struct Step {
  std::string name, of;
  std::vector<Place> open = {};
  double amount = 0, least = 0;  ///< of the open places; least: what is certain
  bool scaled = false;           ///< not all of the open places were looked at
};

std::vector<const PreparedGroup*> by_id(const std::vector<Place>& places) {
  std::vector<const PreparedGroup*> groups;
  for (const Place& place : places) groups.push_back(place.group);
  std::sort(groups.begin(), groups.end(),
            [](const PreparedGroup* a, const PreparedGroup* b) { return hex(a->group.id) < hex(b->group.id); });
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

/// The places at which a step is open, without those that an earlier point of the grid will have done.
Step open_step(Sweep& sweep, std::string name, std::string of, std::set<std::string>& promised,
               const std::function<std::string(const Target&)>& key) {
  Step step{std::move(name), std::move(of)};
  for (const Place& place : open_places(sweep, key)) {
    const std::string done = fmt::format("{} {} {} {}", hex(place.group->group.id), hex(place.target->id),
                                         space_on(sweep, *place.target), key(*place.target));
    if (promised.insert(done).second) step.open.push_back(place);
  }
  return step;
}

std::vector<Step> steps_of(Sweep& sweep, bool compiles, bool checks, std::set<std::string>& promised) {
  std::vector<Step> steps{open_step(sweep, "score", "plans", promised, [](const Target&) { return "score"; })};
  if (compiles)
    steps.push_back(open_step(sweep, "compile", "kernels", promised, [](const Target&) { return "compile"; }));
  if (checks)
    steps.push_back(open_step(sweep, "check", "kernels", promised,
                              [&](const Target& on) { return check_key(sweep.config, on.device); }));
  return steps;
}

/// How many plans scoring found legal, by group and device. A place that was not scored is not there.
using LegalPlans = std::map<std::pair<Id, Id>, std::int64_t>;

LegalPlans legal_plans(Sweep& sweep) {
  LegalPlans legal;
  for (const Target& target : sweep.devices)
    for (const store::ProgressRow& row : sweep.store().progress(target.id, space_on(sweep, target)))
      if (row.stage == "score") legal[{row.group, target.id}] = row.legal;
  return legal;
}

/// Kernels of a place that a step has to do: at most, and at least. A check takes the best by the compiled estimate,
/// and XLA's plan, which may be among these or beside them.
std::pair<double, double> kernels_at(Sweep& sweep, const Step& step, const Place& place) {
  const std::vector<Candidate>& list = short_list(sweep, place);
  const auto all = static_cast<double>(list.size());
  if (step.name == "compile") return {all, all};
  const double least = std::min(all, static_cast<double>(sweep.config.check.top.value_or(0)));
  const bool has_xla = std::any_of(list.begin(), list.end(), [](const Candidate& one) { return one.is_xla; });
  return {least < all && has_xla ? least + 1 : least, least};
}

/// Fills what a step has to do, from the places that were scored.
void count_step(Sweep& sweep, const LegalPlans& legal, Step& step) {
  double whole = 0, part = 0;
  for (const Place& place : step.open) {
    const double size = step.name == "score" ? space_size(sweep, place) : 1;
    whole += size;
    const auto found = legal.find({place.group->group.id, place.target->id});
    if (found == legal.end()) continue;
    part += size;
    const auto [most, least] = step.name == "score"
                                   ? std::pair(static_cast<double>(found->second), static_cast<double>(found->second))
                                   : kernels_at(sweep, step, place);
    step.amount += most;
    step.least += least;
  }
  step.scaled = part < whole;
  if (!step.scaled || part == 0) return;
  step.amount *= whole / part;
  step.least *= whole / part;
}

/// How much more all open places of a step take than those of the sample.
double factor_of(Sweep& sweep, const LegalPlans& legal, const Step& step,
                 const std::vector<const PreparedGroup*>& sample) {
  double whole = 0, part = 0;
  for (const Place& place : step.open) {
    const bool scored = legal.contains({place.group->group.id, place.target->id});
    const bool in_sample = std::find(sample.begin(), sample.end(), place.group) != sample.end();
    const double size = step.name == "score"   ? space_size(sweep, place)
                        : step.name == "check" ? place.group->bytes
                        : scored               ? kernels_at(sweep, step, place).first
                                               : static_cast<double>(sweep.config.shortlist);
    whole += size;
    part += step.name == "score" ? (scored ? size : 0) : in_sample ? size : 0;
  }
  return part > 0 ? whole / part : 1;
}

/// Kernels that a step did on the sample, and how long that took.
std::pair<std::int64_t, Seconds> sampled(const Step& step, const SweepOutcome& o) {
  if (step.name == "score") return {o.plans_scored, o.scoring};
  if (step.name == "compile") return {o.kernels_compiled + o.kernels_cached + o.kernels_failed, o.compiling};
  return {o.kernels_passed + o.kernels_refuted + o.kernels_not_judged + o.kernels_not_executed, o.checking};
}

ExpectedStep expected(const Step& step, std::int64_t places, double factor, const SweepOutcome& outcome,
                      const profiler::FoundNvrtc& nvrtc) {
  const auto open = static_cast<std::int64_t>(step.open.size());
  ExpectedStep row{step.name, step.of, places, places - open, {}, "exact", {}, ""};
  row.amount = whole_count(step.amount);
  if (open == 0) {
    row.time = Seconds{0};
    return row;
  }
  const bool open_end = step.least < step.amount;
  row.exactly = step.scaled ? "about" : open_end ? "at most" : "exact";
  if (open_end)
    row.note = fmt::format("at least {}: XLA's plan is executed too where it is not among the best once compiled",
                           with_commas(whole_count(step.least)));
  if (step.name != "score" && !nvrtc) {
    row.note = nvrtc.reason;
    return row;
  }
  const auto [amount, time] = sampled(step, outcome);
  row.time = Seconds{time.value * factor};
  const bool all_now = step.name == "score" && !step.scaled;
  const std::string took =
      all_now ? "all of them, now" : fmt::format("{} of them took {}", with_commas(amount), humane_seconds(time.value));
  row.note = row.note.empty() ? took : took + "; " + row.note;
  return row;
}

/// Leaves the sweep with these groups alone. The others live on in `rest`: candidates name them.
void keep_only(Sweep& sweep, const std::vector<const PreparedGroup*>& sample,
               std::vector<std::unique_ptr<PreparedGroup>>& rest) {
  const auto left =
      std::stable_partition(sweep.groups.begin(), sweep.groups.end(), [&](const std::unique_ptr<PreparedGroup>& group) {
        return std::find(sample.begin(), sample.end(), group.get()) != sample.end();
      });
  rest.assign(std::make_move_iterator(left), std::make_move_iterator(sweep.groups.end()));
  sweep.groups.erase(left, sweep.groups.end());
}

/// A file without a grid, or a point of one; `promised` is what earlier points will have done.
std::vector<ExpectedStep> dry_point(const SweepOptions& options, SweepSetup setup, std::set<std::string>& promised,
                                    SweepOutcome& outcome, const Watch& watch) {
  const auto started = std::chrono::steady_clock::now();
  const Watch quiet{silent(), watch.stop};
  const profiler::FoundNvrtc nvrtc = setup.nvrtc;
  const bool compiles = setup.compiles, checks = compiles && options.check && setup.config.check.top.value_or(0) > 0;
  const ScratchDatabase scratch(setup.config.database, options.cache);
  Sweep sweep = begun_sweep(options, std::move(setup), scratch.path(), quiet);
  for (const Target& device : sweep.devices) sweep.recorder.save(device);
  load_and_fuse(sweep);
  const std::chrono::duration<double> fusing = std::chrono::steady_clock::now() - started;
  std::vector<ExpectedStep> rows{
      {"fuse", "models", {}, {}, sweep.outcome.models, "exact", Seconds{fusing.count()}, "all of them, now"}};

  std::vector<Step> steps = steps_of(sweep, compiles, checks, promised);
  std::sort(sweep.groups.begin(), sweep.groups.end(),
            [](const auto& a, const auto& b) { return hex(a->group.id) < hex(b->group.id); });
  sweep.scoring_limit = longest_scoring;
  score_groups(sweep);
  const LegalPlans legal = legal_plans(sweep);
  for (Step& step : steps) count_step(sweep, legal, step);
  const auto ready =
      std::count_if(sweep.groups.begin(), sweep.groups.end(),
                    [](const std::unique_ptr<PreparedGroup>& group) { return group->ready() != nullptr; });
  const auto places = static_cast<std::int64_t>(sweep.devices.size()) * ready;
  std::vector<Place> known = steps.back().open;
  std::erase_if(known, [&](const Place& place) { return !legal.contains({place.group->group.id, place.target->id}); });
  std::vector<const PreparedGroup*> sample = by_id(known);
  sample.resize(std::min(sample.size(), sampled_groups));
  std::vector<double> factors;
  for (const Step& step : steps) factors.push_back(factor_of(sweep, legal, step, sample));
  std::vector<std::unique_ptr<PreparedGroup>> rest;
  keep_only(sweep, sample, rest);
  if (nvrtc && compiles) compile_short_lists(sweep, *nvrtc.api);
  if (nvrtc && checks) check_short_lists(sweep, *nvrtc.api);
  if (watch.stopped()) throw Error(Fault::interrupted, "interrupted");
  for (std::size_t i = 0; i < steps.size(); ++i)
    rows.push_back(expected(steps[i], places, factors[i], sweep.outcome, nvrtc));
  outcome.left_out = std::move(sweep.outcome.left_out);
  return rows;
}

/// The weaker of two words.
std::string_view weaker(std::string_view a, std::string_view b) {
  for (const std::string_view word : {"about", "at most"})
    if (a == word || b == word) return word;
  return "exact";
}

/// Adds what a point has to do to what the ones before have.
void add_steps(std::vector<ExpectedStep>& all, std::vector<ExpectedStep> more) {
  for (ExpectedStep& row : more) {
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const ExpectedStep& one) { return one.step == row.step; });
    if (same == all.end()) {
      all.push_back(std::move(row));
      continue;
    }
    const auto sum = [](auto& a, const auto& b) {
      if (a && b) *a += *b;
    };
    sum(same->places, row.places);
    sum(same->done, row.done);
    sum(same->amount, row.amount);
    sum(same->time, row.time);
    if (!row.time) same->time = {};
    same->exactly = weaker(same->exactly, row.exactly);
    same->note = "sum over the points of the grid";
  }
}

}  // namespace

DryRun dry_run(const SweepOptions& options, const Watch& watch) {
  const SweepConfig config = effective_config(options, watch);
  DryRun run;
  run.outcome.database = config.database;
  std::vector<SweepSetup> setups;
  for (const SweepConfig& point : config.points) setups.push_back(sweep_setup(options, point));
  if (setups.empty()) setups.push_back(sweep_setup(options, config));
  run.points = std::ssize(setups);
  std::set<std::string> promised;
  for (SweepSetup& setup : setups)
    add_steps(run.steps, dry_point(options, std::move(setup), promised, run.outcome, watch));
  return run;
}

report::Table dry_run_table(const DryRun& run) {
  using report::Cell;
  using report::Hint;
  report::Table table;
  table.title = "what the sweep would do; no database was written";
  if (run.points > 1)
    table.title = fmt::format("what the sweep would do at {}; no database was written", counted(run.points, "point"));
  table.columns = {column("step", "step"),
                   column("places", "groups on devices", Hint::count, 2),
                   column("places_done", "done already", Hint::count, 1),
                   column("of", "of"),
                   column("exactly", "it is"),
                   column("amount", "to do", Hint::count),
                   column("expected", "takes about", Hint::seconds),
                   sentence("how", "how that is known")};
  double sum = 0;
  bool whole = true;
  for (const ExpectedStep& step : run.steps) {
    sum += step.time ? step.time->value : 0;
    whole = whole && step.time.has_value();
    table.rows.push_back({step.step, step.places ? Cell(*step.places) : Cell(), step.done ? Cell(*step.done) : Cell(),
                          step.of, std::string(step.exactly), step.amount ? Cell(*step.amount) : Cell(),
                          step.time ? Cell(step.time->value) : Cell(), step.note});
  }
  table.rows.push_back({std::string("all"), Cell(), Cell(), Cell(), Cell(), Cell(), Cell(sum),
                        std::string(whole ? "" : "without the steps that have no time")});
  return table;
}

}  // namespace tailor::study
