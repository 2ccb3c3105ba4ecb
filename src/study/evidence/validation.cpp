// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From names to tables of scores. Observations are read and become samples; every model under every calibration, every
// rival and what others published become rows. Called by tailor validate.
//
// What a calibration was fitted to is never scored: the ids that its figures rest on are taken out for all rows of the
// table, so that all are judged on the same observations. Rivals are fitted on the train side of the same evidence.
#include "study/evidence/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "base/counted.h"
#include "base/error.h"
#include "base/text.h"
#include "calibrate/ablation.h"
#include "calibrate/rivals.h"
#include "calibrate/validate.h"
#include "costmodel/model.h"
#include "study/pipeline/question.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using calibrate::Contender;
using calibrate::Machine;
using calibrate::Sample;

constexpr std::string_view own_calibration = "own";

/// One calibration of the question, for each device that it holds for.
struct Calibrated {
  std::string name;
  std::map<std::string, Machine> machines;
  std::set<Id> fitted;
};

Calibrated load(const std::string& name, const std::vector<ir::Device>& devices, const std::filesystem::path& data) {
  Calibrated result;
  result.name = name;
  const auto take = [&](const ir::Device& device, const ir::Calibration& calibration) {
    result.machines.emplace(device.name, Machine(device, calibration));
    for (const ir::Fit& fit : calibration.fits) result.fitted.insert(fit.observations.begin(), fit.observations.end());
    if (calibration.residual)
      result.fitted.insert(calibration.residual->observations.begin(), calibration.residual->observations.end());
  };
  if (name == own_calibration) {
    for (const ir::Device& device : devices)
      if (std::filesystem::is_regular_file(data / "calibrations" / (device.name + ".json")))
        take(device, load_calibration(data, device.name));
    return result;
  }
  const ir::Calibration calibration = load_calibration(data, name);
  result.name = calibration.name;
  for (const ir::Device& device : devices)
    if (calibration.device.empty() || calibration.device == device.name) take(device, calibration);
  if (result.machines.empty())
    throw Error(Fault::missing,
                fmt::format("calibration '{}' is of '{}', which no device file describes", name, calibration.device),
                "--device names the file of a GPU of your own; a file in data/devices adds one for all commands");
  return result;
}

const costmodel::Model& model_named(const std::string& name) {
  if (const costmodel::Model* model = costmodel::find_model(name); model != nullptr && model->ranks_plans)
    return *model;
  std::vector<std::string_view> known;
  for (const costmodel::Model& model : costmodel::models())
    if (model.ranks_plans) known.push_back(model.name);
  throw Error(Fault::usage, fmt::format("no cost model '{}' can be asked about observations alone", name),
              suggestion(name, known));
}

Contender model_contender(const costmodel::Model& model, const Calibrated& calibrated) {
  return {costmodel::estimate_name(model.name, calibrated.name), [&model, &calibrated](const Sample& sample) {
            const auto machine = calibrated.machines.find(sample.of.device);
            if (machine == calibrated.machines.end()) return calibrate::Guess{-1, 0, 0, ""};
            const ir::Estimate e = calibrate::estimate(model, sample, machine->second.of(sample.operation));
            return calibrate::Guess{e.total.value, e.low.value, e.high.value, ir::name(e.bottleneck)};
          }};
}

constexpr std::string_view without = " without ";

/// The calibration with one part of the model switched off; equal figures: the part is not in it.
std::optional<Calibrated> ablated(const Calibrated& full, const calibrate::Ablation& ablation,
                                  const std::vector<ir::Device>& devices) {
  Calibrated result{fmt::format("{}{}{}", full.name, without, ablation.part), {}, {}};
  bool differs = false;
  for (const auto& [name, machine] : full.machines) {
    const auto device =
        std::find_if(devices.begin(), devices.end(), [&](const ir::Device& d) { return d.name == name; });
    const auto changed = [&](costmodel::CalibratedDevice& figures) {
      const costmodel::CalibratedDevice before = figures;
      ablation.off(figures, *device);
      differs = differs || !(figures == before);
    };
    result.machines.emplace(name, machine.changed(changed));
  }
  return differs ? std::optional(std::move(result)) : std::nullopt;
}

/// What the part costs that a row is without, beside the row of the whole model in the same cell.
void add_costs(report::Table& table) {
  using report::Hint;
  const auto at = [&](std::string_view key) { return place_of_column(table, key); };
  const std::size_t median = at("median_error"), mean = at("mean_error"), rank = at("bandwidth_rank");
  const bool cells = std::any_of(table.columns.begin(), table.columns.end(),
                                 [](const report::Column& one) { return one.key == "cell"; });
  std::map<std::string, std::vector<report::Cell>> whole;
  const auto key = [&](const std::vector<report::Cell>& row, const std::string& predictor) {
    return predictor + (cells ? " in " + std::get<std::string>(row[at("cell")]) : "");
  };
  for (const auto& row : table.rows) whole[key(row, std::get<std::string>(row[0]))] = row;
  table.columns.push_back(column("costs_median", "costs (median)", Hint::number));
  table.columns.push_back(column("costs_mean", "costs (mean)", Hint::number));
  table.columns.push_back(column("costs_rank", "costs (rank)", Hint::number));
  for (auto& row : table.rows) {
    const std::string& predictor = std::get<std::string>(row[0]);
    const std::size_t cut = predictor.find(without);
    const auto full = whole.find(key(row, predictor.substr(0, cut)));
    const auto difference = [&](std::size_t column, double sign) {
      const auto *a = std::get_if<double>(&row[column]), *b = std::get_if<double>(&full->second[column]);
      const bool said = cut != predictor.npos && a != nullptr && b != nullptr;
      return said ? report::Cell(sign * (*a - *b)) : report::Cell();
    };
    report::Cell costs[] = {difference(median, 100), difference(mean, 100), difference(rank, -1)};
    for (report::Cell& cost : costs) row.push_back(std::move(cost));
  }
}

Contender rival_contender(const calibrate::Rival& rival, std::span<const Sample> train,
                          std::span<const ir::Device> devices) {
  return {std::string(rival.name), [predict = calibrate::fitted_rival(rival, train, devices)](const Sample& sample) {
            return calibrate::Guess{predict(sample), 0, 0, ""};
          }};
}

report::Cell cell(const std::optional<double>& value) { return value ? report::Cell(*value) : report::Cell(); }

report::Table score_table(std::span<const calibrate::Score> scores, calibrate::By by) {
  using report::Hint;
  report::Table table;
  table.title = by == calibrate::By::nothing ? "all" : fmt::format("by {}", name(by));
  table.columns.push_back(column("predictor", "model"));
  if (by != calibrate::By::nothing) table.columns.push_back(column("cell", std::string(name(by))));
  for (report::Column& one : std::vector<report::Column>{
           column("observations", "observations", Hint::count),
           column("median_error", "median error", Hint::fraction),
           column("mean_error", "mean error", Hint::fraction),
           column("bandwidth_rank", "rank of bandwidth", Hint::number, 1),
           column("bandwidth_tau", "tau", Hint::number, 6),
           column("coverage", "in interval", Hint::fraction, 3),
           column("plan_rank", "rank of plans", Hint::number, 2),
           column("plan_tau", "tau of plans", Hint::number, 7),
           column("regret_1", "first / best", Hint::ratio, 4),
           column("regret_5", "best of 5 / best", Hint::ratio, 5),
           column("recall_10", "of 10 best", Hint::fraction, 8),
           column("query", "a query", Hint::seconds, 9),
           column("source", "source", Hint::text, 10),
       })
    table.columns.push_back(std::move(one));
  for (const calibrate::Score& score : scores) {
    if (score.samples == 0) continue;
    std::vector<report::Cell> row{score.contender};
    if (by != calibrate::By::nothing) row.push_back(score.cell);
    for (report::Cell& one : std::vector<report::Cell>{
             score.samples, score.median_error, score.mean_error, cell(score.bandwidth_rank), cell(score.bandwidth_tau),
             cell(score.coverage), cell(score.plan_rank), cell(score.plan_tau), cell(score.regret_1),
             cell(score.regret_5), cell(score.recall_10), score.seconds_per_query, report::Cell()})
      row.push_back(std::move(one));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// What others published, of operations that are in the table.
void add_published(report::Table& table) {
  std::set<std::string> cells;
  const std::size_t operation = place_of_column(table, "cell");
  for (const auto& row : table.rows) cells.insert(std::get<std::string>(row[operation]));
  for (const calibrate::Published& one : calibrate::published()) {
    if (!cells.contains(std::string(one.operation))) continue;
    std::vector<report::Cell> row(table.columns.size());
    const auto at = [&](std::string_view key) -> report::Cell& { return row[place_of_column(table, key)]; };
    at("predictor") = std::string(one.name);
    at("cell") = std::string(one.operation);
    at("median_error") = one.median;
    at("mean_error") = one.mean;
    at("source") = std::string(one.source);
    table.rows.push_back(std::move(row));
  }
}

bool asked_for(const Sample& sample, const std::string& split, const std::set<Id>& fitted) {
  if (fitted.contains(sample.of.id)) return false;
  return split == "held-out" ? sample.of.split != ir::Split::train : name(sample.of.split) == split;
}

void refuse_bad_words(const ValidationQuestion& question) {
  static constexpr std::string_view splits[] = {"held-out", "train", "validate", "test"};
  if (std::find(std::begin(splits), std::end(splits), question.split) == std::end(splits))
    throw Error(Fault::usage, fmt::format("found --split '{}'", question.split), suggestion(question.split, splits));
  for (const std::string& by : question.by)
    if (!calibrate::by_named(by))
      throw Error(Fault::usage, fmt::format("found --by '{}'", by), suggestion(by, calibrate::by_names()));
  for (const std::string& model : question.models) model_named(model);
}

[[noreturn]] void nothing_left(const ValidationQuestion& question, const ValidationAnswer& answer,
                               std::size_t samples) {
  if (samples == 0 && answer.samples.without_device > 0)
    throw Error(Fault::missing,
                fmt::format("no device file describes '{}'", fmt::join(answer.samples.unknown_devices, "', '")),
                "tailor devices lists them; a file in data/devices adds one");
  const std::vector<std::string> why = left_out(answer.samples);
  if (samples == 0)
    throw Error(Fault::failed,
                fmt::format("there are no observations{} to score{}{}",
                            question.device.empty() ? "" : fmt::format(" of '{}'", question.device),
                            why.empty() ? "" : ": ", fmt::join(why, "; ")),
                answer.samples.undescribed > 0 ? "docs/calibration.md says which columns describe a kernel"
                                               : "tailor db observations DB counts what a database has");
  throw Error(Fault::failed,
              fmt::format("nothing is left to score: of {}, {} were fitted and the others are not in "
                          "split '{}'",
                          counted(samples, "observation"), answer.fitted, question.split),
              "a calibration is scored on shapes that it was not fitted to");
}

/// A calibration that is named is asked for; where no observation is of its GPU it would have no row.
void refuse_foreign(const Calibrated& one, const std::vector<Sample>& scored) {
  const bool holds = std::any_of(scored.begin(), scored.end(),
                                 [&](const Sample& sample) { return one.machines.contains(sample.of.device); });
  if (holds || one.name == own_calibration) return;
  throw Error(Fault::failed,
              fmt::format("calibration '{}' is of '{}', of which there is no observation to score", one.name,
                          one.machines.begin()->first),
              "--calibration own takes for each GPU the one that ships");
}

}  // namespace

ValidationAnswer validate(const ValidationQuestion& question, const std::filesystem::path& data, const Watch& watch) {
  refuse_bad_words(question);
  std::optional<ir::Device> own;
  if (!question.device.empty()) own = load_device(data, question.device);
  const std::vector<ir::Device> devices = own ? known_devices(data, *own) : known_devices(data);
  const std::string device = own ? own->name : "";
  const Evidence evidence = read_evidence(question.sources, data, watch);
  ValidationAnswer answer;
  answer.samples = samples_of(evidence, devices, device, watch);
  const std::vector<Sample> all = std::move(answer.samples.samples);
  answer.samples.samples.clear();

  std::vector<Calibrated> calibrations;
  for (const std::string& name : question.calibrations) {
    Calibrated one = load(name, devices, data);
    if (!one.machines.empty()) calibrations.push_back(std::move(one));
  }
  std::set<Id> fitted;
  for (const Calibrated& one : calibrations) fitted.insert(one.fitted.begin(), one.fitted.end());
  std::vector<Sample> scored, train;
  for (const Sample& sample : all) {
    if (fitted.contains(sample.of.id)) ++answer.fitted;
    if (sample.of.split == ir::Split::train) train.push_back(sample);
    if (asked_for(sample, question.split, fitted)) scored.push_back(sample);
  }
  if (scored.empty()) nothing_left(question, answer, all.size());
  for (const Calibrated& one : calibrations) refuse_foreign(one, scored);
  answer.scored = static_cast<std::int64_t>(scored.size());

  std::vector<Contender> contenders;
  for (const std::string& name : question.models) {
    const costmodel::Model& model = model_named(name);
    for (const Calibrated& calibrated : calibrations) contenders.push_back(model_contender(model, calibrated));
  }
  std::deque<Calibrated> parts;  // contenders point into it
  if (question.ablate)
    for (const std::string& name : question.models)
      for (const Calibrated& full : calibrations)
        for (const calibrate::Ablation& ablation : calibrate::ablations())
          if (std::optional<Calibrated> without_part = ablated(full, ablation, devices))
            contenders.push_back(model_contender(model_named(name), parts.emplace_back(std::move(*without_part))));
  for (const calibrate::Rival& rival : question.ablate ? std::span<const calibrate::Rival>() : calibrate::rivals())
    contenders.push_back(rival_contender(rival, train, devices));
  const auto table_by = [&](calibrate::By by) {
    report::Table table = score_table(calibrate::score(scored, contenders, by, watch.stop), by);
    if (question.ablate) add_costs(table);
    return table;
  };
  answer.tables.emplace_back("all", table_by(calibrate::By::nothing));
  for (const std::string& word : question.by) {
    const calibrate::By by = *calibrate::by_named(word);
    if (by == calibrate::By::nothing) continue;
    answer.tables.emplace_back("by_" + word, table_by(by));
    if (by == calibrate::By::operation && !question.ablate) add_published(answer.tables.back().second);
  }
  return answer;
}

}  // namespace tailor::study
