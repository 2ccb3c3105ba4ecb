// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The lists: of every record its table and its fields, once. INSERT and SELECT, saving and loading, lines of recorded
// files, heads and cells of CSV and the order of a merge come from here; schema.sql says the same as SQL with comments,
// and a test holds the two together (name, type, order, key). Fields stand in the order of the struct, which the tests
// use to see a name beside the wrong member.
//
// To add a field: the member in rows.h, one line here, one in schema.sql. To add a record: its struct, a list here, its
// place in Records, its table in schema.sql and in docs/database.md. Private to this folder and its tests.
#pragma once

#include <array>
#include <string>
#include <tuple>
#include <type_traits>

#include "store/field.h"
#include "store/rows.h"

namespace tailor::store {

template <>
struct Record<RunDeviceRow> {
  static constexpr Table table{.name = "run_devices"};
  static void walk(auto& field, auto& row) {
    field("device_id", row.device, mark::key);
    field("file_id", row.file);
  }
};

template <>
struct Record<RunRow> {
  static constexpr Table table{.name = "runs", .known = Known::completed, .decider = "finished_at"};
  static void walk(auto& field, auto& row) {
    field("run_id", row.id, mark::key);
    field("tool", row.tool);
    field("command", row.command);
    field("config_id", row.config_id);
    field("config", row.config);
    field("calibration", row.calibration);
    field("toolchain", row.toolchain, mark::later);
    field("device", row.device, mark::later);
    field("driver", row.driver, mark::later);
    field("clocks", row.clocks, mark::later);
    field("host", row.host, mark::local);
    field("host_cores", row.host_cores, mark::local);
    field("seed", row.seed);
    field("started_at", row.started_at);
    field("finished_at", row.finished_at, mark::later);
    field("outcome", row.outcome, mark::later);
    field.list(row.devices);
  }
};

template <>
struct Record<DeviceRow> {
  static constexpr Table table{.name = "devices", .known = Known::replaced, .numbered = true};
  static void walk(auto& field, auto& row) {
    field("device_id", row.id, mark::key);
    field("name", row.name);
    field("title", row.title);
    field("arch", row.arch);
    field("file", row.file);
  }
};

template <>
struct Record<GraphRow> {
  static constexpr Table table{.name = "graphs", .known = Known::completed, .only_if = "graphs.text IS NULL"};
  static void walk(auto& field, auto& row) {
    field("graph_id", row.id, mark::key);
    field("structure_id", row.structure);
    field("name", row.name);
    field("source", row.source);
    field("text", row.text, mark::later | mark::local | mark::packed);
    field("nodes", row.nodes);
    field("opaque_nodes", row.opaque_nodes);
    field("summary", row.summary, mark::later | mark::local);
  }
};

template <>
struct Record<GroupRow> {
  static constexpr Table table{.name = "groups", .numbered = true};
  static void walk(auto& field, auto& row) {
    field("group_id", row.id, mark::key);
    field("title", row.title);
    field("text", row.text, mark::packed);
    field("nodes", row.nodes);
    field("reductions", row.reductions);
    field("read_bytes", row.read);
    field("written_bytes", row.written);
    field("flops", row.flops);
  }
};

template <>
struct Record<FusionGroupRow> {
  static constexpr Table table{.name = "fusion_groups"};
  static void walk(auto& field, auto& row) {
    field("group_id", row.group, mark::key);
    field("occurrences", row.occurrences);
    field("times", row.times);
    field("example", row.example);
  }
};

template <>
struct Record<EdgeRow> {
  static constexpr Table table{.name = "fusion_edges"};
  static void walk(auto& field, auto& row) {
    field("body", row.body, mark::key);
    field("producer", row.producer, mark::key);
    field("consumer", row.consumer, mark::key);
    field("part", row.part, mark::key);
    field("decision", row.decision);
    field("level", row.level);
    field("gain_s", row.gain);
    field("reason", row.reason);
  }
};

template <>
struct Record<FusionRow> {
  static constexpr Table table{.name = "fusions", .known = Known::replaced, .numbered = true};
  static void walk(auto& field, auto& row) {
    field("graph_id", row.graph, mark::key);
    field("strategy", row.strategy, mark::key);
    field("device", row.device, mark::key);
    field("price", row.price, mark::key);
    field.list(row.groups);
    field.list(row.edges);
    field("least_kernels", row.least_kernels);
    field("unknown_trips", row.unknown_trips);
    field("branches", row.branches);
  }
};

template <>
struct Record<LibraryCallRow> {
  static constexpr Table table{.name = "library_calls"};
  static void walk(auto& field, auto& row) {
    field("graph_id", row.graph, mark::key);
    field("node", row.node, mark::key);
    field("kind", row.kind);
    field("shape", row.shape);
    field("times", row.times);
    field("flops", row.flops);
    field("bytes", row.bytes);
  }
};

template <>
struct Record<LibraryTimeRow> {
  static constexpr Table table{.name = "library_times", .known = Known::replaced};
  static void walk(auto& field, auto& row) {
    field("graph_id", row.graph, mark::key);
    field("node", row.node, mark::key);
    field("device_id", row.device, mark::key);
    field("model", row.model, mark::key);
    field("total_s", row.total);
    field("figures", row.figures);
  }
};

template <>
struct Record<PlanRow> {
  static constexpr Table table{.name = "plans", .numbered = true};
  static void walk(auto& field, auto& row) {
    field("plan_id", row.id, mark::key);
    field("group_id", row.group);
    field("text", row.text);
    field("skeleton", row.skeleton);
    field("from_usual", row.from_usual);
  }
};

template <>
struct Record<KernelRow> {
  static constexpr Table table{.name = "kernels", .known = Known::completed, .only_if = "kernels.text IS NULL"};
  static void walk(auto& field, auto& row) {
    field("kernel_id", row.id, mark::key);
    field("name", row.name);
    field("text", row.text, mark::later | mark::local | mark::packed);
    field("cuda", row.cuda, mark::later | mark::local | mark::packed);
    field("threads", row.threads);
    field("blocks", row.blocks);
    field("shared_bytes", row.shared);
    field("idempotent", row.idempotent);
  }
};

template <>
struct Record<LoweringRow> {
  static constexpr Table table{.name = "lowerings"};
  static void walk(auto& field, auto& row) {
    field("plan_id", row.plan, mark::key);
    field("device_id", row.device, mark::key);
    field("kernel_id", row.kernel);
  }
};

template <>
struct Record<GivenKernelRow> {
  static constexpr Table table{.name = "given_kernels"};
  static void walk(auto& field, auto& row) {
    field("graph_id", row.graph, mark::key);
    field("kernel_id", row.kernel, mark::key);
    field("group_id", row.group);
    field("origin", row.origin);
    field("example", row.example);
    field("places", row.places);
    field("times", row.times);
    field("arrays_bytes", row.arrays);
  }
};

template <>
struct Record<RejectionRow> {
  static constexpr Table table{.name = "rejections", .decider = "plans"};
  static void walk(auto& field, auto& row) {
    field("group_id", row.group, mark::key);
    field("device_id", row.device, mark::key);
    field("space", row.space, mark::key);
    field("rule", row.rule, mark::key);
    field("sound", row.sound);
    field("plans", row.plans);
    field("example", row.example);
    field("reason", row.reason);
  }
};

template <>
struct Record<PlanRejectionRow> {
  static constexpr Table table{.name = "plan_rejections"};
  static void walk(auto& field, auto& row) {
    field("plan_id", row.plan, mark::key);
    field("device_id", row.device, mark::key);
    field("rule", row.rule, mark::key);
    field("reason", row.reason);
  }
};

template <>
struct Record<XlaPlanRow> {
  static constexpr Table table{.name = "xla_plans", .known = Known::replaced, .decider = "launch"};
  static void walk(auto& field, auto& row) {
    field("group_id", row.group, mark::key);
    field("device_id", row.device, mark::key);
    field("emitter", row.emitter);
    field("grid", row.grid);
    field("block", row.block);
    field("plan_id", row.plan);
    field("launch", row.launch);
    field("note", row.note);
  }
};

template <>
struct Record<ShortListRow> {
  static constexpr Table table{.name = "short_lists"};
  static void walk(auto& field, auto& row) {
    field("space", row.space, mark::key);
    field("device_id", row.device, mark::key);
    field("plan_id", row.plan, mark::key);
  }
};

template <>
struct Record<PointRow> {
  static constexpr Table table{.name = "points", .known = Known::replaced};
  static void walk(auto& field, auto& row) {
    field("grid_id", row.grid, mark::key);
    field("point_id", row.id, mark::key);
    field("number", row.number);
    field("label", row.label);
    field("setting", row.setting);
    field("baseline", row.baseline);
  }
};

template <>
struct Record<PointResultRow> {
  static constexpr Table table{.name = "point_results", .known = Known::replaced};
  static void walk(auto& field, auto& row) {
    field("point_id", row.point, mark::key);
    field("graph_id", row.graph, mark::key);
    field("strategy", row.strategy, mark::key);
    field("price", row.price, mark::key);
    field("device_id", row.device, mark::key);
    field("kernels", row.kernels);
    field("launches", row.launches);
    field("launches_without_plan", row.launches_without_plan);
    field("dram_bytes", row.dram);
    field("kernel_s", row.kernel_time);
    field("library_s", row.library_time);
  }
};

template <>
struct Record<BinaryRow> {
  static constexpr Table table{.name = "binaries", .decider = "ok"};
  static void walk(auto& field, auto& row) {
    field("binary_id", row.id, mark::key);
    field("kernel_id", row.kernel);
    field("arch", row.arch);
    field("compiler", row.compiler);
    field("ok", row.ok);
    field("log", row.log, mark::local);
    field("registers", row.registers);
    field("spill_store_bytes", row.spill_stores);
    field("spill_load_bytes", row.spill_loads);
    field("local_bytes", row.local);
    field("static_shared_bytes", row.static_shared);
    field("machine_instructions", row.machine_instructions);
    field("loads_outstanding", row.loads_outstanding);
    field("cubin_bytes", row.cubin_bytes);
    field("compile_s", row.compile_time);
    field("cubin", row.cubin, mark::local);
  }
};

/// "launch_s", "dram_s", ...: the columns of an estimate's parts, by ir::Part.
const std::array<std::string, ir::part_count>& part_columns();

template <>
struct Record<EstimateRow> {
  /// Of level profiled the last word counts, of others the first.
  static constexpr Table table{
      .name = "estimates",
      .known = Known::replaced,
      .only_if = "(SELECT level FROM estimators WHERE number = excluded.number & 65535) = 'profiled'"};
  static void walk(auto& field, auto& row) {
    field("plan_id", row.plan, mark::key);
    field("device_id", row.device, mark::key);
    field("level", row.level, mark::key);
    field("model", row.model, mark::key);
    field("total_s", row.total);
    field("low_s", row.low);
    field("high_s", row.high);
    field("bottleneck", row.bottleneck);
    for (std::size_t i = 0; i < row.parts.size(); ++i) field(part_columns()[i].c_str(), row.parts[i]);
    field("occupancy", row.occupancy);
    field("waves", row.waves);
    field("registers", row.registers);
  }
};

template <>
struct Record<PredictionRow> {
  static constexpr Table table{.name = "predictions", .known = Known::replaced};
  static void walk(auto& field, auto& row) {
    field("plan_id", row.plan, mark::key);
    field("device_id", row.device, mark::key);
    field("level", row.level, mark::key);
    field("model", row.model, mark::key);
    field("cache", row.cache, mark::key);
    field("timed_by", row.timed_by, mark::key);
    field("launch_mode", row.launch_mode, mark::key);
    field("total_s", row.total);
    field("low_s", row.low);
    field("high_s", row.high);
  }
};

template <>
struct Record<GroupBoundRow> {
  static constexpr Table table{.name = "group_bounds", .known = Known::replaced};
  static void walk(auto& field, auto& row) {
    field("group_id", row.group, mark::key);
    field("device_id", row.device, mark::key);
    field("model", row.model, mark::key);
    field("total_s", row.total);
    field("bottleneck", row.bottleneck);
    field("figures", row.figures);
  }
};

template <>
struct Record<CheckRow> {
  static constexpr Table table{.name = "checks", .known = Known::replaced, .decider = "state"};
  static void walk(auto& field, auto& row) {
    field("kernel_id", row.kernel, mark::key);
    field("method", row.method, mark::key);
    field("state", row.state);
    field("worst", row.worst);
    field("reason", row.reason);
    field("findings", row.findings);
    field("judged", row.judged);
  }
};

/// The four columns of how time was taken; `protocol` is an ir::Protocol or an optional one.
void walk_protocol(auto& field, auto& protocol) {
  ProtocolWords words = to_words(protocol);
  field("cache", words.cache);
  field("timed_by", words.timed_by);
  field("launch_mode", words.launch_mode);
  field("stop_rule", words.stop_rule);
  if constexpr (std::remove_cvref_t<decltype(field)>::reads) take_words(words, protocol);
}

template <>
struct Record<ir::Sample> {
  static constexpr Table table{.name = "samples", .number = "sample"};
  static void walk(auto& field, auto& row) {
    field("duration_s", row.duration);
    field("sm_clock_hz", ZeroIsNull(row.sm_clock));
    field("throttle", ThrottleBits(row.throttle));
  }
};

template <>
struct Record<ir::CounterValue> {
  static constexpr Table table{.name = "counters"};
  static void walk(auto& field, auto& row) {
    field("counter", row.name, mark::key);
    field("value", row.value);
    field("unit", row.unit);
  }
};

template <>
struct Record<ir::TwinTime> {
  static constexpr Table table{.name = "twins", .number = "twin"};
  static void walk(auto& field, auto& row) {
    field("median_s", row.median);
    field("low_s", row.low);
    field("high_s", row.high);
    field("samples", row.samples);
    field("told_apart", row.told_apart);
  }
};

template <>
struct Record<MeasurementRow> {
  static constexpr Table table{.name = "measurements"};
  static void walk(auto& field, auto& row) {
    field("measurement_id", row.id, mark::key);
    field("run_id", row.run);
    field("binary_id", row.binary);
    field("device_id", row.device);
    field("profiler", row.profiler);
    field("protocol", row.protocol);
    walk_protocol(field, row.timing);
    field("gpu", row.gpu);
    field("driver", row.driver);
    field("outcome", row.outcome);
    field("reason", row.reason);
    field("attempts", row.attempts);
    field("median_s", row.median);
    field("low_s", row.low);
    field("high_s", row.high);
    field("sm_clock_hz", row.sm_clock);
    field("dram_clock_hz", row.dram_clock);
    field("measured_at", row.measured_at);
    field.list(row.samples);
    field.list(row.counts);
    field.list(row.twins);
  }
};

template <>
struct Record<ObservationRow> {
  static constexpr Table table{.name = "observations"};
  static void walk(auto& field, auto& row) {
    field("observation_id", row.id, mark::key);
    field("split", row.split);
    field("device", row.device);
    field("regime", row.regime);
    field("time_s", row.time);
    field("low_s", row.low);
    field("high_s", row.high);
    field("source", row.source);
    field("group_id", row.group);
    field("plan_id", row.plan);
    field("operation", row.operation);
    field("shape", row.shape);
    field("blocks", row.blocks);
    field("threads", row.threads);
    field("shared_bytes", row.shared);
    field("registers", row.registers);
    field("read_bytes", row.read);
    field("written_bytes", row.written);
    field("variant", row.variant);
    field("common_bytes", row.common);
    field("reread_bytes", row.reread);
    field("far_trips", row.far_trips);
    field("near_trips", row.near_trips);
    field("shuffles", row.shuffles);
    field("barriers", row.barriers);
    field("instructions", row.instructions);
    field("transcendental", row.transcendental);
  }
};

template <>
struct Record<LeftOutRow> {
  static constexpr Table table{.name = "module_left_out"};
  static void walk(auto& field, auto& row) {
    field("reason", row.reason, mark::key);
    field("places", row.places);
  }
};

template <>
struct Record<ModuleSampleRow> {
  static constexpr Table table{.name = "module_samples"};
  static void walk(auto& field, auto& row) {
    field("round", row.round, mark::key);
    field("place", row.place, mark::key);
    Record<ir::Sample>::walk(field, row.sample);
  }
};

template <>
struct Record<ModuleTimeRow> {
  static constexpr Table table{.name = "module_times"};
  static void walk(auto& field, auto& row) {
    field("module_time_id", row.id, mark::key);
    field("run_id", row.run);
    field("graph_id", row.graph);
    field("strategy", row.strategy);
    field("device_id", row.device);
    field("profiler", row.profiler);
    walk_protocol(field, row.protocol);
    field("gpu", row.gpu);
    field("driver", row.driver);
    field("outcome", row.outcome);
    field("reason", row.reason);
    field("groups_timed", row.groups_timed);
    field.list(row.left_out);
    field("launches", row.launches);
    field("buffers_bytes", row.buffers);
    field("median_s", row.median);
    field("low_s", row.low);
    field("high_s", row.high);
    field("measured_at", row.measured_at);
    field.list(row.samples);
  }
};

template <>
struct Record<CalibrationRow> {
  static constexpr Table table{.name = "calibrations", .known = Known::replaced};
  static void walk(auto& field, auto& row) {
    field("calibration_id", row.calibration, mark::key);
    field("parameter", row.parameter, mark::key);
    field("device_id", row.device);
    field("value", row.value);
    field("low", row.low);
    field("high", row.high);
    field("unit", row.unit);
    field("observations", row.observations);
    field("fitted_at", row.fitted_at);
  }
};

template <>
struct Record<ProgressRow> {
  static constexpr Table table{.name = "progress", .known = Known::replaced, .decider = "legal"};
  static void walk(auto& field, auto& row) {
    field("group_id", row.group, mark::key);
    field("device_id", row.device, mark::key);
    field("space", row.space, mark::key);
    field("stage", row.stage, mark::key);
    field("legal", row.legal);
    field("rejected", row.rejected);
    field("figures", row.figures);
  }
};

/// Every record with a table, parents before those that refer to them. Rows of lists follow their record.
using Records = std::tuple<DeviceRow, RunRow, GraphRow, GroupRow, FusionRow, LibraryCallRow, LibraryTimeRow, PlanRow,
                           KernelRow, LoweringRow, GivenKernelRow, RejectionRow, PlanRejectionRow, XlaPlanRow,
                           ShortListRow, PointRow, PointResultRow, BinaryRow, EstimateRow, PredictionRow, GroupBoundRow,
                           CheckRow, MeasurementRow, ObservationRow, ModuleTimeRow, CalibrationRow, ProgressRow>;

}  // namespace tailor::store
