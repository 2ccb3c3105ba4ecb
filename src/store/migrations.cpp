// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps from one version of the schema to the next. A step says what a table was to become in its time, so it
// repeats words of a schema.sql and never changes afterwards. SQLite cannot change a column's constraints: such a table
// is copied, dropped and made anew. Views are not mentioned: they are dropped before the steps and made after them.
#include <array>

#include "store/schema.h"

namespace tailor::store {

namespace {

constexpr auto step_table = std::to_array<Migration>({
    {1, R"(CREATE TABLE checks_of_1 AS SELECT * FROM checks;
DROP TABLE checks;
CREATE TABLE checks (
  kernel_id TEXT NOT NULL REFERENCES kernels,
  method    TEXT NOT NULL,               -- who executed it, and on what
  state     TEXT NOT NULL CHECK (state IN ('passed', 'wrong', 'unsound', 'crashed', 'timed out', 'not executed')),
  worst     REAL NOT NULL,               -- largest error over its tolerance; infinite where none is allowed
  findings  INTEGER NOT NULL,            -- distinct ones
  detail    TEXT NOT NULL,               -- the first of them, or the element that is most wrong
  PRIMARY KEY (kernel_id, method)
) STRICT, WITHOUT ROWID;
INSERT INTO checks SELECT kernel_id, method, state, worst, 0, detail FROM checks_of_1;
DROP TABLE checks_of_1;
CREATE TABLE given_kernels (
  graph_id     TEXT NOT NULL REFERENCES graphs,   -- the module as that compiler left it
  kernel_id    TEXT NOT NULL REFERENCES kernels,
  group_id     TEXT NOT NULL REFERENCES groups,   -- what it computes
  origin       TEXT NOT NULL,                     -- who made it: 'XLA'
  example      TEXT NOT NULL,                     -- the first instruction that launches it
  places       INTEGER NOT NULL,                  -- instructions that do
  times        REAL NOT NULL,                     -- launches per run of the model
  arrays_bytes REAL NOT NULL,                     -- operands and results, each once
  PRIMARY KEY (graph_id, kernel_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX given_kernels_by_group ON given_kernels (group_id))"},
    {2, R"(CREATE TABLE measurements_of_2 AS SELECT * FROM measurements;
CREATE TABLE samples_of_2 AS SELECT * FROM samples;
DROP TABLE samples;
DROP TABLE measurements;
CREATE TABLE measurements (
  measurement_id TEXT PRIMARY KEY NOT NULL,
  run_id         TEXT NOT NULL REFERENCES runs,
  binary_id      TEXT NOT NULL REFERENCES binaries,
  device_id      TEXT NOT NULL REFERENCES devices,
  profiler       TEXT NOT NULL,          -- 'simulator', 'gpu'
  protocol       TEXT NOT NULL,          -- what was executed and how, in words
  cache          TEXT NOT NULL CHECK (cache IN ('', 'cold', 'warm', 'produced')),      -- when a sample begins
  timed_by       TEXT NOT NULL CHECK (timed_by IN ('', 'activity', 'events')),         -- '': no time was taken
  launch_mode    TEXT NOT NULL CHECK (launch_mode IN ('', 'stream', 'graph')),
  stop_rule      TEXT NOT NULL,          -- when enough samples are enough
  gpu            TEXT NOT NULL,          -- name and UUID
  driver         TEXT NOT NULL,
  outcome        TEXT NOT NULL,
  reason         TEXT NOT NULL,          -- '' when the outcome is ok
  attempts       INTEGER NOT NULL CHECK (attempts > 0),  -- workers it took: more than one when some died
  median_s       REAL,
  low_s          REAL,                   -- interval of the median
  high_s         REAL,
  sm_clock_hz    REAL,                   -- before the samples; NULL: not known
  dram_clock_hz  REAL,
  measured_at    TEXT NOT NULL,
  CHECK ((cache = '') = (timed_by = '') AND (cache = '') = (launch_mode = '') AND (cache = '') = (stop_rule = ''))
) STRICT;
CREATE INDEX measurements_by_binary ON measurements (binary_id);
INSERT INTO measurements
SELECT measurement_id, run_id, binary_id, device_id, profiler, protocol, '', '', '', '', '', '', outcome, reason, 1,
       median_s, NULL, NULL, sm_clock_hz, dram_clock_hz, measured_at
FROM measurements_of_2;
CREATE TABLE samples (
  measurement_id TEXT NOT NULL REFERENCES measurements,
  sample         INTEGER NOT NULL,
  duration_s     REAL NOT NULL,
  sm_clock_hz    REAL,                   -- during it; NULL: not known
  throttle       INTEGER NOT NULL,       -- bits: 1 power cap, 2 thermal, 4 hardware slowdown, 8 sync boost
  PRIMARY KEY (measurement_id, sample)
) STRICT, WITHOUT ROWID;
INSERT INTO samples SELECT measurement_id, sample, duration_s, NULL, 0 FROM samples_of_2;
DROP TABLE samples_of_2;
DROP TABLE measurements_of_2;
CREATE TABLE module_times (
  module_time_id  TEXT PRIMARY KEY NOT NULL,
  run_id          TEXT NOT NULL REFERENCES runs,
  graph_id        TEXT NOT NULL REFERENCES graphs,
  strategy        TEXT NOT NULL,         -- as in fusions, or who made the kernels: 'XLA'
  device_id       TEXT NOT NULL REFERENCES devices,
  profiler        TEXT NOT NULL,
  cache           TEXT NOT NULL CHECK (cache IN ('cold', 'warm', 'produced')),
  timed_by        TEXT NOT NULL CHECK (timed_by IN ('activity', 'events')),
  launch_mode     TEXT NOT NULL CHECK (launch_mode IN ('stream', 'graph')),
  stop_rule       TEXT NOT NULL,
  gpu             TEXT NOT NULL,
  driver          TEXT NOT NULL,
  outcome         TEXT NOT NULL,
  reason          TEXT NOT NULL,         -- '' when the outcome is ok
  groups_timed    INTEGER NOT NULL,      -- places in the graph
  groups_left_out INTEGER NOT NULL,      -- places without a kernel that runs; module_left_out says why
  launches        INTEGER NOT NULL,      -- of one sample
  buffers_bytes   REAL NOT NULL,         -- device memory of one run
  median_s        REAL,
  low_s           REAL,                  -- interval of the median
  high_s          REAL,
  measured_at     TEXT NOT NULL
) STRICT;
CREATE INDEX module_times_by_graph ON module_times (graph_id, device_id);
CREATE TABLE module_left_out (
  module_time_id TEXT NOT NULL REFERENCES module_times,
  reason         TEXT NOT NULL,
  places         INTEGER NOT NULL,
  PRIMARY KEY (module_time_id, reason)
) STRICT, WITHOUT ROWID;
CREATE TABLE module_samples (
  module_time_id TEXT NOT NULL REFERENCES module_times,
  round          INTEGER NOT NULL,
  place          INTEGER NOT NULL,       -- in the order of the round
  duration_s     REAL NOT NULL,
  sm_clock_hz    REAL,                   -- during it; NULL: not known
  throttle       INTEGER NOT NULL,       -- bits, as in samples
  PRIMARY KEY (module_time_id, round, place)
) STRICT, WITHOUT ROWID)"},
});

}  // namespace

const std::span<const Migration> migration_steps = step_table;

}  // namespace tailor::store
