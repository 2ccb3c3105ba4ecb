// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads, stores, atomics, fences and conversions of addresses. In: an instruction of the walk (decode.cpp). Out: one
// micro-operation with its access packed into Micro::extra, and what the program needs to know about all accesses
// together: the smallest one, and whether warps or blocks may talk through memory. Cache hints mean nothing here. They
// are skipped by name, so that a modifier that is not in the list is still refused.
#include <algorithm>
#include <array>

#include "profiler/simulator/decode/decoder.h"

namespace tailor::simulator {
namespace {

struct TypeRow {
  std::string_view name;
  int bytes;
  bool sign;
};
constexpr auto type_table = std::to_array<TypeRow>({
    {"b8", 1, false},
    {"u8", 1, false},
    {"s8", 1, true},
    {"b16", 2, false},
    {"u16", 2, false},
    {"s16", 2, true},
    {"f16", 2, false},
    {"bf16", 2, false},
    {"b32", 4, false},
    {"u32", 4, false},
    {"s32", 4, true},
    {"f32", 4, false},
    {"f16x2", 4, false},
    {"bf16x2", 4, false},
    {"b64", 8, false},
    {"u64", 8, false},
    {"s64", 8, true},
    {"f64", 8, false},
});

const TypeRow* find_type(std::string_view name) {
  for (const TypeRow& row : type_table)
    if (row.name == name) return &row;
  return nullptr;
}

constexpr std::string_view hints[] = {"nc",  "ca",      "cg",  "cs",  "cv",      "lu",   "wb",   "wt",
                                      "cta", "cluster", "gpu", "sys", "unified", "weak", "mmio", "noftz"};

bool is_hint(std::string_view part) {
  return std::find(std::begin(hints), std::end(hints), part) != std::end(hints) || part.starts_with("L1::") ||
         part.starts_with("L2::");
}

struct AccessParts {
  AccessSpace space = AccessSpace::generic;
  bool param = false, cluster = false, generic_named = false;
  MemoryOrder order = MemoryOrder::weak;
  MemoryScope scope = MemoryScope::device;
  int vector = 1;
  const TypeRow* type = nullptr;
  std::string_view operation;  ///< atomics
  bool cache_operand = false;
  std::string_view unknown;
};

/// "cta" and "cluster" narrow a scope; the rest of the machine is one device.
MemoryScope scope_named(std::string_view part, MemoryScope otherwise) {
  return part == "cta" ? MemoryScope::block : part == "cluster" ? MemoryScope::cluster : otherwise;
}

constexpr std::string_view operations[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"};

AccessParts access_parts(const std::vector<std::string_view>& parts) {
  AccessParts found;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (part == "global" || part == "const") {
      found.space = AccessSpace::global;
    } else if (part == "shared" || part == "shared::cta") {
      found.space = AccessSpace::shared;
    } else if (part == "shared::cluster") {
      found.space = AccessSpace::shared;
      found.cluster = true;
    } else if (part == "local") {
      found.space = AccessSpace::local;
    } else if (part.starts_with("param")) {
      found.param = true;
    } else if (part == "volatile") {
      found.order = MemoryOrder::watched;
    } else if (part == "relaxed") {
      found.order = MemoryOrder::relaxed;
    } else if (part == "acquire") {
      found.order = MemoryOrder::acquire;
    } else if (part == "release") {
      found.order = MemoryOrder::release;
    } else if (part == "acq_rel") {
      found.order = MemoryOrder::acquire_release;
    } else if (part == "v2" || part == "v4" || part == "v8") {
      found.vector = part[1] - '0';
    } else if (std::find(std::begin(operations), std::end(operations), part) != std::end(operations)) {
      found.operation = part;
    } else if (const TypeRow* type = find_type(part)) {
      found.type = type;
    } else if (is_hint(part)) {
      if (part == "L2::cache_hint") found.cache_operand = true;
      found.scope = scope_named(part, found.scope);
    } else {
      found.unknown = part;
    }
  }
  return found;
}

ElementKind element_kind(const TypeRow& type, bool wide) {
  switch (type.bytes) {
    case 1:
      return wide        ? (type.sign ? ElementKind::s8_wide : ElementKind::u8_wide)
             : type.sign ? ElementKind::s8
                         : ElementKind::u8;
    case 2:
      return wide        ? (type.sign ? ElementKind::s16_wide : ElementKind::u16_wide)
             : type.sign ? ElementKind::s16
                         : ElementKind::u16;
    case 4:
      return wide ? (type.sign ? ElementKind::s32_wide : ElementKind::u32_wide) : ElementKind::b32;
    default:
      return ElementKind::b64;
  }
}

int power_of(int vector) { return vector == 8 ? 3 : vector == 4 ? 2 : vector == 2 ? 1 : 0; }

std::uint32_t extra_of(const AccessParts& parts, bool wide, int bytes, std::uint32_t site) {
  return static_cast<std::uint32_t>(parts.space) | (wide ? access_wide : 0) |
         static_cast<std::uint32_t>(parts.order) << access_order_shift | (parts.cluster ? access_cluster : 0) |
         static_cast<std::uint32_t>(bytes) << access_bytes_shift | site << access_site_shift;
}

}  // namespace

std::uint32_t Decoder::memory_site(SiteKind kind, MemoryScope scope) {
  program_.memory_sites.push_back({current_.site, kind, scope});
  if (program_.memory_sites.size() > 0xffff) unsupported("more than 65,535 memory instructions");
  return static_cast<std::uint32_t>(program_.memory_sites.size() - 1) & 0xffffu;
}

Decoder::Address Decoder::address_of(const PtxOperand& operand) {
  if (operand.kind == PtxOperandKind::variable) return {address_constant(operand, 64), 0, true};
  if (operand.kind != PtxOperandKind::address) malformed("an address in brackets was expected");
  if (operand.index == PtxOperand::no_index)
    return {bits_constant(static_cast<std::uint64_t>(operand.value), 64), 0, true};
  const int bits = register_bits(operand);
  if (bits == 1) malformed("an address in a predicate register");
  return {current_.instance->first_register + operand.index, operand.value, bits == 64};
}

bool Decoder::memory_instruction() {
  const std::string_view op = current_.parts[0];
  if (op == "ld" || op == "ldu") return load_store(true), true;
  if (op == "st" && current_.parts.size() > 1 && current_.parts[1] != "async" && current_.parts[1] != "bulk")
    return load_store(false), true;
  if (op == "atom") return atomic(true), true;
  if (op == "red" && current_.parts.size() > 1 && current_.parts[1] != "async") return atomic(false), true;
  if (op == "cvta" || op == "isspacep" || op == "mapa" || op == "getctarank") return address_conversion(), true;
  if (op == "prefetch" || op == "prefetchu" || op == "applypriority" || op == "discard")
    return count(Pipe::memory), true;
  if (op == "createpolicy") {
    count(Pipe::alu);
    emit(program_.lanes->copy64, destination(operand(0), LaneType::u64), bits_constant(0, 64));
    return true;
  }
  if (op == "membar" || op == "fence") {
    count(Pipe::fence);
    Micro micro;
    micro.full = micro.some = steps_.address.fence;
    const auto& parts = current_.parts;
    if (parts.size() > 1 && parts[1] == "proxy") {
      program_.uses_async = true;
      micro.full = micro.some = steps_.async.proxy_fence;
      return emit(micro), true;
    }
    MemoryScope scope = MemoryScope::device;
    for (const std::string_view part : parts) scope = scope_named(part, scope);
    micro.extra = static_cast<std::uint32_t>(scope);
    if (scope != MemoryScope::block) program_.orders_memory = true;
    emit(micro);
    return true;
  }
  return false;
}

/// The slots of what is loaded or stored, each as wide as the widest register (`wide`: 64 bits).
std::vector<Slot> Decoder::value_slots(const PtxOperand& value, int count, int bytes, std::string_view type_name,
                                       bool is_load, bool& wide) {
  const bool is_vector = value.kind == PtxOperandKind::vector;
  const auto part = [&](int k) -> const PtxOperand& {
    return is_vector ? nested(value.index + static_cast<std::uint32_t>(k)) : value;
  };
  for (int k = 0; k < count; ++k) {
    const PtxOperand& one = part(k);
    wide = wide || (one.kind == PtxOperandKind::reg ? register_bits(one) == 64 : bytes == 8);
  }
  const LaneType type = wide                 ? type_name == "f64" ? LaneType::f64 : LaneType::u64
                        : type_name == "f32" ? LaneType::f32
                                             : LaneType::u32;
  std::vector<Slot> slots;
  for (int k = 0; k < count; ++k) {
    const PtxOperand& one = part(k);
    slots.push_back(is_load && one.kind == PtxOperandKind::discard ? no_slot
                    : is_load                                      ? destination(one, type)
                                                                   : source(one, type));
  }
  return slots;
}

void Decoder::load_store(bool is_load) {
  AccessParts parts = access_parts(current_.parts);
  if (!parts.unknown.empty()) return unsupported("modifier ." + std::string(parts.unknown));
  if (parts.type == nullptr) return unsupported("no type that is known");
  if (current_.checked) parts.order = MemoryOrder::relaxed;
  const PtxOperand& address = operand(is_load ? 1 : 0);
  const PtxOperand& value = operand(is_load ? 0 : 1);
  const bool is_vector = value.kind == PtxOperandKind::vector;
  const std::uint32_t width = is_vector ? value.count : 1;  // {%r1} is %r1: Triton writes it so
  if (width != static_cast<std::uint32_t>(parts.vector))
    malformed("a vector of " + std::to_string(width) + " where the opcode says " + std::to_string(parts.vector));
  if (parts.param && address.kind == PtxOperandKind::variable) {
    const bool entry = current_.instance == &flat_.instances[0] && address.index < entry_.params.size();
    if (entry) {
      if (!is_load) malformed("a store to a parameter of the entry");
      count(Pipe::move);
      return param_load(address, value, parts.type->bytes, parts.type->sign);
    }
    parts.space = AccessSpace::local;
  } else if (parts.param) {
    parts.space = AccessSpace::global;  // the parameter block is in memory
  }
  count(parts.param ? Pipe::move : Pipe::memory);
  const Address at = address_of(address);
  bool wide = false;
  const std::vector<Slot> slots = value_slots(value, parts.vector, parts.type->bytes, parts.type->name, is_load, wide);
  if (!wide && parts.type->bytes == 8) malformed("64 bits where the register has 32");
  Micro micro;
  const int bytes = parts.type->bytes * parts.vector;
  micro.a = at.slot;
  micro.immediate = at.offset;
  micro.extra = extra_of(parts, at.wide, bytes, memory_site(is_load ? SiteKind::load : SiteKind::store, parts.scope)) |
                (parts.param ? access_uncounted : 0) | (is_load && has(current_.parts, "nc") ? access_constant : 0);
  const AccessTable& table = *program_.lanes->access;
  const auto kind = static_cast<std::size_t>(element_kind(*parts.type, wide));
  const auto power = static_cast<std::size_t>(power_of(parts.vector));
  micro.full = (is_load ? table.load : table.store)[kind][power][0];
  micro.some = (is_load ? table.load : table.store)[kind][power][1];
  if (parts.vector > 1) {
    micro.list = list_of(slots);
    micro.count = static_cast<std::uint8_t>(parts.vector);
    if (is_load) micro.writes = static_cast<std::uint8_t>((1u << parts.vector) - 1);
  } else if (is_load) {
    micro.d = slots[0] == no_slot ? temporary(wide ? 64 : 32) : slots[0];
  } else {
    micro.b = slots[0];
  }
  note_access(parts.space, parts.order, parts.type->bytes, bytes);
  emit(micro);
}

/// A call that does nothing here gives 0, of 32 bits. Its results stand in a list before the function's name.
void Decoder::zero_results(std::uint32_t function_at) {
  for (std::uint32_t k = 0; k < function_at; ++k) {
    if (operand(k).kind != PtxOperandKind::list) continue;
    for (std::uint32_t i = 0; i < operand(k).count; ++i) {
      const Address at = address_of(nested(operand(k).index + i));
      AccessParts parts;
      parts.space = AccessSpace::local;
      Micro micro;
      micro.a = at.slot;
      micro.b = bits_constant(0, 32);
      micro.immediate = at.offset;
      micro.extra = extra_of(parts, at.wide, 4, memory_site(SiteKind::store, parts.scope)) | access_uncounted;
      const auto& store = program_.lanes->access->store[static_cast<std::size_t>(ElementKind::b32)][0];
      micro.full = store[0];
      micro.some = store[1];
      emit(micro);
    }
  }
}

/// vprintf(format, values), a call whose parameters stand in a list behind its name.
void Decoder::print(std::uint32_t function_at) {
  zero_results(function_at);
  const bool has_list = function_at + 1 < operand_count() && operand(function_at + 1).kind == PtxOperandKind::list;
  if (!has_list || operand(function_at + 1).count != 2) malformed("vprintf takes a format and its values");
  const std::uint32_t first = operand(function_at + 1).index;
  Micro micro;
  micro.full = micro.some = steps_.address.print;
  micro.a = address_of(nested(first)).slot;
  micro.b = address_of(nested(first + 1)).slot;
  emit(micro);
}

void Decoder::note_access(AccessSpace space, MemoryOrder order, int bytes, int whole) {
  if (space == AccessSpace::shared || space == AccessSpace::generic)
    program_.shared_grain = std::min(program_.shared_grain, bytes);
  if (space == AccessSpace::global || space == AccessSpace::generic)
    program_.global_grain = std::min(program_.global_grain, whole);
  if (order == MemoryOrder::weak) return;
  program_.may_spin = true;
  if (space != AccessSpace::shared) program_.orders_memory = true;
}

/// Parameters of the entry are constants of the launch.
void Decoder::param_load(const PtxOperand& address, const PtxOperand& value, int bytes, bool sign) {
  const bool is_vector = value.kind == PtxOperandKind::vector;
  const std::uint32_t many = is_vector ? value.count : 1;
  for (std::uint32_t k = 0; k < many; ++k) {
    const PtxOperand& one = is_vector ? nested(value.index + k) : value;
    if (one.kind == PtxOperandKind::discard) continue;
    if (one.kind != PtxOperandKind::reg) malformed("ld.param needs a register");
    const int bits = register_bits(one);
    LaunchConstant made;
    made.kind = LaunchConstant::Kind::param;
    made.slot_bits = static_cast<std::uint8_t>(bits == 64 ? 64 : 32);
    made.bytes = static_cast<std::uint8_t>(bytes);
    made.sign = sign;
    const std::int64_t offset = program_.params[address.index].offset + address.value + std::int64_t{k} * bytes;
    if (offset < 0 || offset + bytes > program_.param_bytes) malformed("a load outside the parameters");
    made.value = static_cast<std::uint64_t>(offset);
    emit(bits == 64 ? program_.lanes->copy64 : program_.lanes->copy32, current_.instance->first_register + one.index,
         constant(made));
  }
}

void Decoder::atomic(bool has_result) {
  AccessParts parts = access_parts(current_.parts);
  count(Pipe::memory);
  if (!parts.unknown.empty()) return unsupported("modifier ." + std::string(parts.unknown));
  if (parts.type == nullptr || parts.operation.empty()) return unsupported("its operation or type is not known");
  if (parts.order == MemoryOrder::weak) parts.order = MemoryOrder::relaxed;
  const Step step = steps_.atomic(parts.operation, parts.type->name, parts.vector);
  if (step == nullptr) return unsupported("this operation on this type");
  const std::uint32_t first = has_result ? 1 : 0;
  const Address at = address_of(operand(first));
  const LaneType type = parts.type->bytes == 8      ? LaneType::u64
                        : parts.type->name == "f32" ? LaneType::f32
                                                    : LaneType::u32;
  Micro micro;
  micro.full = micro.some = step;
  micro.a = at.slot;
  micro.immediate = at.offset;
  micro.extra = extra_of(parts, at.wide, parts.type->bytes * parts.vector, memory_site(SiteKind::atomic, parts.scope));
  if (parts.vector > 1) {
    std::vector<Slot> slots;
    for (int result = has_result; result >= 0; --result) {
      const PtxOperand& value = operand(result ? 0 : first + 1);
      if (value.kind != PtxOperandKind::vector) malformed("a vector was expected");
      for (std::uint32_t k = 0; k < value.count; ++k) {
        if (result) micro.writes = static_cast<std::uint8_t>(micro.writes | 1u << slots.size());
        slots.push_back(result ? destination(nested(value.index + k), type) : source(nested(value.index + k), type));
      }
    }
    micro.list = list_of(slots);
    micro.count = static_cast<std::uint8_t>(slots.size());
  } else {
    micro.b = source(operand(first + 1), type);
    if (parts.operation == "cas") micro.c = source(operand(first + 2), type);
    // A result that nobody reads is none: compilers write atom where red is meant.
    const PtxOperand& result = operand(0);
    const bool unread =
        result.kind == PtxOperandKind::reg && mentions_[current_.instance->first_register + result.index] == 1;
    if (has_result && !unread) micro.d = destination(result, type);
  }
  note_access(parts.space, parts.order, parts.type->bytes, parts.type->bytes * parts.vector);
  emit(micro);
}

/// cvta, isspacep, mapa, getctarank.
void Decoder::address_conversion() {
  const std::string_view op = current_.parts[0];
  count(Pipe::alu);
  AccessSpace space = AccessSpace::global;
  bool to = false, known = false;
  for (const std::string_view part : current_.parts) {
    if (part == "to") to = true;
    if (part == "shared" || part.starts_with("shared::")) space = AccessSpace::shared, known = true;
    if (part == "local") space = AccessSpace::local;
  }
  const int bits = current_.parts.back() == "u32" ? 32 : 64;
  const LaneType type = bits == 64 ? LaneType::u64 : LaneType::u32;
  Micro micro;
  if (op == "isspacep") {
    micro.full = micro.some = steps_.address.is_space;
    micro.a = source(operand(1), LaneType::u64);
    micro.d = destination(operand(0), LaneType::pred);
    micro.extra = static_cast<std::uint32_t>(space);
    return emit(micro);
  }
  if (op == "mapa") {
    program_.uses_clusters = true;
    micro.full = micro.some = steps_.address.map_rank;
    micro.a = source(operand(1), type);
    micro.b = source(operand(2), LaneType::u32);
    micro.d = destination(operand(0), type);
    micro.extra = known ? 0 : 1;
    micro.immediate = bits;
    return emit(micro);
  }
  if (op == "getctarank") {
    program_.uses_clusters = true;
    micro.full = micro.some = steps_.address.rank_of;
    micro.a = source(operand(1), type);
    micro.d = destination(operand(0), LaneType::u32);
    micro.extra = known ? 0 : 1;
    micro.immediate = bits;
    return emit(micro);
  }
  const Slot a = source(operand(1), type), d = destination(operand(0), type);
  if (space == AccessSpace::global) return emit(bits == 64 ? program_.lanes->copy64 : program_.lanes->copy32, d, a);
  micro.full = micro.some = to ? steps_.address.from_generic : steps_.address.to_generic;
  micro.a = a;
  micro.d = d;
  micro.extra = static_cast<std::uint32_t>(space);
  micro.immediate = bits;
  emit(micro);
}

}  // namespace tailor::simulator
