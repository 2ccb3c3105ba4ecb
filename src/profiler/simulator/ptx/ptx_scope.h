// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The names of a function body. In: declarations and uses, in the order of the text. Out: what a name means at that
// point. Used by the parser. Braces open scopes whose names hide those outside; inline assembly repeats the same local
// names dozens of times in one function. A range of registers (%r<85>) is one entry: a register takes its number in the
// function when it is first used, so a declaration costs nothing and unused registers do not exist.
//
// Labels are known only at the end of their scope; uses wait until then and move outwards when the scope has no such
// label.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/simulator/ptx/ptx.h"

namespace tailor::simulator {

class PtxScopes {
 public:
  /// The deepest nesting of braces that is accepted.
  static constexpr std::size_t most_nested = 200;
  /// The most register numbers that the ranges of one function may hold together.
  static constexpr std::uint64_t most_registers = std::uint64_t{1} << 20;

  enum class Kind : std::uint8_t { reg, variable };
  struct Named {
    Kind kind = Kind::reg;
    std::uint32_t index = 0;
  };
  struct PendingLabel {
    std::string_view name;
    std::uint32_t operand = 0;  ///< into the function's operands, or an index of the target list when `targets`
    std::uint32_t targets = PtxOperand::no_index;  ///< which branch target list; no_index: an operand
  };

  /// A new function: no names, one scope.
  void reset();
  std::size_t depth() const { return scopes_.size(); }
  void open();
  /// Ends the innermost scope. Uses of its labels are resolved in `function`.
  void close(PtxFunction& function);

  /// False when this scope has the name already.
  bool declare(std::string_view name, Named named);
  /// Whether ranges of so many registers more may be declared.
  bool fits(std::uint64_t count) const { return count <= most_registers - registers_; }
  /// False when this scope has a range of that prefix already. The count must fit.
  bool declare_range(std::string_view prefix, std::uint8_t bits, std::uint64_t count);
  bool declare_label(std::string_view name, std::uint32_t instruction);
  void use_label(PendingLabel use) { pending_.push_back(use); }
  /// Uses that no label answered so far.
  const std::vector<PendingLabel>& pending() const { return pending_; }

  /// What a name means here. A register of a range is added to `function` on its first use.
  std::optional<Named> find(std::string_view name, PtxFunction& function);

 private:
  struct Entry {
    Named named;
    std::uint32_t depth = 0;
  };
  struct Range {
    std::uint8_t bits = 0;
    std::uint32_t depth = 0;
    std::uint64_t count = 0;
    std::uint32_t outer = PtxOperand::no_index;  ///< the range of this prefix outside; it has the numbers from count on
    std::vector<std::uint32_t> index;            ///< by number: 1 + place in the function's registers, 0: not used yet
  };
  struct Scope {
    std::size_t hidden = 0, hidden_ranges = 0, pending = 0;  ///< sizes when it opened
    std::unordered_map<std::string_view, std::uint32_t> labels;
  };

  /// The innermost range that holds a name, or nullptr.
  Range* range_of(std::string_view name, std::uint64_t& number);

  std::unordered_map<std::string_view, Entry> names_;
  std::unordered_map<std::string_view, std::uint32_t> ranges_;  ///< prefix to place in all_ranges_
  std::vector<Range> all_ranges_;
  std::vector<Scope> scopes_;
  // What a declaration hid, to be put back when its scope ends; depth 0 and no_index stand for nothing.
  std::vector<std::pair<std::string_view, Entry>> hidden_;
  std::vector<std::pair<std::string_view, std::uint32_t>> hidden_ranges_;
  std::vector<PendingLabel> pending_;
  std::uint64_t registers_ = 0;
};

}  // namespace tailor::simulator
