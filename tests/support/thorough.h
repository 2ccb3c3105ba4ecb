// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How much a random or exhaustive test tries. In: what a quick run can afford, and what `./test --all` does. Out: one
// of the two. Called by cases that draw or enumerate. Each stays a real test in both, as the quick run takes a share of
// the same inputs. Which run it is, Meson's setup says through the environment.
#pragma once

#include <cstdlib>

namespace tailor::testing {

/// Whether the run was asked for everything: Meson's setup `all` sets the variable, and so may a person.
inline bool thorough() { return std::getenv("TAILOR_THOROUGH") != nullptr; }

/// `all` in a thorough run, else `quick`.
template <class T>
T effort(T quick, T all) {
  return thorough() ? all : quick;
}

}  // namespace tailor::testing
