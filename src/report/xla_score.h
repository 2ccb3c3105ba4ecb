// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How well a strategy that imitates XLA agrees with the real one. In: data/agreement.json, which `tailor import-xla DIR
// --agreement --save FILE` writes. Out: the scores, and the table that stands beside every comparison with such a
// strategy. Called by `tailor fuse`, by reports and by the command that makes the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/table.h"

namespace tailor::report {

/// Of one strategy on one device, summed over modules.
struct XlaScore {
  std::string strategy, device;
  std::string release = {};  ///< whose XLA it was compared with: "jaxlib 0.10.2"
  std::int64_t modules = 0;
  std::int64_t same_kernels = 0, xla_kernels = 0;  ///< XLA's, and those that are exactly the same
  double same_kernel_bytes_fraction = 0;           ///< their share by bytes moved
  std::int64_t same_launches = 0, xla_launches = 0;
  std::int64_t same_prices = 0, xla_prices = 0;
  bool operator==(const XlaScore&) const = default;
};

struct XlaScores {
  std::string how;      ///< one paragraph
  std::string command;  ///< that made the file
  std::vector<XlaScore> scores;
  bool operator==(const XlaScores&) const = default;
};

/// Nothing when there is no such file. Throws Error(failed) with the place for text of another form.
XlaScores read_xla_scores(const std::filesystem::path& file);
XlaScores parse_xla_scores(std::string_view text, const std::string& file);
std::string text(const XlaScores& scores);

/// Strategies whose names begin with "xla-" decide as some XLA does or did.
bool imitates_xla(std::string_view strategy);

/// " xla-priority makes 99.8 % of the real XLA's kernels (jaxlib 0.10.2, 11 modules).", or that it is not scored. With
/// `reshapes` in the model's text, which XLA's other passes leave none of, that this does not hold of it.
std::string agreement_words(const XlaScores& scores, std::string_view strategy, std::string_view device,
                            std::int64_t reshapes);

/// A row for each of the strategies that imitates XLA, on each device for which there is a score; without one the row
/// says so. No columns when none of them imitates XLA. `reshapes` as above.
Table xla_score_table(const XlaScores& scores, std::span<const std::string> strategies,
                      std::span<const std::string> devices, std::int64_t reshapes);

}  // namespace tailor::report
