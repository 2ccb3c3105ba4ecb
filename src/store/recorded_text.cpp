// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The text form of recorded measurements. What a row's line holds is written down once per row, as a walk over named
// fields; a writer and a reader take the same walk, so the two cannot disagree. Fields that are empty are left out.
#include <fmt/format.h>

#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "store/recorded.h"

namespace tailor::store {

namespace {

constexpr std::string_view hint = "fetch the file again, or export it again from its database";

/// Takes a walk and makes a JSON object.
class Writer {
 public:
  static constexpr bool reads = false;
  Json::Object object;

  void operator()(const char* key, const std::string& value) {
    if (!value.empty()) object.push_back({key, value});
  }
  void operator()(const char* key, Id value) { object.push_back({key, hex(value)}); }
  void operator()(const char* key, bool value) { object.push_back({key, value}); }
  void operator()(const char* key, double value) { object.push_back({key, value}); }
  void operator()(const char* key, std::int64_t value) { object.push_back({key, value}); }
  void operator()(const char* key, int value) { object.push_back({key, value}); }
  void operator()(const char* key, const std::vector<double>& values) { object.push_back({key, values}); }
  void operator()(const char* key, const std::vector<std::int64_t>& values) { object.push_back({key, values}); }
  template <class Dimension>
  void operator()(const char* key, Quantity<Dimension> value) {
    (*this)(key, value.value);
  }
  template <class Value>
  void operator()(const char* key, const std::optional<Value>& value) {
    if (value) (*this)(key, *value);
  }
};

/// Takes the same walk and fills the row from an object. The first thing that is wrong throws, without a place.
class Reader {
 public:
  static constexpr bool reads = true;
  explicit Reader(const Json& object) : object_(object) {}

  void operator()(const char* key, std::string& value) {
    const Json* found = field(key);
    value = found == nullptr ? std::string() : text(key, *found);
  }
  void operator()(const char* key, Id& value) {
    const std::string digits = text(key, needed(key));
    if (digits.size() != 32 || digits.find_first_not_of("0123456789abcdef") != digits.npos)
      complain(key, "32 hexadecimal digits");
    value = id_from_hex(digits);
  }
  void operator()(const char* key, bool& value) {
    const std::optional<bool> truth = needed(key).boolean();
    if (!truth) complain(key, "true or false");
    value = *truth;
  }
  void operator()(const char* key, double& value) { value = number(key, needed(key)); }
  void operator()(const char* key, std::int64_t& value) { value = whole(key, needed(key)); }
  void operator()(const char* key, int& value) {
    const std::int64_t found = whole(key, needed(key));
    if (found < std::numeric_limits<int>::min() || found > std::numeric_limits<int>::max())
      complain(key, "a smaller number");
    value = static_cast<int>(found);
  }
  void operator()(const char* key, std::vector<double>& values) {
    for (const Json& one : list(key)) values.push_back(number(key, one));
  }
  void operator()(const char* key, std::vector<std::int64_t>& values) {
    for (const Json& one : list(key)) values.push_back(whole(key, one));
  }
  template <class Dimension>
  void operator()(const char* key, Quantity<Dimension>& value) {
    (*this)(key, value.value);
  }
  template <class Value>
  void operator()(const char* key, std::optional<Value>& value) {
    value.reset();
    if (field(key) != nullptr) (*this)(key, value.emplace());
  }

  const Json* field(const char* key) const { return object_.find(key); }
  [[noreturn]] static void complain(const char* key, std::string_view expected) {
    throw Error(Fault::failed, fmt::format("'{}' is not what it should be, expected {}", key, expected),
                std::string(hint));
  }
  static std::string text(const char* key, const Json& value) {
    if (value.string() == nullptr) complain(key, "a string");
    return *value.string();
  }
  /// Infinity, which JSON has no word for, is written as null.
  static double number(const char* key, const Json& value) {
    if (value.null()) return std::numeric_limits<double>::infinity();
    if (!value.number()) complain(key, "a number");
    return *value.number();
  }

 private:
  const Json& needed(const char* key) const {
    const Json* found = field(key);
    if (found == nullptr) throw Error(Fault::failed, fmt::format("'{}' is missing", key), std::string(hint));
    return *found;
  }
  static std::int64_t whole(const char* key, const Json& value) {
    if (!value.integer()) complain(key, "a whole number");
    return *value.integer();
  }
  const Json::Array& list(const char* key) const {
    const Json::Array* items = needed(key).array();
    if (items == nullptr) complain(key, "a list");
    return *items;
  }

  const Json& object_;
};

// The walks: what each row's line holds.

template <class Fields>
void walk(Fields& field, DeviceRow& row) {
  field("id", row.id);
  field("name", row.name);
  field("title", row.title);
  field("arch", row.arch);
  field("file", row.file);
}

template <class Fields>
void walk(Fields& field, RunRow& row) {
  field("id", row.id);
  field("tool", row.tool);
  field("command", row.command);
  field("config", row.config);
  if (!row.config.empty()) field("config_id", row.config_id);
  field("toolchain", row.toolchain);
  field("device", row.device);
  field("driver", row.driver);
  field("clocks", row.clocks);
  field("seed", row.seed);
  field("started", row.started_at);
  field("finished", row.finished_at);
  field("outcome", row.outcome);
}

template <class Fields>
void walk(Fields& field, GraphRow& row) {
  field("id", row.id);
  field("structure", row.structure);
  field("name", row.name);
  field("source", row.source);
  field("nodes", row.nodes);
  field("opaque", row.opaque_nodes);
}

template <class Fields>
void walk(Fields& field, GroupRow& row) {
  field("id", row.id);
  field("title", row.title);
  field("nodes", row.nodes);
  field("reductions", row.reductions);
  field("read_bytes", row.read);
  field("written_bytes", row.written);
  field("flops", row.flops);
  field("text", row.text);
}

template <class Fields>
void walk(Fields& field, PlanRow& row) {
  field("id", row.id);
  field("group", row.group);
  field("text", row.text);
  field("skeleton", row.skeleton);
  field("threads", row.threads);
  field("threads_per_row", row.threads_per_row);
  field("vector", row.vector);
  field("in_flight", row.in_flight);
  field("residence", row.residence);
  field("grid", row.grid);
  field("blocks_per_sm", row.blocks_per_sm);
  field("index_cache", row.index_cache);
  field("value_cache", row.value_cache);
}

template <class Fields>
void walk(Fields& field, KernelRow& row) {
  field("id", row.id);
  field("name", row.name);
  field("threads", row.threads);
  field("blocks", row.blocks);
  field("shared_bytes", row.shared);
  field("idempotent", row.idempotent);
}

template <class Fields>
void walk(Fields& field, LoweringRow& row) {
  field("plan", row.plan);
  field("device", row.device);
  field("kernel", row.kernel);
}

template <class Fields>
void walk(Fields& field, GivenKernelRow& row) {
  field("graph", row.graph);
  field("kernel", row.kernel);
  field("group", row.group);
  field("origin", row.origin);
  field("example", row.example);
  field("places", row.places);
  field("times", row.times);
  field("arrays_bytes", row.arrays);
}

template <class Fields>
void walk(Fields& field, BinaryRow& row) {
  field("id", row.id);
  field("kernel", row.kernel);
  field("arch", row.arch);
  field("compiler", row.compiler);
  field("ok", row.ok);
  field("registers", row.registers);
  field("spill_store_bytes", row.spill_stores);
  field("spill_load_bytes", row.spill_loads);
  field("local_bytes", row.local);
  field("static_shared_bytes", row.static_shared);
  field("cubin_bytes", row.cubin_bytes);
  field("compile_s", row.compile_time);
}

/// A protocol is its words; `text` is what they are when they are no protocol's.
void words(Writer& field, const char* key, ir::Protocol& protocol) { field(key, ir::text(protocol)); }
void words(Reader& field, const char* key, ir::Protocol& protocol) {
  std::string text;
  field(key, text);
  const std::optional<ir::Protocol> read = ir::parse_protocol(text);
  if (!read) Reader::complain(key, "a protocol as 'cold, activity, stream, stop standard'");
  protocol = *read;
}

/// Samples as columns; clocks and throttle states are left out where all are 0.
struct SampleColumns {
  std::vector<double> durations, clocks;
  std::vector<std::int64_t> throttles;
};

template <class Samples, class Sample>
SampleColumns columns_of(const Samples& samples, Sample&& sample) {
  SampleColumns columns;
  bool clock = false, throttle = false;
  for (const auto& one : samples) {
    columns.durations.push_back(sample(one).duration.value);
    columns.clocks.push_back(sample(one).sm_clock);
    columns.throttles.push_back(sample(one).throttle);
    clock |= columns.clocks.back() != 0;
    throttle |= columns.throttles.back() != 0;
  }
  if (!clock) columns.clocks.clear();
  if (!throttle) columns.throttles.clear();
  return columns;
}

template <class Fields>
void walk_columns(Fields& field, SampleColumns& columns) {
  field("samples_s", columns.durations);
  const auto sometimes = [&](const char* key, auto& values) {
    if constexpr (Fields::reads) {
      if (field.field(key) == nullptr) {
        values.resize(columns.durations.size());
      } else {
        field(key, values);
      }
      if (values.size() != columns.durations.size()) Reader::complain(key, "one value per sample");
    } else if (!values.empty()) {
      field(key, values);
    }
  };
  sometimes("sample_clocks_hz", columns.clocks);
  sometimes("sample_throttles", columns.throttles);
}

ir::Sample sample_at(const SampleColumns& columns, std::size_t i) {
  return {{columns.durations[i]}, columns.clocks[i], static_cast<std::uint32_t>(columns.throttles[i])};
}

void walk_samples(Writer& field, std::vector<ir::Sample>& samples) {
  SampleColumns columns = columns_of(samples, [](const ir::Sample& one) { return one; });
  walk_columns(field, columns);
}
void walk_samples(Reader& field, std::vector<ir::Sample>& samples) {
  SampleColumns columns;
  walk_columns(field, columns);
  for (std::size_t i = 0; i < columns.durations.size(); ++i) samples.push_back(sample_at(columns, i));
}
void walk_samples(Writer& field, std::vector<ModuleSampleRow>& samples) {
  SampleColumns columns = columns_of(samples, [](const ModuleSampleRow& one) { return one.sample; });
  std::vector<std::int64_t> rounds, places;
  for (const ModuleSampleRow& one : samples) {
    rounds.push_back(one.round);
    places.push_back(one.place);
  }
  field("rounds", rounds);
  field("places", places);
  walk_columns(field, columns);
}
void walk_samples(Reader& field, std::vector<ModuleSampleRow>& samples) {
  SampleColumns columns;
  std::vector<std::int64_t> rounds, places;
  field("rounds", rounds);
  field("places", places);
  walk_columns(field, columns);
  if (rounds.size() != columns.durations.size()) Reader::complain("rounds", "one value per sample");
  if (places.size() != columns.durations.size()) Reader::complain("places", "one value per sample");
  for (std::size_t i = 0; i < rounds.size(); ++i) samples.push_back({rounds[i], places[i], sample_at(columns, i)});
}

/// {"dram_read_bytes": [1000, "B"]}
void walk_counts(Writer& field, std::vector<CountRow>& counts) {
  if (counts.empty()) return;
  Json all;
  for (const CountRow& one : counts) all[one.counter] = Json::Array{one.value, one.unit};
  field.object.push_back({"counters", std::move(all)});
}
void walk_counts(Reader& field, std::vector<CountRow>& counts) {
  const Json* all = field.field("counters");
  if (all == nullptr) return;
  if (all->object() == nullptr) Reader::complain("counters", "an object");
  for (const Json::Member& member : *all->object()) {
    const char* name = member.key.c_str();
    const Json::Array* pair = member.value.array();
    if (pair == nullptr || pair->size() != 2) Reader::complain(name, "a number and a unit");
    counts.push_back({member.key, Reader::number(name, (*pair)[0]), Reader::text(name, (*pair)[1])});
  }
}

/// {"no plan covers a sort": 2}
void walk_left_out(Writer& field, std::vector<LeftOutRow>& left_out) {
  if (left_out.empty()) return;
  Json all;
  for (const LeftOutRow& one : left_out) all[one.reason] = one.places;
  field.object.push_back({"left_out", std::move(all)});
}
void walk_left_out(Reader& field, std::vector<LeftOutRow>& left_out) {
  const Json* all = field.field("left_out");
  if (all == nullptr) return;
  if (all->object() == nullptr) Reader::complain("left_out", "an object");
  for (const Json::Member& member : *all->object()) {
    if (!member.value.integer()) Reader::complain(member.key.c_str(), "a whole number");
    left_out.push_back({member.key, *member.value.integer()});
  }
}

template <class Fields>
void walk(Fields& field, MeasurementRow& row) {
  field("id", row.id);
  field("run", row.run);
  field("binary", row.binary);
  field("device", row.device);
  field("profiler", row.profiler);
  field("protocol", row.protocol);
  if constexpr (Fields::reads) {
    row.timing = ir::parse_protocol(row.protocol);
    if (field.field("timing") != nullptr) words(field, "timing", row.timing.emplace());
  } else if (row.timing && ir::text(*row.timing) != row.protocol) {
    words(field, "timing", *row.timing);
  }
  field("gpu", row.gpu);
  field("driver", row.driver);
  field("outcome", row.outcome);
  field("reason", row.reason);
  field("attempts", row.attempts);
  field("at", row.measured_at);
  field("median_s", row.median);
  field("low_s", row.low);
  field("high_s", row.high);
  field("sm_clock_hz", row.sm_clock);
  field("dram_clock_hz", row.dram_clock);
  walk_samples(field, row.samples);
  walk_counts(field, row.counts);
}

template <class Fields>
void walk(Fields& field, ModuleTimeRow& row) {
  field("id", row.id);
  field("run", row.run);
  field("graph", row.graph);
  field("strategy", row.strategy);
  field("device", row.device);
  field("profiler", row.profiler);
  words(field, "protocol", row.protocol);
  field("gpu", row.gpu);
  field("driver", row.driver);
  field("outcome", row.outcome);
  field("reason", row.reason);
  field("groups_timed", row.groups_timed);
  walk_left_out(field, row.left_out);
  field("launches", row.launches);
  field("buffers_bytes", row.buffers);
  field("at", row.measured_at);
  field("median_s", row.median);
  field("low_s", row.low);
  field("high_s", row.high);
  walk_samples(field, row.samples);
}

/// Calls `visit(name, list)` for every list of rows, in the order of the file.
template <class Rows, class Visit>
void each_list(Rows& rows, Visit&& visit) {
  visit("device", rows.devices);
  visit("run", rows.runs);
  visit("graph", rows.graphs);
  visit("group", rows.groups);
  visit("plan", rows.plans);
  visit("kernel", rows.kernels);
  visit("lowering", rows.lowerings);
  visit("given_kernel", rows.given);
  visit("binary", rows.binaries);
  visit("measurement", rows.measurements);
  visit("module_time", rows.module_times);
}

std::string to_line(const Json& object) { return json_text(object) + "\n"; }

void check_head(const Json& head) {
  const Json* version = head.find("tailor");
  if (version == nullptr || version->string() == nullptr)
    throw Error(Fault::failed,
                fmt::format("the file is no recorded one, expected {{\"tailor\":\"{}\"}} first", recorded_version),
                "give a file that 'tailor db export --recorded' wrote, or a database");
  if (*version->string() != recorded_version)
    throw Error(Fault::failed, fmt::format("found {}, expected {}", *version->string(), recorded_version),
                "export the measurements again with this tailor, or read them with the one that wrote them");
}

void check_end(const Json& end, std::int64_t lines, std::string_view before) {
  const Json *count = end.find("lines"), *hash = end.find("hash");
  if (count == nullptr || *count != Json(lines) || hash == nullptr)
    throw Error(Fault::failed, fmt::format("the last line does not close {} lines: some are missing", lines),
                std::string(hint));
  if (*hash != Json(hex(id_of(before))))
    throw Error(Fault::failed,
                "the lines before do not have the hash that is told here: the file was damaged or edited",
                std::string(hint));
}

/// One line into the list that its key names.
void read_line(const Json& line, RecordedRows& rows) {
  bool known = false;
  const Json::Object* members = line.object();
  if (members != nullptr && members->size() == 1)
    each_list(rows, [&](std::string_view kind, auto& list) {
      const auto& [key, value, offset] = members->front();
      if (key != kind) return;
      if (value.object() == nullptr) Reader::complain(key.c_str(), "an object");
      known = true;
      Reader reader(value);
      walk(reader, list.emplace_back());
    });
  if (!known)
    throw Error(Fault::failed,
                fmt::format("found '{}', expected an object with one key: device, run, ..., measurement, module_time",
                            members != nullptr && !members->empty() ? members->front().key : std::string("no object")),
                std::string(hint));
}

}  // namespace

std::string recorded_text(const RecordedRows& rows) {
  std::string text = to_line({{"tailor", recorded_version}});
  std::int64_t lines = 1;
  each_list(rows, [&](const char* kind, const auto& list) {
    for (const auto& row : list) {
      Writer writer;
      walk(writer, const_cast<std::remove_cvref_t<decltype(row)>&>(row));  // a writer changes nothing
      text += to_line({{kind, std::move(writer.object)}});
      ++lines;
    }
  });
  return text + to_line({{"end", Json{{"lines", lines}, {"hash", hex(id_of(std::string_view(text)))}}}});
}

RecordedRows parse_recorded(std::string_view text, const std::string& file) {
  RecordedRows rows;
  std::int64_t number = 0;
  bool ended = false;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    ++number;
    with_position(
        [&] {
          return Position{file, number, 0};
        },
        [&] {
          if (ended) throw Error(Fault::failed, "there is more after the last line", std::string(hint));
          const std::optional<Json> line = try_parse_json(text.substr(at, end - at));
          if (number > 1 && !line)
            throw Error(Fault::failed,
                        end == text.size() ? "the line is cut off: the file is not whole" : "the line is damaged",
                        std::string(hint));
          if (number == 1) return check_head(line.value_or(Json()));
          const Json* last = line->find("end");
          ended = last != nullptr;
          ended ? check_end(*last, number - 1, text.substr(0, at)) : read_line(*line, rows);
        });
    at = end + 1;
  }
  if (!ended)
    throw Error(Fault::failed, Position{file, number, 0}, "the file ends here without its last line: it was cut off",
                std::string(hint));
  return rows;
}

}  // namespace tailor::store
