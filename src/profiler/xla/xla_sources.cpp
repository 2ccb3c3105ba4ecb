// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which modules a folder holds. XLA names every file of a dump after the module it belongs to
// ("module_0001.jit_f.sm_9.0_gpu_after_optimizations.txt", "module_0001.jit_f.3.ptx"); a digest keeps one JSON file per
// module with the optimised HLO beside it. Nothing is opened here.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "profiler/xla/xla_digest.h"

namespace tailor::profiler {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view optimised = "gpu_after_optimizations.txt";

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code fault;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, fault))
    names.push_back(entry.path().filename().string());
  if (fault)
    throw Error(Fault::failed, Position{folder.string()}, fmt::format("cannot list the folder: {}", fault.message()));
  std::sort(names.begin(), names.end());
  return names;
}

/// "module_0001.jit_f.sm_9.0_gpu_after_optimizations.txt" -> "module_0001.jit_f"; empty for other files.
std::string module_of_dump(std::string_view file) {
  if (!file.ends_with(optimised)) return {};
  file.remove_suffix(optimised.size());
  const std::size_t target = file.rfind(".sm_");
  return std::string(file.substr(0, target != file.npos ? target : file.find_last_not_of('.') + 1));
}

XlaSource dumped(const fs::path& folder, const std::vector<std::string>& names, const std::string& file) {
  XlaSource source;
  source.name = module_of_dump(file);
  source.hlo = folder / file;
  const std::string stem = file.substr(0, file.size() - std::string_view(".txt").size());
  for (const std::string& name : names) {
    if (!name.starts_with(source.name + ".")) continue;
    const std::string_view rest = std::string_view(name).substr(source.name.size());
    if (rest == ".thunk_sequence.txt") source.launches = folder / name;
    if (rest == ".thunk_metadata.txt") source.metadata = folder / name;
    if (name == stem + "-buffer-assignment.txt") source.assignment = folder / name;
    if (name == stem + "-buffer-assignment-values.txt") source.values = folder / name;
    if (rest.ends_with(".before_priority-fusion.txt")) source.before = folder / name;
    if (rest.ends_with(".priority_fusion_dump.txt")) source.record = folder / name;
    if (rest.ends_with(".before_multi_output_fusion.txt")) source.between = folder / name;
    if (rest.ends_with(".multi_output_merges.txt")) source.merges = folder / name;
    if (rest.find(".after_multi_output_fusion.before_") != rest.npos) source.after = folder / name;
    if (rest.ends_with(".ptx")) source.ptx.push_back(folder / name);
  }
  return source;
}

/// Empty name: no module of that JSON file.
XlaSource digested(const fs::path& folder, const std::string& file) {
  XlaSource source;
  source.kind = XlaFolder::digest;
  const std::string stem = file.substr(0, file.size() - std::string_view(".json").size());
  source.hlo = text_beside(folder / file, "optimized");
  if (source.hlo.empty()) return source;
  source.name = stem;
  source.launches = folder / file;
  const fs::path kernels = folder / "ptx" / stem;
  std::error_code absent;
  if (fs::is_directory(kernels, absent))
    for (const std::string& name : names_in(kernels))
      if (name.ends_with(".ptx")) source.ptx.push_back(kernels / name);
  return source;
}

}  // namespace

std::vector<XlaSource> xla_modules(const fs::path& path) {
  std::error_code fault;
  const bool one_file = fs::is_regular_file(path, fault);
  if (!one_file && !fs::is_directory(path, fault))
    throw Error(Fault::missing, Position{path.string()},
                "found no such folder, expected one with XLA's dump or a digest",
                "tools/xla-dump makes one from an HLO file");
  const fs::path folder = !one_file ? path : path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string wanted = one_file ? path.filename().string() : std::string();
  const std::vector<std::string> names = names_in(folder);
  std::vector<XlaSource> modules;
  for (const std::string& name : names) {
    XlaSource source;
    if (!module_of_dump(name).empty()) source = dumped(folder, names, name);
    if (name.ends_with(".json")) source = digested(folder, name);
    if (source.name.empty()) continue;
    if (one_file && wanted != name && wanted != source.hlo.filename().string() &&
        wanted != source.launches.filename().string())
      continue;
    modules.push_back(std::move(source));
  }
  if (modules.empty())
    throw Error(
        Fault::failed, Position{path.string()},
        fmt::format("found no module of XLA's, expected NAME.*{} or NAME.json with NAME.optimized.hlo", optimised),
        "dump with --xla_dump_to=DIR --xla_dump_hlo_as_text, or see tools/xla-dump --help");
  return modules;
}

const XlaSource& choose_module(const std::vector<XlaSource>& modules, std::string_view name) {
  std::vector<std::string_view> known;
  std::vector<const XlaSource*> fitting;
  for (const XlaSource& source : modules) {
    if (source.name == name) return source;
    known.push_back(source.name);
    if (source.name.find(name) != std::string::npos) fitting.push_back(&source);
  }
  if (fitting.size() == 1) return *fitting.front();
  if (fitting.empty()) throw Error(Fault::usage, fmt::format("found no module '{}'", name), suggestion(name, known));
  std::vector<std::string_view> some;
  for (const XlaSource* source : fitting)
    if (some.size() < 8) some.push_back(source->name);
  throw Error(Fault::usage, fmt::format("found {} modules, expected the name of one", fitting.size()),
              fmt::format("--module NAME; there are {}{}", fmt::join(some, ", "),
                          some.size() < fitting.size() ? " and others" : ""));
}

}  // namespace tailor::profiler
