// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Calibration files: what is written is read back equal, ids follow the content and nothing else, the reader refuses
// what does not fit and says where, and no default rests on the measurements that models are judged by. Inputs are
// seeded random calibrations, the files of data/calibrations, and damaged copies of them. Part of the suite `ir`.
#include "ir/calibration.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

const std::string calibration_folder = source_folder() + "/data/calibrations";

Fit a_fit(std::string device, std::string figure, double value) {
  const FigureName* row = find_figure(figure);
  REQUIRE(row != nullptr);
  return {std::move(device), figure, value, std::string(row->unit), {}, "a \"source\" of\nits own", {}, {}};
}

Calibration a_fitted_one() {
  Calibration c;
  c.name = "h200_fit";
  c.title = "fitted";
  c.device = "h200";
  Fit fit = a_fit("", "dram_efficiency", 0.9123456789012345);
  fit.interval = {0.9, 0.93};
  fit.observations = {tailor::id_of(std::string_view("b")), tailor::id_of(std::string_view("a"))};
  std::sort(fit.observations.begin(), fit.observations.end());
  fit.ranges = {{"bytes", 1e6, 1e9}, {"threads per SM", 64, 2048}};
  c.fits = {a_fit("", "clock", 1.7e9), fit, a_fit("", "register_base", 0)};
  return c;
}

Error calibration_error_of(const std::string& text) {
  try {
    parse_calibration(text, "c.json");
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error");
  return {Fault::failed, ""};
}

std::string calibration_with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a calibration is read back as it was written, and its id is that of its content") {
  for (const Calibration& one : {a_fitted_one(), find_calibration("uncalibrated", calibration_folder)}) {
    const Calibration again = parse_calibration(text(one), one.name + ".json");
    CHECK(again == one);
    CHECK(id_of(again) == id_of(one));
    CHECK(text(again) == text(one));
  }
  Calibration other = a_fitted_one();
  other.name = "renamed";
  CHECK(id_of(other) == id_of(a_fitted_one()));
  other.fits[0].value += 1;
  CHECK(id_of(other) != id_of(a_fitted_one()));
}

TEST_CASE("random calibrations round-trip to the last bit") {
  std::mt19937_64 random(20261122);
  for (int round = 0; round < 200; ++round) {
    Calibration c;
    c.name = "r";
    c.title = "random";
    for (const std::string device : {"", "h200", "v100"})
      for (const FigureName& row : figure_names()) {
        if (row.kind == FigureKind::limit || random() % 2 == 0) continue;
        Fit fit = a_fit(device, std::string(row.key),
                        std::ldexp(1.0 + static_cast<double>(random() % 1000) / 7, int(random() % 80) - 40));
        if (random() % 2 == 0) fit.interval = {fit.value / 3, fit.value * 3};
        c.fits.push_back(std::move(fit));
      }
    CHECK(parse_calibration(text(c), "r.json") == c);
  }
}

TEST_CASE("a device's own figure comes before the common one") {
  Calibration c;
  c.fits = {a_fit("", "dram_knee", 2), a_fit("v100", "dram_knee", 2.2)};
  CHECK(find_fit(c, "v100", "dram_knee")->value == 2.2);
  CHECK(find_fit(c, "h200", "dram_knee")->value == 2);
  CHECK(find_fit(c, "h200", "dram_latency") == nullptr);
}

TEST_CASE("a figure of the operation comes before one of the device, and one of both before either") {
  Fit common = a_fit("", "dispatch_floor", 1), of_device = a_fit("v100", "dispatch_floor", 2);
  Fit of_operation = a_fit("", "dispatch_floor", 3), of_both = a_fit("v100", "dispatch_floor", 4);
  of_operation.operation = of_both.operation = "softmax f32";
  // In either order of the list: what is nearer wins, not what stands first or last.
  for (const bool turned : {false, true}) {
    Calibration c;
    c.fits = {common, of_device, of_operation};
    if (turned) std::reverse(c.fits.begin(), c.fits.end());
    const auto found = [&](std::string_view device, std::string_view operation) {
      return find_fit(c, device, "dispatch_floor", operation)->value;
    };
    CHECK(found("v100", "softmax f32") == 3);
    CHECK(found("v100", "ln f32") == 2);
    CHECK(found("h200", "softmax f32") == 3);
    CHECK(found("h200", "ln f32") == 1);
    c.fits.insert(turned ? c.fits.begin() : c.fits.end(), of_both);
    CHECK(found("v100", "softmax f32") == 4);
    CHECK(found("h200", "softmax f32") == 3);
  }
}

TEST_CASE("a bad calibration file gives one clear error with its place") {
  const std::string good = text(a_fitted_one());
  struct Row {
    std::string text, message, hint;
    std::int64_t line;
  };
  const Row rows[] = {
      {calibration_with(good, "register_base", "register_bse"), "unknown figure 'register_bse' in figures",
       "did you mean 'register_base'?", 8},
      {calibration_with(good, "\"register_base\": {\"value\": 0, \"unit\": \"register\"",
                        "\"sms\": {\"value\": 1, \"unit\": \"SM\""),
       "'sms' is a limit of the GPU: no calibration may override it", "", 8},
      {calibration_with(good, "\"unit\": \"Hz\"", "\"unit\": \"GHz\""), "found unit 'GHz' for 'clock', expected 'Hz'",
       "", 6},
      {calibration_with(good, "\"model_version\": 4", "\"model_version\": 7"),
       "fitted for version 7 of the models, this is version 4",
       "calibrate again: a coefficient means what its formulas made of it", 3},
      {calibration_with(good, "\"low\": 0.9,", "\"low\": 0.92,"),
       "the value 0.9123456789012345 of 'dram_efficiency' is outside its interval, 0.92 to 0.93", "", 7},
      {calibration_with(good, "\"low\": 0.9,", ""), "'low' is missing in dram_efficiency", "", 7},
      {calibration_with(good, "\"bytes\": [1000000, 1000000000]", "\"bytes\": [2, 1]"),
       "the range 'bytes' of 'dram_efficiency' is not [low, high]", "", 7},
      {calibration_with(good, "\"observations\": [\"", "\"observations\": [\"x"), "", "", 7},
      {calibration_with(good, "\"device\": \"h200\",", "\"device\": \"h200\", \"devices\": {\"v100\": {}},"),
       "found figures by device in a calibration of 'h200'",
       "a calibration is for one device ('device') or for any ('devices')", 4},
      {calibration_with(good, "\"value\": 1700000000", "\"value\": -3"),
       "found -3 for 'clock', expected a number from 0 up", "", 6},
      {calibration_with(good, "\"value\": 1700000000", "\"value\": 0"),
       "found 0 for 'clock', expected a number above 0", "", 6},
      {calibration_with(good, "\"title\"", "\"tilte\""), "unknown key 'tilte' in the file", "did you mean 'title'?", 2},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Error error = calibration_error_of(row.text);
    if (!row.message.empty()) CHECK(error.message == row.message);
    if (row.message.empty()) CHECK(error.message.find("expected ids of 32 hexadecimal digits") != error.message.npos);
    CHECK(error.hint == row.hint);
    CHECK(error.at.file == "c.json");
    CHECK(error.at.line == row.line);
    CHECK(error.fault == Fault::failed);
  }
}

TEST_CASE("what is not JSON is said so with its line") {
  const Error error = calibration_error_of(calibration_with(text(a_fitted_one()), "\"figures\": {", "\"figures\": {;"));
  CHECK(error.message.starts_with("not JSON"));
  CHECK(error.at.line == 5);
}

TEST_CASE("an error in a device's section is placed in that section") {
  Calibration c;
  c.title = "t";
  c.fits = {a_fit("", "dram_knee", 2), a_fit("v100", "dram_knee", 2.2)};
  const std::string bad = calibration_with(text(c), "2.2, \"unit\": \"1\"", "2.2, \"unit\": \"2\"");
  CHECK(calibration_error_of(bad).at.line == 9);
}

TEST_CASE("a calibration is found by stem or path and a wrong name is answered with the nearest") {
  CHECK(find_calibration(calibration_folder + "/uncalibrated.json", "nowhere").name == "uncalibrated");
  try {
    find_calibration("uncalibrate", calibration_folder);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.fault == Fault::missing);
    CHECK(error.hint == "did you mean 'uncalibrated'?");
  }
}

TEST_CASE("the defaults rest on no measurement that models are judged by") {
  const Calibration defaults = find_calibration("uncalibrated", calibration_folder);
  CHECK(defaults.device.empty());
  for (const Fit& fit : defaults.fits) {
    CAPTURE(fit.device);
    CAPTURE(fit.figure);
    CHECK(fit.observations.empty());
    CHECK_FALSE(fit.interval.has_value());
    CHECK(fit.source.find("NeuSight") == fit.source.npos);
    CHECK(fit.source.size() > 5);
  }
  // No public stream sweep is known of these: the data sheet's bandwidth stands as it is.
  for (const std::string_view name : {"t4", "p100", "l4", "a GPU nobody knows"})
    CHECK(find_fit(defaults, name, "dram_efficiency")->value == 1);
}

TEST_CASE("damaged calibration files never do worse than one error") {
  const std::string good = text(find_calibration("uncalibrated", calibration_folder));
  constexpr std::string_view dirt = "{}[]\",:0x\xff\n";
  std::mt19937_64 random(20261122);
  for (int round = 0; round < 1000; ++round) {
    std::string text = good;
    for (int change = 0; change < 1 + round % 3; ++change) text[random() % text.size()] = dirt[random() % dirt.size()];
    try {
      const Calibration read = parse_calibration(text, "c.json");
      CHECK_FALSE(read.title.empty());
    } catch (const Error& error) {
      CHECK(error.fault == Fault::failed);
      CHECK_FALSE(error.message.empty());
    }
  }
}

TEST_CASE("figures of single operations hold for their calls, and many observations are written once") {
  Calibration c = a_fitted_one();
  std::vector<Id> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(tailor::id_of(std::string_view("observation " + std::to_string(i))));
  std::sort(ids.begin(), ids.end());
  c.fits[1].observations = ids;
  Fit common = a_fit("", "dispatch_floor", 3e-5), own = a_fit("", "dispatch_floor", 4e-5);
  own.operation = "softmax f32";
  common.observations = ids;
  own.observations.assign(ids.begin(), ids.begin() + 4);
  c.fits.push_back(common);
  c.fits.push_back(own);
  CHECK(find_fit(c, "h200", "dispatch_floor", "softmax f32")->value == 4e-5);
  CHECK(find_fit(c, "h200", "dispatch_floor", "ln f32")->value == 3e-5);
  CHECK(find_fit(c, "h200", "dispatch_floor")->value == 3e-5);
  const std::string written = text(c);
  Calibration read = parse_calibration(written, "h200_fit.json");
  CHECK(read == c);
  CHECK(text(read) == written);
  for (const Id id : ids) {
    const std::size_t first = written.find(hex(id));
    CHECK(first != written.npos);
    CHECK(written.find(hex(id), first + 1) == written.npos);
  }
  CHECK(calibration_error_of(calibration_with(written, "[\"set 1\"", "[\"set 7\"")).message.find("expected ids") !=
        std::string::npos);
  CHECK(calibration_error_of(calibration_with(written, "\"softmax f32\": {\n      \"dispatch_floor\"",
                                              "\"softmax f32\": {\n      \"dram_knee\""))
            .message.find("which is no coefficient") != std::string::npos);
  CHECK(calibration_error_of(calibration_with(written, "  \"device\": \"h200\",\n", ""))
            .message.find("found figures by operation in a calibration of no device") != std::string::npos);
}
