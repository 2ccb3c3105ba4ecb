// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Planning with the host library. In: names of counters or a tier. Out: metrics that the chip has, and the passes they
// need. Every metric is looked up on the chip itself before it is planned. A chip that the library does not know is an
// error and never another chip, because a metric of one name may mean something else there.
#include "profiler/gpu/cupti/metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/indexed.h"
#include "base/text.h"
#include "profiler/gpu/cupti/chip_host.h"
#include "profiler/gpu/cupti/cupti_api.h"

namespace tailor::gpu {

struct MetricHost::Body {
  Cupti api;
  std::vector<std::string> chips;
};

namespace {

constexpr std::string_view host_remedy = "libnvperf_host must lie beside it: install both from one release";

std::vector<std::string_view> views(std::span<const std::string> words) { return {words.begin(), words.end()}; }

void require_chip(const MetricHost::Body& body, const std::string& chip) {
  if (std::find(body.chips.begin(), body.chips.end(), chip) != body.chips.end()) return;
  throw Error(Fault::usage, fmt::format("{} knows no chip '{}'", cupti_text(body.api.version), chip),
              suggestion(chip, views(body.chips)));
}

void count_passes(const MetricHost::Body& body, const ChipHost& host, CountPlan& plan) {
  if (plan.counters.empty()) return;
  std::vector<const char*> metrics;
  for (const PlannedCounter& counter : plan.counters) metrics.push_back(counter.metric.c_str());
  std::vector<std::uint8_t> image;
  CuptiStatus called = host.configuration(metrics, image);
  if (called.ok()) called = host.passes(image, plan.passes);
  if (!called.ok())
    throw Error(Fault::failed, fmt::format("CUPTI cannot schedule {} metrics on {}: {}", metrics.size(), plan.chip,
                                           error_text(body.api, called)));
}

const CounterRow* row_named(std::string_view name) {
  for (const CounterRow& row : counter_table())
    if (row.name == name) return &row;
  return nullptr;
}

/// What to try instead of a word that is neither a counter nor a metric of the chip.
std::string hint_for(const ChipHost& host, const std::string& word) {
  const std::size_t dot = word.find('.');
  const std::string base = word.substr(0, dot);
  if (const std::vector<std::string> roll_ups = host.roll_ups(base); !roll_ups.empty()) {
    if (dot == word.npos) return fmt::format("a metric needs a roll-up: '{}{}' for one", base, roll_ups.back());
    const std::string_view near = nearest(word.substr(dot), views(roll_ups));
    return fmt::format("did you mean '{}{}'?", base, near.empty() ? roll_ups.front() : near);
  }
  std::vector<std::string> known = host.base_metrics();
  for (const CounterRow& row : counter_table()) known.emplace_back(row.name);
  const std::string near(nearest(base, views(known)));
  if (near.empty()) return "tailor counters lists the counters; CUPTI's own metrics need their full name";
  const std::string whole = dot == word.npos ? near : near + word.substr(dot);
  return fmt::format("did you mean '{}'?", host.has(whole) ? whole : near);
}

}  // namespace

MetricHost::MetricHost(std::unique_ptr<Body> body) : body_(std::move(body)) {}
MetricHost::MetricHost(MetricHost&&) noexcept = default;
MetricHost& MetricHost::operator=(MetricHost&&) noexcept = default;
MetricHost::~MetricHost() = default;

std::variant<MetricHost, Capability> MetricHost::open(const LibraryPaths& paths) {
  std::variant<Cupti, Capability> found = find_cupti(paths);
  if (const Capability* capability = std::get_if<Capability>(&found)) return *capability;
  auto body = std::make_unique<Body>();
  Cupti& api = body->api = std::get<Cupti>(std::move(found));
  for (const CuptiPart part : {CuptiPart::common, CuptiPart::host}) {
    if (!api.has(part))
      return Capability{"metrics", "missing",
                        fmt::format("{} has no {}", api.file.string(), row_for(api.missing, part)),
                        "install CUPTI of CUDA 12.6 or later"};
  }
  load_metric_library(api);
  auto params =
      sized<CUpti_Profiler_Host_GetSupportedChips_Params>(CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);
  const CuptiStatus called{"cuptiProfilerHostGetSupportedChips", api.cuptiProfilerHostGetSupportedChips(&params)};
  if (!called.ok() || params.numChips == 0)
    return Capability{
        "metrics", "missing",
        fmt::format("{} does not tell which chips it knows {}", api.file.string(), error_text(api, called)),
        std::string(host_remedy)};
  // Some chips are listed of which this release has nothing any more.
  CuptiStatus last;
  for (std::size_t i = 0; i < params.numChips; ++i)
    if (last = ChipHost(api, params.ppChipNames[i]).status(); last.ok())
      body->chips.emplace_back(params.ppChipNames[i]);
  if (body->chips.empty())
    return Capability{"metrics", "missing",
                      fmt::format("{} has metrics of no chip: {}", api.file.string(), error_text(api, last)),
                      std::string(host_remedy)};
  return MetricHost(std::move(body));
}

std::string MetricHost::name() const { return cupti_text(body_->api.version); }
int MetricHost::api_version() const { return static_cast<int>(body_->api.version); }
std::vector<std::string> MetricHost::chips() const { return body_->chips; }

CountPlan MetricHost::plan(std::string_view chip, int tier) const {
  CountPlan plan;
  plan.chip = chip;
  require_chip(*body_, plan.chip);
  const ChipHost host(body_->api, plan.chip);
  for (const CounterRow& row : counter_table()) {
    if (row.tier > tier) continue;
    std::string metric(metric_on(row, chip));
    if (host.has(metric))
      plan.counters.push_back({std::string(row.name), std::move(metric), std::string(row.unit), row.scale});
    else
      plan.left_out.emplace_back(row.name);
  }
  count_passes(*body_, host, plan);
  return plan;
}

CountPlan MetricHost::plan(std::string_view chip, std::span<const std::string> names) const {
  CountPlan plan;
  plan.chip = chip;
  require_chip(*body_, plan.chip);
  const ChipHost host(body_->api, plan.chip);
  for (const std::string& name : names) {
    const auto same = [&](const PlannedCounter& counter) { return counter.name == name; };
    if (std::any_of(plan.counters.begin(), plan.counters.end(), same)) continue;
    PlannedCounter counter{name, name, "", 1};
    if (const CounterRow* row = row_named(name)) {
      counter = {name, std::string(metric_on(*row, chip)), std::string(row->unit), row->scale};
      if (host.has(counter.metric))
        plan.counters.push_back(std::move(counter));
      else
        plan.left_out.push_back(name);
    } else if (host.has(name, &counter.unit)) {
      plan.counters.push_back(std::move(counter));
    } else {
      throw Error(Fault::usage, fmt::format("'{}' is neither a counter nor a metric of {}", name, plan.chip),
                  hint_for(host, name));
    }
  }
  count_passes(*body_, host, plan);
  return plan;
}

}  // namespace tailor::gpu
