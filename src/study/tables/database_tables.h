// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the commands around a database answer, as tables: what is wrong with it, what went in or out, its rows. In: what
// the store says. Out: tables with a row for each thing said, so that every form of an answer has them. Called by
// tailor db.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/table.h"
#include "store/recorded.h"
#include "store/store.h"

namespace tailor::study {

/// One row per kind of damage, with how often it was found and up to three examples; one row "sound" where there is
/// none.
report::Table damage_table(const std::vector<store::Damage>& damages);

/// What a merge took from a database.
struct MergedFrom {
  std::filesystem::path source;
  std::int64_t rows = 0;  ///< new or changed
};
report::Table merge_table(const std::vector<MergedFrom>& merged);

/// One row: the schema versions and sizes of a file before and after its migration.
report::Table migrated_table(const std::filesystem::path& file, const store::Migrated& done);

/// One row: how much of what was read from or written to a file of measurements.
report::Table moved_table(const std::filesystem::path& file, const store::RecordedRows& rows);
/// The same in words.
std::string text(const store::RecordedRows& rows);

/// One row per row of the database.
report::Table dump_table(const store::Store& store);

}  // namespace tailor::study
