// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Members that reduce several arrays at once, or by a function of their own: places of the greatest and the least along
// rows and across them, beside a softmax, used again by the rows; what lies farthest from zero; three arrays at once;
// sums of values and of their squares, which is how a variance is taken in one go.
#include "support/group_family.h"

namespace tailor::ir {

const std::vector<FamilyMember>& region_family() {
  static const std::vector<FamilyMember> family = {
      {"argmax", R"(graph argmax {
  graph greatest {
    %v = parameter 0 : f32[]
    %i = parameter 1 : s32[]
    %w = parameter 2 : f32[]
    %j = parameter 3 : s32[]
    %more = compare gt %v, %w : pred[]
    %none = compare ne %v, %v : pred[]
    %first = bit_or %more, %none : pred[]
    %same = compare eq %v, %w : pred[]
    %before = compare lt %i, %j : pred[]
    %tie = bit_and %same, %before : pred[]
    %place = bit_or %first, %tie : pred[]
    %x = select %first, %v, %w : f32[]
    %n = select %place, %i, %j : s32[]
    output %x, %n
  }
  %x = parameter 0 : f32[{R},{N}]
  %places = iota, axes={1} : s32[{R},{N}]
  %lowest = constant -inf : f32[]
  %zero = constant 0 : s32[]
  %r = reduce custom %x, %places, %lowest, %zero, axes={1}, bodies={0}, results={f32[{R}], s32[{R}]} : tuple
  %m = get_tuple_element %r, number=0 : f32[{R}]
  %n = get_tuple_element %r, number=1 : s32[{R}]
  output %m, %n
})"},
      {"argmin_columns_bf16", R"(graph argmin {
  graph least {
    %v = parameter 0 : bf16[]
    %i = parameter 1 : s64[]
    %w = parameter 2 : bf16[]
    %j = parameter 3 : s64[]
    %less = compare lt %v, %w : pred[]
    %same = compare eq %v, %w : pred[]
    %before = compare lt %i, %j : pred[]
    %tie = bit_and %same, %before : pred[]
    %place = bit_or %less, %tie : pred[]
    %x = select %less, %v, %w : bf16[]
    %n = select %place, %i, %j : s64[]
    output %x, %n
  }
  %x = parameter 0 : bf16[{R},{N}]
  %places = iota, axes={0} : s64[{R},{N}]
  %most = constant inf : bf16[]
  %zero = constant 0 : s64[]
  %r = reduce custom %x, %places, %most, %zero, axes={0}, bodies={0}, results={bf16[{N}], s64[{N}]} : tuple
  %m = get_tuple_element %r, number=0 : bf16[{N}]
  %n = get_tuple_element %r, number=1 : s64[{N}]
  output %n, %m
})"},
      {"greedy", R"(graph greedy {
  graph greatest {
    %v = parameter 0 : f32[]
    %i = parameter 1 : s32[]
    %w = parameter 2 : f32[]
    %j = parameter 3 : s32[]
    %more = compare gt %v, %w : pred[]
    %same = compare eq %v, %w : pred[]
    %before = compare lt %i, %j : pred[]
    %tie = bit_and %same, %before : pred[]
    %place = bit_or %more, %tie : pred[]
    %x = select %more, %v, %w : f32[]
    %n = select %place, %i, %j : s32[]
    output %x, %n
  }
  %x = parameter 0 : f32[{R},{N}]
  %places = iota, axes={1} : s32[{R},{N}]
  %lowest = constant -inf : f32[]
  %none = constant 0 : s32[]
  %zero = constant 0 : f32[]
  %r = reduce custom %x, %places, %lowest, %none, axes={1}, bodies={0}, results={f32[{R}], s32[{R}]} : tuple
  %m = get_tuple_element %r, number=0 : f32[{R}]
  %n = get_tuple_element %r, number=1 : s32[{R}]
  %mb = broadcast %m, axes={0} : f32[{R},{N}]
  %d = subtract %x, %mb : f32[{R},{N}]
  %e = exp %d : f32[{R},{N}]
  %s = reduce add %e, %zero, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{N}]
  %y = divide %e, %sb : f32[{R},{N}]
  %nb = broadcast %n, axes={0} : s32[{R},{N}]
  %is = compare eq %nb, %places : pred[{R},{N}]
  output %y, %is, %n
})"},
      {"farthest", R"(graph farthest {
  graph far {
    %a = parameter 0 : f16[]
    %b = parameter 1 : f16[]
    %c = abs %a : f16[]
    %d = abs %b : f16[]
    %more = compare gt %c, %d : pred[]
    %same = compare eq %c, %d : pred[]
    %up = compare gt %a, %b : pred[]
    %tie = bit_and %same, %up : pred[]
    %first = bit_or %more, %tie : pred[]
    %r = select %first, %a, %b : f16[]
    output %r
  }
  %x = parameter 0 : f16[{R},{N}]
  %zero = constant 0 : f16[]
  %f = reduce custom %x, %zero, axes={1}, bodies={0} : f16[{R}]
  %fb = broadcast %f, axes={0} : f16[{R},{N}]
  %y = divide %x, %fb : f16[{R},{N}]
  output %y
})"},
      {"three_at_once", R"(graph three {
  graph all {
    %a = parameter 0 : f32[]
    %b = parameter 1 : f64[]
    %c = parameter 2 : pred[]
    %d = parameter 3 : f32[]
    %e = parameter 4 : f64[]
    %f = parameter 5 : pred[]
    %least = minimum %a, %d : f32[]
    %most = maximum %b, %e : f64[]
    %any = bit_or %c, %f : pred[]
    output %least, %most, %any
  }
  %x = parameter 0 : f32[{R},{N}]
  %y = parameter 1 : f64[{R},{N}]
  %z = parameter 2 : f32[{R},{N}]
  %p = compare lt %x, %z : pred[{R},{N}]
  %high = constant inf : f32[]
  %low = constant -inf : f64[]
  %no = constant 0 : pred[]
  %r = reduce custom %x, %y, %p, %high, %low, %no, axes={1}, bodies={0}, results={f32[{R}], f64[{R}], pred[{R}]} : tuple
  %a = get_tuple_element %r, number=0 : f32[{R}]
  %b = get_tuple_element %r, number=1 : f64[{R}]
  %c = get_tuple_element %r, number=2 : pred[{R}]
  output %a, %b, %c
})"},
      {"moments_columns", R"(graph moments {
  graph both {
    %a = parameter 0 : f32[]
    %b = parameter 1 : f32[]
    %c = parameter 2 : f32[]
    %d = parameter 3 : f32[]
    %s = add %a, %c : f32[]
    %q = add %b, %d : f32[]
    output %s, %q
  }
  %x = parameter 0 : f32[{R},{N}]
  %xx = multiply %x, %x : f32[{R},{N}]
  %zero = constant 0 : f32[]
  %r = reduce custom %x, %xx, %zero, %zero, axes={0}, bodies={0}, results={f32[{N}], f32[{N}]} : tuple
  %s = get_tuple_element %r, number=0 : f32[{N}]
  %q = get_tuple_element %r, number=1 : f32[{N}]
  %ss = multiply %s, %s : f32[{N}]
  %v = subtract %q, %ss : f32[{N}]
  %vb = broadcast %v, axes={1} : f32[{R},{N}]
  %y = multiply %x, %vb : f32[{R},{N}]
  output %y, %s
})"},
  };
  return family;
}

}  // namespace tailor::ir
