// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a search added to XLA's kernel of a group. In: the plan that is like XLA's, with its estimate, and another
// plan's. Out: a row and a sentence. Called through xla_beside_table.h. The difference is of two estimates of one model
// in one partition, so nothing but the kernel differs.
#include "study/tables/xla_beside_table.h"

#include <fmt/format.h>

#include "base/text.h"
#include "study/tables/column.h"

namespace tailor::study {

using report::Cell;
using report::Hint;

report::Table xla_beside_table(const std::optional<XlaBeside>& xla, const ir::Estimate& best) {
  report::Table table;
  table.title = "as XLA's emitter would write the kernel";
  table.columns = {column("xla_emitter", "emitter"),
                   column("xla_grid", "its grid", Hint::text, 3),
                   column("xla_block", "its block", Hint::integer, 3),
                   column("xla_launch", "launch of the plan"),
                   column("xla_predicted", "time", Hint::seconds),
                   column("best_predicted", "best plan", Hint::seconds),
                   column("search_adds", "search adds", Hint::seconds),
                   column("search_speedup", "faster", Hint::ratio),
                   sentence("xla_note", "but"),
                   column("xla_plan", "plan", Hint::text, 5)};
  if (!xla) return table;
  const auto& grid = xla->launch.grid;
  std::vector<Cell> row{xla->emitter, fmt::format("{}x{}x{}", grid[0], grid[1], grid[2]), xla->launch.block,
                        std::string(xla->agreement())};
  const Seconds least = best.total;
  if (xla->made) {
    const Seconds time = xla->made->estimate.total;
    row.insert(row.end(), {Cell(time.value), Cell(least.value), Cell((time - least).value), Cell(time / least)});
  } else {
    row.insert(row.end(), {Cell(), Cell(least.value), Cell(), Cell()});
  }
  row.push_back(xla->note.empty() ? Cell() : Cell(xla->note));
  row.push_back(xla->made ? Cell(ir::text(xla->made->plan)) : Cell());
  table.rows.push_back(std::move(row));
  return table;
}

report::Table xla_beside_table(const PreparedGroup& group, const Target& on, const costmodel::Model& model,
                               const Candidate& best) {
  return xla_beside_table(xla_beside(group.group, group.prepared, on.calibrated, model),
                          best.standing.estimates.front());
}

std::string xla_beside_words(const XlaBeside& xla, const ir::Estimate& other) {
  const std::string launch = text(xla.launch);
  if (!xla.made) return fmt::format("{} emitter, {}; no plan is like it: {}", xla.emitter, launch, xla.note);
  const Seconds time = xla.made->estimate.total;
  const bool same = xla.launches == explore::SameLaunch::equal;
  return fmt::format(
      "plan 'xla', as its {} emitter would write the kernel, takes {}, {} times this plan's time; XLA "
      "launches {}, {}{}",
      xla.emitter, humane_seconds(time.value), three_figures(time / other.total), launch,
      same ? "and so does plan 'xla'" : "and plan 'xla' differs: ", same ? "" : xla.note);
}

}  // namespace tailor::study
