// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the values of attributes have to look like. In: an attribute's name and value as printed. Out: the form that it
// should have and has not. Called by the parser for every attribute, so that readers behind it may take what they look
// for and pass over the rest.
#pragma once

#include <string_view>

namespace tailor::hlo {

/// Says what is expected of the value of `key`, where it is something else; empty where it is right, or nothing is
/// expected of it.
std::string_view misses_form(std::string_view key, std::string_view value);

}  // namespace tailor::hlo
