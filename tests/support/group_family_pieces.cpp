// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Members of the family whose root is a concatenation of equal pieces, each for one way that a loop over pieces can go:
// a rotary embedding, whose halves share all that they read; pieces far apart and pieces between one another; narrow
// and wide types and layouts; what follows the concatenation element by element, turned or in another shape; a window
// of a larger array; outputs as large as a piece, as the result and smaller beside it; one value twice; pieces that pad
// and join within; more pieces than a power of two.
#include "support/group_family.h"

namespace tailor::ir {

const std::vector<FamilyMember>& pieces_family() {
  static const std::vector<FamilyMember> family = {
      {"rope", R"(graph rope {
  %x = parameter 0 : f16[2,{R},3,{D2}]
  %c = parameter 1 : f16[{R},{N}]
  %s = parameter 2 : f16[{R},{N}]
  %a = slice %x, ranges={0:2:1, 0:{R}:1, 0:3:1, 0:{N}:1} : f16[2,{R},3,{N}]
  %b = slice %x, ranges={0:2:1, 0:{R}:1, 0:3:1, {N}:{D2}:1} : f16[2,{R},3,{N}]
  %cb = broadcast %c, axes={1,3} : f16[2,{R},3,{N}]
  %sb = broadcast %s, axes={1,3} : f16[2,{R},3,{N}]
  %af = convert %a : f32[2,{R},3,{N}]
  %bf = convert %b : f32[2,{R},3,{N}]
  %cf = convert %cb : f32[2,{R},3,{N}]
  %sf = convert %sb : f32[2,{R},3,{N}]
  %ac = multiply %af, %cf : f32[2,{R},3,{N}]
  %bs = multiply %bf, %sf : f32[2,{R},3,{N}]
  %low = subtract %ac, %bs : f32[2,{R},3,{N}]
  %bc = multiply %bf, %cf : f32[2,{R},3,{N}]
  %as = multiply %af, %sf : f32[2,{R},3,{N}]
  %high = add %bc, %as : f32[2,{R},3,{N}]
  %lowh = convert %low : f16[2,{R},3,{N}]
  %highh = convert %high : f16[2,{R},3,{N}]
  %y = concatenate %lowh, %highh, axes={3} : f16[2,{R},3,{D2}]
  output %y
})"},
      {"pieces_apart", R"(graph pieces_apart {
  %x = parameter 0 : bf16[{R},{N}]
  %b = parameter 1 : f32[{N}]
  %xf = convert %x : f32[{R},{N}]
  %bb = broadcast %b, axes={1} : f32[{R},{N}]
  %p = add %xf, %bb : f32[{R},{N}]
  %q = multiply %xf, %bb : f32[{R},{N}]
  %r = negate %p : f32[{R},{N}]
  %c = concatenate %p, %q, %r, axes={0} : f32[{R3R},{N}]
  %y = convert %c : bf16[{R3R},{N}]
  output %y, %q
})"},
      {"pieces_stacked", R"(graph pieces_stacked {
  %x = parameter 0 : s8[{R},{N},1]
  %y = parameter 1 : s8[{R},{N},1]
  %s = add %x, %y : s8[{R},{N},1]
  %d = concatenate %x, %s, %y, %s, %x, axes={2} : s8[{R},{N},5]
  output %d
})"},
      {"pieces_layouts", R"(graph pieces_layouts {
  %x = parameter 0 : f64[{R},{N}]{0,1}
  %z = parameter 1 : f64[{R},{N}]
  %e = abs %x : f64[{R},{N}]{0,1}
  %c = concatenate %e, %z, axes={1} : f64[{R},{D2}]{0,1}
  %y = transpose %c, axes={1,0} : f64[{D2},{R}]
  output %y
})"},
      {"pieces_reshaped", R"(graph pieces_reshaped {
  %x = parameter 0 : f16[{R},4,{N}]
  %z = parameter 1 : f16[{R},8,{N}]
  %e = exp %x : f16[{R},4,{N}]
  %t = negate %x : f16[{R},4,{N}]
  %c = concatenate %e, %t, axes={1} : f16[{R},8,{N}]
  %s = multiply %c, %z : f16[{R},8,{N}]
  %y = reshape %s : f16[{R},{N8}]
  output %y
})"},
      {"pieces_beside", R"(graph pieces_beside {
  %x = parameter 0 : f32[{R},{D2}]
  %n = parameter 1 : f32[{N}]
  %a = slice %x, ranges={0:{R}:1, 0:{N}:1} : f32[{R},{N}]
  %b = slice %x, ranges={0:{R}:1, {N}:{D2}:1} : f32[{R},{N}]
  %nb = negate %b : f32[{R},{N}]
  %turned = concatenate %nb, %a, axes={1} : f32[{R},{D2}]
  %twice = concatenate %a, %a, axes={1} : f32[{R},{D2}]
  %double = add %x, %x : f32[{R},{D2}]
  %small = negate %n : f32[{N}]
  %back = reverse %turned, axes={1} : f32[{R},{D2}]
  output %turned, %nb, %twice, %double, %small, %back
})"},
      {"pieces_updated", R"(graph pieces_updated {
  %cache = parameter 0 : f32[{L},{D2}]
  %x = parameter 1 : f32[{R},{N}]
  %at = parameter 2 : s32[]
  %none = constant 0 : s32[]
  %e = negate %x : f32[{R},{N}]
  %new = concatenate %x, %e, axes={1} : f32[{R},{D2}]
  %u = dynamic_update_slice %cache, %new, %at, %none : f32[{L},{D2}]
  output %u
  in_place 0 of 0
})"},
      {"pieces_within", R"(graph pieces_within {
  %x = parameter 0 : pred[{R},{N}]
  %z = parameter 1 : pred[{R},{M}]
  %no = constant 0 : pred[]
  %p = pad %z, %no, ranges={0:0:0, 1:1:0} : pred[{R},{N}]
  %h = slice %x, ranges={0:{R}:1, 0:2:1} : pred[{R},2]
  %j = concatenate %z, %h, axes={1} : pred[{R},{N}]
  %o = bit_or %x, %p : pred[{R},{N}]
  %y = concatenate %p, %j, %o, axes={1} : pred[{R},{T}]
  output %y
})"},
  };
  return family;
}

}  // namespace tailor::ir
