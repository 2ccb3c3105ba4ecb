// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How far our XLA is XLA: the kernels of xla-priority beside those that XLA's compiler made of the same module, and
// launches and prices of xla-model beside its own. In: a dump with the record of XLA's fusion, or a folder of digests
// (NAME.json, NAME.optimized.hlo[.gz], NAME.prefusion.hlo[.gz]); XLA's descriptions of devices. Out: the score of each
// module, and tables. Called by `tailor import-xla --agreement` and by tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "ir/device.h"
#include "profiler/xla/xla_dump.h"
#include "report/table.h"
#include "report/xla_score.h"

namespace tailor::study {

/// So many of so many, by number and by the bytes of the kernels.
struct Share {
  std::int64_t same = 0, all = 0;
  double same_bytes = 0, all_bytes = 0;
  void add(bool agrees, double bytes);
  Share& operator+=(const Share& other);
};

/// What was asked about a kernel, and why the answers differ.
struct Disagreement {
  std::string about;   ///< "kernel", "launch", "price"
  std::string reason;  ///< of a table of reasons: "a kernel of ours holds more"
  auto operator<=>(const Disagreement&) const = default;
};

/// Of a reason that stands for many kernels so many are named.
inline constexpr std::size_t shown_kernels = 4;

struct Agreement {
  std::string module;                          ///< the digest's name
  std::string device = {};                     ///< ours; of a target without description XLA's name
  std::string release = {};                    ///< of XLA: "jaxlib 0.10.2"
  std::string note = {};                       ///< empty, or what was not scored and why
  bool unread = false;                         ///< its files are not sound; the note says where and why
  bool misfit = false;                         ///< its record of fusion is not that of its modules: no kernel is scored
  Share kernels = {};                          ///< loop and input kernels with exactly the same members
  Share launches = {};                         ///< the same grid and block
  Share prices = {};                           ///< within 2 % of XLA's time
  std::map<Disagreement, Share> reasons = {};  ///< `all` of each is the kernels it stands for
  std::map<Disagreement, std::vector<std::string>> named = {};  ///< the first of those kernels, at most shown_kernels
};

/// The relative difference of two prices that counts as none.
inline constexpr double same_price = 0.02;

/// Scores one digest. Throws Error(failed) for a file that cannot be read; what a digest lacks is said in its `note`.
Agreement agreement_of(const std::filesystem::path& digest, const std::filesystem::path& targets,
                       const std::stop_token& stop = {});

/// All digests of a folder, or the one that is named by its JSON, or without digests the modules of a dump; `module`
/// and `device` choose among them when they are not empty: those with the module as a word between dots, or, where
/// there is none, as any part of the name. One of several that cannot be read is `unread`. Throws Error(failed) when
/// there is none or the only one cannot be read, Error(usage) when none is chosen.
std::vector<Agreement> agreements(const std::filesystem::path& folder, const std::string& module,
                                  const std::string& device, const std::filesystem::path& targets,
                                  const std::stop_token& stop = {});

/// Says that a dump was made for another GPU than the one it is looked at with, by its manifest or its PTX; empty where
/// it was not, or where neither tells.
std::string other_gpu_words(const profiler::XlaSource& dump, const ir::Device& device);

/// What keeps the answer from being one, for Error(failed): modules that were not read, records that do not fit their
/// modules, or nothing that was scored; empty when there is none.
std::string what_failed(const std::vector<Agreement>& all);

/// The sums of each device as data/agreement.json holds them. Modules of which nothing was scored are left out.
report::XlaScores published(const std::vector<Agreement>& all, const std::string& command);

/// One row per module and device and their sum; and one row per reason.
report::Table agreement_table(const std::vector<Agreement>& all);
report::Table disagreement_table(const std::vector<Agreement>& all);

}  // namespace tailor::study
