// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions: results, parameters, directives for the assembler, and the body statement by statement. In: tokens after
// .entry or .func. Out: a PtxFunction in the module. Braces are counted by the scopes, not by recursion. A label stands
// before the next instruction, also when that is the end of the body.
#include <fmt/format.h>

#include <map>
#include <vector>

#include "profiler/simulator/ptx/ptx_parser.h"

namespace tailor::simulator {

void PtxParser::function(bool entry) {
  function_ = {};
  function_.entry = entry;
  function_.line = lex_.token().line;
  source_ = {};
  callers_.clear();
  while (lex_.accept_word(".attribute")) lex_.skip_enclosed('(', ')');
  if (!entry && lex_.at_mark('(')) function_.results = parameters();
  function_.name = lex_.name("the name of a function");
  functions_.insert(function_.name);
  if (lex_.at_mark('(')) function_.params = parameters();
  performance_directives();
  if (lex_.at_mark('{'))
    body();
  else if (!lex_.accept(';'))
    lex_.fail("'{' before the body of the function");
  module_.functions.push_back(std::move(function_));
}

std::vector<PtxVariable> PtxParser::parameters() {
  std::vector<PtxVariable> all;
  lex_.expect('(', "before the parameters");
  if (lex_.accept(')')) return all;
  do {
    if (lex_.accept_word("...")) continue;
    if (!lex_.at_word() || !lex_.token().text.starts_with(".param"))
      lex_.fail("a parameter that begins with .param", "parameters in registers are not read");
    Declared declared;
    declared.space = PtxSpace::param;
    lex_.advance();
    modifiers(declared);
    all.push_back(declarator(declared, false));
  } while (lex_.accept(','));
  lex_.expect(')', "after the parameters");
  return all;
}

std::array<std::uint32_t, 3> PtxParser::extents3() {
  std::array<std::uint32_t, 3> found{1, 1, 1};
  std::size_t dimension = 0;
  do {
    if (dimension == found.size()) lex_.fail("at most three extents");
    const bool none = dimension == 0 && lex_.token().kind != PtxTokenKind::integer;
    if (none) lex_.fail("an extent");
    found[dimension++] = static_cast<std::uint32_t>(lex_.integer("an extent", 0x7fffffff));
  } while (lex_.accept(','));
  return found;
}

void PtxParser::performance_directives() {
  while (lex_.at_directive()) {
    if (lex_.accept_word(".reqntid")) {
      function_.reqntid = extents3();
    } else if (lex_.accept_word(".maxntid")) {
      function_.maxntid = extents3();
    } else if (lex_.accept_word(".reqnctapercluster")) {
      function_.cluster = extents3();
    } else if (lex_.accept_word(".explicitcluster")) {
      function_.explicit_cluster = true;
    } else if (lex_.accept_word(".pragma")) {
      skip_pragma();
    } else {
      // What else there is advises the assembler: a word and maybe numbers. Unknown ones of later versions look alike.
      lex_.advance();
      while (lex_.token().kind == PtxTokenKind::integer) {
        lex_.advance();
        lex_.accept(',');
      }
      if (lex_.at_mark('(')) lex_.skip_enclosed('(', ')');
    }
  }
}

void PtxParser::body() {
  function_.defined = true;
  scopes_.reset();
  std::uint32_t index = 0;
  for (const std::vector<PtxVariable>* part : {&function_.params, &function_.results})
    for (const PtxVariable& variable : *part)
      if (!scopes_.declare(variable.name, {PtxScopes::Kind::variable, index++}) && variable.name != "_")
        lex_.fail_at(variable.name, fmt::format("found a second parameter '{}', expected a new name", variable.name));
  lex_.expect('{', "before the body of the function");
  while (scopes_.depth() > 0) {
    if (lex_.token().kind == PtxTokenKind::end)
      lex_.fail(fmt::format("'}}' at the end of '{}'", function_.name), "the text may be cut off");
    body_statement();
  }
  finish_body();
}

void PtxParser::finish_body() {
  if (!scopes_.pending().empty()) {
    const std::string_view name = scopes_.pending().front().name;
    lex_.fail_at(name, fmt::format("found '{}', expected a label of this function", name),
                 "labels inside braces are not seen outside them");
  }
  // Variables of the module come after all those of the function, whose number is known only now.
  const std::size_t own = function_.params.size() + function_.results.size() + function_.variables.size();
  for (PtxOperand& operand : function_.operands) {
    if (operand.kind != PtxOperandKind::variable || operand.count == 0) continue;
    operand.index += static_cast<std::uint32_t>(own);
    operand.count = 0;
  }
}

void PtxParser::body_statement() {
  if (lex_.at_mark('@')) return guard();
  if (lex_.at_word()) {
    if (lex_.at_directive()) return body_directive();
    const std::string_view word = lex_.token().text;
    const std::uint32_t line = lex_.token().line;
    lex_.advance();
    if (lex_.accept(':')) return label(word, word);
    function_.instructions.emplace_back();
    return instruction(word, line);
  }
  if (lex_.accept(';')) return;
  if (lex_.at_mark('{')) {
    if (scopes_.depth() == PtxScopes::most_nested) lex_.fail("braces nested less deep");
    scopes_.open();
  } else if (lex_.at_mark('}')) {
    scopes_.close(function_);
  } else {
    lex_.fail("an instruction, a label or a declaration");
  }
  lex_.advance();
}

void PtxParser::body_directive() {
  if (lex_.accept_word(".loc")) return location();
  if (lex_.accept_directive(".reg")) return registers();
  bool external = false;
  while (lex_.at_word(".extern") || lex_.at_word(".visible") || lex_.at_word(".weak")) {
    external = external || lex_.at_word(".extern");
    lex_.advance();
  }
  if (lex_.accept_directive(".param")) return body_variables(PtxSpace::param, external);
  if (lex_.accept_directive(".shared")) return body_variables(PtxSpace::shared, external);
  if (lex_.accept_directive(".local")) return body_variables(PtxSpace::local, external);
  if (lex_.accept_directive(".global")) return body_variables(PtxSpace::global, external);
  if (lex_.accept_directive(".const")) return body_variables(PtxSpace::constant, external);
  if (lex_.accept_word(".pragma")) return skip_pragma();
  if (lex_.accept_word(".file")) return source_file();
  if (lex_.accept_word(".section")) return section();
  lex_.fail("an instruction, a label or a declaration such as .reg or .shared");
}

void PtxParser::registers() {
  Declared declared;
  modifiers(declared);
  if (declared.vector > 1) lex_.fail("registers of one value", "vector registers (.v2, .v4) are not read");
  do {
    const std::string_view name = lex_.name("the name of a register");
    bool fresh = true;
    if (lex_.accept('<')) {
      const std::string_view place = lex_.token().text;
      const std::uint64_t count = lex_.integer("the number of registers", ~std::uint64_t{0});
      if (!scopes_.fits(count))
        lex_.fail_at(place, fmt::format("found {} registers, expected at most {} in one function", count,
                                        PtxScopes::most_registers));
      lex_.expect('>', "after the number of registers");
      fresh = scopes_.declare_range(name, static_cast<std::uint8_t>(declared.bits), count);
    } else {
      const auto index = static_cast<std::uint32_t>(function_.registers.size());
      function_.registers.push_back({name, static_cast<std::uint8_t>(declared.bits)});
      fresh = scopes_.declare(name, {PtxScopes::Kind::reg, index});
    }
    if (!fresh) lex_.fail_at(name, fmt::format("found a second '{}' in one scope, expected a new name", name));
  } while (lex_.accept(','));
  lex_.expect(';', "after the registers");
}

namespace {

/// The innermost frame that lies in the file of the outermost one: of a line that was inlined from a header, the line
/// of the kernel's own file that called it.
PtxSource line_of_kernel(const std::map<PtxPlace, PtxPlace>& callers, PtxPlace place) {
  std::vector<PtxPlace> frames{place};
  for (auto at = callers.find(place); at != callers.end() && frames.size() < 64; at = callers.find(frames.back()))
    frames.push_back(at->second);
  for (const PtxPlace& one : frames)
    if (one.file == frames.back().file) return {one.file, one.line};
  return {place.file, place.line};
}

}  // namespace

void PtxParser::location() {
  const auto place = [&](const char* what) {
    PtxPlace made;
    made.file = static_cast<std::uint32_t>(lex_.integer(what, 0xffffffff));
    made.line = static_cast<std::uint32_t>(lex_.integer("a line", 0xffffffff));
    made.column = static_cast<std::uint32_t>(lex_.integer("a column", 0xffffffff));
    return made;
  };
  const PtxPlace here = place("the number of a source file");
  callers_.erase(here);
  while (lex_.accept(',')) {
    if (lex_.accept_word("function_name")) {
      if (!lex_.at_word()) lex_.fail("the label of a function's name");
      lex_.advance();
      offset();
    } else if (lex_.accept_word("inlined_at")) {
      callers_.insert_or_assign(here, place("the number of the calling file"));
    } else {
      lex_.fail("function_name or inlined_at");
    }
  }
  source_ = line_of_kernel(callers_, here);
}

void PtxParser::label(std::string_view name, std::string_view place) {
  if (lex_.accept_word(".branchtargets")) {
    branch_targets(name);
  } else if (lex_.at_word(".callprototype") || lex_.at_word(".calltargets")) {
    skip_statement();
  }
  if (!scopes_.declare_label(name, static_cast<std::uint32_t>(function_.instructions.size())))
    lex_.fail_at(place, fmt::format("found a second label '{}' in one scope, expected a new name", name));
}

void PtxParser::branch_targets(std::string_view name) {
  const auto list = static_cast<std::uint32_t>(function_.branch_targets.size());
  function_.branch_targets.push_back({name, {}});
  do {
    std::vector<std::uint32_t>& targets = function_.branch_targets.back().instructions;
    scopes_.use_label({lex_.name("a label"), static_cast<std::uint32_t>(targets.size()), list});
    targets.push_back(PtxOperand::no_index);
  } while (lex_.accept(','));
  lex_.expect(';', "after the branch targets");
}

void PtxParser::guard() {
  lex_.expect('@', "before a guard");
  const bool negated = lex_.accept('!');
  const std::string_view name = lex_.name("a predicate register");
  const auto found = scopes_.find(name, function_);
  if (!found || found->kind != PtxScopes::Kind::reg || function_.registers[found->index].bits != 1)
    lex_.fail_at(name, fmt::format("found '{}', expected a predicate register", name));
  const std::string_view opcode = lex_.token().text;
  const std::uint32_t line = lex_.token().line;
  if (!lex_.at_word() || lex_.at_directive()) lex_.fail("an instruction after the guard");
  lex_.advance();
  PtxInstruction& guarded = function_.instructions.emplace_back();
  guarded.guard = found->index;
  guarded.guard_negated = negated;
  instruction(opcode, line);
}

void PtxParser::instruction(std::string_view opcode, std::uint32_t line) {
  opcode_ = opcode;
  scratch_.clear();
  if (!lex_.at_mark(';')) {
    do {
      const PtxOperand next = operand(0);
      scratch_.push_back(next);
    } while (lex_.accept(','));
  }
  if (!lex_.accept(';')) lex_.fail(fmt::format("',' or ';' after an operand of {}", opcode));
  PtxInstruction& made = function_.instructions.back();
  made.opcode = opcode;
  made.line = line;
  made.source = source_;
  made.first = static_cast<std::uint32_t>(function_.operands.size());
  made.count = static_cast<std::uint32_t>(scratch_.size());
  for (const PtxOperand& each : scratch_) {
    if (each.kind == PtxOperandKind::label)
      scopes_.use_label({each.name, static_cast<std::uint32_t>(function_.operands.size())});
    function_.operands.push_back(each);
  }
}

}  // namespace tailor::simulator
