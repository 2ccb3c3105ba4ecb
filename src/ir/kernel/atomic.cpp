// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, `red` and `atom`: integers of 32 and 64 bits add, take the larger or smaller, and combine their bits; f32
// and f64 add; f16 adds by pairs, from sm_70 on also alone, bf16 from sm_90 on. From sm_90 on `red.global.add` takes
// vectors of up to 16 bytes of f32, f16 and bf16. `cas` takes 32 and 64 bits, from sm_70 on 16.
#include "ir/kernel/atomic.h"

namespace tailor::ir {

int widest_reduction(Op op, DType dtype, int compute_capability) {
  constexpr int vectors = 90, alone = 70;
  const bool is_word = dtype == DType::s32 || dtype == DType::u32 || dtype == DType::s64 || dtype == DType::u64;
  if (is_word)
    return op == Op::add || op == Op::maximum || op == Op::minimum || op == Op::bit_and || op == Op::bit_or ||
                   op == Op::bit_xor
               ? 1
               : 0;
  if (op != Op::add) return 0;
  if (dtype == DType::f64) return 1;
  if (dtype == DType::f32) return compute_capability >= vectors ? 4 : 1;
  if (dtype == DType::f16) return compute_capability >= vectors ? 8 : compute_capability >= alone ? 2 : 0;
  if (dtype == DType::bf16) return compute_capability >= vectors ? 8 : 0;
  return 0;
}

bool has_exchange(DType dtype, int compute_capability) {
  constexpr int halves = 70;
  const int bits = row(dtype).bits;
  return bits >= 32 || (bits == 16 && compute_capability >= halves);
}

}  // namespace tailor::ir
