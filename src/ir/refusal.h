// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Why a plan, or a whole group, has no kernel: a name of refusals.def and a sentence. Made by the analysis of
// structures, by the lowering and by the pipeline, which cannot name what is no row; read by explore, the store and
// every answer that shows a rule.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tailor::ir {

enum class Refused : std::uint8_t { group, plan, compiled };

/// A row of refusals.def.
struct RefusalRow {
  Refused of;
  std::string_view name, what;
};
inline constexpr RefusalRow refusal_table[] = {
#define REFUSAL(of, name, what) {Refused::of, name, what},
#include "ir/refusals.def"
#undef REFUSAL
};
inline constexpr std::span<const RefusalRow> refusals() { return refusal_table; }
std::string_view name(Refused of);

/// Stands for an operation, or a type, in the names of rows, at their end.
inline constexpr std::string_view any_operation = "OP";

struct Rejection;

/// A name that may be printed as a rule: that of a row. A literal that is none does not compile. Holds views, and is
/// used up while what it was made of is there.
class Refusal {
 public:
  consteval Refusal(const char* name) : name_(name) { require_row(name_); }
  /// Passes on what was refused before.
  Refusal(const Rejection& before);
  /// Of a table of rules that is listed beside this one (explore/plans/rules.h).
  static constexpr Refusal of_rule(std::string_view listed) { return Refusal(listed, {}); }
  /// Of a row whose name ends with OP: the operation in its place.
  constexpr Refusal of(std::string_view operation) const {
    return Refusal(name_.substr(0, name_.size() - any_operation.size()), operation);
  }
  std::string text() const { return std::string(name_).append(operation_); }

 private:
  constexpr Refusal(std::string_view name, std::string_view operation) : name_(name), operation_(operation) {}
  static consteval void require_row(std::string_view name) {
    for (const RefusalRow& row : refusal_table)
      if (row.name == name) return;
    throw "refusals.def has no row of this name";
  }
  std::string_view name_, operation_;
};

/// Why a plan (or a whole group) cannot be lowered, with the numbers. `rule` is a stable short name ("registers",
/// "skeleton-transpose"), `reason` a sentence with figures.
struct Rejection {
  std::string rule;
  std::string reason;
  bool sound = true;  ///< lower itself says so, or a rule proved to imply it; false: a heuristic shortcut
  Rejection() = default;
  Rejection(const Refusal& why, std::string in_words, bool is_sound = true)
      : rule(why.text()), reason(std::move(in_words)), sound(is_sound) {}
  bool operator==(const Rejection&) const = default;
};
inline Refusal::Refusal(const Rejection& before) : name_(before.rule) {}

/// Whether a row has this name, with an operation where it has OP.
bool is_refusal(std::string_view rule);

}  // namespace tailor::ir
