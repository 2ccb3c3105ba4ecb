// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Saving. What a record's columns are, and what happens to a row that is known, is in its list (records.h); here each
// kind of row is let in. What was measured never changes: a measurement that is known stays with its samples. Called
// by whoever holds a Store; each call belongs to the caller's transaction.
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

}  // namespace tailor::store
