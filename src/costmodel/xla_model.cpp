// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's price as one of our estimates. In: a group as a graph, a device with XLA's description, a regime. Out: XLA's
// time in the parts we have names for: all its arithmetic is one part (issue), all its bytes another (dram). Called
// through the row xla-model of the table.
#include <fmt/format.h>

#include "base/error.h"
#include "costmodel/model.h"
#include "costmodel/parts.h"
#include "costmodel/xla/price.h"

namespace tailor::costmodel {

ir::Estimate xla_model(const ir::Graph& group, const CalibratedDevice& device, const ir::Regime& regime) {
  if (device.xla == nullptr)
    throw Error(Fault::missing, fmt::format("xla-model has no description of '{}' as XLA sees it", device.name),
                "data/xla holds one file per GPU that has one");
  const xla::Priced price = xla::priced(xla::kernel_of(group), *device.xla);
  ir::Estimate estimate;
  estimate.level = ir::Level::sol;
  part(estimate, ir::Part::launch) = {regime.includes.launch_gap ? device.xla->launch_overhead : 0};
  part(estimate, ir::Part::issue) = {xla::seconds(price.compute)};
  part(estimate, ir::Part::dram) = {xla::seconds(price.read + price.write)};
  estimate.bottleneck = greatest(estimate, {ir::Part::dram, ir::Part::issue, ir::Part::launch});
  const auto sms = static_cast<double>(device.xla->sms);
  estimate.waves = std::ceil(static_cast<double>(price.launch.blocks()) / sms);
  close(estimate, Seconds{xla::seconds(price.time)} + part(estimate, ir::Part::launch), 0, 0);
  return estimate;
}

}  // namespace tailor::costmodel
