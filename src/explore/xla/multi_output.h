// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The pass that gives kernels several results, common to XLA's years. In: instructions and the rules of a year. Out:
// the instructions after it. Called by today's pass (multi_output.cpp) and by that of 2020 and 2022
// (era_multi_output.cpp).
#pragma once

#include "explore/xla/instructions.h"

namespace tailor::explore {

/// What a year allows.
class MultiOutputRules {
 public:
  virtual ~MultiOutputRules() = default;
  /// The values of an instruction whose users may become one kernel.
  virtual std::vector<ir::NodeId> shared_values(std::int32_t parent) const = 0;
  virtual bool is_sibling(std::int32_t i) const = 0;
  /// `a` is a fusion; both read a value of `parent`, and neither stands before the other in any other way.
  virtual bool may_join(std::int32_t a, std::int32_t b, std::int32_t parent) = 0;
  /// May go on giving its result from inside a user.
  virtual bool may_be_computed_along(std::int32_t producer) const = 0;
  virtual bool may_take_along(std::int32_t producer, std::int32_t user) = 0;
  /// The user, no fusion yet, becomes one that XLA calls a loop.
  virtual bool becomes_loop(std::int32_t producer, std::int32_t user) const = 0;
};

/// Whether something changed.
bool fuse_multi_output(XlaInstructions& all, MultiOutputRules& rules, const std::stop_token& stop);

/// Another way from the producer to the consumer than the edge between them.
bool closes_circle(const XlaInstructions& all, std::int32_t producer, std::int32_t consumer);

}  // namespace tailor::explore
