// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX as text became structure: what a file declares and, per function, a flat list of instructions whose operands are
// resolved to the declarations they name. In: the text of a .ptx file. Out: a PtxModule, read by the decoder, by
// xla_inplace and by tests. Nothing here knows what an instruction does: the opcode stays text ("ld.global.nc.v4.f32")
// and is looked up by the decoder. Names are views into the module's own copy of the text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tailor::simulator {

/// State spaces. `generic` is an access that names none.
enum class PtxSpace : std::uint8_t { generic, constant, global, local, param, shared };

/// A variable of any space: module-scope, function-scope or a parameter.
struct PtxVariable {
  std::string_view name;
  PtxSpace space = PtxSpace::global;
  std::uint32_t align = 1;
  std::uint32_t element_bytes = 1;
  std::int64_t bytes = 0;  ///< 0: `.extern .shared x[]`, sized at launch
  bool external = false;
  std::vector<std::byte> initial;  ///< shorter than `bytes`: the rest is zero; empty: not initialised
  /// Addresses in the initialiser: at byte `offset`, the address of a variable plus `addend`.
  struct Address {
    std::int64_t offset = 0;
    std::string_view symbol;
    std::int64_t addend = 0;
  };
  std::vector<Address> addresses;
  std::int64_t line = 0;
};

/// A virtual register. `bits` is its width: 1 (predicate), 8, 16, 32, 64 or 128. Its type is only in the opcodes.
/// Of a range (%r<85>) only those that the body names exist, in the order of their first mention.
struct PtxRegister {
  std::string_view name;
  std::uint8_t bits = 32;
};

enum class PtxOperandKind : std::uint8_t {
  reg,        ///< `index` into the function's registers; `negated` for `!%p`
  immediate,  ///< `value` holds an integer; with `real`: the bits of an f32 (`real_bits` 32) or f64 (64) constant
  special,    ///< a special register, `name` "%tid.x"
  variable,   ///< the address of a variable plus `value`; `name` its symbol, `space` and `index` where it is declared
  function,   ///< `name`; an operand of call
  label,      ///< `index` is the instruction the label stands before; it may be one past the last
  address,    ///< [base + value]; base is register `index`, or none (`index` no_index) for an absolute address
  vector,     ///< {x, y, ...}: `count` operands from `index` in the function's `operands`
  pair,       ///< x|y: two operands from `index`
  list,       ///< (x, y, ...): arguments or results of call, `count` operands from `index`. With `in_brackets` a place
              ///< in a tensor: [map, {x, y}]
  discard,    ///< _
};

struct PtxOperand {
  static constexpr std::uint32_t no_index = 0xffffffffu;
  PtxOperandKind kind = PtxOperandKind::discard;
  bool negated = false;                ///< `!%p`, or `-%r` never occurs
  bool in_brackets = false;            ///< [variable + value]: memory at the variable rather than its address
  std::uint8_t real_bits = 0;          ///< immediate: 0 integer, 32 or 64 a floating constant
  PtxSpace space = PtxSpace::generic;  ///< variable
  std::uint32_t index = no_index;
  std::uint32_t count = 0;
  std::int64_t value = 0;
  std::string_view name;
};

/// Where a PTX line came from, by `.loc`: file number of the module and line; 0: unknown.
struct PtxSource {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
};

struct PtxInstruction {
  std::string_view opcode;                     ///< "add.rn.f32"
  std::uint32_t guard = PtxOperand::no_index;  ///< predicate register
  bool guard_negated = false;
  std::uint32_t first = 0, count = 0;  ///< operands in the function's `operands`, outermost level only
  std::uint32_t line = 0;              ///< of the PTX text, from 1
  PtxSource source;
};

struct PtxFunction {
  std::string_view name;
  bool entry = false;
  bool defined = false;  ///< has a body; a mere declaration otherwise
  std::vector<PtxVariable> params;
  std::vector<PtxVariable> results;  ///< device functions
  std::vector<PtxRegister> registers;
  std::vector<PtxVariable> variables;  ///< of shared, local and param space declared in the body, in order
  std::vector<PtxInstruction> instructions;
  std::vector<PtxOperand> operands;  ///< top-level operands of an instruction are contiguous; nested ones elsewhere
  struct BranchTargets {
    std::string_view name;
    std::vector<std::uint32_t> instructions;
  };
  std::vector<BranchTargets> branch_targets;  ///< `.branchtargets`, for brx.idx; named by a label operand's `name`
  std::array<std::uint32_t, 3> reqntid{};     ///< 0: not given
  std::array<std::uint32_t, 3> maxntid{};
  std::array<std::uint32_t, 3> cluster{};  ///< .reqnctapercluster; 0: not given
  bool explicit_cluster = false;
  std::uint32_t line = 0;
};

struct PtxModule {
  std::shared_ptr<const std::string> text;  ///< what all names view
  std::string file;                         ///< for messages
  std::string_view version, target;         ///< "9.0", "sm_90a"
  int address_size = 64;
  std::vector<PtxVariable> variables;     ///< module scope, in order
  std::vector<PtxFunction> functions;     ///< in order, declarations too
  std::vector<std::string> source_files;  ///< by `.file` number; index 0 unused
};

/// Where a `variable` operand is declared: `index` counts first the function's params, then its results, then its
/// variables, then the module's variables.
const PtxVariable& variable_of(const PtxModule& module, const PtxFunction& function, const PtxOperand& operand);

/// Parses a whole file. Throws Error(failed) with `file`, line and column for text that is not PTX: what was found and
/// what was expected. Does not judge opcodes. Debug sections are skipped.
PtxModule parse_ptx(std::string text, std::string file = {});

/// The entry of that name, or the only one when `name` is empty. Throws Error(usage) naming the entries there are.
const PtxFunction& entry_of(const PtxModule& module, std::string_view name = {});

}  // namespace tailor::simulator
