// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Figures of a fusion, and the table that sets several side by side. In: a graph, fusions, devices. Out: rows. Called
// by `tailor fuse` for one strategy and for all.
//
// Kernels and launches have a floor that no fusion goes below: the longest chain of work that library calls interrupt,
// once as kernels of the text and once with the bodies of loops counted by their trips, because a kernel in a loop is
// launched in every turn. A model may have few kernels and many launches.
//
// What is computed again is counted over what kernels really compute: a member of a cover that nothing in its kernel
// needs is no work. The time of plans is that of the best of a bounded number of plans, spread over each space, by the
// model `projected`: it takes a fraction of a second where a whole search takes minutes.
#include "study/tables/strategy_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "base/stop.h"
#include "codegen/lower/prepare.h"
#include "explore/borders.h"
#include "explore/plans/tune.h"
#include "explore/price.h"
#include "ir/device.h"
#include "report/xla_score.h"
#include "study/pipeline/question.h"
#include "study/pipeline/xla_beside.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using report::Cell;
using report::Hint;
using report::Table;
using Devices = std::span<const costmodel::CalibratedDevice>;

bool has_plan(const explore::DistinctGroup& group) { return std::holds_alternative<codegen::Layout>(group.needs); }

/// What several kernels compute, and what they hand to one another, in a graph and its bodies.
void count_shared(const ir::Graph& graph, const ir::Fusion& fusion, double times, StrategyFigures& figures,
                  const std::stop_token& stop) {
  const ir::DefUse wires = ir::def_use(graph);
  const explore::Borders borders(graph, wires, fusion.groups);
  std::vector<bool> computed(graph.nodes.size(), false);
  for (std::size_t g = 0; g < fusion.groups.size(); ++g) {
    stop_if_asked(stop);
    const ir::Boundary border = borders.of(g);
    for (const ir::NodeId id : border.inside) {
      if (wires.roles[id] != ir::Role::work) continue;
      if (computed[ir::index(id)]) {
        const ir::Node& node = graph[id];
        const ir::Shape& shape = node.results.empty() ? node.shape : node.results.front();
        figures.again += times;
        figures.again_elements += times * static_cast<double>(elements(shape));
      }
      computed[ir::index(id)] = true;
    }
    for (const ir::NodeId id : border.writes)
      if (!wires.stored[id] && graph[id].shape.dtype != ir::DType::tuple)
        figures.between_bytes += static_cast<double>(bytes(graph[id].shape));
  }
  for (const ir::Node& node : graph.nodes) {
    if (class_of(node.op) != ir::OpClass::control) continue;
    const bool loop = node.op == ir::Op::while_loop;
    const std::int64_t trips = loop ? trip_count(node) : 0;
    for (std::size_t i = trips > 0 ? 1 : 0; i < node.bodies.size(); ++i) {  // as partitions count
      const std::size_t body = ir::index(node.bodies[i]);
      count_shared(graph.bodies[body], fusion.bodies[body],
                   loop ? times * static_cast<double>(std::max<std::int64_t>(1, trips)) : times, figures, stop);
    }
  }
}

std::optional<XlaPlanTime> xla_time(const ir::Group& group,
                                    const std::variant<codegen::Prepared, ir::Rejection>& prepared,
                                    const costmodel::CalibratedDevice& device) {
  const auto found = xla_beside(group, prepared, device, *costmodel::find_model("projected"));
  if (!found || !found->made) return std::nullopt;
  return XlaPlanTime{found->made->estimate.total.value, found->launches};
}

std::optional<BestPlan> find_best(const ir::Group& group, const costmodel::CalibratedDevice& device,
                                  const std::stop_token& stop) {
  const auto prepared = codegen::prepare(group);
  const auto* ready = std::get_if<codegen::Prepared>(&prepared);
  if (ready == nullptr) return std::nullopt;
  const explore::TuneOptions options = explore::in_passing(explore::plans_in_passing, stop);
  const explore::Tuned tuned = explore::tune(*ready, explore::default_axes(*ready, device.limits), device, options);
  stop_if_asked(stop);
  if (tuned.best.empty()) return std::nullopt;
  BestPlan best{tuned.best.front().estimate.total.value, 0, xla_time(group, prepared, device)};
  for (const ir::Buffer& buffer : tuned.best.front().kernel.buffers)
    if (buffer.role == ir::BufferRole::workspace || buffer.role == ir::BufferRole::ticket)
      best.workspace_bytes += static_cast<double>(bytes(ir::make_shape(buffer.dtype, {buffer.elements})));
  return best;
}

void add_xla(TimesOnDevice& times, const explore::DistinctGroup& group, const std::optional<XlaPlanTime>& xla) {
  if (!xla) return;
  const auto places = static_cast<std::int64_t>(group.occurrences.size());
  times.xla_kernels += places;
  times.xla_same_launch += xla->launches == explore::SameLaunch::equal ? places : 0;
  times.xla_same_warps += xla->launches == explore::SameLaunch::same_warps ? places : 0;
  times.as_xla += group.times * xla->seconds;
}

TimesOnDevice times_on(const costmodel::CalibratedDevice& device, const explore::Partition& partition, BestPlans* plans,
                       const std::stop_token& stop) {
  TimesOnDevice times;
  double projected = 0, workspace = 0;
  bool all_projected = plans != nullptr, any = false;
  for (const explore::DistinctGroup& group : partition.groups) {
    stop_if_asked(stop);
    const double bound = group.times * costmodel::sol(explore::needed_work(group), device).total.value;
    const double price = group.times * explore::group_price(group.group.graph, device);
    times.bound += bound;
    times.price += price;
    if (!has_plan(group)) continue;
    times.planned_bound += bound;
    times.planned_price += price;
    any = true;
    if (plans == nullptr) {
      if (device.xla != nullptr) add_xla(times, group, xla_time(group.group, codegen::prepare(group.group), device));
      continue;
    }
    const auto [at, fresh] = plans->try_emplace({group.group.id, device.name});
    if (fresh) at->second = find_best(group.group, device, stop);
    if (!at->second) {
      all_projected = false;
      continue;
    }
    add_xla(times, group, at->second->xla);
    if (at->second->xla) times.best_of_xla += group.times * at->second->seconds;
    projected += group.times * at->second->seconds;
    workspace = std::max(workspace, at->second->workspace_bytes);
  }
  if (all_projected && any) times.projected = projected, times.workspace_bytes = workspace;
  return times;
}

/// What qualifies a figure stays with it on every screen: kernels that cannot be written yet beside all counts, the
/// floor beside what it bounds, times of what can be written beside times of all. Without loops launches repeat what
/// kernels say, and may go.
std::vector<report::Column> counts(bool looped) {
  const int repeats = looped ? 0 : 3, launches = looped ? 0 : 1;
  return {column("strategy", "strategy"),
          column("kernels", "kernels", Hint::count),
          column("kernels_without_plan", "no plan", Hint::count),
          column("kernel_floor", "at least", Hint::count),
          column("launches", "launches", Hint::count, launches),
          column("launches_without_plan", "launches without plan", Hint::count, repeats),
          column("launch_floor", "launches at least", Hint::count, repeats),
          column("traffic", "moved", Hint::bytes),
          column("planned_traffic", "planned moves", Hint::bytes, 2),
          column("again", "operations again", Hint::count, 3),
          column("again_elements", "elements again", Hint::count, 6),
          column("between", "between kernels", Hint::bytes, 3),
          column("distinct_groups", "distinct", Hint::count, 7),
          column("planned", "planned distinct", Hint::count, 8),
          column("library_calls", "library calls", Hint::count, 9),
          column("library_traffic", "library moves", Hint::bytes, 10)};
}

/// `only`: the one device, which the title names.
void add_times(Table& table, const costmodel::CalibratedDevice& device, bool only, bool projected) {
  const auto add = [&](std::string_view key, std::string_view heading, Hint hint, int sacrifice) {
    table.columns.push_back(column(fmt::format("{}_{}", device.name, key),
                                   only ? std::string(heading) : fmt::format("{} {}", device.name, heading), hint,
                                   sacrifice));
  };
  add("bound", "bound", Hint::seconds, 4);
  add("planned_bound", "planned bound", Hint::seconds, 4);
  add("price", "price", Hint::seconds, 0);
  add("planned_price", only ? "planned" : "planned price", Hint::seconds, 0);
  if (device.xla != nullptr) {
    add("xla_plans", "as XLA's", Hint::count, 8);
    add("xla_same_launch", "with its launch", Hint::count, 9);
    add("xla_same_warps", "with its warps", Hint::count, 10);
    add("as_xla", "these take", Hint::seconds, 8);
  }
  if (!projected) return;
  if (device.xla != nullptr) add("search_adds", "search adds", Hint::seconds, 4);
  add("projected", only ? "projected" : "projected of planned", Hint::seconds, 0);
  add("workspace", "workspace", Hint::bytes, 5);
}

template <class Number>
Cell optional_cell(const std::optional<Number>& number) {
  return number ? Cell(*number) : Cell();
}

void add_time_cells(std::vector<Cell>& row, const TimesOnDevice& on, bool described, bool projected) {
  row.insert(row.end(), {Cell(on.bound), Cell(on.planned_bound), Cell(on.price), Cell(on.planned_price)});
  if (described)
    row.insert(row.end(), {Cell(on.xla_kernels), Cell(on.xla_same_launch), Cell(on.xla_same_warps), Cell(on.as_xla)});
  if (!projected) return;
  if (described) row.push_back(on.xla_kernels > 0 ? Cell(on.as_xla - on.best_of_xla) : Cell());
  row.insert(row.end(), {optional_cell(on.projected), optional_cell(on.workspace_bytes)});
}

bool is_looped(const StrategyFigures& one) {
  return one.partition.launches != static_cast<double>(one.partition.kernels) ||
         one.partition.least_launches != static_cast<double>(one.partition.least_kernels);
}

bool is_projected(const StrategyFigures& one) {
  return std::any_of(one.on.begin(), one.on.end(), [](const TimesOnDevice& on) { return on.projected.has_value(); });
}

}  // namespace

StrategyFigures strategy_figures(const ir::Graph& graph, const ir::Fusion& fusion, explore::Partition partition,
                                 Devices devices, BestPlans* plans, const std::stop_token& stop) {
  StrategyFigures figures;
  figures.partition = std::move(partition);
  count_shared(graph, fusion, 1, figures, stop);
  for (const explore::DistinctGroup& group : figures.partition.groups) {
    if (has_plan(group)) {
      figures.planned_bytes += group.times * group.bytes;
      continue;
    }
    figures.kernels_without_plan += static_cast<std::int64_t>(group.occurrences.size());
    figures.launches_without_plan += group.times;
  }
  for (const costmodel::CalibratedDevice& device : devices)
    figures.on.push_back(times_on(device, figures.partition, plans, stop));
  return figures;
}

std::vector<StrategyFigures> all_strategies(const ir::Graph& graph, Devices devices, std::vector<std::string>& left_out,
                                            const Watch& watch) {
  std::vector<StrategyFigures> all;
  BestPlans plans;
  const std::stop_token& stop = watch.stop;
  const auto rows = std::ssize(explore::strategies()) * std::max<std::int64_t>(1, std::ssize(devices));
  const auto add = [&](const explore::Strategy& row, const costmodel::CalibratedDevice* device) {
    watch.observer.progress({"comparing strategies", std::ssize(all), rows, std::string(row.name)});
    const ir::Fusion fusion = explore::fuse(row, graph, fusion_setting(device, {silent(), stop}));
    stop_if_asked(stop);
    all.push_back(strategy_figures(graph, fusion, explore::partition(graph, fusion, stop), devices, &plans, stop));
    if (device != nullptr && devices.size() > 1) all.back().partition.strategy += " on " + device->name;
  };
  for (const explore::Strategy& row : explore::strategies()) {
    if (!row.needs.device && !row.needs.price) {
      add(row, nullptr);
      continue;
    }
    if (devices.empty()) left_out.push_back(fmt::format("{} is left out: it needs a device", row.name));
    for (const costmodel::CalibratedDevice& device : devices)
      if (!row.needs.xla || device.xla != nullptr)
        add(row, &device);
      else
        left_out.push_back(
            fmt::format("{} is left out: data/xla has no description of {} as XLA sees it", row.name, device.name));
  }
  return all;
}

std::vector<std::string> caveats(const explore::Partition& partition) {
  std::vector<std::string> words;
  if (partition.unknown_trips > 0)
    words.push_back(
        fmt::format("of unknown length {} as one trip", counted(partition.unknown_trips, "loop", "counts", "count")));
  if (partition.branches > 0)
    words.push_back(
        fmt::format("of conditionals {} as taken", counted(partition.branches, "branch", "counts", "all count")));
  return words;
}

namespace {

constexpr double equal_share = 1e-9;  ///< share below which two times are equal

bool is_row_of(const StrategyFigures& figures, std::string_view strategy, const std::string& device) {
  return figures.partition.strategy == strategy ||
         figures.partition.strategy == fmt::format("{} on {}", strategy, device);
}

std::string both_times(double one, double other) { return fmt::format("{:.2f} us for {:.2f}", 1e6 * one, 1e6 * other); }

}  // namespace

std::vector<std::string> decided_by_plans(std::span<const StrategyFigures> strategies, Devices devices) {
  std::vector<std::string> words;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const auto own = std::find_if(strategies.begin(), strategies.end(), [&](const StrategyFigures& figures) {
      return is_row_of(figures, explore::default_strategy, devices[d].name);
    });
    if (own == strategies.end() || !own->on[d].projected) continue;
    const StrategyFigures* cheapest = &*own;
    for (const StrategyFigures& other : strategies)
      if (!other.partition.strategy.starts_with(explore::default_strategy) &&
          other.launches_without_plan <= own->launches_without_plan && other.on[d].projected &&
          other.on[d].price < cheapest->on[d].price * (1 - equal_share))
        cheapest = &other;
    if (cheapest == &*own) continue;
    const TimesOnDevice &ours = own->on[d], &theirs = cheapest->on[d];
    const bool is_less = *theirs.projected < *ours.projected * (1 - equal_share);
    const std::string both = fmt::format("by the price {}, by plans {}", both_times(theirs.price, ours.price),
                                         both_times(*theirs.projected, *ours.projected));
    words.push_back(is_less
                        ? fmt::format("on {}, the search of {} missed what {} found: {}", devices[d].name,
                                      own->partition.strategy, cheapest->partition.strategy, both)
                        : fmt::format("on {}, plans decide for {}, not the price that {} is cheaper by: {}",
                                      devices[d].name, own->partition.strategy, cheapest->partition.strategy, both));
  }
  return words;
}

namespace {

/// XLA's passes before its fusion leave none: they become bitcasts, copies and transposes.
}  // namespace

Table agreement_table(const ir::Graph& graph, std::span<const StrategyFigures> strategies, Devices devices,
                      const std::filesystem::path& data) {
  std::vector<std::string> names, on;
  for (const StrategyFigures& one : strategies)
    names.push_back(one.partition.strategy.substr(0, one.partition.strategy.find(" on ")));
  for (const costmodel::CalibratedDevice& device : devices) on.push_back(device.name);
  return report::xla_score_table(report::read_xla_scores(data / "agreement.json"), names, on,
                                 ir::count_nodes(graph, ir::Op::reshape));
}

Table strategy_table(std::span<const StrategyFigures> strategies, Devices devices) {
  const bool only = devices.size() == 1, projected = std::any_of(strategies.begin(), strategies.end(), is_projected);
  Table table;
  table.title = "one run of the model";
  if (only) table.title += fmt::format(", times on {}; planned: of kernels that can be written today", devices[0].name);
  // More plans may have a better one among them: explore, which asks all, may say less.
  if (projected)
    table.title += fmt::format("; projected: the best of up to {} a group", counted(explore::plans_in_passing, "plan"));
  table.columns = counts(std::any_of(strategies.begin(), strategies.end(), is_looped));
  for (const costmodel::CalibratedDevice& device : devices) add_times(table, device, only, projected);
  for (const StrategyFigures& one : strategies) {
    const explore::Partition& partition = one.partition;
    const auto planned = std::count_if(partition.groups.begin(), partition.groups.end(), has_plan);
    std::vector<Cell> row{partition.strategy,
                          partition.kernels,
                          one.kernels_without_plan,
                          partition.least_kernels,
                          whole_count(partition.launches),
                          whole_count(one.launches_without_plan),
                          whole_count(partition.least_launches),
                          partition.bytes,
                          one.planned_bytes,
                          whole_count(one.again),
                          whole_count(one.again_elements),
                          one.between_bytes,
                          static_cast<std::int64_t>(partition.groups.size()),
                          static_cast<std::int64_t>(planned),
                          whole_count(partition.library_launches),
                          partition.library_bytes};
    for (std::size_t i = 0; i < one.on.size(); ++i)
      add_time_cells(row, one.on[i], devices[i].xla != nullptr, projected);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace tailor::study
