// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The timing protocol of whole models. Groups race first, the fastest right plan of each becomes the strategy's kernel,
// the kernels become one sequence a strategy, and the sequences take turns: one sample of each in every round, in an
// order drawn anew, so that a GPU that grows warm or slow does it to all of them alike.
#include "study/module/module_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/counted.h"
#include "base/error.h"
#include "base/statistics.h"
#include "base/stop.h"
#include "base/text.h"
#include "explore/strategy.h"
#include "study/module/xla_rows.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/recorder.h"
#include "study/pipeline/to_rows.h"
#include "study/pipeline/xla_beside.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

/// Behind a strategy: its groups run the plans that are as XLA would write them.
constexpr std::string_view as_xla_ending = ":xla";

}  // namespace

std::string ModuleVariant::name() const {
  if (!model) return std::string(xla_strategy);
  return model->partition.strategy + std::string(as_xla ? as_xla_ending : "");
}

std::vector<double> ModuleTimes::seconds() const {
  std::vector<double> all;
  for (const store::ModuleSampleRow& row : samples) all.push_back(row.sample.duration.value);
  return all;
}

ModuleComparison::ModuleComparison(ModuleQuestion question, const std::filesystem::path& data, const Watch& watch)
    : question_(std::move(question)), watch_(watch) {
  if (question_.rounds < 1) throw Error(Fault::usage, "--rounds: found 0, expected at least one");
  graph_ = load_model(data, question_.what.model, watch);
  if (!question_.xla.empty())
    xla_ = profiler::read_xla(profiler::choose_module(profiler::xla_modules(question_.xla), ""), watch.stop);
  for (const std::string& name : question_.strategies) {
    Question one = question_.what;
    const bool as_xla = name.ends_with(as_xla_ending);
    one.strategy = name.substr(0, name.size() - (as_xla ? as_xla_ending.size() : 0));
    variants_.push_back({std::make_unique<FusedModel>(one, data, watch), as_xla, {}, {}, -1});
  }
  how_ = measure_options(question_.measure, device(), watch);
  how_.counters = {};
  measurer_ = make_measurer(question_.measure, data, device(), watch);
}

void ModuleComparison::measure() {
  measure_groups();
  stop_if_asked(watch_.stop);
  build_sequences();
  if (xla_) add_xla();
  for (const ModuleVariant& one : variants_)
    if (const std::string why = incomparable(one); !why.empty())
      watch_.observer.warning(fmt::format("{} is not compared with {}: {}", one.name(), variants_.front().name(), why));
  take_turns();
}

/// The distinct groups of all strategies, each once, with their best plans; then, where a strategy asks for them, with
/// the plans that are as XLA's.
void ModuleComparison::choose_groups() {
  const auto add = [&](std::set<Id>& known, ModuleVariant& one, const PlanChoice& choice) {
    std::set<Id> here;
    for (Candidate& candidate : choose_plans(*one.model, choice, watch_)) {
      if (known.contains(candidate.of->group.id)) continue;  // another strategy has the same group
      here.insert(candidate.of->group.id);
      candidates_.push_back(std::move(candidate));
    }
    known.merge(here);
  };
  std::set<Id> searched, as_xla;
  const std::int64_t wanted = plans_to_consider(question_.consider, question_.top);
  for (ModuleVariant& one : variants_) add(searched, one, {"", wanted, true});
  keep_best_compiled(candidates_, question_.consider, question_.top, question_.compiling, watch_);
  searched_ = candidates_.size();
  for (ModuleVariant& one : variants_)
    if (one.as_xla) add(as_xla, one, {std::string(xla_plan_word), 1, true});
}

void ModuleComparison::race(std::size_t first, std::size_t count, std::map<Id, std::size_t>& fastest) {
  std::size_t done = 0;
  profiler::MeasureOptions how = how_;
  how.progress = [&](std::string_view doing) {
    watch_.observer.progress({std::string(doing),
                              static_cast<std::int64_t>(first + done),
                              static_cast<std::int64_t>(candidates_.size()),
                              {}});
  };
  study::measure(std::span(candidates_).subspan(first, count), {measurer_.measure, true, how},
                 [&](const RacedGroup& group) {
                   done += group.count;
                   if (group.rankings.empty() || group.rankings.front().order.empty()) return;
                   const auto best = static_cast<std::size_t>(group.rankings.front().order.front());
                   fastest[candidates_[first + group.first].of->group.id] = first + group.first + best;
                 });
}

void ModuleComparison::measure_groups() {
  choose_groups();
  if (question_.odd_shapes) add_shapes(candidates_, ShapeKind::odd);
  stop_if_asked(watch_.stop);
  compile(candidates_, question_.compiling, watch_);
  race(0, searched_, fastest_);
  race(searched_, candidates_.size() - searched_, as_xlas_);
}

void ModuleComparison::build_sequences() {
  // Times by events: where CUPTI never was, as it takes time at every launch.
  sequences_ = std::make_unique<profiler::SequenceCache>(*measurer_.untraced, how_.time_limit);
  for (ModuleVariant& one : variants_) {
    std::vector<GroupKernel> kernels;
    for (const explore::DistinctGroup& group : one.model->partition.groups) {
      auto found = fastest_.find(group.group.id);
      if (const auto xla = as_xlas_.find(group.group.id); one.as_xla && xla != as_xlas_.end()) found = xla;
      kernels.push_back(found == fastest_.end()
                            ? GroupKernel{}
                            : GroupKernel{&candidates_[found->second].kernel, &*candidates_[found->second].binary});
    }
    one.module = module_sequence(graph_.graph, one.model->partition, kernels, how_.image);
    one.left_out = work_left_out(graph_.graph, one.model->partition, kernels);
    const auto contents = std::make_shared<std::vector<std::byte>>(std::move(one.module.contents));
    one.number = sequences_->add({one.module.sequence, contents});
  }
}

/// XLA's kernels take their turns as one more strategy.
void ModuleComparison::add_xla() {
  profiler::XlaModuleSequence all = profiler::module_sequence(*xla_, how_.seed);
  ModuleVariant one;
  for (const profiler::XlaLeftOut& left : all.left_out) one.module.groups_left_out += left.launches;
  one.module.launched_groups = all.launches;
  one.module.library_launches = all.library_launches;
  one.module.shortened_loops = all.shortened_loops;
  one.module.buffer_bytes = all.buffer_bytes;
  one.module.sequence = std::move(all.sequence);
  const auto contents = std::make_shared<std::vector<std::byte>>(std::move(all.contents));
  one.number = sequences_->add({one.module.sequence, contents});
  variants_.push_back(std::move(one));
}

/// Rounds of one sample for each strategy and way, in an order drawn anew.
void ModuleComparison::take_turns() {
  for (std::size_t i = 0; i < variants_.size(); ++i)
    for (const ir::CacheState cache : how_.caches)
      for (const ir::LaunchMode launch : {ir::LaunchMode::stream, ir::LaunchMode::graph})
        times_.push_back({i, cache, launch, ir::Outcome::ok, {}, {}});
  for (ModuleTimes& one : times_) check_once(one);
  std::mt19937_64 random(how_.seed);
  std::vector<std::size_t> order(times_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::int64_t round = 0; round < question_.rounds && !watch_.stopped(); ++round) {
    watch_.observer.progress({"timing whole models", round, question_.rounds, {}});
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t place = 0; place < order.size(); ++place) take_one(times_[order[place]], round, place);
  }
}

/// What became of the first plan that was measured and is not right, behind a colon; empty where there is none.
std::string ModuleComparison::why_none() const {
  for (const Candidate& one : candidates_)
    if (one.measured && !one.measured->reason.empty())
      return fmt::format(": {}: {}", ir::name(one.measured->outcome), one.measured->reason);
  return {};
}

/// Nothing is timed that has not run once between guard zones.
void ModuleComparison::check_once(ModuleTimes& times) {
  const ModuleVariant& one = variants_[times.variant];
  if (one.module.sequence.launches.empty()) {
    times.outcome = ir::Outcome::unavailable;
    times.reason = "no group of it has a kernel" + why_none();
    return;
  }
  const gpu::Response response = sequences_->call(one.number, gpu::RunRequest{one.number, how_.seed, false});
  times.outcome = response.outcome;
  times.reason = response.reason;
}

void ModuleComparison::take_one(ModuleTimes& times, std::int64_t round, std::size_t place) {
  if (times.outcome != ir::Outcome::ok) return;
  const int number = variants_[times.variant].number;
  const gpu::TimeRequest request{number, times.cache, ir::TimedBy::events, times.launch, 1, round == 0 ? 2 : 1, false};
  const gpu::Response response = sequences_->call(number, request);
  times.outcome = response.outcome;
  times.reason = response.reason;
  if (response.outcome == ir::Outcome::ok && !response.samples.empty())
    times.samples.push_back({round, static_cast<std::int64_t>(place), response.samples.front()});
}

Spread ModuleComparison::spread(const ModuleTimes& times) const {
  const std::vector<double> seconds = times.seconds();
  return seconds.empty() ? Spread{} : spread_of(seconds, profiler::stop_rule(how_.stop_rule).confidence);
}

/// The first strategy's median under the same way.
double ModuleComparison::baseline_of(const ModuleTimes& way) const {
  for (const ModuleTimes& times : times_)
    if (times.variant == 0 && times.cache == way.cache && times.launch == way.launch) return spread(times).median;
  return 0;
}

/// Why a variant's time is not held against the first one's; empty when it is.
std::string ModuleComparison::incomparable(const ModuleVariant& one) const {
  const ModuleVariant& first = variants_.front();
  if (one.model)
    return work_difference(one.name(), one.left_out, one.module.shortened_loops, first.name(), first.left_out,
                           first.module.shortened_loops);
  if (one.module.groups_left_out == 0 && first.left_out.empty()) return {};
  return fmt::format("{} leaves out {} and {} {}, and they are not known to be of the same work", one.name(),
                     counted(one.module.groups_left_out, "launch"), first.name(),
                     counted(first.module.groups_left_out, "group"));
}

report::Table ModuleComparison::table() const {
  using report::Cell;
  report::Table table;
  table.title = "memory-bound kernels of the whole model, library calls left out, timed in turns";
  table.columns = module_columns(variants_.front().name());
  for (const ModuleTimes& times : times_) {
    const ModuleVariant& one = variants_[times.variant];
    const Spread time = spread(times);
    const std::string apart = incomparable(one);
    const double baseline = apart.empty() ? baseline_of(times) : 0;
    const bool timed = time.n > 0;
    std::string note = times.reason;
    const auto remark = [&](const std::string& words) { note += (note.empty() ? "" : "; ") + words; };
    if (!apart.empty()) remark("not compared: " + apart);
    if (one.module.shortened_loops > 0)
      remark(counted(one.module.shortened_loops, "loop", "runs one trip", "run one trip"));
    const std::int64_t copies = gpu::transfers(one.module.sequence);
    if (copies > 0) remark(counted(copies, "launch", "copies or fills memory", "copy or fill memory"));
    if (one.module.library_launches > 0)
      remark("without " + counted(one.module.library_launches, "launch") + " of libraries and others");
    table.rows.push_back({one.name(), static_cast<std::int64_t>(one.module.sequence.launches.size()), copies,
                          one.module.groups_left_out, static_cast<double>(one.module.buffer_bytes),
                          std::string(ir::name(times.cache)), std::string(ir::name(times.launch)),
                          timed ? Cell(time.median) : Cell(), timed ? Cell(time.low) : Cell(),
                          timed ? Cell(time.high) : Cell(), static_cast<std::int64_t>(time.n),
                          timed && baseline > 0 ? Cell(baseline / time.median) : Cell(), note});
  }
  return table;
}

void ModuleComparison::save(const std::filesystem::path& database, const std::string& command) const {
  store::RunRow run = begun_run(command, profiler::version(*question_.compiling.api), question_.measure.seed, "");
  name_gpu(run, measurer_.opened());
  Recorder recorder(database, std::move(run));
  const store::GraphRow graph = graph_row(graph_, graph_.graph.name, question_.what.model);
  recorder.unit([&] {
    recorder.save(variants_.front().model->target);
    recorder.store().save(graph);
    for (const Candidate& candidate : candidates_) {
      recorder.save_chosen(candidate);
      if (candidate.measured)
        recorder.save_measured(candidate, measurer_.name);
      else
        recorder.save_compiled(candidate);
    }
    for (const ModuleTimes& times : times_) recorder.store().save(row_of(times, recorder.run(), graph.id));
    recorder.close(watch_.stopped() ? "interrupted" : "done");
  });
}

namespace {

/// Names the work too, so that records tell whether two strategies left out the same.
std::string left_out_reason(const ModuleVariant& one) {
  if (!one.model) return "no kernel of XLA's that runs";
  std::string work;
  for (const auto& [place, name] : one.left_out) work += fmt::format("{} {}\n", place.first, ir::index(place.second));
  return fmt::format("no kernel that is right (work {})", short_hex(id_of(std::string_view(work))));
}

}  // namespace

store::ModuleTimeRow ModuleComparison::row_of(const ModuleTimes& times, Id run, Id graph) const {
  const ModuleVariant& one = variants_[times.variant];
  const gpu::GpuProperties& properties = measurer_.worker->opened().properties;
  const Spread time = spread(times);
  store::ModuleTimeRow row;
  row.run = run;
  row.graph = graph;
  row.strategy = one.name();
  row.device = variants_.front().model->target.id;
  row.protocol = {times.cache, ir::TimedBy::events, times.launch, fmt::format("{} rounds", question_.rounds)};
  row.gpu = fmt::format("{}, {}", properties.name, properties.uuid);
  row.driver = properties.driver;
  row.outcome = ir::name(times.outcome);
  row.reason = times.reason;
  row.groups_timed = one.module.launched_groups;
  if (one.module.groups_left_out > 0) row.left_out.push_back({left_out_reason(one), one.module.groups_left_out});
  row.launches = static_cast<std::int64_t>(one.module.sequence.launches.size());
  row.buffers = {static_cast<double>(one.module.buffer_bytes)};
  if (time.n > 0) {
    row.median = Seconds{time.median};
    row.low = Seconds{time.low};
    row.high = Seconds{time.high};
  }
  row.measured_at = time_now();
  row.samples = times.samples;
  row.id = store::module_time_id(row);
  return row;
}

void ModuleComparison::refuse_bad() const {
  for (const ModuleTimes& times : times_)
    if (times.outcome != ir::Outcome::ok)
      throw Error(ir::is_refuted(times.outcome) ? Fault::failed : Fault::missing,
                  fmt::format("{} was not timed: {}", variants_[times.variant].name(), times.reason));
}

std::vector<report::Column> module_columns(const std::string& baseline) {
  using report::Hint;
  return {column("strategy", "strategy"),
          column("launches", "launches", Hint::count),
          column("copies", "of them copies and fills", Hint::count, 2),
          column("groups_left_out", "groups left out", Hint::count, 1),
          column("buffers", "buffers", Hint::bytes, 3),
          column("cache", "cache"),
          column("launch_mode", "launched as"),
          column("median", "time", Hint::seconds),
          column("low", "from", Hint::seconds, 2),
          column("high", "to", Hint::seconds, 2),
          column("samples", "samples", Hint::integer, 3),
          column("speedup", "times as fast as " + baseline, Hint::ratio),
          column("note", "note", Hint::text, 1)};
}

std::vector<std::string> named_strategies(const std::string& words) {
  std::vector<std::string> names;
  if (words.empty())
    for (const explore::Strategy& strategy : explore::strategies()) {
      if (!strategy.needs.xla) names.emplace_back(strategy.name);
    }
  else
    for (const std::string_view name : split(words, ',')) names.emplace_back(trim(name));
  return names;
}

}  // namespace tailor::study
