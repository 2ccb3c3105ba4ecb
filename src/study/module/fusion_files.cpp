// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which files a fusion can become: a row per ending. In: a path, a graph and its fusion. Out: the text of the file.
// Called by `tailor fuse --to`, which writes it. A form of its own is a row here and a function from a fusion to text;
// the message about unknown endings follows.
#include "study/module/fusion_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "explore/partition_file.h"
#include "report/picture.h"
#include "study/module/fusion_picture.h"
#include "study/module/fusion_text.h"

namespace tailor::study {

namespace {

struct Fused {
  const ir::Graph& graph;
  const ir::Fusion& fusion;
  const costmodel::CalibratedDevice* device;
  const std::stop_token& stop;
};

report::Picture picture_of(const Fused& fused, const PictureLimits& limits) {
  return fusion_picture(fused.graph, fused.fusion, explore::partition(fused.graph, fused.fusion, fused.stop),
                        fused.device, limits, fused.stop);
}

struct EndingRow {
  std::string_view ending;
  std::string (*text)(const Fused& fused);
};

constexpr auto endings = std::to_array<EndingRow>({
    {".hlo", [](const Fused& fused) { return fusion_text(fused.graph, fused.fusion, fused.stop); }},
    {".dot", [](const Fused& fused) { return report::dot(picture_of(fused, {}), fused.stop); }},
    {".svg", [](const Fused& fused) { return report::picture_svg(picture_of(fused, drawn_limits), fused.stop); }},
    {".partition", [](const Fused& fused) { return explore::partition_text(fused.graph, fused.fusion); }},
});

const EndingRow* row_of(const std::string& path) {
  for (const EndingRow& row : endings)
    if (path.size() > row.ending.size() && path.ends_with(row.ending)) return &row;
  return nullptr;
}

}  // namespace

void check_fusion_file(const std::string& path, const std::string& model) {
  if (row_of(path) == nullptr) {
    std::vector<std::string_view> known;
    for (const EndingRow& row : endings) known.push_back(row.ending);
    const std::string found = std::filesystem::path(path).extension().string();
    throw Error(Fault::usage,
                fmt::format("--to: found '{}', expected a name that ends in {}", path, fmt::join(known, ", ")),
                found.empty() ? "the ending says what is written" : suggestion(found, known));
  }
  std::error_code unknown;
  if (std::filesystem::equivalent(path, model, unknown))
    throw Error(Fault::usage, fmt::format("--to: '{}' is the model that is read", path), "name another file");
}

void check_partition_path(const std::string& path) {
  if (!path.ends_with(explore::partition_file_ending))
    throw Error(Fault::usage,
                fmt::format("--write-partition: found '{}', expected a name that ends in {}", path,
                            explore::partition_file_ending),
                "--strategy knows such a file by its ending");
}

std::string fusion_file_text(const std::string& path, const ir::Graph& graph, const ir::Fusion& fusion,
                             const costmodel::CalibratedDevice* device, const std::stop_token& stop) {
  return row_of(path)->text({graph, fusion, device, stop});
}

}  // namespace tailor::study
