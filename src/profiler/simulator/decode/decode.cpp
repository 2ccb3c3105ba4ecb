// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The walk over a function's instructions: from the flat list (flatten.h) to code blocks. Called by Program through
// decode(), at the end of this file.
//
// Every instruction goes to the code block that is open. The families (decoder.h) turn it into micro-operations or into
// the block's ending. A block is closed by an ending, and before an instruction that something jumps to. A guard
// (@%p) becomes one of two things. Before an ending it becomes a branch around the instruction, which then has a block
// of its own. Before anything else the instruction's micro-operations go to a list apart, and one guard micro-operation
// runs that list in the lanes whose predicate is set, so that short guarded code costs no branch.
//
// When all blocks are made, jump targets, which are places in the flat list, become numbers of blocks; then come the
// order of blocks, constants and slots, each a file of its own. What is not known does not stop the walk: the first
// such instruction is kept as the reason why the program cannot be simulated.
#include "profiler/simulator/decode/decode.h"

#include <cxxabi.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/error.h"
#include "base/indexed.h"
#include "profiler/simulator/decode/align.h"
#include "profiler/simulator/decode/checked_loads.h"
#include "profiler/simulator/decode/decoder.h"
#include "profiler/simulator/decode/forward_constants.h"
#include "profiler/simulator/decode/order.h"
#include "profiler/simulator/decode/slots.h"

namespace tailor::simulator {

Decoder::Decoder(DecodedProgram& program, const MachineSteps& steps)
    : program_(program), steps_(steps), module_(*program.module), entry_(*program.function) {}

void Decoder::malformed(const std::string& found) const {
  Position position{module_.file, current_.ptx ? static_cast<std::int64_t>(current_.ptx->line) : 0};
  throw Error(Fault::failed, position, found, "PTX ISA lists the forms of this instruction");
}

void Decoder::unsupported(const std::string& reason) {
  if (program_.unsupported.empty())
    program_.unsupported =
        std::string(current_.ptx->opcode) + " (line " + std::to_string(current_.ptx->line) + "): " + reason;
}

void Decoder::count(Pipe pipe) {
  ++row_for(drafts_.back().code.pipes, pipe);
  drafts_.back().code.ending_pipe = pipe;  // that of the last one stays
}

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
  drafts_.back().code.op = static_cast<std::uint32_t>(program_.ops.size());
  program_.ops.push_back(op);
  end_block(ending);
}

/// What follows runs only in the lanes of the instruction's guard: micro-operations go to a list of their own.
void Decoder::guard_begin() {
  if (current_.ptx->guard == PtxOperand::no_index) return;
  Micro guard;
  guard.a = current_.instance->first_register + current_.ptx->guard;
  guard.immediate = current_.ptx->guard_negated;
  guard.list = static_cast<std::uint32_t>(program_.guarded.size());
  guard.site = current_.site;
  drafts_.back().micros.push_back(guard);
  out_ = &program_.guarded;
}

void Decoder::guard_end() {
  if (current_.ptx->guard == PtxOperand::no_index) return;
  Micro& guard = drafts_.back().micros.back();
  guard.extra = static_cast<std::uint32_t>(program_.guarded.size()) - guard.list;
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
  emit(program_.lanes->lane[match->row->handler], d, a, b, c);
}

std::uint32_t Decoder::list_of(const std::vector<Slot>& slots) {
  const auto first = static_cast<std::uint32_t>(program_.lists.size());
  program_.lists.insert(program_.lists.end(), slots.begin(), slots.end());
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
  if (op == "call" && flat.target != no_block) {
    count(Pipe::control);
    const Slot place = temporary(64), number = temporary(64), index = temporary(32);
    for (std::uint32_t k = 0; k < operand_count(); ++k)
      if (operand(k).kind == PtxOperandKind::reg)
        emit_row("sub.u64", place, source(operand(k), LaneType::u64),
                 bits_constant(function_window + function_bytes, 64));
    emit_row("shr.u64", number, place, bits_constant(std::countr_zero(function_bytes), 32));
    emit_row("cvt.u32.u64", index, number);
    drafts_.back().indirect = flat_.targets[flat.targets];
    drafts_.back().code.predicate = index;
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
    if (flat.target == no_block) return;
    drafts_.back().target_flat = flat.target;
    return end_block(Ending::jump);
  }
  current_.ptx = flat.ptx;
  current_.instance = &flat_.instances[flat.instance];
  current_.site = static_cast<std::uint32_t>(program_.sites.size());
  current_.checked =
      !checked_loads_.empty() && checked_loads_[static_cast<std::size_t>(&flat - flat_.instructions.data())];
  current_.parts = split_opcode(flat.ptx->opcode);
  program_.sites.push_back({flat.ptx->opcode, flat.ptx->line, flat.ptx->source});
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
  if (!structural() && !packed_instruction()) lane_instruction();
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
      if (one.name == "vprintf") return print(k), true;
      if (one.name == "__assertfail") return op_ending(Ending::trap, {}), true;
      unsupported("a call of " + std::string(one.name) + ", which is not in this file");
      return true;
    }
    return op_ending(Ending::trap, {}), true;  // through a pointer to no function
  }
  if (op == "trap" || op == "brkpt") return op_ending(Ending::trap, {}), true;
  if (op == "nanosleep") return count(Pipe::control), op_ending(Ending::pause, {}), true;
  return false;
}

namespace {

constexpr std::int64_t least_guard = 128, most_guard = 2048;  // bytes

}  // namespace

/// Parameters in order at their alignment; shared variables in order, `extern` ones after them; module variables are
/// placed in memory at launch.
void Decoder::allocate_variables() {
  for (const PtxVariable& param : entry_.params) {
    program_.param_bytes = aligned(program_.param_bytes, param.align);
    program_.params.push_back({program_.param_bytes, param.bytes});
    program_.param_bytes += param.bytes;
  }
  program_.variables.push_back({});  // the parameter block
  std::vector<const PtxVariable*> dynamic;
  // Where the next array begins. A guard is as long as the array before it, within bounds, and whole rows of banks, so
  // that conflicts are those of arrays side by side.
  const auto behind_guard = [&](std::int64_t align) {
    if (program_.shared_arrays.empty()) return std::int64_t{0};
    const SharedArray& before = program_.shared_arrays.back();
    const std::int64_t place = aligned(before.offset + before.bytes, align);
    return place + aligned(std::clamp(aligned(before.bytes, least_guard), least_guard, most_guard), align);
  };
  const auto allocate = [&](const PtxVariable& variable) {
    if (variable.space == PtxSpace::shared) {
      if (variable.bytes == 0) return dynamic.push_back(&variable);
      program_.static_shared = aligned(program_.static_shared, variable.align) + variable.bytes;
      const std::int64_t offset = behind_guard(variable.align);
      program_.variables.push_back({&variable, true, offset});
      program_.shared_arrays.push_back({variable.name, offset, variable.bytes});
    } else if (variable.space == PtxSpace::global || variable.space == PtxSpace::constant) {
      program_.variables.push_back({&variable, false, 0});
    }
  };
  for (const PtxVariable& variable : module_.variables) allocate(variable);
  std::vector<const PtxFunction*> seen;
  for (const CallInstance& one : flat_.instances) {
    if (std::find(seen.begin(), seen.end(), one.function) != seen.end()) continue;
    seen.push_back(one.function);
    for (const PtxVariable& variable : one.function->variables) allocate(variable);
  }
  std::int64_t align = 1;
  for (const PtxVariable* variable : dynamic) align = std::max<std::int64_t>(align, variable->align);
  const SharedArray last = program_.shared_arrays.empty() ? SharedArray{} : program_.shared_arrays.back();
  program_.dynamic_offset = dynamic.empty() ? last.offset + last.bytes : behind_guard(align);
  program_.guard_bytes = program_.dynamic_offset - aligned(program_.static_shared, align);
  for (const PtxVariable* variable : dynamic) program_.variables.push_back({variable, true, program_.dynamic_offset});
}

void Decoder::count_mentions() {
  mentions_.assign(flat_.registers, 0);
  for (const CallInstance& one : flat_.instances) {
    for (const PtxOperand& operand : one.function->operands)
      if ((operand.kind == PtxOperandKind::reg || operand.kind == PtxOperandKind::address) &&
          operand.index != PtxOperand::no_index)
        ++mentions_[one.first_register + operand.index];
    for (const PtxInstruction& instruction : one.function->instructions)
      if (instruction.guard != PtxOperand::no_index) ++mentions_[one.first_register + instruction.guard];
  }
}

/// Registers of the text have names, and the carry has PTX's; other temporaries of the decoder are written first.
void Decoder::name_entry_slots() {
  for (EntrySlot& slot : program_.entry_slots) {
    if (slot.virtual_register == carry_) slot.name = "CC.CF";
    for (const CallInstance& one : flat_.instances)
      if (const std::uint32_t at = slot.virtual_register - one.first_register; at < one.function->registers.size())
        slot.name = one.function->registers[at].name;
  }
}

/// Drafts into the program's arrays; targets given as flat indices become blocks.
void Decoder::build_code() {
  for (DraftBlock& draft : drafts_) {
    CodeBlock& code = draft.code;
    code.first = static_cast<std::uint32_t>(program_.micros.size());
    program_.micros.insert(program_.micros.end(), draft.micros.begin(), draft.micros.end());
    code.last = static_cast<std::uint32_t>(program_.micros.size());
    if (draft.target_flat != no_block) code.target = block_at_[draft.target_flat];
    if (code.ending == Ending::indirect) {
      code.op = static_cast<std::uint32_t>(program_.targets.size());
      program_.targets.push_back(static_cast<std::uint32_t>(draft.indirect.size()));
      for (const std::uint32_t flat : draft.indirect) program_.targets.push_back(block_at_[flat]);
    }
    program_.code.push_back(code);
  }
}

void Decoder::run() {
  flat_ = flatten(module_, entry_);
  checked_loads_ = checked_loads(flat_);
  count_mentions();
  program_.unsupported = flat_.unsupported;
  program_.local_bytes = flat_.local_bytes;
  allocate_variables();
  for (const CallInstance& one : flat_.instances)
    for (const PtxRegister& reg : one.function->registers)
      register_slot_bits_.push_back(reg.bits == 1 ? 1 : reg.bits >= 64 ? 64 : 32);
  const std::size_t count_flat = flat_.instructions.size();
  std::vector<bool> leads(count_flat + 1, false);
  for (const FlatInstruction& one : flat_.instructions)
    if (one.target != no_block) leads[one.target] = true;
  for (const auto& table : flat_.targets)
    for (const std::uint32_t at : table) leads[at] = true;
  block_at_.assign(count_flat + 1, no_block);
  for (std::uint32_t i = 0; i < count_flat; ++i) {
    if (leads[i]) {
      open_block();
      block_at_[i] = static_cast<std::uint32_t>(drafts_.size() - 1);
    }
    instruction(flat_.instructions[i]);
  }
  // Where control falls off the end, the lanes are done; branches may lead there too.
  open_block();
  block_at_[count_flat] = static_cast<std::uint32_t>(drafts_.size() - 1);
  end_block(Ending::exit);
  build_code();
  order_blocks(program_.code, program_.targets);
  forward_constants(program_, register_slot_bits_.size());
  give_slots(program_, register_slot_bits_);
  name_entry_slots();
  for (Micro& micro : program_.micros)
    if (micro.full == nullptr) micro.full = micro.some = steps_.address.guard;
}

DecodedProgram decode(const PtxModule& module, const PtxFunction& entry, const LaneTable& lanes,
                      const MachineSteps& steps) {
  DecodedProgram program;
  program.file = module.file;
  program.entry = entry.name;
  program.module = std::make_shared<const PtxModule>(module);
  for (const PtxFunction& one : program.module->functions)
    if (one.name == entry.name && one.defined) program.function = &one;
  if (program.function == nullptr)
    throw Error(Fault::failed, {module.file, static_cast<std::int64_t>(entry.line)},
                std::string(entry.name) + " is declared here and has no body", "link the file that defines it");
  program.lanes = &lanes;
  Decoder(program, steps).run();
  return program;
}

std::string source_name(const DecodedProgram& program, const PtxSource& source) {
  const auto& files = program.module->source_files;
  if (source.file >= files.size()) return {};
  const std::string& path = files[source.file];
  return path.substr(path.rfind('/') + 1);  // compilers put the folder they ran in before it
}

std::string place_of(const DecodedProgram& program, std::uint32_t site) {
  if (site >= program.sites.size()) return "an unknown line";
  const SiteText& at = program.sites[site];
  if (at.source.line == 0) return "PTX line " + std::to_string(at.line);
  const std::string file = source_name(program, at.source);
  return (file.empty() ? "line " : file + " line ") + std::to_string(at.source.line);
}

std::string source_symbol(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return std::string(symbol);
  int failed = 0;
  char* const readable = abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &failed);
  if (readable == nullptr) return std::string(symbol);
  const std::string whole = readable;
  std::free(readable);
  const std::size_t at = whole.rfind("::");
  return at == whole.npos ? whole : whole.substr(at + 2);
}

}  // namespace tailor::simulator
