// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Measurements in and out of databases as a person asks for them: which device is meant, what is written, what is
// refused. The functions behind `tailor db` are called as main() calls them, on databases made here and on the made-up
// campaign of tests/store. Part of the suite `cli`.
#include "cli/db.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/text.h"
#include "store/campaign.h"
#include "store/recorded.h"
#include "store/sample.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::cli;

namespace {

struct Asked {
  Fault fault = Fault::failed;
  std::string message, notes;
};

/// What a command said, or the Error that ended it.
template <class Work>
Asked asked(Work&& work) {
  Asked result;
  Console console([&](std::string_view words) { result.notes += words; }, {Verbosity::normal, false, false, 100},
                  [] { return Seconds{0}; });
  try {
    work(console);
  } catch (const Error& error) {
    result.fault = error.fault;
    result.message = error.message;
  }
  return result;
}

bool holds(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != text.npos;
}

DbOptions in(const std::filesystem::path& database) {
  DbOptions options;
  options.database = database;
  return options;
}

void make(const std::filesystem::path& path, bool two_devices) {
  store::Store store = store::Store::open(path);
  store::save_campaign(store, read_file(std::filesystem::path(source_folder()) / "data" / "devices" / "h200.json"));
  if (two_devices) store::save_other_device(store);
}

}  // namespace

TEST_CASE("a recorded file goes from database to database, and importing it twice is importing it once") {
  const store::Folder folder;
  make(folder / "a.db", false);
  const Asked out = asked([&](Console& console) {
    run_db_export(in(folder / "a.db"), {folder / "a.jsonl.gz", "", "", "", ""}, console);
  });
  CHECK(out.message.empty());
  CHECK(holds(out.notes, "22 measurements of 18 kernels and 2 times of models on 1 device"));
  for (int i = 0; i < 2; ++i)
    CHECK(asked([&](Console& console) {
            run_db_import(in(folder / "b.db"), folder / "a.jsonl.gz", console);
          }).message.empty());
  CHECK(recorded_rows(store::Store::open(folder / "a.db")) == recorded_rows(store::Store::open(folder / "b.db")));
}

TEST_CASE("what is not clear or not there is refused before anything is written") {
  const store::Folder folder;
  make(folder / "two.db", true);
  {
    store::Store none = store::Store::open(folder / "none.db");
    store::save_model(none, 2);
  }
  const auto refused = [&](const char* database, const DbExport& what) {
    Asked result = asked([&](Console& console) { run_db_export(in(folder / database), what, console); });
    CHECK_FALSE(result.message.empty());
    CHECK_FALSE(std::filesystem::exists(folder / "out"));
    return result;
  };
  Asked result = refused("two.db", {"", "csv", folder / "out", "", ""});
  CHECK(result.fault == Fault::usage);
  CHECK(holds(result.message, "measurements of 2 devices: h200, l4"));
  CHECK(holds(refused("two.db", {"", "csv", folder / "out", "v100", ""}).message, "only of h200, l4"));
  CHECK(holds(refused("two.db", {"", "json", folder / "out", "l4", ""}).message, "expected kernel-tuner, t4"));
  CHECK(holds(refused("two.db", {"", "csv", folder / "out", "h200", "zz"}).message, "no measured group"));
  CHECK(holds(refused("two.db", {folder / "two.db", "", "", "", ""}).message, "found as input and as output"));
  result = refused("none.db", {folder / "out", "", "", "", ""});
  CHECK(result.fault == Fault::missing);
  CHECK(holds(result.message, "nothing was measured"));
  write_file(folder / "bad.jsonl", "{\"tailor\":\"recorded/7\"}\n");
  CHECK(holds(
      asked([&](Console& console) { run_db_import(in(folder / "new.db"), folder / "bad.jsonl", console); }).message,
      "found recorded/7, expected recorded/1"));
  CHECK_FALSE(std::filesystem::exists(folder / "new.db"));
}

TEST_CASE("files of other tools are written for the device that is named, into folders that are made") {
  const store::Folder folder;
  make(folder / "two.db", true);
  for (const char* format : {"kernel-tuner", "t4", "nvbench", "csv"})
    CHECK(asked([&](Console& console) {
            run_db_export(in(folder / "two.db"), {"", format, folder / "out", "h200", ""}, console);
          }).message.empty());
  CHECK(std::filesystem::exists(folder / "out/h200.json"));
  CHECK(std::filesystem::exists(folder / "out/h200-samples.csv"));
  const std::string group = "add_rsqrt-" + short_hex(store::a_group(1).id);
  CHECK(std::filesystem::exists(folder / ("out/" + group + "/h200.json")));
  CHECK(std::filesystem::exists(folder / ("out/" + group + "/h200-results.json")));
}

TEST_CASE("a report puts measurements of several devices together only when one is named") {
  const store::Folder folder;
  make(folder / "two.db", true);
  ReportOptions options;
  options.database = folder / "two.db";
  options.out = [](std::string_view) {};
  Asked result = asked([&](Console& console) { run_report(options, console); });
  CHECK(result.fault == Fault::usage);
  CHECK(holds(result.message, "measurements of 2 devices: h200, l4; expected one, named with --device"));
}
