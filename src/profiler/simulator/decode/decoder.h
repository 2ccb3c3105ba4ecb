// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Decoding, inside: how a PTX function becomes a DecodedProgram. Only the files of decode/ include this; others call
// decode() (decode.h). The steps, in order:
//
//   flatten            inline every call into one list of instructions
//   checked_loads      which plain loads a compare-and-swap checks
//   decode             walk over the list; each instruction goes to the family that knows it and becomes
//                      micro-operations in code blocks; what can wait or branch ends its block
//   order_blocks       the order in which diverged lanes run
//   forward_constants  drop copies of constants into registers
//   give_slots         give registers their places in a warp's frame, by liveness
//
// The families are members of Decoder, a file each: lane by lane (decode_lanes), memory (decode_memory), other lanes
// and barriers (decode_warp), asynchronous copies (decode_async), matrices (decode_matrix); operands for all of them
// are in decode_operands. Until the last step a slot of the frame bank holds the number of a virtual register.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/simulator/decode/flatten.h"
#include "profiler/simulator/decode/opcode.h"
#include "profiler/simulator/decode/program.h"
#include "profiler/simulator/decode/special.h"
#include "profiler/simulator/decode/steps.h"
#include "profiler/simulator/ptx/ptx.h"

namespace tailor::simulator {

/// Whether an opcode's parts, split at its dots, have this one.
inline bool has(const std::vector<std::string_view>& parts, std::string_view part) {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

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
  /// Fills `program`, whose module, function and lanes are set.
  Decoder(DecodedProgram& program, const MachineSteps& steps);
  void run();

 private:
  struct Current {
    const PtxInstruction* ptx = nullptr;
    const CallInstance* instance = nullptr;
    std::uint32_t site = 0;
    bool checked = false;  ///< a load whose value a compare-and-swap checks (checked_loads.h)
    std::vector<std::string_view> parts;
  };

  // decode.cpp
  void allocate_variables();
  void count_mentions();
  void name_entry_slots();
  void instruction(const FlatInstruction& flat);
  bool structural();  ///< the families; false: not one of them
  bool branch(const FlatInstruction& flat);
  void end_block(Ending ending);
  void op_ending(Ending ending, Micro op);
  void open_block();
  void guard_begin();
  void guard_end();
  void build_code();
  [[noreturn]] void malformed(const std::string& found) const;
  void unsupported(const std::string& reason);
  void count(Pipe pipe);

  // decode_operands.cpp; the emit functions are in decode.cpp
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

  // decode_lanes.cpp
  void lane_instruction();
  Slot flushed(Slot slot, LaneType type);
  void compare();
  void compare_halves(const Step (&steps)[2], Slot p, Slot q, Slot a, Slot b);
  void move();

  // decode_packed.cpp
  bool packed_instruction();
  bool float_pairs();
  void absolute_differences();

  // decode_memory.cpp
  bool memory_instruction();
  void load_store(bool is_load);
  std::vector<Slot> value_slots(const PtxOperand& value, int count, int bytes, std::string_view type_name, bool is_load,
                                bool& wide);
  void atomic(bool has_result);
  void param_load(const PtxOperand& address, const PtxOperand& value, int bytes, bool sign);
  /// `bytes` of an element; `whole` of a lane's access, which is several elements for vectors.
  void note_access(AccessSpace space, MemoryOrder order, int bytes, int whole);
  void print(std::uint32_t function_at);
  void zero_results(std::uint32_t function_at);
  void address_conversion();
  struct Address {
    Slot slot = no_slot;
    std::int64_t offset = 0;
    bool wide = true;
  };
  Address address_of(const PtxOperand& operand);
  std::uint32_t memory_site(SiteKind kind, MemoryScope scope = MemoryScope::device);

  // decode_warp.cpp
  bool warp_instruction();
  Slot warp_operands(Micro& micro, const PtxOperand& to);
  bool barrier_instruction();

  // decode_async.cpp
  bool async_instruction();
  void thread_copy();
  void bulk_copy();
  void mbarrier_instruction();
  Slot whole_address(const PtxOperand& operand);

  // decode_matrix.cpp
  bool matrix_instruction();
  void matrix_ending(Micro micro, const std::vector<Slot>& written, const std::vector<Slot>& read);
  std::vector<Slot> fragment(const PtxOperand& whole, int many, LaneType type, bool written);
  void product();
  void tiles(bool load);

  DecodedProgram& program_;
  const MachineSteps& steps_;
  const PtxModule& module_;
  const PtxFunction& entry_;
  Flat flat_;
  Current current_;
  std::vector<bool> checked_loads_;
  std::vector<std::uint32_t> mentions_;  ///< by virtual register: operands and guards that name it
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

}  // namespace tailor::simulator
