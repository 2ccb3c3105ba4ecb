// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups that a test writes down as text.
// In: a graph's text form, or its lines alone. Out: the verified group with its id.
// Called by tests of lowering whose group is in no family.
#pragma once

#include <string>

#include "ir/fusion.h"

namespace tailor::ir {

/// Throws Error for text that is no graph, or one that is not well formed.
Group group_of_text(const std::string& text);
/// Of the lines between the braces of a graph.
Group group_of_lines(const std::string& lines);

}  // namespace tailor::ir
