// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Members of the family that are turned: what they write lies in another order than what they read. For each way that
// a tile can be made of such a group there is one: with batches, with runs of several dimensions, with narrow and wide
// types, with several values in a tile, with what is read straight beside them, by a layout instead of an operation.
#include "support/group_family.h"

namespace tailor::ir {

const std::vector<FamilyMember>& turned_family() {
  static const std::vector<FamilyMember> family = {
      {"turned", R"(graph turned {
  %x = parameter 0 : f32[{R},{N}]
  %y = transpose %x, axes={1,0} : f32[{N},{R}]
  output %y
})"},
      {"turned_mixed_f16", R"(graph turned_mixed_f16 {
  %x = parameter 0 : f16[{R},{N}]
  %s = parameter 1 : f16[{N},{R}]
  %b = parameter 2 : f32[{R}]
  %e = negate %x : f16[{R},{N}]
  %t = transpose %e, axes={1,0} : f16[{N},{R}]
  %tf = convert %t : f32[{N},{R}]
  %sf = convert %s : f32[{N},{R}]
  %bb = broadcast %b, axes={1} : f32[{N},{R}]
  %z = add %tf, %sf : f32[{N},{R}]
  %w = multiply %z, %bb : f32[{N},{R}]
  %y = convert %w : f16[{N},{R}]
  output %y
})"},
      {"turned_layout", R"(graph turned_layout {
  %x = parameter 0 : f32[{R},{N}]
  %s = parameter 1 : f32[{R},{N}]{0,1}
  %y = add %x, %s : f32[{R},{N}]
  %z = multiply %x, %s : f32[{R},{N}]
  output %y, %z
})"},
      {"turned_batch", R"(graph turned_batch {
  %x = parameter 0 : bf16[3,{R},{N}]
  %b = parameter 1 : f32[{N}]
  %t = transpose %x, axes={0,2,1} : bf16[3,{N},{R}]
  %f = convert %t : f32[3,{N},{R}]
  %bb = broadcast %b, axes={1} : f32[3,{N},{R}]
  %y = add %f, %bb : f32[3,{N},{R}]
  output %y
})"},
      {"turned_channels", R"(graph turned_channels {
  %x = parameter 0 : f16[2,3,{R},{N}]
  %y = transpose %x, axes={0,3,1,2} : f16[2,{N},3,{R}]
  output %y
})"},
      {"turned_order", R"(graph turned_order {
  %x = parameter 0 : f32[{R},5,{N}]
  %e = abs %x : f32[{R},5,{N}]
  %y = transpose %e, axes={2,1,0} : f32[{N},5,{R}]
  output %y
})"},
      {"turned_choice", R"(graph turned_choice {
  %p = parameter 0 : pred[{R},{N}]
  %x = parameter 1 : f32[{R},{N}]
  %s = parameter 2 : f32[{N},{R}]
  %pt = transpose %p, axes={1,0} : pred[{N},{R}]
  %xt = transpose %x, axes={1,0} : f32[{N},{R}]
  %d = subtract %xt, %s : f32[{N},{R}]
  %y = select %pt, %d, %s : f32[{N},{R}]
  output %y
})"},
      {"turned_bytes", R"(graph turned_bytes {
  %x = parameter 0 : s8[{R},{N}]
  %y = transpose %x, axes={1,0} : s8[{N},{R}]
  output %y
})"},
      {"turned_doubles", R"(graph turned_doubles {
  %x = parameter 0 : f64[{R},{N}]
  %k = parameter 1 : s64[{N},{R}]
  %t = transpose %x, axes={1,0} : f64[{N},{R}]
  %f = convert %k : f64[{N},{R}]
  %y = add %t, %f : f64[{N},{R}]
  output %y
})"},
      {"turned_twice", R"(graph turned_twice {
  %x = parameter 0 : f32[{N},{N}]
  %t = transpose %x, axes={1,0} : f32[{N},{N}]
  %y = add %x, %t : f32[{N},{N}]
  output %y
})"},
      {"turned_merged", R"(graph turned_merged {
  %x = parameter 0 : f32[4,{R},{N}]
  %s = parameter 1 : f32[{N},{R4}]
  %t = transpose %x, axes={2,0,1} : f32[{N},4,{R}]
  %r = reshape %t : f32[{N},{R4}]
  %y = subtract %r, %s : f32[{N},{R4}]
  output %y
})"},
      {"turned_batches", R"(graph turned_batches {
  %x = parameter 0 : bf16[3,{R},{N}]
  %t = transpose %x, axes={0,2,1} : bf16[3,{N},{R}]
  %r = reshape %t : bf16[{T},{R}]
  %n = negate %r : bf16[{T},{R}]
  output %r, %n
})"},
      {"turned_part", R"(graph turned_part {
  %x = parameter 0 : f32[{R},{N}]
  %p = slice %x, ranges={0:{R}:1, 0:{H}:1} : f32[{R},{H}]
  %r = reverse %p, axes={0} : f32[{R},{H}]
  %y = transpose %r, axes={1,0} : f32[{H},{R}]
  output %y
})"},
      {"turned_window", R"(graph turned_window {
  %x = parameter 0 : f16[{L},{N}]
  %at = parameter 1 : s64[]
  %s = parameter 2 : f16[{N},{L}]
  %zero = constant 0 : s64[]
  %w = dynamic_slice %x, %at, %zero : f16[{R},{N}]
  %t = transpose %w, axes={1,0} : f16[{N},{R}]
  %v = dynamic_slice %s, %zero, %at : f16[{N},{R}]
  %y = maximum %t, %v : f16[{N},{R}]
  output %y
})"},
      {"turned_update", R"(graph turned_update {
  %cache = parameter 0 : f32[3,{L},{N}]
  %new = parameter 1 : bf16[{N},{R}]
  %i = parameter 2 : s32[]
  %at = parameter 3 : s32[]
  %zero = constant 0 : s32[]
  %t = transpose %new, axes={1,0} : bf16[{R},{N}]
  %f = convert %t : f32[{R},{N}]
  %old = dynamic_slice %cache, %i, %at, %zero : f32[1,{R},{N}]
  %r = reshape %f : f32[1,{R},{N}]
  %sum = add %old, %r : f32[1,{R},{N}]
  %u = dynamic_update_slice %cache, %sum, %i, %at, %zero : f32[3,{L},{N}]
  output %u
  in_place 0 of 0
})"},
  };
  return family;
}

}  // namespace tailor::ir
