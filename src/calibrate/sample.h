// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A sample: an observation with what a model is asked about it. In: observations; kernels of ours come with the work
// that was counted from their program, kernels of others are described by launch and traffic and get their work here.
// Out: what every cost model takes. Called by validation, by fits and by proposals.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "costmodel/model.h"
#include "ir/observation.h"

namespace tailor::calibrate {

struct Sample {
  ir::Observation of;
  costmodel::GroupWork group;  ///< what no kernel avoids
  costmodel::Work work;        ///< of this kernel
  std::string operation;       ///< for tables and for what a call costs: "softmax f32", "row 4096 x 768"
  double bytes = 0;            ///< moved once
};

/// The work of a kernel that is known by launch and traffic. Sectors are those of whole 32 bytes, accesses of 16 bytes;
/// what the description leaves open is the least it can be: one round trip, no instructions but those of memory.
costmodel::Work foreign_work(const ir::ForeignKernel& kernel);
costmodel::GroupWork foreign_group(const ir::ForeignKernel& kernel);
/// Of somebody else's kernel. Throws Error(failed) for one whose launch or traffic is not known: nothing can be said of
/// it. Precondition: a foreign one.
Sample foreign_sample(const ir::Observation& observation);

/// Throws Error(failed) where two samples of one kernel on one device, in one regime, differ by more than a factor of
/// ten.
void refuse_contradictions(std::span<const Sample> samples);

/// A device through a calibration, with the numbers that hold for calls of single operations.
class Machine {
 public:
  Machine(const ir::Device& device, const ir::Calibration& calibration);
  const costmodel::CalibratedDevice& all() const { return all_; }
  const costmodel::CalibratedDevice& of(const std::string& operation) const;
  /// The same with figures changed, for all operations.
  template <class Change>
  Machine changed(const Change& change) const {
    Machine other = *this;
    change(other.all_);
    for (auto& [operation, device] : other.by_operation_) change(device);
    return other;
  }

 private:
  costmodel::CalibratedDevice all_;
  std::map<std::string, costmodel::CalibratedDevice> by_operation_;
};

/// What `model` says of a sample, in the sample's regime. Precondition: a model that needs neither binary nor counters.
ir::Estimate estimate(const costmodel::Model& model, const Sample& sample, const costmodel::CalibratedDevice& device);

}  // namespace tailor::calibrate
