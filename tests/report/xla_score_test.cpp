// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Published agreement with XLA. In: scores made here, their text whole and spoiled, the file that ships. Out: the file
// reads back, what is wrong in one is named with its place, and the table has a row for whoever imitates XLA. Part of
// the suite `report`.
#include "report/xla_score.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::report;

namespace {

XlaScores two_scores() {
  return {"by hand",
          "tailor import-xla DIR --agreement",
          {{"xla-priority", "h200", "jaxlib 0.10.2", 2, 9, 10, 0.5, 8, 8, 3, 4}}};
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  return text.replace(text.find(what), what.size(), with);
}

}  // namespace

TEST_CASE("scores that are written read back") {
  CHECK(parse_xla_scores(text(two_scores()), "a.json") == two_scores());
  CHECK(parse_xla_scores(text(XlaScores{"h", "c", {}}), "a.json") == XlaScores{"h", "c", {}});
  CHECK(read_xla_scores("there/is/none.json") == XlaScores{});
}

TEST_CASE("a file of another form is named with the place and what was expected") {
  const std::string good = text(two_scores());
  const auto message = [](const std::string& spoiled) {
    try {
      (void)parse_xla_scores(spoiled, "a.json");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message(replaced(good, "tailor.agreement/1", "tailor.plans/1")).find("'tailor.plans/1'") != std::string::npos);
  CHECK(message(replaced(good, "\"h200\"", "7")).find("expected a word as 'device'") != std::string::npos);
  CHECK(message(replaced(good, "\"modules\": 2", "\"modules\": 2.5")).find("a whole number as 'modules'") !=
        std::string::npos);
  CHECK(message(replaced(good, "\"modules\": 2", "\"modules\": -2")).find("a whole number as 'modules'") !=
        std::string::npos);
  CHECK(message(replaced(good, ": 0.5", ": 1.5")).find("a share from 0 to 1") != std::string::npos);
  CHECK(message(replaced(good, "\"same_kernels\": 9", "\"same_kernels\": 11")).find("more that is the same") !=
        std::string::npos);
  CHECK(message("[]").find("expected a word as 'schema'") != std::string::npos);
  CHECK_FALSE(message("{").empty());
}

TEST_CASE("who imitates XLA has a row for each device, scored or not, and nobody else has one") {
  const std::vector<std::string> strategies{"unfused",      "xla-2020",     "tailor",
                                            "xla-priority", "xla-priority", "xla (its kernels)"};
  const std::vector<std::string> devices{"h200", "t4"};
  const Table table = xla_score_table(two_scores(), strategies, devices, 0);
  REQUIRE(table.rows.size() == 3);
  CHECK(std::get<std::string>(table.rows[0][0]) == "xla-2020");
  CHECK(std::get<std::string>(table.rows[0].back()) == "not scored");
  CHECK(std::get<double>(table.rows[1][4]) == 0.9);
  CHECK(std::get<std::string>(table.rows[1].back()) == "XLA of jaxlib 0.10.2, 2 modules");
  CHECK(std::get<std::string>(table.rows[2][1]) == "t4");
  CHECK(std::get<std::string>(table.rows[2].back()) == "not scored on this device");
  for (const auto& row : table.rows) CHECK(row.size() == table.columns.size());
  CHECK(xla_score_table(two_scores(), std::vector<std::string>{"unfused", "tailor"}, devices, 0).columns.empty());
}

TEST_CASE("the scores that ship are of devices that ship") {
  const std::filesystem::path data = std::filesystem::path(source_folder()) / "data";
  const XlaScores scores = read_xla_scores(data / "agreement.json");
  REQUIRE_FALSE(scores.scores.empty());
  for (const XlaScore& one : scores.scores) {
    INFO(one.device);
    CHECK(std::filesystem::exists(data / "xla" / (one.device + ".json")));
    CHECK(one.modules > 0);
  }
}
