// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Level sol: the speed of light. In: what a group must move and compute at least, a calibrated device, a regime. Out:
// an Estimate that no kernel of the group can beat. Called through the table of models, for groups without a plan, and
// as the floor of every other level.
//
// Everything overlaps perfectly, every byte moves once at the bandwidth of the data sheet, every pipe is full on every
// SM; the greatest of these times is the estimate. What may already lie in L2 in a warm regime moves at L2's bandwidth
// instead: a share that falls smoothly once the bytes outgrow L2's room, and for written bytes only where the same
// launch ran before. The launch is added where the time that one compares with contains it.
//
// For a group the work is what its outputs need (needed.h): that much of its inputs, its outputs once, and the
// operations of its elementwise nodes and reductions on what is needed of them, in the class of arithmetic that takes
// least. For
// a counted kernel it is the distinct bytes of its buffers alone, because what a kernel computes in addition is its
// own choice.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/indexed.h"
#include "costmodel/model.h"
#include "costmodel/needed.h"
#include "costmodel/parts.h"
#include "costmodel/xla/price.h"
#include "ir/graph/arithmetic.h"
#include "ir/rewrite/integer_work.h"
#include "ir/rewrite/packed_pairs.h"
#include "ir/graph/region_reduction.h"
#include "ir/graph/split_reduction.h"

namespace tailor::costmodel {

namespace {

void add_operations(GroupWork& work, ir::Op op, ir::DType dtype, double times) {
  const ir::OpRow& exact = ir::row(op);
  if (dtype == ir::DType::f64) {
    work.f64 += times * (exact.fma + exact.alu + exact.xu);
    return;
  }
  if (op == ir::Op::divide && ir::has_classes(dtype)) op = ir::Op::multiply;  // many may share one reciprocal
  ir::Computed least = ir::computed(op, dtype, ir::Arithmetic::ieee);
  for (const ir::Arithmetic arithmetic : {ir::Arithmetic::xla, ir::Arithmetic::approx}) {
    const ir::Computed& other = ir::computed(op, dtype, arithmetic);
    least.fma = std::min(least.fma, other.fma);
    least.alu = std::min(least.alu, other.alu);
    least.xu = std::min(least.xu, other.xu);
  }
  work.fma += times * least.fma;
  work.alu += times * least.alu;
  work.xu += times * least.xu;
}

}  // namespace

GroupWork group_work(const ir::Group& group) {
  const std::optional<ir::Graph> folded = ir::folded(group.graph);  // what arrives in steps is one reduction
  const ir::Graph& whole = folded ? *folded : group.graph;
  const std::optional<ir::Graph> packed = ir::with_pairs_packed(whole);
  const ir::Graph& graph = packed ? *packed : whole;
  const IndexedVector<double> needed = needed_elements(graph);
  const auto bytes = [&](ir::NodeId id) {
    const ir::Shape& shape = graph[id].shape;
    if (shape.dtype == ir::DType::tuple) return 0.0;
    if (needed[id] == static_cast<double>(ir::elements(shape))) return static_cast<double>(ir::bytes(shape));
    return needed[id] * ir::row(shape.dtype).bits / 8;
  };
  GroupWork work;
  const auto add_lines = [&](const ir::Node& node, double times) {
    if (node.bodies.empty()) return;
    for (const ir::Node& line : body(graph, node, 0).nodes)
      if (ir::class_of(line.op) == ir::OpClass::elementwise && line.op != ir::Op::convert)
        add_operations(work, line.op, line.shape.dtype, times);
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const ir::Node& node = graph.nodes[i];
    const ir::OpClass kind = ir::class_of(node.op);
    if (node.op == ir::Op::parameter) work.bytes_read += bytes(static_cast<ir::NodeId>(i));
    if (kind == ir::OpClass::elementwise && node.op != ir::Op::convert) {
      const std::optional<ir::IntegerWork> each = ir::integer_work(graph, node);
      if (!each) add_operations(work, node.op, node.shape.dtype, needed[i]);
      work.fma += each ? each->fma * needed[i] : 0;
      work.alu += each ? each->alu * needed[i] : 0;
    }
    if (node.op == ir::Op::map) add_lines(node, needed[i]);
    if (node.op == ir::Op::reduce && !node.operands.empty()) {
      const ir::Reducer reducer = ir::reducer(node);
      const ir::Shape& operand = graph[node.operands[0]].shape;
      const double share = needed[i] / std::max(1.0, static_cast<double>(ir::elements(node.shape)));
      const double times = share * static_cast<double>(ir::elements(operand));
      if (!ir::runs_region(node))
        add_operations(work, ir::op_of(reducer), operand.dtype, times);
      else
        add_lines(node, times);
    }
  }
  for (const ir::NodeId output : graph.outputs) work.bytes_written += bytes(output);
  return work;
}

GroupWork compulsory_work(const Work& work) {
  GroupWork all;
  for (const Compulsory& one : compulsory_of_kernels(work)) {
    all.bytes_read += static_cast<double>(one.read);
    all.bytes_written += static_cast<double>(one.written);
  }
  return all;
}

WarmShares warm_shares(double bytes, const CalibratedDevice& device, const ir::Regime& regime) {
  // What a dirty cache costs is not the kernel's own, and no model has it.
  const bool nothing = regime.cache == ir::CacheState::cold || regime.cache == ir::CacheState::dirty;
  if (nothing || device.warm_share == 0) return {};
  const double room = device.l2_bytes * device.l2_share;
  const double share = device.warm_share / (1 + std::pow(bytes / room, device.reuse_knee));
  return {share, regime.cache == ir::CacheState::warm ? share : 0};
}

ir::Estimate sol(const GroupWork& work, const CalibratedDevice& device, const ir::Regime& regime) {
  ir::Estimate estimate;
  estimate.level = ir::Level::sol;
  const double bytes = work.bytes_read + work.bytes_written;
  const double lanes = device.sms * device.clock;
  const WarmShares warm = warm_shares(bytes, device, regime);
  const double far = bytes - warm.read * work.bytes_read - warm.written * work.bytes_written;
  part(estimate, ir::Part::launch) = launch_gap(device, regime);
  part(estimate, ir::Part::dram) = {far / device.dram_bandwidth};
  part(estimate, ir::Part::l2) = {bytes / l2_peak(device)};
  part(estimate, ir::Part::fma) = {std::max(work.fma / device.fma_rate, work.f64 / device.f64_rate) / lanes};
  part(estimate, ir::Part::alu) = {work.alu / device.alu_rate / lanes};
  part(estimate, ir::Part::xu) = {work.xu / device.xu_rate / lanes};
  const ir::Part busiest =
      greatest(estimate, {ir::Part::dram, ir::Part::l2, ir::Part::fma, ir::Part::alu, ir::Part::xu});
  const Seconds body = part(estimate, busiest);
  estimate.bottleneck = body < part(estimate, ir::Part::launch) ? ir::Part::launch : busiest;
  close(estimate, with_floor(part(estimate, ir::Part::launch) + body, device, regime), device.sol_low, device.sol_high);
  return estimate;
}

// What runs outside groups (matrix products, convolutions, custom calls) takes at least the time its operands and
// results need. What its arithmetic needs is not modelled, because which pipes a library uses (tensor cores, at which
// precision) cannot be seen in the graph.
ir::Estimate library(const LibraryWork& work, const CalibratedDevice& device, const ir::Regime& regime) {
  ir::Estimate estimate;
  estimate.level = ir::Level::sol;
  part(estimate, ir::Part::launch) = launch_gap(device, regime);
  part(estimate, ir::Part::dram) = {work.bytes / device.dram_bandwidth};
  const Seconds body = part(estimate, ir::Part::dram);
  estimate.bottleneck = body < part(estimate, ir::Part::launch) ? ir::Part::launch : ir::Part::dram;
  close(estimate, with_floor(body + part(estimate, ir::Part::launch), device, regime), device.sol_low, device.sol_high);
  return estimate;
}

// XLA's price as one of our estimates, of a group as a graph: XLA's time in the parts that we have names for. All its
// arithmetic is one part (issue), all its bytes another (dram).
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
