// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rendering of answers. In: sections of tables. Out: text in the format asked for, to stdout or a file. One JSON
// document holds all sections: the first as "results", the others under their keys. Called by every command. A failed
// write is an Error, so a pipe that was closed is noticed.
#include "cli/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "report/width.h"
#include "store/schema.h"

namespace tailor::cli {

namespace {

constexpr std::array format_names = std::to_array<std::string_view>({"table", "json", "csv", "md"});

std::string as_tables(const Context& context, const CommandOutput& answer) {
  if (!answer.text.empty()) return answer.text;
  const bool to_screen = context.output.empty();
  const std::stop_token stop = answer.cut_short ? std::stop_token() : context.stop();
  const report::Screen screen{context.terminal.width, to_screen && context.colour, 0, stop};
  std::string out;
  if (!answer.verdict.empty())
    for (const std::string& line : report::wrapped(answer.verdict, screen.width)) out += line + "\n";
  for (const Section& section : answer.sections) {
    if (section.for_programs) continue;
    if (!out.empty()) out += '\n';
    out += report::terminal(section.table, screen);
  }
  return out;
}

std::string as_json(const Context& context, const CommandOutput& answer) {
  const report::DocumentHead head{answer.schema, std::string(tool_name), context.command, answer.device};
  std::string out = report::document(head, answer.sections.front().table);
  if (answer.sections.size() == 1) return out;
  out.resize(out.find_last_of('}'));
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
  for (std::size_t i = 1; i < answer.sections.size(); ++i) {
    std::string_view records = answer.sections[i].key;
    const std::string rows = report::json(answer.sections[i].table);
    out += fmt::format(",\n  \"{}\": {}", records, trim(rows));
  }
  return out + "\n}\n";
}

std::string as_csv(const Context& context, const CommandOutput& answer) {
  std::vector<std::string_view> absent;
  for (std::size_t i = 1; i < answer.sections.size(); ++i) absent.push_back(answer.sections[i].key);
  if (!absent.empty())
    context.console->note(
        fmt::format("csv holds one table; also there with --format json: {}", fmt::join(absent, ", ")));
  return report::csv(answer.sections.front().table);
}

std::string as_markdown(const CommandOutput& answer) {
  if (!answer.text.empty()) return fmt::format("```\n{}\n```\n", trim(answer.text));
  std::string out = answer.verdict.empty() ? "" : answer.verdict + "\n";
  for (const Section& section : answer.sections) {
    if (section.for_programs) continue;
    if (!out.empty()) out += '\n';
    out += report::markdown(section.table);
  }
  return out;
}

std::string rendered(const Context& context, const CommandOutput& answer) {
  switch (context.format) {
    case Format::json:
      return as_json(context, answer);
    case Format::csv:
      return as_csv(context, answer);
    case Format::md:
      return as_markdown(answer);
    case Format::table:
      break;
  }
  return as_tables(context, answer);
}

}  // namespace

Format parse_format(std::string_view word) {
  for (std::size_t i = 0; i < format_names.size(); ++i)
    if (format_names[i] == word) return static_cast<Format>(i);
  throw Error(Fault::usage,
              fmt::format("--format: found '{}', expected one of {}", word, fmt::join(format_names, ", ")),
              suggestion(word, format_names));
}

void show(const Context& context, CommandOutput answer) {
  std::erase_if(answer.sections, [](const Section& section) { return section.table.columns.empty(); });
  write_output(context, rendered(context, answer));
}

void write_output(const Context& context, const std::string& out) {
  context.console->finish();
  if (!context.output.empty()) {
    if (store::is_database(context.output))
      throw Error(Fault::usage, Position{context.output}, "found a database, expected a file that may be overwritten");
    return write_whole(context, context.output, out);
  }
  write_stdout(out);
}

void write_whole(const Context& context, const std::filesystem::path& path, std::string_view text) {
  context.interrupts->let_store();
  write_file(path, text);
  context.interrupts->stored();
  context.console->note(fmt::format("wrote {} ({})", path.string(), humane_bytes(static_cast<double>(text.size()))));
}

void write_stdout(std::string_view text) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!whole) throw Error(Fault::failed, fmt::format("cannot write the output: {}", std::strerror(errno)));
}

}  // namespace tailor::cli
