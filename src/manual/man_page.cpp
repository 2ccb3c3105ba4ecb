// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor(1) in the language of man (man(7)). In: entries of commands. Out: one page: what the program is, each command
// with its options and examples, the options that all have, and exit codes. A dash becomes \-, so that options can be
// copied from the page.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "manual/manual.h"

namespace tailor::manual {

namespace {

/// Text as man shows it: no character is a command, dashes stay dashes.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (out.empty() && (c == '.' || c == '\'')) {
      out += "\\&";
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string lead(const cli::Option& option) {
  std::string names = option.names;
  for (std::size_t at = 0; (at = names.find(',', at)) != names.npos; at += 2) names.insert(at + 1, " ");
  return fmt::format("\\fB{}\\fR{}", roff(names),
                     option.value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(option.value)));
}

std::string option_text(const cli::Option& option) {
  return fmt::format(".TP\n{}\n{}\n", lead(option), roff(option.what));
}

std::string usage(const CommandEntry& entry) {
  std::string out = fmt::format("\\fBtailor {}\\fR", roff(entry.name));
  for (const cli::Option& option : entry.options) {
    const bool needed = std::find(entry.needs.begin(), entry.needs.end(), option.names) != entry.needs.end();
    if (needed) out += " " + lead(option);
    if (!needed && option.positional()) out += fmt::format(" [{}]", lead(option));
  }
  return out + " [\\fIoptions\\fR]";
}

std::string command_text(const CommandEntry& entry) {
  std::string out = fmt::format(".SS {}\n{}.\n.PP\n{}\n", roff(entry.name), roff(entry.what), usage(entry));
  for (const cli::Option& option : entry.options)
    if (option.section != cli::section_of_all) out += option_text(option);
  out += ".PP\nExamples:\n.PP\n.nf\n.RS\n";
  for (const std::string_view example : entry.examples) out += fmt::format("tailor {}\n", roff(example));
  return out + ".RE\n.fi\n";
}

struct ExitCode {
  Fault fault;
  std::string_view what;
};
constexpr auto exit_codes = std::to_array<ExitCode>({
    {Fault::failed,
     "failed: a model could not be read, no kernel has the plan that was asked for, a kernel is wrong or "
     "did not compile"},
    {Fault::usage, "usage: the command line or a file does not read, or asks for what there is not"},
    {Fault::missing, "something is missing: a file, a device, a compiler, a GPU"},
    {Fault::claim, "the claim of a sweep does not hold"},
    {Fault::interrupted, "interrupted; what was finished is stored"},
});

}  // namespace

std::string man_page(std::span<const CommandEntry> entries, std::string_view version) {
  std::string out = fmt::format(
      ".TH TAILOR 1 \"\" \"{}\" \"Tailor\"\n.nh\n.SH NAME\ntailor \\- decides how to fuse a model's operations into "
      "GPU "
      "kernels\n.SH SYNOPSIS\n\\fBtailor\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH DESCRIPTION\n"
      "Tailor decides how to fuse a model's memory\\-bound operations into GPU kernels, writes them, and predicts how "
      "fast they run. It needs no GPU for this.\n.SH COMMANDS\n",
      roff(version));
  for (const CommandEntry& entry : entries) out += command_text(entry);
  out += ".SH OPTIONS OF ALL COMMANDS\n";
  if (!entries.empty())
    for (const cli::Option& option : entries.front().options)
      if (option.section == cli::section_of_all) out += option_text(option);
  out += ".SH EXIT STATUS\n.TP\n\\fB0\\fR\ndone\n";
  for (const ExitCode& code : exit_codes)
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", static_cast<int>(code.fault), roff(code.what));
  return out +
         ".SH FILES\n.TP\n\\fI../share/tailor\\fR beside the program's folder\ndevices, calibrations, models and "
         "schemas; \\fB\\-\\-data\\fR names another folder\n.TP\n\\fI~/.cache/tailor\\fR\ncompiled kernels\n";
}

}  // namespace tailor::manual
