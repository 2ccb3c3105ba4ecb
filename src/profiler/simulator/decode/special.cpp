// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of special registers, made from special.def, each with its index in its bank. In: a
// name or an id. Out: the row. Called by the decoder for operands and by the machine for filling
// slots.
#include "profiler/simulator/decode/special.h"

#include <array>

#include "base/indexed.h"

namespace tailor::simulator {
namespace {

constexpr std::uint32_t index_in_kind(SpecialKind kind, SpecialId id) {
  constexpr SpecialKind kinds[] = {
#define SPECIAL(id, name, kind, bits) SpecialKind::kind,
#include "profiler/simulator/decode/special.def"
#undef SPECIAL
  };
  if (kind == SpecialKind::launch || kind == SpecialKind::live) return static_cast<std::uint32_t>(id);
  std::uint32_t index = 0;
  for (int k = 0; k < static_cast<int>(id); ++k) index += kinds[k] == kind;
  return index;
}

constexpr auto table = std::to_array<SpecialRegister>({
#define SPECIAL(id, name, kind, bits) \
  {name, SpecialKind::kind, bits, index_in_kind(SpecialKind::kind, SpecialId::id), SpecialId::id},
#include "profiler/simulator/decode/special.def"
#undef SPECIAL
});

}  // namespace

const SpecialRegister* find_special(std::string_view name) {
  for (const SpecialRegister& row : table)
    if (row.name == name) return &row;
  return nullptr;
}

const SpecialRegister& special_row(SpecialId id) { return row_for(table, id); }

}  // namespace tailor::simulator
