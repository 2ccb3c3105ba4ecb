// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that hold a model in another form than HLO text. In: the contents of a file. Out: nothing, or an Error that
// names the form and the way from it to HLO text. Called by the import before anything is read.
// A form is known by its first bytes, and never by the name of the file.
#pragma once

#include <string_view>

namespace tailor::hlo {

/// Throws Error(failed) for StableHLO and other MLIR as text or bytecode, HLO protobufs, and text that begins with a
/// byte order mark or is UTF-16.
void refuse_other_forms(std::string_view content, std::string_view file);

}  // namespace tailor::hlo
