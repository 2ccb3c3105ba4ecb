// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans of a pack or of stages: those of their bodies, put together. In: a prepared pack or stages, axes, a device with
// its calibration. Out: ranked plans and the best of them as kernels, as tune() has them; what each body is asked
// about. Called by tune.cpp alone.
#pragma once

#include "explore/plans/tune.h"

namespace tailor::explore {

/// As tune(), of a group that has bodies. Values of `axes` hold for every body whose skeleton has the axis; an empty
/// list leaves each body its own default values.
Tuned tune_pack(const codegen::Prepared& pack, const Axes& axes, const costmodel::CalibratedDevice& device,
                const TuneOptions& options);

/// What a body of a pack, or a stage, is asked about: its default values, those of `axes` in their place, and of both
/// only what it needs no launch of its own for. A body loops over blocks where some body may have blocks that meet.
Axes axes_of_body(const codegen::Prepared& whole, const codegen::Body& body, const Axes& axes,
                  const ir::Limits& limits);

}  // namespace tailor::explore
