// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What becomes of an undefined value. A register that nothing was written to holds none; and a shuffle that reads a
// lane which does not take part gives its reader none that can be relied on. That is no error while nobody uses it:
// under the mask of __activemask() the last lanes of a reduction do so as a rule, and drop what they got. In: each
// micro-operation and each ending of a warp that holds such a value, before it runs. Out: which registers are undefined
// in which lanes afterwards, and an error where one is used: it goes to memory, into an address, a branch, a vote, a
// matrix. The finding is told at the shuffle's line.
//
// Lane by lane an operation's result is undefined where a source is. A selection is undefined where what it selects is,
// and a conjunction of predicates is false whatever the other holds where one is: compilers test the guard of a value
// after the value. A shuffle moves the mark with the value (warp_steps.cpp). A guarded operation counts in the lanes it
// runs in. After a finding the warp's marks are forgotten: one line for one mistake.
#include "profiler/simulator/machine/undefined.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "profiler/simulator/machine/machine.h"
#include "profiler/simulator/machine/steps.h"

namespace tailor::simulator {

void UndefinedRegisters::set(Slot slot, std::uint32_t active, UndefinedLanes made) {
  if (!in_frame(slot)) return;
  UndefinedLanes& one = slots_[at(slot)];
  one.lanes &= ~active;
  one = joined(one, {made.lanes & active, made.site});
}

bool UndefinedRegisters::any() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const UndefinedLanes& one) { return one.lanes != 0; });
}

UndefinedLanes joined(UndefinedLanes a, UndefinedLanes b) {
  return {a.lanes | b.lanes, a.lanes != 0 ? a.site : b.site};
}

namespace {

/// Opcodes that take their sources to where others see them. What is in no register is not followed.
bool leaves_registers(std::string_view opcode) {
  static constexpr std::string_view all[] = {"st", "ld", "ldu", "atom", "red", "cp", "mbarrier", "prefetch"};
  return std::find(std::begin(all), std::end(all), opcode.substr(0, opcode.find('.'))) != std::end(all);
}

template <class Act>
void each_listed(const DecodedProgram& program, const Micro& micro, bool written, const Act& act) {
  for (std::uint32_t k = 0; k < micro.count; ++k)
    if (((micro.writes >> k & 1) != 0) == written) act(program.lists[micro.list + k]);
}

UndefinedLanes sources_of(const DecodedProgram& program, const UndefinedRegisters& registers, const Micro& micro) {
  UndefinedLanes all = joined(registers.of(micro.a), joined(registers.of(micro.b), registers.of(micro.c)));
  each_listed(program, micro, false, [&](Slot slot) { all = joined(all, registers.of(slot)); });
  return all;
}

}  // namespace

/// Registers that the program may read before it writes them: nobody knows what they hold.
void Machine::mark_unwritten(WarpState& warp) {
  warp.undefined = std::make_unique<UndefinedRegisters>(state.program.frame_bytes);
  const auto& slots = state.program.entry_slots;
  for (std::uint32_t k = 0; k < slots.size(); ++k)
    warp.undefined->set(slots[k].offset, all_lanes, {all_lanes, unwritten + k});
}

void Machine::report_use(WarpState& warp, UndefinedLanes used, std::uint32_t site) {
  const int lane = std::countr_zero(used.lanes);
  if (used.site >= unwritten) {
    report(FindingKind::uninitialised_read, warp, site, lane,
           fmt::format("thread {} of block {} uses register {}, to which nothing was written",
                       warp.index * lanes_per_warp + lane, warp.home->linear,
                       state.program.entry_slots[used.site - unwritten].name));
  } else {
    report(FindingKind::bad_mask, warp, used.site, lane,
           fmt::format("lanes 0x{:08x} read lanes that do not take part, and {} uses what they got", used.lanes,
                       place_of(state.program, site)));
  }
  warp.undefined.reset();
}

/// Before `micro` runs in the lanes of `active`.
void Machine::watch(WarpState& warp, const Micro& micro, std::uint32_t active) {
  const DecodedProgram& program = state.program;
  UndefinedRegisters& registers = *warp.undefined;
  if (micro.full == address_steps.guard) {
    if (const UndefinedLanes guard = registers.of(micro.a); (guard.lanes & active) != 0)
      return report_use(warp, {guard.lanes & active, guard.site}, micro.site);
    const std::uint32_t set = program.lanes->mask_of(words(warp, micro.a));
    for (std::uint32_t k = 0; k < micro.extra && warp.undefined != nullptr; ++k)
      watch(warp, program.guarded[micro.list + k], (micro.immediate != 0 ? ~set : set) & active);
    return;
  }
  UndefinedLanes made = sources_of(program, registers, micro);
  const std::string_view opcode = program.sites[micro.site].opcode;
  if (leaves_registers(opcode)) {
    if ((made.lanes & active) != 0) return report_use(warp, {made.lanes & active, made.site}, micro.site);
  } else if (opcode.starts_with("selp")) {
    const UndefinedLanes a = registers.of(micro.a), b = registers.of(micro.b);
    const std::uint32_t set = program.lanes->mask_of(words(warp, micro.c));
    made = joined(registers.of(micro.c), joined({a.lanes & set, a.site}, {b.lanes & ~set, b.site}));
  } else if (opcode == "and.pred" || opcode == "or.pred") {
    // Where one operand alone says what comes out, the other does not matter.
    const std::uint32_t turned = opcode == "or.pred" ? 0 : all_lanes;
    const UndefinedLanes a = registers.of(micro.a), b = registers.of(micro.b);
    const std::uint32_t by_a = (program.lanes->mask_of(words(warp, micro.a)) ^ turned) & ~a.lanes,
                        by_b = (program.lanes->mask_of(words(warp, micro.b)) ^ turned) & ~b.lanes;
    made = joined({a.lanes & ~by_b, a.site}, {b.lanes & ~by_a, b.site});
  }
  registers.set(micro.d, active, made);
  each_listed(program, micro, true, [&](Slot slot) { registers.set(slot, active, made); });
}

/// Runs a code block of a warp that holds undefined values.
void Machine::run_watching(WarpState& warp, const CodeBlock& block) {
  const Micro* const end = state.program.micros.data() + block.last;
  for (const Micro* micro = state.program.micros.data() + block.first; micro != end; ++micro) {
    if (warp.undefined != nullptr) watch(warp, *micro, warp.active);
    (warp.active == all_lanes ? micro->full : micro->some)(warp, *micro);
  }
  if (warp.undefined == nullptr) return;
  UndefinedRegisters& registers = *warp.undefined;
  const bool operates = block.ending == Ending::warp || block.ending == Ending::barrier ||
                        block.ending == Ending::cluster || block.ending == Ending::pause;
  UndefinedLanes used = registers.of(block.predicate);
  if (operates) {
    const Micro& op = state.program.ops[block.op];
    const bool shuffles = state.program.sites[block.site].opcode.starts_with("shfl");
    Micro asked = op;
    if (shuffles) asked.a = no_slot;  // what is moved is not used yet
    used = sources_of(state.program, registers, asked);
  }
  if ((used.lanes & warp.active) != 0) return report_use(warp, {used.lanes & warp.active, used.site}, block.site);
  if (!registers.any()) warp.undefined.reset();
}

}  // namespace tailor::simulator
