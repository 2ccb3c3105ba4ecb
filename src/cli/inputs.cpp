// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Looking up and reading. A name that is not there is answered with the nearest that is.
#include "cli/inputs.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <variant>

#include "base/error.h"
#include "base/text.h"
#include "explore/strategy.h"
#include "profiler/gpu/request/library_paths.h"

namespace tailor::cli {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> file_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none))
    if (entry.is_regular_file(none)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// The file nearest to a path that is not there: beside it, or among the models that ship.
std::string nearest_file(const Context& context, const fs::path& path) {
  const fs::path beside = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const fs::path& folder : {beside, context.data / "models"}) {
    const std::vector<std::string> names = file_names(folder);
    const std::vector<std::string_view> known(names.begin(), names.end());
    const std::string_view near = nearest(path.filename().string(), known);
    if (near.empty()) continue;
    const fs::path found = folder == fs::path(".") ? fs::path(near) : folder / near;
    return fmt::format("did you mean '{}'?", found.string());
  }
  return fmt::format("models that ship are in {}", (context.data / "models").string());
}

explore::AxisLimit parse_axis(const std::string& word) {
  const std::size_t at = word.find('=');
  if (at == word.npos || at + 1 == word.size())
    throw Error(Fault::usage, fmt::format("--axis: found '{}', expected AXIS=VALUE,VALUE", word),
                "for example --axis threads=128,256; tailor list axes shows them all");
  explore::AxisLimit limit{word.substr(0, at), {}};
  for (const std::string_view value : split(std::string_view(word).substr(at + 1), ','))
    limit.values.emplace_back(value);
  return limit;
}

/// The group that moves most bytes in one run of the model, among those that can be planned; else the heaviest.
std::size_t heaviest(const explore::Partition& partition) {
  const auto weight = [](const explore::DistinctGroup& group) {
    const bool planned = std::holds_alternative<codegen::Layout>(group.needs);
    return std::pair(planned, group.times * group.bytes);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < partition.groups.size(); ++i)
    if (weight(partition.groups[i]) > weight(partition.groups[best])) best = i;
  return best;
}

std::size_t group_number(const explore::Partition& partition, const std::string& word) {
  const std::size_t count = partition.groups.size();
  std::size_t number = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (fault == std::errc{} && end == word.data() + word.size() && number >= 1 && number <= count) return number - 1;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < count; ++i)
    if (hex(partition.groups[i].group.id).starts_with(word)) found.push_back(i);
  if (found.size() == 1) return found.front();
  const std::string hint = "tailor fuse MODEL --top 0 lists them with number and id";
  if (found.empty())
    throw Error(
        Fault::usage,
        fmt::format("--group: found '{}', expected a number from 1 to {} or the beginning of an id", word, count),
        hint);
  throw Error(Fault::usage, fmt::format("--group: {} ids begin with '{}'", found.size(), word), hint);
}

}  // namespace

fs::path default_data_folder() {
  std::error_code fault;
  const fs::path program = fs::read_symlink("/proc/self/exe", fault);
  const fs::path installed = program.parent_path().parent_path() / "share" / "tailor";
  if (!fault && fs::is_directory(installed / "devices", fault)) return installed;
  return fs::path(TAILOR_SOURCE_DIR) / "data";
}

hlo::Imported load_model(const Context& context, const std::string& path) {
  std::error_code fault;
  if (!fs::exists(path, fault))
    throw Error(Fault::failed, Position{path}, "no such file; expected a model as .hlo, .hlo.gz or .graph",
                nearest_file(context, path));
  hlo::Imported imported = hlo::import_file(path);
  for (const std::string& warning : imported.report.warnings)
    context.console->detail(fmt::format("{}: {}", path, warning));
  return imported;
}

ir::Device load_device(const Context& context, const std::string& name) {
  return ir::find_device(name, (context.data / "devices").string());
}

ir::Calibration load_calibration(const Context& context, const std::string& name) {
  return ir::find_calibration(name, (context.data / "calibrations").string());
}

const costmodel::Model& projecting_model(const std::string& name) {
  const costmodel::Model* model = costmodel::find_model(name);
  std::vector<std::string_view> known;
  for (const costmodel::Model& row : costmodel::models())
    if (row.ranks_plans) known.push_back(row.name);
  if (model != nullptr && std::find(known.begin(), known.end(), model->name) != known.end()) return *model;
  throw Error(Fault::usage,
              model == nullptr ? fmt::format("no cost model is called '{}'", name)
                               : fmt::format("cost model '{}' needs compiled kernels, which only a sweep has", name),
              suggestion(name, known));
}

std::string needs_text(const codegen::Classified& needs) {
  if (const auto* why = std::get_if<ir::Rejection>(&needs)) return fmt::format("needs {}", why->rule);
  return text(std::get<codegen::Layout>(needs));
}

Chosen::Chosen(const Context& context, const GroupOptions& options, WholeModel)
    : device(load_device(context, options.device)),
      limits(ir::limits(device)),
      calibrated(costmodel::calibrated(device, load_calibration(context, options.calibration))),
      model(&projecting_model(options.cost_model)) {
  for (const std::string& axis : options.axes) restrictions.push_back(parse_axis(axis));
  const explore::ChosenStrategy strategy = explore::find_strategy(options.strategy);
  const hlo::Imported imported = load_model(context, options.model);
  explore::FusionSetting setting;
  setting.device = &calibrated;

  partition = explore::partition(imported.graph, explore::fuse(strategy, imported.graph, setting));
  if (partition.groups.empty())
    throw Error(Fault::failed, Position{options.model}, "has no groups: nothing but library calls and free operations",
                "tailor import shows what is in it");
}

Chosen::Chosen(const Context& context, const GroupOptions& options) : Chosen(context, options, WholeModel{}) {
  const std::size_t wanted = options.group.empty() ? heaviest(partition) : group_number(partition, options.group);
  if (const std::optional<ir::Rejection> why = select_group(wanted))
    throw Error(Fault::failed,
                fmt::format("group {} ({}) cannot be planned yet: {}", number + 1,
                            codegen::title_of(group().group.graph), why->reason.empty() ? why->rule : why->reason),
                "tailor fuse shows which groups can; --group picks one");
  if (options.group.empty() && partition.groups.size() > 1)
    context.console->note(fmt::format("{}: it moves most bytes; --group picks another", title()));
}

std::optional<ir::Rejection> Chosen::select_group(std::size_t wanted) {
  number = wanted;
  if (const auto* why = std::get_if<ir::Rejection>(&group().needs)) return *why;
  auto ready = codegen::prepare(group().group);
  if (const auto* why = std::get_if<ir::Rejection>(&ready)) return *why;
  prepared = std::get<codegen::Prepared>(std::move(ready));
  axes = explore::default_axes(prepared, limits);
  for (const explore::AxisLimit& limit : restrictions) explore::restrict_axis(axes, limit);
  return {};
}

std::string Chosen::title() const {
  const explore::DistinctGroup& chosen = group();
  return fmt::format("group {} of {}, {}, {} place{}: {}, {}", number + 1, partition.groups.size(),
                     short_hex(chosen.group.id), chosen.occurrences.size(), chosen.occurrences.size() == 1 ? "" : "s",
                     prepared.title, needs_text(chosen.needs));
}

fs::path default_cache_folder() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry ? fs::path(entry->pw_dir) / ".cache" / "tailor" : fs::path();
}

profiler::NvrtcPaths nvrtc_paths(const std::string& library) {
  profiler::NvrtcPaths paths = profiler::default_nvrtc_paths({fs::path(TAILOR_SOURCE_DIR) / ".venv"});
  paths.library = library;
  return paths;
}

profiler::FoundNvrtc find_compiler(const std::string& library) { return profiler::find_nvrtc(nvrtc_paths(library)); }

gpu::LibraryPaths library_paths(const std::string& cupti) {
  gpu::LibraryPaths paths = gpu::default_library_paths({fs::path(TAILOR_SOURCE_DIR) / ".venv"});
  paths.cupti = cupti;
  return paths;
}

}  // namespace tailor::cli
