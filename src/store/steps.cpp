// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps from one schema version to the next, as SQL. Each says what tables were to become in its time, so it
// repeats words of a schema.sql and never changes afterwards. Views are not mentioned: they are dropped before the
// steps and made after them. Called by schema.cpp inside one transaction, with references unchecked.
//
// Version 3 keeps short what there is a row of for each plan. Tables that others refer to are renamed without those
// others noticing, made anew under their name and filled; a row that refers to nothing stops the step.
// Version 4 tells the time for code from that of the launch, which it was in before.
#include "store/schema.h"

namespace tailor::store {

namespace {

constexpr std::string_view to_2 = R"sql(CREATE TABLE short_lists (
  -- the plans that a sweep chose to compile, each group's best by the model that ranks, and the one as XLA's
  space     TEXT NOT NULL,                    -- which sweep, as in rejections
  device_id TEXT NOT NULL REFERENCES devices, -- the device
  plan_id   TEXT NOT NULL REFERENCES plans,   -- the plan
  PRIMARY KEY (space, device_id, plan_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX short_lists_by_plan ON short_lists (plan_id);

CREATE TABLE points (
  -- the combinations of an experiment's grid: each is a sweep of its own
  grid_id  TEXT NOT NULL,    -- the experiment: hash of the configurations of its points
  point_id TEXT NOT NULL,    -- the point: hash of its configuration, as config_id in runs
  number   INTEGER NOT NULL, -- from 1, in the order of the file
  label    TEXT NOT NULL,    -- 'cost_model=sol, shortlist=2'
  setting  TEXT NOT NULL,    -- the same as an object (JSON); the view point_values has it as rows
  baseline TEXT NOT NULL,    -- the strategy that others are compared with
  PRIMARY KEY (grid_id, point_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE point_results (
  -- what a strategy comes to at a point, when it was swept last: by the point's own short lists. The view strategies
  -- has the best plan of all points
  point_id TEXT NOT NULL,                     -- the point
  graph_id TEXT NOT NULL REFERENCES graphs,   -- the model
  strategy TEXT NOT NULL,                     -- as in fusions
  price    TEXT NOT NULL,                     -- as in fusions
  device_id TEXT NOT NULL REFERENCES devices, -- the device
  kernels  INTEGER NOT NULL,                  -- groups, each place once
  launches REAL NOT NULL,                     -- of one run of the model
  launches_without_plan REAL NOT NULL,        -- of these, of groups without a plan at this point: their time is a bound
  dram_bytes REAL NOT NULL,                   -- of one run, inputs and outputs of every launch once
  kernel_s REAL NOT NULL,                     -- of one run, of the fused kernels alone
  library_s REAL NOT NULL,                    -- of one run, of the library calls
  PRIMARY KEY (point_id, graph_id, strategy, price, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX point_results_by_graph ON point_results (graph_id);)sql";

constexpr std::string_view to_3 = R"sql(PRAGMA legacy_alter_table = ON;
ALTER TABLE devices RENAME TO old_devices;
ALTER TABLE graphs RENAME TO old_graphs;
ALTER TABLE groups RENAME TO old_groups;
ALTER TABLE fusions RENAME TO old_fusions;
ALTER TABLE lowerings RENAME TO old_lowerings;
ALTER TABLE plan_rejections RENAME TO old_plan_rejections;
ALTER TABLE xla_plans RENAME TO old_xla_plans;
ALTER TABLE short_lists RENAME TO old_short_lists;
ALTER TABLE predictions RENAME TO old_predictions;
ALTER TABLE fusion_edges RENAME TO old_fusion_edges;
ALTER TABLE plans RENAME TO old_plans;
ALTER TABLE rejections RENAME TO old_rejections;
ALTER TABLE estimates RENAME TO old_estimates;
PRAGMA legacy_alter_table = OFF;
CREATE TABLE words (
  -- what many rows of the tables stored_* repeat: names, sentences, parts of a plan's text, each once
  number INTEGER PRIMARY KEY, -- stands for the word
  word   TEXT NOT NULL UNIQUE -- the word
) STRICT;

CREATE TABLE devices (
  -- GPUs, each with its device file as it was last read; run_devices has the versions that each run read
  device_id TEXT PRIMARY KEY NOT NULL, -- hash of the name: a changed file is the same device
  name      TEXT NOT NULL,             -- 'h200'
  title     TEXT NOT NULL,             -- 'NVIDIA H200'
  arch      TEXT NOT NULL,             -- 'sm_90'
  file      TEXT NOT NULL,             -- text of the device file (JSON)
  number    INTEGER NOT NULL UNIQUE    -- stands for the device in the tables stored_*
) STRICT;

CREATE TABLE graphs (
  -- imported models, normalised
  graph_id     TEXT PRIMARY KEY NOT NULL, -- hash of the text form, names included
  structure_id TEXT NOT NULL,             -- hash of the canonical text, names left out
  name         TEXT NOT NULL,             -- of the model
  source       TEXT NOT NULL,             -- path it was imported from
  text         BLOB,                      -- text form, by gzip; NULL: with imported measurements alone
  nodes        INTEGER NOT NULL,          -- of the entry graph
  opaque_nodes INTEGER NOT NULL,          -- not understood, kept as they are
  summary      TEXT NOT NULL              -- what import and normalisation said (JSON)
) STRICT;

CREATE TABLE groups (
  -- one fused group as a small graph; equal groups of all models share a row
  group_id      TEXT PRIMARY KEY NOT NULL, -- hash of its structure, names left out
  title         TEXT NOT NULL,             -- short name made of its operations
  text          BLOB,                      -- text form of the graph, by gzip
  nodes         INTEGER NOT NULL,          -- operations
  reductions    INTEGER NOT NULL,          -- of these, reductions
  read_bytes    REAL NOT NULL,             -- inputs once
  written_bytes REAL NOT NULL,             -- outputs once
  flops         REAL NOT NULL,             -- operations on elements, each done once
  number        INTEGER NOT NULL UNIQUE    -- stands for the group in the tables stored_*
) STRICT;

CREATE TABLE fusions (
  -- a strategy's partition of a graph
  graph_id      TEXT NOT NULL REFERENCES graphs, -- the graph
  strategy      TEXT NOT NULL,                   -- row of the strategy table, or the path of a partition file
  device        TEXT NOT NULL,                   -- name of the GPU it was decided for; '': for every one
  price         TEXT NOT NULL,                   -- cost model it was decided by; '': by none
  least_kernels INTEGER NOT NULL,                -- no partition of this graph has fewer; 0: not known
  unknown_trips INTEGER NOT NULL,                -- loops counted as one trip
  branches      INTEGER NOT NULL,                -- bodies of conditionals, each counted as taken
  number        INTEGER NOT NULL UNIQUE,         -- stands for the fusion in stored_edges
  PRIMARY KEY (graph_id, strategy, device, price)
) STRICT, WITHOUT ROWID;

CREATE TABLE stored_edges (
  -- the rows of the view fusion_edges
  fusion   INTEGER NOT NULL REFERENCES fusions (number), -- the fusion
  body     INTEGER NOT NULL REFERENCES words,      -- as in fusion_edges
  producer INTEGER NOT NULL REFERENCES words,      -- as in fusion_edges
  consumer INTEGER NOT NULL REFERENCES words,      -- as in fusion_edges
  part     INTEGER NOT NULL,                       -- as in fusion_edges
  decision INTEGER NOT NULL CHECK (decision BETWEEN 0 AND 2), -- 0 stitched, 1 recomputed, 2 cut
  level    INTEGER CHECK (level BETWEEN 0 AND 4),  -- 0 register, 1 warp, 2 block, 3 cluster, 4 grid; NULL: cut
  gain_s   REAL,                                   -- as in fusion_edges
  reason   INTEGER NOT NULL REFERENCES words,      -- as in fusion_edges
  CHECK ((level IS NULL) = (decision = 2)),
  PRIMARY KEY (fusion, body, producer, consumer, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE stored_plans (
  -- the rows of the view plans. The text is in three parts, of which each is in many plans: up to ' threads=', from
  -- there up to ' vector=', and the rest. An ordinary table: ids are random, and a row at the end with a short entry in
  -- the index dirties far fewer pages per commit than a long row in the middle of a tree.
  number   INTEGER PRIMARY KEY,                -- stands for the plan in stored_estimates
  hash     BLOB NOT NULL,                      -- the 16 bytes of the id
  plan_id  TEXT NOT NULL AS (lower(hex(hash))) UNIQUE, -- the id: the index holds it, the row does not
  in_group INTEGER NOT NULL REFERENCES groups (number), -- the group it is for
  head     INTEGER NOT NULL REFERENCES words,  -- first part of the text
  middle   INTEGER NOT NULL REFERENCES words,  -- second part
  tail     INTEGER NOT NULL REFERENCES words,  -- third part
  skeleton INTEGER NOT NULL REFERENCES words,  -- as in plans
  from_usual INTEGER NOT NULL                  -- as in plans
) STRICT;

CREATE TABLE lowerings (
  -- which kernel a plan becomes on a device
  plan_id   TEXT NOT NULL REFERENCES stored_plans (plan_id), -- the plan
  device_id TEXT NOT NULL REFERENCES devices, -- the device
  kernel_id TEXT NOT NULL REFERENCES kernels, -- the kernel it becomes there
  PRIMARY KEY (plan_id, device_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE stored_rejections (
  -- the rows of the view rejections; the text of the example is in three parts as that of a plan
  in_group INTEGER NOT NULL REFERENCES groups (number), -- the group
  device   INTEGER NOT NULL REFERENCES devices (number), -- the device
  space    INTEGER NOT NULL REFERENCES words,      -- as in rejections
  rule     INTEGER NOT NULL REFERENCES words,      -- as in rejections
  sound    INTEGER NOT NULL CHECK (sound IN (0, 1)), -- as in rejections
  plans    INTEGER NOT NULL CHECK (plans >= 0),    -- as in rejections
  head     INTEGER NOT NULL REFERENCES words,      -- first part of the example
  middle   INTEGER NOT NULL REFERENCES words,      -- second part
  tail     INTEGER NOT NULL REFERENCES words,      -- third part
  reason   INTEGER NOT NULL REFERENCES words,      -- as in rejections
  PRIMARY KEY (in_group, device, space, rule)
) STRICT, WITHOUT ROWID;

CREATE TABLE plan_rejections (
  -- rejections plan by plan, where they were asked for
  plan_id   TEXT NOT NULL REFERENCES stored_plans (plan_id), -- the plan
  device_id TEXT NOT NULL REFERENCES devices, -- the device
  rule      TEXT NOT NULL,                    -- short name of the rule
  reason    TEXT NOT NULL,                    -- the sentence with figures
  PRIMARY KEY (plan_id, device_id, rule)
) STRICT, WITHOUT ROWID;

CREATE TABLE xla_plans (
  -- how XLA would write a group's kernel on a device, and the plan that is like it: the baseline of a search
  group_id  TEXT NOT NULL REFERENCES groups,  -- the group
  device_id TEXT NOT NULL REFERENCES devices, -- the device
  emitter   TEXT NOT NULL,                    -- XLA's emitter
  grid      TEXT NOT NULL,                    -- of XLA's launch: '1024x1x1'
  block     INTEGER NOT NULL,                 -- threads of XLA's blocks
  plan_id   TEXT REFERENCES stored_plans (plan_id), -- the plan; NULL: none is like it
  launch    TEXT NOT NULL CHECK (launch IN ('equal', 'same warps', 'differs', 'no plan')), -- of the plan beside XLA's
  note      TEXT NOT NULL,                    -- without a plan why; with one what differs
  PRIMARY KEY (group_id, device_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE short_lists (
  -- the plans that a sweep chose to compile, each group's best by the model that ranks, and the one as XLA's
  space     TEXT NOT NULL,                    -- which sweep, as in rejections
  device_id TEXT NOT NULL REFERENCES devices, -- the device
  plan_id   TEXT NOT NULL REFERENCES stored_plans (plan_id), -- the plan
  PRIMARY KEY (space, device_id, plan_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE estimators (
  -- who estimates: a model at a level of the cost model, for a device
  number    INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 65535), -- stands for it in stored_estimates
  device_id TEXT NOT NULL REFERENCES devices, -- the device
  level     TEXT NOT NULL REFERENCES levels,  -- how much the model saw
  model     TEXT NOT NULL,                    -- row of the model table, with its calibration if it has one
  UNIQUE (device_id, level, model)
) STRICT;

CREATE TABLE intervals (
  -- the intervals that models claim around a time t: from t * (1 - below) to t * (1 + above)
  number INTEGER PRIMARY KEY, -- stands for the interval in stored_estimates
  below  REAL NOT NULL,       -- of the time
  above  REAL NOT NULL,       -- of the time
  UNIQUE (below, above)
) STRICT;

CREATE TABLE stored_estimates (
  -- the rows of the view estimates
  number     INTEGER PRIMARY KEY,              -- 65536 times the plan's number, and the estimator's
  plan       INTEGER NOT NULL AS (number >> 16) REFERENCES stored_plans, -- the plan
  estimator  INTEGER NOT NULL AS (number & 65535) REFERENCES estimators, -- who says so
  total_s    REAL NOT NULL,                    -- time of one launch
  interval   INTEGER REFERENCES intervals,     -- around it; NULL: none gives the very numbers of low_s and high_s
  low_s      REAL,                             -- the interval where it is no row of intervals
  high_s     REAL,                             -- the interval where it is no row of intervals
  bottleneck INTEGER NOT NULL REFERENCES words, -- the part that decides
  launch_s   REAL NOT NULL,                    -- before the kernel starts, and its ramp
  dram_s     REAL NOT NULL,                    -- bytes over the bandwidth that the bytes in flight reach
  l2_s       REAL NOT NULL,                    -- sectors through L2
  shared_s   REAL NOT NULL,                    -- shared-memory wavefronts and shuffles
  issue_s    REAL NOT NULL,                    -- all instructions over the issue rate
  fma_s      REAL NOT NULL,                    -- the FMA pipe
  alu_s      REAL NOT NULL,                    -- the ALU pipe
  xu_s       REAL NOT NULL,                    -- transcendental pipe and conversions
  latency_s  REAL NOT NULL,                    -- waves times the latency of one warp's dependent chain
  barrier_s  REAL NOT NULL,                    -- block barriers
  atomic_s   REAL NOT NULL,                    -- atomics at L2
  spill_s    REAL NOT NULL,                    -- local memory traffic of spilled registers
  occupancy  REAL NOT NULL,                    -- resident warps over the most possible; 0: not seen at this level
  waves      REAL NOT NULL,                    -- whole waves of blocks
  registers  INTEGER NOT NULL,                 -- per thread, guessed or real
  CHECK ((interval IS NULL) = (low_s IS NOT NULL) AND (low_s IS NULL) = (high_s IS NULL))
) STRICT;

CREATE TABLE predictions (
  -- what a model says that a time taken in one way should be: caches hold what they held then, and what the clock does
  -- not contain is left out. Of plans that were measured, or that a sweep is to measure; estimates answer for a row of
  -- launches that finds its inputs in memory.
  plan_id     TEXT NOT NULL REFERENCES stored_plans (plan_id), -- the plan
  device_id   TEXT NOT NULL REFERENCES devices, -- the device
  level       TEXT NOT NULL REFERENCES levels,  -- how much the model saw
  model       TEXT NOT NULL,                    -- as in estimates
  cache       TEXT NOT NULL,                    -- as in measurements
  timed_by    TEXT NOT NULL,                    -- as in measurements; also 'stream', 'graph', 'host'
  launch_mode TEXT NOT NULL,                    -- as in measurements
  total_s     REAL NOT NULL,                    -- time of one launch
  low_s       REAL NOT NULL,                    -- the interval the model claims
  high_s      REAL NOT NULL,                    -- the interval the model claims
  PRIMARY KEY (plan_id, device_id, level, model, cache, timed_by, launch_mode),
  CHECK (cache IN ('cold', 'warm', 'produced', 'dirty')),
  CHECK (timed_by IN ('activity', 'events', 'stream', 'graph', 'host')),
  CHECK (launch_mode IN ('stream', 'graph'))
) STRICT, WITHOUT ROWID;

CREATE TEMP VIEW new_plans AS
SELECT *,
         substr(rest, 1, instr(rest || ' vector=', ' vector=') - 1) AS middle,
         substr(rest, instr(rest || ' vector=', ' vector=')) AS tail
FROM (SELECT *,
         substr(text, 1, instr(text || ' threads=', ' threads=') - 1) AS head,
         substr(text, instr(text || ' threads=', ' threads=')) AS rest
      FROM (SELECT rowid AS place, * FROM main.old_plans));
CREATE TEMP VIEW new_rejections AS
SELECT *,
         substr(rest, 1, instr(rest || ' vector=', ' vector=') - 1) AS middle,
         substr(rest, instr(rest || ' vector=', ' vector=')) AS tail
FROM (SELECT *,
         substr(example, 1, instr(example || ' threads=', ' threads=') - 1) AS head,
         substr(example, instr(example || ' threads=', ' threads=')) AS rest
      FROM main.old_rejections);
INSERT INTO words (word)
SELECT head FROM new_plans UNION SELECT middle FROM new_plans UNION SELECT tail FROM new_plans
UNION SELECT skeleton FROM old_plans UNION SELECT bottleneck FROM old_estimates
UNION SELECT body FROM old_fusion_edges UNION SELECT producer FROM old_fusion_edges
UNION SELECT consumer FROM old_fusion_edges UNION SELECT reason FROM old_fusion_edges
UNION SELECT space FROM old_rejections UNION SELECT rule FROM old_rejections UNION SELECT reason FROM old_rejections
UNION SELECT head FROM new_rejections UNION SELECT middle FROM new_rejections UNION SELECT tail FROM new_rejections;
INSERT INTO devices SELECT *, row_number() OVER (ORDER BY rowid) FROM old_devices ORDER BY rowid;
INSERT INTO graphs SELECT graph_id, structure_id, name, source, packed(text), nodes, opaque_nodes, summary
FROM old_graphs ORDER BY rowid;
INSERT INTO groups SELECT group_id, title, packed(text), nodes, reductions, read_bytes, written_bytes, flops,
  row_number() OVER (ORDER BY rowid) FROM old_groups ORDER BY rowid;
INSERT INTO fusions SELECT *, row_number() OVER (ORDER BY graph_id, strategy, device, price) FROM old_fusions;
INSERT INTO stored_edges SELECT f.number, (SELECT number FROM words WHERE word = e.body),
  (SELECT number FROM words WHERE word = e.producer),
  (SELECT number FROM words WHERE word = e.consumer),
  e.part,
  CASE e.decision WHEN 'stitched' THEN 0 WHEN 'recomputed' THEN 1 WHEN 'cut' THEN 2 END,
  CASE e.level WHEN 'register' THEN 0 WHEN 'warp' THEN 1 WHEN 'block' THEN 2 WHEN 'cluster' THEN 3
               WHEN 'grid' THEN 4 END,
  e.gain_s, (SELECT number FROM words WHERE word = e.reason)
FROM old_fusion_edges e LEFT JOIN fusions f USING (graph_id, strategy, device, price);
INSERT INTO stored_plans (hash, in_group, head, middle, tail, skeleton, from_usual)
SELECT id_bytes(p.plan_id), (SELECT number FROM groups g WHERE g.group_id = p.group_id),
  (SELECT number FROM words WHERE word = p.head),
  (SELECT number FROM words WHERE word = p.middle),
  (SELECT number FROM words WHERE word = p.tail),
  (SELECT number FROM words WHERE word = p.skeleton), p.from_usual
FROM new_plans p ORDER BY p.place;
INSERT INTO stored_rejections SELECT
  (SELECT number FROM groups g WHERE g.group_id = r.group_id),
  (SELECT number FROM devices d WHERE d.device_id = r.device_id), (SELECT number FROM words WHERE word = r.space),
  (SELECT number FROM words WHERE word = r.rule),
  r.sound, r.plans, (SELECT number FROM words WHERE word = r.head),
  (SELECT number FROM words WHERE word = r.middle),
  (SELECT number FROM words WHERE word = r.tail),
  (SELECT number FROM words WHERE word = r.reason)
FROM new_rejections r;
INSERT INTO estimators (device_id, level, model) SELECT DISTINCT device_id, level, model FROM old_estimates;
INSERT INTO intervals (below, above)
SELECT DISTINCT below, above FROM (SELECT total_s, low_s, high_s, round(1 - low_s / total_s, 12) AS below,
  round(high_s / total_s - 1, 12) AS above FROM old_estimates WHERE total_s > 0)
WHERE total_s * (1 - below) = low_s AND total_s * (1 + above) = high_s;
INSERT INTO stored_estimates (number, total_s, interval, low_s, high_s, bottleneck, launch_s, dram_s, l2_s, shared_s,
  issue_s, fma_s, alu_s, xu_s, latency_s, barrier_s, atomic_s, spill_s, occupancy, waves, registers)
SELECT place, total_s, interval, iif(interval IS NULL, low_s, NULL), iif(interval IS NULL, high_s, NULL),
  (SELECT number FROM words WHERE word = bottleneck), launch_s, dram_s, l2_s, shared_s, issue_s, fma_s, alu_s, xu_s,
  latency_s, barrier_s, atomic_s, spill_s, occupancy, waves, registers
FROM (SELECT coalesce((SELECT number FROM stored_plans p WHERE p.plan_id = o.plan_id) << 16
        | (SELECT number FROM estimators r WHERE r.device_id = o.device_id AND r.level = o.level AND r.model = o.model),
        'no such plan') AS place,
        (SELECT i.number FROM intervals i WHERE i.below = round(1 - low_s / total_s, 12)
           AND i.above = round(high_s / total_s - 1, 12) AND total_s * (1 - i.below) = low_s
           AND total_s * (1 + i.above) = high_s) AS interval, *
      FROM old_estimates o)
ORDER BY place;
INSERT INTO lowerings SELECT * FROM old_lowerings;
INSERT INTO plan_rejections SELECT * FROM old_plan_rejections;
INSERT INTO xla_plans SELECT * FROM old_xla_plans;
INSERT INTO short_lists SELECT * FROM old_short_lists;
INSERT INTO predictions SELECT * FROM old_predictions;
DROP VIEW new_plans;
DROP VIEW new_rejections;
DROP TABLE old_devices;
DROP TABLE old_graphs;
DROP TABLE old_groups;
DROP TABLE old_fusions;
DROP TABLE old_lowerings;
DROP TABLE old_plan_rejections;
DROP TABLE old_xla_plans;
DROP TABLE old_short_lists;
DROP TABLE old_predictions;
DROP TABLE old_fusion_edges;
DROP TABLE old_plans;
DROP TABLE old_rejections;
DROP TABLE old_estimates;
CREATE INDEX plans_by_group ON stored_plans (in_group);
CREATE INDEX lowerings_by_kernel ON lowerings (kernel_id);
CREATE INDEX xla_plans_by_plan ON xla_plans (plan_id);
CREATE INDEX short_lists_by_plan ON short_lists (plan_id);)sql";

// The first line fails where the column is there already: a file that says less than it is, is not touched.
constexpr std::string_view to_4 = R"sql(ALTER TABLE stored_estimates ADD COLUMN code_s REAL NOT NULL DEFAULT 0;
PRAGMA legacy_alter_table = ON;
ALTER TABLE stored_estimates RENAME TO old_estimates;
CREATE TABLE stored_estimates (
  -- the rows of the view estimates
  number     INTEGER PRIMARY KEY,              -- 65536 times the plan's number, and the estimator's
  plan       INTEGER NOT NULL AS (number >> 16) REFERENCES stored_plans, -- the plan
  estimator  INTEGER NOT NULL AS (number & 65535) REFERENCES estimators, -- who says so
  total_s    REAL NOT NULL,                    -- time of one launch
  interval   INTEGER REFERENCES intervals,     -- around it; NULL: none gives the very numbers of low_s and high_s
  low_s      REAL,                             -- the interval where it is no row of intervals
  high_s     REAL,                             -- the interval where it is no row of intervals
  bottleneck INTEGER NOT NULL REFERENCES words, -- the part that decides
  launch_s   REAL NOT NULL,                    -- before the kernel starts, and its ramp
  code_s     REAL NOT NULL,                    -- instructions fetched; 0 of estimates before version 4: in launch_s
  dram_s     REAL NOT NULL,                    -- bytes over the bandwidth that the bytes in flight reach
  l2_s       REAL NOT NULL,                    -- sectors through L2
  shared_s   REAL NOT NULL,                    -- shared-memory wavefronts and shuffles
  issue_s    REAL NOT NULL,                    -- all instructions over the issue rate
  fma_s      REAL NOT NULL,                    -- the FMA pipe
  alu_s      REAL NOT NULL,                    -- the ALU pipe
  xu_s       REAL NOT NULL,                    -- transcendental pipe and conversions
  latency_s  REAL NOT NULL,                    -- waves times the latency of one warp's dependent chain
  barrier_s  REAL NOT NULL,                    -- block barriers
  atomic_s   REAL NOT NULL,                    -- atomics at L2
  spill_s    REAL NOT NULL,                    -- local memory traffic of spilled registers
  occupancy  REAL NOT NULL,                    -- resident warps over the most possible; 0: not seen at this level
  waves      REAL NOT NULL,                    -- whole waves of blocks
  registers  INTEGER NOT NULL,                 -- per thread, guessed or real
  CHECK ((interval IS NULL) = (low_s IS NOT NULL) AND (low_s IS NULL) = (high_s IS NULL))
) STRICT;
INSERT INTO stored_estimates (number, total_s, interval, low_s, high_s, bottleneck, launch_s, code_s, dram_s, l2_s, shared_s,
  issue_s, fma_s, alu_s, xu_s, latency_s, barrier_s, atomic_s, spill_s, occupancy, waves, registers)
SELECT number, total_s, interval, low_s, high_s, bottleneck, launch_s, code_s, dram_s, l2_s, shared_s,
  issue_s, fma_s, alu_s, xu_s, latency_s, barrier_s, atomic_s, spill_s, occupancy, waves, registers
FROM old_estimates ORDER BY number;
DROP TABLE old_estimates;)sql";

// Views alone: they are made anew after every migration.
constexpr std::string_view to_5 = "";

}  // namespace

const std::array<Migration, 4> current_steps = {{{1, to_2}, {2, to_3}, {3, to_4}, {4, to_5}}};

}  // namespace tailor::store
