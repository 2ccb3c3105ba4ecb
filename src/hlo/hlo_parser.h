// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The inside of the parser: one class that owns the module while it grows. In: HLO text. Out: the HloModule, or an
// Error with line and column. Called by parse_module(), whose contract stands in hlo_module.h with what a module is.
// Private to this room.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "hlo/hlo_lexer.h"
#include "hlo/hlo_module.h"

namespace tailor::hlo {

/// Names of one computation: open addressing, emptied in O(1) for the next one by a new stamp.
class NameTable {
 public:
  NameTable() : slots_(1024) {}
  void clear() { ++stamp_, used_ = 0; }
  /// The number stored for `name`; stores `value` when there is none.
  std::int32_t find_or_insert(std::string_view name, std::int32_t value);
  /// -1 when absent.
  std::int32_t find(std::string_view name) const;

 private:
  struct Slot {
    std::string_view name;
    std::uint32_t stamp = 0;
    std::int32_t value = -1;
  };
  std::size_t find_slot(std::string_view name) const;
  void grow();

  std::vector<Slot> slots_;
  std::uint32_t stamp_ = 1;
  std::size_t used_ = 0;
};

class HloParser {
 public:
  HloParser(std::string_view text, std::string_view file, const std::stop_token& stop) : lexer_(text, file) {
    module_.text = text;
    module_.file = file;
    module_.stop = stop;
  }
  HloModule parse();

 private:
  struct Unresolved {
    std::int32_t operand;
    std::string_view name;
  };

  void parse_header();
  bool skip_stack_frame_table();
  void parse_computation();
  void parse_instruction(HloComputation& computation);
  void parse_operands(HloComputation& computation, HloInstruction& instruction);
  void parse_operand(HloComputation& computation, HloInstruction& instruction);
  void parse_payload(HloInstruction& instruction);
  /// It has the form that it should have, and stands once. `at`: where its value begins.
  void check_attribute(const HloInstruction& instruction, std::string_view key, std::string_view value,
                       std::size_t at) const;
  void parse_attributes(HloInstruction& instruction);
  void finish_computation(HloComputation& computation);
  void index_computations();
  /// The entry computation has the parameters and the result that the header says it has.
  void check_entry_layout();
  void read_header_attribute(std::string_view key, std::string_view value);
  void note_attribute(std::string_view key);
  void sum_up_warnings();

  /// Appends the type to the module; its index.
  std::int32_t parse_type(int depth);
  std::int32_t parse_tuple_type(int depth);
  std::int32_t parse_array_type();
  const ir::DTypeRow& parse_dtype(std::string_view word, std::size_t offset);
  ir::Shape parse_shape(const ir::DTypeRow& dtype);
  void parse_layout(ir::Shape& shape);
  bool at_layout();
  void skip_type(int depth);
  void skip_array_rest();

  HloLexer lexer_;
  HloModule module_;
  NameTable names_;
  std::vector<Unresolved> unresolved_;
  std::vector<std::int32_t> entries_;
  std::string_view entry_layout_;  ///< as the header has it; empty: it has none
  std::int64_t elided_ = 0;        ///< constants whose contents the dump left out
  std::int64_t bounded_ = 0;       ///< shapes with a dimension that is a bound
  std::vector<std::pair<std::string_view, std::int64_t>> unknown_attributes_;  ///< with their number, in order met
};

}  // namespace tailor::hlo
