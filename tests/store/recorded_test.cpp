// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Recorded files: they hold what was measured and nothing else, travel without loss, are refused when they are not
// whole, and answer what the run that made them would answer. Files are written here, then cut off at every length and
// changed at every byte. Part of the suite `store`.
#include "store/recorded.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "sample.h"
#include "support/paths.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::store;

namespace {

const ir::Protocol cold;
const ir::Protocol warm{ir::CacheState::warm, ir::TimedBy::activity, ir::LaunchMode::stream, "standard"};

/// A sweep with measurements of plans, of another compiler's kernel, and of whole models.
Store measured(const std::filesystem::path& path) {
  Store store = Store::open(path);
  save_model(store, 3);
  save_group(store, 1, 4);
  save_group(store, 3, 2);
  save_wrong_plan(store, 3);  // on the simulator
  save_timings(store, 1);
  const KernelRow given{a_given_kernel().kernel, "loop_add_fusion", "text", "", 128, 4, 0, true};
  store.save(given);
  store.save(a_given_kernel());
  store.save(a_binary(given, true));
  MeasurementRow hung = a_timing(a_binary(given, true), 1);
  hung.outcome = "timed out";
  hung.reason = "no answer for 10 s";
  hung.samples.clear();
  hung.counts = {{"endless", std::numeric_limits<double>::infinity(), "-"}};
  hung.median = hung.low = hung.high = std::nullopt;
  hung.attempts = 3;
  hung.id = measurement_id(hung);
  store.save(hung);
  return store;
}

/// The message of the Error of reading `text`, as a person would see it.
std::string recorded_complaint(const std::string& text) {
  try {
    parse_recorded(text, "x.jsonl");
  } catch (const Error& error) {
    CHECK_FALSE(error.hint.empty());
    return fmt::format("{}:{}: {}", error.at.file, error.at.line, error.message);
  }
  return "";
}

std::string usage(const auto& work) {
  try {
    work();
  } catch (const Error& error) {
    CHECK(error.fault == Fault::usage);
    return error.message;
  }
  return "";
}

bool holds(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != text.npos;
}

/// Replaces once.
std::string with(std::string text, std::string_view old, std::string_view fresh) {
  const std::size_t at = text.find(old);
  REQUIRE(at != text.npos);
  return text.replace(at, old.size(), fresh);
}

}  // namespace

TEST_CASE("export, import into an empty database, export: the same bytes, packed or not") {
  const Folder folder;
  const Store store = measured(folder / "a.db");
  for (const char* name : {"a.jsonl", "a.jsonl.gz"}) {
    write_recorded(folder / name, recorded_rows(store));
    const RecordedRows rows = read_recorded(folder / name);
    CHECK(rows == recorded_rows(store));
    Store other = Store::open(folder / (std::string(name) + ".db"));
    save_recorded(other, rows);
    CHECK(other.damage() == "");
    CHECK(recorded_rows(other) == rows);
    write_recorded(folder / ("again." + std::string(name)), recorded_rows(other));
    CHECK(read_file(folder / name) == read_file(folder / ("again." + std::string(name))));
    const std::string once = other.dump();
    save_recorded(other, rows);
    CHECK(other.dump() == once);
  }
  CHECK(read_file(folder / "a.jsonl.gz").size() < read_file(folder / "a.jsonl").size() / 2);
  CHECK(read_file(folder / "a.jsonl").find("__global__") == std::string::npos);
}

TEST_CASE("importing what a database made changes nothing in it") {
  const Folder folder;
  Store store = measured(folder / "a.db");
  const std::string before = store.dump();
  save_recorded(store, recorded_rows(store));
  CHECK(store.dump() == before);
}

TEST_CASE("a recorded file holds what measurements need and nothing else") {
  const Folder folder;
  const RecordedRows rows = recorded_rows(measured(folder / "a.db"));
  CHECK(rows.measurements.size() == 3);
  CHECK(rows.module_times.size() == 2);
  CHECK(rows.binaries.size() == 2);
  CHECK(rows.kernels.size() == 2);
  CHECK(rows.plans == std::vector{a_plan(1, 0)});
  CHECK(rows.groups == std::vector{a_group(1)});
  CHECK(rows.given == std::vector{a_given_kernel()});
  CHECK(rows.runs.size() == 1);
  CHECK(rows.runs[0].host.empty());
  CHECK(rows.graphs.at(0).text.empty());
  Store nothing = Store::open(folder / "b.db");
  save_model(nothing, 3);
  save_group(nothing, 3, 2);
  save_wrong_plan(nothing, 3);
  CHECK(recorded_rows(nothing) == RecordedRows{});
}

TEST_CASE("a file that is not whole, not ours or of another version is refused with its line") {
  const Folder folder;
  const std::string text = recorded_text(recorded_rows(measured(folder / "a.db")));
  CHECK(recorded_complaint(text) == "");
  const auto lines = static_cast<std::int64_t>(std::count(text.begin(), text.end(), '\n'));
  CHECK(recorded_complaint(with(text, "recorded/1", "recorded/7")) ==
        "x.jsonl:1: found recorded/7, expected recorded/1");
  CHECK(holds(recorded_complaint(""), "cut off"));
  CHECK(holds(recorded_complaint("hello\n"), "x.jsonl:1: the file is no recorded one"));
  CHECK(holds(recorded_complaint("[1]\n"), "x.jsonl:1: the file is no recorded one"));
  CHECK(holds(recorded_complaint(text + "{}\n"), fmt::format("x.jsonl:{}: there is more", lines + 1)));
  CHECK(holds(recorded_complaint(with(text, "8e-06", "7e-06")), fmt::format("x.jsonl:{}: the lines before", lines)));
  CHECK(holds(recorded_complaint(with(text, "\"gpu\":\"NVIDIA H200, GPU-0001\"", "\"gpu\":7")),
              "'gpu' is not what it should be"));
  CHECK(holds(recorded_complaint(with(text, "\"attempts\":1,", "")), "'attempts' is missing"));
  CHECK(holds(recorded_complaint(with(text, "{\"kernels\":", "{\"kernel\":")), "found 'kernel', expected"));
  CHECK(holds(recorded_complaint(with(text, "\"outcome\":\"ok\"", "\"outcome\":ok")), "the line is damaged"));
  CHECK(holds(recorded_complaint(with(text, "cold, activity", "icy, activity")), "x.jsonl:"));
}

TEST_CASE("every file cut off anywhere is refused, and so is every changed byte") {
  const Folder folder;
  const std::string text = recorded_text(recorded_rows(measured(folder / "a.db")));
  for (std::size_t length = 0; length + 1 < text.size(); length += 7)
    if (recorded_complaint(text.substr(0, length)).empty()) FAIL_CHECK("accepted the first ", length, " bytes");
  for (std::size_t at = 0; at + 1 < text.size(); at += 11) {
    std::string changed = text;
    changed[at] = changed[at] == '1' ? '2' : '1';
    if (recorded_complaint(changed).empty()) FAIL_CHECK("accepted a changed byte at ", at);
  }
}

TEST_CASE("replay of a recorded file equals the run that made it") {
  const Folder folder;
  const Store store = measured(folder / "a.db");
  write_recorded(folder / "a.jsonl.gz", recorded_rows(store));
  const BinaryRow binary = a_binary(a_kernel(a_plan(1, 0)), true);
  for (const char* name : {"a.db", "a.jsonl.gz"}) {
    const Recorded recorded = Recorded::open(folder / name);
    CHECK(recorded.measurement(binary.kernel, cold) == to_measurement(a_timing(binary, 8e-6)));
    CHECK(recorded.measurement(binary.kernel, warm) == to_measurement(a_timing(binary, 4e-6, warm)));
    CHECK(recorded.row(binary.kernel, warm)->low == Seconds{4e-6 * 0.9});
    CHECK(recorded.replayed(a_given_kernel().kernel, cold).outcome == ir::Outcome::timed_out);
    const ModuleTimeRow time = a_module_time("unfused", 50e-6, 1);
    REQUIRE(recorded.module_time(time.graph, "unfused", time.protocol) != nullptr);
    CHECK(*recorded.module_time(time.graph, "unfused", time.protocol) == time);
    CHECK(recorded.module_time(time.graph, "unfused", cold) == nullptr);
    CHECK(recorded.module_time(time.graph, "tvm", time.protocol) == nullptr);
  }
}

TEST_CASE("a question without an answer says what there is, the nearest first") {
  const Folder folder;
  const Recorded recorded(recorded_rows(measured(folder / "a.db")));
  const Id kernel = a_kernel(a_plan(1, 0)).id;
  ir::Measurement none =
      recorded.replayed(kernel, {ir::CacheState::warm, ir::TimedBy::events, cold.launch, "standard"});
  CHECK(none.outcome == ir::Outcome::not_recorded);
  CHECK(holds(none.reason,
              "not measured as 'warm, events, stream, stop standard'; recorded: warm, activity, stream, "
              "stop standard; cold, activity"));
  none = recorded.replayed(named("nobody"), cold);
  CHECK(none.outcome == ir::Outcome::not_recorded);
  CHECK(holds(none.reason, "was not measured, 2 other kernels were"));
  ir::Protocol quick = cold;
  quick.stop = "quick";
  CHECK(recorded.measurement(kernel, quick) == recorded.measurement(kernel, cold));
}

TEST_CASE("of several measurements the refuting one speaks, then the same stop rule, then the latest") {
  const Folder folder;
  Store store = measured(folder / "a.db");
  const BinaryRow binary = a_binary(a_kernel(a_plan(1, 0)), true);
  const auto add = [&](double median, const char* at, const char* outcome, const std::string& stop) {
    MeasurementRow row = a_timing(binary, median, {cold.cache, cold.timed_by, cold.launch, stop});
    row.measured_at = at;
    row.outcome = outcome;
    row.id = measurement_id(row);
    store.save(row);
  };
  const auto answer = [&] { return Recorded(recorded_rows(store)).row(binary.kernel, cold)->median; };
  add(3e-6, "2025-01-01T00:00:00Z", "ok", "standard");
  CHECK(answer() == Seconds{8e-6});
  add(4e-6, "2027-01-01T00:00:00Z", "ok", "quick");
  CHECK(answer() == Seconds{8e-6});
  add(5e-6, "2026-06-01T00:00:00Z", "ok", "standard");
  CHECK(answer() == Seconds{5e-6});
  add(6e-6, "2024-01-01T00:00:00Z", "wrong", "quick");
  CHECK(answer() == Seconds{6e-6});
}

TEST_CASE("measurements of several devices are answered for the one that is named, never mixed") {
  const Folder folder;
  Store store = measured(folder / "a.db");
  DeviceRow other = a_device();
  other.id = named("another device");
  other.name = "l4";
  store.save(other);
  const BinaryRow binary = a_binary(a_kernel(a_plan(1, 0)), true);
  MeasurementRow row = a_timing(binary, 99e-6);
  row.device = other.id;
  row.id = measurement_id(row);
  store.save(row);
  write_recorded(folder / "both.jsonl", recorded_rows(store));
  write_recorded(folder / "one.jsonl", recorded_rows(store, "l4"));
  for (const char* name : {"a.db", "both.jsonl"}) {
    CHECK(holds(usage([&] { Recorded::open(folder / name); }), "measurements of 2 devices: h200, l4"));
    CHECK(holds(usage([&] { Recorded::open(folder / name, "v100"); }), "of 'v100', only of h200, l4"));
    CHECK(Recorded::open(folder / name, "l4").row(binary.kernel, cold)->median == Seconds{99e-6});
    CHECK(Recorded::open(folder / name, "h200").row(binary.kernel, cold)->median == Seconds{8e-6});
    CHECK(Recorded::open(folder / name, "l4").row(binary.kernel, warm) == nullptr);
  }
  CHECK(Recorded::open(folder / "one.jsonl").row(binary.kernel, cold)->median == Seconds{99e-6});
  CHECK(read_recorded(folder / "one.jsonl").module_times.empty());
}

TEST_CASE("every file that ships in data/recorded can be read and says the same when it is written again" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(source_folder()) / "data" / "recorded")) {
    // Beside a recording may stand how it was made and what baselines did.
    if (!entry.path().string().ends_with(".jsonl.gz")) continue;
    INFO(entry.path().string());
    const RecordedRows rows = read_recorded(entry.path());
    CHECK_FALSE(rows.devices.empty());
    CHECK(rows.measurements.size() + rows.module_times.size() > 0);
    CHECK(parse_recorded(recorded_text(rows), "again") == rows);
    for (const RunRow& run : rows.runs) CHECK_FALSE(run.tool.empty());
    for (const MeasurementRow& row : rows.measurements) {
      CHECK_FALSE(row.gpu.empty());
      CHECK(row.gpu.find("Stand-in") == std::string::npos);  // only what a GPU measured is shipped
      CHECK_FALSE(row.driver.empty());
      CHECK_FALSE(row.measured_at.empty());
    }
  }
}
