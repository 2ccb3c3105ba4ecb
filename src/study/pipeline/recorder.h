// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the stages found, as rows of a database, or as nothing where nobody named a database. Candidates come in; every
// row that stands for them goes out, so that the database stands for itself. Commands and sweeps write through it
// alone; rows have natural keys, so saving again changes nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "profiler/gpu/request/request.h"
#include "store/store.h"
#include "study/pipeline/candidate.h"

namespace tailor::study {

/// The rule that stands for plans whose kernels did not compile.
inline constexpr std::string_view rule_compiles = "compile";
/// That of plans whose kernels were given up because they take a compiler too long: what may be, and no bug.
inline constexpr std::string_view rule_compile_limit = "compile-limit";

class Recorder {
 public:
  /// Writes nowhere.
  Recorder() = default;
  /// Opens the database, which is made when absent. `run` begins here: it is stored, and rows name it.
  Recorder(const std::filesystem::path& database, store::RunRow run);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  bool writes() const { return store_ != nullptr; }
  /// The store. Precondition: writes().
  store::Store& store() { return *store_; }
  Id run() const { return run_.id; }

  /// Work that is stored whole or not at all: what `save` calls.
  template <class Save>
  void unit(Save&& save) {
    if (store_ == nullptr) return;
    store::Store::Transaction transaction(*store_);
    save();
    transaction.commit();
  }

  /// The device, and that the run read this version of its file.
  void save(const Target& target);
  void save(const PreparedGroup& group);
  /// Group, plan, kernel and that the one lowers to the other.
  void save_chosen(const Candidate& candidate);
  /// Plan and kernel without the group, which is there.
  void save_lowered(const Candidate& candidate);
  /// The binary of the kernel's own shape, and the rejection of a plan whose kernel did not compile.
  void save_compiled(const Candidate& candidate);
  /// Rejects every plan of the candidate's group on its device.
  void reject_uncompiled(const Candidate& candidate);
  /// Verdict, what the execution counted, and the rejection of a plan whose kernel is wrong. `method` says who executed
  /// it and on what; another shape is added to it. Counters of another shape are not this kernel's and not stored.
  void save_checked(const Candidate& candidate, const std::string& method);
  /// In one unit, all that is known of candidates that passed the check stage, executed as `how` says; `finished_only`:
  /// of those that have a verdict.
  void save_checks(std::span<const Candidate> candidates, const Checking& how, bool finished_only = false);
  /// Measurements with samples and counters, a check, a profiled estimate, what each level that looked predicts for a
  /// time taken like that, or the rejection of a plan whose kernel is wrong. `profiler` is "gpu" or "replay": what
  /// records answer is in them already.
  void save_measured(const Candidate& candidate, const std::string& profiler);
  /// What a level said; nothing where it did not look.
  void save_estimate(const Candidate& candidate, ir::Level level, std::string_view model);
  /// What a level predicts for a time of this regime; nothing where it cannot (study::predict).
  void save_prediction(const Candidate& candidate, ir::Level level, const ir::Regime& regime);

  /// Names the GPU that the run measured on; nothing for an answer that is not ok.
  void name_gpu(const gpu::Response& opened);
  /// The run is over.
  void close(std::string_view outcome);

 private:
  std::optional<store::Store> own_;
  store::Store* store_ = nullptr;
  store::RunRow run_;
};

}  // namespace tailor::study
