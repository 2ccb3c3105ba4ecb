// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Completion for bash, zsh and fish. In: entries of commands. Out: a script for each shell, which completes the
// command, then its options, then values. Names of devices and the like are asked of the program that is being
// completed when they are needed: a device file that was added yesterday is among them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "base/text.h"
#include "manual/manual.h"

namespace tailor::manual {

namespace {

constexpr std::string_view head = "made from the tables behind tailor --help";

/// Shell words that print the first column of a command's table, a value on each line; `program` is how to call it.
std::string asked(std::string_view program, std::string_view command) {
  return fmt::format("{} {} --format csv 2>/dev/null | sed -e 1d -e 's/,.*//'", program, command);
}

bool is_flag(const cli::Option& option) { return option.value.empty() && !option.positional(); }

// ---- bash ----

std::string bash_command(const CommandEntry& entry) {
  std::vector<std::string_view> names;
  std::map<std::string, std::string> values;  // by what answers: the options that ask it
  for (const cli::Option& option : entry.options) {
    if (option.positional()) continue;
    for (const std::string_view name : split(option.names, ',')) {
      names.push_back(name);
      const ValueSource* source = value_source(option);
      if (source == nullptr) continue;
      const std::string answer = source->words.empty()
                                     ? fmt::format("$({})", asked("\"${COMP_WORDS[0]}\"", source->command))
                                     : std::string(source->words);
      std::string& options = values[answer];
      options += fmt::format("{}{}", options.empty() ? "" : "|", name);
    }
  }
  std::string out = fmt::format("    {})\n      case $before in\n", entry.name);
  for (const auto& [answer, options] : values) out += fmt::format("        {}) words=\"{}\" ;;\n", options, answer);
  return out + fmt::format("        *) [[ $word != -* ]] || words={} ;;\n      esac ;;\n",
                           shell_word(fmt::format("{}", fmt::join(names, " "))));
}

// ---- zsh ----

/// Without what zsh's specifications mean by these characters.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_values(const cli::Option& option) {
  const ValueSource* source = value_source(option);
  if (source != nullptr && !source->words.empty()) return fmt::format("({})", source->words);
  if (source != nullptr) return fmt::format("{{_tailor_ask {}}}", source->command);
  if (!option.positional() && !takes_file(option)) return " ";
  const bool part = option.value.find(',') != option.value.npos || option.value.find('=') != option.value.npos;
  return part ? "_tailor_files" : "_files";
}

std::string zsh_option(const cli::Option& option) {
  if (option.positional()) return " \\\n      " + shell_word(fmt::format("*:{}:_files", zsh_text(option.names)));
  std::string out;
  for (const std::string_view name : split(option.names, ',')) {
    std::string spec = fmt::format("*{}[{}]", name, zsh_text(option.what));
    if (!is_flag(option)) spec += fmt::format(":{}:{}", zsh_text(option.value), zsh_values(option));
    out += " \\\n      " + shell_word(spec);
  }
  return out;
}

std::string zsh_command(const CommandEntry& entry) {
  std::string out = fmt::format("    {})\n      _arguments -S", entry.name);
  bool words = false;  // of several words that stand by position the first says what all are
  for (const cli::Option& option : entry.options) {
    if (option.positional() && words) continue;
    words = words || option.positional();
    out += zsh_option(option);
  }
  return out + " ;;\n";
}

// ---- fish ----

std::string fish_option(const cli::Option& option, std::string_view command) {
  std::string out =
      fmt::format("complete -c tailor -n {}", shell_word(fmt::format("__fish_seen_subcommand_from {}", command)));
  for (const std::string_view name : split(option.names, ','))
    out += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
  const ValueSource* source = value_source(option);
  if (source != nullptr) {
    const std::string words =
        source->words.empty() ? fmt::format("({})", asked("tailor", source->command)) : std::string(source->words);
    out += " -xa " + shell_word(words);
  } else if (!is_flag(option)) {
    out += takes_file(option) ? " -rF" : " -x";
  }
  return out + fmt::format(" -d {}\n", shell_word(option.what));
}

}  // namespace

std::string bash_completion(std::span<const CommandEntry> entries) {
  std::vector<std::string_view> names;
  for (const CommandEntry& entry : entries) names.push_back(entry.name);
  std::string out = fmt::format(
      "# bash completion for tailor, {}\n_tailor() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words= lead=\n"
      "  if [[ $word == *,* ]]; then lead=${{word%,*}},; word=${{word##*,}}; fi  # the last one of a list\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then\n    COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\"))\n"
      "    return\n  fi\n  case ${{COMP_WORDS[1]}} in\n",
      head, fmt::join(names, " "));
  for (const CommandEntry& entry : entries) out += bash_command(entry);
  return out +
         "  esac\n  COMPREPLY=($(compgen -W \"$words\" -P \"$lead\" -- \"$word\"))\n"
         "  if [[ -z $words && -n $lead ]]; then COMPREPLY=($(compgen -f -P \"$lead\" -- \"$word\")); fi\n"
         "}\ncomplete -o default -F _tailor tailor\n";
}

std::string zsh_completion(std::span<const CommandEntry> entries) {
  std::string out = fmt::format(
      "#compdef tailor\n# zsh completion for tailor, {}\n_tailor_ask() {{\n  local -a values\n  "
      "values=(${{(f)\"$({})\"}})\n"
      "  compadd -a values\n}}\n"
      "_tailor_files() {{  # one of a list, or what stands behind a name\n"
      "  compset -P '*,'\n  compset -P '*='\n  _files\n}}\n_tailor() {{\n  local program=$words[1]\n  if (( CURRENT == "
      "2 )); then\n"
      "    local -a commands=(\n",
      head, asked("$program", "$@"));
  for (const CommandEntry& entry : entries)
    out += fmt::format("      {}\n", shell_word(fmt::format("{}:{}", entry.name, zsh_text(entry.what))));
  out +=
      "    )\n    _describe command commands\n    return\n  fi\n  shift words\n  (( CURRENT-- ))\n  case $words[1] "
      "in\n";
  for (const CommandEntry& entry : entries) out += zsh_command(entry);
  return out + "  esac\n}\nif [[ $funcstack[1] == _tailor ]]; then _tailor \"$@\"; else compdef _tailor tailor; fi\n";
}

std::string fish_completion(std::span<const CommandEntry> entries) {
  std::string out = fmt::format("# fish completion for tailor, {}\n", head);
  for (const CommandEntry& entry : entries)
    out +=
        fmt::format("complete -c tailor -f -n __fish_use_subcommand -a {} -d {}\n", entry.name, shell_word(entry.what));
  for (const CommandEntry& entry : entries)
    for (const cli::Option& option : entry.options)
      if (!option.positional()) out += fish_option(option, entry.name);
  return out;
}

}  // namespace tailor::manual
