// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The form of an answer on stdout: the caller's choice (--format), the same four for every command. What each looks
// like is report/table.h's business. In: the word of --format. Out: one of the four forms; read by output.cpp and by
// commands whose text form differs.
#pragma once

#include <cstdint>

namespace tailor::cli {

enum class Format : std::uint8_t { table, json, csv, md };

}  // namespace tailor::cli
