// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers that are nearly equal. In: what is expected. Out: what a CHECK compares with, by its relative difference: at
// most about 1e-5 unless `.epsilon()` says another. doctest's own adds 1 to the size of the numbers, so all times in
// microseconds were equal to it. Used by all tests; only what is smaller than 1e-35 is
// near to 0.
#pragma once

#include <doctest/doctest.h>

inline doctest::Approx approx(double expected) { return doctest::Approx(expected).scale(1e-30); }
