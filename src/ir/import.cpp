// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Import: read, walk, normalise, report. Files may be gzip-compressed, whatever they are called.
#include "ir/import.h"

#include <fmt/format.h>
#include <zlib.h>

#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "ir/draft.h"
#include "ir/hlo_module.h"
#include "ir/normalise.h"

namespace tailor::ir {

namespace {

/// A compressed file that unpacks to more than this is refused.
constexpr std::size_t max_unpacked_bytes = std::size_t{1} << 31;

std::string unpacked(std::string_view packed, const std::string& file) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 32) != Z_OK) throw Error(Fault::failed, Position{file}, "cannot start zlib");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  std::size_t filled = 0;
  int status = Z_OK;
  while (status == Z_OK && filled < max_unpacked_bytes) {
    out.resize(std::max<std::size_t>(packed.size() * 8, filled * 2) + 4096);
    stream.next_out = reinterpret_cast<Bytef*>(out.data()) + filled;
    stream.avail_out = static_cast<uInt>(out.size() - filled);
    status = inflate(&stream, Z_NO_FLUSH);
    filled = stream.total_out;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END)
    throw Error(Fault::failed, Position{file}, "found a damaged or truncated gzip file, expected a whole one");
  out.resize(filled);
  return out;
}

}  // namespace

Imported import_hlo(std::string_view text, std::string_view file) {
  if (text.size() > max_unpacked_bytes)
    throw Error(Fault::failed, Position{std::string(file)},
                fmt::format("found {} of text, expected at most {}", humane_bytes(static_cast<double>(text.size())),
                            humane_bytes(static_cast<double>(max_unpacked_bytes))));
  const HloModule module = parse_module(text, file);
  DraftContext context(module);
  const HloComputation& entry = module.computations[static_cast<std::size_t>(module.entry)];
  Draft draft(context, module.name);
  const auto instructions = static_cast<std::int64_t>(module.instructions.size());
  context.ledger.add(Pass::set_aside, static_cast<std::int64_t>(module.computations.size()) - 1, 0,
                     instructions - entry.count);
  draft.walk_graph(entry);
  Imported imported;
  imported.graph = std::move(draft).graph();
  run_passes(imported.graph, context.ledger);
  ImportReport& report = imported.report;
  report.module = module.name;
  report.text_bytes = static_cast<std::int64_t>(text.size());
  report.instructions = instructions;
  report.computations = static_cast<std::int64_t>(module.computations.size());
  for (const PassRow& row : pass_table) {
    const PassCount& count = context.ledger.of(row.pass);
    report.passes.push_back({std::string(row.name), count.rewrites, count.added, count.removed});
  }
  report.opaque = std::move(context.opaque);
  report.warnings = module.warnings;
  return imported;
}

Graph import_computation(const HloModule& module, const HloComputation& computation) {
  DraftContext context(module);
  Draft draft(context, computation.name);
  draft.walk_graph(computation);
  Graph graph = std::move(draft).graph();
  run_passes(graph, context.ledger);
  return graph;
}

std::string read_unpacked(const std::string& path) {
  std::string content = read_file(path);
  if (content.starts_with("\x1f\x8b")) content = unpacked(content, path);
  return content;
}

Imported import_file(const std::string& path) {
  const std::string content = read_unpacked(path);
  std::string_view name = path;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  if (!name.ends_with(".graph")) return import_hlo(content, path);
  Imported imported;
  imported.graph = parse_graph(content, path);
  verify(imported.graph);
  imported.report.module = imported.graph.name;
  imported.report.text_bytes = static_cast<std::int64_t>(content.size());
  imported.report.instructions = nodes_in_all(imported.graph);
  imported.report.computations = 1;
  return imported;
}

}  // namespace tailor::ir
