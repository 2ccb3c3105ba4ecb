// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Published agreement with XLA: its file, its table, and the sentence about it. In: text, or a summary's strategies.
// Out: scores; rows; words. Called by `tailor fuse`, by reports and by `tailor import-xla --agreement --save`, which
// writes the file.
#include "report/xla_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/counted.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "report/overview.h"

namespace tailor::report {

namespace {

constexpr std::string_view schema = "tailor.agreement/1";

struct CountRow {
  std::string_view key;
  std::int64_t XlaScore::*member;
};
constexpr CountRow count_rows[] = {
    {"modules", &XlaScore::modules},           {"same_kernels", &XlaScore::same_kernels},
    {"xla_kernels", &XlaScore::xla_kernels},   {"same_launches", &XlaScore::same_launches},
    {"xla_launches", &XlaScore::xla_launches}, {"same_prices", &XlaScore::same_prices},
    {"xla_prices", &XlaScore::xla_prices},
};
struct WordRow {
  std::string_view key;
  std::string XlaScore::*member;
};
constexpr WordRow word_rows[] = {
    {"strategy", &XlaScore::strategy}, {"device", &XlaScore::device}, {"release", &XlaScore::release}};
constexpr std::string_view bytes_key = "same_kernel_bytes_fraction";

struct Reader {
  std::string_view text;
  const std::string& file;

  [[noreturn]] void fail(const Json& at, const std::string& message) const {
    throw Error(Fault::failed, position_at(text, at.offset, file), message,
                "tailor import-xla DIR --agreement --save FILE writes such a file");
  }
  std::string word(const Json& object, std::string_view key) const {
    const Json* const found = object.find(key);
    if (found == nullptr || found->string() == nullptr || found->string()->empty())
      fail(found == nullptr ? object : *found, fmt::format("expected a word as '{}'", key));
    return *found->string();
  }
  double number(const Json& object, std::string_view key, bool whole) const {
    const Json* const found = object.find(key);
    const std::optional<double> value = found == nullptr ? std::nullopt : found->number();
    if (!value || !(*value >= 0) || (whole && *value != std::floor(*value)) || (!whole && *value > 1))
      fail(found == nullptr ? object : *found,
           fmt::format("expected {} as '{}'", whole ? "a whole number" : "a share from 0 to 1", key));
    return *value;
  }
};

Cell share(std::int64_t same, std::int64_t all) {
  return all > 0 ? Cell(static_cast<double>(same) / static_cast<double>(all)) : Cell();
}

}  // namespace

XlaScores parse_xla_scores(std::string_view text, const std::string& file) {
  const Json json = parse_json(text, file);
  const Reader reader{text, file};
  if (const std::string found = reader.word(json, "schema"); found != schema)
    reader.fail(json, fmt::format("found a file of '{}', expected '{}'", found, schema));
  XlaScores all{reader.word(json, "how"), reader.word(json, "command"), {}};
  const Json* const scores = json.find("scores");
  if (scores == nullptr || scores->array() == nullptr) reader.fail(json, "expected a list as 'scores'");
  for (const Json& one : *scores->array()) {
    XlaScore& score = all.scores.emplace_back();
    for (const WordRow& row : word_rows) score.*row.member = reader.word(one, row.key);
    for (const CountRow& row : count_rows)
      score.*row.member = static_cast<std::int64_t>(reader.number(one, row.key, true));
    score.same_kernel_bytes_fraction = reader.number(one, bytes_key, false);
    if (score.same_kernels > score.xla_kernels || score.same_launches > score.xla_launches ||
        score.same_prices > score.xla_prices)
      reader.fail(one, "found more that is the same than there is");
  }
  return all;
}

XlaScores read_xla_scores(const std::filesystem::path& file) {
  std::error_code absent;
  if (!std::filesystem::is_regular_file(file, absent)) return {};
  return parse_xla_scores(read_file(file.string()), file.string());
}

std::string text(const XlaScores& scores) {
  Json root;
  root["schema"] = schema;
  root["how"] = scores.how;
  root["command"] = scores.command;
  Json& list = root["scores"] = Json::Array();
  for (const XlaScore& score : scores.scores) {
    Json one;
    for (const WordRow& row : word_rows) one[row.key] = score.*row.member;
    for (const CountRow& row : count_rows) one[row.key] = score.*row.member;
    one[bytes_key] = score.same_kernel_bytes_fraction;
    list.push_back(std::move(one));
  }
  return json_text(root, 2) + "\n";
}

bool imitates_xla(std::string_view strategy) { return strategy.starts_with("xla-"); }

namespace {

/// Behind the words `before`, that scores on modules dumped before XLA's fusion say nothing about a text with reshapes;
/// empty where it has none.
std::string not_held(std::string_view before, std::int64_t reshapes) {
  if (reshapes == 0) return {};
  return fmt::format("{}; does not hold here: {} that this text is from before XLA's other passes", before,
                     counted(reshapes, "reshape", "shows", "show"));
}

}  // namespace

std::string agreement_words(const XlaScores& scores, std::string_view strategy, std::string_view device,
                            std::int64_t reshapes) {
  for (const XlaScore& one : scores.scores)
    if (one.strategy == strategy && one.device == device && one.xla_kernels > 0)
      return fmt::format(
          " {} makes {} % of the real XLA's kernels ({}, {}{}).", strategy,
          three_figures(100 * static_cast<double>(one.same_kernels) / static_cast<double>(one.xla_kernels)),
          one.release, counted(one.modules, "module"), not_held("", reshapes));
  return fmt::format(" {} is not scored against the real XLA.", strategy);
}

Table agreement_table(const Summary& summary) {
  std::vector<std::string> names;
  for (const StrategyTotals& strategy : summary.strategies) names.push_back(strategy.name);
  Table table = xla_score_table(summary.xla_scores, names, {&summary.manifest.device, 1}, summary.reshapes);
  table.title.clear();  // the section's heading
  return table;
}

Table xla_score_table(const XlaScores& scores, std::span<const std::string> strategies,
                      std::span<const std::string> devices, std::int64_t reshapes) {
  Table table;
  std::vector<std::string_view> seen;
  for (const std::string& strategy : strategies) {
    if (!imitates_xla(strategy) || std::find(seen.begin(), seen.end(), strategy) != seen.end()) continue;
    seen.push_back(strategy);
    const auto is_of = [&](const XlaScore& one) { return one.strategy == strategy; };
    if (std::none_of(scores.scores.begin(), scores.scores.end(), is_of)) {
      table.rows.push_back(
          {strategy, Cell(), Cell(), Cell(), Cell(), Cell(), Cell(), Cell(), std::string("not scored")});
      continue;
    }
    for (const std::string& device : devices) {
      const auto found = std::find_if(scores.scores.begin(), scores.scores.end(),
                                      [&](const XlaScore& one) { return is_of(one) && one.device == device; });
      if (found == scores.scores.end()) {
        table.rows.push_back({strategy, device, Cell(), Cell(), Cell(), Cell(), Cell(), Cell(),
                              std::string("not scored on this device")});
        continue;
      }
      table.rows.push_back({strategy, device, found->same_kernels, found->xla_kernels,
                            share(found->same_kernels, found->xla_kernels), found->same_kernel_bytes_fraction,
                            share(found->same_launches, found->xla_launches),
                            share(found->same_prices, found->xla_prices),
                            fmt::format("XLA of {}, {}{}", found->release, counted(found->modules, "module"),
                                        not_held(", dumped before XLA's fusion", reshapes))});
    }
  }
  if (table.rows.empty()) return table;
  table.title = "agreement with the real XLA, of which imported or an XLA dump has the kernels themselves";
  table.columns = {{"strategy", "strategy", Hint::text, 0},
                   {"device", "device", Hint::text, 0},
                   {"same_kernels", "same kernels", Hint::count, 4},
                   {"xla_kernels", "of", Hint::count, 4},
                   {"same_kernels", "same kernels", Hint::fraction, 0},
                   {"same_kernel_bytes", "by bytes", Hint::fraction, 1},
                   {"same_launches", "launches", Hint::fraction, 2},
                   {"same_prices", "prices", Hint::fraction, 3},
                   {"note", "note", Hint::text, 0, Align::by_hint, true}};
  return table;
}

}  // namespace tailor::report
