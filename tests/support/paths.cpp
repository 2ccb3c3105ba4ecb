// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the source and the build folder lie. In: definitions of the compiler's command line. Out: the paths that tests
// read, as paths.h says. The only file that is compiled with these definitions; linked into every test and
// benchmark.
#include "support/paths.h"

namespace tailor {

const std::string& source_folder() {
  static const std::string folder = TAILOR_SOURCE_DIR;
  return folder;
}

const std::string& third_party_folder() {
  static const std::string folder = TAILOR_THIRD_PARTY;
  return folder;
}

std::string built(std::string_view path) { return TAILOR_BUILD_DIR "/" + std::string(path); }

}  // namespace tailor
