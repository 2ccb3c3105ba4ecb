// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The fit. Samples and a calibration come in; each row of the table of parameters that some sample tells of becomes an
// unknown; a robust bounded least squares (least_squares.cpp) finds the values; a calibration goes out. Called by
// tailor calibrate.
//
// The residual of a sample is ln(model / measured). A figure that has a value for each operation is a common unknown
// and a deviation of each operation from it, which is believed to be small: an operation with few samples takes the
// common value, one that was never seen too. Samples are taken in the order of their ids, so that the order of files
// changes nothing, not even the last digit.
//
// Margins of predictions come from samples that were not fitted to (side validate, or the train side where there are
// too few): of the ratios of measured to predicted time the quantiles at 5 and 95 %, each taken one rank further out,
// so that a new time of the same kind falls between them in nine cases of ten (split conformal prediction). An
// operation with enough such samples has margins of its own: calls at a floor are told better than long kernels.
//
// Intervals of figures are those of the least squares: they hold where the model's form is right. How far that carries
// is said by validation, not by them.
#include "calibrate/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/counted.h"
#include "base/error.h"
#include "base/statistics.h"
#include "base/text.h"
#include "calibrate/metrics.h"
#include "calibrate/ranges.h"

namespace tailor::calibrate {

namespace {

constexpr double z90 = 1.6449;  // normal: nine tenths lie so many deviations around
/// How far an operation's own value is believed to be from the common one, in logarithms.
constexpr double own_width = 0.25;
/// What residuals of fits to published tables are, where there are too few to see it.
constexpr double usual_residual = 0.06;
/// Times of many observations are not told better than that.
constexpr double least_residual = 2e-3;
/// So many that the least and the greatest of them leave a twentieth on each side.
constexpr std::size_t least_for_margins = 19;

const costmodel::Model& model_of(const FitOptions& options) {
  const costmodel::Model* model = costmodel::find_model(options.model);
  if (model == nullptr || !model->ranks_plans)
    throw Error(Fault::usage, fmt::format("no cost model '{}' can be fitted to observations alone", options.model));
  return *model;
}

std::vector<const Sample*> by_id(std::span<const Sample> samples, ir::Split side) {
  std::vector<const Sample*> sorted;
  for (const Sample& sample : samples)
    if (sample.of.split == side) sorted.push_back(&sample);
  std::sort(sorted.begin(), sorted.end(), [](const Sample* a, const Sample* b) { return a->of.id < b->of.id; });
  return sorted;
}

std::vector<std::string> operations_of(std::span<const Sample* const> samples, const Parameter& parameter) {
  std::set<std::string> names;
  for (const Sample* sample : samples)
    if (parameter.told_by(sample->of.regime)) names.insert(sample->operation);
  return {names.begin(), names.end()};
}

/// The least time of samples that tell a figure which may be 0 before, "not known": where a fit of it begins.
double least_time(std::span<const Sample* const> samples, const Parameter& parameter, const std::string& operation) {
  std::vector<double> times;
  for (const Sample* sample : samples)
    if (parameter.told_by(sample->of.regime) && (operation.empty() || sample->operation == operation))
      times.push_back(sample->of.time.value);
  std::sort(times.begin(), times.end());
  return times.empty() ? 0 : parameter.share_of_least * quantile(times, 0.05);
}

/// Value and width of the prior, in the parameter's scale.
struct Belief {
  double value = 0, width = 0;
};
Belief belief(const Parameter& parameter, std::span<const Sample* const> samples,
              const costmodel::CalibratedDevice& before, const FitOptions& options) {
  if (const auto prior = options.priors.find(std::string(parameter.figure)); prior != options.priors.end())
    return {scaled(parameter, std::clamp(prior->second.value, parameter.low, parameter.high)), prior->second.width};
  double value = before.*parameter.member;
  double width = parameter.width;
  if (value <= 0) {  // not known
    value = least_time(samples, parameter, "");
    width = parameter.share_of_least < 1 ? parameter.width : 1;
  }
  return {scaled(parameter, std::clamp(value, parameter.low, parameter.high)), width};
}

std::string key_of(const Parameter& parameter, const std::string& operation) {
  return fmt::format("{} of {}", parameter.figure, operation);
}

std::vector<ir::ObservedRange> ranges_of(std::span<const Sample* const> samples) {
  std::vector<const costmodel::Work*> works;
  for (const Sample* sample : samples) works.push_back(&sample->work);
  return ranges_over(works);
}

std::vector<Id> ids_of(std::span<const Sample* const> samples) {
  std::vector<Id> ids;
  for (const Sample* sample : samples) ids.push_back(sample->of.id);
  return ids;
}

/// "neusight_train.csv": files and campaigns that the observations are from.
std::string sources_of(std::span<const Sample* const> samples) {
  std::set<std::string> names;
  for (const Sample* sample : samples) {
    const std::string& source = sample->of.source;
    const std::size_t end = source.find(source.starts_with("measurement") ? " " : " line ");
    names.insert(source.substr(0, end));
  }
  std::vector<std::string> few(names.begin(), names.end());
  const std::size_t more = few.size() > 3 ? few.size() - 3 : 0;
  few.resize(few.size() - more);
  return fmt::format("{}{}", fmt::join(few, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

/// Five digits are more than any of these figures has.
double rounded(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 4);
  // Through text, so that the shortest decimal is what is kept.
  return std::stod(fmt::format("{:.5g}", std::round(value / unit) * unit));
}

double median_error(const costmodel::Model& model, std::span<const Sample* const> samples, const Machine& machine) {
  std::vector<double> errors;
  for (const Sample* sample : samples)
    errors.push_back(
        relative_error(estimate(model, *sample, machine.of(sample->operation)).total.value, sample->of.time.value));
  return median_of(errors);
}

/// The calibration before, for this device alone, figure by figure.
ir::Calibration flattened(const ir::Device& device, const ir::Calibration& before) {
  ir::Calibration flat;
  flat.device = device.name;
  for (const ir::FigureName& row : ir::figure_names())
    if (const ir::Fit* found = ir::find_fit(before, device.name, row.key)) {
      flat.fits.push_back(*found);
      flat.fits.back().device = "";
      flat.fits.back().operation = "";
    }
  for (const ir::Fit& one : before.fits)
    if (!one.operation.empty()) flat.fits.push_back(one);
  return flat;
}

void put(ir::Calibration& calibration, ir::Fit made) {
  for (ir::Fit& one : calibration.fits)
    if (one.figure == made.figure && one.operation == made.operation) {
      one = std::move(made);
      return;
    }
  calibration.fits.push_back(std::move(made));
}

/// What a fit says of one figure, in its unit.
Moved moved_of(const Posed& posed, const Solution& solution, std::size_t i, std::optional<std::size_t> common_at) {
  const Parameter& parameter = *posed.parameters[i];
  Moved moved;
  moved.figure = parameter.figure;
  moved.operation = posed.operations[i];
  double common = 0, variance = solution.deviation(i) * solution.deviation(i);
  if (common_at) {  // an operation's value is the common one and a deviation, which are anything but independent
    common = solution.x[*common_at];
    variance += solution.deviation(*common_at) * solution.deviation(*common_at) +
                2 * solution.covariance[i * solution.x.size() + *common_at];
  }
  const double x = solution.x[i] + common;
  const double spread = z90 * std::sqrt(std::max(0.0, variance));
  moved.before = rounded(unscaled(parameter, posed.unknowns[i].prior + common));
  moved.value = rounded(unscaled(parameter, x));
  moved.low = std::min(moved.value, rounded(std::max(parameter.low, unscaled(parameter, x - spread))));
  moved.high = std::max(moved.value, rounded(std::min(parameter.high, unscaled(parameter, x + spread))));
  moved.shrink = solution.deviation(i) / posed.unknowns[i].width;
  return moved;
}

/// The quantiles of measured over predicted times `from`, as the interval of predictions for `operation` (empty: all).
void put_margins_from(ir::Calibration& calibration, const costmodel::Model& model, const Machine& machine,
                      std::span<const Sample* const> from, const std::string& operation, bool apart) {
  std::vector<double> ratios;
  for (const Sample* sample : from)
    ratios.push_back(sample->of.time.value / estimate(model, *sample, machine.of(sample->operation)).total.value);
  std::sort(ratios.begin(), ratios.end());
  const auto n = static_cast<double>(ratios.size());
  const auto rank = static_cast<std::size_t>(std::max(0.0, std::floor(0.05 * (n + 1)) - 1));
  const double low = std::max(0.0, 1 - ratios[std::min(rank, ratios.size() - 1)]);
  const double high = std::max(0.0, ratios[ratios.size() - 1 - std::min(rank, ratios.size() - 1)] - 1);
  const std::string source =
      fmt::format("90 % of {} {} lie between the margins", counted(ratios.size(), "observation"),
                  apart ? "that were not fitted to" : "that were fitted to: too few others, so it is too narrow");
  const auto margin = [&](std::string_view figure, double value) {
    const ir::FigureName* row = ir::find_figure(figure);
    if (row != nullptr)
      put(calibration, {"",
                        std::string(figure),
                        rounded(value),
                        std::string(row->unit),
                        {},
                        source,
                        ids_of(from),
                        ranges_of(from),
                        operation});
  };
  margin(fmt::format("{}_low", model.name), std::min(low, 0.99));
  margin(fmt::format("{}_high", model.name), high);
}

/// Of all operations together, and of each that has enough samples to tell its own.
void put_margins(ir::Calibration& calibration, const costmodel::Model& model, const ir::Device& device,
                 std::span<const Sample* const> train, std::span<const Sample* const> validate) {
  const bool apart = validate.size() >= least_for_margins;
  const Machine machine(device, calibration);
  put_margins_from(calibration, model, machine, apart ? validate : train, "", apart);
  std::map<std::string, std::vector<const Sample*>> by_operation;
  for (const Sample* sample : validate) by_operation[sample->operation].push_back(sample);
  for (const auto& [operation, samples] : by_operation)
    if (samples.size() >= least_for_margins && by_operation.size() > 1)
      put_margins_from(calibration, model, machine, samples, operation, true);
}

}  // namespace

namespace {

/// Where the unknowns of a figure are among all.
struct Place {
  const Parameter* parameter;
  std::size_t common;                      ///< of all operations
  std::map<std::string, std::size_t> own;  ///< of single ones, as deviations from it
};

std::size_t add_unknown(Posed& posed, const Parameter& parameter, const std::string& operation, Unknown unknown) {
  posed.unknowns.push_back(std::move(unknown));
  posed.parameters.push_back(&parameter);
  posed.operations.push_back(operation);
  return posed.unknowns.size() - 1;
}

/// The upper bound of a figure that is a part of the least time: nine tenths of that, in the scale. Without it a fit
/// may put the one in the place of the other.
double most_hidden(std::span<const Sample* const> samples, const Parameter& parameter, const std::string& operation) {
  constexpr double share = 0.9;
  return scaled(parameter, std::clamp(share * least_time(samples, parameter, operation) / parameter.share_of_least,
                                      parameter.low, parameter.high));
}

/// The deviation of one operation from what all have in common, `common` in the parameter's scale.
Unknown own_unknown(std::span<const Sample* const> samples, const Parameter& parameter, const std::string& operation,
                    double common, bool known, const FitOptions& options) {
  constexpr double most = 3;
  Unknown unknown{0, -most, most, 0, own_width, {}};
  if (const auto prior = options.priors.find(key_of(parameter, operation)); prior != options.priors.end()) {
    unknown.prior = unknown.start = scaled(parameter, prior->second.value) - common;
    unknown.width = prior->second.width;
  } else if (!known) {
    const double least = scaled(parameter, least_time(samples, parameter, operation));
    unknown.start = std::clamp(least - common, -most, most);
  }
  if (parameter.share_of_least < 1)
    unknown.high = most_hidden(samples, parameter, operation) - most_hidden(samples, parameter, "");
  unknown.start = std::min(unknown.start, unknown.high);
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (parameter.told_by(samples[i]->of.regime) && samples[i]->operation == operation) unknown.moves.push_back(i);
  return unknown;
}

/// The device with the unknowns in their places, for calls of one operation.
costmodel::CalibratedDevice with_unknowns(costmodel::CalibratedDevice device, std::span<const Place> places,
                                          const std::string& operation, std::span<const double> x) {
  for (const Place& place : places) {
    const auto own = place.own.find(operation);
    const double deviation = own == place.own.end() ? 0 : x[own->second];
    device.*place.parameter->member = unscaled(*place.parameter, x[place.common] + deviation);
  }
  return device;
}

/// Of a few observations nobody can say that some are of another level.
Solution solved(const Posed& posed, std::size_t samples, const FitOptions& options, const std::stop_token& stop) {
  if (options.few) return solve(posed.unknowns, samples, posed.residuals, stop, usual_residual);
  return solve(posed.unknowns, samples, posed.residuals, stop, least_residual, Loss::biweight);
}

/// What the unknowns' uncertainty and the residuals together leave of a prediction, over the shapes that were fitted
/// to.
double expected_error(const Posed& posed, const Solution& solution, std::size_t samples, const std::stop_token& stop) {
  const std::vector<double> j = jacobian(posed.unknowns, samples, posed.residuals, solution.x, stop);
  const std::size_t n = posed.unknowns.size();
  double sum = 0;
  for (std::size_t i = 0; i < samples; ++i)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = 0; q < n && j[i * n + p] != 0; ++q)
        sum += j[i * n + p] * j[i * n + q] * solution.covariance[p * n + q];
  return std::sqrt(sum / static_cast<double>(samples) + solution.scale * solution.scale);
}

}  // namespace

Posed pose(std::span<const Sample* const> samples, const ir::Device& device, const ir::Calibration& before,
           const FitOptions& options) {
  const costmodel::CalibratedDevice base = costmodel::calibrated(device, before);
  Posed posed;
  std::vector<Place> places;
  for (const Parameter& parameter : parameters()) {
    std::vector<std::size_t> tells;
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (parameter.told_by(samples[i]->of.regime)) tells.push_back(i);
    if (tells.empty()) {
      posed.left.emplace_back(parameter.figure);
      continue;
    }
    const Belief believed = belief(parameter, samples, base, options);
    const bool known = base.*parameter.member > 0;
    double high = scaled(parameter, parameter.high);
    if (parameter.share_of_least < 1) high = most_hidden(samples, parameter, "");
    if (parameter.most != nullptr) high = std::min(high, scaled(parameter, (device.*parameter.most).value));
    Place place{&parameter, 0, {}};
    place.common = add_unknown(posed, parameter, "",
                               {std::min(believed.value, high), scaled(parameter, parameter.low), high, believed.value,
                                believed.width, std::move(tells)});
    if (parameter.extent == Extent::operation)
      for (const std::string& operation : operations_of(samples, parameter))
        place.own[operation] = add_unknown(posed, parameter, operation,
                                           own_unknown(samples, parameter, operation, believed.value, known, options));
    places.push_back(std::move(place));
  }
  const costmodel::Model& model = model_of(options);
  std::vector<const Sample*> kept(samples.begin(), samples.end());
  posed.residuals = [places, kept, base, &model](std::span<const double> x, std::span<const std::size_t> which,
                                                 std::span<double> out) {
    std::map<std::string_view, costmodel::CalibratedDevice> devices;
    for (std::size_t n = 0; n < which.size(); ++n) {
      const Sample& sample = *kept[which[n]];
      auto at = devices.find(sample.operation);
      if (at == devices.end())
        at = devices.emplace(sample.operation, with_unknowns(base, places, sample.operation, x)).first;
      out[n] = std::log(estimate(model, sample, at->second).total.value / sample.of.time.value);
    }
  };
  return posed;
}

namespace {

Error too_few(std::size_t train, std::size_t all, std::size_t needed, const Posed& posed, const ir::Device& device,
              const FitOptions& options) {
  return {
      Fault::failed,
      fmt::format("found {} of '{}' to fit {} to, expected at least {}; of {} in all some are kept to judge it",
                  counted(train, "observation"), device.name, counted(posed.unknowns.size(), "figure"), needed, all),
      options.few ? "tailor calibrate --budget proposes what to measure"
                  : "--few takes what other calibrated GPUs say for the rest"};
}

}  // namespace

Fitted fit(std::span<const Sample> samples, const ir::Device& device, const ir::Calibration& before,
           const FitOptions& options, const std::stop_token& stop) {
  for (const Sample& sample : samples)
    if (sample.of.device != device.name)
      throw Error(Fault::failed,
                  fmt::format("an observation is of '{}', the calibration of '{}'", sample.of.device, device.name));
  const costmodel::Model& model = model_of(options);
  const std::vector<const Sample*> train = by_id(samples, ir::Split::train);
  const std::vector<const Sample*> validate = by_id(samples, ir::Split::validate);
  const Posed posed = pose(train, device, before, options);
  const std::size_t needed = options.few ? 3 : posed.unknowns.size() + 1;
  if (train.size() < needed) throw too_few(train.size(), samples.size(), needed, posed, device, options);
  refuse_contradictions(samples);
  const Solution solution = solved(posed, train.size(), options, stop);

  Fitted fitted;
  fitted.left = posed.left;
  fitted.used = static_cast<std::int64_t>(train.size());
  fitted.calibration = flattened(device, before);
  fitted.calibration.title =
      fmt::format("{}: fitted to {} of {}", device.title, counted(train.size(), "observation"), sources_of(train));
  const std::vector<ir::ObservedRange> ranges = ranges_of(train);
  std::map<std::string_view, std::size_t> common;  // unknowns that hold for all operations
  for (std::size_t i = 0; i < posed.unknowns.size(); ++i) {
    const Parameter& parameter = *posed.parameters[i];
    const bool own = !posed.operations[i].empty();
    if (!own) common[parameter.figure] = i;
    const Moved moved = moved_of(posed, solution, i, own ? std::optional(common[parameter.figure]) : std::nullopt);
    std::vector<const Sample*> told;
    for (const std::size_t at : posed.unknowns[i].moves) told.push_back(train[at]);
    put(fitted.calibration, {"", moved.figure, moved.value, std::string(ir::find_figure(moved.figure)->unit),
                             ir::ValueInterval{moved.low, moved.high},
                             fmt::format("fitted with the others to {} of {}, 90 % interval; before: {}",
                                         counted(told.size(), "observation"), sources_of(told), moved.before),
                             ids_of(told), own ? ranges_of(told) : ranges, moved.operation});
    fitted.moved.push_back(moved);
  }
  fitted.weightless = static_cast<std::int64_t>(solution.weightless);
  fitted.expected_error = expected_error(posed, solution, train.size(), stop);
  if (options.residual) {
    Learned learned = learn(train, device, fitted.calibration, model, stop);
    fitted.calibration.residual = std::move(learned.residual);
    fitted.learned = std::move(learned.said);
  }
  put_margins(fitted.calibration, model, device, train, validate);
  // Sections of operations stand by name and figures in the order of their table, as a reader finds them.
  std::stable_sort(fitted.calibration.fits.begin(), fitted.calibration.fits.end(),
                   [](const ir::Fit& a, const ir::Fit& b) {
                     return a.operation != b.operation ? a.operation < b.operation
                                                       : ir::find_figure(a.figure) < ir::find_figure(b.figure);
                   });
  fitted.median_before = median_error(model, train, Machine(device, before));
  fitted.median_after = median_error(model, train, Machine(device, fitted.calibration));
  return fitted;
}

}  // namespace tailor::calibrate
