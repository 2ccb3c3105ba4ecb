// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A query's rows as structs. Private to this folder.
#pragma once

#include <string>
#include <vector>

#include "store/connection.h"

namespace tailor::store {

/// All rows of a query, each read by `read(Columns&, Row&)`.
template <class Row, class Read, class... Values>
std::vector<Row> rows(Connection& connection, const std::string& sql, Read&& read, const Values&... values) {
  std::vector<Row> result;
  connection.each(
      sql, [&](Columns& columns) { read(columns, result.emplace_back()); }, values...);
  return result;
}

}  // namespace tailor::store
