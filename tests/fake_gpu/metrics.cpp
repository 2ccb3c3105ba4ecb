// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Values of metrics. In: totals of the simulator's counters. Out: a number per metric. What no simulator of functions
// can know (stalls, pipes by name of the assembler) is a fixed number, so that it can be collected and told apart from
// nothing.
#include "fake_gpu/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tailor::fake {
namespace {

constexpr double sector_bytes = 32;

template <std::int64_t simulator::Counters::*counter>
double counted(const Work& work, const Chip&) {
  return static_cast<double>(work.counters.*counter);
}
double dram_read(const Work& work, const Chip&) { return static_cast<double>(work.dram_read); }
double dram_write(const Work& work, const Chip&) { return static_cast<double>(work.dram_write); }
double dram_read_sectors(const Work& work, const Chip&) { return static_cast<double>(work.dram_read) / sector_bytes; }
double dram_write_sectors(const Work& work, const Chip&) { return static_cast<double>(work.dram_write) / sector_bytes; }
double dram_share(const Work& work, const Chip& chip) {
  return work.elapsed <= 0 ? 0
                           : static_cast<double>(work.dram_read + work.dram_write) / work.elapsed / chip.dram_bandwidth;
}
double l2_read(const Work& work, const Chip&) {
  return static_cast<double>(work.counters.l2_read_bytes) / sector_bytes;
}
double l2_write(const Work& work, const Chip&) {
  return static_cast<double>(work.counters.l2_write_bytes) / sector_bytes;
}
double l2_all(const Work& work, const Chip& chip) {
  return l2_read(work, chip) + l2_write(work, chip) + (dram_read(work, chip) + dram_write(work, chip)) / sector_bytes;
}
double l2_hits(const Work& work, const Chip& chip) {
  const double asked = l2_read(work, chip) + l2_write(work, chip);
  return asked <= 0 ? 0 : std::max(0.0, 1 - dram_read_sectors(work, chip) / asked);
}
double nanoseconds(const Work& work, const Chip&) { return work.elapsed * 1e9; }
double sm_cycles(const Work& work, const Chip& chip) { return work.elapsed * chip.sm_clock * chip.sms; }
double blocks(const Work& work, const Chip&) { return static_cast<double>(work.blocks); }
double warps(const Work& work, const Chip& chip) {
  const double all = static_cast<double>(work.blocks * ((work.threads_per_block + 31) / 32));
  return std::min(all, static_cast<double>(chip.sms) * chip.threads_per_sm / 32);
}
double nothing(const Work&, const Chip&) { return 0; }
double half_of(const Work&, const Chip&) { return 0.5; }

using C = simulator::Counters;
constexpr auto counter = MetricKind::counter;
constexpr auto ratio = MetricKind::ratio;
constexpr Metric table[] = {
    {"gpu__time_duration", "nsecond", counter, nanoseconds},
    {"dram__bytes_read", "byte", counter, dram_read},
    {"dram__bytes_write", "byte", counter, dram_write},
    {"dram__bytes_op_read", "byte", counter, dram_read},
    {"dram__bytes_op_write", "byte", counter, dram_write},
    {"dram__sectors_read", "sector", counter, dram_read_sectors},
    {"dram__sectors_write", "sector", counter, dram_write_sectors},
    {"dram__throughput", "%", MetricKind::throughput, dram_share},
    {"lts__t_sectors", "sector", counter, l2_all},
    {"lts__t_sectors_srcunit_tex_op_read", "sector", counter, l2_read},
    {"lts__t_sectors_srcunit_tex_op_write", "sector", counter, l2_write},
    {"lts__t_sectors_op_read", "sector", counter, l2_read},
    {"lts__t_sectors_op_write", "sector", counter, l2_write},
    {"lts__t_sector_hit_rate", "", ratio, l2_hits},
    {"l1tex__t_sector_hit_rate", "", ratio, nothing},
    {"smsp__inst_executed", "inst", counter, counted<&C::instructions>},
    {"smsp__thread_inst_executed", "inst", counter, counted<&C::lane_instructions>},
    {"smsp__inst_executed_op_global_ld_pred_on_any", "inst", counter, counted<&C::global_load_requests>},
    {"smsp__inst_executed_op_global_st_pred_on_any", "inst", counter, counted<&C::global_store_requests>},
    {"smsp__inst_executed_op_shared_ld_pred_on_any", "inst", counter, counted<&C::shared_load_requests>},
    {"smsp__inst_executed_op_shared_st_pred_on_any", "inst", counter, counted<&C::shared_store_requests>},
    {"smsp__inst_executed_op_shared_atom_pred_on_any", "inst", counter, counted<&C::shared_atomic_requests>},
    {"smsp__inst_executed_op_local_ld_pred_on_any", "inst", counter, counted<&C::local_load_requests>},
    {"smsp__inst_executed_op_local_st_pred_on_any", "inst", counter, counted<&C::local_store_requests>},
    {"smsp__inst_executed_op_branch", "inst", counter, counted<&C::control>},
    {"smsp__inst_executed_pipe_fma", "inst", counter, counted<&C::fma>},
    {"smsp__inst_executed_pipe_alu", "inst", counter, counted<&C::alu>},
    {"smsp__inst_executed_pipe_xu", "inst", counter, counted<&C::xu>},
    {"smsp__inst_executed_pipe_fp64", "inst", counter, counted<&C::f64>},
    {"smsp__inst_executed_pipe_tensor", "inst", counter, counted<&C::matrix>},
    {"smsp__inst_executed_pipe_cbu", "inst", counter, counted<&C::control>},
    {"smsp__inst_executed_pipe_", "inst", counter, nothing},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld", "request", counter, counted<&C::global_load_requests>},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st", "request", counter, counted<&C::global_store_requests>},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld", "sector", counter, counted<&C::global_load_sectors>},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st", "sector", counter, counted<&C::global_store_sectors>},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_atom", "request", counter, counted<&C::global_atomic_requests>},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom", "sector", counter, counted<&C::global_atomic_sectors>},
    {"l1tex__t_", "", counter, nothing},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld", "", counter, counted<&C::shared_load_wavefronts>},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st", "", counter, counted<&C::shared_store_wavefronts>},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared", "", counter, counted<&C::bank_conflicts>},
    {"smsp__sass_data_bytes_mem_global_op_ld", "byte", counter, counted<&C::global_load_bytes>},
    {"smsp__sass_data_bytes_mem_global_op_st", "byte", counter, counted<&C::global_store_bytes>},
    {"smsp__sass_data_bytes_mem_shared_op_ld", "byte", counter, counted<&C::shared_load_bytes>},
    {"smsp__sass_data_bytes_mem_shared_op_st", "byte", counter, counted<&C::shared_store_bytes>},
    {"smsp__sass_branch_targets_threads_divergent", "", counter, counted<&C::divergent_branches>},
    {"smsp__sass_", "", counter, nothing},
    {"smsp__average_warp_latency_", "", ratio, half_of},
    {"smsp__issue_active", "cycle", counter, counted<&C::instructions>},
    {"smsp__cycles_active", "cycle", counter, sm_cycles},
    {"sm__cycles_active", "cycle", counter, sm_cycles},
    {"sm__cycles_elapsed", "cycle", counter, sm_cycles},
    {"sm__ctas_launched", "block", counter, blocks},
    {"sm__warps_active", "warp", counter, warps},
};

constexpr const char* counter_endings[] = {".avg",
                                           ".avg.per_cycle_active",
                                           ".avg.per_cycle_elapsed",
                                           ".avg.per_second",
                                           ".avg.pct_of_peak_sustained_active",
                                           ".avg.pct_of_peak_sustained_elapsed",
                                           ".max",
                                           ".max.per_second",
                                           ".min",
                                           ".min.per_second",
                                           ".sum",
                                           ".sum.per_cycle_active",
                                           ".sum.per_cycle_elapsed",
                                           ".sum.per_second",
                                           ".sum.pct_of_peak_sustained_active",
                                           ".sum.pct_of_peak_sustained_elapsed"};
constexpr const char* ratio_endings[] = {".max_rate", ".pct", ".ratio"};
constexpr const char* throughput_endings[] = {".avg.pct_of_peak_sustained_active", ".avg.pct_of_peak_sustained_elapsed",
                                              ".max.pct_of_peak_sustained_elapsed",
                                              ".sum.pct_of_peak_sustained_elapsed"};

/// One per SM, but for time, which is one's own.
double instances(const Metric& metric, const Chip& chip) { return metric.base.starts_with("gpu__") ? 1 : chip.sms; }

std::string_view base_of(std::string_view name) { return name.substr(0, name.find('.')); }
std::string_view ending_of(std::string_view name) { return name.substr(base_of(name).size()); }

}  // namespace

std::span<const Metric> metric_table() { return table; }

std::span<const char* const> endings(MetricKind kind) {
  if (kind == MetricKind::counter) return counter_endings;
  if (kind == MetricKind::ratio) return ratio_endings;
  return throughput_endings;
}

const Metric* find_metric(std::string_view name) {
  const std::string_view base = base_of(name);
  for (const Metric& row : table)
    if (row.base == base || (row.base.ends_with('_') && base.starts_with(row.base))) return &row;
  return nullptr;
}

bool is_metric(std::string_view name, const Config& config) {
  if (config.metrics.count(std::string(name)) != 0) return true;
  const Metric* metric = find_metric(name);
  if (metric == nullptr) return false;
  const std::span<const char* const> known = endings(metric->kind);
  return std::find(known.begin(), known.end(), ending_of(name)) != known.end();
}

double value_of(std::string_view name, const Work& work, const Config& config) {
  const auto planted = config.metrics.find(std::string(name));
  if (planted != config.metrics.end()) return planted->second;
  const Metric& metric = *find_metric(name);
  const std::string_view ending = ending_of(name);
  double value = metric.total(work, config.chip);
  if (ending == ".pct") return value * 100;
  if (metric.kind == MetricKind::ratio) return value;
  if (metric.kind == MetricKind::throughput) return value * 100;
  if (ending.find("pct_of_peak") != ending.npos)
    return metric.total == warps
               ? 100 * value * 32 / (static_cast<double>(config.chip.sms) * config.chip.threads_per_sm)
               : 50;
  if (!ending.starts_with(".sum")) value /= instances(metric, config.chip);
  if (ending.ends_with(".per_second")) value /= work.elapsed;
  if (ending.find(".per_cycle") != ending.npos) value /= work.elapsed * config.chip.sm_clock;
  return value;
}

}  // namespace tailor::fake
