// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Members of the family that work on bits and on types of 8 bits: bits read as another type, fewer digits, the total
// order, each on a type that is held as it is and on one that is held in a wider one; rows made smaller to 8 bits by
// their largest element, and made large again; arithmetic of such a type, whose every result is rounded.
#include "support/group_family.h"

namespace tailor::ir {

const std::vector<FamilyMember>& bits_family() {
  static const std::vector<FamilyMember> family = {
      {"bits", R"(graph bits {
  %x = parameter 0 : bf16[{R},{N}]
  %y = parameter 1 : f32[{R},{N}]
  %p = multiply %x, %x : bf16[{R},{N}]
  %h = bitcast_convert %x : u16[{R},{N}]
  %one = constant 1 : u16[]
  %ones = broadcast %one, axes={} : u16[{R},{N}]
  %next = add %h, %ones : u16[{R},{N}]
  %z = bitcast_convert %next : f16[{R},{N}]
  %q = reduce_precision %y, text="exponent_bits=5, mantissa_bits=10" : f32[{R},{N}]
  %s = reduce_precision %p, text="exponent_bits=4, mantissa_bits=3" : bf16[{R},{N}]
  %c = compare lt %y, %q, total_order : pred[{R},{N}]
  %d = compare ge %x, %s, total_order : pred[{R},{N}]
  output %z, %s, %c, %d
})"},
      {"quantised", R"(graph quantised {
  %x = parameter 0 : bf16[{R},{N}]
  %zero = constant 0 : f32[]
  %most = constant 448 : f32[]
  %least = constant -448 : f32[]
  %w = convert %x : f32[{R},{N}]
  %a = abs %w : f32[{R},{N}]
  %m = reduce maximum %a, %zero, axes={1} : f32[{R}]
  %mosts = broadcast %most, axes={} : f32[{R}]
  %scale = divide %m, %mosts : f32[{R}]
  %sb = broadcast %scale, axes={0} : f32[{R},{N}]
  %d = divide %w, %sb : f32[{R},{N}]
  %k = clamp %least, %d, %most : f32[{R},{N}]
  %q = convert %k : f8e4m3fn[{R},{N}]
  output %q, %scale
})"},
      {"dequantised", R"(graph dequantised {
  %q = parameter 0 : f8e4m3fn[{R},{N}]
  %g = parameter 1 : f8e5m2[{R},{N}]
  %scale = parameter 2 : f32[{R}]
  %w = convert %q : f32[{R},{N}]
  %sb = broadcast %scale, axes={0} : f32[{R},{N}]
  %p = multiply %w, %sb : f32[{R},{N}]
  %v = convert %g : f32[{R},{N}]
  %y = add %p, %v : f32[{R},{N}]
  %h = convert %y : bf16[{R},{N}]
  output %h
})"},
      {"bytes", R"(graph bytes {
  %x = parameter 0 : f8e4m3fnuz[{R},{N}]
  %y = parameter 1 : f8e3m4[{R},{N}]
  %s = multiply %x, %x : f8e4m3fnuz[{R},{N}]
  %t = add %s, %x : f8e4m3fnuz[{R},{N}]
  %u = convert %y : f8e4m3fnuz[{R},{N}]
  %c = compare lt %t, %u : pred[{R},{N}]
  %v = maximum %x, %u : f8e4m3fnuz[{R},{N}]
  %b = bitcast_convert %y : s8[{R},{N}]
  output %v, %c, %b
})"},
  };
  return family;
}

}  // namespace tailor::ir
