// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Every distinct group of every strategy is measured first, so that each strategy runs its fastest plans that are
// right; then the strategies take turns.
#include "cli/profile_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "base/error.h"
#include "base/statistics.h"
#include "base/text.h"
#include "cli/import_xla.h"
#include "cli/output.h"
#include "cli/profile_options.h"
#include "explore/strategy.h"
#include "profiler/measure/sequence_cache.h"
#include "study/module/module_sequence.h"
#include "study/pipeline/manifest.h"
#include "study/pipeline/to_rows.h"

namespace tailor::cli {

using namespace study;

namespace {

/// One strategy of the comparison, or XLA with its own kernels.
struct ModuleVariant {
  std::unique_ptr<Chosen> chosen;  ///< null of XLA's kernels
  ModuleSequence module;
  int number = -1;  ///< in the workbench

  std::string name() const { return chosen ? chosen->partition.strategy : std::string(xla_strategy); }
};

/// How a module is launched and found: one column of the comparison.
struct ModuleWay {
  ir::CacheState cache;
  ir::LaunchMode launch;
};

/// All samples of one strategy under one way.
struct ModuleTimes {
  std::size_t variant = 0;
  ModuleWay way{};
  ir::Outcome outcome = ir::Outcome::ok;
  std::string reason;
  std::vector<store::ModuleSampleRow> samples;

  std::vector<double> seconds() const {
    std::vector<double> all;
    for (const store::ModuleSampleRow& row : samples) all.push_back(row.sample.duration.value);
    return all;
  }
};

class Comparison {
 public:
  Comparison(const ProfileCommand& options, const Context& context, const profiler::Nvrtc& api,
             const InterruptWatch& interrupts)
      : options_(options),
        context_(context),
        api_(api),
        interrupts_(interrupts),
        graph_(load_model(context, options.what.model)) {}

  void run() {
    if (!options_.xla.empty())
      xla_ = profiler::read_xla(profiler::choose_module(profiler::xla_modules(options_.xla), ""));
    load_strategies();
    how_ = measure_options(options_, context_, device(), interrupts_.token());
    how_.counters = {};
    measurer_ = make_measurer(options_, context_, device(), interrupts_.token());
    measure_groups();
    stop_if_asked(interrupts_);
    build_sequences();
    if (xla_) add_xla();
    take_turns();
    context_.console->finish();
    if (!options_.database.empty()) store_all();
    show(context_, {"tailor.profile_module/1", device().name, {{"strategies", table()}}, ""});
    stop_if_asked(interrupts_);
    refuse_bad();
  }

 private:
  const ir::Device& device() const { return variants_.front().chosen->device; }

  void load_strategies() {
    for (const std::string& name : named_strategies(options_.strategies)) {
      GroupOptions what = options_.what;
      what.strategy = name;
      variants_.push_back({std::make_unique<Chosen>(context_, what, Chosen::WholeModel{}), {}, -1});
    }
  }

  /// The distinct groups of all strategies, each once.
  void measure_groups() {
    std::vector<ProfileItem> items;
    std::set<Id> known;
    for (ModuleVariant& one : variants_) {
      std::vector<ChosenPlan> fresh;
      std::set<Id> here;
      for (ChosenPlan& plan : chosen_plans(context_, *one.chosen, {"", options_.top, true}, interrupts_.token())) {
        if (known.contains(plan.of->id)) continue;  // another strategy has the same group
        here.insert(plan.of->id);
        group_of_[plan.of] = &one.chosen->partition.groups[plan.group];
        fresh.push_back(std::move(plan));
      }
      known.merge(here);
      for (ProfileItem& item : profile_items(std::move(fresh), *one.chosen, !options_.no_odd_shape))
        items.push_back(std::move(item));
    }
    stop_if_asked(interrupts_);
    compile_items(context_, api_,
                  {device().arch, options_.cache, static_cast<int>(options_.threads), interrupts_.token()}, items);
    items_ = std::move(items);
    std::int64_t done = 0;
    how_.progress = [&](std::string_view doing) {
      context_.console->progress({std::string(doing), done, static_cast<std::int64_t>(items_.size()), {}});
    };
    profile_groups(items_, measurer_.measure, how_, [&](const ProfiledGroup& group) {
      done += static_cast<std::int64_t>(group.count);
      if (group.rankings.empty() || group.rankings.front().order.empty()) return;
      const auto best = static_cast<std::size_t>(group.rankings.front().order.front());
      fastest_[items_[group.first].of->id] = group.first + best;
    });
  }

  void build_sequences() {
    sequences_ = std::make_unique<profiler::SequenceCache>(*measurer_.worker, how_.time_limit);
    for (ModuleVariant& one : variants_) {
      std::vector<GroupKernel> kernels;
      for (const explore::DistinctGroup& group : one.chosen->partition.groups) {
        const auto found = fastest_.find(group.group.id);
        kernels.push_back(found == fastest_.end()
                              ? GroupKernel{}
                              : GroupKernel{&items_[found->second].kernel, &*items_[found->second].binary});
      }
      one.module = module_sequence(graph_.graph, one.chosen->partition, kernels, how_.image);
      const auto contents = std::make_shared<std::vector<std::byte>>(std::move(one.module.contents));
      one.number = sequences_->add({one.module.sequence, contents});
    }
  }

  /// XLA's kernels take their turns as one more strategy.
  void add_xla() {
    profiler::XlaModuleSequence all = profiler::module_sequence(*xla_, how_.seed);
    ModuleVariant one;
    for (const profiler::XlaLeftOut& left : all.left_out) one.module.places_left_out += left.places;
    one.module.places = all.places;
    one.module.shortened_loops = all.shortened_loops;
    one.module.buffer_bytes = all.buffer_bytes;
    one.module.sequence = std::move(all.sequence);
    const auto contents = std::make_shared<std::vector<std::byte>>(std::move(all.contents));
    one.number = sequences_->add({one.module.sequence, contents});
    for (const ModuleVariant& ours : variants_)
      if (ours.module.places_left_out != one.module.places_left_out)
        context_.console->warning(fmt::format("{} leaves out {} groups, XLA {}: their times are not of the same work",
                                              ours.name(), ours.module.places_left_out, one.module.places_left_out));
    variants_.push_back(std::move(one));
  }

  /// Rounds of one sample for each strategy and way, in an order drawn anew.
  void take_turns() {
    for (std::size_t i = 0; i < variants_.size(); ++i)
      for (const ir::CacheState cache : how_.caches)
        for (const ir::LaunchMode launch : {ir::LaunchMode::stream, ir::LaunchMode::graph})
          times_.push_back({i, {cache, launch}, ir::Outcome::ok, {}, {}});
    for (ModuleTimes& one : times_) check_once(one);
    std::mt19937_64 random(how_.seed);
    std::vector<std::size_t> order(times_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::int64_t round = 0; round < options_.rounds && !interrupts_.requested(); ++round) {
      context_.console->progress({"timing whole models", round, options_.rounds, {}});
      std::shuffle(order.begin(), order.end(), random);
      for (std::size_t place = 0; place < order.size(); ++place) take_one(times_[order[place]], round, place);
    }
  }

  /// Nothing is timed that has not run once between guard zones.
  void check_once(ModuleTimes& times) {
    const ModuleVariant& one = variants_[times.variant];
    if (one.module.sequence.launches.empty()) {
      times.outcome = ir::Outcome::unavailable;
      times.reason = "no group of it has a kernel";
      return;
    }
    const gpu::Response response = sequences_->call(one.number, gpu::RunRequest{one.number, how_.seed, false});
    times.outcome = response.outcome;
    times.reason = response.reason;
  }

  void take_one(ModuleTimes& times, std::int64_t round, std::size_t place) {
    if (times.outcome != ir::Outcome::ok) return;
    const int number = variants_[times.variant].number;
    const gpu::TimeRequest request{
        number, times.way.cache, ir::TimedBy::events, times.way.launch, 1, round == 0 ? 2 : 1, false};
    const gpu::Response response = sequences_->call(number, request);
    times.outcome = response.outcome;
    times.reason = response.reason;
    if (response.outcome == ir::Outcome::ok && !response.samples.empty())
      times.samples.push_back({round, static_cast<std::int64_t>(place), response.samples.front()});
  }

  Spread spread(const ModuleTimes& times) const {
    const std::vector<double> seconds = times.seconds();
    return seconds.empty() ? Spread{} : spread_of(seconds, profiler::stop_rule(how_.stop_rule).confidence);
  }

  /// The first strategy's median under the same way.
  double baseline_of(const ModuleWay& way) const {
    for (const ModuleTimes& times : times_)
      if (times.variant == 0 && times.way.cache == way.cache && times.way.launch == way.launch)
        return spread(times).median;
    return 0;
  }

  report::Table table() const {
    using report::Cell;
    report::Table table;
    table.title = "memory-bound kernels of the whole model, library calls left out, timed in turns";
    table.columns = module_columns(variants_.front().name());
    for (const ModuleTimes& times : times_) {
      const ModuleVariant& one = variants_[times.variant];
      const Spread time = spread(times);
      const double baseline = baseline_of(times.way);
      const bool timed = time.n > 0;
      std::string note = times.reason;
      if (one.module.shortened_loops > 0)
        note += fmt::format("{}{} loops run one trip", note.empty() ? "" : "; ", one.module.shortened_loops);
      table.rows.push_back({one.name(), static_cast<std::int64_t>(one.module.sequence.launches.size()),
                            one.module.places_left_out, static_cast<double>(one.module.buffer_bytes),
                            std::string(ir::name(times.way.cache)), std::string(ir::name(times.way.launch)),
                            timed ? Cell(time.median) : Cell(), timed ? Cell(time.low) : Cell(),
                            timed ? Cell(time.high) : Cell(), static_cast<std::int64_t>(time.n),
                            timed && baseline > 0 ? Cell(baseline / time.median) : Cell(), note});
    }
    return table;
  }

  void store_all() {
    store::Store store = store::Store::open(options_.database);
    store::RunRow run = begun_run(context_.command, profiler::version(api_), options_.seed, "");
    name_gpu(run, measurer_.worker->opened());
    const store::DeviceRow device_row = load_device_row(context_, options_.what.device, device());
    const store::GraphRow graph = graph_row(graph_, graph_.graph.name, options_.what.model);
    const MeasuredUnder under{run.id, device_row.id, measurer_.name};
    store::Store::Transaction unit(store);
    store.save(device_row);
    store.save(run);
    store.save(graph);
    for (const ProfileItem& item : items_) save_item(store, item, *group_of_.at(item.of), under);
    for (const ModuleTimes& times : times_) store.save(module_row(times, run.id, graph.id, device_row.id));
    run.finished_at = time_now();
    run.outcome = interrupts_.requested() ? "interrupted" : "done";
    store.save(run);
    unit.commit();
    context_.console->note(fmt::format("stored in {}", options_.database));
  }

  store::ModuleTimeRow module_row(const ModuleTimes& times, Id run, Id graph, Id device_id) const {
    const ModuleVariant& one = variants_[times.variant];
    const gpu::GpuProperties& properties = measurer_.worker->opened().properties;
    const Spread time = spread(times);
    store::ModuleTimeRow row;
    row.run = run;
    row.graph = graph;
    row.strategy = one.name();
    row.device = device_id;
    row.protocol = {times.way.cache, ir::TimedBy::events, times.way.launch, fmt::format("{} rounds", options_.rounds)};
    row.gpu = fmt::format("{}, {}", properties.name, properties.uuid);
    row.driver = properties.driver;
    row.outcome = ir::name(times.outcome);
    row.reason = times.reason;
    row.groups_timed = one.module.places;
    if (one.module.places_left_out > 0) row.left_out.push_back({"no kernel that is right", one.module.places_left_out});
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

  void refuse_bad() const {
    for (const ModuleTimes& times : times_)
      if (times.outcome != ir::Outcome::ok)
        throw Error(ir::is_refuted(times.outcome) ? Fault::failed : Fault::missing,
                    fmt::format("{} was not timed: {}", variants_[times.variant].name(), times.reason));
  }

  const ProfileCommand& options_;
  const Context& context_;
  const profiler::Nvrtc& api_;
  const InterruptWatch& interrupts_;
  hlo::Imported graph_;
  std::optional<profiler::XlaModule> xla_;
  std::vector<ModuleVariant> variants_;
  profiler::MeasureOptions how_;
  Measurer measurer_;
  std::vector<ProfileItem> items_;
  std::map<Id, std::size_t> fastest_;  ///< group -> item
  std::map<const ir::Group*, const explore::DistinctGroup*> group_of_;
  std::unique_ptr<profiler::SequenceCache> sequences_;
  std::vector<ModuleTimes> times_;
};

}  // namespace

std::vector<report::Column> module_columns(const std::string& baseline) {
  using report::Hint;
  return {column("strategy", "strategy"),
          column("launches", "launches", Hint::count),
          column("left_out", "groups left out", Hint::count, 1),
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
    for (const explore::Strategy& strategy : explore::strategies()) names.emplace_back(strategy.name);
  else
    for (const std::string_view name : split(words, ',')) names.emplace_back(trim(name));
  return names;
}

void profile_module(const ProfileCommand& options, const Context& context, const profiler::Nvrtc& api,
                    const InterruptWatch& interrupts) {
  if (options.rounds < 1) throw Error(Fault::usage, "--rounds: found 0, expected at least one");
  Comparison(options, context, api, interrupts).run();
}

}  // namespace tailor::cli
