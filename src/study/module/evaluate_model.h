// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole model through the reference evaluator, on arrays from files or drawn ones. In: a graph, words that name
// files, a seed. Out: every result, held against expected ones where files have them; of a partition also what the
// groups read on these inputs, so that their kernels can be checked on them. Called by `tailor evaluate` and `tailor
// check`.
//
// Constants whose contents a dump left out are inputs here: files may hold them, else they are drawn.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/units.h"
#include "explore/partition.h"
#include "profiler/check/given.h"
#include "reference/compare.h"
#include "report/table.h"
#include "study/module/array_files.h"

namespace tailor::study {

/// What a model is to be evaluated on, and what its results are to be.
struct EvaluateQuestion {
  std::vector<std::string> inputs, outputs;  ///< words of --inputs and --expect (array_files.h); none: drawn, not held
  std::uint64_t seed = 1;                    ///< of what is drawn
  std::int64_t memory = 0;                   ///< bytes that the evaluation may hold
  double scale = 1;                          ///< drawn floats are multiplied by it
};

/// One array of a model.
struct ModelArray {
  ArrayName is;
  std::string use;             ///< "parameter", "constant", "result"
  std::filesystem::path file;  ///< that it was read from, or is held against; empty: none
  std::size_t output = 0;      ///< of a result: its place in EvaluatedModel::computed
};

struct EvaluatedModel {
  std::string name;
  std::uint64_t seed = 1;
  std::vector<ModelArray> inputs, results;  ///< results: in the order of the model's tuple, which may repeat a node
  std::vector<reference::Tensor> given;     ///< by input
  /// Each node that is a result once; with bounds where a result is held against a file.
  std::vector<reference::BoundedTensor> computed;
  std::vector<reference::Tensor> expected;         ///< by result; without a shape's elements where no file has it
  std::vector<std::optional<reference::Difference>> held;  ///< by result: its file against it, within its bounds
  std::map<std::size_t, profiler::GivenArrays> groups;     ///< by number of a group: what it reads, what it is to write
  Seconds took;                                            ///< of the evaluation
};

/// Evaluates. With a partition of `graph` also what the groups read at the place that writes a result, else at their
/// first place outside of loops and branches; a group without such a place is not in `groups`. Throws Error(missing)
/// where that takes more memory than allowed and for an operation without semantics, Error(failed) for arrays that do
/// not fit, Error(interrupted) when asked to stop; else as find_array_files() and read_array() do.
EvaluatedModel evaluate_model(const ir::Graph& graph, const EvaluateQuestion& question, const std::stop_token& stop,
                              const explore::Partition* partition = nullptr);

/// One row per input, where asked for, and result: where it is from, what it holds with a digest of its bytes, and how
/// a result compares with its file.
report::Table array_table(const EvaluatedModel& model, const std::stop_token& stop, bool with_inputs = true);

/// "206 inputs of 219 MB, 2 read from files, 204 drawn by seed 1".
std::string text_of_inputs(const EvaluatedModel& model);

/// What to do where a result is NaN and infinity alone because of drawn inputs; empty where none is.
std::string text_of_overflow(const EvaluatedModel& model, const std::stop_token& stop);

/// "2 of 3 results match the reference, 1 of them judged in part (50 % of its elements), 1 differs"; empty where none
/// was held against a file. Where less than a tenth of a result could be judged it does not match: it cannot be judged.
std::string text_of_held(const EvaluatedModel& model);
/// What the command ends with where a result differs from its file, or cannot be judged.
std::optional<Error> fault_of(const EvaluatedModel& model);

/// Writes inputs/NAME.npy and outputs/NAME.npy; returns how many. A file that an array was read from is left as it is.
std::int64_t write_arrays(const EvaluatedModel& model, const std::filesystem::path& folder,
                          const std::stop_token& stop);

}  // namespace tailor::study
