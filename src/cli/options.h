// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Options of a command as plain records. In: a record for each option (its names, where its value goes, what it means)
// and the words of the command line. Out: the values in their places, and what was not understood. The pages of help
// are made from the same records. Called by declare.cpp, which makes the records, and commands.cpp, which parses; only
// options.cpp knows the library that does the parsing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tailor::cli {

/// The section of options that every command has.
inline constexpr std::string_view section_of_all = "everywhere";

/// Executions of one kernel with other seeds, and threads, that somebody may ask for: more is a slip.
inline constexpr std::int64_t most_seeds = 1000, most_threads = 1024;

/// One option, or one word that stands by its position.
struct Option {
  /// Where the value goes, and by its type how it is read. A bool is a flag and takes no value. A list collects: of a
  /// named option what stands between commas, each time it is given, of a word all that follow.
  using Target = std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::string>*>;

  std::string section;        ///< heading that help puts it under
  std::string names;          ///< "--top", "-o,--output"; without dashes ("MODEL") it stands by its position
  Target target;              ///< outlives the parsing
  std::string what;           ///< one line of help
  std::string value;          ///< what its value is called in help ("N"); empty for flags and words
  std::string word_goes_to;   ///< of a flag: a word may follow it, which is the value of this other option
  std::string needs;          ///< another option that must be given too
  std::string excludes;       ///< others that must not be given too, separated by commas
  bool not_negative = false;  ///< refuses numbers below 0
  std::int64_t most = 0;      ///< of a whole number: refuses larger ones; 0: none
  bool is_list = false;       ///< of a text: given again it adds to what was given, with a comma
  bool keeps_commas = false;  ///< of a list: "a,b" is one, else two

  bool positional() const { return !names.starts_with('-'); }
};

/// The options of one command, in the order in which help shows them.
struct OptionList {
  std::vector<Option> options;

  std::string section = "options";  ///< of options that are added from now on

  /// Appends one and returns it, for what few options have. The reference is good until the next call.
  Option& add(std::string names, Option::Target target, std::string what, std::string value = {});
  /// A number of which 0 means all.
  Option& add_count(std::string names, std::int64_t* target, std::string what);
  /// Words in one text, separated by commas: what is given again is added.
  Option& add_list(std::string names, std::string* target, std::string what, std::string value);
  /// The option with this name; null without one.
  const Option* find(std::string_view name) const;
};

/// What parsing leaves beside the values.
struct ParsedWords {
  std::vector<std::string> unknown;  ///< words that no option took, in order
  std::vector<const Option*> given;
};

/// Fills the targets of `list` from the words behind the command. Throws Error(usage) for a value that an option does
/// not take, and for options that need or exclude one another.
ParsedWords parse_options(const OptionList& list, std::span<char* const> words, std::string_view command);

}  // namespace tailor::cli
