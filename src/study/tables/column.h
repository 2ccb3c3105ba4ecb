// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How the columns of a table are written down: one call each, with what most columns need as defaults. In: key,
// heading, hint and how soon it gives way on a narrow screen. Out: a column of report/table.h. Called by all who make
// tables of results, here and in the commands.
#pragma once

#include <string>
#include <utility>

#include "report/table.h"

namespace tailor::study {

/// A column; the one with the highest `sacrifice` gives way first on a narrow screen.
inline report::Column column(std::string key, std::string heading, report::Hint hint = report::Hint::text,
                             int sacrifice = 0) {
  return {std::move(key), std::move(heading), hint, sacrifice};
}

/// A column of sentences: shown whole while a row has one, else the first to give way.
inline report::Column sentence(std::string key, std::string heading) {
  report::Column made = column(std::move(key), std::move(heading), report::Hint::text, 99);
  made.whole = true;
  return made;
}

}  // namespace tailor::study
