// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading what XLA knows of a GPU. In: data/xla/NAME.json, figures with unit and source as in data/devices, and a table
// of clocks per operation and type. Out: a Target. Called where a device is loaded for commands that ask as XLA would,
// and by tests.
#include "costmodel/xla/target.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "ir/device.h"

namespace tailor::costmodel::xla {

namespace {

namespace fs = std::filesystem;

struct WholeRow {
  std::string_view key, unit;
  std::int64_t Target::*member;
};
constexpr WholeRow whole_rows[] = {
    {"sms", "SM", &Target::sms},
    {"fpus_per_sm", "unit", &Target::fpus_per_sm},
    {"threads_per_sm", "thread", &Target::threads_per_sm},
    {"threads_per_warp", "thread", &Target::threads_per_warp},
    {"shared_per_block", "B", &Target::shared_per_block},
    {"blocks_x", "block", &Target::blocks_x},
    {"l2_bytes", "B", &Target::l2_bytes},
    {"l1_bytes_per_sm", "B", &Target::l1_bytes_per_sm},
    {"dram_transaction", "B", &Target::dram_transaction},
    {"default_cycles", "clk", &Target::default_cycles},
};
struct RealRow {
  std::string_view key, unit;
  double Target::*member;
};
constexpr RealRow real_rows[] = {
    {"clock", "GHz", &Target::clock},
    {"bandwidth", "B/s", &Target::bandwidth},
    {"block_bandwidth", "B/clk", &Target::block_bandwidth},
    {"l1_speedup", "1", &Target::l1_speedup},
    {"l2_speedup", "1", &Target::l2_speedup},
    {"overlap", "1", &Target::overlap},
    {"launch_overhead", "s", &Target::launch_overhead},
};

/// One file as it is read: the text for places, the file for messages.
struct Reader {
  std::string_view text;
  const std::string& file;

  [[noreturn]] void fail(std::size_t offset, std::string message) const {
    throw Error(Fault::failed, position_at(text, offset, file), std::move(message));
  }
  const Json& member(const Json& object, std::string_view key) const {
    const Json* const found = object.find(key);
    if (found == nullptr) fail(object.offset, fmt::format("found no '{}'", key));
    return *found;
  }
  std::string word(const Json& object, std::string_view key) const {
    const Json& found = member(object, key);
    if (found.string() == nullptr || found.string()->empty())
      fail(found.offset, fmt::format("found {} for '{}', expected a word", kind_of(found), key));
    return *found.string();
  }
  /// The value of a figure, which must have the unit and a source.
  double figure(const Json& figures, std::string_view key, std::string_view unit) const {
    const Json& found = member(figures, key);
    const std::string its_unit = word(found, "unit");
    if (its_unit != unit) fail(found.offset, fmt::format("found '{}' in {}, expected {}", key, its_unit, unit));
    (void)word(found, "source");
    const std::optional<double> value = member(found, "value").number();
    if (!value || !std::isfinite(*value) || *value <= 0)
      fail(found.offset, fmt::format("found no value for '{}', expected a number above 0", key));
    return *value;
  }
};

void read_cycles(const Reader& reader, const Json& table, Target& target) {
  if (table.object() == nullptr) reader.fail(table.offset, "found no table of 'cycles', expected an object");
  (void)reader.word(table, "unit");
  (void)reader.word(table, "source");
  for (const Json::Member& type : *table.object()) {
    if (type.key == "unit" || type.key == "source") continue;
    const ir::DTypeRow* const dtype = ir::find_dtype(type.key);
    if (dtype == nullptr || type.value.object() == nullptr)
      reader.fail(type.offset, fmt::format("found '{}', expected an element type with its operations", type.key));
    for (const Json::Member& row : *type.value.object()) {
      const ir::OpRow* const op = ir::find_hlo_op(row.key);
      const std::optional<std::int64_t> clocks = row.value.integer();
      if (op == nullptr) reader.fail(row.offset, fmt::format("found '{}', expected an operation of HLO", row.key));
      if (!clocks || *clocks <= 0) reader.fail(row.offset, fmt::format("expected clocks above 0 for '{}'", row.key));
      target.cycles[{dtype->dtype, op->op}] = *clocks;
    }
  }
}

}  // namespace

std::int64_t cycles(const Target& target, ir::Op op, ir::DType dtype) {
  const auto found = target.cycles.find({dtype, op});
  return found == target.cycles.end() ? target.default_cycles : found->second;
}

Target parse_target(std::string_view text, const std::string& file) {
  const Json json = parse_json(text, file);
  const Reader reader{text, file};
  Target target;
  target.name = fs::path(file).stem().string();
  target.title = reader.word(json, "title");
  target.arch = reader.word(json, "arch");
  target.xla_name = reader.word(json, "xla_name");
  const Json& figures = reader.member(json, "figures");
  for (const WholeRow& row : whole_rows) {
    const double value = reader.figure(figures, row.key, row.unit);
    if (value != std::floor(value))
      reader.fail(figures.offset, fmt::format("found {} for '{}', expected a whole number", value, row.key));
    target.*row.member = static_cast<std::int64_t>(value);
  }
  for (const RealRow& row : real_rows) target.*row.member = reader.figure(figures, row.key, row.unit);
  read_cycles(reader, reader.member(json, "cycles"), target);
  return target;
}

std::shared_ptr<const Target> find_target(std::string_view device, const std::string& folder) {
  const fs::path path = fs::path(folder) / fmt::format("{}.json", device);
  std::error_code absent;
  if (!fs::is_regular_file(path, absent)) return nullptr;
  return std::make_shared<const Target>(parse_target(read_file(path.string()), path.string()));
}

std::shared_ptr<const Target> find_target_of_xla(std::string_view xla_name, const std::string& folder) {
  for (const std::string& name : ir::device_names(folder))
    if (auto target = find_target(name, folder); target && target->xla_name == xla_name) return target;
  return nullptr;
}

std::string known_targets(const std::string& folder) {
  return fmt::format("{}", fmt::join(ir::device_names(folder), ", "));
}

}  // namespace tailor::costmodel::xla
