// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A strict reader of the HTML and SVG that Tailor writes: tags nest, attributes are quoted, entities are known, ids
// are unique. It knows nothing of HTML's forgiving rules: what it accepts, a browser reads as meant. Called by the
// tests of charts and pages.
#pragma once

#include <string>
#include <string_view>

/// "" when the text is well formed, else what is wrong and where.
std::string well_formed(std::string_view text);
