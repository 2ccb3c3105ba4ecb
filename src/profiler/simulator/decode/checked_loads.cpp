// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops around a compare-and-swap begin with a plain load, in the CUDA programming guide as in what LLVM makes of an
// atomic that the machine does not have:
//
//     old = *p; do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (seen != old);
//
// The load is not ordered with other threads' atomics, and need not be: whatever it read, the swap happens only where
// the place still holds that value. In: the flat list of instructions. Out: the weak loads for which this is so, which
// are no race. It is not so as soon as the value is used for anything else.
//
// From each load whose address, offset and size are those of some atom.cas, the code is walked along all paths, with a
// note of what each register may hold: the value read, something computed from it, what the swap gave back, or the
// outcome of comparing the two. Where they are equal the value is proven, and what was computed from it with it; where
// they differ what is left of it is stale. The load is checked when some swap compares with its value, and no path
// comes to another use before: a store, a branch, an address, another lane, another atomic. An instruction that is not
// in the tables below counts as another use. Where paths meet, the worse note stays. A register that is the address and
// changes under way ends the search: it is another place then.
#include "profiler/simulator/decode/checked_loads.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "profiler/simulator/decode/opcode.h"
#include "profiler/simulator/ptx/ptx_parser.h"

namespace tailor::simulator {
namespace {

/// What a register may hold, from harmless to harmful; `nothing` of the load's is not noted.
enum class Holds : std::uint8_t { swapped, nothing, value, equal, differs, computed, stale };

using Notes = std::map<std::uint32_t, Holds>;  ///< by virtual register

Holds noted(const Notes& notes, std::uint32_t reg) {
  const auto at = notes.find(reg);
  return at == notes.end() ? Holds::nothing : at->second;
}

void note(Notes& notes, std::uint32_t reg, Holds what) {
  if (what == Holds::nothing)
    notes.erase(reg);
  else
    notes[reg] = what;
}

bool of_load(Holds what) { return what > Holds::nothing; }

/// Where two paths meet. An outcome that holds on one of them only is no outcome.
Holds worse(Holds a, Holds b) {
  if (a == b) return a;
  const auto outcome = [](Holds h) { return h == Holds::equal || h == Holds::differs; };
  return outcome(a) || outcome(b) ? std::max({a, b, Holds::computed}) : std::max(a, b);
}

/// Adds the notes of another path. true: something changed.
bool meet(Notes& into, const Notes& more) {
  const Notes before = into;
  for (const auto& [reg, what] : before) note(into, reg, worse(what, noted(more, reg)));
  for (const auto& [reg, what] : more) note(into, reg, worse(what, noted(before, reg)));
  return into != before;
}

/// Opcodes that only compute a result, in operand 0, from the others.
constexpr auto computing = std::to_array<std::string_view>({
    "abs", "add", "addc", "and",  "bfe",  "bfi", "bfind", "bmsk",  "brev", "clz",   "cnot", "copysign", "cos",
    "cvt", "div", "dp2a", "dp4a", "ex2",  "fma", "lg2",   "lop3",  "mad",  "max",   "min",  "mov",      "mul",
    "neg", "not", "or",   "popc", "prmt", "rcp", "rem",   "rsqrt", "sad",  "selp",  "set",  "setp",     "shf",
    "shl", "shr", "sin",  "slct", "sqrt", "sub", "subc",  "szext", "tanh", "testp", "xor",  "cvta",
});
/// Others with a result in operand 0; for all that is in neither table it is a source.
constexpr auto defining =
    std::to_array<std::string_view>({"ld", "ldu", "atom", "shfl", "vote", "match", "redux", "elect", "activemask",
                                     "isspacep", "mapa", "getctarank", "ldmatrix", "movmatrix", "mma"});
constexpr auto ordered_or_constant =
    std::to_array<std::string_view>({"volatile", "relaxed", "acquire", "nc", "mmio", "v2", "v4", "v8"});

template <std::size_t size>
bool lists(const std::array<std::string_view, size>& table, std::string_view op) {
  return std::find(table.begin(), table.end(), op) != table.end();
}

struct Place {
  std::uint32_t base = 0;
  std::int64_t offset = 0;
  int bits = 0;
  auto operator<=>(const Place&) const = default;
};

/// The instructions with what is asked of them again and again.
class Walk {
 public:
  explicit Walk(const Flat& flat) : flat_(flat), parts_(flat.instructions.size()) {
    definitions_.assign(flat.registers, 0);
    defined_at_.assign(flat.registers, 0);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (flat.instructions[i].ptx == nullptr) continue;
      parts_[i] = split_opcode(flat.instructions[i].ptx->opcode);
      if (!defines(i)) continue;
      each_register(i, operand(i, 0), [&](std::uint32_t reg) {
        ++definitions_[reg];
        defined_at_[reg] = i;
      });
    }
  }

  std::vector<bool> checked() {
    std::vector<Place> swaps;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (is_swap(i)) swaps.push_back(*place(i, operand(i, 1)));
    std::vector<bool> found;
    if (swaps.empty()) return found;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].empty() || parts_[i][0] != "ld" || ptx(i).count != 2) continue;
      const bool plain = std::none_of(parts_[i].begin(), parts_[i].end(), [](std::string_view part) {
        return lists(ordered_or_constant, part) || part.starts_with("param");
      });
      const std::optional<Place> at = place(i, operand(i, 1));
      if (!plain || !at || operand(i, 0).kind != PtxOperandKind::reg) continue;
      if (std::find(swaps.begin(), swaps.end(), *at) == swaps.end() || !is_checked(i, *at)) continue;
      found.resize(parts_.size());
      found[i] = true;
    }
    return found;
  }

 private:
  const PtxInstruction& ptx(std::size_t i) const { return *flat_.instructions[i].ptx; }
  const CallInstance& instance(std::size_t i) const { return flat_.instances[flat_.instructions[i].instance]; }
  const PtxOperand& operand(std::size_t i, std::uint32_t k) const {
    return instance(i).function->operands[ptx(i).first + k];
  }
  bool defines(std::size_t i) const {
    return ptx(i).count != 0 && (lists(computing, parts_[i][0]) || lists(defining, parts_[i][0]));
  }
  bool is_swap(std::size_t i) const {
    return !parts_[i].empty() && parts_[i][0] == "atom" &&
           std::find(parts_[i].begin(), parts_[i].end(), "cas") != parts_[i].end() && ptx(i).count == 4 &&
           place(i, operand(i, 1)).has_value();
  }

  /// Calls act(virtual register) for the registers an operand names.
  template <class Act>
  void each_register(std::size_t i, const PtxOperand& one, const Act& act) const {
    const bool named = one.kind == PtxOperandKind::reg || one.kind == PtxOperandKind::address;
    if (named && one.index != PtxOperand::no_index) act(instance(i).first_register + one.index);
    const bool nested =
        one.kind == PtxOperandKind::vector || one.kind == PtxOperandKind::pair || one.kind == PtxOperandKind::list;
    const std::uint32_t many = one.kind == PtxOperandKind::pair ? 2 : one.count;
    for (std::uint32_t k = 0; nested && k < many; ++k)
      each_register(i, instance(i).function->operands[one.index + k], act);
  }

  std::optional<std::uint32_t> plain_register(std::size_t i, const PtxOperand& one) const {
    if (one.kind != PtxOperandKind::reg || one.negated) return std::nullopt;
    return instance(i).first_register + one.index;
  }

  /// The register that this one is a copy of, or its address in another space.
  std::uint32_t origin(std::uint32_t reg) const {
    for (int steps = 0; steps < 16 && definitions_[reg] == 1; ++steps) {
      const std::size_t i = defined_at_[reg];
      if (parts_[i].empty() || ptx(i).count != 2 || ptx(i).guard != PtxOperand::no_index) break;
      if (parts_[i][0] != "mov" && parts_[i][0] != "cvta") break;
      const std::optional<std::uint32_t> from = plain_register(i, operand(i, 1));
      if (!from || !plain_register(i, operand(i, 0))) break;
      reg = *from;
    }
    return reg;
  }

  std::optional<Place> place(std::size_t i, const PtxOperand& address) const {
    if (address.kind != PtxOperandKind::address || address.index == PtxOperand::no_index) return std::nullopt;
    return Place{origin(instance(i).first_register + address.index), address.value, ptx_type_bits(parts_[i].back())};
  }

  Holds worst_source(std::size_t i, const Notes& notes) const {
    Holds worst = Holds::nothing;
    for (std::uint32_t k = defines(i) ? 1 : 0; k < ptx(i).count; ++k)
      each_register(i, operand(i, k), [&](std::uint32_t reg) { worst = std::max(worst, noted(notes, reg)); });
    return worst;
  }

  /// What operand 0 holds afterwards; nothing: the instruction is another use of the value.
  std::optional<Holds> result(std::size_t i, std::size_t load, const Place& at, const Notes& notes) {
    const auto& parts = parts_[i];
    const auto holds = [&](std::uint32_t k) {
      const std::optional<std::uint32_t> reg = plain_register(i, operand(i, k));
      return reg ? noted(notes, *reg) : Holds::nothing;
    };
    if (i == load) return Holds::value;
    const Holds worst = worst_source(i, notes);
    if (parts[0] == "mov" && plain_register(i, operand(i, 1))) return holds(1);
    if (is_swap(i) && place(i, operand(i, 1)) == at) {
      const Holds compared = holds(2), replaced = holds(3);
      const bool proper = compared == Holds::value && replaced != Holds::stale;
      if (!proper && (of_load(compared) || of_load(replaced))) return std::nullopt;
      swapped_ = swapped_ || proper;
      return Holds::swapped;
    }
    if (!of_load(worst)) return Holds::nothing;
    if (!lists(computing, parts[0])) return std::nullopt;
    if (parts[0] == "setp" && parts.size() == 3 && ptx(i).count == 3 && plain_register(i, operand(i, 0))) {
      const Holds a = holds(1), b = holds(2);
      const bool both = (a == Holds::value && b == Holds::swapped) || (a == Holds::swapped && b == Holds::value);
      if (both && (parts[1] == "eq" || parts[1] == "equ")) return Holds::equal;
      if (both && (parts[1] == "ne" || parts[1] == "neu")) return Holds::differs;
    }
    return worst == Holds::stale ? Holds::stale : Holds::computed;
  }

  /// What holds on a way out of a comparison of the value with what was there.
  static Notes after_comparison(Notes notes, bool equal) {
    Notes after;
    for (const auto& [reg, what] : notes) {
      if (what == Holds::swapped || what == Holds::stale) after[reg] = what;
      if (!equal && what > Holds::nothing) after[reg] = Holds::stale;
    }
    return after;
  }

  /// Notes on the ways out of an instruction go to `go`. false: another use of the value.
  template <class Go>
  bool step(std::size_t i, std::size_t load, const Place& at, Notes notes, const Go& go) {
    const FlatInstruction& one = flat_.instructions[i];
    if (one.ptx == nullptr) return go(one.target != no_block ? one.target : i + 1, notes), true;
    const std::string_view op = parts_[i][0];
    const bool guarded = one.ptx->guard != PtxOperand::no_index;
    const Holds guard = guarded ? noted(notes, instance(i).first_register + one.ptx->guard) : Holds::nothing;
    const bool leaves = op == "bra" || op == "ret" || op == "exit";
    if (leaves) {
      const bool compared = guard == Holds::equal || guard == Holds::differs;
      if (of_load(guard) && !compared) return false;
      const bool equal_leaves = (guard == Holds::equal) != one.ptx->guard_negated;
      if (one.target != no_block) go(one.target, compared ? after_comparison(notes, equal_leaves) : notes);
      if (guarded) go(i + 1, compared ? after_comparison(notes, !equal_leaves) : notes);
      return true;
    }
    if (of_load(guard)) return false;
    if (op == "call" && one.target != no_block) return false;
    if (op == "brx") {
      if (one.target == no_block || of_load(worst_source(i, notes))) return false;
      for (const std::uint32_t target : flat_.targets[one.targets]) go(target, notes);
      return true;
    }
    const std::optional<Holds> made = result(i, load, at, notes);
    if (!made) return false;
    bool same_place = true;
    if (defines(i))
      each_register(i, operand(i, 0), [&](std::uint32_t reg) {
        same_place = same_place && reg != at.base;
        note(notes, reg, guarded ? worse(noted(notes, reg), *made) : *made);
      });
    if (!same_place) return false;
    return go(i + 1, notes), true;
  }

  bool is_checked(std::size_t load, const Place& at) {
    constexpr int most_steps = 100'000;
    swapped_ = false;
    std::map<std::size_t, Notes> before = {{load, {}}};
    std::vector<std::size_t> open = {load};
    for (int steps = 0; !open.empty(); ++steps) {
      if (steps == most_steps) return false;
      const std::size_t i = open.back();
      open.pop_back();
      const bool fine = step(i, load, at, before.at(i), [&](std::size_t next, const Notes& notes) {
        if (next >= parts_.size() || notes.empty()) return;
        const auto [known, fresh] = before.try_emplace(next, notes);
        if (fresh || meet(known->second, notes)) open.push_back(next);
      });
      if (!fine) return false;
    }
    return swapped_;
  }

  const Flat& flat_;
  std::vector<std::vector<std::string_view>> parts_;
  std::vector<std::uint32_t> definitions_;
  std::vector<std::size_t> defined_at_;
  bool swapped_ = false;
};

}  // namespace

std::vector<bool> checked_loads(const Flat& flat) {
  const bool swaps = std::any_of(flat.instructions.begin(), flat.instructions.end(), [](const FlatInstruction& one) {
    return one.ptx != nullptr && one.ptx->opcode.starts_with("atom") &&
           one.ptx->opcode.find(".cas") != one.ptx->opcode.npos;
  });
  return swaps ? Walk(flat).checked() : std::vector<bool>{};
}

}  // namespace tailor::simulator
