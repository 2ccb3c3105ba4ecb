// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Variables: space, alignment, type, extents, and initialisers down to bytes. In: tokens of a declaration. Out: a
// PtxVariable. Addresses in an initialiser stay symbols, to be filled in when memory is laid out. A mask like 0xFF00(x)
// takes one byte of an address; compilers write all eight of them in order, so the first stands for the whole.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "profiler/simulator/ptx/ptx_parser.h"

namespace tailor::simulator {

namespace {

struct TypeRow {
  std::string_view name;
  int bits;
};
constexpr std::array types = std::to_array<TypeRow>(
    {{"b8", 8},      {"b32", 32},   {"b64", 64},    {"u8", 8},       {"u32", 32},       {"u64", 64},
     {"f32", 32},    {"f64", 64},   {"pred", 1},    {"b16", 16},     {"u16", 16},       {"s8", 8},
     {"s16", 16},    {"s32", 32},   {"s64", 64},    {"f16", 16},     {"bf16", 16},      {"f16x2", 32},
     {"bf16x2", 32}, {"b128", 128}, {"texref", 64}, {"surfref", 64}, {"samplerref", 64}});

constexpr std::int64_t most_bytes = std::int64_t{1} << 40;

/// A real constant as the bits of a real of `bytes`; the same bits when it is one already.
std::uint64_t real_of_size(std::uint64_t bits, int from_bits, std::int64_t bytes) {
  if (from_bits == 8 * bytes) return bits;
  if (bytes == 4) return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  const auto narrow = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return std::bit_cast<std::uint64_t>(static_cast<double>(narrow));
}

void put(std::vector<std::byte>& bytes, std::int64_t at, std::uint64_t value, std::int64_t size) {
  const auto end = static_cast<std::size_t>(at + size);
  if (bytes.size() < end) bytes.resize(end);
  std::memcpy(bytes.data() + at, &value, static_cast<std::size_t>(std::min<std::int64_t>(size, 8)));
}

}  // namespace

int ptx_type_bits(std::string_view type) {
  for (const TypeRow& row : types)
    if (row.name == type) return row.bits;
  return 0;
}

std::int64_t PtxParser::Shape::stride(std::size_t level) const {
  std::int64_t bytes = scalar;
  for (std::size_t i = level + 1; i < dimensions; ++i) bytes *= extent[i];
  return bytes;
}

void PtxParser::modifiers(Declared& declared) {
  while (lex_.at_directive()) {
    std::string_view words = lex_.token().text.substr(1);
    for (std::size_t point = 0; point != words.npos; words.remove_prefix(point + 1)) {
      point = words.find('.');
      modifier(declared, words.substr(0, point));
      if (point == words.npos) break;
    }
    const bool align = lex_.token().text.ends_with(".align"), attribute = lex_.token().text.ends_with(".attribute");
    lex_.advance();
    if (align) {
      const std::string_view place = lex_.token().text;
      // The alignment of what a pointer points to is not the parameter's own.
      const auto bytes = static_cast<std::uint32_t>(lex_.integer("an alignment", 1u << 30));
      if (!std::has_single_bit(bytes))
        lex_.fail_at(place, fmt::format("found alignment {}, expected a power of two", bytes));
      if (!declared.pointer) declared.align = bytes;
    }
    if (attribute) lex_.skip_enclosed('(', ')');
  }
  if (declared.bits == 0) lex_.fail("a type such as .b32");
}

void PtxParser::modifier(Declared& declared, std::string_view word) {
  if (word == "align" || word == "attribute") return;
  if (word == "ptr") {
    declared.pointer = true;
  } else if (word == "v2" || word == "v4" || word == "v8") {
    declared.vector = word[1] - '0';
  } else if (const int bits = ptx_type_bits(word); bits != 0) {
    declared.bits = bits;
  } else if (!declared.pointer || (word != "global" && word != "shared" && word != "const" && word != "local")) {
    lex_.fail("a type, .align or another modifier of a variable");
  }
}

PtxVariable PtxParser::declarator(const Declared& declared, bool initialised) {
  PtxVariable variable;
  variable.line = lex_.token().line;
  variable.name = lex_.name("the name of a variable");
  variable.space = declared.space;
  variable.external = declared.external;
  const std::int64_t scalar = (declared.bits + 7) / 8;
  variable.element_bytes = static_cast<std::uint32_t>(scalar * declared.vector);
  variable.align = declared.align != 0 ? declared.align : variable.element_bytes;
  Shape shape;
  shape.scalar = scalar;
  extents(declared, variable, shape);
  if (initialised && lex_.accept('=')) initialiser(variable, shape);
  return variable;
}

void PtxParser::extents(const Declared& declared, PtxVariable& variable, Shape& shape) {
  bool open = false;
  std::int64_t bytes = variable.element_bytes;  // with one row of an open array, so that strides are bounded too
  while (lex_.at_mark('[')) {
    const std::string_view place = lex_.token().text;
    lex_.advance();
    if (shape.dimensions + 1 == most_dimensions) lex_.fail_at(place, "found too many dimensions, expected at most 7");
    std::int64_t& extent = shape.extent[shape.dimensions++];
    if (!lex_.at_mark(']') || shape.dimensions > 1)
      extent = static_cast<std::int64_t>(lex_.integer("the extent of an array", most_bytes));
    lex_.expect(']', "after the extent");
    if (extent == 0) open = true;
    if (extent > 0 && bytes > most_bytes / extent)
      lex_.fail_at(place, "found an array over a terabyte, expected one that fits memory");
    if (extent > 0) bytes *= extent;
  }
  variable.bytes = open ? 0 : bytes;
  if (declared.vector > 1) shape.extent[shape.dimensions++] = declared.vector;
}

void PtxParser::initialiser(PtxVariable& variable, const Shape& shape) {
  const bool sized = variable.bytes != 0;
  const std::string_view place = lex_.token().text;
  if (lex_.at_mark('{'))
    values(variable, shape, 0, 0);
  else
    value(variable, shape.scalar, 0);
  const auto bytes = static_cast<std::int64_t>(variable.initial.size());
  if (sized && bytes > variable.bytes)
    lex_.fail_at(place, fmt::format("found {} bytes of initial values, expected at most the variable's {}", bytes,
                                    variable.bytes));
  if (!sized) variable.bytes = bytes;
}

void PtxParser::values(PtxVariable& variable, const Shape& shape, std::size_t level, std::int64_t at) {
  lex_.expect('{', "before the initial values");
  if (lex_.accept('}')) return;
  const std::int64_t stride = shape.stride(level);
  // Rows that end early leave gaps; a short text must not ask for much memory.
  const auto most = static_cast<std::int64_t>(16 * module_.text->size() + (1 << 20));
  do {
    if (at > most) lex_.fail("'}'", "rows are far shorter than their extents");
    if (lex_.at_mark('{')) {
      if (level + 1 >= shape.dimensions) lex_.fail("a value", "the braces are deeper than the variable has dimensions");
      values(variable, shape, level + 1, at);
      at += stride;
    } else {
      value(variable, shape.scalar, at);
      at += shape.scalar;
    }
  } while (lex_.accept(','));
  lex_.expect('}', "after the initial values");
}

void PtxParser::value(PtxVariable& variable, std::int64_t scalar, std::int64_t at) {
  if (lex_.at_word()) {
    if (scalar != 8 && scalar != 4) lex_.fail("a number", "an address does not fit this type");
    variable.addresses.push_back(symbol_value(at));
    return put(variable.initial, at, 0, scalar);
  }
  const bool negative = lex_.accept('-');
  const PtxToken token = lex_.token();
  if (token.kind == PtxTokenKind::real) {
    if (scalar != 4 && scalar != 8) lex_.fail("an integer");
    std::uint64_t bits = token.value;
    if (negative) bits ^= std::uint64_t{1} << (token.real_bits - 1);
    lex_.advance();
    return put(variable.initial, at, real_of_size(bits, token.real_bits, scalar), scalar);
  }
  const std::uint64_t number = lex_.integer("an initial value", ~std::uint64_t{0});
  if (!negative && lex_.at_mark('(')) return masked_symbol(variable, at, number);
  put(variable.initial, at, negative ? 0 - number : number, scalar);
}

void PtxParser::masked_symbol(PtxVariable& variable, std::int64_t at, std::uint64_t mask) {
  lex_.expect('(', "after the mask");
  const std::string_view place = lex_.token().text;
  const PtxVariable::Address address = symbol_value(at);
  lex_.expect(')', "after the symbol");
  put(variable.initial, at, 0, 1);
  if (mask == 0xff) return variable.addresses.push_back(address);
  const int byte = mask == 0 ? 0 : std::countr_zero(mask) / 8;
  const bool follows = mask == std::uint64_t{0xff} << (8 * byte) && !variable.addresses.empty() &&
                       variable.addresses.back().offset == at - byte &&
                       variable.addresses.back().symbol == address.symbol;
  if (!follows)
    lex_.fail_at(place, fmt::format("found byte mask {:#x} of '{}', expected the bytes of an address in order", mask,
                                    address.symbol));
}

PtxVariable::Address PtxParser::symbol_value(std::int64_t at) {
  PtxVariable::Address address;
  address.offset = at;
  address.symbol = lex_.name("a symbol");
  if (address.symbol == "generic" && lex_.accept('(')) {
    address.symbol = lex_.name("a symbol");
    address.addend = offset();
    lex_.expect(')', "after the symbol");
  }
  address.addend += offset();
  return address;
}

void PtxParser::module_variables(PtxSpace space, bool external) {
  Declared declared;
  declared.space = space;
  declared.external = external;
  modifiers(declared);
  do {
    PtxVariable variable = declarator(declared, true);
    variables_[variable.name] = static_cast<std::uint32_t>(module_.variables.size());
    module_.variables.push_back(std::move(variable));
  } while (lex_.accept(','));
  lex_.expect(';', "after the variable");
}

void PtxParser::body_variables(PtxSpace space, bool external) {
  Declared declared;
  declared.space = space;
  declared.external = external;
  modifiers(declared);
  do {
    const std::string_view place = lex_.token().text;
    PtxVariable variable = declarator(declared, true);
    const std::size_t index = function_.params.size() + function_.results.size() + function_.variables.size();
    if (!scopes_.declare(variable.name, {PtxScopes::Kind::variable, static_cast<std::uint32_t>(index)}))
      lex_.fail_at(place, fmt::format("found a second '{}' in one scope, expected a new name", variable.name));
    function_.variables.push_back(std::move(variable));
  } while (lex_.accept(','));
  lex_.expect(';', "after the variable");
}

}  // namespace tailor::simulator
