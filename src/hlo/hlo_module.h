// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// An HLO module as it stands in the text: computations of instructions, operands resolved to instructions of the same
// computation, attributes kept as views. Everything lives in a few pools, so that reading an instruction allocates
// nothing; views point into the text, which must outlive the module.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/indexed.h"
#include "ir/graph/op.h"
#include "ir/graph/types.h"

namespace tailor::hlo {

/// An array or a tuple of types. The arrays of a type, in order, are a range of HloModule::shapes.
struct HloType {
  std::int32_t first_shape = 0;
  std::int32_t shapes = 0;
  std::int32_t first_child = 0;  ///< into HloModule::children
  std::int32_t children = -1;    ///< -1: an array
};

/// "name" or "name#1#0": an instruction, or a part of its tuple.
struct HloOperand {
  std::int32_t instruction = -1;  ///< within the computation
  std::int32_t first_index = 0;   ///< into HloModule::indices
  std::int32_t indices = 0;
};

struct HloAttribute {
  std::string_view key;
  std::string_view value;  ///< as printed
};

struct HloInstruction {
  std::string_view name;
  std::string_view opcode;
  std::string_view payload;  ///< what stands in the parentheses of parameter, constant, iota
  std::uint32_t offset = 0;  ///< of the name in the text
  std::int32_t type = 0;
  std::int32_t first_operand = 0, operands = 0;
  std::int32_t first_attribute = 0, attributes = 0;
  ir::Op op = ir::Op::opaque;
};

struct HloComputation {
  std::string_view name;
  std::uint32_t offset = 0;
  std::int32_t first = 0, count = 0;  ///< into HloModule::instructions
  std::int32_t root = -1;             ///< within the computation
  std::int32_t parameters = 0;
  bool sorted = true;  ///< operands stand before their users
};

struct HloModule {
  std::string_view name;
  std::string_view text, file;
  IndexedVector<HloComputation> computations;
  IndexedVector<HloInstruction> instructions;
  IndexedVector<HloOperand> operands;
  IndexedVector<std::int32_t> indices;
  IndexedVector<HloAttribute> attributes;
  IndexedVector<HloType> types;
  IndexedVector<std::int32_t> children;  ///< indices into types
  IndexedVector<ir::Shape> shapes;
  std::int32_t entry = -1;
  std::string_view input_output_alias;  ///< as printed in the header, braces included; empty: none
  std::vector<std::string> warnings;
  std::stop_token stop;  ///< of everybody who reads the module

  IndexedSpan<const HloInstruction> instructions_of(const HloComputation& c) const {
    return {instructions.data() + c.first, c.count};
  }
  IndexedSpan<const HloOperand> operands_of(const HloInstruction& i) const {
    return {operands.data() + i.first_operand, i.operands};
  }
  IndexedSpan<const HloAttribute> attributes_of(const HloInstruction& i) const {
    return {attributes.data() + i.first_attribute, i.attributes};
  }
  IndexedSpan<const ir::Shape> shapes_of(const HloType& type) const {
    return {shapes.data() + type.first_shape, type.shapes};
  }
  const HloType& type_of(const HloInstruction& i) const { return types[i.type]; }
  const HloType& child(const HloType& type, std::int32_t i) const { return types[children[type.first_child + i]]; }
  /// The printed value of an attribute, or "".
  std::string_view attribute(const HloInstruction& i, std::string_view key) const {
    for (const HloAttribute& attribute : attributes_of(i))
      if (attribute.key == key) return attribute.value;
    return {};
  }
  /// The index of a computation, '%' or not; -1 when there is none.
  std::int32_t computation_named(std::string_view name) const;

  std::vector<std::pair<std::string_view, std::int32_t>> computation_names;  ///< sorted
};

/// One pass over the text. Throws Error(failed) with file, line, column, what was found and what was expected.
HloModule parse_module(std::string_view text, std::string_view file, const std::stop_token& stop = {});

/// Reads a literal's text ("{ {1,2}, {3,4} }") into row-major bytes, one element in its own bytes. `offset` is where it
/// stands in the module's text. Returns false, with `bytes` empty, when the dump left the contents out ("{...}").
bool parse_literal(const HloModule& module, std::string_view literal, const ir::Shape& shape,
                   std::vector<std::byte>& bytes);

}  // namespace tailor::hlo
