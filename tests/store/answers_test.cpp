// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which row answers where several could: of two versions in a merge, of protocols that differ in one word, of devices,
// and what a row is made of when a measurement becomes one. No two fields have one value, so that one in another's
// place shows. In: databases made here. Part of the suite `store`.
#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "base/error.h"
#include "campaign.h"
#include "sample.h"
#include "store/exports.h"
#include "store/observations.h"
#include "store/recorded.h"

using namespace tailor;
using namespace tailor::store;

namespace {

const ir::Protocol plain_protocol;

std::vector<ir::Protocol> protocols_one_word_apart() {
  std::vector<ir::Protocol> all(5, plain_protocol);
  all[1].cache = ir::CacheState::warm;
  all[2].timed_by = ir::TimedBy::events;
  all[3].launch = ir::LaunchMode::graph;
  all[4].cache = ir::CacheState::produced;
  return all;
}

/// The first group's best plan, lowered and compiled.
Store with_a_binary(const std::filesystem::path& path) {
  Store store = Store::open(path);
  save_model(store, 1);
  save_group(store, 1, 4);
  store.save(a_run());
  return store;
}

BinaryRow first_binary() { return a_binary(a_kernel(a_plan(1, 0)), true); }

}  // namespace

TEST_CASE("of two versions of a row the one stays whose deciding field is greater, whatever stands before it") {
  struct Row {
    std::string_view what;
    std::function<void(Store&, bool)> save;  ///< the version that stays, or the other
    std::function<bool(const Store&)> kept;
  };
  const Id group = a_group(1).id, device = a_device().id, kernel = a_kernel(a_plan(1, 0)).id;
  const Row rows[] = {
      {"a run that ended, not the one with the later command",
       [](Store& store, bool stays) {
         RunRow run = a_run();
         run.id = named("contested");
         run.command = stays ? "a" : "z";
         run.finished_at = stays ? "2026-02-01" : "";
         store.save(run);
       },
       [](const Store& store) {
         for (const RunRow& run : store.runs())
           if (run.id == named("contested")) return run.command == "a";
         return false;
       }},
      {"a rejection of more plans, not of a rule that is sound",
       [&](Store& store, bool stays) {
         store.save(RejectionRow{group, device, "s", "rule", !stays, stays ? 9 : 2, "example", "reason"});
       },
       [&](const Store& store) {
         for (const RejectionRow& row : store.rejections(group, device))
           if (row.rule == "rule") return row.plans == 9 && !row.sound;
         return false;
       }},
      {"a plan as XLA's with the word that sorts last, not with the larger block",
       [&](Store& store, bool stays) {
         store.save(XlaPlanRow{group, device, "row", "8x1x1", stays ? 32 : 64, {}, stays ? "no plan" : "equal", ""});
       },
       [&](const Store& store) { return store.xla_plan(group, device)->block == 32; }},
      {"a binary that compiled, not the one with more registers",
       [&](Store& store, bool stays) {
         BinaryRow row = a_binary(a_kernel(a_plan(1, 0)), stays);
         row.id = named("contested");
         row.arch = stays ? "sm_80" : "sm_90";
         row.registers = stays ? 20 : 90;
         store.save(row);
       },
       [&](const Store& store) { return store.binary(named("contested"))->registers == 20; }},
      {"progress with more legal plans, not with more rejected ones",
       [&](Store& store, bool stays) {
         store.save(ProgressRow{group, device, "s", "stage", stays ? 5 : 4, stays ? 1 : 8, {}});
       },
       [&](const Store& store) {
         for (const ProgressRow& row : store.progress_of(group, device))
           if (row.stage == "stage") return row.legal == 5 && row.rejected == 1;
         return false;
       }},
      {"where no field decides, a number rather than none",
       [&](Store& store, bool stays) {
         XlaPlanRow row{group, device, "row", "8x1x1", 32, {}, "differs", ""};
         if (stays) row.plan = a_plan(1, 0).id;
         store.save(row);
       },
       [&](const Store& store) { return store.xla_plan(group, device)->plan.has_value(); }},
      {"a check with the word that sorts last, not with the larger error",
       [&](Store& store, bool stays) {
         store.save(CheckRow{kernel, "m", stays ? "wrong" : "passed", stays ? 0.5 : 7.0, "", 0});
       },
       [&](const Store& store) { return store.checks(kernel).at(0).state == "wrong"; }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const Folder folder;
    for (const bool stays : {true, false}) {
      Store store = with_a_binary(folder / (stays ? "stays.db" : "goes.db"));
      row.save(store, stays);
    }
    for (const bool first : {true, false}) {
      Store merged = Store::open(folder / (first ? "one.db" : "two.db"));
      merged.merge(folder / (first ? "stays.db" : "goes.db"));
      merged.merge(folder / (first ? "goes.db" : "stays.db"));
      CHECK(row.kept(merged));
    }
  }
}

TEST_CASE("a measured time answers for its own protocol, to each word but that of the stop rule") {
  const Folder folder;
  const std::vector<ir::Protocol> all = protocols_one_word_apart();
  for (std::size_t kept = 0; kept < all.size(); ++kept) {
    Store store = with_a_binary(folder / fmt::format("{}.db", kept));
    store.save(a_timing(first_binary(), 3e-6, all[kept]));
    ModuleTimeRow time = a_module_time("none", 5e-6, 0);
    time.protocol = all[kept];
    time.id = module_time_id(time);
    store.save(time);
    const Recorded recorded(recorded_rows(store));
    for (std::size_t asked = 0; asked < all.size(); ++asked) {
      CAPTURE(ir::text(all[kept]));
      CAPTURE(ir::text(all[asked]));
      ir::Protocol quick = all[asked];
      quick.stop = "quick";
      for (const ir::Protocol& protocol : {all[asked], quick}) {
        CHECK((recorded.row(first_binary().kernel, protocol) != nullptr) == (asked == kept));
        CHECK((recorded.module_time(a_graph().id, "none", protocol) != nullptr) == (asked == kept));
      }
    }
  }
}

TEST_CASE("of a model's times those of other devices are no answer, and the same stop rule comes before the latest") {
  const Folder folder;
  Store store = with_a_binary(folder / "a.db");
  DeviceRow other = a_device();
  other.id = named("another device");
  other.name = "l4";
  store.save(other);
  const auto add = [&](const Id& device, double median, const char* at, const char* stop) {
    ModuleTimeRow time = a_module_time("none", median, 0);
    time.device = device;
    time.measured_at = at;
    time.protocol.stop = stop;
    time.id = module_time_id(time);
    store.save(time);
  };
  add(a_device().id, 5e-6, "2026-01-01", "standard");
  add(a_device().id, 6e-6, "2026-03-01", "quick");
  add(a_device().id, 7e-6, "2026-02-01", "standard");
  add(other.id, 9e-6, "2027-01-01", "standard");
  store.save(a_timing(first_binary(), 3e-6));
  MeasurementRow there = a_timing(first_binary(), 4e-6);
  there.device = other.id;
  there.id = measurement_id(there);
  store.save(there);
  const ir::Protocol asked = a_module_time("none", 1, 0).protocol;
  CHECK(Recorded::open(folder / "a.db", "h200").module_time(a_graph().id, "none", asked)->median == Seconds{7e-6});
  CHECK(Recorded::open(folder / "a.db", "l4").module_time(a_graph().id, "none", asked)->median == Seconds{9e-6});
  for (const char* device : {"h200", "l4"}) {
    const RecordedRows rows = Recorded::open(folder / "a.db", device).rows();
    CHECK(rows.devices.size() == 1);
    CHECK(rows.module_times.size() == (std::string_view(device) == "h200" ? 3 : 1));
    CHECK(rows.measurements.size() == 1);
  }
}

TEST_CASE("a measurement's row has each of its numbers in its own place") {
  ir::Measurement measured = to_measurement(a_timing(first_binary(), 8e-6));
  measured.sm_clock = 1.5e9;
  measured.dram_clock = 2.5e9;
  measured.reason = "because";
  const MeasurementRow row =
      measurement_row(measured, named("r"), named("b"), named("d"), Seconds{7.5e-6}, Seconds{8.75e-6}, 4);
  CHECK(row.run == named("r"));
  CHECK(row.binary == named("b"));
  CHECK(row.device == named("d"));
  CHECK(row.profiler == "gpu");
  CHECK(row.median == Seconds{8e-6});
  CHECK(row.low == Seconds{7.5e-6});
  CHECK(row.high == Seconds{8.75e-6});
  CHECK(row.sm_clock == 1.5e9);
  CHECK(row.dram_clock == 2.5e9);
  CHECK(row.attempts == 4);
  CHECK(row.reason == "because");
  CHECK(row.gpu == measured.gpu);
  CHECK(row.driver == measured.driver);
  CHECK(row.measured_at == measured.measured_at);
  CHECK(row.twins == std::vector{*measured.twin});
  measured.sm_clock = 0;
  measured.dram_clock = 0;
  measured.twin.reset();
  const MeasurementRow bare = measurement_row(measured, named("r"), named("b"), named("d"));
  CHECK_FALSE(bare.sm_clock.has_value());
  CHECK_FALSE(bare.dram_clock.has_value());
  CHECK_FALSE(bare.low.has_value());
  CHECK(bare.twins.empty());
  CHECK(to_measurement(bare) == measured);
}

TEST_CASE("a prediction stands beside times that were taken, cached and launched as it says") {
  const Folder folder;
  const std::vector<ir::Protocol> all = protocols_one_word_apart();
  for (std::size_t predicted = 0; predicted < all.size(); ++predicted) {
    Store store = with_a_binary(folder / fmt::format("{}.db", predicted));
    for (std::size_t i = 0; i < all.size(); ++i)
      store.save(a_timing(first_binary(), 1e-6 * static_cast<double>(i + 1), all[i]));
    PredictionRow row = a_prediction(a_plan(1, 0), std::string(name(all[predicted].cache)),
                                     std::string(name(all[predicted].timed_by)), 9e-6);
    row.launch_mode = name(all[predicted].launch);
    store.save(row);
    const std::vector<PredictedPlan> both = store.measured_vs_predicted(a_device().id);
    CAPTURE(ir::text(all[predicted]));
    REQUIRE(both.size() == 1);
    CHECK(both[0].measured == Seconds{1e-6 * static_cast<double>(predicted + 1)});
    CHECK(both[0].predicted == Seconds{9e-6});
  }
}

TEST_CASE("each protocol's export is a file of its own, named by what differs from the first") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_campaign(store, "{}");
  const DeviceRow device = store.devices().at(0);
  for (const ir::Protocol& protocol : protocols_one_word_apart()) {
    MeasurementRow row = a_timing(first_binary(), 3e-6, protocol);
    const BinaryRow binary = [&] {
      for (const MeasurementRow& one : recorded_rows(store).measurements)
        if (one.outcome == "ok" && one.profiler == "gpu")
          for (const LoweringRow& lowering : recorded_rows(store).lowerings)
            if (const auto found = store.binary(one.binary); found && found->kernel == lowering.kernel) return *found;
      return BinaryRow{};
    }();
    row.binary = binary.id;
    row.device = device.id;
    row.id = measurement_id(row);
    store.save(row);
  }
  std::set<std::string> names;
  for (const ExportFile& file : exported(store, find_export_format("kernel-tuner"), "h200", {})) {
    const std::size_t slash = file.path.rfind('/');
    CHECK(names.insert(file.path.substr(slash == std::string::npos ? 0 : slash + 1)).second);
  }
  CHECK(names == std::set<std::string>{"h200.json", "h200-warm.json", "h200-events.json", "h200-graph.json",
                                       "h200-produced.json"});
}

TEST_CASE("somebody else's kernel is described by its launch, its registers and the bytes that were counted") {
  const Folder folder;
  Store store = Store::open(folder / "a.db");
  save_campaign(store, "{}");
  int alone = 0, given = 0;
  for (const ir::Observation& one : make_observations(recorded_rows(store))) {
    const auto* kernel = std::get_if<ir::ForeignKernel>(&one.subject);
    if (kernel == nullptr) continue;
    CHECK(kernel->registers == 38);
    if (kernel->operation == "copy_16B") {
      ++alone;
      CHECK(kernel->shape == "132 blocks of 256");
      CHECK(kernel->threads == 256);
      CHECK(kernel->blocks == 132);
      CHECK(kernel->read == 1000);  // as the counters of the measurement
      CHECK(kernel->written == 500);
    } else {
      ++given;
      CHECK(kernel->threads == 128);
      CHECK(kernel->blocks == 4);
      CHECK(kernel->read == 8e6);  // as the group says that it computes
      CHECK(kernel->written == 4e6);
    }
  }
  CHECK(alone == 1);
  CHECK(given == 1);
}

TEST_CASE("an observation's row has each of its numbers in its own place, and gives it back") {
  const ir::ForeignKernel k{"softmax f32", "64x4096", 1, 2, 3, 4, 5, 6, "v=7", 8, 9, 10, 11, 12, 13, 14, 15};
  const ir::Observation one = ir::make_observation("h200", {}, {21}, {20}, {22}, "table.csv row 7", k);
  const ObservationRow row = observation_row(one);
  CHECK(row.operation == "softmax f32");
  CHECK(row.shape == "64x4096");
  CHECK(row.variant == "v=7");
  CHECK(std::vector<double>{static_cast<double>(row.blocks), static_cast<double>(row.threads),
                            static_cast<double>(row.shared), static_cast<double>(row.registers), row.read, row.written,
                            row.common, row.reread, row.far_trips, row.near_trips, row.shuffles, row.barriers,
                            row.instructions,
                            row.transcendental} == std::vector<double>{1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15});
  CHECK(row.time == Seconds{21});
  CHECK(row.low == Seconds{20});
  CHECK(row.high == Seconds{22});
  CHECK(to_observation(row) == one);
  ObservationRow changed = row;
  changed.far_trips = 99;
  CHECK_THROWS_AS((void)to_observation(changed), Error);
}
