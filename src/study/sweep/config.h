// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The sweep file: what an experiment asks, of which models, devices and strategies, and what would answer it. Reading
// checks everything that can be checked without running: keys, types, ranges, and that the models exist. In: the text
// of a file. Out: a SweepConfig. Called by tailor sweep and by the fuzzer.
//
// A file with a grid stands for several: one for each combination of the grid's values, with these in the places of
// their keys. Each is a whole SweepConfig, so nothing behind the reader knows how it was written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "explore/strategy.h"

namespace tailor::study {

/// What must hold for the answer to be yes: `metric` at least `threshold`, which is above 0.
struct Claim {
  std::string text;
  std::string metric;
  double threshold = 0;
  bool operator==(const Claim&) const = default;
};

/// One axis of the plan space and the values allowed on it, as words of a plan's text ("128", "registers", "on").
struct AxisRestriction {
  std::string axis;
  std::vector<std::string> values;
  bool operator==(const AxisRestriction&) const = default;
};

/// Which compiled kernels are executed on the simulator, and how.
struct CheckConfig {
  std::optional<std::int64_t>
      top;                 ///< plans of each group, the best first; 0: none. The reader fills in the short list's
  std::int64_t seeds = 1;  ///< executions of each kernel, with inputs and schedules of their own
  std::optional<std::int64_t> blocks;  ///< execute a sample of about so many; 0: all; none: a sample of large launches
  bool small_shape = false;            ///< fewer rows under the same plan, where the group allows that
  bool operator==(const CheckConfig&) const = default;
};

/// Which compiled kernels are measured when the sweep is told who measures, and how.
struct ProfileConfig {
  std::optional<std::int64_t> top;  ///< plans of each group; the reader fills in the short list's
  std::int64_t random = 0;          ///< more of each group, from equal stretches of the ranking behind the short list
  std::vector<std::string> cache{"cold"};  ///< cache states, the first ranks
  std::string stop = "standard";           ///< row of the stop rules
  std::string counters = "0";              ///< highest tier, names, or none
  bool graph = false;                      ///< launch as a CUDA graph
  std::int64_t checks = 1;                 ///< runs that are compared with the reference
  bool operator==(const ProfileConfig&) const = default;
};

/// One key of a grid, as config_keys() has it or "plans.axes.NAME", and the values that it takes, as JSON text.
struct GridKey {
  std::string key;
  std::vector<std::string> values;
  bool operator==(const GridKey&) const = default;
};

/// What a point of a grid has at one of the grid's keys, for people: "sol", "128", "h200, t4".
struct GridValue {
  std::string key, value;
  bool operator==(const GridValue&) const = default;
};

struct SweepConfig {
  std::string question;
  std::optional<Claim> claim;
  std::vector<std::filesystem::path> models;  ///< resolved; each exists
  std::vector<std::string> devices;           ///< names or paths; the caller looks them up
  std::vector<std::string> strategies{"unfused", "imported", std::string(explore::default_strategy)};
  std::string baseline;  ///< one of strategies; the first when not given
  std::string cost_model = "projected";
  std::string calibration = "uncalibrated";         ///< name or path; the caller looks it up
  std::optional<std::int64_t> max_plans_per_group;  ///< absent: all
  std::vector<AxisRestriction> axes;                ///< by name; absent axes are free
  std::int64_t shortlist = 4;                       ///< plans per group that are compiled
  bool compile = true;
  CheckConfig check;
  ProfileConfig profile;
  std::string arch = "auto";  ///< "auto": each device's own; else "sm_90"
  std::int64_t seed = 1;
  std::filesystem::path database;  ///< resolved; CONFIG.db beside the file when not given
  std::filesystem::path report;    ///< resolved folder; empty: none is written
  std::vector<GridKey> grid;       ///< in the file's order; paths of models and partitions as resolved
  std::vector<SweepConfig>
      points{};                      ///< of a grid: each combination, the last key turns fastest. The rest is the first
  std::vector<GridValue> setting{};  ///< of a point, in the grid's order
  bool operator==(const SweepConfig&) const = default;
};

/// Points that a grid may have.
inline constexpr std::size_t most_points = 1000;

/// Checks a sweep file's text; relative paths start at `file`'s folder. Throws Error(usage) with line, column and JSON
/// path; Error(missing) for a model that is not there.
SweepConfig parse_config(std::string_view text, const std::filesystem::path& file);
/// "cost_model=sol, threads=64": what a point has at the keys of its grid, by their last words where these tell them
/// apart; empty where there is no grid.
std::string label(const SweepConfig& point);
/// All keys that a sweep file may have, those inside of others behind a dot: "claim.metric". What is published about
/// them (data/schemas/experiment.json) is held against this.
std::vector<std::string> config_keys();
/// Reads and parses the file.
SweepConfig read_config(const std::filesystem::path& file);

/// The text form with every default spelled out and keys in fixed order, paths as resolved; parse_config reads it back.
/// Of a file with a grid it is that of the first point.
std::string canonical_text(const SweepConfig& config);
/// Hash of what decides the rows of a sweep: the canonical text, without where database and report go and without the
/// folders that models lie in.
Id id_of(const SweepConfig& config);
/// Hash of what decides which plans of a group are looked at: axes, limit and cost model. Part of the database's keys.
Id plan_space_id(const SweepConfig& config);

}  // namespace tailor::study
