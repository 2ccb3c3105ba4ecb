// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// SQL from the names of columns.
#include "store/insert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tailor::store {

std::string insert(std::string_view table, const std::vector<std::string_view>& columns, std::string_view then) {
  const std::vector<std::string_view> marks(columns.size(), "?");
  return fmt::format("INSERT INTO {} ({}) VALUES ({}) ON CONFLICT {}", table, fmt::join(columns, ", "),
                     fmt::join(marks, ", "), then);
}

std::string replacing(const std::vector<std::string_view>& columns, int keys) {
  const std::vector<std::string_view> key(columns.begin(), columns.begin() + keys);
  std::vector<std::string> assignments;
  for (std::size_t i = key.size(); i < columns.size(); ++i)
    assignments.push_back(fmt::format("{0} = excluded.{0}", columns[i]));
  return fmt::format("({}) DO UPDATE SET {}", fmt::join(key, ", "), fmt::join(assignments, ", "));
}

}  // namespace tailor::store
