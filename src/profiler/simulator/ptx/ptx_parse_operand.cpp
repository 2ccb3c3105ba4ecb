// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Operands. In: tokens of one instruction. Out: operands in the function's list. A name means, in this order: a
// register or variable of the function, a special register, a variable of the module, a function, and for branches and
// calls a label. Groups gather their members in a scratch stack first, because the members of a group must lie side by
// side while groups inside it are made on the way.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/simulator/ptx/ptx_parser.h"

namespace tailor::simulator {

namespace {

constexpr int most_nested_groups = 6;

constexpr std::array special_names = std::to_array<std::string_view>({"tid",
                                                                      "ntid",
                                                                      "laneid",
                                                                      "warpid",
                                                                      "nwarpid",
                                                                      "ctaid",
                                                                      "nctaid",
                                                                      "smid",
                                                                      "nsmid",
                                                                      "gridid",
                                                                      "is_explicit_cluster",
                                                                      "clusterid",
                                                                      "nclusterid",
                                                                      "cluster_ctaid",
                                                                      "cluster_nctaid",
                                                                      "cluster_ctarank",
                                                                      "cluster_nctarank",
                                                                      "lanemask_eq",
                                                                      "lanemask_le",
                                                                      "lanemask_lt",
                                                                      "lanemask_ge",
                                                                      "lanemask_gt",
                                                                      "clock",
                                                                      "clock_hi",
                                                                      "clock64",
                                                                      "globaltimer",
                                                                      "globaltimer_lo",
                                                                      "globaltimer_hi",
                                                                      "reserved_smem_offset_begin",
                                                                      "reserved_smem_offset_end",
                                                                      "reserved_smem_offset_cap",
                                                                      "total_smem_size",
                                                                      "aggr_smem_size",
                                                                      "dynamic_smem_size",
                                                                      "current_graph_exec"});

/// Names that are followed by a number: %envreg0, %pm3, %pm3_64, %reserved_smem_offset_1.
constexpr std::array special_prefixes = std::to_array<std::string_view>({"envreg", "pm", "reserved_smem_offset_"});

/// A byte or half word of a register, "%r2.b1": operands of video instructions. 0: none.
std::size_t selector_length(std::string_view name, std::string_view opcode) {
  constexpr std::array selectors = std::to_array<std::string_view>({".b0", ".b1", ".b2", ".b3", ".h0", ".h1"});
  if (!opcode.starts_with('v') || opcode.starts_with("vote")) return 0;
  const bool found =
      std::any_of(selectors.begin(), selectors.end(), [&](std::string_view one) { return name.ends_with(one); });
  return found ? selectors[0].size() : 0;
}

bool is_branch(std::string_view opcode) { return opcode.starts_with("bra") || opcode.starts_with("brx"); }
bool is_call(std::string_view opcode) { return opcode.starts_with("call"); }

}  // namespace

bool is_ptx_special(std::string_view name) {
  name.remove_prefix(1);
  for (const std::string_view prefix : special_prefixes)
    if (name.starts_with(prefix) && name.size() > prefix.size() && name[prefix.size()] >= '0' &&
        name[prefix.size()] <= '9')
      return true;
  name = name.substr(0, name.find('.'));
  return std::find(special_names.begin(), special_names.end(), name) != special_names.end();
}

PtxOperand PtxParser::operand(int depth) {
  const PtxOperand first = single_operand(depth);
  if (!lex_.accept('|')) return first;
  const std::size_t mark = scratch_.size();
  scratch_.push_back(first);
  const PtxOperand second = single_operand(depth);
  scratch_.push_back(second);
  return gathered(PtxOperandKind::pair, mark);
}

PtxOperand PtxParser::single_operand(int depth) {
  if (depth > most_nested_groups) lex_.fail("operands nested less deep");
  const PtxToken& token = lex_.token();
  if (token.kind == PtxTokenKind::word) return named_operand();
  if (token.kind == PtxTokenKind::integer || token.kind == PtxTokenKind::real) return constant_operand(false);
  if (lex_.accept('-')) return negative_operand();
  if (lex_.at_mark('[')) return address_operand(depth);
  if (lex_.accept('{')) return grouped(PtxOperandKind::vector, '}', depth);
  if (lex_.accept('(')) return grouped(PtxOperandKind::list, ')', depth);
  if (lex_.accept('!')) {
    PtxOperand found = named_operand();
    if (found.kind != PtxOperandKind::reg) lex_.fail_at(found.name, "found '!' before what is no register");
    found.negated = true;
    return found;
  }
  lex_.fail(fmt::format("an operand of {}", opcode_));
}

PtxOperand PtxParser::named_operand() {
  const std::string_view name = lex_.name("the name of an operand");
  PtxOperand made;
  made.name = name;
  if (name == "_") return made;
  if (const auto found = scopes_.find(name, function_)) {
    made.index = found->index;
    if (found->kind == PtxScopes::Kind::reg) {
      made.kind = PtxOperandKind::reg;
      return made;
    }
    made.kind = PtxOperandKind::variable;
    made.space = variable_of(module_, function_, made).space;
    made.value = offset();
    return made;
  }
  if (const std::size_t selector = selector_length(name, opcode_); selector != 0) {
    // The decoder knows no instruction that has them and refuses it by its name.
    const auto whole = scopes_.find(name.substr(0, name.size() - selector), function_);
    if (whole && whole->kind == PtxScopes::Kind::reg) {
      made.kind = PtxOperandKind::reg;
      made.index = whole->index;
      return made;
    }
  }
  if (name.front() == '%') {
    if (!is_ptx_special(name)) fail_unknown(name);
    made.kind = PtxOperandKind::special;
    return made;
  }
  if (name == "WARP_SZ") {
    made.kind = PtxOperandKind::immediate;
    made.value = 32;
    return made;
  }
  if (is_branch(opcode_)) {
    made.kind = PtxOperandKind::label;
    return made;
  }
  if (const auto found = variables_.find(name); found != variables_.end()) {
    made.kind = PtxOperandKind::variable;
    made.space = module_.variables[found->second].space;
    made.index = found->second;
    made.count = 1;  // of the module: finish_body() moves the index
    made.value = offset();
    return made;
  }
  if (functions_.contains(name)) {
    made.kind = PtxOperandKind::function;
    return made;
  }
  if (!is_call(opcode_)) fail_unknown(name);
  made.kind = PtxOperandKind::label;
  return made;
}

void PtxParser::fail_unknown(std::string_view name) const {
  lex_.fail_at(name, fmt::format("found '{}', expected a register or a name that is declared", name),
               "it may be declared inside braces that ended, or lie beyond a range like %r<85>");
}

PtxOperand PtxParser::constant_operand(bool negative) {
  PtxOperand made;
  made.kind = PtxOperandKind::immediate;
  const PtxToken token = lex_.token();
  if (token.kind == PtxTokenKind::real) {
    made.real_bits = token.real_bits;
    std::uint64_t bits = token.value;
    if (negative) bits ^= std::uint64_t{1} << (token.real_bits - 1);
    made.value = static_cast<std::int64_t>(bits);
    lex_.advance();
    return made;
  }
  const std::uint64_t value = lex_.integer("a constant", ~std::uint64_t{0});
  made.value = static_cast<std::int64_t>((negative ? 0 - value : value) + static_cast<std::uint64_t>(offset()));
  return made;
}

PtxOperand PtxParser::negative_operand() {
  if (lex_.at_word()) lex_.fail("a number after '-'");
  return constant_operand(true);
}

PtxOperand PtxParser::address_operand(int depth) {
  lex_.expect('[', "before an address");
  PtxOperand made;
  if (lex_.at_word()) {
    const std::string_view place = lex_.token().text;
    made = named_operand();
    if (made.kind == PtxOperandKind::reg) {
      made.kind = PtxOperandKind::address;
      made.value = offset();
    } else if (made.kind == PtxOperandKind::variable) {
      made.in_brackets = true;
    } else {
      lex_.fail_at(place, fmt::format("found '{}' in an address, expected a register, a variable or a number", place));
    }
  } else {
    const bool negative = lex_.accept('-');
    if (lex_.token().kind != PtxTokenKind::integer) lex_.fail("an address: a register, a variable or a number");
    made.value = constant_operand(negative).value;
    made.kind = PtxOperandKind::address;
  }
  if (lex_.at_mark(',')) {
    // A tensor and where in it: [map, {x, y}].
    const std::size_t mark = scratch_.size();
    scratch_.push_back(made);
    while (lex_.accept(',')) {
      const PtxOperand next = operand(depth + 1);
      scratch_.push_back(next);
    }
    made = gathered(PtxOperandKind::list, mark);
    made.in_brackets = true;
  }
  lex_.expect(']', "after an address");
  return made;
}

PtxOperand PtxParser::grouped(PtxOperandKind kind, char close, int depth) {
  const std::size_t mark = scratch_.size();
  if (!lex_.accept(close)) {
    do {
      const PtxOperand next = operand(depth + 1);
      scratch_.push_back(next);
    } while (lex_.accept(','));
    lex_.expect(close, "after the operands");
  }
  return gathered(kind, mark);
}

PtxOperand PtxParser::gathered(PtxOperandKind kind, std::size_t mark) {
  PtxOperand made;
  made.kind = kind;
  made.index = static_cast<std::uint32_t>(function_.operands.size());
  made.count = static_cast<std::uint32_t>(scratch_.size() - mark);
  for (std::size_t i = mark; i < scratch_.size(); ++i) {
    if (scratch_[i].kind == PtxOperandKind::label)
      scopes_.use_label({scratch_[i].name, static_cast<std::uint32_t>(function_.operands.size())});
    function_.operands.push_back(scratch_[i]);
  }
  scratch_.resize(mark);
  return made;
}

std::int64_t PtxParser::offset() {
  std::uint64_t sum = 0;  // wraps like the address it is added to
  while (lex_.at_mark('+') || lex_.at_mark('-')) {
    bool negative = lex_.at_mark('-');
    lex_.advance();
    while (lex_.at_mark('+') || lex_.at_mark('-')) {
      negative ^= lex_.at_mark('-');
      lex_.advance();
    }
    const std::uint64_t value = lex_.integer("an offset", ~std::uint64_t{0});
    sum += negative ? 0 - value : value;
  }
  return static_cast<std::int64_t>(sum);
}

}  // namespace tailor::simulator
