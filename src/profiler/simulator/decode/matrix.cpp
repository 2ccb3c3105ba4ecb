// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which products there are. In: the parts of an mma opcode. Out: the product's shape and types, and how many registers
// of a lane hold each part. Asked by the decoder (decode_matrix.cpp) and by the machine's step, which unpacks the same
// registers. A form that no row of the table lists is refused: computed in a layout guessed at it would be wrong
// without a word.
#include "profiler/simulator/decode/matrix.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tailor::simulator {
namespace {

struct ElementRow {
  std::string_view name;
  MatrixElement element;
  int bits;
};
constexpr auto element_table = std::to_array<ElementRow>({
    {"f16", MatrixElement::f16, 16},
    {"bf16", MatrixElement::bf16, 16},
    {"tf32", MatrixElement::tf32, 32},
    {"e4m3", MatrixElement::e4m3, 8},
    {"e5m2", MatrixElement::e5m2, 8},
    {"s8", MatrixElement::s8, 8},
    {"u8", MatrixElement::u8, 8},
    {"s4", MatrixElement::s4, 4},
    {"u4", MatrixElement::u4, 4},
    {"b1", MatrixElement::b1, 1},
    {"f64", MatrixElement::f64, 64},
    {"f32", MatrixElement::f32, 32},
    {"s32", MatrixElement::s32, 32},
});

/// Shapes, element types of A and B (any two of a row) and types of C and D (which are the same here).
struct ProductRow {
  std::string_view shapes, elements, sums;
};
constexpr auto product_table = std::to_array<ProductRow>({
    {"m16n8k8 m16n8k16", "f16", "f32 f16"},
    {"m16n8k8 m16n8k16", "bf16", "f32"},
    {"m16n8k4 m16n8k8", "tf32", "f32"},
    {"m16n8k16 m16n8k32", "e4m3 e5m2", "f32 f16"},
    {"m8n8k16 m16n8k16 m16n8k32", "s8 u8", "s32"},
    {"m8n8k32 m16n8k32 m16n8k64", "s4 u4", "s32"},
    {"m8n8k128 m16n8k128 m16n8k256", "b1", "s32"},
    {"m8n8k4 m16n8k4 m16n8k8 m16n8k16", "f64", "f64"},
});

/// Whether a word is in a list with spaces between.
bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t space = std::min(list.find(' '), list.size());
    if (list.substr(0, space) == word) return true;
    list.remove_prefix(std::min(space + 1, list.size()));
  }
  return false;
}

MatrixElement element_of(std::string_view name) {
  return std::find_if(element_table.begin(), element_table.end(),
                      [&](const ElementRow& row) { return row.name == name; })
      ->element;
}

}  // namespace

int element_bits(MatrixElement element) {
  for (const ElementRow& row : element_table)
    if (row.element == element) return row.bits;
  return 0;
}

MatrixRegisters registers_of(const MatrixForm& form) {
  const int bits = element_bits(form.a);
  const int words = std::max(form.k * bits / (bits == 64 ? 256 : 128), 1);  // of 4 lanes side by side
  return {form.m / 8 * words, words, form.m / 8 * (form.sum == MatrixElement::f16 ? 1 : 2)};
}

/// mma.sync.aligned.SHAPE.row.col{.satfinite}.D.A.B.C{.xor.popc|.and.popc}
std::optional<MatrixForm> matrix_form(const std::vector<std::string_view>& parts) {
  std::vector<std::string_view> rest(parts.begin() + 1, parts.end());
  const auto take = [&](std::string_view part) {
    if (rest.empty() || rest.front() != part) return false;
    rest.erase(rest.begin());
    return true;
  };
  if (!take("sync") || !take("aligned") || rest.empty()) return std::nullopt;
  const std::string_view shape = rest.front();
  rest.erase(rest.begin());
  if (!take("row") || !take("col")) return std::nullopt;
  MatrixForm form;
  const bool clamps = take("satfinite");
  if (rest.size() < 4) return std::nullopt;
  const std::string_view d = rest[0], a = rest[1], b = rest[2], c = rest[3];
  rest.erase(rest.begin(), rest.begin() + 4);
  const auto row = std::find_if(product_table.begin(), product_table.end(), [&](const ProductRow& one) {
    return lists(one.shapes, shape) && lists(one.elements, a) && lists(one.elements, b) && lists(one.sums, d);
  });
  if (row == product_table.end() || d != c) return std::nullopt;
  form.a = element_of(a);
  form.b = element_of(b);
  form.sum = element_of(d);
  if (form.a == MatrixElement::b1) {
    if (take("and")) {
      form.flags |= matrix_ands;
    } else if (!take("xor")) {
      return std::nullopt;
    }
    if (!take("popc")) return std::nullopt;
  }
  if (!rest.empty()) return std::nullopt;
  if (clamps) {
    if (form.sum != MatrixElement::s32 || form.a == MatrixElement::b1) return std::nullopt;
    form.flags |= matrix_clamps;
  }
  form.m = shape.starts_with("m16") ? 16 : 8;
  const std::string_view k = shape.substr(shape.rfind('k') + 1);
  std::from_chars(k.data(), k.data() + k.size(), form.k);
  return form;
}

}  // namespace tailor::simulator
