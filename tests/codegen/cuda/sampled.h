// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A few plans that stand for a whole space: every pair of values of two axes that some legal plan has is in one of
// them, as far as the count allows. Errors of printing come from one feature or from two that meet. Called by the pin
// tests and by host_test.cpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "codegen/lower/lower.h"
#include "ir/kernel/kernel.h"

namespace tailor::ir {

struct Sampled {
  Plan plan;
  Kernel kernel;
};

/// At most `count` plans of the space with both caches open, lowered; the same seed gives the same plans.
std::vector<Sampled> sampled_plans(const codegen::Prepared& prepared, const Limits& limits, int count,
                                   std::uint64_t seed);

/// One family member at one size.
struct Sized {
  std::string_view member;
  std::int64_t rows, columns;
};

/// The whole family at small odd sizes, and at sizes that models have.
const std::vector<Sized>& small_sizes();
const std::vector<Sized>& model_sizes();

}  // namespace tailor::ir
