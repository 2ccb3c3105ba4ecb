// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The tables of skeletons and plan fields, and what derives from them: the value of a field as a number and as a word,
// the text form of a plan and its reader, bodies of a pack among them. The store keeps the text: its view plan_axes
// splits it into name and value. A field that the plan's skeleton does not have is refused by name when it is read, and
// left out when it is written. Fields that older versions wrote are known by name, so that their texts are told from
// misspelt ones.
#include "ir/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/indexed.h"
#include "base/text.h"

namespace tailor::ir {

namespace {

constexpr std::array homes_names =
    std::to_array<std::string_view>({"registers", "shared", "recompute", "reload", "widest-shared", "widest-reload",
                                     "moved-shared", "moved-cluster", "recompute-shared", "recompute-mixed"});
static_assert(homes_names.size() == homes_words);
constexpr std::array grid_names = std::to_array<std::string_view>({"tile", "persistent"});
constexpr std::array meeting_names = std::to_array<std::string_view>({"last", "grid", "kernel"});
constexpr std::array flag_names = std::to_array<std::string_view>({"off", "on"});

/// The words that values of a type are written with; none for numbers.
template <class T>
constexpr std::span<const std::string_view> words_of() {
  if constexpr (std::is_same_v<T, std::vector<Home>>)
    return homes_names;
  else if constexpr (std::is_same_v<T, GridShape>)
    return grid_names;
  else if constexpr (std::is_same_v<T, Meeting>)
    return meeting_names;
  else if constexpr (std::is_same_v<T, Arithmetic>)
    return arithmetic_names;
  else if constexpr (std::is_same_v<T, bool>)
    return flag_names;
  else
    return {};
}

constexpr std::array field_table = std::to_array<PlanFieldRow>({
#define PLAN_FIELD(name, type, kind, start, turn, head, example) \
  {PlanField::name, #name, FieldKind::kind, turn, head, example, words_of<type>()},
#include "ir/plan_fields.def"
#undef PLAN_FIELD
});

constexpr std::array skeleton_table = [] {
  using enum PlanField;
  return std::to_array<SkeletonRow>({
#define SKELETON(name, unit, what, ...) {Skeleton::name, #name, WorkUnit::unit, what, field_bits({__VA_ARGS__})},
#include "ir/skeletons.def"
#undef SKELETON
  });
}();
static_assert(plan_field_count <= 32);

[[noreturn]] void bad_plan_word(std::string_view word, std::string_view expected, std::string hint = {}) {
  throw Error(Fault::usage, fmt::format("plan: found '{}', expected {}", echoed(word), expected), std::move(hint));
}

std::optional<int> to_number(std::string_view word) {
  int value = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (fault != std::errc{} || end != word.data() + word.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<int> to_node(std::string_view word) {
  return word.empty() || word[0] != '%' ? std::nullopt : to_number(word.substr(1));
}

/// A number that starts at 0 may be 0, which says nothing; others count something.
int least_of(const PlanFieldRow& field) { return std::min(1, value(Plan{}, field.field)); }

template <class T>
int as_number(const T& value) {
  if constexpr (std::is_same_v<T, std::vector<Home>>)
    return static_cast<int>(value.size());
  else
    return static_cast<int>(value);
}

template <class T>
void from_number(T& into, int value) {
  if constexpr (!std::is_same_v<T, std::vector<Home>>) into = static_cast<T>(value);
}

void append_number(std::string& out, int value) {
  std::array<char, 12> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

void append_homes(std::string& out, const std::vector<Home>& homes) {
  for (std::size_t i = 0; i < homes.size(); ++i) {
    out += i == 0 ? "%" : ",%";
    append_number(out, homes[i].node);
    out += '@';
    out += name(homes[i].level);
  }
}

void append_value(std::string& out, const PlanFieldRow& field, int value) {
  if (!field.words.empty()) return void(out += field.words[static_cast<std::size_t>(value)]);
  if (field.kind == FieldKind::node) out += '%';
  append_number(out, value);
}

void append_field(std::string& out, const Plan& plan, const PlanFieldRow& field) {
  if (field.kind == FieldKind::homes)
    append_homes(out, plan.homes);
  else
    append_value(out, field, value(plan, field.field));
}

std::vector<std::string_view> home_level_names() {
  std::vector<std::string_view> names;
  for (const StitchLevel level : stitch_levels()) names.push_back(name(level));
  return names;
}

/// The words of an axis say in which memory all values wait; a home says who shares that memory.
std::string home_hint(std::string_view word, std::span<const std::string_view> names) {
  struct MemoryRow {
    HomesWord memory;
    StitchLevel level;
  };
  constexpr auto memories = std::to_array<MemoryRow>(
      {{HomesWord::registers, StitchLevel::registers}, {HomesWord::shared, StitchLevel::block}});
  for (const auto& [memory, level] : memories)
    if (word == homes_names[static_cast<std::size_t>(memory)])
      return fmt::format("{} is a word of --axis homes=; of one value that is {}", word, name(level));
  return suggestion(word, names);
}

std::vector<Home> parse_homes(std::string_view value) {
  std::vector<Home> homes;
  for (const std::string_view item : split(value, ',')) {
    const std::size_t at = item.find('@');
    const std::optional<int> node = at == item.npos ? std::nullopt : to_node(item.substr(0, at));
    if (!node) bad_plan_word(item, "node@level such as %3@register");
    const std::optional<StitchLevel> level = stitch_level_named(item.substr(at + 1));
    if (!level) {
      const std::vector<std::string_view> names = home_level_names();
      bad_plan_word(item.substr(at + 1), fmt::format("one of {}", fmt::join(names, ", ")),
                    home_hint(item.substr(at + 1), names));
    }
    if (!homes.empty() && homes.back().node >= *node)
      bad_plan_word(item, fmt::format("a node behind %{}: homes ascend, each node once", homes.back().node));
    homes.push_back({*node, *level});
  }
  return homes;
}

/// Whether the text of a plan has the field.
bool is_written(const Plan& plan, const PlanFieldRow& field) {
  static const Plan start;
  if (!row(plan.skeleton).has(field.field)) return false;
  const int unsaid = value(start, field.field);
  const bool may_be_unsaid = field.kind == FieldKind::homes || field.kind == FieldKind::option ||
                             (field.kind == FieldKind::number && unsaid == 0);
  const bool always = field.turn > 0 && !may_be_unsaid;
  return always || value(plan, field.field) != unsaid;
}

/// The values of fields that another plan says for this one too.
void copy_said(Plan& to, const Plan& from, std::uint32_t said) {
  for (const PlanFieldRow& field : field_table)
    if (has_field(said, field.field)) set_value(to, field.field, value(from, field.field));
}

Skeleton parse_skeleton(std::string_view word) {
  std::vector<std::string_view> names;
  for (const SkeletonRow& skeleton : skeleton_table) {
    if (skeleton.name == word) return skeleton.skeleton;
    names.push_back(skeleton.name);
  }
  bad_plan_word(word, fmt::format("one of {}", fmt::join(names, ", ")), suggestion(word, names));
}

/// What to try in the place of a value that does not read.
std::string hint_of(const PlanFieldRow& field, std::string_view word) {
  if (!field.words.empty()) return suggestion(word, field.words);
  if (field.kind == FieldKind::node) return "tailor explore lists plans, whose text names their nodes";
  return fmt::format("'tailor list axes' says which values of {} are legal", field.name);
}

/// `at` is the place of the value in the whole text, from 1 on.
void set(Plan& plan, std::string_view key, std::string_view word, std::size_t at) {
  const SkeletonRow& skeleton = row(plan.skeleton);
  std::vector<std::string_view> known;
  for (const PlanFieldRow& field : field_table)
    if (skeleton.has(field.field)) known.push_back(field.name);
  const std::optional<PlanField> field = plan_field_named(key);
  if (!field) {
    const std::string_view successor = successor_of(key);
    bad_plan_word(key, "a field of a plan", successor.empty() ? suggestion(key, known) : std::string(successor));
  }
  if (!skeleton.has(*field))
    bad_plan_word(key, fmt::format("a field of a plan of skeleton {}", skeleton.name),
                  fmt::format("it has {}", fmt::join(known, ", ")));
  if (row(*field).kind == FieldKind::homes) return void(plan.homes = parse_homes(word));
  const std::optional<int> value = parse_value(*field, word);
  if (!value)
    throw Error(
        Fault::usage,
        fmt::format("plan: found {}='{}' at character {}, expected {}", key, echoed(word), at, values_read(*field)),
        hint_of(row(*field), word));
  set_value(plan, *field, *value);
}

}  // namespace

std::span<const PlanFieldRow> plan_fields() { return field_table; }
std::span<const SkeletonRow> skeletons() { return skeleton_table; }

std::optional<PlanField> plan_field_named(std::string_view name) {
  for (const PlanFieldRow& field : field_table)
    if (field.name == name) return field.field;
  return std::nullopt;
}

int value(const Plan& plan, PlanField field) {
  switch (field) {
#define PLAN_FIELD(name, type, kind, start, turn, head, example) \
  case PlanField::name:                                          \
    return as_number(plan.name);
#include "ir/plan_fields.def"
#undef PLAN_FIELD
  }
  return 0;
}

void set_value(Plan& plan, PlanField field, int value) {
  switch (field) {
#define PLAN_FIELD(name, type, kind, start, turn, head, example) \
  case PlanField::name:                                          \
    return from_number(plan.name, value);
#include "ir/plan_fields.def"
#undef PLAN_FIELD
  }
}

void copy_fields(Plan& to, const Plan& from, Skeleton skeleton) {
  copy_said(to, from, shared_fields(skeleton));
  for (Plan& body : to.bodies) copy_fields(body, from, skeleton);
}

std::uint32_t shared_fields(Skeleton skeleton) { return row(skeleton).fields & ~field_bits({PlanField::homes}); }

std::string value_text(PlanField field, int value) {
  std::string out;
  append_value(out, row(field), value);
  return out;
}

std::optional<int> parse_value(PlanField field, std::string_view word) {
  const PlanFieldRow& which = row(field);
  if (which.kind == FieldKind::node) return to_node(word);
  if (which.kind == FieldKind::number) {
    const std::optional<int> number = to_number(word);
    if (number && *number < least_of(which)) return std::nullopt;
    return field == PlanField::cluster && number == 1 ? std::optional(0) : number;
  }
  for (std::size_t i = 0; i < which.words.size(); ++i)
    if (which.words[i] == word) return static_cast<int>(i);
  return std::nullopt;
}

std::string values_read(PlanField field) {
  const PlanFieldRow& which = row(field);
  const std::string most = with_commas(std::numeric_limits<int>::max());
  const int least = least_of(which);
  if (which.kind == FieldKind::node) return "a node such as %5";
  if (which.kind == FieldKind::number) return fmt::format("a whole number from {} to {}", least, most);
  return fmt::format("one of {}", fmt::join(which.words, ", "));
}

std::string field_text(const Plan& plan, PlanField field) {
  std::string out;
  append_field(out, plan, row(field));
  return out;
}

bool agree(const Plan& a, const Plan& b, PlanField field) {
  switch (field) {
#define PLAN_FIELD(name, type, kind, start, turn, head, example) \
  case PlanField::name:                                          \
    return a.name == b.name;
#include "ir/plan_fields.def"
#undef PLAN_FIELD
  }
  return false;
}

std::string_view successor_of(std::string_view field) {
  if (field == "residence")
    return "homes says for each value where it waits, homes=%0@register,%7@block; of an axis homes=shared, as "
           "residence=shared was";
  if (field == "sub_roots")
    return "the level of each reduction follows from threads_per_row; homes=%0@register,%7@block says where values "
           "wait";
  return {};
}

std::string_view older_field_in(std::string_view text) {
  for (const std::string_view word : split(text, ' '))
    if (const std::string_view key = word.substr(0, word.find('=')); !successor_of(key).empty()) return key;
  return {};
}

std::string_view name(Skeleton skeleton) { return row(skeleton).name; }
std::string_view name(HomesWord word) { return row_for(homes_names, word); }
std::string_view name(GridShape grid) { return row_for(grid_names, grid); }
std::string_view name(Meeting meeting) { return row_for(meeting_names, meeting); }

namespace {

/// Without fields that stand in `said` already.
void append_plan(std::string& out, const Plan& plan, std::uint32_t said) {
  out += name(plan.skeleton);
  for (const PlanFieldRow& field : field_table) {
    if (!is_written(plan, field) || has_field(said, field.field)) continue;
    out += ' ';
    out += field.name;
    out += '=';
    append_field(out, plan, field);
  }
}

/// Stands before each body.
std::string_view bar_of(Skeleton skeleton) { return skeleton == Skeleton::stages ? "||" : "|"; }

/// A plan, or a body of the pack or the stages `of`; what that one says, or what it is part of, it does not say again.
/// `source` is a part of the `whole` text.
Plan parse_one(std::string_view whole, std::string_view source, const Plan* of, std::uint32_t said_before) {
  Plan plan;
  bool first = true;
  std::vector<std::string_view> said;
  for (std::string_view word : split(source, ' ')) {
    word = trim(word);
    if (word.empty()) continue;
    if (std::exchange(first, false)) {
      plan.skeleton = parse_skeleton(word);
      if (of != nullptr && plan.skeleton >= of->skeleton)
        bad_plan_word(word, "the skeleton of a body: no pack holds another one, nor stages");
      continue;
    }
    const std::size_t at = word.find('=');
    if (at == word.npos) bad_plan_word(word, "key=value");
    const std::string_view key = word.substr(0, at);
    const std::string_view value = word.substr(at + 1);
    set(plan, key, value, static_cast<std::size_t>(value.data() - whole.data()) + 1);
    if (std::find(said.begin(), said.end(), key) != said.end()) bad_plan_word(key, "each field once");
    if (has_field(said_before, *plan_field_named(key)))
      bad_plan_word(key, "a field of the body alone", "what holds for all bodies stands before the first bar");
    said.push_back(key);
  }
  if (first && of != nullptr)
    bad_plan_word("", "a plan behind each bar, that of a body or a stage, which begins with its skeleton");
  if (first) parse_skeleton("");
  if (of != nullptr) copy_said(plan, *of, said_before);
  return plan;
}

void append_with_bodies(std::string& out, const Plan& plan, std::uint32_t said) {
  append_plan(out, plan, said);
  said |= shared_fields(plan.skeleton);
  for (const Plan& body : plan.bodies) {
    out += ' ';
    out += bar_of(plan.skeleton);
    out += ' ';
    append_with_bodies(out, body, said);
  }
}

std::vector<std::string_view> split_at(std::string_view source, std::string_view bar) {
  std::vector<std::string_view> parts;
  for (std::size_t end = source.find(bar); end != source.npos; end = source.find(bar)) {
    parts.push_back(source.substr(0, end));
    source.remove_prefix(end + bar.size());
  }
  parts.push_back(source);
  return parts;
}

Plan parse_with_bodies(std::string_view whole, std::string_view source, const Plan* of, std::uint32_t said) {
  const std::string_view bar = source.find("||") == source.npos ? "|" : "||";
  const std::vector<std::string_view> parts = split_at(source, bar);
  Plan plan = parse_one(whole, parts.front(), of, said);
  const bool has_bodies = row(plan.skeleton).unit == WorkUnit::bodies;
  if (parts.size() > 1 && (!has_bodies || bar_of(plan.skeleton) != bar))
    bad_plan_word(bar, fmt::format("the end of a plan of skeleton {}", name(plan.skeleton)));
  if (has_bodies && parts.size() < 2)
    bad_plan_word("", fmt::format("the bodies of {0} behind bars, {0} threads=256 {1} map dominant=%3 {1} ...",
                                  name(plan.skeleton), bar_of(plan.skeleton)));
  said |= shared_fields(plan.skeleton);
  for (std::size_t i = 1; i < parts.size(); ++i) plan.bodies.push_back(parse_with_bodies(whole, parts[i], &plan, said));
  return plan;
}

}  // namespace

std::string text(const Plan& plan) {
  constexpr std::size_t usual_length = 192;
  std::string out;
  out.reserve(usual_length);
  append_with_bodies(out, plan, 0);
  return out;
}

Plan parse_plan(std::string_view source) { return parse_with_bodies(source, source, nullptr, 0); }

Id id_of(const Plan& plan, Id group) { return tailor::id_of(std::string_view(hex(group) + ' ' + text(plan))); }

}  // namespace tailor::ir
