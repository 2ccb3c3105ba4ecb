// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How much a random or exhaustive test tries. In: what a quick run can afford, what a run of minutes, and what
// `./test --all` does. Out: one of them. Called by cases that draw or enumerate. Each stays a real test in all of them,
// as the smaller runs take a share of the same inputs. Which run it is, Meson's setup says through the environment.
#pragma once

#include <cstdlib>

namespace tailor::testing {

/// Whether the run was asked for everything: Meson's setup `all` sets the variable, and so may a person.
inline bool thorough() { return std::getenv("TAILOR_THOROUGH") != nullptr; }

/// Whether the run may take minutes: `./test --user` as continuous integration runs it, a suite by its name, and all.
inline bool broad() { return thorough() || std::getenv("TAILOR_BROAD") != nullptr; }

/// Mark of a case that quick runs leave out, as another case sees the common faults of its room:
/// `TEST_CASE("..." * doctest::test_suite(testing::in_broad_runs))`.
constexpr const char* in_broad_runs = "broad";

/// `all` in a thorough run, else `quick`.
template <class T>
T effort(T quick, T all) {
  return thorough() ? all : quick;
}

/// `all` in a thorough run, `minutes` in a broad one, else `quick`.
template <class T>
T effort(T quick, T minutes, T all) {
  return thorough() ? all : broad() ? minutes : quick;
}

}  // namespace tailor::testing
