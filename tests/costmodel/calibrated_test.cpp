// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A calibration over a device: overrides win over facts, nothing is filled in silently, and what ships is complete and
// physically possible for every device. Inputs are the files of data/devices and data/calibrations, and
// calibrations spoiled here one figure at a time. Part of the suite `costmodel`.
#include "costmodel/calibration.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::costmodel;

namespace {

const std::string data_folder = source_folder() + "/data";

ir::Device facts_of(const std::string& name) { return ir::find_device(name, data_folder + "/devices"); }
Calibration defaults() { return ir::find_calibration("uncalibrated", data_folder + "/calibrations"); }

std::string refusal(const ir::Device& device, const Calibration& calibration) {
  try {
    calibrated(device, calibration);
  } catch (const Error& error) {
    return error.message;
  }
  return "";
}

}  // namespace

TEST_CASE("facts come from the device, overrides and behaviour from the calibration") {
  const ir::Device h200 = facts_of("h200");
  Calibration fitted = defaults();
  const CalibratedDevice plain = calibrated(h200, fitted);
  CHECK(plain.clock == h200.clock.value);
  CHECK(plain.dram_bandwidth == 4.8e12);
  CHECK(plain.dram_knee == 2.4);
  CHECK(plain.register_base == 8);
  CHECK(plain.limits == ir::limits(h200));
  CHECK(plain.sms == 132);
  CHECK(plain.calibration == "uncalibrated");
  fitted.fits.push_back({"h200", "clock", 1.755e9, "Hz", {}, "sustained", {}, {}});
  CHECK(calibrated(h200, fitted).clock == 1.755e9);
  CHECK(calibrated(facts_of("h100_sxm"), fitted).clock == 1.98e9);
}

TEST_CASE("a calibration of another device, or one that leaves something open, is refused by name") {
  const ir::Device h200 = facts_of("h200");
  Calibration other = defaults();
  other.name = "v100_fit";
  other.device = "v100";
  CHECK(refusal(h200, other) == "calibration 'v100_fit' is of 'v100', not of 'h200'");
  for (const ir::FigureName& row : ir::figure_names()) {
    if (row.kind != ir::FigureKind::behaviour && row.kind != ir::FigureKind::coefficient) continue;
    Calibration open = defaults();
    std::erase_if(open.fits, [&](const ir::Fit& fit) { return fit.figure == row.key; });
    CHECK(refusal(h200, open) == "calibration 'uncalibrated' has no '" + std::string(row.key) + "' for 'h200'");
  }
}

TEST_CASE("the defaults are complete and possible for every device that ships, and for one nobody knows") {
  std::vector<ir::Device> all{facts_of("h200")};
  all[0].name = "unknown";
  for (const std::string& name : ir::device_names(data_folder + "/devices")) all.push_back(facts_of(name));
  CHECK(all.size() >= 9);
  for (const ir::Device& device : all) {
    CAPTURE(device.name);
    const CalibratedDevice d = calibrated(device, defaults());
    CHECK(d.dram_efficiency <= 1);
    CHECK(d.l2_share <= 1);
    CHECK(d.l2_bandwidth > d.dram_bandwidth);
    CHECK(d.l2_latency < d.dram_latency);
    CHECK(d.dram_read_efficiency <= 1);
    CHECK(d.dram_write_efficiency <= 1);
    CHECK(d.launch_overhead > d.ramp);
    CHECK(d.ramp > d.graph_overhead);
    // Beyond these no kernel would get slower by reading less (docs/model.md).
    CHECK(d.dram_knee >= 1);
    CHECK(d.dram_mixed_knee >= 1);
    CHECK(d.dram_mixed_knee <= d.dram_knee);
    CHECK(d.l1_latency / d.clock < d.l2_latency);
    CHECK(d.l1_bytes <= d.l1_shared_bytes);
    CHECK(d.l1_shared_bytes >= d.shared_per_sm);
    // What the SMs receive is what L2 hands out, where it is known what that is: the default is more than any GPU's.
    if (!ir::find_fit(defaults(), device.name, "l2_bandwidth")->device.empty())
      CHECK(d.sm_bandwidth * d.clock * d.sms > d.l2_bandwidth * 0.8);
    for (const CalibratedFigure& figure : calibrated_figures()) {
      const bool may_be_zero = figure.kind == ir::FigureKind::coefficient || figure.key == "shared_reserved_per_block";
      CAPTURE(figure.key);
      CHECK((may_be_zero ? d.*figure.member >= 0 : d.*figure.member > 0));
    }
  }
}

TEST_CASE(
    "every figure comes from its own fit or fact, the device's before all devices', the operation's before both") {
  ir::Device device = facts_of("h200");
  Calibration each;
  double value = 1000;
  for (const ir::FigureName& row : ir::figure_names())
    if (row.kind == ir::FigureKind::behaviour || row.kind == ir::FigureKind::coefficient)
      each.fits.push_back({"", std::string(row.key), value += 1, std::string(row.unit), {}, "distinct", {}, {}, {}});
  const CalibratedDevice d = calibrated(device, each);
  value = 1000;
  for (const CalibratedFigure& figure : calibrated_figures()) {
    CAPTURE(figure.key);
    if (figure.kind == ir::FigureKind::behaviour || figure.kind == ir::FigureKind::coefficient)
      CHECK(d.*figure.member == (value += 1));
    else
      CHECK(d.*figure.member < 1e15);
  }
  CHECK(d.sms == device.sms.value);
  CHECK(d.l2_bytes == device.l2_bytes.value);
  CHECK(d.l1_bytes == device.l1_bytes.value);
  CHECK(d.l1_shared_bytes == device.l1_shared_bytes.value);
  CHECK(d.widen_rate == device.widen_rate.value);
  CHECK(d.narrow_rate == device.narrow_rate.value);
  const auto fit = [](const char* of, double number, const char* operation) {
    return ir::Fit{of, "dispatch_floor", number, "s", {}, "here", {}, {}, operation};
  };
  each.fits.insert(each.fits.end(), {fit("h200", 2, ""), fit("t4", 3, ""), fit("", 4, "ln f32"),
                                     fit("h200", 5, "add f32"), fit("", 6, "add f32")});
  CHECK(calibrated(device, each).dispatch_floor == 2);
  CHECK(calibrated(device, each, "ln f32").dispatch_floor == 4);
  CHECK(calibrated(device, each, "add f32").dispatch_floor == 5);
  CHECK(calibrated(device, each, "sub f32").dispatch_floor == 2);
  CHECK(calibrated(facts_of("v100"), each).dispatch_floor > 1000);
  // Two devices that models can tell apart have two texts.
  const std::string before = text(d);
  for (const CalibratedFigure& figure : calibrated_figures()) {
    CalibratedDevice other = d;
    other.*figure.member += 0.5;
    CHECK(text(other) != before);
  }
}

TEST_CASE("an estimate is known by its model and the calibration it rests on") {
  CHECK(estimate_name("projected", "uncalibrated") == "projected@uncalibrated");
}
