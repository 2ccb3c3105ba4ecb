// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What tests give to strategies that decide for one GPU by a price: the H200 as data/ describes it and the price of
// groups. Goes out: the device, and a setting under which every row of the table answers. Used by tests of strategies
// and partitions.
#pragma once

#include <string>

#include "base/text.h"
#include "costmodel/model.h"
#include "explore/strategy.h"
#include "support/paths.h"

inline const tailor::costmodel::CalibratedDevice& search_gpu() {
  static const tailor::costmodel::CalibratedDevice device = [] {
    const std::string data = tailor::source_folder() + "/data/";
    const std::string facts = data + "devices/h200.json", fits = data + "calibrations/uncalibrated.json";
    tailor::costmodel::CalibratedDevice gpu =
        tailor::costmodel::calibrated(tailor::ir::parse_device(tailor::read_file(facts), facts),
                                      tailor::ir::parse_calibration(tailor::read_file(fits), fits));
    gpu.xla = tailor::costmodel::xla::find_target("h200", data + "xla");
    return gpu;
  }();
  return device;
}

inline tailor::explore::FusionSetting search_setting() {
  tailor::explore::FusionSetting setting;
  setting.device = &search_gpu();
  setting.price = tailor::costmodel::find_model("group");
  return setting;
}
