// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Observations from files to fits and scores: which of them a fit may rest on, which a score may be of, and that no
// observation is on both sides. In: files of observations of copies, written here. Out: counts, the ids that a
// calibration says it rests on, and faults. Part of the suite `study`.
#include "study/evidence/evidence.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "study/evidence/calibrating.h"
#include "study/evidence/validation.h"
#include "study/folder.h"
#include "support/listener.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::study;

namespace {

const std::filesystem::path data = source / "data";

ir::Observation copy_of(double bytes, const std::string& device = "h200", double seconds = 0) {
  ir::ForeignKernel kernel{"copy", humane_bytes(bytes), 0, 256, 0, 0, bytes, bytes};
  kernel.blocks = static_cast<std::int64_t>(std::ceil(bytes / 4096));
  kernel.far_trips = 1;
  const double time = seconds > 0 ? seconds : 3e-6 + 2 * bytes / 4e12;
  return ir::make_observation(device, ir::make_regime({ir::CacheState::cold, ir::TimedBy::events}), {time},
                              {0.98 * time}, {1.02 * time}, "by hand " + humane_bytes(bytes), kernel);
}

std::vector<ir::Observation> copies(int count) {
  std::vector<ir::Observation> all;
  for (int i = 0; i < count; ++i) all.push_back(copy_of(1e5 * std::pow(1.1, i)));
  return all;
}

std::string written(const Folder& folder, const std::vector<ir::Observation>& all,
                    const std::string& name = "a.jsonl") {
  std::string lines;
  for (const ir::Observation& one : all) lines += ir::text(one) + "\n";
  write_file((folder.path / name).string(), lines);
  return (folder.path / name).string();
}

std::set<Id> ids_of(const std::vector<ir::Observation>& all, ir::Split split) {
  std::set<Id> ids;
  for (const ir::Observation& one : all)
    if (one.split == split) ids.insert(one.id);
  return ids;
}

std::set<Id> fitted_to(const ir::Calibration& calibration) {
  std::set<Id> ids;
  for (const ir::Fit& fit : calibration.fits) ids.insert(fit.observations.begin(), fit.observations.end());
  return ids;
}

bool includes(const std::set<Id>& all, const std::set<Id>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace

TEST_CASE("a quick fit rests on as many observations as it was given, drawn from side train by its seed" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const Folder folder;
  const std::vector<ir::Observation> all = copies(60);
  const std::set<Id> train = ids_of(all, ir::Split::train);
  REQUIRE(train.size() > 20);
  REQUIRE(train.size() < 56);
  Listener listener;
  CalibrationQuestion question{{written(folder, all)}, "h200", "uncalibrated", false, false, 16, 1};
  std::set<std::set<Id>> drawn;
  for (question.seed = 1; question.seed <= 2; ++question.seed) {
    const std::set<Id> rests = fitted_to(calibrate_device(question, data, {listener}).fitted.calibration);
    CHECK(rests.size() == 16);
    CHECK(includes(train, rests));
    CHECK(fitted_to(calibrate_device(question, data, {listener}).fitted.calibration) == rests);
    drawn.insert(rests);
  }
  CHECK(drawn.size() == 2);
  // Of half of them, which the seed draws, those that say most: none of the draws above, and the same each time.
  question.informative = true;
  question.seed = 1;
  const std::set<Id> picked = fitted_to(calibrate_device(question, data, {listener}).fitted.calibration);
  CHECK(picked.size() == 16);
  CHECK(includes(train, picked));
  CHECK(!drawn.contains(picked));
  CHECK(fitted_to(calibrate_device(question, data, {listener}).fitted.calibration) == picked);
  question.shots = static_cast<std::int64_t>(train.size());
  CHECK(fitted_to(calibrate_device(question, data, {listener}).fitted.calibration) == train);
  question.informative = false;
  question.shots = 0;
  const std::set<Id> whole = fitted_to(calibrate_device(question, data, {listener}).fitted.calibration);
  CHECK(includes(train, whole));
  CHECK(whole.size() > 16);
  question.shots = 1000;
  CHECK(fitted_to(calibrate_device(question, data, {listener}).fitted.calibration) == whole);
}

TEST_CASE("what a calibration was fitted to is scored nowhere, whichever side is asked for") {
  const Folder folder;
  const std::vector<ir::Observation> all = copies(60);
  Listener listener;
  CalibrationQuestion fit{{written(folder, all)}, "h200", "uncalibrated", false, false, 15, 3};
  ir::Calibration calibration = calibrate_device(fit, data, {listener}).fitted.calibration;
  const std::string file = (folder.path / "own.json").string();
  write_file(file, ir::text(calibration));
  const auto scored = [&](const std::string& split, const std::vector<std::string>& calibrations) {
    ValidationQuestion question;
    question.sources = fit.sources;
    question.calibrations = calibrations;
    question.split = split;
    question.by = {};
    const ValidationAnswer answer = validate(question, data, {listener});
    for (const auto& row : answer.tables.at(0).second.rows) CHECK(std::get<std::int64_t>(row[1]) == answer.scored);
    return std::pair(answer.scored, answer.fitted);
  };
  const auto count = [&](ir::Split split) { return static_cast<std::int64_t>(ids_of(all, split).size()); };
  using Both = std::pair<std::int64_t, std::int64_t>;
  const std::int64_t train = count(ir::Split::train), middle = count(ir::Split::validate),
                     last = count(ir::Split::test);
  REQUIRE(middle > 0);
  REQUIRE(last > 0);
  CHECK(scored("train", {"uncalibrated"}) == Both{train, 0});
  CHECK(scored("validate", {"uncalibrated"}) == Both{middle, 0});
  CHECK(scored("test", {"uncalibrated"}) == Both{last, 0});
  CHECK(scored("held-out", {"uncalibrated"}) == Both{middle + last, 0});
  CHECK(scored("train", {"uncalibrated", file}) == Both{train - 15, 15});
  CHECK(scored("held-out", {file}) == Both{middle + last, 15});
  // A calibration that rests on one of the others: that one is left out too.
  const Id other = *ids_of(all, ir::Split::test).begin();
  REQUIRE_FALSE(calibration.fits.empty());
  calibration.fits[0].observations.push_back(other);
  write_file(file, ir::text(calibration));
  CHECK(scored("held-out", {"uncalibrated", file}) == Both{middle + last - 1, 16});
}

TEST_CASE("a calibration of a GPU that has no observation to score is refused and not left out") {
  const Folder folder;
  Listener listener;
  ValidationQuestion question;
  question.sources = {written(folder, copies(30))};
  question.by = {};
  question.calibrations = {"uncalibrated", "t4"};
  try {
    (void)validate(question, data, {listener});
    FAIL("nothing was refused");
  } catch (const Error& error) {
    CHECK(error.message == "calibration 't4' is of 't4', of which there is no observation to score");
  }
  question.calibrations = {"uncalibrated", "own"};  // of GPUs without one nothing is said
  CHECK(validate(question, data, {listener}).scored > 0);
}

TEST_CASE("observations are read once, and two times of one kernel from one source are a fault") {
  const Folder folder;
  Listener listener;
  const std::vector<ir::Observation> all = copies(9);
  const std::vector<ir::Observation> some(all.begin() + 4, all.end());
  const Evidence evidence = read_evidence({written(folder, all), written(folder, some, "b.jsonl")}, data, {listener});
  CHECK(evidence.observations.size() == 9);
  CHECK(evidence.repeats == 5);
  CHECK(std::is_sorted(evidence.observations.begin(), evidence.observations.end(),
                       [](const auto& a, const auto& b) { return a.id < b.id; }));
  const std::string other = written(folder, {copy_of(1e5, "h200", 1.0)}, "c.jsonl");
  CHECK_THROWS_AS(read_evidence({written(folder, all), other}, data, {listener}), Error);
  const std::string elsewhere = written(folder, {copy_of(1e5, "l4", 1.0)}, "d.jsonl");  // of another GPU it may
  CHECK(read_evidence({written(folder, all), elsewhere}, data, {listener}).observations.size() == 10);
  CHECK_THROWS_AS(read_evidence({(folder.path / "none").string()}, data, {listener}), Error);
}

TEST_CASE("rows that say what another row says count once and are said, whatever their order and their files") {
  const Folder folder;
  Listener listener;
  const auto table = [&](const std::string& name, const std::vector<std::string>& rows) {
    std::string text = "device,operation,shape,blocks,threads,read_bytes,time_us\n";
    for (const std::string& row : rows) text += row + "\n";
    write_file((folder.path / name).string(), text);
    return (folder.path / name).string();
  };
  const std::string one = "h200,scale f32,a,8,128,4096,3", other = "h200,scale f32,b,8,128,4096,3",
                    again = "h200,scale f32,a,8,128,4096,3.1", foreign = "l4,scale f32,a,8,128,4096,3";
  const auto read = [&](const std::vector<std::string>& sources, const std::string& device = "") {
    const Samples found = samples_of(read_evidence(sources, data, {listener}), known_devices(data), device, {listener});
    return std::pair(std::ssize(found.samples), found.copies);
  };
  using Found = std::pair<std::ptrdiff_t, std::int64_t>;
  CHECK(read({table("a.csv", {one, other, again, foreign})}) == Found{4, 0});
  CHECK(read({table("b.csv", {one, other, one, foreign, one})}) == Found{3, 2});
  CHECK(read({table("c.csv", {one, other, foreign, foreign})}, "h200") == Found{2, 0});
  CHECK(read({table("d.csv", {one, other}), table("e.csv", {other, again})}) == Found{3, 1});
  const Samples said =
      samples_of(read_evidence({table("f.csv", {one, one})}, data, {listener}), known_devices(data), "", {listener});
  CHECK(left_out(said).at(0) == "1 row says what another row says, to the last digit: copies count once");
}

TEST_CASE("rows that contradict each other, and blocks that no GPU launches, are refused by whoever asks for samples") {
  const Folder folder;
  Listener listener;
  const auto refusal = [&](const std::string& rows) {
    const std::string file = (folder.path / "rows.csv").string();
    write_file(file, "device,operation,blocks,threads,read_bytes,time_us\n" + rows);
    try {
      (void)samples_of(read_evidence({file}, data, {listener}), known_devices(data), "", {listener});
    } catch (const Error& error) {
      return error_text(error);
    }
    return std::string();
  };
  CHECK(refusal("h200,scale f32,8,128,4096,3\nh200,scale f32,8,128,4096,31\n").find("contradict each other") !=
        std::string::npos);
  CHECK(refusal("h200,scale f32,8,128,4096,3\nh200,scale f32,8,128,4096,29\n").empty());
  // Without shapes kernels are told apart by launch and traffic.
  CHECK(refusal("h200,scale f32,8,128,4096,3\nh200,scale f32,8000,128,4096000,300\n").empty());
  CHECK(refusal("h200,scale f32,8,128,4096,3\nl4,scale f32,8,128,4096,300\n").empty());
  CHECK(refusal("h200,scale f32,8,1056,4096,3\n").find("rows.csv line 2 says 1056 threads for each block") !=
        std::string::npos);
}

TEST_CASE("what no model can be asked about is counted by why, and only the GPU that is asked for is looked at") {
  const Folder folder;
  Listener listener;
  std::vector<ir::Observation> all = copies(3);
  all.push_back(copy_of(1e6, "l4"));
  all.push_back(copy_of(1e6, "no such GPU"));
  all.push_back(copy_of(2e6, "no such GPU"));
  const auto spoiled = [&](auto&& change) {
    ir::Observation one = copy_of(1e7);
    ir::ForeignKernel kernel = std::get<ir::ForeignKernel>(one.subject);
    change(kernel);
    kernel.shape = fmt::format("spoiled {}", all.size());
    all.push_back(ir::make_observation("h200", one.regime, one.time, one.low, one.high, kernel.shape, kernel));
  };
  spoiled([](ir::ForeignKernel& kernel) { kernel.blocks = 0; });
  spoiled([](ir::ForeignKernel& kernel) { kernel.threads = 0; });
  spoiled([](ir::ForeignKernel& kernel) { kernel.read = kernel.written = 0; });
  spoiled([](ir::ForeignKernel& kernel) { kernel.read = 0; });  // what only writes is described
  all.push_back(ir::make_observation("h200", all[0].regime, {1}, {1}, {1}, "own",
                                     ir::OwnKernel{id_of(std::string_view("g")), id_of(std::string_view("p")), 0}));
  const Evidence evidence = read_evidence({written(folder, all)}, data, {listener});
  const Samples every = samples_of(evidence, known_devices(data), "", {listener});
  CHECK(every.samples.size() == 5);
  CHECK(every.without_device == 2);
  CHECK(every.unknown_devices == std::vector<std::string>{"no such GPU"});
  CHECK(every.undescribed == 3);
  CHECK(every.without_kernel == 1);
  const Samples one = samples_of(evidence, known_devices(data), "h200", {listener});
  CHECK(one.samples.size() == 4);
  CHECK(one.without_device == 0);
  // A plan in the words of an older version is no kernel of today, and is no fault either.
  Evidence older = evidence;
  const Id group = id_of(std::string_view("g")), plan = id_of(std::string_view("p"));
  older.groups[group].text = "graph g {\n  %x = parameter 0 : f32[4]\n  output %x\n}\n";
  older.plans[plan].text = "row dominant=%2 threads=128 residence=registers";
  const Samples rest = samples_of(older, known_devices(data), "", {listener});
  CHECK(rest.of_older_plans == 1);
  CHECK(rest.without_kernel == 0);
  CHECK(rest.samples.size() == 5);
  const std::vector<std::string> said = left_out(rest);
  CHECK(std::count_if(said.begin(), said.end(), [](const std::string& line) {
          return line.starts_with("1 observation is of plans of an older version");
        }) == 1);
}
