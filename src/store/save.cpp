// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Saving. What a record's columns are, and what happens to a row that is known, is in its list (records.h); here each
// kind of row is let in. What was measured never changes: a measurement that is known stays with its samples. Called
// by whoever holds a Store; each call belongs to the caller's transaction.
//
// What a model says rests on a device file and a calibration, which are known by their names. So that no row outlives
// the numbers it was made with, the bound of a group carries their hash, and the sweep that comes with others takes out
// what the old ones said before it says anything itself.
#include <fmt/format.h>

#include "store/record_sql.h"
#include "store/store.h"

namespace tailor::store {

void Store::save(const RunRow& row) { save_record(*connection_, row); }
void Store::save(const DeviceRow& row) { save_record(*connection_, row); }
void Store::save(const GraphRow& row) { save_record(*connection_, row); }
void Store::save(const GroupRow& row) { save_record(*connection_, row); }
void Store::save(const FusionRow& row) { save_record(*connection_, row); }
void Store::save(const LibraryCallRow& row) { save_record(*connection_, row); }
void Store::save(const LibraryTimeRow& row) { save_record(*connection_, row); }
void Store::save(const PlanRow& row) { save_record(*connection_, row); }
void Store::save(const KernelRow& row) { save_record(*connection_, row); }
void Store::save(const LoweringRow& row) { save_record(*connection_, row); }
void Store::save(const GivenKernelRow& row) { save_record(*connection_, row); }
void Store::save(const RejectionRow& row) { save_record(*connection_, row); }
void Store::save(const PlanRejectionRow& row) { save_record(*connection_, row); }
void Store::save(const XlaPlanRow& row) { save_record(*connection_, row); }
void Store::save(const ShortListRow& row) { save_record(*connection_, row); }
void Store::save(const PointRow& row) { save_record(*connection_, row); }
void Store::save(const PointResultRow& row) { save_record(*connection_, row); }
void Store::save(const BinaryRow& row) { save_record(*connection_, row); }
void Store::save(const EstimateRow& row) { save_record(*connection_, row); }
void Store::save(const PredictionRow& row) { save_record(*connection_, row); }
void Store::save(const GroupBoundRow& row) { save_record(*connection_, row); }
void Store::save(const CheckRow& row) { save_record(*connection_, row); }
void Store::save(const MeasurementRow& row) { save_record(*connection_, row); }
void Store::save(const ObservationRow& row) { save_record(*connection_, row); }
void Store::save(const ModuleTimeRow& row) { save_record(*connection_, row); }
void Store::save(const CalibrationRow& row) { save_record(*connection_, row); }
void Store::save(const ProgressRow& row) { save_record(*connection_, row); }

bool Store::forget_other_figures(const GroupBoundRow& row) {
  std::optional<Id> known;
  connection_->each(
      "SELECT figures FROM group_bounds WHERE group_id = ? AND device_id = ? AND model = ?",
      [&](Columns& columns) { columns.read(known.emplace()); }, row.group, row.device, row.model);
  if (!known || *known == row.figures) return false;
  const std::size_t at = row.model.find('@');
  const std::string calibration = at == row.model.npos ? std::string() : row.model.substr(at);
  Savepoint together(*connection_);
  connection_->execute(
      "DELETE FROM stored_estimates WHERE number IN (SELECT p.number << 16 | e.number FROM plans p, estimators e "
      "WHERE p.group_id = ? AND e.device_id = ? AND instr(e.model, '@') > 0 "
      "AND substr(e.model, instr(e.model, '@')) = ?)",
      row.group, row.device, calibration);
  connection_->execute(
      "DELETE FROM predictions WHERE plan_id IN (SELECT plan_id FROM plans WHERE group_id = ?) "
      "AND device_id = ? AND instr(model, '@') > 0 AND substr(model, instr(model, '@')) = ?",
      row.group, row.device, calibration);
  connection_->execute(
      "DELETE FROM stored_rejections WHERE in_group = (SELECT number FROM groups WHERE group_id = ?1) "
      "AND device = (SELECT number FROM devices WHERE device_id = ?2) AND space IN "
      "(SELECT w.number FROM progress p JOIN words w ON w.word = p.space "
      "WHERE p.group_id = ?1 AND p.device_id = ?2 AND p.figures = ?3)",
      row.group, row.device, *known);
  connection_->execute(
      "DELETE FROM short_lists WHERE plan_id IN (SELECT plan_id FROM plans WHERE group_id = ?1) AND device_id = ?2 "
      "AND space IN (SELECT space FROM progress WHERE group_id = ?1 AND device_id = ?2 AND figures = ?3)",
      row.group, row.device, *known);
  connection_->execute("DELETE FROM progress WHERE group_id = ? AND device_id = ? AND figures = ?", row.group,
                       row.device, *known);
  // Short lists are plans with a lowering. Which sweep listed which is not known: while another one has work here, all
  // stay. What a GPU measured stays in any case.
  connection_->execute(
      "DELETE FROM lowerings WHERE plan_id IN (SELECT plan_id FROM plans WHERE group_id = ?1) AND device_id = ?2 "
      "AND NOT EXISTS (SELECT 1 FROM progress WHERE group_id = ?1 AND device_id = ?2) "
      "AND NOT EXISTS (SELECT 1 FROM binaries b JOIN measurements m USING (binary_id) "
      "                WHERE b.kernel_id = lowerings.kernel_id AND m.device_id = ?2 AND m.profiler <> 'simulator')",
      row.group, row.device);
  together.release();
  return true;
}

}  // namespace tailor::store
