// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups one behind another as one group: what one computes the next one reads. In: groups. Out: a group that several
// loops may be needed for, or nothing where they do not fit one another. Called by tests of stages, where loops of one
// launch wait for one another.
#pragma once

#include <optional>
#include <vector>

#include "ir/fusion.h"

namespace tailor::ir {

/// Each group reads outputs of the one before it, as far as its parameters have their shapes. `kept`: these are results
/// too; else those that nobody reads alone. Nothing where a group would read none, or something is written in place.
std::optional<Group> one_behind_another(const std::vector<Group>& groups, bool kept);

}  // namespace tailor::ir
