// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The walk over instructions: which block they go to, which endings they make, what guards them. Instructions that act
// lane by lane come from the opcode table; the few that only move or combine predicates are put together from its rows.
#include "profiler/simulator/decode/decode.h"

#include <algorithm>

#include "base/error.h"
#include "profiler/simulator/machine/handlers.h"
#include "profiler/simulator/ptx/ptx_parser.h"

namespace tailor::simulator {

Decoder::Decoder(Program::Body& body, const PtxModule& module, const PtxFunction& entry)
    : body_(body), module_(module), entry_(entry) {}

void Decoder::malformed(const std::string& found) const {
  Position place{module_.file, current_.ptx ? static_cast<std::int64_t>(current_.ptx->line) : 0};
  throw Error(Fault::failed, place, found, "PTX ISA lists the forms of this instruction");
}

void Decoder::unsupported(const std::string& why) {
  if (body_.unsupported.empty())
    body_.unsupported =
        std::string(current_.ptx->opcode) + " (line " + std::to_string(current_.ptx->line) + "): " + why;
}

void Decoder::count(Pipe pipe) { ++drafts_.back().code.pipes[static_cast<std::size_t>(pipe)]; }

const PtxOperand& Decoder::operand(std::uint32_t i) const {
  if (i >= current_.ptx->count)
    malformed(std::string(current_.ptx->opcode) + " has " + std::to_string(current_.ptx->count) + " operands");
  return current_.instance->function->operands[current_.ptx->first + i];
}

void Decoder::open_block() {
  if (open_) end_block(Ending::next);
  drafts_.emplace_back();
  open_ = true;
  out_ = &drafts_.back().micros;
}

/// Ends the open block; what follows opens another.
void Decoder::end_block(Ending ending) {
  CodeBlock& code = drafts_.back().code;
  code.ending = ending;
  code.site = current_.site;
  if (ending != Ending::jump && ending != Ending::exit && ending != Ending::trap && ending != Ending::indirect)
    code.next = static_cast<std::uint32_t>(drafts_.size());
  open_ = false;
}

void Decoder::op_ending(Ending ending, Micro op) {
  op.site = current_.site;
  drafts_.back().code.op = static_cast<std::uint32_t>(body_.ops.size());
  body_.ops.push_back(op);
  end_block(ending);
}

/// What follows runs only in the lanes of the instruction's guard: micro-operations go to a list of their own.
void Decoder::guard_begin() {
  if (current_.ptx->guard == PtxOperand::no_index) return;
  Micro guard;
  guard.a = current_.instance->first_register + current_.ptx->guard;
  guard.immediate = current_.ptx->guard_negated;
  guard.list = static_cast<std::uint32_t>(body_.guarded.size());
  guard.site = current_.site;
  drafts_.back().micros.push_back(guard);
  out_ = &body_.guarded;
}

void Decoder::guard_end() {
  if (current_.ptx->guard == PtxOperand::no_index) return;
  Micro& guard = drafts_.back().micros.back();
  guard.extra = static_cast<std::uint32_t>(body_.guarded.size()) - guard.list;
  out_ = &drafts_.back().micros;
}

void Decoder::emit(Micro micro) {
  micro.site = current_.site;
  out_->push_back(micro);
}

void Decoder::emit(const Step (&steps)[2], Slot d, Slot a, Slot b, Slot c) {
  Micro micro;
  micro.full = steps[0];
  micro.some = steps[1];
  micro.d = d;
  micro.a = a;
  micro.b = b;
  micro.c = c;
  emit(micro);
}

void Decoder::emit_row(std::string_view key, Slot d, Slot a, Slot b, Slot c) {
  const std::optional<LaneMatch> match = find_lane_opcode(key);
  if (!match) return unsupported("it is made from " + std::string(key) + ", which is not known");
  emit(body_.lanes->lane[match->row->handler], d, a, b, c);
}

std::uint32_t Decoder::list_of(const std::vector<Slot>& slots) {
  const auto first = static_cast<std::uint32_t>(body_.lists.size());
  body_.lists.insert(body_.lists.end(), slots.begin(), slots.end());
  return first;
}

namespace {

/// Endings whose guard becomes a branch around them.
bool is_ending(std::string_view op, const std::vector<std::string_view>& parts) {
  static constexpr std::string_view plain[] = {"shfl",     "vote",      "match", "redux",    "activemask", "elect",
                                               "bar",      "nanosleep", "trap",  "brkpt",    "exit",       "ret",
                                               "ldmatrix", "stmatrix",  "mma",   "movmatrix"};
  if (std::find(std::begin(plain), std::end(plain), op) != std::end(plain)) return true;
  if (op == "barrier") return true;
  return op == "mbarrier" && parts.size() > 1 && parts[1] == "try_wait";
}

}  // namespace

bool Decoder::branch(const FlatInstruction& flat) {
  const std::string_view op = current_.parts[0];
  const bool guarded = current_.ptx->guard != PtxOperand::no_index;
  if (op == "bra") {
    if (flat.target == no_block) malformed("a branch without a label of this function");
    count(Pipe::control);
    drafts_.back().target_flat = flat.target;
    if (guarded) {
      drafts_.back().code.predicate = current_.instance->first_register + current_.ptx->guard;
      drafts_.back().code.negated = current_.ptx->guard_negated;
    }
    end_block(guarded ? Ending::branch : Ending::jump);
    return true;
  }
  if (op == "brx") {
    if (flat.target == no_block || guarded) return unsupported("its table of targets was not found"), true;
    count(Pipe::control);
    Micro op_micro;
    op_micro.a = source(operand(0), LaneType::u32);
    drafts_.back().indirect = flat_.targets[flat.targets];
    drafts_.back().code.predicate = op_micro.a;
    end_block(Ending::indirect);
    return true;
  }
  if (op == "ret" || op == "exit") {
    count(Pipe::control);
    if (op == "ret" && flat.target != no_block) {
      drafts_.back().target_flat = flat.target;
      end_block(Ending::jump);
    } else {
      end_block(Ending::exit);
    }
    return true;
  }
  return false;
}

void Decoder::instruction(const FlatInstruction& flat) {
  if (flat.ptx == nullptr) {
    if (!open_) open_block();
    return;
  }
  current_.ptx = flat.ptx;
  current_.instance = &flat_.instances[flat.instance];
  current_.site = static_cast<std::uint32_t>(body_.sites.size());
  current_.parts = split_opcode(flat.ptx->opcode);
  body_.sites.push_back({flat.ptx->opcode, flat.ptx->line, flat.ptx->source});
  if (!open_) open_block();
  const bool guarded = flat.ptx->guard != PtxOperand::no_index;
  const std::string_view op = current_.parts[0];
  if (guarded && is_ending(op, current_.parts)) {
    // if (!guard) go past it
    CodeBlock& code = drafts_.back().code;
    code.predicate = current_.instance->first_register + flat.ptx->guard;
    code.negated = !flat.ptx->guard_negated;
    end_block(Ending::branch);
    const std::size_t around = drafts_.size() - 1;
    open_block();
    ++drafts_.back().code.instructions;
    if (!branch(flat)) structural();
    finish_destinations();
    open_block();
    drafts_[around].code.target = static_cast<std::uint32_t>(drafts_.size() - 1);
    return;
  }
  ++drafts_.back().code.instructions;
  if (branch(flat)) return;
  guard_begin();
  if (!structural()) lane_instruction();
  finish_destinations();
  if (open_) guard_end();
}

bool Decoder::structural() {
  const std::string_view op = current_.parts[0];
  if (op == "setp" || op == "set") {
    if (op == "set") return false;
    return compare(), true;
  }
  if (op == "mov") return move(), true;
  if (memory_instruction() || warp_instruction() || barrier_instruction() || async_instruction() ||
      matrix_instruction())
    return true;
  if (op == "griddepcontrol" || op == "setmaxnreg" || op == "pmevent") return count(Pipe::control), true;
  if (op == "call") {  // what could not be inlined
    count(Pipe::control);
    for (std::uint32_t k = 0; k < operand_count(); ++k) {
      const PtxOperand& one = operand(k);
      if (one.kind != PtxOperandKind::function) continue;
      if (one.name == "vprintf") return true;
      if (one.name == "__assertfail") return op_ending(Ending::trap, {}), true;
      unsupported("a call of " + std::string(one.name) + ", which is not in this file");
      return true;
    }
    unsupported("a call through a pointer");
    return true;
  }
  if (op == "trap" || op == "brkpt") return op_ending(Ending::trap, {}), true;
  if (op == "nanosleep") return count(Pipe::control), op_ending(Ending::pause, {}), true;
  return false;
}

namespace {

/// What flushes subnormals of a type; nullptr: nothing does.
const Step (*flush_steps(const LaneTable& lanes, LaneType type))[2] {
  if (type == LaneType::f32) return &lanes.flush_f32;
  if (type == LaneType::f16) return &lanes.flush_f16;
  if (type == LaneType::f16x2) return &lanes.flush_f16x2;
  return nullptr;
}

}  // namespace

/// A copy of a source with its subnormals flushed, or the source when its type has none to flush.
Slot Decoder::flushed(Slot slot, LaneType type) {
  const auto* steps = flush_steps(*body_.lanes, type);
  if (steps == nullptr) return slot;
  const Slot made = temporary(32);
  emit(*steps, made, slot);
  return made;
}

void Decoder::lane_instruction() {
  const std::optional<LaneMatch> match = find_lane_opcode(current_.ptx->opcode);
  if (!match) return unsupported("no row of the opcode table has it");
  const LaneOpcode& row = *match->row;
  count(row.pipe);
  const auto sources = static_cast<std::uint32_t>(row.source_count);
  if (operand_count() != sources + row.literal + 1)
    malformed(std::string(current_.ptx->opcode) + " has " + std::to_string(operand_count()) + " operands, expected " +
              std::to_string(sources + row.literal + 1));
  Slot in[4] = {no_slot, no_slot, no_slot, no_slot};
  Micro micro;
  if (row.literal) {
    if (operand(sources + 1).kind != PtxOperandKind::immediate) malformed("its last operand must be a constant");
    micro.extra = static_cast<std::uint32_t>(operand(sources + 1).value);
  }
  for (std::uint32_t k = 0; k < sources; ++k) {
    in[k] = source(operand(k + 1), row.sources[k]);
    if (match->flush) in[k] = flushed(in[k], row.sources[k]);
  }
  const Slot d = destination(operand(0), row.d);
  const auto& steps = body_.lanes->lane[row.handler];
  micro.full = steps[0];
  micro.some = steps[1];
  micro.d = d;
  micro.a = in[0];
  micro.b = in[1];
  micro.c = in[2];
  if (row.carry) {
    if (carry_ == no_slot) carry_ = temporary(32);
    in[3] = carry_;
  }
  if (in[3] != no_slot) {
    micro.list = list_of({in[3]});
    micro.count = 1;
  }
  emit(micro);
  if (match->flush)
    if (const auto* flush = flush_steps(*body_.lanes, row.d)) emit(*flush, d, d);
  if (match->saturate) {
    const LaneTable& lanes = *body_.lanes;
    const auto& clamp = row.d == LaneType::f64      ? lanes.saturate_f64
                        : row.d == LaneType::f16    ? lanes.saturate_f16
                        : row.d == LaneType::bf16   ? lanes.saturate_bf16
                        : row.d == LaneType::f16x2  ? lanes.saturate_f16x2
                        : row.d == LaneType::bf16x2 ? lanes.saturate_bf16x2
                                                    : lanes.saturate_f32;
    emit(clamp, d, d);
  }
}

/// p is of the lower halves, q of the upper ones.
void Decoder::compare_halves(const Step (&steps)[2], Slot p, Slot q, Slot a, Slot b) {
  for (std::uint32_t half = 0; half < 2; ++half) {
    Micro micro;
    micro.full = steps[0];
    micro.some = steps[1];
    micro.d = half == 0 ? p : q;
    micro.a = a;
    micro.b = b;
    micro.extra = half;
    emit(micro);
  }
}

/// setp.CMP{.BOOL}{.ftz}.type p{|q}, a, b{, c}: p = (a CMP b) BOOL c, q = !(a CMP b) BOOL c.
void Decoder::compare() {
  count(Pipe::alu);
  std::string key;
  std::string_view combine;
  for (const std::string_view part : current_.parts) {
    if (part == "and" || part == "or" || part == "xor") {
      combine = part;
    } else {
      key += (key.empty() ? "" : ".") + std::string(part);
    }
  }
  const std::optional<LaneMatch> match = find_lane_opcode(key);
  if (!match) return unsupported("no row of the opcode table has " + key);
  const std::uint32_t expected = combine.empty() ? 3 : 4;
  if (operand_count() != expected) malformed("expected " + std::to_string(expected) + " operands");
  Slot in[2];
  for (std::uint32_t k = 0; k < 2; ++k) {
    in[k] = source(operand(k + 1), match->row->sources[k]);
    if (match->flush) in[k] = flushed(in[k], match->row->sources[k]);
  }
  const PtxOperand& result = operand(0);
  const bool pair = result.kind == PtxOperandKind::pair;
  const Slot p = destination(pair ? nested(result.index) : result, LaneType::pred);
  const auto& steps = body_.lanes->lane[match->row->handler];
  if (match->row->sources[0] == LaneType::f16x2 || match->row->sources[0] == LaneType::bf16x2) {
    if (!pair || !combine.empty()) return unsupported("a packed comparison without p|q, or with a boolean");
    return compare_halves(steps, p, destination(nested(result.index + 1), LaneType::pred), in[0], in[1]);
  }
  if (!pair && combine.empty()) return emit(steps, p, in[0], in[1]);
  const Slot plain = temporary(1), third = combine.empty() ? no_slot : source(operand(3), LaneType::pred);
  emit(steps, plain, in[0], in[1]);
  const std::string row = std::string(combine) + ".pred";
  Slot q = no_slot;
  if (pair) {
    q = destination(nested(result.index + 1), LaneType::pred);
    const Slot opposite = temporary(1);
    emit(body_.lanes->negate_predicate, opposite, plain);
    const Slot kept = temporary(1);  // the third operand may be p itself
    if (combine.empty()) {
      emit(body_.lanes->copy32, kept, opposite);
    } else {
      emit_row(row, kept, opposite, third);
    }
    if (combine.empty()) {
      emit(body_.lanes->copy32, p, plain);
    } else {
      emit_row(row, p, plain, third);
    }
    return emit(body_.lanes->copy32, q, kept);
  }
  emit_row(row, p, plain, third);
}

void Decoder::move() {
  count(Pipe::move);
  if (operand_count() != 2) malformed("mov has " + std::to_string(operand_count()) + " operands, expected 2");
  const PtxOperand& to = operand(0);
  const PtxOperand& from = operand(1);
  const std::string_view type = current_.parts.back();
  const int bits = ptx_type_bits(type);
  if (bits == 0) malformed("mov." + std::string(type) + ", expected a type such as .b32");
  if (to.kind == PtxOperandKind::vector || from.kind == PtxOperandKind::vector) {
    const PtxOperand& many = to.kind == PtxOperandKind::vector ? to : from;
    const bool pack = from.kind == PtxOperandKind::vector;
    if (many.count == 0 || bits % static_cast<int>(many.count) != 0 || bits > 64)
      return unsupported("a vector of " + std::to_string(many.count) + " in " + std::to_string(bits) + " bits");
    const int part = bits / static_cast<int>(many.count);
    const LaneOpcode* row =
        pack ? find_pack(bits, static_cast<int>(many.count)) : find_unpack(bits, static_cast<int>(many.count));
    if (row == nullptr) return unsupported("parts of " + std::to_string(part) + " bits");
    std::vector<Slot> slots;
    Micro micro;
    for (std::uint32_t k = 0; k < many.count; ++k) {
      const PtxOperand& one = nested(many.index + k);
      const LaneType kind = part == 32 ? LaneType::u32 : part == 16 ? LaneType::u16 : LaneType::u8;
      slots.push_back(pack                                  ? source(one, kind)
                      : one.kind == PtxOperandKind::discard ? no_slot
                                                            : destination(one, kind));
      if (!pack) micro.writes = static_cast<std::uint8_t>(micro.writes | 1u << k);
    }
    const LaneType whole = bits == 64 ? LaneType::u64 : LaneType::u32;
    if (pack) {
      micro.d = destination(to, whole);
    } else {
      micro.a = source(from, whole);
    }
    micro.full = body_.lanes->lane[row->handler][0];
    micro.some = body_.lanes->lane[row->handler][1];
    micro.list = list_of(slots);
    micro.count = static_cast<std::uint8_t>(many.count);
    return emit(micro);
  }
  const LaneType kind = bits == 1 ? LaneType::pred : bits == 64 ? LaneType::u64 : LaneType::u32;
  if (from.kind == PtxOperandKind::special) {
    const SpecialRegister* special = find_special(from.name);
    if (special == nullptr) return unsupported("the special register " + std::string(from.name));
    if (special->kind == SpecialKind::live) {
      Micro micro;
      micro.full = micro.some = live_special_step();
      micro.d = destination(to, kind);
      micro.extra = special->index;
      micro.immediate = bits;
      return emit(micro);
    }
  }
  // An f32 or f16 immediate keeps its bits.
  LaneType read = kind;
  if (from.kind == PtxOperandKind::immediate && type == "f32") read = LaneType::f32;
  if (from.kind == PtxOperandKind::immediate && type == "f64") read = LaneType::f64;
  const Slot a = source(from, read);
  const Slot d = destination(to, kind);
  emit(bits == 64 ? body_.lanes->copy64 : body_.lanes->copy32, d, a);
}

}  // namespace tailor::simulator
