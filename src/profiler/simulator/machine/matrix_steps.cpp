// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What matrix instructions compute. In: fragments of matrices in the slots of one warp (decode/matrix.h says how they
// are spread). Out: the fragments of D. A and B are unpacked to plain arrays, multiplied in lines of 8 columns, and put
// back. Called through the table of steps at the end.
//
// Products of the narrow types are exact in f32 and are added to C one after another in f32, k ascending; sums of
// halves are rounded once, at the end. A GPU's own order and rounding of these sums are not documented: results are to
// be compared with a tolerance. Of tf32 the low 13 bits are dropped. Integers are exact.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "profiler/simulator/decode/matrix.h"
#include "profiler/simulator/lanes/half.h"
#include "profiler/simulator/machine/machine.h"
#include "profiler/simulator/machine/steps.h"

namespace tailor::simulator {
namespace {

constexpr int most_k = 64;  // but for single bits
constexpr int columns = 8;

/// A lane that is not there has no part of the matrix to give.
void need_all_lanes(Warp& warp, const Micro& micro) {
  if (warp.active == all_lanes) return;
  WarpState& state = state_of(warp);
  state.machine->report(FindingKind::bad_mask, state, micro.site, std::countr_zero(warp.active),
                        fmt::format("lanes 0x{:08x} execute it; a matrix needs all 32", warp.active));
}

/// The same as float_of_f16 without a branch, for many at a time: an exponent is moved by a product.
float widened_f16(std::uint32_t half) {
  const std::uint32_t magnitude = (half & 0x7fff) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const std::uint32_t special = magnitude >= 0x0f800000 ? 0x7f800000u : 0;  // infinity, NaN
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | (half & 0x8000) << 16);
}

float float_of_e4m3(std::uint32_t bits) {
  const std::uint32_t magnitude = bits & 0x7f;
  if (magnitude == 0x7f) return std::numeric_limits<float>::quiet_NaN();  // there is no infinity
  const float value = std::bit_cast<float>(magnitude << 20) * 0x1p120f;
  return bits & 0x80 ? -value : value;
}

/// Element i of a word, as what is computed with: float or int.
template <MatrixElement element>
auto element_of(std::uint32_t word, int i) {
  if constexpr (element == MatrixElement::f16) {
    return widened_f16(word >> 16 * i & 0xffff);
  } else if constexpr (element == MatrixElement::bf16) {
    return std::bit_cast<float>(i == 0 ? word << 16 : word & 0xffff0000u);
  } else if constexpr (element == MatrixElement::tf32) {
    return std::bit_cast<float>(word & 0xffffe000u);
  } else if constexpr (element == MatrixElement::e4m3) {
    return float_of_e4m3(word >> 8 * i & 0xff);
  } else if constexpr (element == MatrixElement::e5m2) {
    return widened_f16((word >> 8 * i & 0xff) << 8);
  } else if constexpr (element == MatrixElement::s8) {
    return std::int32_t{static_cast<std::int8_t>(word >> 8 * i)};
  } else if constexpr (element == MatrixElement::u8) {
    return std::int32_t{static_cast<std::uint8_t>(word >> 8 * i)};
  } else if constexpr (element == MatrixElement::s4) {
    return static_cast<std::int32_t>(word << (28 - 4 * i)) >> 28;
  } else {  // u4
    return static_cast<std::int32_t>(word >> 4 * i & 15);
  }
}

constexpr int elements_per_word(MatrixElement element) {
  switch (element) {
    case MatrixElement::tf32:
      return 1;
    case MatrixElement::f16:
    case MatrixElement::bf16:
      return 2;
    case MatrixElement::s4:
    case MatrixElement::u4:
      return 8;
    default:
      return 4;
  }
}

/// Where the slots of a product lie in its list.
struct Parts {
  MatrixForm form;
  MatrixRegisters many;
  const Slot *d, *a, *b, *c;
};

Parts parts_of(const Warp& warp, const Micro& micro) {
  const auto form = std::bit_cast<MatrixForm>(micro.immediate);
  const MatrixRegisters many = registers_of(form);
  const Slot* d = warp.lists + micro.list + 1;
  const Slot* a = d + many.sum;
  return {form, many, d, a, a + many.a, a + many.a + many.b};
}

/// Writes A row by row.
template <MatrixElement element, class T>
void unpack_a(const Warp& warp, const Parts& parts, T* a) {
  constexpr int per_word = elements_per_word(element);
  const int halves = parts.form.m / 8;
  for (int r = 0; r < parts.many.a; ++r) {
    const std::uint32_t* in = words(warp, parts.a[r]);
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
      T* to = a + (lane / 4 + r % halves * 8) * parts.form.k + (r / halves * 4 + lane % 4) * per_word;
      for (int i = 0; i < per_word; ++i) to[i] = element_of<element>(in[lane], i);
    }
  }
}

/// Writes B row by row, 8 columns.
template <MatrixElement element, class T>
void unpack_b(const Warp& warp, const Parts& parts, T* b) {
  constexpr int per_word = elements_per_word(element);
  for (int r = 0; r < parts.many.b; ++r) {
    const std::uint32_t* in = words(warp, parts.b[r]);
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
      T* to = b + (r * 4 + lane % 4) * per_word * columns + lane / 4;
      for (int i = 0; i < per_word; ++i) to[i * columns] = element_of<element>(in[lane], i);
    }
  }
}

void unpack(const Warp& warp, const Parts& parts, float* a, float* b) {
  const auto both = [&]<MatrixElement element>(bool is_a) {
    is_a ? unpack_a<element>(warp, parts, a) : unpack_b<element>(warp, parts, b);
  };
  for (const bool is_a : {true, false}) {
    const MatrixElement element = is_a ? parts.form.a : parts.form.b;
    if (element == MatrixElement::f16) both.operator()<MatrixElement::f16>(is_a);
    if (element == MatrixElement::bf16) both.operator()<MatrixElement::bf16>(is_a);
    if (element == MatrixElement::tf32) both.operator()<MatrixElement::tf32>(is_a);
    if (element == MatrixElement::e4m3) both.operator()<MatrixElement::e4m3>(is_a);
    if (element == MatrixElement::e5m2) both.operator()<MatrixElement::e5m2>(is_a);
  }
}

void unpack(const Warp& warp, const Parts& parts, std::int32_t* a, std::int32_t* b) {
  const auto both = [&]<MatrixElement element>(bool is_a) {
    is_a ? unpack_a<element>(warp, parts, a) : unpack_b<element>(warp, parts, b);
  };
  for (const bool is_a : {true, false}) {
    const MatrixElement element = is_a ? parts.form.a : parts.form.b;
    if (element == MatrixElement::s8) both.operator()<MatrixElement::s8>(is_a);
    if (element == MatrixElement::u8) both.operator()<MatrixElement::u8>(is_a);
    if (element == MatrixElement::s4) both.operator()<MatrixElement::s4>(is_a);
    if (element == MatrixElement::u4) both.operator()<MatrixElement::u4>(is_a);
  }
}

/// Adds A times B to the sums, k ascending for each. Lines of 8 are vectors, and four go together, so that this is
/// quick whatever the optimiser thinks of loops.
template <class T>
void add_product(const MatrixForm& form, const T* a, const T* b, T* sum) {
  typedef T Line __attribute__((vector_size(columns * sizeof(T))));
  for (int row = 0; row < form.m; row += 4) {
    Line line0, line1, line2, line3, right;
    T* to = sum + row * columns;
    const T* left = a + row * form.k;
    std::memcpy(&line0, to, sizeof right);
    std::memcpy(&line1, to + columns, sizeof right);
    std::memcpy(&line2, to + 2 * columns, sizeof right);
    std::memcpy(&line3, to + 3 * columns, sizeof right);
    for (int k = 0; k < form.k; ++k, ++left) {
      std::memcpy(&right, b + k * columns, sizeof right);
      line0 += left[0] * right;
      line1 += left[form.k] * right;
      line2 += left[2 * form.k] * right;
      line3 += left[3 * form.k] * right;
    }
    std::memcpy(to, &line0, sizeof right);
    std::memcpy(to + columns, &line1, sizeof right);
    std::memcpy(to + 2 * columns, &line2, sizeof right);
    std::memcpy(to + 3 * columns, &line3, sizeof right);
  }
}

/// Calls work(lane, j, place in the sums) for each of C's or D's elements in active lanes.
template <class Work>
void each_sum(const Warp& warp, const MatrixForm& form, const Work& work) {
  for (int lane = 0; lane < lanes_per_warp; ++lane) {
    if (!(warp.active >> lane & 1)) continue;
    for (int j = 0; j < form.m / 4; ++j) work(lane, j, (lane / 4 + j / 2 * 8) * columns + lane % 4 * 2 + j % 2);
  }
}

void multiply_real(Warp& warp, const Parts& parts) {
  float a[16 * most_k], b[most_k * columns], sum[16 * columns] = {};
  unpack(warp, parts, a, b);
  const bool halves = parts.form.sum == MatrixElement::f16;
  each_sum(warp, parts.form, [&](int lane, int j, int at) {
    sum[at] = halves ? widened_f16(words(warp, parts.c[j / 2])[lane] >> j % 2 * 16 & 0xffff)
                     : std::bit_cast<float>(words(warp, parts.c[j])[lane]);
  });
  add_product(parts.form, a, b, sum);
  each_sum(warp, parts.form, [&](int lane, int j, int at) {
    if (!halves) {
      words(warp, parts.d[j])[lane] = std::bit_cast<std::uint32_t>(sum[at]);
      return;
    }
    std::uint32_t& word = words(warp, parts.d[j / 2])[lane];
    const std::uint32_t half = f16_of(sum[at]);
    word = j % 2 == 0 ? half : (word & 0xffff) | half << 16;
  });
}

void multiply_integers(Warp& warp, const Parts& parts) {
  std::int32_t a[16 * most_k], b[most_k * columns];
  std::int32_t sum[16 * columns] = {};  // of at most 64 products of 8 bits
  if (parts.form.a == MatrixElement::b1) {
    // Bits stay in their words: each word of A meets the one of B that lies at the same place.
    for (int r = 0; r < parts.many.a; ++r)
      for (int lane = 0; lane < lanes_per_warp; ++lane)
        for (int n = 0; n < columns; ++n) {
          const int halves = parts.form.m / 8;
          const std::uint32_t left = words(warp, parts.a[r])[lane];
          const std::uint32_t right = words(warp, parts.b[r / halves])[n * 4 + lane % 4];
          const std::uint32_t both = parts.form.flags & matrix_ands ? left & right : left ^ right;
          sum[(lane / 4 + r % halves * 8) * columns + n] += std::popcount(both);
        }
  } else {
    unpack(warp, parts, a, b);
    add_product(parts.form, a, b, sum);
  }
  std::uint32_t out[16 * columns];
  each_sum(warp, parts.form, [&](int lane, int j, int at) {
    const auto c = static_cast<std::int32_t>(words(warp, parts.c[j])[lane]);
    std::int64_t value = std::int64_t{sum[at]} + c;
    if (parts.form.flags & matrix_clamps)
      value = std::clamp<std::int64_t>(value, std::numeric_limits<std::int32_t>::min(),
                                       std::numeric_limits<std::int32_t>::max());
    out[at] = static_cast<std::uint32_t>(value);
  });
  each_sum(warp, parts.form, [&](int lane, int j, int at) { words(warp, parts.d[j])[lane] = out[at]; });
}

void multiply_doubles(Warp& warp, const Parts& parts) {
  double sum[16 * columns] = {};
  const int halves = parts.form.m / 8;
  const auto read = [&](Slot slot, int lane) { return std::bit_cast<double>(double_words(warp, slot)[lane]); };
  each_sum(warp, parts.form, [&](int lane, int j, int at) { sum[at] = read(parts.c[j], lane); });
  for (int row = 0; row < parts.form.m; ++row)
    for (int n = 0; n < columns; ++n)
      for (int k = 0; k < parts.form.k; ++k) {
        const double left = read(parts.a[k / 4 * halves + row / 8], row % 8 * 4 + k % 4);
        double& to = sum[row * columns + n];
        to = std::fma(left, read(parts.b[k / 4], n * 4 + k % 4), to);
      }
  each_sum(warp, parts.form, [&](int lane, int j, int at) {
    double_words(warp, parts.d[j])[lane] = std::bit_cast<std::uint64_t>(sum[at]);
  });
}

void multiply(Warp& warp, const Micro& micro) {
  need_all_lanes(warp, micro);
  const Parts parts = parts_of(warp, micro);
  if (parts.form.sum == MatrixElement::s32) return multiply_integers(warp, parts);
  if (parts.form.sum == MatrixElement::f64) return multiply_doubles(warp, parts);
  multiply_real(warp, parts);
}

/// One 8x8 tile: row i lies in words 4 i to 4 i + 3. Transposed, lane l holds elements of column l / 4.
using Tile = std::uint32_t[lanes_per_warp];

void transpose(const Tile& in, Tile& out) {
  std::uint16_t halves[64], turned[64];
  std::memcpy(halves, in, sizeof halves);
  for (int i = 0; i < 64; ++i) turned[i] = halves[i % 8 * 8 + i / 8];
  std::memcpy(out, turned, sizeof turned);
}

void row_addresses(const Warp& warp, const Micro& micro, int tiles, Request& request) {
  request.mask = warp.active & (tiles == 4 ? all_lanes : (1u << 8 * tiles) - 1);
  const auto offset = static_cast<std::uint64_t>(micro.immediate);
  for (int lane = 0; lane < lanes_per_warp; ++lane)
    request.address[lane] = micro.extra & access_wide ? double_words(warp, micro.a)[lane] + offset
                                                      : static_cast<std::uint32_t>(words(warp, micro.a)[lane] + offset);
}

/// Rows that may not be read are zero.
void load_tiles(Warp& warp, const Micro& micro) {
  need_all_lanes(warp, micro);
  const int tiles = micro.count - 1;
  Request request;
  row_addresses(warp, micro, tiles, request);
  warp.services->translate(warp, micro, request, false);
  Tile rows[4] = {};
  for (std::uint32_t left = request.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    std::memcpy(&rows[lane / 8][lane % 8 * 4], request.host[lane], 16);
  }
  for (int tile = 0; tile < tiles; ++tile) {
    Tile turned;
    if (micro.extra & access_transposed) transpose(rows[tile], turned);
    const Tile& from = micro.extra & access_transposed ? turned : rows[tile];
    std::uint32_t* d = words(warp, warp.lists[micro.list + 1 + static_cast<std::uint32_t>(tile)]);
    for (int lane = 0; lane < lanes_per_warp; ++lane)
      if (warp.active >> lane & 1) d[lane] = from[lane];
  }
}

void store_tiles(Warp& warp, const Micro& micro) {
  need_all_lanes(warp, micro);
  const int tiles = micro.count - 1;
  Tile rows[4] = {};
  for (int tile = 0; tile < tiles; ++tile) {
    const std::uint32_t* in = words(warp, warp.lists[micro.list + 1 + static_cast<std::uint32_t>(tile)]);
    Tile held;
    std::copy_n(in, lanes_per_warp, held);
    if (micro.extra & access_transposed) {
      transpose(held, rows[tile]);
    } else {
      std::copy_n(held, lanes_per_warp, rows[tile]);
    }
  }
  Request request;
  row_addresses(warp, micro, tiles, request);
  const auto* bytes = reinterpret_cast<const std::byte*>(rows);
  state_of(warp).stored_rows = bytes;
  warp.services->translate(warp, micro, request, true);
  state_of(warp).stored_rows = nullptr;
  for (std::uint32_t left = request.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    std::memcpy(request.host[lane], bytes + lane * 16, 16);
  }
}

void transpose_tile(Warp& warp, const Micro& micro) {
  need_all_lanes(warp, micro);
  Tile in, out;
  std::copy_n(words(warp, warp.lists[micro.list + 2]), lanes_per_warp, in);
  transpose(in, out);
  std::uint32_t* d = words(warp, warp.lists[micro.list + 1]);
  for (int lane = 0; lane < lanes_per_warp; ++lane)
    if (warp.active >> lane & 1) d[lane] = out[lane];
}

}  // namespace

const MatrixSteps matrix_steps{
    .multiply = &multiply, .load_tiles = &load_tiles, .store_tiles = &store_tiles, .transpose_tile = &transpose_tile};

}  // namespace tailor::simulator
