// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds the made-up campaign row by row with the store's own save functions. Times follow a formula of the plan's
// axes, so that a test can say what must come out, and outcomes of every kind are handed out by the plan's number.
// campaign.h lists what it holds.
#include "store/campaign.h"

#include <cmath>

#include "store/sample.h"

namespace tailor::store {

namespace {

/// A plan of the first group with its axes as numbers.
struct Planned {
  int threads, vector;
  bool value_cache;
  PlanRow row() const {
    const std::string text = fmt::format(
        "row threads={} threads_per_row=32 vector={} in_flight=1 homes=%0@register grid=tile index_cache=on "
        "value_cache={}",
        threads, vector, value_cache ? "on" : "off");
    return {named(text), a_group(1).id, text, "row"};
  }
  double median() const {
    return campaign_best * (1 + std::abs(std::log2(threads / 128.0)) * 0.25 + std::log2(4.0 / vector) * 0.5 +
                            (value_cache ? 0 : 0.125));
  }
};

MeasurementRow timing_of(const BinaryRow& binary, double median, ir::CacheState cache, const DeviceRow& device) {
  ir::Measurement measured = to_measurement(a_timing(binary, median));
  measured.protocol.cache = cache;
  measured.samples.clear();
  for (int i = 0; i < 11; ++i)
    measured.samples.push_back({{median * (1 + 4e-4 * ((i * 7) % 11 - 5))}, 1.9e9 + 1e7 * i, i == 4 ? 1U : 0U});
  return measurement_row(measured, a_run().id, binary.id, device.id, Seconds{median * 0.98}, Seconds{median * 1.02});
}

/// The i-th of the eighteen plans with what came of it.
void save_plan(Store& store, const Planned& planned, int i, const DeviceRow& device) {
  const PlanRow plan = planned.row();
  const BinaryRow binary = a_binary(a_kernel(plan), i != 3);
  store.save(plan);
  store.save(a_kernel(plan));
  store.save(LoweringRow{plan.id, device.id, a_kernel(plan).id});
  store.save(binary);
  if (i == 3) return;
  if (i == 5) return store.save(PlanRejectionRow{plan.id, device.id, "check-wrong", "y: 3 of 9 elements are wrong"});
  MeasurementRow row = timing_of(binary, planned.median(), ir::CacheState::cold, device);
  if (i == 0 || i == 6) {
    row.outcome = name(i == 0 ? ir::Outcome::wrong : ir::Outcome::timed_out);
    row.reason = i == 0 ? "y[3] is 7, expected 8" : "no answer for 10 s, \"killed\"";
    row.samples.clear();
    row.median = row.low = row.high = std::nullopt;
    row.id = measurement_id(row);
  }
  store.save(row);
  if (i > 13) store.save(timing_of(binary, planned.median() / 2, ir::CacheState::warm, device));
}

}  // namespace

void save_campaign(Store& store, const std::string& device_file) {
  Store::Transaction transaction(store);
  DeviceRow device = a_device();
  device.file = device_file;
  device.id = id_of(std::string_view(device_file));
  store.save(device);
  store.save(a_run());
  store.save(a_graph());
  GroupRow group = a_group(1);
  group.read = {8e6};
  group.written = {4e6};
  store.save(group);
  int i = 0;
  for (const bool value_cache : {false, true})
    for (const int threads : {64, 128, 256})
      for (const int vector : {1, 2, 4}) save_plan(store, {threads, vector, value_cache}, i++, device);
  const KernelRow given{a_given_kernel().kernel, "loop_add_fusion", "text", "", 128, 4, 0, true};
  const KernelRow copy{named("copy"), "copy_16B", "text", "", 256, 132, 0, true};
  for (const KernelRow& kernel : {given, copy}) {
    store.save(kernel);
    store.save(a_binary(kernel, true));
    store.save(timing_of(a_binary(kernel, true), 9e-6, ir::CacheState::cold, device));
  }
  store.save(a_given_kernel());
  for (ModuleTimeRow time : {a_module_time("stitch-v1", 20e-6, 0), a_module_time("unfused", 50e-6, 1)}) {
    time.device = device.id;
    time.id = module_time_id(time);
    store.save(time);
  }
  transaction.commit();
}

void save_other_device(Store& store) {
  DeviceRow device = a_device();
  device.id = named("another device");
  device.name = "l4";
  store.save(device);
  store.save(timing_of(a_binary({named("copy"), "copy_16B", "text", "", 256, 132, 0, true}, true), 1e-3,
                       ir::CacheState::cold, device));
}

}  // namespace tailor::store
