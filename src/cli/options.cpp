// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Parsing of options by CLI11, which no other file includes, since it takes seconds to compile. Each record becomes an
// option of the library; which options need or exclude one another is told it when all are there. Its exceptions become
// an Error here.
#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace tailor::cli {

namespace {

std::string refuse_negative(const std::string& word) {
  return word.starts_with('-') ? fmt::format("found {}, expected 0 or more", word) : std::string();
}

/// Of a whole number above what 64 bits hold, or above `most` (0: no such limit).
std::string refuse_large(const std::string& word, std::int64_t most) {
  std::int64_t number = 0;
  const std::from_chars_result read = std::from_chars(word.data(), word.data() + word.size(), number);
  if (read.ec == std::errc::result_out_of_range) return fmt::format("found {}, expected a number of 64 bits", word);
  return most > 0 && number > most ? fmt::format("found {}, expected at most {}", word, with_commas(most)) : "";
}

CLI::Option* add_to(CLI::App& app, const Option& option) {
  CLI::Option* added = nullptr;
  if (bool* const* flag = std::get_if<bool*>(&option.target)) return app.add_flag(option.names, **flag, option.what);
  if (auto* const* list = std::get_if<std::vector<std::string>*>(&option.target)) {
    added = app.add_option(option.names, **list, option.what);
    if (!option.positional()) added->allow_extra_args(false);
    if (!option.positional() && !option.keeps_commas) added->delimiter(',');
  } else if (std::int64_t* const* whole = std::get_if<std::int64_t*>(&option.target)) {
    added = app.add_option(option.names, **whole, option.what);
    added->check([most = option.most](const std::string& word) { return refuse_large(word, most); });
  } else if (double* const* real = std::get_if<double*>(&option.target)) {
    added = app.add_option(option.names, **real, option.what);
  } else {
    added = app.add_option(option.names, *std::get<std::string*>(option.target), option.what);
    if (option.is_list) added->join(',');
  }
  if (!option.value.empty()) added->type_name(option.value);
  if (option.not_negative) added->check(refuse_negative);
  return added;
}

/// "--why NODE" as "--why --node NODE". A word behind such a flag is taken unless it is an option, or stands where a
/// word without a name is still missing: "fuse --why model.hlo" names the model.
std::vector<std::string> spelled_out(const OptionList& list, std::span<char* const> words) {
  auto missing =
      std::count_if(list.options.begin(), list.options.end(), [](const Option& o) { return o.positional(); });
  std::vector<std::size_t> behind;
  std::vector<std::string> all(words.begin(), words.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].starts_with('-')) {
      --missing;
      continue;
    }
    const Option* option = list.find(all[i]);
    const bool another = i + 1 < all.size() && !all[i + 1].starts_with('-');
    if (option == nullptr || !another) continue;
    if (!option->word_goes_to.empty()) behind.push_back(i + 1);
    if (!option->word_goes_to.empty() || !std::holds_alternative<bool*>(option->target)) ++i;
  }
  for (auto at = behind.rbegin(); at != behind.rend(); ++at)
    if (missing-- <= 0)
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(*at), list.find(all[*at - 1])->word_goes_to);
  return all;
}

/// What is wrong with an option's value as it stands; empty where nothing is.
std::string wrong_value(const Option& option, const std::optional<std::string>& value) {
  const std::string& name = option.names;
  if (!value) return fmt::format("{}: found nothing behind it, expected {}", name, option.value);
  const auto reads = [&](auto number) {
    const auto [end, fault] = std::from_chars(value->data(), value->data() + value->size(), number);
    return fault == std::errc() && end == value->data() + value->size();
  };
  if (std::holds_alternative<std::int64_t*>(option.target) && !reads(std::int64_t{}))
    return fmt::format("{}: found '{}', expected a whole number", name, *value);
  if (std::holds_alternative<double*>(option.target) && !reads(double{}))
    return fmt::format("{}: found '{}', expected a number", name, *value);
  return {};
}

/// What is wrong with values that are empty, and with lists of words between commas: the library takes an empty value
/// for one that was not given, and passes over an empty word.
std::string empty_entry(const OptionList& list, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
    const Option* option = list.find(std::string_view(words[i]).substr(0, equals));
    if (option == nullptr || option->positional() || std::holds_alternative<bool*>(option->target)) continue;
    if (equals == std::string::npos && ++i == words.size()) break;
    const std::string value = equals == std::string::npos ? words[i] : words[i].substr(equals + 1);
    if (trim(value).empty()) return wrong_value(*option, std::nullopt);
    const bool many = option->is_list || std::holds_alternative<std::vector<std::string>*>(option->target);
    if (!many || option->keeps_commas || value.find(',') == value.npos) continue;
    for (const std::string_view word : split(value, ','))
      if (trim(word).empty())
        return fmt::format("{}: found '{}', expected a word on both sides of each comma", option->names, value);
  }
  return {};
}

/// What the library refused, in the project's words: what was found, what was expected. Its own where it is another.
std::string refused_words(const OptionList& list, const std::vector<std::string>& words, std::string said) {
  std::map<const Option*, int> times;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
    const Option* option = list.find(std::string_view(words[i]).substr(0, equals));
    if (option == nullptr || option->positional()) continue;
    const bool collects = option->is_list || std::holds_alternative<std::vector<std::string>*>(option->target);
    const bool flag = std::holds_alternative<bool*>(option->target);
    if (++times[option] > 1 && !collects && !flag) return fmt::format("{}: found twice, expected once", option->names);
    if (flag) continue;
    std::optional<std::string> value;
    if (equals != std::string::npos)
      value = words[i].substr(equals + 1);
    else if (i + 1 < words.size() && list.find(words[i + 1]) == nullptr)
      value = words[++i];
    if (std::string wrong = wrong_value(*option, value); !wrong.empty()) return wrong;
  }
  for (const auto& [option, count] : times) {
    if (!option->needs.empty() && !times.contains(list.find(option->needs)))
      return fmt::format("found {} without {}, expected both or neither", option->names, option->needs);
    if (option->excludes.empty()) continue;
    for (const std::string_view other : split(option->excludes, ','))
      if (times.contains(list.find(other)))
        return fmt::format("found {} and {}, expected one of them", option->names, other);
  }
  return said;
}

}  // namespace

Option& OptionList::add(std::string names, Option::Target target, std::string what, std::string value) {
  Option& option = options.emplace_back();
  option.section = section;
  option.names = std::move(names);
  option.target = target;
  option.what = std::move(what);
  option.value = std::move(value);
  return option;
}

Option& OptionList::add_count(std::string names, std::int64_t* target, std::string what) {
  Option& option = add(std::move(names), target, std::move(what), "N");
  option.not_negative = true;
  return option;
}

Option& OptionList::add_list(std::string names, std::string* target, std::string what, std::string value) {
  Option& option = add(std::move(names), target, std::move(what), std::move(value));
  option.is_list = true;
  return option;
}

const Option* OptionList::find(std::string_view name) const {
  const auto found = std::find_if(options.begin(), options.end(), [&](const Option& option) {
    const std::vector<std::string_view> names = split(option.names, ',');
    return std::find(names.begin(), names.end(), name) != names.end();
  });
  return found == options.end() ? nullptr : &*found;
}

ParsedWords parse_options(const OptionList& list, std::span<char* const> words, std::string_view command) {
  CLI::App app;
  app.allow_extras();
  app.set_help_flag();
  std::vector<CLI::Option*> added;
  for (const Option& option : list.options) added.push_back(add_to(app, option));
  for (std::size_t i = 0; i < added.size(); ++i) {
    const Option& option = list.options[i];
    if (!option.needs.empty()) added[i]->needs(app.get_option(option.needs));
    if (!option.excludes.empty())
      for (const std::string_view other : split(option.excludes, ','))
        added[i]->excludes(app.get_option(std::string(other)));
  }
  const std::vector<std::string> spelled = spelled_out(list, words);
  if (std::string wrong = empty_entry(list, spelled); !wrong.empty())
    throw Error(Fault::usage, std::move(wrong), fmt::format("see tailor {} --help", command));
  try {
    // The library takes the first word for the program's name.
    std::vector<const char*> all{"tailor"};
    for (const std::string& word : spelled) all.push_back(word.c_str());
    app.parse(static_cast<int>(all.size()), all.data());
  } catch (const CLI::ParseError& error) {
    throw Error(Fault::usage, refused_words(list, spelled, error.what()), fmt::format("see tailor {} --help", command));
  }
  ParsedWords parsed;
  parsed.unknown = app.remaining();
  for (std::size_t i = 0; i < added.size(); ++i)
    if (added[i]->count() > 0) parsed.given.push_back(&list.options[i]);
  return parsed;
}

}  // namespace tailor::cli
