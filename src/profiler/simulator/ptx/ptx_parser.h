// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The parser behind parse_ptx: one pass over the tokens, a statement at a time. In: the tokens of a file. Out: a
// PtxModule. Its parts lie in files of their own: module level (ptx_parse.cpp), variables with their initialisers,
// functions and their bodies, operands. Nothing recurses deeper than a constant, whatever the text.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "profiler/simulator/ptx/ptx.h"
#include "profiler/simulator/ptx/ptx_lexer.h"
#include "profiler/simulator/ptx/ptx_scope.h"

namespace tailor::simulator {

/// A fundamental type's width; 0: no type of that name. Without the point: "b32".
int ptx_type_bits(std::string_view type);
/// Whether it begins with '%' and a function may read it without declaring it.
bool is_ptx_special(std::string_view name);

/// A place that .loc names.
struct PtxPlace {
  std::uint32_t file = 0, line = 0, column = 0;
  auto operator<=>(const PtxPlace&) const = default;
};

class PtxParser {
 public:
  explicit PtxParser(PtxModule& module);
  void run();

 private:
  /// A declaration up to its names.
  struct Declared {
    PtxSpace space = PtxSpace::global;
    std::uint32_t align = 0;  ///< 0: as the type wants
    int bits = 0;             ///< of one element of the vector
    int vector = 1;
    bool external = false;
    bool pointer = false;  ///< after .ptr: what follows is said of what it points to
  };
  static constexpr std::size_t most_dimensions = 8;
  /// An array's shape while its initialiser is read.
  struct Shape {
    std::array<std::int64_t, most_dimensions> extent{};
    std::size_t dimensions = 0;
    std::int64_t scalar = 1;                       ///< bytes
    std::int64_t stride(std::size_t level) const;  ///< bytes of one item of this dimension
  };

  // ptx_parse.cpp: module level.
  void statement();
  void target();
  void source_file();
  void section();
  void skip_statement();
  void skip_pragma();

  // ptx_parse_variable.cpp
  /// Modifiers and type, after the word of the space.
  void modifiers(Declared& declared);
  void modifier(Declared& declared, std::string_view word);
  /// Name and extents; with an initialiser where `initialised`.
  PtxVariable declarator(const Declared& declared, bool initialised);
  void extents(const Declared& declared, PtxVariable& variable, Shape& shape);
  void initialiser(PtxVariable& variable, const Shape& shape);
  void values(PtxVariable& variable, const Shape& shape, std::size_t level, std::int64_t at);
  void value(PtxVariable& variable, std::int64_t scalar, std::int64_t at);
  void masked_symbol(PtxVariable& variable, std::int64_t at, std::uint64_t mask);
  PtxVariable::Address symbol_value(std::int64_t at);
  void module_variables(PtxSpace space, bool external);
  void body_variables(PtxSpace space, bool external);

  // ptx_parse_function.cpp
  void function(bool entry);
  std::vector<PtxVariable> parameters();
  void performance_directives();
  std::array<std::uint32_t, 3> extents3();
  void body();
  void body_statement();
  void body_directive();
  void registers();
  void location();
  void label(std::string_view name, std::string_view place);
  void branch_targets(std::string_view name);
  void instruction(std::string_view opcode, std::uint32_t line);
  void guard();
  void finish_body();

  // ptx_parse_operand.cpp
  PtxOperand operand(int depth);
  PtxOperand single_operand(int depth);
  PtxOperand named_operand();
  PtxOperand address_operand(int depth);
  PtxOperand negative_operand();
  PtxOperand constant_operand(bool negative);
  PtxOperand grouped(PtxOperandKind kind, char close, int depth);
  /// Moves what lies in the scratch from `mark` on to the function's operands.
  PtxOperand gathered(PtxOperandKind kind, std::size_t mark);
  /// The sum of any "+ 4", "- 8", "+ -4" that follow.
  std::int64_t offset();
  [[noreturn]] void fail_unknown(std::string_view name) const;

  PtxModule& module_;
  PtxLexer lex_;
  PtxScopes scopes_;
  PtxFunction function_;  ///< the one being read
  PtxSource source_;
  std::map<PtxPlace, PtxPlace> callers_;  ///< of inlined places in this function, where each was last called from
  std::unordered_map<std::string_view, std::uint32_t> variables_;  ///< of the module
  std::unordered_set<std::string_view> functions_;
  std::vector<PtxOperand> scratch_;
  std::string_view opcode_;  ///< of the instruction being read
};

}  // namespace tailor::simulator
