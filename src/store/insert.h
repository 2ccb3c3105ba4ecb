// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The SQL of saving a row, made once per table from the names of its columns. Private to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tailor::store {

/// "INSERT INTO table (columns) VALUES (?, ...) ON CONFLICT then". Not INSERT OR IGNORE: that would also hide a value
/// the schema forbids.
std::string insert(std::string_view table, const std::vector<std::string_view>& columns,
                   std::string_view then = "DO NOTHING");

/// "(keys) DO UPDATE SET a = excluded.a, ...": the first `keys` columns are the key, the others take the new values.
std::string replacing(const std::vector<std::string_view>& columns, int keys);

}  // namespace tailor::store
