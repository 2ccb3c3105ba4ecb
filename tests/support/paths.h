// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Folders that tests read, and what is built for them. Out: absolute paths, without a slash at the end. Asked by tests
// and benchmarks. They are functions and no macros, so that objects of tests do not depend on where the source lies and
// a compiler's cache serves every copy of it.
#pragma once

#include <string>
#include <string_view>

namespace tailor {

/// The root of the source.
const std::string& source_folder();
/// What the build option third_party_data names; empty: nothing, and tests on it are skipped.
const std::string& third_party_folder();
/// A program or library by its path within the build folder; it need not be there.
std::string built(std::string_view path);

}  // namespace tailor
