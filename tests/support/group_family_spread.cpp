// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Members of the family whose vectors lie close together in memory but not one element behind the other, as text for
// group_family.cpp: every second and every third element, from the first one and from others, up to the last one of an
// array; each element twice; pairs in another order; two numbers of a byte, put side by side after they were computed;
// in loops over elements and under reductions of rows.
#include "support/group_family.h"

namespace tailor::ir {

const std::vector<FamilyMember>& spread_family() {
  static const std::vector<FamilyMember> family = {
      {"pairs_rotated", R"(graph pairs_rotated {
  %x = parameter 0 : bf16[{R},{D2}]
  %c = parameter 1 : bf16[{R},{N}]
  %s = parameter 2 : bf16[{R},{N}]
  %a = slice %x, ranges={0:{R}:1, 0:{D2}:2} : bf16[{R},{N}]
  %b = slice %x, ranges={0:{R}:1, 1:{D2}:2} : bf16[{R},{N}]
  %ac = multiply %a, %c : bf16[{R},{N}]
  %bs = multiply %b, %s : bf16[{R},{N}]
  %as = multiply %a, %s : bf16[{R},{N}]
  %bc = multiply %b, %c : bf16[{R},{N}]
  %p = subtract %ac, %bs : bf16[{R},{N}]
  %q = add %as, %bc : bf16[{R},{N}]
  %pr = reshape %p : bf16[{R},{N},1]
  %qr = reshape %q : bf16[{R},{N},1]
  %pq = concatenate %pr, %qr, axes={2} : bf16[{R},{N},2]
  %y = reshape %pq : bf16[{R},{D2}]
  output %y
})"},
      {"nibbles", R"(graph nibbles {
  %x = parameter 0 : u8[{R},{N}]
  %w = parameter 1 : bf16[{R}]
  %fifteen = constant 15 : u8[]
  %fb = broadcast %fifteen, axes={} : u8[{R},{N}]
  %four = constant 4 : u8[]
  %sb = broadcast %four, axes={} : u8[{R},{N}]
  %low = bit_and %x, %fb : u8[{R},{N}]
  %high = shift_right_logical %x, %sb : u8[{R},{N}]
  %l = convert %low : s8[{R},{N}]
  %h = convert %high : s8[{R},{N}]
  %lr = reshape %l : s8[{R},{N},1]
  %hr = reshape %h : s8[{R},{N},1]
  %both = concatenate %lr, %hr, axes={2} : s8[{R},{N},2]
  %f = convert %both : bf16[{R},{N},2]
  %wb = broadcast %w, axes={0} : bf16[{R},{N},2]
  %y = multiply %f, %wb : bf16[{R},{N},2]
  output %y
})"},
      {"colours", R"(graph colours {
  %x = parameter 0 : f32[{R},{T}]
  %a = slice %x, ranges={0:{R}:1, 0:{T}:3} : f32[{R},{N}]
  %b = slice %x, ranges={0:{R}:1, 1:{T}:3} : f32[{R},{N}]
  %c = slice %x, ranges={0:{R}:1, 2:{T}:3} : f32[{R},{N}]
  %ab = subtract %a, %b : f32[{R},{N}]
  %y = multiply %ab, %c : f32[{R},{N}]
  output %y
})"},
      {"four_sides", R"(graph four_sides {
  %x = parameter 0 : f32[{R},{N},4]
  %as = slice %x, ranges={0:{R}:1, 0:{N}:1, 0:1:1} : f32[{R},{N},1]
  %bs = slice %x, ranges={0:{R}:1, 0:{N}:1, 1:2:1} : f32[{R},{N},1]
  %cs = slice %x, ranges={0:{R}:1, 0:{N}:1, 2:3:1} : f32[{R},{N},1]
  %ds = slice %x, ranges={0:{R}:1, 0:{N}:1, 3:4:1} : f32[{R},{N},1]
  %a = reshape %as : f32[{R},{N}]
  %b = reshape %bs : f32[{R},{N}]
  %c = reshape %cs : f32[{R},{N}]
  %d = reshape %ds : f32[{R},{N}]
  %w = subtract %c, %a : f32[{R},{N}]
  %h = subtract %d, %b : f32[{R},{N}]
  %y = multiply %w, %h : f32[{R},{N}]
  output %y
})"},
      {"thirds_to_the_end", R"(graph thirds_to_the_end {
  %x = parameter 0 : f32[{Q}]
  %a = slice %x, ranges={0:{Q}:3} : f32[{N}]
  %y = exp %a : f32[{N}]
  output %y
})"},
      {"seconds_from_one", R"(graph seconds_from_one {
  %x = parameter 0 : f16[{D3}]
  %a = slice %x, ranges={1:{D2}:2} : f16[{N}]
  %y = abs %a : f16[{N}]
  output %y
})"},
      {"each_twice", R"(graph each_twice {
  %x = parameter 0 : f16[{R},{N}]
  %b = broadcast %x, axes={0,1} : f16[{R},{N},2]
  %f = reshape %b : f16[{R},{D2}]
  %y = negate %f : f16[{R},{D2}]
  output %y
})"},
      {"pairs_swapped", R"(graph pairs_swapped {
  %x = parameter 0 : f64[{R},{D2}]
  %p = reshape %x : f64[{R},{N},2]
  %r = reverse %p, axes={2} : f64[{R},{N},2]
  %f = reshape %r : f64[{R},{D2}]
  %y = add %x, %f : f64[{R},{D2}]
  output %y
})"},
      {"products_of_pairs_summed", R"(graph products_of_pairs_summed {
  %x = parameter 0 : f16[{R},{D2}]
  %zero = constant 0 : f32[]
  %a = slice %x, ranges={0:{R}:1, 0:{D2}:2} : f16[{R},{N}]
  %b = slice %x, ranges={0:{R}:1, 1:{D2}:2} : f16[{R},{N}]
  %af = convert %a : f32[{R},{N}]
  %bf = convert %b : f32[{R},{N}]
  %ab = multiply %af, %bf : f32[{R},{N}]
  %p = abs %ab : f32[{R},{N}]
  %s = reduce add %p, %zero, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{N}]
  %y = divide %p, %sb : f32[{R},{N}]
  output %y
})"},
  };
  return family;
}

}  // namespace tailor::ir
