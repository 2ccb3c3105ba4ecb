// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Members of the family in which values of a row that waits are read at other places of the row, each for one way to
// move: backward, by half a row, by one place, with places left out and put in, one element for all, places from
// memory; a value of its own place beside; a moved value that is reduced; moves in two phases; narrow and wide types,
// integers; heads of rotary embeddings within a row; rows that move too, which no row has of its own.
#include "support/group_family.h"

namespace tailor::ir {

const std::vector<FamilyMember>& moved_family() {
  static const std::vector<FamilyMember> family = {
      {"softmax_reversed", R"(graph softmax_reversed {
  %x = parameter 0 : f32[{R},{N}]
  %low = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %m = reduce maximum %x, %low, axes={1} : f32[{R}]
  %mb = broadcast %m, axes={0} : f32[{R},{N}]
  %d = subtract %x, %mb : f32[{R},{N}]
  %e = exp %d : f32[{R},{N}]
  %s = reduce add %e, %zero, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{N}]
  %p = divide %e, %sb : f32[{R},{N}]
  %y = reverse %p, axes={1} : f32[{R},{N}]
  output %y
})"},
      {"norm_rotated", R"(graph norm_rotated {
  %x = parameter 0 : f16[{R},{D2}]
  %w = parameter 1 : f32[{D2}]
  %zero = constant 0 : f32[]
  %xf = convert %x : f32[{R},{D2}]
  %xx = multiply %xf, %xf : f32[{R},{D2}]
  %s = reduce add %xx, %zero, axes={1} : f32[{R}]
  %r = rsqrt %s : f32[{R}]
  %rb = broadcast %r, axes={0} : f32[{R},{D2}]
  %n = multiply %xf, %rb : f32[{R},{D2}]
  %a = slice %n, ranges={0:{R}:1, 0:{N}:1} : f32[{R},{N}]
  %b = slice %n, ranges={0:{R}:1, {N}:{D2}:1} : f32[{R},{N}]
  %back = negate %b : f32[{R},{N}]
  %turned = concatenate %back, %a, axes={1} : f32[{R},{D2}]
  %wb = broadcast %w, axes={1} : f32[{R},{D2}]
  %nw = multiply %n, %wb : f32[{R},{D2}]
  %tw = subtract %turned, %wb : f32[{R},{D2}]
  %sum = add %nw, %tw : f32[{R},{D2}]
  %y = convert %sum : f16[{R},{D2}]
  output %y
})"},
      {"heads_rotated", R"(graph heads_rotated {
  %x = parameter 0 : bf16[{R},{N8}]
  %zero = constant 0 : f32[]
  %xf = convert %x : f32[{R},{N8}]
  %xx = multiply %xf, %xf : f32[{R},{N8}]
  %s = reduce add %xx, %zero, axes={1} : f32[{R}]
  %r = rsqrt %s : f32[{R}]
  %rb = broadcast %r, axes={0} : f32[{R},{N8}]
  %n = multiply %xf, %rb : f32[{R},{N8}]
  %h = reshape %n : f32[{R},{N},8]
  %a = slice %h, ranges={0:{R}:1, 0:{N}:1, 0:4:1} : f32[{R},{N},4]
  %b = slice %h, ranges={0:{R}:1, 0:{N}:1, 4:8:1} : f32[{R},{N},4]
  %back = negate %b : f32[{R},{N},4]
  %turned = concatenate %back, %a, axes={2} : f32[{R},{N},8]
  %sum = add %turned, %h : f32[{R},{N},8]
  %y = convert %sum : bf16[{R},{N},8]
  output %y
})"},
      {"rolled", R"(graph rolled {
  %x = parameter 0 : f64[{R},{N}]
  %zero = constant 0 : f64[]
  %s = reduce add %x, %zero, axes={1} : f64[{R}]
  %sb = broadcast %s, axes={0} : f64[{R},{N}]
  %c = subtract %x, %sb : f64[{R},{N}]
  %first = slice %c, ranges={0:{R}:1, 0:1:1} : f64[{R},1]
  %others = slice %c, ranges={0:{R}:1, 1:{N}:1} : f64[{R},{M1}]
  %y = concatenate %others, %first, axes={1} : f64[{R},{N}]
  output %y
})"},
      {"padded_integers", R"(graph padded_integers {
  %x = parameter 0 : s32[{R},{N}]
  %low = constant -2147483648 : s32[]
  %none = constant 7 : s32[]
  %m = reduce maximum %x, %low, axes={1} : s32[{R}]
  %mb = broadcast %m, axes={0} : s32[{R},{N}]
  %d = subtract %mb, %x : s32[{R},{N}]
  %y = pad %d, %none, ranges={0:0:0, 3:-3:0} : s32[{R},{N}]
  output %y
})"},
      {"pairs_swapped", R"(graph pairs_swapped {
  %x = parameter 0 : f32[{R},{D2}]
  %zero = constant 0 : f32[]
  %e = exp %x : f32[{R},{D2}]
  %s = reduce add %e, %zero, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{D2}]
  %p = divide %e, %sb : f32[{R},{D2}]
  %even = slice %p, ranges={0:{R}:1, 0:{D2}:2} : f32[{R},{N}]
  %odd = slice %p, ranges={0:{R}:1, 1:{D2}:2} : f32[{R},{N}]
  %to_odd = pad %even, %zero, ranges={0:0:0, 1:0:1} : f32[{R},{D2}]
  %to_even = pad %odd, %zero, ranges={0:0:0, 0:1:1} : f32[{R},{D2}]
  %y = subtract %to_odd, %to_even : f32[{R},{D2}]
  output %y
})"},
      {"first_of_all", R"(graph first_of_all {
  %x = parameter 0 : f16[{R},{N}]
  %zero = constant 0 : f32[]
  %xf = convert %x : f32[{R},{N}]
  %e = exp %xf : f32[{R},{N}]
  %s = reduce add %e, %zero, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{N}]
  %p = divide %e, %sb : f32[{R},{N}]
  %one = slice %p, ranges={0:{R}:1, 5:6:1} : f32[{R},1]
  %number = reshape %one : f32[{R}]
  %ob = broadcast %number, axes={0} : f32[{R},{N}]
  %y = subtract %p, %ob : f32[{R},{N}]
  output %y
})"},
      {"picked_places", R"(graph picked_places {
  %x = parameter 0 : f32[{R},{N}]
  %at = parameter 1 : s32[{N},1]
  %zero = constant 0 : f32[]
  %e = exp %x : f32[{R},{N}]
  %s = reduce add %e, %zero, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{N}]
  %p = divide %e, %sb : f32[{R},{N}]
  %y = gather %p, %at, text="offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={{R},1}" : f32[{R},{N}]
  output %y
})"},
      {"reversed_and_reduced", R"(graph reversed_and_reduced {
  %x = parameter 0 : f32[{R},{N}]
  %zero = constant 0 : f32[]
  %s = reduce add %x, %zero, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{N}]
  %c = subtract %x, %sb : f32[{R},{N}]
  %back = reverse %c, axes={1} : f32[{R},{N}]
  %q = multiply %c, %back : f32[{R},{N}]
  %t = reduce add %q, %zero, axes={1} : f32[{R}]
  %tb = broadcast %t, axes={0} : f32[{R},{N}]
  %z = add %back, %tb : f32[{R},{N}]
  %again = reverse %z, axes={1} : f32[{R},{N}]
  %y = subtract %again, %back : f32[{R},{N}]
  output %y, %t
})"},
      {"rows_move_too", R"(graph rows_move_too {
  %x = parameter 0 : f32[{R},{N}]
  %w = parameter 1 : f32[{R},{N}]
  %zero = constant 0 : f32[]
  %p = multiply %x, %w : f32[{R},{N}]
  %s = reduce add %p, %zero, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{N}]
  %both = reverse %x, axes={0,1} : f32[{R},{N}]
  %row = reverse %w, axes={1} : f32[{R},{N}]
  %a = multiply %both, %row : f32[{R},{N}]
  %y = add %a, %sb : f32[{R},{N}]
  output %y
})"},
  };
  return family;
}

}  // namespace tailor::ir
