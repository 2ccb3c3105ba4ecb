// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The usual plan of a group: what public hand-written kernels take for its shape, where nothing is searched. In: a
// prepared group. Out: a plan, and how far another plan is from it. Asked by tune.cpp, which gives ties of the model to
// the nearest plan and puts the nearest on every short list, and by whoever stores plans, so that databases rank alike.
#pragma once

#include "codegen/lower/prepare.h"
#include "ir/plan.h"

namespace tailor::explore {

/// Not asked whether it lowers. The same on every device.
ir::Plan usual_plan(const codegen::Prepared& prepared);

/// Steps between two plans of one skeleton: a factor of two in a number, another word, another dominant node.
int steps_between(const ir::Plan& a, const ir::Plan& b);

}  // namespace tailor::explore
