-- SPDX-FileCopyrightText: 2026 The Tailor authors
-- SPDX-License-Identifier: Apache-2.0
--
-- The database a run leaves behind, schema version 2. Keys are natural: an *_id is the 32 hexadecimal digits of a hash of
-- the thing's canonical text, so the same work done twice, or in two shards, is one row. Times are in seconds (_s), sizes
-- in bytes (_bytes), rates in hertz (_hz), fractions from 0 to 1. Points in time are ISO 8601 text in UTC (_at).
-- Nothing here needs Tailor to be read; docs/database.md shows queries.

-- How much a level of the cost model has seen; a higher precision speaks first.
CREATE TABLE levels (
  level     TEXT PRIMARY KEY NOT NULL,
  precision INTEGER NOT NULL UNIQUE,
  meaning   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO levels VALUES
  ('sol',       0, 'group and device only: bytes once, operations, launch'),
  ('projected', 1, 'the lowered kernel and the device'),
  ('compiled',  2, 'and the compiler''s registers and spills'),
  ('simulated', 3, 'and counters of a simulated execution'),
  ('profiled',  4, 'measured on a GPU');

-- The manifest: one row per command that wrote here.
CREATE TABLE runs (
  run_id      TEXT PRIMARY KEY NOT NULL,
  tool        TEXT NOT NULL,             -- version and source revision
  command     TEXT NOT NULL,             -- command line
  config_id   TEXT NOT NULL,             -- hash of the sweep file's canonical text; '' without one
  config      TEXT NOT NULL,             -- that canonical text
  toolchain   TEXT NOT NULL,             -- compiler of kernels and its version
  device      TEXT NOT NULL,             -- GPU of the machine, '' without one
  driver      TEXT NOT NULL,
  clocks      TEXT NOT NULL,             -- clock state of that GPU
  host        TEXT NOT NULL,
  host_cores  INTEGER NOT NULL,
  seed        INTEGER NOT NULL,
  started_at  TEXT NOT NULL,
  finished_at TEXT NOT NULL,             -- '' while running, or when killed
  outcome     TEXT NOT NULL CHECK (outcome IN ('running', 'done', 'interrupted', 'failed'))
) STRICT;

-- Device files as they were read.
CREATE TABLE devices (
  device_id TEXT PRIMARY KEY NOT NULL,   -- hash of the file's text: a changed file is another device
  name      TEXT NOT NULL,               -- 'h200'
  title     TEXT NOT NULL,
  arch      TEXT NOT NULL,               -- 'sm_90'
  file      TEXT NOT NULL
) STRICT;

-- Imported models, normalised.
CREATE TABLE graphs (
  graph_id     TEXT PRIMARY KEY NOT NULL,-- hash of the text form, names included
  structure_id TEXT NOT NULL,            -- hash of the canonical text, names left out
  name         TEXT NOT NULL,
  source       TEXT NOT NULL,            -- path it was imported from
  text         TEXT NOT NULL,
  nodes        INTEGER NOT NULL,
  opaque_nodes INTEGER NOT NULL,         -- not understood, kept as they are
  summary      TEXT NOT NULL             -- what import and normalisation said
) STRICT;

-- One fused group as a small graph; equal groups of all models share a row.
CREATE TABLE groups (
  group_id      TEXT PRIMARY KEY NOT NULL,
  title         TEXT NOT NULL,           -- short name made of its operations
  text          TEXT NOT NULL,
  nodes         INTEGER NOT NULL,
  reductions    INTEGER NOT NULL,
  read_bytes    REAL NOT NULL,           -- inputs once
  written_bytes REAL NOT NULL,           -- outputs once
  flops         REAL NOT NULL
) STRICT;

-- A strategy's partition of a graph.
CREATE TABLE fusions (
  graph_id      TEXT NOT NULL REFERENCES graphs,
  strategy      TEXT NOT NULL,
  kernels       INTEGER NOT NULL,        -- groups, each place once
  least_kernels INTEGER NOT NULL,        -- no partition of this graph has fewer; 0: not known
  unknown_trips INTEGER NOT NULL,        -- loops counted as one trip
  branches      INTEGER NOT NULL,        -- bodies of conditionals, each counted as taken
  PRIMARY KEY (graph_id, strategy)
) STRICT, WITHOUT ROWID;

-- The groups of a fusion.
CREATE TABLE fusion_groups (
  graph_id    TEXT NOT NULL,
  strategy    TEXT NOT NULL,
  group_id    TEXT NOT NULL REFERENCES groups,
  occurrences INTEGER NOT NULL CHECK (occurrences > 0),  -- places in the graph
  times       REAL NOT NULL CHECK (times >= 0),          -- executions per run of the model: loop bodies by trip count
  example     TEXT NOT NULL,                             -- name of a node of the first place
  PRIMARY KEY (graph_id, strategy, group_id),
  FOREIGN KEY (graph_id, strategy) REFERENCES fusions
) STRICT, WITHOUT ROWID;
CREATE INDEX fusion_groups_by_group ON fusion_groups (group_id);

-- Why each edge was or was not fused.
CREATE TABLE fusion_edges (
  graph_id TEXT NOT NULL,
  strategy TEXT NOT NULL,
  body     TEXT NOT NULL,                -- '' for the entry graph, else the path of body indices: '3.0'
  producer TEXT NOT NULL,                -- node names
  consumer TEXT NOT NULL,
  fused    INTEGER NOT NULL CHECK (fused IN (0, 1)),
  why      TEXT NOT NULL,
  PRIMARY KEY (graph_id, strategy, body, producer, consumer),
  FOREIGN KEY (graph_id, strategy) REFERENCES fusions
) STRICT, WITHOUT ROWID;

-- What runs outside groups: matrix products, convolutions, custom calls, communication, opaque operations.
CREATE TABLE library_calls (
  graph_id TEXT NOT NULL REFERENCES graphs,
  node     TEXT NOT NULL,
  kind     TEXT NOT NULL,                -- operation or custom-call target
  shape    TEXT NOT NULL,
  times    REAL NOT NULL,                -- executions per run of the model
  flops    REAL NOT NULL,                -- of one execution
  bytes    REAL NOT NULL,                -- of one execution
  PRIMARY KEY (graph_id, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE library_times (
  graph_id  TEXT NOT NULL,
  node      TEXT NOT NULL,
  device_id TEXT NOT NULL REFERENCES devices,
  model     TEXT NOT NULL,               -- who says so
  total_s   REAL NOT NULL,               -- of one execution
  PRIMARY KEY (graph_id, node, device_id, model),
  FOREIGN KEY (graph_id, node) REFERENCES library_calls
) STRICT, WITHOUT ROWID;

-- CodeGen plans; the axes of the text form as columns. An ordinary table, like estimates: keys are random, and a row at
-- the end with a short entry in the index dirties far fewer pages per commit than a long row in the middle of a tree.
CREATE TABLE plans (
  plan_id         TEXT PRIMARY KEY NOT NULL,
  group_id        TEXT NOT NULL REFERENCES groups,
  text            TEXT NOT NULL,
  skeleton        TEXT NOT NULL,
  threads         INTEGER NOT NULL,
  threads_per_row INTEGER NOT NULL,
  vector          INTEGER NOT NULL,
  in_flight       INTEGER NOT NULL,
  residence       TEXT NOT NULL,
  grid            TEXT NOT NULL,
  blocks_per_sm   INTEGER NOT NULL,
  index_cache     INTEGER NOT NULL CHECK (index_cache IN (0, 1)),
  value_cache     INTEGER NOT NULL CHECK (value_cache IN (0, 1))
) STRICT;
CREATE INDEX plans_by_group ON plans (group_id);

-- Lowered programs. Plans that lower to the same program share a row.
CREATE TABLE kernels (
  kernel_id    TEXT PRIMARY KEY NOT NULL,
  name         TEXT NOT NULL,
  text         TEXT NOT NULL,            -- what explain shows
  cuda         TEXT NOT NULL,
  threads      INTEGER NOT NULL,         -- per block
  blocks       INTEGER NOT NULL,         -- of the launch
  shared_bytes INTEGER NOT NULL,         -- per block
  idempotent   INTEGER NOT NULL CHECK (idempotent IN (0, 1))
) STRICT;

-- Which kernel a plan becomes on a device.
CREATE TABLE lowerings (
  plan_id   TEXT NOT NULL REFERENCES plans,
  device_id TEXT NOT NULL REFERENCES devices,
  kernel_id TEXT NOT NULL REFERENCES kernels,
  PRIMARY KEY (plan_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX lowerings_by_kernel ON lowerings (kernel_id);

-- Kernels of another compiler, out of its dump of a model: the baseline beside our own.
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
CREATE INDEX given_kernels_by_group ON given_kernels (group_id);

-- Why plans of a group, or the group itself, cannot be lowered: one row per rule, with an example.
CREATE TABLE rejections (
  group_id  TEXT NOT NULL REFERENCES groups,
  device_id TEXT NOT NULL REFERENCES devices,
  space     TEXT NOT NULL,               -- which plans were asked for: hash of the restrictions, '' for all
  rule      TEXT NOT NULL,
  sound     INTEGER NOT NULL CHECK (sound IN (0, 1)),  -- 0: a heuristic shortcut
  plans     INTEGER NOT NULL CHECK (plans >= 0),       -- how many; 0: the group has no plan at all, by this rule
  example   TEXT NOT NULL,               -- text of the first plan rejected, '' when it is the group
  reason    TEXT NOT NULL,               -- the sentence with figures for that example
  PRIMARY KEY (group_id, device_id, space, rule)
) STRICT, WITHOUT ROWID;

-- The same plan by plan, where it was asked for.
CREATE TABLE plan_rejections (
  plan_id   TEXT NOT NULL REFERENCES plans,
  device_id TEXT NOT NULL REFERENCES devices,
  rule      TEXT NOT NULL,
  reason    TEXT NOT NULL,
  PRIMARY KEY (plan_id, device_id, rule)
) STRICT, WITHOUT ROWID;

-- What a compiler made of a kernel. The cubin itself is kept only when asked for.
CREATE TABLE binaries (
  binary_id           TEXT PRIMARY KEY NOT NULL,  -- hash of CUDA text, options and compiler version
  kernel_id           TEXT NOT NULL REFERENCES kernels,
  arch                TEXT NOT NULL,
  compiler            TEXT NOT NULL,
  outcome             TEXT NOT NULL CHECK (outcome IN ('ok', 'failed')),
  log                 TEXT NOT NULL,
  registers           INTEGER NOT NULL,           -- per thread
  spill_store_bytes   INTEGER NOT NULL,           -- per thread
  spill_load_bytes    INTEGER NOT NULL,           -- per thread
  local_bytes         INTEGER NOT NULL,           -- per thread
  static_shared_bytes INTEGER NOT NULL,           -- per block
  cubin_bytes         INTEGER NOT NULL,
  compile_s           REAL NOT NULL,
  cubin               BLOB
) STRICT;
CREATE INDEX binaries_by_kernel ON binaries (kernel_id);

-- What a model says about a plan. Parts overlap in time: they need not sum to the total.
CREATE TABLE estimates (
  plan_id   TEXT NOT NULL REFERENCES plans,
  device_id TEXT NOT NULL REFERENCES devices,
  level     TEXT NOT NULL REFERENCES levels,
  model     TEXT NOT NULL,               -- row of the model table, with its calibration if it has one
  total_s   REAL NOT NULL,
  low_s     REAL NOT NULL,               -- the interval the model claims
  high_s    REAL NOT NULL,
  bound     TEXT NOT NULL,               -- the part that decides
  launch_s  REAL NOT NULL,
  dram_s    REAL NOT NULL,
  l2_s      REAL NOT NULL,
  shared_s  REAL NOT NULL,
  issue_s   REAL NOT NULL,
  fma_s     REAL NOT NULL,
  alu_s     REAL NOT NULL,
  xu_s      REAL NOT NULL,
  latency_s REAL NOT NULL,
  barrier_s REAL NOT NULL,
  atomic_s  REAL NOT NULL,
  spill_s   REAL NOT NULL,
  occupancy REAL NOT NULL,               -- resident warps over the most possible; 0 where the level does not see it
  waves     REAL NOT NULL,
  registers INTEGER NOT NULL,            -- per thread
  PRIMARY KEY (plan_id, device_id, level, model)
) STRICT;

-- A bound for a whole group, known before any plan and for groups without one.
CREATE TABLE group_bounds (
  group_id  TEXT NOT NULL REFERENCES groups,
  device_id TEXT NOT NULL REFERENCES devices,
  model     TEXT NOT NULL,
  total_s   REAL NOT NULL,
  bound     TEXT NOT NULL,
  PRIMARY KEY (group_id, device_id, model)
) STRICT, WITHOUT ROWID;

-- Whether a kernel was executed and its results compared with the reference. No row: unchecked. unsound: the execution
-- found what no right kernel does (out of bounds, races), whatever its results. not executed: it could not be, see detail.
CREATE TABLE checks (
  kernel_id TEXT NOT NULL REFERENCES kernels,
  method    TEXT NOT NULL,               -- who executed it, and on what
  state     TEXT NOT NULL CHECK (state IN ('passed', 'wrong', 'unsound', 'crashed', 'timed out', 'not executed')),
  worst     REAL NOT NULL,               -- largest error over its tolerance; infinite where none is allowed
  findings  INTEGER NOT NULL,            -- distinct ones
  detail    TEXT NOT NULL,               -- the first of them, or the element that is most wrong
  PRIMARY KEY (kernel_id, method)
) STRICT, WITHOUT ROWID;

-- Executions on a GPU, with every raw sample, and on the simulator, which has counters and no time.
CREATE TABLE measurements (
  measurement_id TEXT PRIMARY KEY NOT NULL,
  run_id         TEXT NOT NULL REFERENCES runs,
  binary_id      TEXT NOT NULL REFERENCES binaries,
  device_id      TEXT NOT NULL REFERENCES devices,
  profiler       TEXT NOT NULL,
  protocol       TEXT NOT NULL,          -- warm-up, cache state, how time was taken
  outcome        TEXT NOT NULL,
  reason         TEXT NOT NULL,          -- '' when the outcome is ok
  median_s       REAL,
  sm_clock_hz    REAL,
  dram_clock_hz  REAL,
  measured_at    TEXT NOT NULL
) STRICT;

CREATE TABLE samples (
  measurement_id TEXT NOT NULL REFERENCES measurements,
  sample         INTEGER NOT NULL,
  duration_s     REAL NOT NULL,
  PRIMARY KEY (measurement_id, sample)
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
  measurement_id TEXT NOT NULL REFERENCES measurements,
  counter        TEXT NOT NULL,
  value          REAL NOT NULL,
  unit           TEXT NOT NULL,
  PRIMARY KEY (measurement_id, counter)
) STRICT, WITHOUT ROWID;

-- What was fitted to measurements.
CREATE TABLE calibrations (
  calibration_id TEXT NOT NULL,
  parameter      TEXT NOT NULL,
  device_id      TEXT NOT NULL REFERENCES devices,
  value          REAL NOT NULL,
  low            REAL NOT NULL,
  high           REAL NOT NULL,
  unit           TEXT NOT NULL,
  observations   TEXT NOT NULL,          -- ids of the measurements it rests on
  fitted_at      TEXT NOT NULL,
  PRIMARY KEY (calibration_id, parameter)
) STRICT, WITHOUT ROWID;

-- What is done, so that a run resumes where another stopped. A row is written in the transaction of the work itself.
-- Stages: score, compile, check.
CREATE TABLE progress (
  group_id  TEXT NOT NULL REFERENCES groups,
  device_id TEXT NOT NULL REFERENCES devices,
  space     TEXT NOT NULL,               -- as in rejections
  stage     TEXT NOT NULL,               -- 'score', 'compile'
  legal     INTEGER NOT NULL,            -- plans that passed the stage
  rejected  INTEGER NOT NULL,            -- plans that did not
  PRIMARY KEY (group_id, device_id, space, stage)
) STRICT, WITHOUT ROWID;

-- ---- views: the questions people ask --------------------------------------------------------------------------------

-- Each plan on each device with the estimate of its most precise level. A plan that was rejected after it was estimated,
-- because its kernel is wrong, has none.
CREATE VIEW plan_times AS
SELECT p.group_id, e.device_id, e.plan_id, e.level, l.precision, e.model, e.total_s, e.low_s, e.high_s, e.bound,
       e.issue_s
FROM plans p
JOIN estimates e ON e.plan_id = p.plan_id
JOIN levels l ON l.level = e.level
WHERE NOT EXISTS (SELECT 1 FROM estimates e2 JOIN levels l2 ON l2.level = e2.level
                  WHERE e2.plan_id = e.plan_id AND e2.device_id = e.device_id
                    AND (l2.precision > l.precision OR (l2.precision = l.precision AND e2.model < e.model)))
  AND NOT EXISTS (SELECT 1 FROM plan_rejections r WHERE r.plan_id = e.plan_id AND r.device_id = e.device_id);

-- The plans of each group and device, best first. Plans that a more precise level has looked at come before the others:
-- times of different levels are not compared. Less than a nanosecond is a tie, which the fewer instructions win.
CREATE VIEW best_plans AS
SELECT t.group_id, t.device_id, d.name AS device,
       row_number() OVER (PARTITION BY t.group_id, t.device_id
                            ORDER BY t.precision DESC, round(t.total_s * 1e9), t.issue_s, t.plan_id) AS place,
       t.plan_id, p.text AS plan, t.level, t.model, t.total_s, t.low_s, t.high_s, t.bound
FROM plan_times t JOIN devices d ON d.device_id = t.device_id JOIN plans p ON p.plan_id = t.plan_id;

-- One time per group and device: its best plan's, or the bound where it has no plan ('bound').
CREATE VIEW group_times AS
SELECT group_id, device_id, plan_id, level, total_s FROM best_plans WHERE place = 1
UNION ALL
SELECT group_id, device_id, NULL, 'bound', max(total_s) FROM group_bounds b
WHERE NOT EXISTS (SELECT 1 FROM plans p JOIN estimates e USING (plan_id)
                  WHERE p.group_id = b.group_id AND e.device_id = b.device_id)
GROUP BY group_id, device_id;

-- Each strategy on each model and device: kernels, launches, traffic, predicted time of the groups and of library calls.
CREATE VIEW strategies AS
SELECT g.graph_id, g.name AS model, f.strategy, d.device_id, d.name AS device,
       f.kernels,
       count(fg.group_id) AS distinct_groups,
       coalesce(sum(fg.times), 0.0) AS launches,
       coalesce(sum(fg.times * (gr.read_bytes + gr.written_bytes)), 0.0) AS dram_bytes,
       coalesce(sum(fg.times * t.total_s), 0.0) AS kernel_s,
       count(fg.group_id) - count(t.plan_id) AS groups_without_plan,
       count(fg.group_id) - count(t.total_s) AS groups_without_time,
       coalesce((SELECT sum(c.times) FROM library_calls c WHERE c.graph_id = g.graph_id), 0.0) AS library_calls,
       coalesce((SELECT sum(c.times * (SELECT lt.total_s FROM library_times lt
                                       WHERE lt.graph_id = c.graph_id AND lt.node = c.node
                                         AND lt.device_id = d.device_id ORDER BY lt.model LIMIT 1))
                 FROM library_calls c WHERE c.graph_id = g.graph_id), 0.0) AS library_s
FROM fusions f
JOIN graphs g USING (graph_id)
CROSS JOIN devices d
LEFT JOIN fusion_groups fg ON fg.graph_id = f.graph_id AND fg.strategy = f.strategy
LEFT JOIN groups gr ON gr.group_id = fg.group_id
LEFT JOIN group_times t ON t.group_id = fg.group_id AND t.device_id = d.device_id
GROUP BY g.graph_id, f.strategy, d.device_id;

-- The groups of each fusion by the time they take, longest first within their fusion and device.
CREATE VIEW groups_by_time AS
SELECT fg.graph_id, g.name AS model, fg.strategy, t.device_id, d.name AS device,
       fg.group_id, gr.title, fg.example, fg.occurrences, fg.times,
       gr.read_bytes, gr.written_bytes, t.plan_id, t.level, t.total_s, fg.times * t.total_s AS all_times_s,
       row_number() OVER (PARTITION BY fg.graph_id, fg.strategy, t.device_id
                          ORDER BY fg.times * t.total_s DESC, fg.group_id) AS place
FROM fusion_groups fg
JOIN graphs g USING (graph_id)
JOIN groups gr USING (group_id)
JOIN group_times t ON t.group_id = fg.group_id
JOIN devices d ON d.device_id = t.device_id;

-- What was rejected and why, over all groups.
CREATE VIEW rejected_why AS
SELECT d.name AS device, r.rule, r.sound,
       count(DISTINCT r.group_id) AS groups, sum(r.plans) AS plans,
       sum(r.plans = 0) AS groups_without_plan,
       min(r.reason) AS example
FROM rejections r JOIN devices d USING (device_id)
GROUP BY r.device_id, r.rule, r.sound;

-- Groups that no plan covers, with the bytes they move.
CREATE VIEW groups_without_plan AS
SELECT r.group_id, gr.title, d.name AS device, r.rule, r.reason, gr.read_bytes + gr.written_bytes AS dram_bytes
FROM rejections r JOIN groups gr USING (group_id) JOIN devices d USING (device_id)
WHERE r.plans = 0;

-- Every kernel with the worst that is known of it: 'unchecked' until it was executed and compared.
CREATE VIEW kernel_states AS
SELECT k.kernel_id, k.name,
       CASE WHEN sum(c.state NOT IN ('passed', 'not executed')) > 0
              THEN max(CASE WHEN c.state NOT IN ('passed', 'not executed') THEN c.state END)
            WHEN sum(c.state = 'passed') > 0 THEN 'passed'
            ELSE 'unchecked' END AS state
FROM kernels k LEFT JOIN checks c USING (kernel_id)
GROUP BY k.kernel_id;

-- The kernels of each group that were executed, with what was found; the plans that become them.
CREATE VIEW checked_plans AS
SELECT p.group_id, gr.title, l.device_id, d.name AS device, p.plan_id, p.text AS plan, c.method, c.state, c.worst,
       c.findings, c.detail
FROM checks c
JOIN lowerings l USING (kernel_id)
JOIN plans p USING (plan_id)
JOIN groups gr USING (group_id)
JOIN devices d USING (device_id);

-- What executions counted of each group's kernels: ours (origin 'Tailor') and other compilers' side by side.
CREATE VIEW counted_kernels AS
SELECT o.group_id, gr.title, o.origin, k.kernel_id, k.name, d.name AS device, m.profiler, m.protocol, c.counter, c.value,
       c.unit
FROM (SELECT group_id, kernel_id, origin FROM given_kernels
      UNION SELECT p.group_id, l.kernel_id, 'Tailor' FROM lowerings l JOIN plans p USING (plan_id)) o
JOIN groups gr USING (group_id)
JOIN kernels k USING (kernel_id)
JOIN binaries b USING (kernel_id)
JOIN measurements m USING (binary_id)
JOIN devices d USING (device_id)
JOIN counters c USING (measurement_id);

CREATE VIEW unchecked_kernels AS
SELECT kernel_id, name FROM kernel_states WHERE state = 'unchecked';

-- Compilations that failed, with the compiler's words.
CREATE VIEW failed_compilations AS
SELECT b.binary_id, b.kernel_id, k.name, b.arch, b.compiler, b.log
FROM binaries b JOIN kernels k USING (kernel_id)
WHERE b.outcome = 'failed';

-- How far each group has come on each device.
CREATE VIEW group_progress AS
SELECT p.group_id, gr.title, d.name AS device, p.space,
       group_concat(p.stage, ' ') AS stages, max(p.legal) AS legal, max(p.rejected) AS rejected
FROM progress p JOIN groups gr USING (group_id) JOIN devices d USING (device_id)
GROUP BY p.group_id, p.device_id, p.space;
