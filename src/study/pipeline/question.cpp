// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Looking up and reading, then picking a group and its plans. A name that is not there is answered with the nearest
// that is. A group is prepared when it is first asked for and kept, because most questions are about one group of
// many.
#include "study/pipeline/question.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>
#include <variant>

#include "base/counted.h"
#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "explore/plans/walk.h"
#include "explore/strategy.h"
#include "ir/most_moved.h"
#include "study/pipeline/to_rows.h"
#include "study/pipeline/xla_beside.h"

namespace tailor::study {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> file_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none))
    if (entry.is_regular_file(none)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void add_limit(std::vector<explore::AxisLimit>& limits, explore::AxisLimit limit) {
  for (const explore::AxisLimit& one : limits)
    if (one.axis == limit.axis)
      throw Error(Fault::usage, fmt::format("--axis: found {} twice, expected each axis once", limit.axis),
                  fmt::format("--axis {}={},{} asks about both", limit.axis, fmt::join(one.values, ","),
                              fmt::join(limit.values, ",")));
  limits.push_back(std::move(limit));
}

/// The file nearest to a path that is not there: beside it, or among the models that ship.
std::string nearest_file(const fs::path& data, const fs::path& path) {
  const fs::path beside = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const fs::path& folder : {beside, data / "models"}) {
    const std::vector<std::string> names = file_names(folder);
    const std::vector<std::string_view> known(names.begin(), names.end());
    const std::string_view near = nearest(path.filename().string(), known);
    if (near.empty()) continue;
    const fs::path found = folder == fs::path(".") ? fs::path(near) : folder / near;
    return fmt::format("did you mean '{}'?", found.string());
  }
  return fmt::format("models that ship are in {}", (data / "models").string());
}

explore::AxisLimit parse_axis(const std::string& word) {
  const std::size_t at = word.find('=');
  if (at == word.npos || at + 1 == word.size())
    throw Error(Fault::usage, fmt::format("--axis: found '{}', expected AXIS=VALUE,VALUE", word),
                "for example --axis threads=128,256; tailor list axes shows them all");
  explore::AxisLimit limit{word.substr(0, at), {}};
  for (const std::string_view value : split(std::string_view(word).substr(at + 1), ','))
    limit.values.emplace_back(value);
  return limit;
}

/// Precondition: there are groups.
std::size_t most_moved(const explore::Partition& partition) {
  std::vector<ir::GroupTraffic> groups;
  for (const explore::DistinctGroup& group : partition.groups)
    groups.push_back({std::holds_alternative<codegen::Layout>(group.needs), group.times * group.bytes});
  return ir::most_moved(groups).value();
}

std::size_t group_number(const explore::Partition& partition, const std::string& word) {
  const std::size_t count = partition.groups.size();
  std::size_t number = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (fault == std::errc{} && end == word.data() + word.size() && number >= 1 && number <= count) return number - 1;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < count; ++i)
    if (hex(partition.groups[i].group.id).starts_with(word)) found.push_back(i);
  if (found.size() == 1) return found.front();
  const std::string hint = "tailor fuse MODEL --top 0 lists them with number and id";
  if (found.empty())
    throw Error(
        Fault::usage,
        fmt::format("--group: found '{}', expected a number from 1 to {} or the beginning of an id", word, count),
        hint);
  throw Error(Fault::usage, fmt::format("--group: {} ids begin with '{}'", found.size(), word), hint);
}

}  // namespace

hlo::Imported load_model(const fs::path& data, const std::string& asked, const Watch& watch) {
  if (asked.empty())
    throw Error(Fault::usage, "found an empty name, expected a model as .hlo, .hlo.gz or .graph",
                fmt::format("models that ship are in {}", (data / "models").string()));
  const std::string path = asked == "-" ? "/dev/stdin" : asked;
  std::error_code fault;
  if (!fs::exists(path, fault))
    throw Error(Fault::missing, Position{path}, "no such file; expected a model as .hlo, .hlo.gz or .graph",
                nearest_file(data, path));
  hlo::Imported imported = hlo::import_file(path, watch.stop);
  for (const std::string& warning : imported.report.warnings)
    watch.observer.warning(fmt::format("{}: {}", path, warning));
  return imported;
}

ir::Device load_device(const fs::path& data, const std::string& name) {
  std::error_code absent;
  if (name.find(',') != name.npos && !fs::exists(name, absent))
    throw Error(Fault::usage, fmt::format("--device: found '{}', expected one GPU", name),
                "one command for each; tailor fuse --compare takes several, and so does a sweep");
  return ir::find_device(name, (data / "devices").string());
}

Target load_target(const fs::path& data, const std::string& name, const ir::Calibration& calibration) {
  Target target;
  target.device = load_device(data, name);
  target.limits = ir::limits(target.device);
  target.calibrated = costmodel::calibrated(target.device, calibration);
  target.calibrated.xla = costmodel::xla::find_target(target.device.name, (data / "xla").string());
  const bool is_path = name.find('/') != name.npos || name.ends_with(".json");
  target.file = read_file(is_path ? fs::path(name) : data / "devices" / (target.device.name + ".json"));
  target.id = device_row(target.device, target.file).id;
  target.figures = id_of(std::string_view(target.device.arch + "\n" + costmodel::text(target.calibrated)));
  return target;
}

ir::Calibration load_calibration(const fs::path& data, const std::string& name) {
  return ir::find_calibration(name, (data / "calibrations").string());
}

std::vector<costmodel::CalibratedDevice> load_devices(const fs::path& data, const std::vector<std::string>& names,
                                                      const ir::Calibration& calibration) {
  std::vector<costmodel::CalibratedDevice> devices;
  for (const std::string& name : names) {
    devices.push_back(load_target(data, name, calibration).calibrated);
    const costmodel::CalibratedDevice& last = devices.back();
    const bool again = std::any_of(devices.begin(), devices.end() - 1,
                                   [&](const costmodel::CalibratedDevice& other) { return other.name == last.name; });
    if (again) throw Error(Fault::usage, fmt::format("--device: found {} twice, expected different GPUs", last.name));
  }
  return devices;
}

std::vector<std::string_view> ranking_models() {
  std::vector<std::string_view> known;
  for (const costmodel::Model& row : costmodel::models())
    if (row.ranks_plans) known.push_back(row.name);
  return known;
}

const costmodel::Model& projecting_model(const std::string& name) {
  const costmodel::Model* model = costmodel::find_model(name);
  if (model != nullptr && model->ranks_plans) return *model;
  throw Error(Fault::usage,
              model == nullptr ? fmt::format("no cost model is called '{}'", name)
                               : fmt::format("cost model '{}' cannot rank plans: it sees {}", name, model->sees),
              suggestion(name, ranking_models()));
}

explore::FusionSetting fusion_setting(const costmodel::CalibratedDevice* device, const Watch& watch) {
  explore::FusionSetting setting;
  setting.device = device;
  setting.price = costmodel::find_model("group");
  setting.plans = costmodel::find_model("projected");
  setting.stop = watch.stop;
  setting.progress = [&observer = watch.observer](const explore::SearchProgress& progress) {
    observer.progress({std::string(progress.what), progress.done, progress.total, {}});
  };
  return setting;
}

std::string needs_text(const codegen::Classified& needs) {
  if (const auto* why = std::get_if<ir::Rejection>(&needs)) return fmt::format("needs {}", why->rule);
  return text(std::get<codegen::Layout>(needs));
}

FusedModel::FusedModel(const Question& question, const fs::path& data, const Watch& watch)
    : calibration(load_calibration(data, question.calibration)),
      target(load_target(data, question.device, calibration)),
      model(&projecting_model(question.cost_model)),
      wanted_(question.group),
      watch_(watch) {
  for (const std::string& axis : question.axes) add_limit(limits_, parse_axis(axis));
  const explore::ChosenStrategy strategy = explore::find_strategy(question.strategy);
  graph = load_model(data, question.model, watch).graph;
  const explore::FusionSetting setting = fusion_setting(&target.calibrated, watch);
  partition = explore::partition(graph, explore::fuse(strategy, graph, setting), watch.stop);
  if (partition.groups.empty())
    throw Error(Fault::missing, Position{question.model}, nothing_to_fuse(partition),
                "tailor import shows what is in it");
  groups_.resize(partition.groups.size());
}

std::string nothing_to_fuse(const explore::Partition& partition) {
  if (!partition.groups.empty()) return {};
  const auto calls = whole_count(partition.library_launches);
  if (calls == 0)
    return "there is nothing to fuse: no operation of the model needs a kernel, and it makes no library calls";
  return fmt::format("there is nothing to fuse: the model makes {}, {} {}, and nothing else needs a kernel",
                     counted(calls, "library call"), calls == 1 ? "which moves" : "which move",
                     humane_bytes(partition.library_bytes));
}

const PreparedGroup& FusedModel::group(std::size_t number) {
  std::unique_ptr<PreparedGroup>& group = groups_[number];
  if (!group) group = std::make_unique<PreparedGroup>(partition.groups[number], number);
  return *group;
}

std::optional<ir::Rejection> FusedModel::refused(std::size_t number) {
  if (const auto* reason = std::get_if<ir::Rejection>(&partition.groups[number].needs)) return *reason;
  if (const auto* reason = std::get_if<ir::Rejection>(&group(number).prepared)) return *reason;
  return {};
}

std::size_t FusedModel::asked_group() const {
  return wanted_.empty() ? most_moved(partition) : group_number(partition, wanted_);
}

std::size_t FusedModel::chosen_group() {
  const std::size_t number = asked_group();
  if (const std::optional<ir::Rejection> reason = refused(number))
    throw Error(Fault::failed,
                fmt::format("group {} ({}) cannot be planned yet: {}", number + 1,
                            codegen::title_of(partition.groups[number].group.graph),
                            reason->reason.empty() ? reason->rule : reason->reason),
                "tailor fuse shows which groups can; --group picks one");
  explore::Axes axes = explore::default_axes(*group(number).ready(), target.limits);
  const codegen::Prepared& prepared = *group(number).ready();
  for (const explore::AxisLimit& limit : limits_) {
    explore::restrict_axis(axes, limit);  // refuses what is no axis
    const ir::PlanField axis = *ir::plan_field_named(limit.axis);
    if (!explore::has_axis(prepared, axis))
      watch_.observer.note(fmt::format("plans of {} have no {}{}: --axis {}=... changes nothing",
                                       name(prepared.skeleton), limit.axis,
                                       row(prepared.skeleton).has(axis) ? " to choose" : "", limit.axis));
    else if (prepared.skeleton == ir::Skeleton::stages && axis == ir::PlanField::homes)
      watch_.observer.note(
          "--axis homes=... is about what waits within a stage: between stages all waits in global memory");
  }
  if (wanted_.empty() && partition.groups.size() > 1)
    watch_.observer.note(fmt::format(
        "{}: of the groups that can be planned it moves most bytes in a run; --group picks another", title(number)));
  return number;
}

std::string FusedModel::title(std::size_t number) {
  const explore::DistinctGroup& distinct = partition.groups[number];
  return fmt::format("group {} of {}, {}, {}: {}, {}", number + 1, partition.groups.size(),
                     short_hex(distinct.group.id), counted(distinct.occurrences.size(), "place"), group(number).title(),
                     needs_text(distinct.needs));
}

Choosing FusedModel::choosing(std::int64_t top, std::int64_t random, std::uint64_t seed) const {
  Choosing how;
  how.model = model;
  how.limits = limits_;
  how.keep = top > 0 ? top : explore::keep_all;
  how.random = random;
  how.seed = seed;
  return how;
}

namespace {

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::int64_t parse_rank(const std::string& text) {
  std::int64_t rank = 1;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (fault != std::errc{} || rank < 1)
    throw Error(Fault::usage, fmt::format("found plan '{}', expected a plan's text or a rank from 1 on", text));
  return rank;
}

}  // namespace

namespace {

/// Why a space that was searched holds no plan.
ir::Rejection why_no_plan(const explore::Tuned& tuned) {
  if (tuned.rejections.empty()) {
    std::string why;
    for (const explore::Dependence& one : explore::dependences())
      if (one.excludes) why += fmt::format("{}{}", why.empty() ? "" : ", ", one.why);
    return {"axes", fmt::format("the values of the axes do not go together: {}", why)};
  }
  const explore::RejectedPlans& most = tuned.rejections.front();
  if (most.plans == tuned.enumerated)
    return {ir::Refusal::of_rule(most.rule),
            fmt::format("rule {} refuses {} {}: {}", most.rule, tuned.enumerated == 1 ? "the only" : "every one of",
                        tuned.enumerated == 1 ? "plan" : with_commas(tuned.enumerated), most.reason)};
  // No single rule holds against all: those that took most.
  constexpr std::size_t told = 3;
  std::string out;
  for (const explore::RejectedPlans& one : std::span(tuned.rejections).first(std::min(told, tuned.rejections.size())))
    out += fmt::format("{}rule {} refuses {} of {}: {}", out.empty() ? "" : "; ", one.rule, with_commas(one.plans),
                       with_commas(tuned.enumerated), one.reason);
  return {ir::Refusal::of_rule(most.rule), out};
}

}  // namespace

Error no_plan_error(const explore::Tuned& tuned) {
  return {Fault::failed, "no plan is left: " + why_no_plan(tuned).reason,
          "--axis may take other values than those asked about (tailor list axes); a group that no plan of the space "
          "fits needs another --strategy or a larger GPU"};
}

namespace {

/// Whether it is neither a rank nor XLA's. Throws Error(usage) for what is none of them, nor a plan's text.
bool is_written(const std::string& plan) {
  const auto skeletons = ir::skeletons();
  const bool begins_plan = std::any_of(skeletons.begin(), skeletons.end(),
                                       [&](const ir::SkeletonRow& one) { return plan.starts_with(one.name); });
  if (!plan.empty() && plan.find_first_of(" =") == plan.npos && plan != xla_plan_word && !begins_plan &&
      !is_number(plan))
    throw Error(Fault::usage,
                fmt::format("found plan '{}', expected a rank from 1 on, xla, or a plan's whole text in quotes", plan),
                "tailor explore lists plans by rank; --format json has their text");
  if (plan.find('=') != plan.npos && plan.find(' ') == plan.npos)
    throw Error(Fault::usage,
                fmt::format("found plan '{}', expected a rank, xla, or a plan's whole text in quotes", plan),
                begins_plan ? "the words of a plan stand apart by blanks; tailor explore prints whole texts"
                            : fmt::format("--axis {} restricts the plans that ranks count; tailor explore prints whole "
                                          "texts",
                                          plan));
  return !plan.empty() && !is_number(plan) && plan != xla_plan_word;
}

}  // namespace

Candidate choose_plan(FusedModel& model, std::size_t group, const std::string& plan, const Watch& watch) {
  (void)is_written(plan);
  if (!plan.empty() && !is_number(plan)) return named_plan(model.group(group), model.target, model.choosing(1), plan);
  const std::int64_t rank = plan.empty() ? 1 : parse_rank(plan);
  Choice choice = choose(model.group(group), model.target, model.choosing(rank), watch.stop);
  stop_if_asked(watch.stop);
  std::vector<Candidate>& best = choice.candidates;
  if (best.empty()) throw no_plan_error(choice.tuned);
  if (std::ssize(best) < rank)
    throw Error(Fault::usage,
                fmt::format("found the rank {} of a plan, expected at most {}: so many different kernels there are",
                            with_commas(rank), with_commas(std::ssize(best))),
                "tailor explore lists them");
  watch.observer.detail(fmt::format("plan: {}", ir::text(best.back().plan)));
  return std::move(best.back());
}

void place_among_all(FusedModel& model, std::size_t group, std::span<Candidate> plans, const Watch& watch) {
  Choosing how = model.choosing(0);
  how.with_xla = true;
  const Choice all = choose(model.group(group), model.target, how, watch.stop);
  stop_if_asked(watch.stop);
  for (Candidate& plan : plans) {
    const auto same = std::find_if(all.candidates.begin(), all.candidates.end(),
                                   [&](const Candidate& one) { return one.kernel_id == plan.kernel_id; });
    plan.placed = same == all.candidates.end() ? ir::Placed{.place = 0} : same->placed;
  }
}

namespace {

Unplanned unplanned_group(const FusedModel& model, std::size_t group, const ir::Rejection& why) {
  const ir::Group& of = model.partition.groups[group].group;
  const bool words = !why.reason.empty() && why.reason.find(why.rule) == std::string::npos;
  return {group, of.id, codegen::title_of(of.graph), why.rule,
          words                ? fmt::format("{}: {}", why.rule, why.reason)
          : why.reason.empty() ? why.rule
                               : why.reason};
}

/// Adds the plan that is as XLA would write the group's kernel, or says why there is none.
std::optional<ir::Rejection> add_xla_plan(FusedModel& model, std::size_t number, std::vector<Candidate>& all) {
  const PreparedGroup& group = model.group(number);
  if (std::optional<Candidate> one = xla_candidate(group, model.target, *model.model)) {
    all.push_back(std::move(*one));
    return {};
  }
  const auto found = xla_beside(group.group, group.prepared, model.target.calibrated, *model.model);
  if (!found) (void)named_xla_plan(group, model.target, *model.model);  // throws
  return ir::Rejection{"xla", fmt::format("as its {} emitter would: {}", found->emitter, found->note), true};
}

}  // namespace

std::vector<Candidate> choose_plans(FusedModel& model, const PlanChoice& choice, const Watch& watch,
                                    std::vector<Unplanned>* unplanned) {
  std::vector<Candidate> all;
  explore::Tuned searched;
  const auto leave_out = [&](std::size_t group, const ir::Rejection& why) {
    if (unplanned != nullptr) unplanned->push_back(unplanned_group(model, group, why));
  };
  const auto add_best = [&](std::size_t group) {
    Choice found =
        choose(model.group(group), model.target,
               model.choosing(choice.top, choice.random, static_cast<std::uint64_t>(choice.seed)), watch.stop);
    if (found.candidates.empty() && !found.tuned.stopped) leave_out(group, why_no_plan(found.tuned));
    if (found.candidates.empty()) searched = std::move(found.tuned);
    for (Candidate& candidate : found.candidates) all.push_back(std::move(candidate));
  };
  // Who tells what has no plan tells so of a plan that has no kernel.
  const auto add_named = [&](std::size_t group) {
    if (unplanned == nullptr || !is_written(choice.plan))
      return all.push_back(choose_plan(model, group, choice.plan, watch));
    auto made = written_plan(model.group(group), model.target, model.choosing(1), choice.plan);
    if (const auto* why = std::get_if<ir::Rejection>(&made)) return leave_out(group, *why);
    all.push_back(std::get<Candidate>(std::move(made)));
  };
  const bool as_xla = choice.plan == xla_plan_word && !model.names_group();
  const bool whole = choice.whole || as_xla;
  const std::optional<ir::Rejection> refused =
      unplanned != nullptr && !whole ? model.refused(model.asked_group()) : std::nullopt;
  if (refused) {
    leave_out(model.asked_group(), *refused);
  } else if (!choice.plan.empty() && !as_xla) {
    add_named(model.chosen_group());
  } else if (!whole) {
    add_best(model.chosen_group());
  } else {
    std::int64_t count = 0;
    const std::size_t groups = model.partition.groups.size();
    for (std::size_t i = 0; i < groups && !watch.stopped(); ++i) {
      watch.observer.progress({"choosing plans", static_cast<std::int64_t>(i), static_cast<std::int64_t>(groups), {}});
      std::optional<ir::Rejection> why = model.refused(i);
      if (!why && as_xla)
        why = add_xla_plan(model, i, all);
      else if (!why)
        add_best(i);
      count += why ? 1 : 0;
      if (why) leave_out(i, *why);
    }
    if (count > 0 && unplanned == nullptr)
      watch.observer.note(fmt::format("{} of {} cannot be planned{}; tailor fuse says why", count,
                                      counted(groups, "group"), as_xla ? " as XLA would write them" : " yet"));
  }
  if (unplanned != nullptr && !unplanned->empty()) return print(all), all;
  if (all.empty() && searched.enumerated > 0 && !watch.stopped()) throw no_plan_error(searched);
  if (all.empty() && !watch.stopped())
    throw Error(Fault::failed, "there is no plan to look at", "tailor explore says which rule drops how many");
  print(all);
  return all;
}

}  // namespace tailor::study
