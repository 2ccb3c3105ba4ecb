// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Decoding, inside: from a PTX function to a program. Steps, each a file: inline calls into one flat list
// (decode_flatten), turn instructions into micro-operations in blocks (decode, decode_memory, decode_warp), order the
// blocks (decode_order), forward constants (decode_forward), give registers their slots (decode_slots). Until the last
// step a slot of the frame bank holds the number of a virtual register.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/simulator/machine/program.h"

namespace tailor::simulator {

/// One inlined copy of a function.
struct CallInstance {
  const PtxFunction* function = nullptr;
  std::uint32_t first_register = 0;     ///< virtual number of its register 0
  std::vector<std::int64_t> params;     ///< local memory offsets of params, then results; entry: unused
  std::vector<std::int64_t> variables;  ///< local memory offsets of its local and param variables; shared: see Body
};

struct FlatInstruction {
  const PtxInstruction* ptx = nullptr;  ///< nullptr: an end of an inlined call, a place to jump to
  std::uint32_t instance = 0;
  std::uint32_t target = no_block;  ///< branches, returns of inlined calls: a flat index
  std::uint32_t targets = 0;        ///< brx.idx: into Flat::targets
};

struct Flat {
  std::vector<CallInstance> instances;  ///< the entry first
  std::vector<FlatInstruction> instructions;
  std::vector<std::vector<std::uint32_t>> targets;
  std::uint32_t registers = 0;
  std::int64_t local_bytes = 0;
  std::string unsupported;
};
Flat flatten(const PtxModule& module, const PtxFunction& entry);

/// Splits "ld.global.nc.v4.f32" at its dots ("::" stays inside a part).
std::vector<std::string_view> split_opcode(std::string_view opcode);

/// A block while it is made.
struct DraftBlock {
  std::vector<Micro> micros;
  CodeBlock code;
  std::uint32_t target_flat = no_block;  ///< instead of code.target
  std::vector<std::uint32_t> indirect;   ///< flat indices
};

/// The state of one decoding, and what families of instructions use to emit.
class Decoder {
 public:
  Decoder(Program::Body& body, const PtxModule& module, const PtxFunction& entry);
  void run();

 private:
  struct Current {
    const PtxInstruction* ptx = nullptr;
    const CallInstance* instance = nullptr;
    std::uint32_t site = 0;
    std::vector<std::string_view> parts;
  };

  // decode.cpp
  void allocate_variables();
  void instruction(const FlatInstruction& flat);
  bool structural();  ///< the families; false: not one of them
  void lane_instruction();
  Slot flushed(Slot slot, LaneType type);
  void compare();
  void compare_halves(const Step (&steps)[2], Slot p, Slot q, Slot a, Slot b);
  void move();
  bool branch(const FlatInstruction& flat);
  void end_block(Ending ending);
  void open_block();
  void guard_begin();
  void guard_end();
  void build_code();
  [[noreturn]] void malformed(const std::string& found) const;
  void unsupported(const std::string& why);
  void count(Pipe pipe);

  // operands
  const PtxOperand& operand(std::uint32_t i) const;
  const PtxOperand& nested(std::uint32_t i) const { return current_.instance->function->operands[i]; }
  std::uint32_t operand_count() const { return current_.ptx->count; }
  Slot source(const PtxOperand& operand, LaneType type);
  Slot destination(const PtxOperand& operand, LaneType type);
  int register_bits(const PtxOperand& operand) const;
  Slot temporary(int bits);
  Slot constant(LaunchConstant constant);
  Slot bits_constant(std::uint64_t value, int bits);
  Slot address_constant(const PtxOperand& operand, int bits);
  std::uint64_t immediate(const PtxOperand& operand, LaneType type) const;
  std::uint32_t list_of(const std::vector<Slot>& slots);
  void emit(Micro micro);
  void emit(const Step (&steps)[2], Slot d, Slot a, Slot b = no_slot, Slot c = no_slot);
  void emit_row(std::string_view key, Slot d, Slot a, Slot b = no_slot, Slot c = no_slot);
  void finish_destinations();

  // decode_memory.cpp
  bool memory_instruction();
  void load_store(bool is_load);
  std::vector<Slot> value_slots(const PtxOperand& value, int count, int bytes, std::string_view type_name, bool is_load,
                                bool& wide);
  void atomic(bool has_result);
  void param_load(const PtxOperand& address, const PtxOperand& value, int bytes, bool sign);
  /// `bytes` of an element; `whole` of a lane's access, which is several elements for vectors.
  void note_access(AccessSpace space, MemoryOrder order, int bytes, int whole);
  void address_conversion();
  struct Address {
    Slot slot = no_slot;
    std::int64_t offset = 0;
    bool wide = true;
  };
  Address address_of(const PtxOperand& operand);
  std::uint32_t memory_site(SiteKind kind);

  // decode_warp.cpp
  bool warp_instruction();
  Slot warp_operands(Micro& micro, const PtxOperand& to);
  bool barrier_instruction();
  bool async_instruction();
  void thread_copy();
  void bulk_copy();
  void mbarrier_instruction();
  Slot whole_address(const PtxOperand& operand);
  void op_ending(Ending ending, Micro op);

  // matrix_decode.cpp
  bool matrix_instruction();
  void matrix_ending(Micro micro, const std::vector<Slot>& written, const std::vector<Slot>& read);
  std::vector<Slot> fragment(const PtxOperand& whole, int many, LaneType type, bool written);
  void product();
  void tiles(bool load);

  Program::Body& body_;
  const PtxModule& module_;
  const PtxFunction& entry_;
  Flat flat_;
  Current current_;
  std::vector<DraftBlock> drafts_;
  std::vector<std::uint32_t> block_at_;           ///< flat index: the draft that starts there, or no_block
  std::vector<std::uint8_t> register_slot_bits_;  ///< by virtual register: 1, 32 or 64
  bool open_ = false;
  std::vector<Micro>* out_ = nullptr;
  struct WideResult {
    Slot narrow, wide;
    bool sign;
  };
  Slot carry_ = no_slot;                  ///< of add.cc and its kin
  std::vector<WideResult> wide_results_;  ///< destinations wider than the instruction's type
};

/// Whether a slot is a register's and not a constant's.
inline bool in_frame(Slot slot) {
  return slot != no_slot && slot >> slot_bank_shift == static_cast<std::uint32_t>(Bank::frame);
}

using BlockLists = std::vector<std::vector<std::uint32_t>>;
/// Blocks that may run after each.
BlockLists find_successors(const std::vector<CodeBlock>& code, const std::vector<std::uint32_t>& targets);
/// Fills CodeBlock::priority.
void order_blocks(std::vector<CodeBlock>& code, const std::vector<std::uint32_t>& targets);
/// Removes copies of constants into registers that have no other definition.
void forward_constants(Program::Body& body, std::size_t registers);
/// Replaces virtual registers by slots in micros, ops, lists and predicates; sets frame_bytes.
void give_slots(Program::Body& body, const std::vector<std::uint8_t>& register_slot_bits);

}  // namespace tailor::simulator
