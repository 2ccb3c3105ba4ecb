// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What this build is: the version of meson.build and the commit, followed by "-dirty" when the tree had changes. The
// build writes it into a source of its own, so that a new commit compiles one file again and no other. Called where a
// run begins, and by doctor.
#pragma once

#include <string_view>

namespace tailor::study {

extern const std::string_view version;
extern const std::string_view revision;

}  // namespace tailor::study
