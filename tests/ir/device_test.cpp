// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The device files tell one consistent story each (bandwidth is pins times rate, FLOP is lanes times clock), and the
// reader refuses everything that is not exactly such a file, saying where and what. Inputs are the files of
// data/devices, each with one thing changed or taken away. Part of the suite `ir`.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <span>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "ir/device.h"
#include "ir/device_template.h"
#include "support/approx.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

const std::string device_folder = source_folder() + "/data/devices";

std::string device_with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

Error device_error(std::string_view text) {
  try {
    parse_device(text, "x.json");
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error");
  return {Fault::failed, ""};
}

/// Files that ship, in a folder of their own: what names mean depends on which others there are, and more may come.
struct ChosenDevices {
  std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("tailor_devices_{}", ::getpid());
  ChosenDevices() {
    std::filesystem::create_directory(path);
    for (const char* name : {"a100_80gb", "h100_sxm", "h200", "p100", "rtx4090"})
      std::filesystem::copy(fmt::format("{}/{}.json", device_folder, name), path);
  }
  ~ChosenDevices() { std::filesystem::remove_all(path); }
};

}  // namespace

TEST_CASE("every device that is shipped can be read, with unit and source for each figure") {
  const auto names = device_names(device_folder);
  CHECK(names.size() >= 8);
  CHECK(std::is_sorted(names.begin(), names.end()));
  for (const std::string& name : names) {
    const Device device = find_device(name, device_folder);
    CHECK(device.name == name);
    CHECK_FALSE(device.title.empty());
    CHECK_FALSE(device.chip.empty());
    for (const FigureRow& row : figure_table) {
      CAPTURE(row.key);
      CHECK((device.*row.member).unit == row.unit);
      CHECK((device.*row.member).source.size() > 5);
    }
  }
}

TEST_CASE("bandwidth is pins times rate and peak FLOP is lanes times clock on every device") {
  for (const std::string& name : device_names(device_folder)) {
    CAPTURE(name);
    const Device d = find_device(name, device_folder);
    CHECK(d.dram_pin_rate.value * d.dram_width.value / 8 == approx(d.dram_bandwidth.value).epsilon(0.01));
    CHECK(d.sms.value * d.fma_rate.value * 2 * d.clock.value == approx(d.f32_peak.value).epsilon(0.02));
    // An SM does not issue to more lanes than it has.
    CHECK(d.fma_rate.value <= d.issue_rate.value * d.warp_size.value);
    CHECK(d.xu_rate.value < d.fma_rate.value);
  }
}

TEST_CASE("limits of every device are consistent") {
  for (const std::string& name : device_names(device_folder)) {
    CAPTURE(name);
    const Limits l = limits(find_device(name, device_folder));
    CHECK(l.warp_size == 32);
    CHECK(l.threads_per_sm % l.warp_size == 0);
    CHECK(l.registers_per_sm % (l.sub_partitions * l.register_unit) == 0);
    CHECK(l.register_unit % l.warp_size == 0);
    CHECK(l.registers_per_block <= l.registers_per_sm);
    CHECK(l.shared_per_block <= l.shared_per_block_optin);
    CHECK(l.shared_per_block_optin + l.shared_reserved_per_block <= l.shared_per_sm);
    CHECK(l.shared_per_sm % l.shared_unit == 0);
    CHECK(l.shared_reserved_per_block == (l.compute_capability >= 80 ? 1024 : 0));
  }
}

TEST_CASE("devices differ where they must") {
  std::set<std::string> titles;
  std::set<double> bandwidths;
  for (const std::string& name : device_names(device_folder)) {
    titles.insert(find_device(name, device_folder).title);
    bandwidths.insert(find_device(name, device_folder).dram_bandwidth.value);
  }
  CHECK(titles.size() == device_names(device_folder).size());
  CHECK(bandwidths.size() >= 8);
  const Device h200 = find_device("h200", device_folder), h100 = find_device("h100_sxm", device_folder);
  CHECK(limits(h200) == limits(h100));
  CHECK(h200.dram_bandwidth.value > 1.4 * h100.dram_bandwidth.value);
  CHECK(find_device("t4", device_folder).threads_per_sm.value == 1024);
  CHECK(find_device("p100", device_folder).sub_partitions.value == 2);
}

TEST_CASE("a device is found by stem or path, and a wrong name lists the known ones") {
  CHECK(find_device(device_folder + "/h200.json", "nowhere").name == "h200");
  const ChosenDevices folder;
  try {
    find_device("h210", folder.path.string());
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.fault == Fault::missing);
    CHECK(error.message.find("a100_80gb, h100_sxm, h200") != error.message.npos);
    CHECK(error.hint == "did you mean 'h200'?");
  }
  CHECK_THROWS_AS(find_device("h200", "nowhere"), Error);
}

TEST_CASE("case and dashes of a device's name do not count, and a beginning that only one has will do") {
  const ChosenDevices folder;
  for (const auto& [name, meant] : {std::pair{"A100", "a100_80gb"},
                                    {"H200", "h200"},
                                    {"H100-SXM", "h100_sxm"},
                                    {"RTX 4090", "rtx4090"},
                                    {"NVIDIA GeForce RTX 4090", "rtx4090"},
                                    {"NVIDIA H200", "h200"},
                                    {"rtx", "rtx4090"}})
    CHECK(find_device(name, folder.path.string()).name == meant);
  const auto hint_of = [&](const char* name) {
    try {
      find_device(name, folder.path.string());
    } catch (const Error& error) {
      return error.message + "; " + error.hint;
    }
    return std::string();
  };
  CHECK(hint_of("H").find("device 'H' may be h100_sxm or h200") != std::string::npos);
  // A number is a name: the H20 is no H200, and the A10 no A100.
  CHECK(hint_of("h20").find("no device 'h20'") != std::string::npos);
  CHECK(hint_of("A10").find("no device 'A10'") != std::string::npos);
  // Another series is no misspelling of this one, however few letters differ.
  CHECK(hint_of("B100").find("did you mean") == std::string::npos);
  CHECK(hint_of("A10G").find("did you mean 'p100'") == std::string::npos);
  // Nor is another number, however few of its digits differ.
  for (const char* other : {"H20", "h10", "l40", "H2000"})
    CHECK_MESSAGE(hint_of(other).find("did you mean") == std::string::npos, hint_of(other));
  CHECK(hint_of("h20o").ends_with("did you mean 'h200'?"));
  CHECK(hint_of("h100_smx").ends_with("did you mean 'h100_sxm'?"));
  CHECK_FALSE(hint_of("").empty());
}

TEST_CASE("a device need not name its chip, but an empty name or a number is refused") {
  const std::string good = read_file(device_folder + "/h200.json"), entry = "\"chip\": \"GH100\",";
  CHECK(parse_device(good, "x.json").chip == "GH100");
  CHECK(parse_device(device_with(good, entry, ""), "x.json").chip.empty());
  CHECK(device_error(device_with(good, entry, "\"chip\": \"\",")).message == "'chip' of the file is empty");
  CHECK(device_error(device_with(good, entry, "\"chip\": 100,")).message ==
        "found a number for 'chip' of the file, expected text");
}

TEST_CASE("a bad device file gives one clear error with its place") {
  const std::string good = read_file(device_folder + "/h200.json");
  struct Row {
    std::string text, message, hint;
    std::int64_t line;
  };
  const std::string sms = device_with(good, "\"sms\": {\"value\": 132", "\"sms\": {\"value\": \"132\"");
  const std::string json_hint = "JSON has double quotes, no comments and no comma after the last item";
  const Row rows[] = {
      {device_with(good, "\"sms\":", "\"smss\":"), "unknown key 'smss' in figures", "did you mean 'sms'?", 7},
      {device_with(good, "\"unit\": \"SM\"", "\"unit\": \"sm\""), "found unit 'sm' for 'sms', expected 'SM'", "", 7},
      {sms, "found a string for the value of 'sms', expected a number", "", 7},
      {device_with(good, "\"value\": 132", "\"value\": -1"), "found -1 for 'sms', expected a number from 0 up", "", 7},
      {device_with(good, "\"value\": 132, ", ""), "'value' is missing in sms", "", 7},
      {device_with(good, "\"unit\": \"SM\"", "\"unti\": \"SM\""), "unknown key 'unti' in figure 'sms'",
       "did you mean 'unit'?", 7},
      {device_with(good, "\"value\": 132,", "\"value\": 132;"),
       "not JSON: syntax error while parsing object - invalid literal; last read: '132;'; expected '}'", json_hint, 7},
      {device_with(good, "\"value\": 132", "\"value\": 132.5"), "found 132.5 for 'sms', expected a whole number", "",
       0},
      {device_with(good, "\"value\": 132", "\"value\": 0"), "found 0 for 'sms', expected a number above 0", "", 0},
      {device_with(good, "\"arch\": \"sm_90\"", "\"arch\": \"sm_80\""),
       "found arch 'sm_80' with compute_capability 90, expected 'sm_90'", "", 0},
      {device_with(good, "\"arch\": \"sm_90\",", "\"arch\": \"sm_90\", \"arch\": \"sm_90\","),
       "key 'arch' is given twice", "", 3},
      {device_with(good, "\"title\"", "\"tilte\""), "unknown key 'tilte' in the file", "did you mean 'title'?", 2},
      {"[]", "found a list for the file, expected an object", "", 1},
      {"", "not JSON: syntax error while parsing value - unexpected end of input; expected '[', '{', or a literal",
       json_hint, 1},
  };
  for (const Row& row : rows) {
    const Error error = device_error(row.text);
    CAPTURE(row.message);
    CHECK(error.message == row.message);
    CHECK(error.hint == row.hint);
    CHECK(error.at.file == "x.json");
    CHECK(error.at.line == row.line);
  }
}

TEST_CASE("taking away any figure of a device file is an error that names it") {
  const std::string good = read_file(device_folder + "/t4.json");
  for (const FigureRow& row : figure_table) {
    const std::size_t from = good.find("    \"" + std::string(row.key) + "\"");
    const std::size_t to = good.find('\n', from) + 1;
    std::string text = good.substr(0, from) + good.substr(to);
    if (&row == &figure_table.back()) text.replace(text.rfind(",\n"), 1, "");
    CHECK(device_error(text).message == "'" + std::string(row.key) + "' is missing in figures");
  }
}

TEST_CASE("a device file without several figures names them all at once, with their units") {
  const Error error = device_error(R"({"title": "x", "arch": "sm_90", "figures": {}})");
  CHECK(error.message.starts_with(std::to_string(figure_table.size()) + " figures are missing: "));
  for (const FigureRow& row : figure_table)
    CHECK(error.message.find(std::string(row.key) + " (" + std::string(row.unit) + ")") != std::string::npos);
}

TEST_CASE("GPUs of one architecture differ in the figures of their products alone") {
  std::size_t pairs = 0;
  const std::vector<std::string> names = device_names(device_folder);
  const std::span<const std::string_view> open = product_figures();
  for (const std::string& one : names)
    for (const std::string& other : names) {
      const Device a = find_device(one, device_folder), b = find_device(other, device_folder);
      if (one >= other || a.arch != b.arch) continue;
      ++pairs;
      for (const FigureRow& row : figure_table)
        if (std::find(open.begin(), open.end(), row.key) == open.end())
          CHECK_MESSAGE((a.*row.member).value == (b.*row.member).value, one, " and ", other, ": ", row.key);
    }
  CHECK(pairs >= 5);
}

TEST_CASE("a template of a device is that device once its open figures are filled in, and names them all before") {
  for (const std::string& name : device_names(device_folder)) {
    const Device from = find_device(name, device_folder);
    std::string text = device_template(from, "another \"one\"");
    CHECK(device_error(text).message.starts_with(std::to_string(product_figures().size()) + " figures are missing: "));
    for (const std::string_view key : product_figures()) {
      CHECK(device_error(text).message.find(std::string(key) + " (") != std::string::npos);
      const FigureRow* row = nullptr;
      for (const FigureRow& one : figure_table)
        if (one.key == key) row = &one;
      REQUIRE(row != nullptr);
      const std::size_t at = text.find("\"" + std::string(key) + "\""), value = text.find("null", at);
      text.replace(value, 4, fmt::format("{}", (from.*row->member).value));
      text.replace(text.find("\"source\": \"\"", at), 12, "\"source\": \"x\"");
    }
    const Device back = parse_device(text, "x.json");
    CHECK(back.title == "another \"one\"");
    CHECK(back.arch == from.arch);
    for (const FigureRow& row : figure_table) CHECK((back.*row.member).value == (from.*row.member).value);
  }
}

TEST_CASE("damaged device files never do worse than one error") {
  const std::string good = read_file(device_folder + "/l4.json");
  constexpr std::string_view dirt = "{}[]\",:0x\xff\n";
  std::uint64_t state = 20260101;
  CAPTURE(state);
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    for (int change = 0; change < 1 + round % 3; ++change) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text[(state >> 33) % text.size()] = dirt[(state >> 20) % dirt.size()];
    }
    try {
      const Device device = parse_device(text, "x.json");
      CHECK(device.sms.value > 0);
    } catch (const Error& error) {
      CHECK(error.fault == Fault::failed);
      CHECK_FALSE(error.message.empty());
    }
  }
}

TEST_CASE("figures that no GPU has, or that contradict one another, are refused by name") {
  const std::string good = read_file(device_folder + "/h200.json");
  const auto with = [&](std::string_view key, std::string_view value) {
    std::string text = good;
    const std::size_t at = text.find("\"value\": ", text.find(fmt::format("\"{}\"", key))) + 9;
    REQUIRE(at > 9);
    return device_error(text.replace(at, text.find(',', at) - at, value)).message;
  };
  for (const auto& [key, value] : {std::pair{"threads_per_block", "5000"},
                                   {"threads_per_block", "1000"},
                                   {"threads_per_sm", "512"},
                                   {"register_unit", "3"},
                                   {"register_unit", "1"},
                                   {"registers_per_thread", "1000"},
                                   {"registers_per_block", "131072"},
                                   {"warp_size", "64"},
                                   {"shared_per_block", "300000"},
                                   {"shared_per_block_optin", "300000"},
                                   {"shared_unit", "1000000"},
                                   {"blocks_per_cluster", "1000000000"},
                                   {"dram_bandwidth", "4800"},
                                   {"clock", "1.98"},
                                   {"dram_bandwidth", "1e30"},
                                   {"dram_bandwidth", "1e-300"},
                                   {"f32_peak", "67"}}) {
    CAPTURE(std::string(key));
    CAPTURE(std::string(value));
    const std::string said = with(key, value);
    CHECK(said.find(key) != said.npos);
    CHECK(said.find("expected") != said.npos);
  }
}

TEST_CASE("a file that says another GPU may not have the name of one that is known") {
  const ChosenDevices folder;
  const std::string path = (folder.path / "own" / "h200.json").string();
  std::filesystem::create_directory(folder.path / "own");
  const std::string text = read_file(device_folder + "/h200.json");
  write_file(path, text);
  CHECK(find_device(path, device_folder).title == "NVIDIA H200 SXM");
  write_file(path, device_with(text, "NVIDIA H200 SXM", "NVIDIA H210"));
  CHECK_THROWS_WITH_AS(find_device(path, device_folder), doctest::Contains("expected another name"), Error);
}
