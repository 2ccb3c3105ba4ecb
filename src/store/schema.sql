-- SPDX-FileCopyrightText: 2026 The Tailor authors
-- SPDX-License-Identifier: Apache-2.0
--
-- The database that a run leaves behind, schema version 5. Keys are natural: an *_id is the 32 hexadecimal digits of a
-- hash of the thing's canonical text, so the same work done twice, or in two shards, is one row. Times are in seconds
-- (_s), sizes in bytes (_bytes), rates in hertz (_hz), fractions from 0 to 1. Points in time are ISO 8601 text in UTC
-- (_at). Nothing here needs Tailor to be read; docs/database.md shows queries.
--
-- What there is a row of for each plan, edge or rule is kept short, in the tables stored_*: there a `number` stands for
-- the thing it belongs to, and another one for a word that many rows repeat. Such a number holds in its file alone. The
-- views plans, estimates, rejections and fusion_edges show these rows with ids and words; ask them. How rows get in is
-- in src/store/stored.cpp.
--
-- Comments stand inside the statements: SQLite keeps them, and `.schema` shows them. Each table, view and column has
-- one. The columns of a table stand in the order of its list in src/store/records.h. Tests hold both.

CREATE TABLE levels (
  -- levels of the cost model, by how much each sees; a higher precision speaks first
  level     TEXT PRIMARY KEY NOT NULL, -- name of the level
  precision INTEGER NOT NULL UNIQUE,   -- its place among the levels
  meaning   TEXT NOT NULL              -- what it sees
) STRICT, WITHOUT ROWID;
INSERT INTO levels VALUES
  ('sol',       0, 'group and device only: bytes once, operations, launch'),
  ('projected', 1, 'the lowered kernel and the device'),
  ('compiled',  2, 'and the compiler''s registers and spills'),
  ('counted', 3, 'and what an execution on the simulator counted'),
  ('profiled',  4, 'measured on a GPU');

CREATE TABLE words (
  -- what many rows of the tables stored_* repeat: names, sentences, parts of a plan's text, each once
  number INTEGER PRIMARY KEY, -- stands for the word
  word   TEXT NOT NULL UNIQUE -- the word
) STRICT;

CREATE TABLE runs (
  -- the manifest: one row per command that wrote here
  run_id      TEXT PRIMARY KEY NOT NULL,           -- hash of start, machine, process and configuration
  tool        TEXT NOT NULL,                       -- version and source revision
  command     TEXT NOT NULL,                       -- command line
  config_id   TEXT,                                -- hash of the sweep file's canonical text; NULL without one
  config      TEXT NOT NULL,                       -- that canonical text; '' without one
  calibration TEXT NOT NULL,                       -- whose numbers a sweep's estimates took; '' of other commands
  toolchain   TEXT NOT NULL,                       -- compiler of kernels and its version
  device      TEXT NOT NULL,                       -- GPU of the machine, '' or none without one
  driver      TEXT NOT NULL,                       -- its driver
  clocks      TEXT NOT NULL,                       -- clock state of that GPU
  host        TEXT NOT NULL,                       -- name of the machine
  host_cores  INTEGER NOT NULL,                    -- its processors
  seed        INTEGER NOT NULL,                    -- of everything random in this run
  started_at  TEXT NOT NULL,                       -- when it began
  finished_at TEXT NOT NULL,                       -- when it ended; '' while running, or when killed
  outcome     TEXT NOT NULL CHECK (outcome IN ('running', 'done', 'interrupted', 'failed')) -- how it ended
) STRICT;
CREATE INDEX runs_by_calibration ON runs (calibration);

CREATE TABLE run_devices (
  -- the GPUs that a run asked about, each with the version of its device file
  run_id    TEXT NOT NULL REFERENCES runs,    -- the command
  device_id TEXT NOT NULL REFERENCES devices, -- the device
  file_id   TEXT NOT NULL,                    -- hash of the text of the device file that the run read
  PRIMARY KEY (run_id, device_id)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE fusion_groups (
  -- the groups of a fusion
  graph_id    TEXT NOT NULL,                       -- the fusion
  strategy    TEXT NOT NULL,                       -- the fusion
  device      TEXT NOT NULL,                       -- the fusion
  price       TEXT NOT NULL,                       -- the fusion
  group_id    TEXT NOT NULL REFERENCES groups,     -- the group
  occurrences INTEGER NOT NULL CHECK (occurrences > 0), -- places in the graph
  times       REAL NOT NULL CHECK (times >= 0),    -- executions per run of the model: loop bodies by trip count
  example     TEXT NOT NULL,                       -- name of a node of the first place
  PRIMARY KEY (graph_id, strategy, device, price, group_id),
  FOREIGN KEY (graph_id, strategy, device, price) REFERENCES fusions
) STRICT, WITHOUT ROWID;
CREATE INDEX fusion_groups_by_group ON fusion_groups (group_id);

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

CREATE TABLE library_calls (
  -- what runs outside groups: matrix products, convolutions, custom calls, communication, opaque operations
  graph_id TEXT NOT NULL REFERENCES graphs, -- the graph
  node     TEXT NOT NULL,                   -- name of the node
  kind     TEXT NOT NULL,                   -- operation or custom-call target
  shape    TEXT NOT NULL,                   -- of the result
  times    REAL NOT NULL,                   -- executions per run of the model
  flops    REAL NOT NULL,                   -- of one execution
  bytes    REAL NOT NULL,                   -- read and written by one execution
  PRIMARY KEY (graph_id, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE library_times (
  -- what a library call takes on a device
  graph_id  TEXT NOT NULL,                    -- the call
  node      TEXT NOT NULL,                    -- the call
  device_id TEXT NOT NULL REFERENCES devices, -- the device
  model     TEXT NOT NULL,                    -- who says so
  total_s   REAL NOT NULL,                    -- of one execution
  figures   TEXT NOT NULL,                    -- as in group_bounds
  PRIMARY KEY (graph_id, node, device_id, model),
  FOREIGN KEY (graph_id, node) REFERENCES library_calls
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
CREATE INDEX plans_by_group ON stored_plans (in_group);

CREATE TABLE kernels (
  -- lowered programs; plans that lower to the same program share a row
  kernel_id    TEXT PRIMARY KEY NOT NULL,          -- hash of the program
  name         TEXT NOT NULL,                      -- entry point
  text         BLOB,                               -- as explain shows it, by gzip; NULL: only imported
  cuda         BLOB,                               -- its CUDA text, by gzip; NULL for other compilers' kernels
  threads      INTEGER NOT NULL,                   -- per block
  blocks       INTEGER NOT NULL,                   -- of the launch
  shared_bytes INTEGER NOT NULL,                   -- per block
  idempotent   INTEGER NOT NULL CHECK (idempotent IN (0, 1)) -- 1: it may run again without its outputs being reset
) STRICT;

CREATE TABLE lowerings (
  -- which kernel a plan becomes on a device
  plan_id   TEXT NOT NULL REFERENCES stored_plans (plan_id), -- the plan
  device_id TEXT NOT NULL REFERENCES devices, -- the device
  kernel_id TEXT NOT NULL REFERENCES kernels, -- the kernel it becomes there
  PRIMARY KEY (plan_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX lowerings_by_kernel ON lowerings (kernel_id);

CREATE TABLE given_kernels (
  -- kernels of another compiler, out of its dump of a model: the baseline beside our own
  graph_id     TEXT NOT NULL REFERENCES graphs,  -- the module as that compiler left it
  kernel_id    TEXT NOT NULL REFERENCES kernels, -- the kernel
  group_id     TEXT NOT NULL REFERENCES groups,  -- what it computes
  origin       TEXT NOT NULL,                    -- who made it: 'XLA'
  example      TEXT NOT NULL,                    -- the first instruction that launches it
  places       INTEGER NOT NULL,                 -- instructions that do
  times        REAL NOT NULL,                    -- launches per run of the model
  arrays_bytes REAL NOT NULL,                    -- operands and results, each once
  PRIMARY KEY (graph_id, kernel_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX given_kernels_by_group ON given_kernels (group_id);

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
CREATE INDEX xla_plans_by_plan ON xla_plans (plan_id);

CREATE TABLE short_lists (
  -- the plans that a sweep chose to compile, each group's best by the model that ranks, and the one as XLA's
  space     TEXT NOT NULL,                    -- which sweep, as in rejections
  device_id TEXT NOT NULL REFERENCES devices, -- the device
  plan_id   TEXT NOT NULL REFERENCES stored_plans (plan_id), -- the plan
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
CREATE INDEX point_results_by_graph ON point_results (graph_id);

CREATE TABLE binaries (
  -- what a compiler made of a kernel
  binary_id           TEXT PRIMARY KEY NOT NULL,   -- hash of CUDA text, options and compiler version
  kernel_id           TEXT NOT NULL REFERENCES kernels, -- the kernel
  arch                TEXT NOT NULL,               -- compiled for: 'sm_90'
  compiler            TEXT NOT NULL,               -- name and version
  ok                  INTEGER NOT NULL CHECK (ok IN (0, 1)), -- 0: it did not compile
  log                 TEXT NOT NULL,               -- what the compiler said
  registers           INTEGER NOT NULL,            -- per thread
  spill_store_bytes   INTEGER NOT NULL,            -- per thread
  spill_load_bytes    INTEGER NOT NULL,            -- per thread
  local_bytes         INTEGER NOT NULL,            -- per thread
  static_shared_bytes INTEGER NOT NULL,            -- per block
  machine_instructions INTEGER NOT NULL,           -- in the machine code; 0: not read
  loads_outstanding   INTEGER NOT NULL,            -- loads a thread has on their way at once, by the machine code
  cubin_bytes         INTEGER NOT NULL,            -- of the machine code
  compile_s           REAL NOT NULL,               -- time the compilation took
  cubin               BLOB                         -- the machine code; NULL: not kept
) STRICT;
CREATE INDEX binaries_by_kernel ON binaries (kernel_id);

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

CREATE TABLE group_bounds (
  -- a lower bound for a whole group, known before any plan and for groups without one. All that the models of one
  -- calibration say of the group on this device rests on the same numbers: when a sweep comes with others under the
  -- same names, what was said before is taken out of estimates, predictions, rejections and progress.
  group_id   TEXT NOT NULL REFERENCES groups,  -- the group
  device_id  TEXT NOT NULL REFERENCES devices, -- the device
  model      TEXT NOT NULL,                    -- who says so
  total_s    REAL NOT NULL,                    -- no kernel for the group is faster
  bottleneck TEXT NOT NULL,                    -- the part that decides
  figures    TEXT NOT NULL,                    -- hash of what device file and calibration said: the models' numbers
  PRIMARY KEY (group_id, device_id, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE checks (
  -- whether a kernel was executed and its results compared with the reference; no row: unchecked
  kernel_id TEXT NOT NULL REFERENCES kernels, -- the kernel
  method    TEXT NOT NULL,                    -- who executed it, and on what
  state     TEXT NOT NULL,                    -- unsound: it raced or left its buffers, whatever its results
  worst     REAL NOT NULL,                    -- largest error over its tolerance; infinite where none is allowed
  reason    TEXT NOT NULL,                    -- the first finding, the worst element, or why it did not run
  findings  INTEGER NOT NULL,                 -- distinct ones
  judged    REAL NOT NULL,                    -- fraction of the results that were held against a bound, 0 to 1
  PRIMARY KEY (kernel_id, method),
  CHECK (state IN ('passed', 'wrong', 'unsound', 'crashed', 'timed out', 'not judged', 'not executed'))
) STRICT, WITHOUT ROWID;

CREATE TABLE measurements (
  -- executions on a GPU, with every raw sample, and on the simulator, which has counters and no time. What a time
  -- means is in its columns: rows that differ in cache, timed_by or launch_mode are never compared. On the simulator
  -- these are ''.
  measurement_id TEXT PRIMARY KEY NOT NULL,        -- of what was executed; on a GPU every execution is another
  run_id         TEXT NOT NULL REFERENCES runs,    -- the command that measured
  binary_id      TEXT NOT NULL REFERENCES binaries, -- what was executed
  device_id      TEXT NOT NULL REFERENCES devices, -- the device
  profiler       TEXT NOT NULL,                    -- 'simulator', 'gpu'
  protocol       TEXT NOT NULL,                    -- what was executed and how, in words
  cache          TEXT NOT NULL,                    -- what caches hold when a sample begins: 'cold', 'warm', ...
  timed_by       TEXT NOT NULL,                    -- who took the time: 'activity', 'events'; '': no time was taken
  launch_mode    TEXT NOT NULL,                    -- 'stream', 'graph'
  stop_rule      TEXT NOT NULL,                    -- when enough samples are enough
  gpu            TEXT NOT NULL,                    -- name and UUID
  driver         TEXT NOT NULL,                    -- driver and CUPTI
  outcome        TEXT NOT NULL,                    -- 'ok', or how it ended
  reason         TEXT NOT NULL,                    -- '' when the outcome is ok
  attempts       INTEGER NOT NULL CHECK (attempts > 0), -- workers it took: more than one when some died
  median_s       REAL,                             -- of the samples; NULL without any
  low_s          REAL,                             -- interval of the median
  high_s         REAL,                             -- interval of the median
  sm_clock_hz    REAL,                             -- before the samples; NULL: not known
  dram_clock_hz  REAL,                             -- before the samples; NULL: not known
  measured_at    TEXT NOT NULL,                    -- when
  CHECK (cache IN ('', 'cold', 'warm', 'produced', 'dirty')),
  CHECK (timed_by IN ('', 'activity', 'events')),
  CHECK (launch_mode IN ('', 'stream', 'graph')),
  CHECK ((cache = '') = (timed_by = '') AND (cache = '') = (launch_mode = '') AND (cache = '') = (stop_rule = ''))
) STRICT;
CREATE INDEX measurements_by_binary ON measurements (binary_id);

CREATE TABLE samples (
  -- the raw times of a measurement, in the order taken; none is dropped
  measurement_id TEXT NOT NULL REFERENCES measurements, -- the measurement
  sample         INTEGER NOT NULL,                 -- from 0
  duration_s     REAL NOT NULL,                    -- of one launch
  sm_clock_hz    REAL,                             -- during it; NULL: not known
  throttle       INTEGER NOT NULL,                 -- bits: 1 power cap, 2 thermal, 4 hardware slowdown, 8 sync boost
  PRIMARY KEY (measurement_id, sample)
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
  -- what an execution was counted to do, over the whole launch
  measurement_id TEXT NOT NULL REFERENCES measurements, -- the measurement
  counter        TEXT NOT NULL,                    -- 'instructions', or 'global[x]_load_sectors' of a buffer
  value          REAL NOT NULL,                    -- in the unit
  unit           TEXT NOT NULL,                    -- 'bytes', 'warp instructions', ...
  PRIMARY KEY (measurement_id, counter)
) STRICT, WITHOUT ROWID;

CREATE TABLE twins (
  -- a second run of the measured plan in the same race, loaded apart: how far a plan is from itself
  measurement_id TEXT NOT NULL REFERENCES measurements, -- the measurement of the first run
  twin           INTEGER NOT NULL,                 -- from 0
  median_s       REAL NOT NULL,                    -- of the second run's samples
  low_s          REAL NOT NULL,                    -- interval of the median
  high_s         REAL NOT NULL,                    -- interval of the median
  samples        INTEGER NOT NULL,                 -- how many
  told_apart     INTEGER NOT NULL CHECK (told_apart IN (0, 1)), -- the race called one of the two slower
  PRIMARY KEY (measurement_id, twin)
) STRICT, WITHOUT ROWID;

CREATE TABLE observations (
  -- what calibration fits and validation scores: that a kernel took a time, whoever measured it. Made from measurements
  -- here (tailor db observations) or imported from what others published (tailor db import). A row never changes.
  observation_id TEXT PRIMARY KEY NOT NULL,        -- hash of the columns behind the split
  split          TEXT NOT NULL,                    -- by operation and shape, given once: 'train', 'validate', 'test'
  device         TEXT NOT NULL,                    -- name of the GPU; it need not be in devices
  regime         TEXT NOT NULL,                    -- what the time contains: 'cold, activity, stream, with ramp'
  time_s         REAL NOT NULL,                    -- the time
  low_s          REAL NOT NULL,                    -- interval of the time; the time itself where none is known
  high_s         REAL NOT NULL,                    -- interval of the time; the time itself where none is known
  source         TEXT NOT NULL,                    -- where it is from: 'measurement 5f0c...', 'table.csv row 17'
  group_id       TEXT,                             -- of a plan of ours, as in groups; NULL: somebody else's kernel
  plan_id        TEXT,                             -- of a plan of ours, as in plans; NULL: somebody else's kernel
  operation      TEXT NOT NULL,                    -- what a foreign kernel computes, or the id of its group; '' of ours
  shape          TEXT NOT NULL,                    -- of a foreign kernel: '512x1024'; '' where the operation has it
  blocks         INTEGER NOT NULL,                 -- of a foreign kernel's launch; 0: of ours
  threads        INTEGER NOT NULL,                 -- per block of it
  shared_bytes   INTEGER NOT NULL,                 -- per block of it
  registers      INTEGER NOT NULL,                 -- per thread; 0: not known
  read_bytes     REAL NOT NULL,                    -- by a foreign kernel, each once; 0: not known, or ours
  written_bytes  REAL NOT NULL,                    -- by a foreign kernel, each once; 0: not known, or ours
  variant        TEXT NOT NULL,                    -- which of several ways to write a foreign kernel; '': not said
  common_bytes   REAL NOT NULL,                    -- of read_bytes, what every block loads; 0: none, not known, or ours
  reread_bytes   REAL NOT NULL,                    -- loaded again by the same block; 0: none, not known, or ours
  far_trips      REAL NOT NULL,                    -- round trips of a warp for new data; 0: not known, or ours
  near_trips     REAL NOT NULL,                    -- round trips of a warp for known data; 0: not known, or ours
  shuffles       REAL NOT NULL,                    -- of a warp, one after the other; 0: not known, or ours
  barriers       REAL NOT NULL,                    -- of a block; 0: not known, or ours
  instructions   REAL NOT NULL,                    -- warp instructions of the launch; 0: not known, or ours
  transcendental REAL NOT NULL,                    -- lane results of that pipe; 0: not known, or ours
  CHECK (split IN ('train', 'validate', 'test')),
  CHECK ((group_id IS NULL) = (plan_id IS NULL))
) STRICT;
CREATE INDEX observations_by_device ON observations (device);

CREATE TABLE module_times (
  -- whole models: the memory-bound kernels of a partition in order, over the buffers they share; library calls are
  -- left out. The strategies that a run compares are timed in turns, on the same buffers.
  module_time_id TEXT PRIMARY KEY NOT NULL,        -- every execution is another
  run_id         TEXT NOT NULL REFERENCES runs,    -- the command that measured
  graph_id       TEXT NOT NULL REFERENCES graphs,  -- the model
  strategy       TEXT NOT NULL,                    -- as in fusions, or who made the kernels: 'XLA'
  device_id      TEXT NOT NULL REFERENCES devices, -- the device
  profiler       TEXT NOT NULL,                    -- 'gpu'
  cache          TEXT NOT NULL CHECK (cache IN ('cold', 'warm', 'produced', 'dirty')), -- as in measurements
  timed_by       TEXT NOT NULL CHECK (timed_by IN ('activity', 'events')), -- as in measurements
  launch_mode    TEXT NOT NULL CHECK (launch_mode IN ('stream', 'graph')), -- as in measurements
  stop_rule      TEXT NOT NULL,                    -- when enough samples are enough
  gpu            TEXT NOT NULL,                    -- name and UUID
  driver         TEXT NOT NULL,                    -- driver and CUPTI
  outcome        TEXT NOT NULL,                    -- 'ok', or how it ended
  reason         TEXT NOT NULL,                    -- '' when the outcome is ok
  groups_timed   INTEGER NOT NULL,                 -- places in the graph
  launches       INTEGER NOT NULL,                 -- of one sample
  buffers_bytes  REAL NOT NULL,                    -- device memory of one run
  median_s       REAL,                             -- of the samples; NULL without any
  low_s          REAL,                             -- interval of the median
  high_s         REAL,                             -- interval of the median
  measured_at    TEXT NOT NULL                     -- when
) STRICT;
CREATE INDEX module_times_by_graph ON module_times (graph_id, device_id);

CREATE TABLE module_left_out (
  -- places of a fusion without a kernel that runs: they are not in the time of the model
  module_time_id TEXT NOT NULL REFERENCES module_times, -- the time
  reason         TEXT NOT NULL,                    -- why they are left out
  places         INTEGER NOT NULL,                 -- in the graph
  PRIMARY KEY (module_time_id, reason)
) STRICT, WITHOUT ROWID;

CREATE TABLE module_samples (
  -- the raw times of a model; a round times every strategy once, in an order of its own
  module_time_id TEXT NOT NULL REFERENCES module_times, -- the time
  round          INTEGER NOT NULL,                 -- from 0
  place          INTEGER NOT NULL,                 -- in the order of the round
  duration_s     REAL NOT NULL,                    -- of all launches
  sm_clock_hz    REAL,                             -- during it; NULL: not known
  throttle       INTEGER NOT NULL,                 -- bits, as in samples
  PRIMARY KEY (module_time_id, round, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE calibrations (
  -- what was fitted to measurements
  calibration_id TEXT NOT NULL,                    -- the fit it belongs to
  parameter      TEXT NOT NULL,                    -- what was fitted
  device_id      TEXT NOT NULL REFERENCES devices, -- the device
  value          REAL NOT NULL,                    -- in the unit
  low            REAL NOT NULL,                    -- interval of the value
  high           REAL NOT NULL,                    -- interval of the value
  unit           TEXT NOT NULL,                    -- 'fraction', 's', ...
  observations   TEXT NOT NULL,                    -- ids of the measurements it rests on
  fitted_at      TEXT NOT NULL,                    -- when
  PRIMARY KEY (calibration_id, parameter)
) STRICT, WITHOUT ROWID;

CREATE TABLE progress (
  -- what is done, so that a run resumes where another stopped; written in the transaction of the work itself
  group_id  TEXT NOT NULL REFERENCES groups,  -- the group
  device_id TEXT NOT NULL REFERENCES devices, -- the device
  space     TEXT NOT NULL,                    -- as in rejections
  stage     TEXT NOT NULL,                    -- 'score', 'compile', 'check'
  legal     INTEGER NOT NULL,                 -- plans that passed the stage
  rejected  INTEGER NOT NULL,                 -- plans that did not
  figures   TEXT NOT NULL,                    -- as in group_bounds
  PRIMARY KEY (group_id, device_id, space, stage)
) STRICT, WITHOUT ROWID;

-- ---- views: rows of the tables stored_*, with ids and words ---------------------------------------------------------

CREATE VIEW fusion_edges (
  -- what was decided about each edge of the graph, and why; one row per group of its consumer
  graph_id, -- the fusion
  strategy, -- the fusion
  device,   -- the fusion
  price,    -- the fusion
  body,     -- '' for the entry graph, else the path of body indices: '3/0'
  producer, -- name of the node at the edge's beginning
  consumer, -- name of the node at its end
  part,     -- the group that needs the value: its index in the graph's partition
  decision, -- how the consumer gets the value: 'stitched', 'recomputed', 'cut'
  level,    -- stitched at most by 'register', 'warp', 'block', 'cluster' or 'grid'; NULL: cut
  gain_s,   -- of not cutting, by the price; NULL: nothing was priced
  reason    -- why, in words
) AS
SELECT f.graph_id, f.strategy, f.device, f.price, (SELECT word FROM words WHERE number = e.body),
       (SELECT word FROM words WHERE number = e.producer), (SELECT word FROM words WHERE number = e.consumer), e.part,
       CASE e.decision WHEN 0 THEN 'stitched' WHEN 1 THEN 'recomputed' ELSE 'cut' END,
       CASE e.level WHEN 0 THEN 'register' WHEN 1 THEN 'warp' WHEN 2 THEN 'block' WHEN 3 THEN 'cluster'
                    WHEN 4 THEN 'grid' END,
       e.gain_s, (SELECT word FROM words WHERE number = e.reason)
FROM fusions f JOIN stored_edges e ON e.fusion = f.number;

CREATE VIEW plans (
  -- CodeGen plans. The view plan_axes has the axes of the text as rows, so a new axis needs no column
  plan_id,    -- hash of the text and the group's id
  group_id,   -- the group it is for
  text,       -- skeleton, then every axis as 'name=value'
  skeleton,   -- loop structure of the kernel
  from_usual, -- steps from what hand-written kernels of the shape take: breaks ties
  number      -- stands for the plan in the tables stored_*
) AS
SELECT p.plan_id, g.group_id,
       (SELECT word FROM words WHERE number = p.head)
         || (SELECT word FROM words WHERE number = p.middle)
         || (SELECT word FROM words WHERE number = p.tail),
       (SELECT word FROM words WHERE number = p.skeleton), p.from_usual, p.number
FROM stored_plans p JOIN groups g ON g.number = p.in_group;

CREATE VIEW rejections (
  -- why plans of a group, or the group itself, cannot be lowered: one row per rule, with an example
  group_id,  -- the group
  device_id, -- the device
  space,     -- which plans were asked for: hash of the restrictions, '' for all
  rule,      -- short name of the rule
  sound,     -- 0: a heuristic shortcut
  plans,     -- how many; 0: the group has no plan at all, by this rule
  example,   -- text of the first plan rejected, '' when it is the group
  reason     -- the sentence with figures for that example
) AS
SELECT g.group_id, d.device_id, (SELECT word FROM words WHERE number = r.space),
       (SELECT word FROM words WHERE number = r.rule), r.sound, r.plans,
       (SELECT word FROM words WHERE number = r.head)
         || (SELECT word FROM words WHERE number = r.middle)
         || (SELECT word FROM words WHERE number = r.tail),
       (SELECT word FROM words WHERE number = r.reason)
FROM stored_rejections r JOIN groups g ON g.number = r.in_group JOIN devices d ON d.number = r.device;

CREATE VIEW estimates (
  -- what a model says about a plan; parts overlap in time: they need not sum to the total
  plan_id,    -- the plan
  device_id,  -- the device
  level,      -- how much the model saw
  model,      -- row of the model table, with its calibration if it has one
  total_s,    -- time of one launch
  low_s,      -- the interval the model claims
  high_s,     -- the interval the model claims
  bottleneck, -- the part that decides
  launch_s,   -- before the kernel starts, and its ramp
  code_s,     -- instructions fetched; 0 of estimates before version 4: in launch_s
  dram_s,     -- bytes over the bandwidth that the bytes in flight reach
  l2_s,       -- sectors through L2
  shared_s,   -- shared-memory wavefronts and shuffles
  issue_s,    -- all instructions over the issue rate
  fma_s,      -- the FMA pipe
  alu_s,      -- the ALU pipe
  xu_s,       -- transcendental pipe and conversions
  latency_s,  -- waves times the latency of one warp's dependent chain
  barrier_s,  -- block barriers
  atomic_s,   -- atomics at L2
  spill_s,    -- local memory traffic of spilled registers
  occupancy,  -- resident warps over the most possible; 0: not seen at this level
  waves,      -- whole waves of blocks
  registers   -- per thread, guessed or real
) AS
SELECT p.plan_id, m.device_id, m.level, m.model, e.total_s,
       iif(e.interval IS NULL, e.low_s, e.total_s * (1 - (SELECT below FROM intervals WHERE number = e.interval))),
       iif(e.interval IS NULL, e.high_s, e.total_s * (1 + (SELECT above FROM intervals WHERE number = e.interval))),
       (SELECT word FROM words WHERE number = e.bottleneck),
       e.launch_s, e.code_s, e.dram_s, e.l2_s, e.shared_s, e.issue_s, e.fma_s, e.alu_s, e.xu_s, e.latency_s,
       e.barrier_s, e.atomic_s, e.spill_s, e.occupancy, e.waves, e.registers
FROM stored_plans p
JOIN stored_estimates e ON e.number BETWEEN p.number << 16 AND (p.number << 16) + 65535 AND p.number = e.number >> 16
JOIN estimators m ON m.number = e.number & 65535;

-- ---- views: the questions people ask --------------------------------------------------------------------------------

CREATE VIEW plan_axes (
  -- the axes of every plan as rows, out of its text
  plan_id, -- the plan
  axis,    -- 'threads', 'vector', ...
  value    -- as it stands in the text
) AS
SELECT p.plan_id, substr(w.value, 1, instr(w.value, '=') - 1), substr(w.value, instr(w.value, '=') + 1)
FROM plans p, json_each('["' || replace(p.text, ' ', '","') || '"]') w
WHERE instr(w.value, '=') > 0;

CREATE VIEW refuted_kernels (
  -- what ran on a GPU and did there what no right kernel does: its plans are nobody's best (the simulator's findings
  -- are in checks and plan_rejections)
  kernel_id,      -- the kernel
  device_id,      -- where it ran
  measurement_id, -- the execution that refutes it
  outcome,        -- how that ended
  reason          -- in words
) AS
SELECT b.kernel_id, m.device_id, m.measurement_id, m.outcome, m.reason
FROM binaries b JOIN measurements m USING (binary_id)
WHERE m.profiler <> 'simulator'
  AND m.outcome IN ('wrong', 'guard zone overwritten', 'illegal access', 'trapped', 'timed out', 'crashed');

CREATE VIEW calibration_uses (
  -- when a sweep took the numbers of a calibration last: of estimates of one level the latest calibration's counts
  calibration, -- its name, as behind the '@' of a model
  used_at      -- when that sweep began
) AS
SELECT calibration, max(started_at) FROM runs WHERE config <> '' AND calibration <> '' GROUP BY calibration;

CREATE VIEW level_times (
  -- each plan on each device with one estimate of each level that looked at it. Of several models of a level the one
  -- counts whose calibration a sweep took last, so a sweep shows its own. Those of no sweep come after them, by name:
  -- times that were measured stand there as cold, then produced, then warm.
  group_id,   -- the group of the plan
  device_id,  -- the device
  plan_id,    -- the plan
  level,      -- how much the model saw
  precision,  -- of that level
  model,      -- who says so
  total_s,    -- time of one launch
  low_s,      -- interval
  high_s,     -- interval
  bottleneck, -- the part that decides
  issue_s,    -- time to issue its instructions: breaks ties
  plan_number -- of the plan, as in plans
) AS
SELECT g.group_id, m.device_id, p.plan_id, m.level, l.precision, m.model, e.total_s,
       iif(e.interval IS NULL, e.low_s, e.total_s * (1 - (SELECT below FROM intervals WHERE number = e.interval))),
       iif(e.interval IS NULL, e.high_s, e.total_s * (1 + (SELECT above FROM intervals WHERE number = e.interval))),
       (SELECT word FROM words WHERE number = e.bottleneck), e.issue_s, p.number
FROM stored_plans p
JOIN groups g ON g.number = p.in_group
JOIN stored_estimates e ON e.number BETWEEN p.number << 16 AND (p.number << 16) + 65535 AND p.number = e.number >> 16
JOIN estimators m ON m.number = e.number & 65535
JOIN levels l ON l.level = m.level
WHERE NOT EXISTS (
  SELECT 1 FROM stored_estimates e2 JOIN estimators m2 ON m2.number = e2.number & 65535
  WHERE e2.number BETWEEN p.number << 16 AND (p.number << 16) + 65535 AND e2.number <> e.number
    AND m2.device_id = m.device_id AND m2.level = m.level
    AND (coalesce((SELECT used_at FROM calibration_uses WHERE calibration = substr(m2.model, instr(m2.model, '@') + 1)),
                  ''), m.model)
      > (coalesce((SELECT used_at FROM calibration_uses WHERE calibration = substr(m.model, instr(m.model, '@') + 1)),
                  ''), m2.model));

CREATE VIEW plan_times (
  -- each plan on each device with the estimate of its most precise level. A plan that was refuted after it was
  -- estimated has none: it was rejected because its kernel is wrong, or its kernel did on that GPU what no right kernel
  -- does.
  group_id,   -- the group of the plan
  device_id,  -- the device
  plan_id,    -- the plan
  level,      -- the most precise level that looked at it
  precision,  -- of that level
  model,      -- who says so
  total_s,    -- time of one launch
  low_s,      -- interval
  high_s,     -- interval
  bottleneck, -- the part that decides
  issue_s,    -- time to issue its instructions: breaks ties
  plan_number -- of the plan, as in plans
) AS
SELECT e.group_id, e.device_id, e.plan_id, e.level, e.precision, e.model, e.total_s, e.low_s, e.high_s, e.bottleneck,
       e.issue_s, e.plan_number
FROM level_times e
WHERE NOT EXISTS (SELECT 1 FROM stored_estimates e2 JOIN estimators m2 ON m2.number = e2.number & 65535
                  JOIN levels l2 ON l2.level = m2.level
                  WHERE e2.number BETWEEN e.plan_number << 16 AND (e.plan_number << 16) + 65535
                    AND m2.device_id = e.device_id AND l2.precision > e.precision)
  AND NOT EXISTS (SELECT 1 FROM plan_rejections r WHERE r.plan_id = e.plan_id AND r.device_id = e.device_id)
  AND NOT EXISTS (SELECT 1 FROM lowerings k JOIN refuted_kernels r USING (kernel_id, device_id)
                  WHERE k.plan_id = e.plan_id AND k.device_id = e.device_id);

CREATE VIEW best_plans (
  -- the plans of each group and device, best first. Plans that a more precise level has looked at come before the
  -- others: times of different levels are not compared. Less than a nanosecond is a tie, which the fewer instructions
  -- win, then the plan nearer to the usual one.
  group_id,   -- the group
  device_id,  -- the device
  device,     -- its name
  place,      -- 1 is the best
  plan_id,    -- the plan
  plan,       -- its text
  level,      -- the most precise level that looked at it
  model,      -- who says so
  total_s,    -- time of one launch
  low_s,      -- interval
  high_s,     -- interval
  bottleneck  -- the part that decides
) AS
SELECT t.group_id, t.device_id, d.name,
       row_number() OVER (PARTITION BY t.group_id, t.device_id
                            ORDER BY t.precision DESC, round(t.total_s * 1e9), t.issue_s, p.from_usual, t.plan_id),
       t.plan_id, p.text, t.level, t.model, t.total_s, t.low_s, t.high_s, t.bottleneck
FROM plan_times t JOIN devices d ON d.device_id = t.device_id JOIN plans p ON p.number = t.plan_number;

CREATE VIEW group_times (
  -- one time per group and device: its best plan's, or the bound where it has no plan
  group_id,  -- the group
  device_id, -- the device
  plan_id,   -- its best plan; NULL: it has none
  level,     -- of the cost model; 'bound' without a plan
  total_s    -- time of one launch
) AS
SELECT group_id, device_id, plan_id, level, total_s FROM best_plans WHERE place = 1
UNION ALL
SELECT group_id, device_id, NULL, 'bound', max(total_s) FROM group_bounds b
WHERE NOT EXISTS (SELECT 1 FROM plan_times t WHERE t.group_id = b.group_id AND t.device_id = b.device_id)
GROUP BY group_id, device_id;

CREATE VIEW predicted_times (
  -- what each group's time was predicted to be, measured or not: of its most precise model, by that model's best plan.
  -- Measured times and predicted ones are not compared, for a prediction may hold a launch that a timer leaves out
  group_id,  -- the group
  device_id, -- the device
  level,     -- of the cost model
  total_s    -- time of one launch
) AS
SELECT group_id, device_id, level, total_s FROM (
  SELECT e.group_id, e.device_id, e.level, e.total_s,
         row_number() OVER (PARTITION BY e.group_id, e.device_id ORDER BY e.precision DESC, e.total_s) AS place
  FROM level_times e
  WHERE e.level <> 'profiled'
    AND NOT EXISTS (SELECT 1 FROM plan_rejections r WHERE r.plan_id = e.plan_id AND r.device_id = e.device_id)
    AND NOT EXISTS (SELECT 1 FROM lowerings k JOIN refuted_kernels r USING (kernel_id, device_id)
                    WHERE k.plan_id = e.plan_id AND k.device_id = e.device_id))
WHERE place = 1;

CREATE VIEW search_added (
  -- what the search added to each group: the plan that is as XLA would write it beside the best plan, both at the level
  -- that looked most closely at both
  group_id,  -- the group
  device_id, -- the device
  device,    -- its name
  emitter,   -- XLA's emitter
  launch,    -- of the plan beside XLA's
  plan_id,   -- the plan
  level,     -- of the cost model
  xla_s,     -- its time
  best_s,    -- the best plan's time
  added_s    -- the difference
) AS
SELECT x.group_id, x.device_id, d.name, x.emitter, x.launch, x.plan_id, t.level, t.total_s, b.total_s,
       t.total_s - b.total_s
FROM xla_plans x
JOIN devices d USING (device_id)
JOIN plan_times t ON t.plan_id = x.plan_id AND t.device_id = x.device_id
JOIN group_times b ON b.group_id = x.group_id AND b.device_id = x.device_id AND b.level = t.level;

CREATE VIEW strategy_search_added (
  -- the same of one run of each model under each strategy, over its kernels that have such a plan
  graph_id,    -- the model
  model,       -- its name
  strategy,    -- row of the strategy table
  price,       -- cost model it was decided by; '': by none
  device_id,   -- the device
  device,      -- its name
  kernels,     -- that have such a plan, each place once
  same_launch, -- of these, with XLA's launch
  xla_s,       -- their time under these plans
  best_s,      -- their time under the best plans
  added_s      -- the difference
) AS
SELECT g.graph_id, g.name, f.strategy, f.price, s.device_id, s.device,
       sum(fg.occurrences), sum(iif(s.launch = 'equal', fg.occurrences, 0)),
       sum(fg.times * s.xla_s), sum(fg.times * s.best_s), sum(fg.times * s.added_s)
FROM fusions f
JOIN graphs g USING (graph_id)
JOIN fusion_groups fg USING (graph_id, strategy, device, price)
JOIN search_added s ON s.group_id = fg.group_id AND f.device IN ('', s.device)
GROUP BY g.graph_id, f.strategy, f.device, f.price, s.device_id;

CREATE VIEW strategies (
  -- each strategy on each model and device; launches, bytes and times are those of one run of the model
  graph_id,            -- the model
  model,               -- its name
  strategy,            -- row of the strategy table
  price,               -- cost model it was decided by; '': by none
  device_id,           -- the device
  device,              -- its name
  kernels,             -- groups, each place once
  distinct_groups,     -- equal ones once
  launches,            -- of the kernels, loop bodies by trip count; library calls are apart
  dram_bytes,          -- inputs and outputs of every launch once
  kernel_s,            -- groups with a time only, each by the level that speaks of it first
  predicted_s,         -- the same with a prediction, where there is one, in place of each time that was measured
  launches_measured,   -- of the launches, those of groups whose time was measured
  groups_without_plan, -- distinct ones
  groups_without_time, -- distinct ones: neither plan nor bound
  launches_without_plan, -- of the launches, those of groups without a plan
  library_calls,       -- executions of them
  library_s            -- their time; of several models by the rule of level_times
) AS
SELECT g.graph_id, g.name, f.strategy, f.price, d.device_id, d.name,
       coalesce(sum(fg.occurrences), 0),
       count(fg.group_id),
       coalesce(sum(fg.times), 0.0),
       coalesce(sum(fg.times * (gr.read_bytes + gr.written_bytes)), 0.0),
       coalesce(sum(fg.times * t.total_s), 0.0),
       coalesce(sum(fg.times * coalesce(iif(t.level = 'profiled',
                                            (SELECT p.total_s FROM predicted_times p
                                             WHERE p.group_id = t.group_id AND p.device_id = t.device_id),
                                            NULL),
                                        t.total_s)), 0.0),
       coalesce(sum(iif(t.level = 'profiled', fg.times, 0.0)), 0.0),
       count(fg.group_id) - count(t.plan_id),
       count(fg.group_id) - count(t.total_s),
       coalesce(sum(iif(t.plan_id IS NULL, fg.times, 0.0)), 0.0),
       coalesce((SELECT sum(c.times) FROM library_calls c WHERE c.graph_id = g.graph_id), 0.0),
       coalesce((SELECT sum(c.times * (SELECT lt.total_s FROM library_times lt
                                       WHERE lt.graph_id = c.graph_id AND lt.node = c.node
                                         AND lt.device_id = d.device_id
                                       ORDER BY (SELECT used_at FROM calibration_uses u WHERE u.calibration
                                                   = substr(lt.model, instr(lt.model, '@') + 1)) DESC, lt.model
                                       LIMIT 1))
                 FROM library_calls c WHERE c.graph_id = g.graph_id), 0.0)
FROM fusions f
JOIN graphs g USING (graph_id)
JOIN devices d ON f.device IN ('', d.name)
LEFT JOIN fusion_groups fg ON fg.graph_id = f.graph_id AND fg.strategy = f.strategy AND fg.device = f.device
                          AND fg.price = f.price
LEFT JOIN groups gr ON gr.group_id = fg.group_id
LEFT JOIN group_times t ON t.group_id = fg.group_id AND t.device_id = d.device_id
GROUP BY g.graph_id, f.strategy, f.device, f.price, d.device_id;

CREATE VIEW groups_by_time (
  -- the groups of each fusion by the time they take
  graph_id,      -- the model
  model,         -- its name
  strategy,      -- whose fusion
  price,         -- cost model it was decided by; '': by none
  device_id,     -- the device
  device,        -- its name
  group_id,      -- the group
  title,         -- short name made of its operations
  example,       -- name of a node of the first place
  occurrences,   -- places in the graph
  times,         -- executions per run of the model
  read_bytes,    -- inputs once
  written_bytes, -- outputs once
  plan_id,       -- its best plan; NULL: it has none
  level,         -- of the cost model; 'bound' without a plan
  total_s,       -- of one execution
  all_times_s,   -- of all executions in a run of the model
  place          -- 1 is the longest of its fusion and device
) AS
SELECT fg.graph_id, g.name, fg.strategy, fg.price, t.device_id, d.name,
       fg.group_id, gr.title, fg.example, fg.occurrences, fg.times,
       gr.read_bytes, gr.written_bytes, t.plan_id, t.level, t.total_s, fg.times * t.total_s,
       row_number() OVER (PARTITION BY fg.graph_id, fg.strategy, fg.device, fg.price, t.device_id
                          ORDER BY fg.times * t.total_s DESC, fg.group_id)
FROM fusion_groups fg
JOIN graphs g USING (graph_id)
JOIN groups gr USING (group_id)
JOIN group_times t ON t.group_id = fg.group_id
JOIN devices d ON d.device_id = t.device_id AND fg.device IN ('', d.name);

CREATE VIEW rejected_why (
  -- what was rejected and why, over all groups
  device,              -- name of the device
  rule,                -- short name of the rule
  sound,               -- 0: a heuristic shortcut
  groups,              -- with plans that it rejected
  plans,               -- that it rejected
  groups_without_plan, -- of which it rejects every plan
  example              -- one sentence with figures
) AS
SELECT d.name, r.rule, r.sound, count(DISTINCT r.group_id), sum(r.plans), sum(r.plans = 0), min(r.reason)
FROM rejections r JOIN devices d USING (device_id)
GROUP BY r.device_id, r.rule, r.sound;

CREATE VIEW groups_without_plan (
  -- groups that no plan covers
  group_id,   -- the group
  title,      -- short name made of its operations
  device,     -- name of the device
  rule,       -- that rejects every plan
  reason,     -- in words
  dram_bytes  -- inputs and outputs once
) AS
SELECT r.group_id, gr.title, d.name, r.rule, r.reason, gr.read_bytes + gr.written_bytes
FROM rejections r JOIN groups gr USING (group_id) JOIN devices d USING (device_id)
WHERE r.plans = 0;

CREATE VIEW kernel_states (
  -- every kernel with the worst that is known of it
  kernel_id, -- the kernel
  name,      -- entry point
  state      -- 'unchecked' until it was executed and compared
) AS
SELECT k.kernel_id, k.name,
       CASE WHEN sum(c.state NOT IN ('passed', 'not judged', 'not executed')) > 0
              THEN max(CASE WHEN c.state NOT IN ('passed', 'not judged', 'not executed') THEN c.state END)
            WHEN sum(c.state = 'passed') > 0 THEN 'passed'
            WHEN sum(c.state = 'not judged') > 0 THEN 'not judged'
            ELSE 'unchecked' END
FROM kernels k LEFT JOIN checks c USING (kernel_id)
GROUP BY k.kernel_id;

CREATE VIEW checked_plans (
  -- the kernels of each group that were executed, with what was found, and the plans that become them
  group_id,  -- the group
  title,     -- short name made of its operations
  device_id, -- the device
  device,    -- its name
  plan_id,   -- the plan
  plan,      -- its text
  method,    -- who executed it, and on what
  state,     -- what was found
  worst,     -- largest error over its tolerance
  judged,    -- fraction of the results that were held against a bound
  findings,  -- distinct ones
  reason     -- the first of them, or the element that is most wrong
) AS
SELECT p.group_id, gr.title, l.device_id, d.name, p.plan_id, p.text, c.method, c.state, c.worst, c.judged, c.findings,
       c.reason
FROM checks c
JOIN lowerings l USING (kernel_id)
JOIN plans p USING (plan_id)
JOIN groups gr USING (group_id)
JOIN devices d USING (device_id);

CREATE VIEW counted_kernels (
  -- what executions counted of each group's kernels: ours and other compilers' side by side
  group_id,  -- the group
  title,     -- short name made of its operations
  origin,    -- who made the kernel: 'Tailor', 'XLA'
  kernel_id, -- the kernel
  name,      -- entry point
  device,    -- name of the device
  profiler,  -- who executed it
  protocol,  -- what was executed and how
  counter,   -- what was counted
  value,     -- in the unit
  unit       -- of the value
) AS
SELECT o.group_id, gr.title, o.origin, k.kernel_id, k.name, d.name, m.profiler, m.protocol, c.counter, c.value, c.unit
FROM (SELECT group_id, kernel_id, origin FROM given_kernels
      UNION SELECT p.group_id, l.kernel_id, 'Tailor' FROM lowerings l JOIN plans p USING (plan_id)) o
JOIN groups gr USING (group_id)
JOIN kernels k USING (kernel_id)
JOIN binaries b USING (kernel_id)
JOIN measurements m USING (binary_id)
JOIN devices d USING (device_id)
JOIN counters c USING (measurement_id);

CREATE VIEW unchecked_kernels (
  -- kernels that nobody executed yet
  kernel_id, -- the kernel
  name       -- entry point
) AS
SELECT kernel_id, name FROM kernel_states WHERE state = 'unchecked';

CREATE VIEW failed_compilations (
  -- compilations that failed, with the compiler's words
  binary_id, -- the compilation
  kernel_id, -- the kernel
  name,      -- entry point
  arch,      -- compiled for: 'sm_90'
  compiler,  -- name and version
  log        -- what the compiler said
) AS
SELECT b.binary_id, b.kernel_id, k.name, b.arch, b.compiler, b.log
FROM binaries b JOIN kernels k USING (kernel_id)
WHERE NOT b.ok;

CREATE VIEW group_progress (
  -- how far each group has come on each device
  group_id, -- the group
  title,    -- short name made of its operations
  device,   -- name of the device
  space,    -- as in rejections
  stages,   -- that are done, with spaces between them
  legal,    -- plans that passed
  rejected  -- plans that did not
) AS
SELECT p.group_id, gr.title, d.name, p.space, group_concat(p.stage, ' '), max(p.legal), max(p.rejected)
FROM progress p JOIN groups gr USING (group_id) JOIN devices d USING (device_id)
GROUP BY p.group_id, p.device_id, p.space;

CREATE VIEW kernel_times (
  -- times that count: of the executions of a binary under one protocol on a device, the last that went well
  kernel_id,      -- the kernel
  measurement_id, -- the execution
  run_id,         -- the command that measured
  binary_id,      -- what was executed
  device_id,      -- the device
  profiler,       -- who executed it
  cache,          -- as in measurements
  timed_by,       -- as in measurements
  launch_mode,    -- as in measurements
  stop_rule,      -- as in measurements
  gpu,            -- name and UUID
  median_s,       -- of the samples
  low_s,          -- interval of the median
  high_s,         -- interval of the median
  measured_at     -- when
) AS
SELECT b.kernel_id, m.measurement_id, m.run_id, m.binary_id, m.device_id, m.profiler, m.cache, m.timed_by,
       m.launch_mode, m.stop_rule, m.gpu, m.median_s, m.low_s, m.high_s, m.measured_at
FROM measurements m JOIN binaries b USING (binary_id)
WHERE m.outcome = 'ok' AND m.median_s IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM measurements n
                  WHERE n.binary_id = m.binary_id AND n.device_id = m.device_id AND n.cache = m.cache
                    AND n.timed_by = m.timed_by AND n.launch_mode = m.launch_mode AND n.profiler = m.profiler
                    AND n.outcome = 'ok' AND n.median_s IS NOT NULL
                    AND (n.measured_at, n.measurement_id) > (m.measured_at, m.measurement_id));

CREATE VIEW measured_plans (
  -- measured plans, fastest first within their protocol; plans that some execution refuted are not here
  group_id,        -- the group
  title,           -- short name made of its operations
  device_id,       -- the device
  device,          -- its name
  plan_id,         -- the plan
  plan,            -- its text
  kernel_id,       -- what it became
  binary_id,       -- what was executed
  measurement_id,  -- the execution
  profiler,        -- who executed it
  cache,           -- as in measurements
  timed_by,        -- as in measurements
  launch_mode,     -- as in measurements
  median_s,        -- of the samples
  low_s,           -- interval of the median
  high_s,          -- interval of the median
  samples,         -- how many
  useful_fraction, -- of the DRAM bandwidth, by inputs and outputs once; above 1 when caches keep some
  dram_fraction,   -- the same of the bytes that the GPU counted; NULL where they were not
  place            -- 1 is the fastest of its group under this protocol
) AS
SELECT p.group_id, gr.title, t.device_id, d.name, p.plan_id, p.text, t.kernel_id, t.binary_id,
       t.measurement_id, t.profiler, t.cache, t.timed_by, t.launch_mode, t.median_s, t.low_s, t.high_s,
       (SELECT count(*) FROM samples s WHERE s.measurement_id = t.measurement_id),
       (gr.read_bytes + gr.written_bytes) / t.median_s / peak.bandwidth,
       (SELECT sum(c.value) FROM counters c
        WHERE c.measurement_id = t.measurement_id AND c.counter IN ('dram_read_bytes', 'dram_write_bytes')
        HAVING count(*) = 2) / t.median_s / peak.bandwidth,
       row_number() OVER (PARTITION BY p.group_id, t.device_id, t.profiler, t.cache, t.timed_by, t.launch_mode
                            ORDER BY t.median_s, p.plan_id, t.binary_id)
FROM kernel_times t
JOIN lowerings l ON l.kernel_id = t.kernel_id AND l.device_id = t.device_id
JOIN plans p USING (plan_id)
JOIN groups gr USING (group_id)
JOIN devices d ON d.device_id = t.device_id
JOIN (SELECT device_id,
             CASE WHEN json_valid(file) THEN json_extract(file, '$.figures.dram_bandwidth.value') END AS bandwidth
      FROM devices) peak ON peak.device_id = t.device_id
WHERE NOT EXISTS (SELECT 1 FROM plan_rejections r WHERE r.plan_id = p.plan_id AND r.device_id = t.device_id)
  AND NOT EXISTS (SELECT 1 FROM refuted_kernels r WHERE r.kernel_id = t.kernel_id AND r.device_id = t.device_id);

CREATE VIEW twin_races (
  -- races in which a plan ran twice, loaded apart; the two times differ by what is nothing of the plan's
  group_id,       -- the group
  title,          -- short name made of its operations
  device_id,      -- the device
  device,         -- its name
  measurement_id, -- the execution of the first run
  cache,          -- as in measurements
  timed_by,       -- as in measurements
  launch_mode,    -- as in measurements
  median_s,       -- of the first run's samples
  twin_s,         -- of the second run's
  ratio,          -- of the second median to the first
  told_apart      -- 1 where the race called one of the two slower: a false winner
) AS
SELECT DISTINCT gr.group_id, gr.title, m.device_id, d.name, m.measurement_id, m.cache, m.timed_by, m.launch_mode,
       m.median_s, t.median_s, t.median_s / m.median_s, t.told_apart
FROM twins t
JOIN measurements m USING (measurement_id)
JOIN binaries b USING (binary_id)
JOIN lowerings l ON l.kernel_id = b.kernel_id AND l.device_id = m.device_id
JOIN plans p USING (plan_id)
JOIN groups gr USING (group_id)
JOIN devices d ON d.device_id = m.device_id
WHERE m.median_s > 0;

CREATE VIEW measured_vs_predicted (
  -- what each level of the cost model says that a time of a plan should be, beside that time as it was measured
  group_id,         -- the group
  title,            -- short name made of its operations
  device_id,        -- the device
  device,           -- its name
  plan_id,          -- the plan
  plan,             -- its text
  cache,            -- as in measurements
  timed_by,         -- as in measurements
  launch_mode,      -- as in measurements
  level,            -- of the cost model
  precision,        -- of that level
  model,            -- who predicted
  predicted_s,      -- time of one launch, taken as the measured one was
  predicted_low_s,  -- interval the model claims
  predicted_high_s, -- interval the model claims
  measured_s,       -- median of the samples
  measured_low_s,   -- interval of the median
  measured_high_s,  -- interval of the median
  ratio             -- predicted over measured
) AS
SELECT m.group_id, m.title, m.device_id, m.device, m.plan_id, m.plan, m.cache, m.timed_by, m.launch_mode,
       e.level, l.precision, e.model, e.total_s, e.low_s, e.high_s, m.median_s, m.low_s, m.high_s,
       e.total_s / m.median_s
FROM measured_plans m
JOIN predictions e ON e.plan_id = m.plan_id AND e.device_id = m.device_id AND e.cache = m.cache
                  AND e.timed_by = m.timed_by AND e.launch_mode = m.launch_mode
JOIN levels l ON l.level = e.level;

CREATE VIEW module_speedups (
  -- how much faster one strategy ran than another: pairs that were timed in turns, in one run under one protocol.
  -- Where kernels were left out, the two did not compute the same: see both counts.
  run_id,                   -- the command that measured
  graph_id,                 -- the model
  model,                    -- its name
  device_id,                -- the device
  device,                   -- its name
  cache,                    -- as in measurements
  timed_by,                 -- as in measurements
  launch_mode,              -- as in measurements
  strategy,                 -- the one
  baseline,                 -- the other
  median_s,                 -- of the one
  baseline_s,               -- of the other
  speedup,                  -- above 1: the one is faster
  launches,                 -- of the one
  baseline_launches,        -- of the other
  groups_left_out,          -- places without a kernel that runs, of the one
  baseline_groups_left_out  -- of the other
) AS
SELECT a.run_id, a.graph_id, g.name, a.device_id, d.name, a.cache, a.timed_by, a.launch_mode,
       a.strategy, o.strategy, a.median_s, o.median_s, o.median_s / a.median_s, a.launches, o.launches,
       (SELECT coalesce(sum(places), 0) FROM module_left_out l WHERE l.module_time_id = a.module_time_id),
       (SELECT coalesce(sum(places), 0) FROM module_left_out l WHERE l.module_time_id = o.module_time_id)
FROM module_times a
JOIN module_times o ON o.run_id = a.run_id AND o.graph_id = a.graph_id AND o.device_id = a.device_id
                   AND o.profiler = a.profiler AND o.cache = a.cache AND o.timed_by = a.timed_by
                   AND o.launch_mode = a.launch_mode AND o.strategy <> a.strategy
JOIN graphs g ON g.graph_id = a.graph_id
JOIN devices d ON d.device_id = a.device_id
WHERE a.outcome = 'ok' AND o.outcome = 'ok' AND a.median_s IS NOT NULL AND o.median_s IS NOT NULL;

CREATE VIEW point_values (
  -- what the points of a grid have at its keys, as rows to group by
  grid_id,  -- the experiment
  point_id, -- the point
  number,   -- of the point
  key,      -- of the sweep file: 'cost_model', 'plans.axes.threads'
  value     -- as a word
) AS
SELECT p.grid_id, p.point_id, p.number, v.key, v.value FROM points p, json_each(p.setting) v;

CREATE VIEW point_strategies (
  -- each strategy at each point of a grid, on each model and device
  grid_id,               -- the experiment
  point_id,              -- the point
  number,                -- of the point
  label,                 -- what the point has at the grid's keys
  model,                 -- name of the model
  strategy,              -- row of the strategy table
  price,                 -- cost model it was decided by; '': by none
  device,                -- name of the device
  kernels,               -- groups, each place once
  launches,              -- of one run of the model
  launches_without_plan, -- of these, of groups without a plan
  dram_bytes,            -- of one run
  kernel_s,              -- of one run, of the fused kernels alone
  library_s,             -- of one run
  baseline_kernel_s,     -- kernel_s of the point's baseline
  faster                 -- the baseline's kernel_s over this one's
) AS
SELECT p.grid_id, p.point_id, p.number, p.label, g.name, r.strategy, r.price, d.name, r.kernels, r.launches,
       r.launches_without_plan, r.dram_bytes, r.kernel_s, r.library_s, b.kernel_s,
       iif(r.kernel_s > 0, b.kernel_s / r.kernel_s, NULL)
FROM points p
JOIN point_results r ON r.point_id = p.point_id
JOIN graphs g ON g.graph_id = r.graph_id
JOIN devices d ON d.device_id = r.device_id
LEFT JOIN point_results b ON b.point_id = r.point_id AND b.graph_id = r.graph_id AND b.device_id = r.device_id
                         AND b.strategy = p.baseline;
