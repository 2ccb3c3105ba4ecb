// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A copy of the launch list belongs to an instruction, which says what is copied to where:
//
//   copy                       its operand, whole, to its result
//   a fusion                   the part of an operand that the root is made of by slices and bitcasts, to the result or
//                              to the part of it that a dynamic-update-slice writes
//   a copy inside a fusion     the same of the fusion that calls its computation (DynamicSliceFusion)
//
// Where a slice begins that differs from trip to trip of a loop, XLA has worked out for itself and written beside the
// slice: a first byte, and how many further with each trip. Without that the place is not known here. Parts that are no
// single range of bytes are no copy of the driver's, so they are an error in what was understood, and refused.
#include "profiler/xla/xla_transfers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "profiler/xla/xla_arguments.h"

namespace tailor::profiler {

namespace {

/// Thunks of the driver's copies and fills; of the latter those that fill with zeros.
constexpr std::array copies = std::to_array<std::string_view>({"Copy", "DeviceToDeviceCopy"});
constexpr std::array zeros = std::to_array<std::string_view>({"Memzero", "MemZero"});
constexpr std::array words = std::to_array<std::string_view>({"Memset32BitValue"});

bool is_among(const auto& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What cannot be understood of one copy or fill; ends its making.
Error unknown(std::string reason) { return Error(Fault::failed, std::move(reason)); }

std::int64_t number_after(std::string_view text, std::string_view mark) {
  std::int64_t value = 0;
  const std::size_t at = text.find(mark);
  const std::size_t first = at == text.npos ? text.size() : at + mark.size();
  if (std::from_chars(text.data() + first, text.data() + text.size(), value).ec != std::errc{})
    throw unknown(fmt::format("not found: a number after '{}'", mark));
  return value;
}

/// Throws unless `sizes` elements along each dimension are one range of bytes, wherever they begin.
void require_one_range(const ir::Shape& whole, const ir::Dims& sizes) {
  bool all = true;  // of the dimensions so far, fastest first, the part has all elements
  for (int i = 0; i < whole.rank(); ++i) {
    const int dim = whole.minor_to_major[i];
    if (!all && sizes[dim] != 1) throw unknown("not bound: it takes a part that is no single range of bytes");
    all = all && sizes[dim] == whole.dims[dim];
  }
}

/// First byte of a slice: "{[0:4096], [1:2]}".
std::int64_t first_byte(std::string_view slice, const ir::Shape& whole) {
  const ir::Dims strides = ir::strides(whole);
  std::int64_t elements = 0;
  std::size_t at = 0;
  for (int dim = 0; dim < whole.rank(); ++dim) {
    at = slice.find('[', at);
    if (at == slice.npos) throw unknown("not found: where its slice begins");
    elements += number_after(slice.substr(at++), "[") * strides[dim];
  }
  const std::int64_t all = std::max<std::int64_t>(ir::elements(whole), 1);
  if (ir::bytes(whole) % all != 0) throw unknown("not bound: its slice may begin within a byte");
  return elements * (ir::bytes(whole) / all);
}

/// One copy or fill while it is understood.
class Making {
 public:
  Making(const hlo::HloModule& module, const XlaSchedule& schedule, const XlaBufferAssignment& assignment,
         const XlaLaunch& launch)
      : module_(module), schedule_(schedule), assignment_(assignment), launch_(launch) {}

  XlaStep made() {
    XlaTransfer& transfer = step_.transfer.emplace();
    transfer.fills = !is_among(copies, launch_.thunk);
    step_.instruction = launch_.instruction;
    try {
      if (!launch_.fault.empty()) throw unknown(launch_.fault);
      transfer.fills ? fill(transfer) : copy(transfer);
    } catch (const Error& error) {
      if (error.fault == Fault::interrupted) throw;
      refuse(error.message);
    }
    return std::move(step_);
  }

 private:
  void refuse(const std::string& reason) {
    step_.transfer->reason = fmt::format("{}: {}", launch_.thunk, reason);
    step_.arguments.clear();
    step_.transfer->parts.clear();
  }

  using Instruction = hlo::HloInstruction;

  const XlaScheduled& place_of(std::string_view instruction) const {
    const XlaScheduled* place = schedule_.find(instruction);
    if (place == nullptr)
      throw unknown(fmt::format("not found: instruction '{}' in the optimised module", instruction));
    return *place;
  }

  /// The instruction that runs by itself and copies: the launch's own, or the fusion around it.
  const XlaScheduled& place() {
    if (const XlaScheduled* own = schedule_.find(launch_.instruction)) return *own;
    const auto inner = std::find_if(module_.instructions.begin(), module_.instructions.end(),
                                    [&](const Instruction& one) { return one.name == launch_.instruction; });
    if (inner == module_.instructions.end() || launch_.instruction.empty()) return place_of(launch_.instruction);
    through_ = &*inner;
    const std::string_view home = home_of(module_, *inner).name;
    const XlaScheduled* found = nullptr;
    for (const Instruction& one : module_.instructions) {
      if (one.op != ir::Op::fusion || plain(module_.attribute(one, "calls")) != plain(home)) continue;
      if (found != nullptr) throw unknown(fmt::format("not bound: several fusions call '{}'", home));
      found = &place_of(one.name);
    }
    if (found == nullptr) throw unknown(fmt::format("not found: the fusion that calls '{}'", home));
    return *found;
  }

  static std::string_view plain(std::string_view name) { return name.starts_with('%') ? name.substr(1) : name; }

  /// Keeps these arguments of what was bound, with their parts.
  void keep(const XlaBound& bound, std::initializer_list<std::pair<std::size_t, XlaRange>> parts, std::int64_t bytes) {
    for (const auto& [number, part] : parts) {
      const XlaArgument& argument = bound.arguments[number];
      const std::size_t depth = step_.loops.size();
      double trips = 1;
      if (part.stride != 0) {
        if (part.loop < 0 || static_cast<std::size_t>(part.loop) >= depth)
          throw unknown("not bound: it moves with a loop that is not around it");
        trips = step_.loops[depth - 1 - static_cast<std::size_t>(part.loop)].trips;
      }
      const auto last = static_cast<double>(part.begin) + static_cast<double>(part.stride) * (trips - 1);
      const auto most = static_cast<double>(ir::bytes(argument.shape) - bytes);
      if (part.begin < 0 || static_cast<double>(part.begin) > most || last < 0 || last > most)
        throw unknown("not bound: it reaches past the end of an array");
      step_.arguments.push_back(argument);
      step_.arguments.back().shares = -1;
      step_.transfer->parts.push_back(part);
    }
    step_.transfer->bytes = bytes;
    step_.assignment_known = std::all_of(step_.arguments.begin(), step_.arguments.end(),
                                         [](const XlaArgument& one) { return one.allocation >= 0; });
  }

  XlaBound bound_of(const XlaScheduled& at) {
    step_.loops = at.loops;
    XlaBound bound = bound_arguments(module_, assignment_, *at.instruction);
    if (std::ssize(bound.arguments) != bound.operands + 1)
      throw unknown(fmt::format("not bound: '{}' has {} results", at.instruction->name,
                                std::ssize(bound.arguments) - bound.operands));
    return bound;
  }

  void copy(XlaTransfer&) {
    const XlaScheduled& at = place();
    const XlaBound bound = bound_of(at);
    if (at.instruction->op == ir::Op::fusion) return copy_of_fusion(*at.instruction, bound);
    const std::int64_t bytes = ir::bytes(bound.arguments.back().shape);
    if (bound.operands != 1 || ir::bytes(bound.arguments.front().shape) != bytes)
      throw unknown(fmt::format("not bound: '{}' copies no single operand whole", at.instruction->name));
    keep(bound, {{0, {}}, {1, {}}}, bytes);
  }

  const ir::Shape& shape_of(const Instruction& one) const {
    const hlo::HloType& type = module_.type_of(one);
    if (type.children >= 0) throw unknown(fmt::format("not bound: '{}' is a tuple", one.name));
    return module_.shapes_of(type)[0];
  }

  /// What XLA worked out of a slice that moves.
  XlaRange moving_part(const Instruction& slice) const {
    const std::string_view config = module_.attribute(slice, "backend_config");
    const std::size_t at = config.find("\"dynamic_slice_config\":{");
    if (at == config.npos) throw unknown("not known: where its slice begins, as only the run tells");
    const std::string_view own = config.substr(at, config.find('}', at) - at);
    return {number_after(own, "\"byte_offset\":\""), number_after(own, "\"byte_stride\":\""),
            static_cast<std::int32_t>(number_after(own, "\"loop_index\":\""))};
  }

  static void add(XlaRange& to, const XlaRange& part) {
    if (to.stride != 0 && part.stride != 0 && to.loop != part.loop) throw unknown("not bound: it moves with two loops");
    if (part.stride != 0) to.loop = part.loop;
    to.begin += part.begin;
    to.stride += part.stride;
  }

  /// From what is copied to the operand of the fusion that it is a part of.
  std::pair<std::size_t, XlaRange> source_of(IndexedSpan<const Instruction> home, const Instruction* one) {
    XlaRange part;
    for (;; one = &operand_of(module_, home, *one, 0)) {
      if (one == through_) through_ = nullptr;
      if (one->op == ir::Op::parameter) return {static_cast<std::size_t>(number_after(one->payload, "")), part};
      if (one->operands == 0) break;
      if (one->op == ir::Op::slice || one->op == ir::Op::dynamic_slice) {
        const ir::Shape& whole = shape_of(operand_of(module_, home, *one, 0));
        require_one_range(whole, shape_of(*one).dims);
        add(part, one->op == ir::Op::slice ? XlaRange{first_byte(module_.attribute(*one, "slice"), whole), 0, 0}
                                           : moving_part(*one));
      } else if (one->op != ir::Op::bitcast && one->op != ir::Op::copy) {
        break;
      }
    }
    throw unknown(fmt::format("not bound: '{}' is a '{}', expected a part of an operand", one->name, one->opcode));
  }

  void copy_of_fusion(const Instruction& fusion, const XlaBound& bound) {
    const std::int32_t called = module_.computation_named(plain(module_.attribute(fusion, "calls")));
    if (called < 0 || bound.operands != fusion.operands)
      throw unknown(fmt::format("not bound: the computation of '{}'", fusion.name));
    const hlo::HloComputation& computation = module_.computations[called];
    const IndexedSpan<const Instruction> home = module_.instructions_of(computation);
    const Instruction* root = &home[computation.root];
    while (root->op == ir::Op::bitcast && root->operands > 0) root = &operand_of(module_, home, *root, 0);
    const Instruction* copied = root;
    XlaRange to;
    if (root->op == ir::Op::dynamic_update_slice) {
      if (bound.arguments.back().allocation < 0) throw unknown("not known: where its result lies");
      copied = &operand_of(module_, home, *root, 1);
      require_one_range(shape_of(*root), shape_of(*copied).dims);
      to = moving_part(*root);
    }
    const auto [operand, from] = source_of(home, copied);
    if (through_ != nullptr)
      throw unknown(fmt::format("not bound: '{}' is not what '{}' is made of", through_->name, fusion.name));
    if (static_cast<std::int64_t>(operand) >= bound.operands) throw unknown("not bound: an operand that is not there");
    keep(bound, {{operand, from}, {bound.arguments.size() - 1, to}}, ir::bytes(shape_of(*copied)));
  }

  void fill(XlaTransfer& transfer) {
    const XlaScheduled& at = place_of(launch_.instruction);
    const XlaBound bound = bound_of(at);
    if (is_among(words, launch_.thunk)) transfer.word = word_of(*at.instruction);
    keep(bound, {{bound.arguments.size() - 1, {}}}, ir::bytes(bound.arguments.back().shape));
  }

  /// What an array of one constant is filled with, repeated to four bytes.
  std::uint32_t word_of(const Instruction& filled) const {
    const Instruction* one = &filled;
    const hlo::HloComputation* home = &home_of(module_, *one);
    while (one->op != ir::Op::constant) {
      if (one->op == ir::Op::fusion) {
        const std::int32_t called = module_.computation_named(plain(module_.attribute(*one, "calls")));
        if (called < 0) throw unknown("not known: what it fills with");
        home = &module_.computations[called];
        one = &module_.instructions_of(*home)[home->root];
      } else if ((one->op == ir::Op::broadcast || one->op == ir::Op::bitcast) && one->operands == 1) {
        one = &operand_of(module_, module_.instructions_of(*home), *one, 0);
      } else {
        throw unknown("not known: what it fills with");
      }
    }
    std::vector<std::byte> element;
    const ir::Shape& shape = shape_of(*one);
    if (ir::elements(shape) != 1 || !hlo::parse_literal(module_, one->payload, shape, element) || element.empty() ||
        4 % element.size() != 0)
      throw unknown("not known: what it fills with");
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < sizeof word; i += element.size())
      std::memcpy(reinterpret_cast<std::byte*>(&word) + i, element.data(), element.size());
    return word;
  }

  const hlo::HloModule& module_;
  const XlaSchedule& schedule_;
  const XlaBufferAssignment& assignment_;
  const XlaLaunch& launch_;
  XlaStep step_;
  const Instruction* through_ = nullptr;  ///< a copy inside a fusion, until it was met on the way to its source
};

}  // namespace

bool is_transfer(const XlaLaunch& launch) {
  return launch.entry.empty() &&
         (is_among(copies, launch.thunk) || is_among(zeros, launch.thunk) || is_among(words, launch.thunk));
}

XlaStep transfer_step(const hlo::HloModule& module, const XlaSchedule& schedule, const XlaBufferAssignment& assignment,
                      const XlaLaunch& launch) {
  return Making(module, schedule, assignment, launch).made();
}

}  // namespace tailor::profiler
