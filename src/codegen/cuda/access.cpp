// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Pinned memory accesses. Each load and store of a kernel is one volatile asm statement, so the compiler neither moves,
// merges nor drops it, and what was counted in the program is what the machine executes. An access moves 1 to 4 words:
// elements of 4 or 8 bytes are words themselves, smaller ones travel packed.
//
// Volatile binds the compiler, not the assembler. It moves non-coherent and plain loads down to their first use, so
// that of eight loads written side by side one is on its way at a time. Only a strong access keeps its place among the
// others: relaxed within the block, which is the weakest that does (and may be answered by L1). Loads that are expected
// again soon and not asked for ahead of their use go the non-coherent way.
//
// A store into an element into which others may store too is strong, and so are atomics. These are one instruction
// where the GPU has it (ir/kernel/atomic.h); else what is there is loaded, changed and exchanged until nobody came
// between, or until the change is none.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "codegen/cuda/expression.h"
#include "codegen/cuda/prelude.h"

namespace tailor::codegen {

namespace {

using ir::DType;

/// How an element type travels.
struct WordRow {
  int bytes;
  std::string_view type;    ///< of the register
  std::string_view suffix;  ///< of the PTX instruction
  char constraint;
};

constexpr WordRow byte_word{1, "unsigned int", "u8", 'r'};
constexpr WordRow half_word{2, "unsigned short", "b16", 'h'};
constexpr WordRow word{4, "unsigned int", "b32", 'r'};
constexpr WordRow long_word{8, "unsigned long long", "b64", 'l'};
constexpr WordRow float_word{4, "float", "f32", 'f'};
constexpr WordRow double_word{8, "double", "f64", 'd'};

struct Layout {
  WordRow word;
  int words;
  int per_word;  ///< elements in one word
};

Layout layout(const Access& access) {
  if (access.dtype == DType::f32) return {float_word, access.width, 1};
  if (access.dtype == DType::f64) return {double_word, access.width, 1};
  const int size = ir::row(access.dtype).bits / 8;
  if (size == 8) return {long_word, access.width, 1};
  const int bytes = size * access.width;
  if (bytes >= 4) return {word, bytes / 4, 4 / size};
  return {bytes == 2 ? half_word : byte_word, 1, access.width};
}

std::string element(std::string_view array, int i, DType dtype) {
  return fmt::format("{}[{}]{}", array, i, is_held_as_bits(dtype) ? ".bits" : "");
}

/// Whether the machine code must have the load where the program has it, relative to the other loads.
bool is_ordered(const Access& access) {
  return !access.store && access.space == ir::Space::global && access.policy != ir::Policy::again;
}

bool changes(const Access& access) { return access.store && access.op != ir::Op::copy; }

/// The word of PTX for an operation of an atomic.
std::string_view atomic_word(ir::Op op) {
  switch (op) {
    case ir::Op::add:
      return "add";
    case ir::Op::maximum:
      return "max";
    case ir::Op::minimum:
      return "min";
    case ir::Op::bit_and:
      return "and";
    case ir::Op::bit_or:
      return "or";
    case ir::Op::bit_xor:
      return "xor";
    default:
      throw std::logic_error(fmt::format("no atomic {}", ir::name(op)));
  }
}

/// "red.global.add.noftz.v4.f16x2".
std::string atomic_instruction(const Access& access, const Layout& l) {
  const bool half = access.dtype == DType::f16 || access.dtype == DType::bf16;
  const bool bits = access.op == ir::Op::bit_and || access.op == ir::Op::bit_or || access.op == ir::Op::bit_xor;
  const bool wide_sum = access.dtype == DType::s64 && access.op == ir::Op::add;
  std::string type(bits ? l.word.suffix : wide_sum ? std::string_view("u64") : ir::name(access.dtype));
  if (half && l.per_word == 2) type += "x2";
  return fmt::format("\"red.global.{}{}{}.{}", atomic_word(access.op), half ? ".noftz" : "",
                     l.words > 1 ? fmt::format(".v{}", l.words) : std::string(), type);
}

std::string instruction(const Access& access, const Layout& l) {
  if (changes(access)) return atomic_instruction(access, l);
  std::string mnemonic = access.store ? "st" : "ld";
  mnemonic += access.space == ir::Space::shared        ? ".shared"
              : access.space == ir::Space::distributed ? ".shared::cluster"
                                                       : ".global";
  if (is_ordered(access)) mnemonic.clear();
  const bool beside = access.store && access.policy == ir::Policy::fresh;
  if (beside) mnemonic.clear();
  if (!access.store && access.space == ir::Space::global && !is_ordered(access)) mnemonic += ".nc";
  if (l.words > 1) mnemonic += fmt::format(".v{}", l.words);
  mnemonic += "." + std::string(l.word.suffix);
  return is_ordered(access) ? "ORDERED_LOAD \"" + mnemonic : beside ? "STORE_BESIDE \"" + mnemonic : "\"" + mnemonic;
}

/// `asm volatile(...)` with the words' operands.
std::string statement(const Access& access, const Layout& l, std::string_view words, std::string_view pointer) {
  const int first = access.store ? 1 : 0;
  std::string places, operands;
  for (int i = 0; i < l.words; ++i) {
    places += fmt::format("{}%{}", i == 0 ? "" : ", ", first + i);
    operands += fmt::format("{}\"{}{}\"({}{})", i == 0 ? "" : ", ", access.store ? "" : "=", l.word.constraint, words,
                            l.words == 1 && words == "value" ? std::string() : fmt::format("[{}]", i));
  }
  if (l.words > 1) places = "{" + places + "}";
  const bool shared = is_array(access.space);
  const std::string address =
      access.space == ir::Space::distributed ? std::string("\"r\"(there)")
      : shared ? fmt::format("\"r\"(static_cast<unsigned int>(__cvta_generic_to_shared({})))", pointer)
               : fmt::format("\"l\"({})", pointer);
  const std::string_view clobber = shared || access.store ? " : \"memory\"" : "";
  // One line when it fits, otherwise one line each for the instruction, its outputs and its inputs.
  const auto joined = [&](std::string_view gap) {
    if (access.store)
      return fmt::format("  asm volatile({} [%0], {};\"{} : : {},{}{}{});\n", instruction(access, l), places, gap,
                         address, gap.empty() ? " " : "\n                   ", operands, clobber);
    return fmt::format("  asm volatile({} {}, [%{}];\"{} : {}{} : {}{});\n", instruction(access, l), places, l.words,
                       gap, operands, gap, address, clobber);
  };
  constexpr std::size_t columns = 120;
  const std::string flat = joined("");
  return flat.size() <= columns + 1 ? flat : joined("\n              ");
}

std::string load_text(const Access& access, const Layout& l) {
  const std::string_view type = register_type(access.dtype);
  const bool one = access.width == 1;
  const bool direct = l.per_word == 1 && l.word.type == type;
  const std::string_view rank = access.space == ir::Space::distributed ? ", unsigned int rank" : "";
  std::string out =
      one ? fmt::format("__device__ __forceinline__ {0} {1}(const {0}* from{2}) {{\n", type, access_name(access), rank)
          : fmt::format("__device__ __forceinline__ void {1}({0}* to, const {0}* from{2}) {{\n", type,
                        access_name(access), rank);
  if (access.space == ir::Space::distributed)  // where the block with that rank has what this one has at `from`
    out +=
        "  unsigned int there;\n  asm(\"mapa.shared::cluster.u32 %0, %1, %2;\"\n      : \"=r\"(there)\n"
        "      : \"r\"(static_cast<unsigned int>(__cvta_generic_to_shared(from))), \"r\"(rank));\n";
  if (direct && !one) return out + statement(access, l, "to", "from") + "}\n";
  if (direct)
    return out + fmt::format("  {} value;\n", type) + statement(access, l, "value", "from") + "  return value;\n}\n";
  out += fmt::format("  {} words[{}];\n", l.word.type, l.words);
  out += statement(access, l, "words", "from");
  if (one) {
    if (is_held_as_bits(access.dtype) && l.word.type == bits_type(access.dtype))
      return out + fmt::format("  return {}{{words[0]}};\n}}\n", type);
    if (is_held_as_bits(access.dtype))
      return out + fmt::format("  return {}{{static_cast<{}>(words[0])}};\n}}\n", type, bits_type(access.dtype));
    return out + fmt::format("  return static_cast<{}>(words[0]);\n}}\n", type);
  }
  const std::string_view stored = is_held_as_bits(access.dtype) ? bits_type(access.dtype) : type;
  for (int i = 0; i < access.width; ++i) {
    const int shift = i % l.per_word * ir::row(access.dtype).bits;
    std::string source = fmt::format("words[{}]", i / l.per_word);
    if (shift != 0) source += fmt::format(" >> {}", shift);
    if (access.dtype == DType::pred) source += " & 255u";
    out += fmt::format("  {} = static_cast<{}>({});\n", element("to", i, access.dtype), stored, source);
  }
  return out + "}\n";
}

std::string store_text(const Access& access, const Layout& l) {
  const std::string_view type = register_type(access.dtype);
  const bool one = access.width == 1;
  std::string out = fmt::format("__device__ __forceinline__ void {}({}* to, {}) {{\n", access_name(access), type,
                                one ? fmt::format("{} value", type) : fmt::format("const {}* from", type));
  const bool direct = l.per_word == 1 && l.word.type == type;
  if (direct) return out + statement(access, l, one ? "value" : "from", "to") + "}\n";
  std::string words;
  const int bits = ir::row(access.dtype).bits;
  for (int w = 0; w < l.words; ++w) {
    std::string packed;
    const std::string_view joint = l.per_word > 2 ? " |\n          " : " | ";  // four would leave the page
    for (int k = 0; k < l.per_word; ++k) {
      std::string part = one ? (is_held_as_bits(access.dtype) ? "value.bits" : "value")
                             : element("from", w * l.per_word + k, access.dtype);
      if (l.per_word == 1)
        part = fmt::format("static_cast<{}>({})", l.word.type, part);
      else if (ir::is_signed(access.dtype))  // without the copies of the sign
        part = fmt::format("(static_cast<unsigned int>({}) & {}u){}", part, (1u << bits) - 1,
                           k == 0 ? "" : fmt::format(" << {}", k * bits));
      else
        part = fmt::format("static_cast<unsigned int>({}){}", part, k == 0 ? "" : fmt::format(" << {}", k * bits));
      packed += std::string(k == 0 ? "" : joint) + part;
    }
    if (l.per_word > 1 && l.word.bytes == 2) packed = fmt::format("static_cast<unsigned short>({})", packed);
    words += fmt::format("{}\n      {}", w == 0 ? "" : ",", packed);
  }
  out += fmt::format("  const {} words[{}] = {{{}}};\n", l.word.type, l.words, words);
  return out + statement(access, l, "words", "to") + "}\n";
}

/// What the operation makes of two registers of the type, as it computes it.
std::string changed_text(const Access& access, const std::string& a, const std::string& b) {
  const DType compute = ir::row(access.dtype).compute;
  const auto wide = [&](const std::string& value) {
    return is_held_as_bits(access.dtype) ? fmt::format("float_of({})", value) : value;
  };
  const std::string result = bare(operation_text(access.op, compute, ir::Arithmetic::xla, wide(a), wide(b)));
  if (is_held_as_bits(access.dtype)) return fmt::format("{}_of({})", ir::name(access.dtype), result);
  return compute == access.dtype ? result : fmt::format("static_cast<{}>({})", register_type(access.dtype), result);
}

/// The loop around a compare-and-swap.
std::string swap_text(const Access& access) {
  const DType dtype = access.dtype;
  const int bits = ir::row(dtype).bits;
  const WordRow& w = bits == 16 ? half_word : bits == 32 ? word : long_word;
  const std::string_view type = register_type(dtype);
  const auto from_bits = [&](std::string_view value) {
    if (is_held_as_bits(dtype)) return fmt::format("{}{{{}}}", type, value);
    return bits == 16 ? fmt::format("static_cast<{}>({})", type, value) : fmt::format("bits_as<{}>({})", type, value);
  };
  const std::string next = changed_text(access, "before", "value");
  const std::string as_bits = is_held_as_bits(dtype) ? fmt::format("({}).bits", next)
                              : bits == 16           ? fmt::format("static_cast<{}>({})", w.type, next)
                                                     : fmt::format("bits_as<{}>({}({}))", w.type, type, next);
  return fmt::format(
      "__device__ __forceinline__ void {0}({1}* to, {1} value) {{\n"
      "  {2} seen, expected;\n"
      "  asm volatile(LOAD_BESIDE \".{3} %0, [%1];\" : \"={4}\"(seen) : \"l\"(to) : \"memory\");\n"
      "  do {{\n"
      "    expected = seen;\n"
      "    const {1} before = {5};\n"
      "    const {2} next = {6};\n"
      "    if (next == expected) break;\n"
      "    asm volatile(\"atom.global.cas.{3} %0, [%1], %2, %3;\"\n"
      "                 : \"={4}\"(seen)\n"
      "                 : \"l\"(to), \"{4}\"(expected), \"{4}\"(next)\n"
      "                 : \"memory\");\n"
      "  }} while (seen != expected);\n"
      "}}\n",
      access_name(access), type, w.type, w.suffix, w.constraint, from_bits("seen"), as_bits);
}

/// The same for a host: nobody comes between.
std::string portable_change_text(const Access& access) {
  const std::string_view type = register_type(access.dtype);
  if (access.width == 1)
    return fmt::format("__device__ __forceinline__ void {0}({1}* to, {1} value) {{\n  *to = {2};\n}}\n",
                       access_name(access), type, changed_text(access, "*to", "value"));
  return fmt::format(
      "__device__ __forceinline__ void {0}({1}* to, const {1}* from) {{\n  for (int i = 0; i < {2}; ++i) to[i] = "
      "{3};\n}}\n",
      access_name(access), type, access.width, changed_text(access, "to[i]", "from[i]"));
}

}  // namespace

std::string_view bits_type(DType dtype) { return ir::row(dtype).bits == 8 ? "unsigned char" : "unsigned short"; }

std::string_view register_type(DType dtype) {
  if (is_held_as_bits(dtype)) return ir::name(dtype);
  return ir::row(dtype).cuda;
}

std::string access_name(const Access& access) {
  if (changes(access))
    return fmt::format("{}_{}_{}{}", access.by_exchange ? "exchange" : "atomic", ir::name(access.op),
                       ir::name(access.dtype), access.width == 1 ? std::string() : fmt::format("x{}", access.width));
  const std::string_view verb = access.store ? (access.policy == ir::Policy::fresh ? "store_beside" : "store")
                                : is_array(access.space)             ? "load"
                                : access.policy == ir::Policy::again ? "cached_load"
                                                                     : "load";
  const std::string_view where = access.space == ir::Space::shared        ? "shared_"
                                 : access.space == ir::Space::distributed ? "cluster_"
                                                                          : "";
  return fmt::format("{}{}_{}{}", where, verb, ir::name(access.dtype),
                     access.width == 1 ? std::string() : fmt::format("x{}", access.width));
}

std::string portable_access_text(const Access& access) {
  if (access.space == ir::Space::distributed) throw std::logic_error("the host has no clusters of blocks");
  const std::string_view type = register_type(access.dtype);
  const std::string opening = "__device__ __forceinline__ ";
  const std::string call = access_name(access);
  if (changes(access)) return portable_change_text(access);
  if (access.width == 1 && access.store)
    return fmt::format("{0}void {1}({2}* to, {2} value) {{\n  *to = value;\n}}\n", opening, call, type);
  if (access.width == 1)
    return fmt::format("{0}{2} {1}(const {2}* from) {{\n  return *from;\n}}\n", opening, call, type);
  return fmt::format("{0}void {1}({2}* to, const {2}* from) {{\n  for (int i = 0; i < {3}; ++i) to[i] = from[i];\n}}\n",
                     opening, call, type, access.width);
}

std::string access_text(const Access& access) {
  if (access.by_exchange) return swap_text(access);
  return access.store ? store_text(access, layout(access)) : load_text(access, layout(access));
}

}  // namespace tailor::codegen
