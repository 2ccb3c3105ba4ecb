// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Module level. In: the tokens of a file. Out: a PtxModule with everything that the file declares; and the questions
// asked of a finished module: which variable an operand means, which entry has a name. Functions, variables and
// operands are parsed in the files beside this one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cassert>
#include <span>

#include "base/text.h"
#include "profiler/simulator/ptx/ptx_parser.h"

namespace tailor::simulator {

namespace {

struct SpaceWord {
  std::string_view word;
  PtxSpace space;
};
constexpr std::array module_spaces = std::to_array<SpaceWord>({{".global", PtxSpace::global},
                                                               {".const", PtxSpace::constant},
                                                               {".shared", PtxSpace::shared},
                                                               {".local", PtxSpace::local},
                                                               {".param", PtxSpace::param}});

constexpr std::uint64_t most_source_files = 1 << 16;

}  // namespace

PtxParser::PtxParser(PtxModule& module) : module_(module), lex_(*module.text, module.file) {}

void PtxParser::run() {
  while (lex_.token().kind != PtxTokenKind::end) statement();
}

void PtxParser::statement() {
  if (lex_.accept(';')) return;
  if (!lex_.at_directive())
    lex_.fail("a declaration such as .visible, .entry, .func or .global", "is this the text of a PTX file?");
  if (lex_.accept_word(".version")) {
    if (lex_.token().kind != PtxTokenKind::real && lex_.token().kind != PtxTokenKind::integer)
      lex_.fail("a version like 9.0");
    module_.version = lex_.token().text;
    return lex_.advance();
  }
  if (lex_.accept_word(".target")) return target();
  if (lex_.accept_word(".address_size")) {
    module_.address_size = static_cast<int>(lex_.integer("the size of an address in bits, 32 or 64", 64));
    return;
  }
  if (lex_.accept_word(".file")) return source_file();
  if (lex_.accept_word(".section")) return section();
  if (lex_.accept_word(".pragma")) return skip_pragma();
  if (lex_.accept_word(".alias")) return skip_statement();
  bool external = false;
  for (;;) {
    if (lex_.accept_word(".extern"))
      external = true;
    else if (!lex_.accept_word(".visible") && !lex_.accept_word(".weak") && !lex_.accept_word(".common"))
      break;
  }
  if (lex_.accept_word(".entry")) return function(true);
  if (lex_.accept_word(".func")) return function(false);
  for (const SpaceWord& row : module_spaces)
    if (lex_.accept_word(row.word)) return module_variables(row.space, external);
  lex_.fail("a declaration such as .entry, .func, .global, .const or .shared");
}

void PtxParser::target() {
  module_.target = lex_.name("a target like sm_90");
  while (lex_.accept(',')) lex_.name("a target's option");
}

void PtxParser::source_file() {
  const auto number = static_cast<std::size_t>(lex_.integer("the number of a source file", most_source_files));
  const std::string_view path = lex_.quoted("the path of a source file in quotes");
  if (module_.source_files.size() <= number) module_.source_files.resize(number + 1);
  module_.source_files[number] = path;
  while (lex_.accept(',')) lex_.integer("the time or size of a source file", ~std::uint64_t{0});
}

void PtxParser::section() {
  if (!lex_.at_word()) lex_.fail("the name of a section");
  lex_.advance();
  if (lex_.at_mark('{')) lex_.skip_enclosed('{', '}');
}

void PtxParser::skip_statement() {
  while (!lex_.at_mark(';')) {
    if (lex_.token().kind == PtxTokenKind::end) lex_.fail("';' at the end of the statement");
    lex_.advance();
  }
  lex_.advance();
}

void PtxParser::skip_pragma() {
  do {
    lex_.quoted("a pragma in quotes");
  } while (lex_.accept(','));
  lex_.expect(';', "after the pragma");
}

PtxModule parse_ptx(std::string text, std::string file) {
  PtxModule module;
  module.text = std::make_shared<const std::string>(std::move(text));
  module.file = file.empty() ? "PTX" : std::move(file);
  PtxParser(module).run();
  return module;
}

const PtxVariable& variable_of(const PtxModule& module, const PtxFunction& function, const PtxOperand& operand) {
  assert(operand.kind == PtxOperandKind::variable);
  std::size_t index = operand.index;
  for (const std::vector<PtxVariable>* part : {&function.params, &function.results, &function.variables}) {
    if (index < part->size()) return (*part)[index];
    index -= part->size();
  }
  return module.variables[index];
}

const PtxFunction& entry_of(const PtxModule& module, std::string_view name) {
  std::vector<std::string_view> entries;
  for (const PtxFunction& function : module.functions) {
    if (!function.entry || !function.defined) continue;
    if (function.name == name) return function;
    entries.push_back(function.name);
  }
  if (entries.empty()) throw Error(Fault::usage, fmt::format("{} has no entry that could be launched", module.file));
  if (!name.empty())
    throw Error(Fault::usage, fmt::format("{} has no entry '{}'", module.file, name), suggestion(name, entries));
  if (entries.size() > 1)
    throw Error(Fault::usage, fmt::format("{} has {} entries, expected the name of one", module.file, entries.size()),
                fmt::format("its entries: {}", fmt::join(entries, ", ")));
  for (const PtxFunction& function : module.functions)
    if (function.name == entries.front() && function.entry && function.defined) return function;
  assert(false);
  return module.functions.front();
}

}  // namespace tailor::simulator
