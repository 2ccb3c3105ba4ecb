// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Members of the family that add up across rows, as text for group_family.cpp: the gradients of a norm's input and
// scale together, a loss over rows, everything at once in narrow types, sums over batches in front of the rows, and
// integers with an initial value that is not neutral. Sums of sets of rows: the gradients of a scale of each batch, of
// a bias of each query that all batches share, and of both with what all rows share. Sums that fold a row: the scale of
// each channel of a group norm, of channels that lie slow and fast, of the places of heads, of an image. And those that
// write something aside, of another size than rows, columns and elements.
#include "support/group_family.h"

namespace tailor::ir {

const std::vector<FamilyMember>& across_family() {
  static const std::vector<FamilyMember> family = {
      {"across_columns", R"(graph across_columns {
  %x = parameter 0 : f32[{R},{N}]
  %dy = parameter 1 : f32[{R},{N}]
  %g = parameter 2 : f32[{N}]
  %zero = constant 0 : f32[]
  %tiny = constant 0.5 : f32[]
  %sq = multiply %x, %x : f32[{R},{N}]
  %ss = reduce add %sq, %zero, axes={1} : f32[{R}]
  %tb = broadcast %tiny : f32[{R}]
  %st = add %ss, %tb : f32[{R}]
  %r = rsqrt %st : f32[{R}]
  %rb = broadcast %r, axes={0} : f32[{R},{N}]
  %xh = multiply %x, %rb : f32[{R},{N}]
  %dg = multiply %dy, %xh : f32[{R},{N}]
  %dgs = reduce add %dg, %zero, axes={0} : f32[{N}]
  %db = reduce add %dy, %zero, axes={0} : f32[{N}]
  %gb = broadcast %g, axes={1} : f32[{R},{N}]
  %dxh = multiply %dy, %gb : f32[{R},{N}]
  %p = multiply %dxh, %xh : f32[{R},{N}]
  %ps = reduce add %p, %zero, axes={1} : f32[{R}]
  %pb = broadcast %ps, axes={0} : f32[{R},{N}]
  %q = multiply %xh, %pb : f32[{R},{N}]
  %d = subtract %dxh, %q : f32[{R},{N}]
  %dx = multiply %d, %rb : f32[{R},{N}]
  %scaled = multiply %dgs, %g : f32[{N}]
  %both = add %scaled, %db : f32[{N}]
  output %dx, %both, %db
})"},
      {"across_numbers", R"(graph across_numbers {
  %x = parameter 0 : f16[{R},{N}]
  %w = parameter 1 : f32[{R}]
  %lowest = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %share = constant 0.125 : f32[]
  %xf = convert %x : f32[{R},{N}]
  %m = reduce max %xf, %lowest, axes={1} : f32[{R}]
  %mb = broadcast %m, axes={0} : f32[{R},{N}]
  %c = subtract %xf, %mb : f32[{R},{N}]
  %e = exp %c : f32[{R},{N}]
  %s = reduce add %e, %zero, axes={1} : f32[{R}]
  %l = log %s : f32[{R}]
  %lw = multiply %l, %w : f32[{R}]
  %sum = reduce add %lw, %zero, axes={0} : f32[]
  %most = reduce max %m, %lowest, axes={0} : f32[]
  %loss = multiply %sum, %share : f32[]
  %small = convert %loss : f16[]
  output %small, %l, %most
})"},
      {"across_batches", R"(graph across_batches {
  %x = parameter 0 : f32[3,{R},{N}]
  %dy = parameter 1 : f32[3,{R},{N}]
  %g = parameter 2 : f32[3,{N}]
  %zero = constant 0 : f32[]
  %sq = multiply %x, %x : f32[3,{R},{N}]
  %ss = reduce add %sq, %zero, axes={2} : f32[3,{R}]
  %rb = broadcast %ss, axes={0,1} : f32[3,{R},{N}]
  %xh = multiply %x, %rb : f32[3,{R},{N}]
  %dg = multiply %dy, %xh : f32[3,{R},{N}]
  %dgs = reduce add %dg, %zero, axes={1} : f32[3,{N}]
  %db = reduce add %dy, %zero, axes={1} : f32[3,{N}]
  %scaled = multiply %dgs, %g : f32[3,{N}]
  output %xh, %scaled, %db
})"},
      {"across_queries", R"(graph across_queries {
  %x = parameter 0 : f16[{R},3,{N}]
  %dy = parameter 1 : f16[{R},3,{N}]
  %zero = constant 0 : f32[]
  %a = convert %x : f32[{R},3,{N}]
  %b = convert %dy : f32[{R},3,{N}]
  %p = multiply %a, %b : f32[{R},3,{N}]
  %s = reduce add %p, %zero, axes={2} : f32[{R},3]
  %sb = broadcast %s, axes={0,1} : f32[{R},3,{N}]
  %d = subtract %b, %sb : f32[{R},3,{N}]
  %ds = multiply %a, %d : f32[{R},3,{N}]
  %bias = reduce add %ds, %zero, axes={0} : f32[3,{N}]
  %n = convert %ds : f16[{R},3,{N}]
  output %n, %bias, %s
})"},
      {"across_places", R"(graph across_places {
  %x = parameter 0 : f32[2,{R},3,{N}]
  %w = parameter 1 : f32[{N}]
  %zero = constant 0 : f32[]
  %lowest = constant -inf : f32[]
  %m = reduce max %x, %lowest, axes={3} : f32[2,{R},3]
  %mb = broadcast %m, axes={0,1,2} : f32[2,{R},3,{N}]
  %c = subtract %x, %mb : f32[2,{R},3,{N}]
  %e = exp %c : f32[2,{R},3,{N}]
  %places = reduce add %e, %zero, axes={1} : f32[2,3,{N}]
  %most = reduce max %c, %lowest, axes={1} : f32[2,3,{N}]
  %columns = reduce add %x, %zero, axes={0,1,2} : f32[{N}]
  %numbers = reduce add %m, %zero, axes={0,1,2} : f32[]
  %both = multiply %places, %most : f32[2,3,{N}]
  %scaled = multiply %columns, %w : f32[{N}]
  output %e, %both, %scaled, %numbers
})"},
      {"across_channels", R"(graph across_channels {
  %in = parameter 0 : f16[{R},2,{N},4]
  %dy = parameter 1 : f16[{R},2,{N},4]
  %g = parameter 2 : f32[2,{N}]
  %zero = constant 0 : f32[]
  %x = convert %in : f32[{R},2,{N},4]
  %d = convert %dy : f32[{R},2,{N},4]
  %s = reduce add %x, %zero, axes={2,3} : f32[{R},2]
  %sb = broadcast %s, axes={0,1} : f32[{R},2,{N},4]
  %xh = subtract %x, %sb : f32[{R},2,{N},4]
  %dg = multiply %d, %xh : f32[{R},2,{N},4]
  %scale = reduce add %dg, %zero, axes={0,3} : f32[2,{N}]
  %bias = reduce add %d, %zero, axes={0,3} : f32[2,{N}]
  %scaled = multiply %scale, %g : f32[2,{N}]
  %n = convert %dg : f16[{R},2,{N},4]
  output %n, %scaled, %bias
})"},
      {"across_fast_channels", R"(graph across_fast_channels {
  %x = parameter 0 : f16[{R},{N},2,8]
  %dy = parameter 1 : f16[{R},{N},2,8]
  %zero = constant 0 : f32[]
  %c = convert %x : f32[{R},{N},2,8]
  %d = convert %dy : f32[{R},{N},2,8]
  %a = multiply %c, %c : f32[{R},{N},2,8]
  %b = multiply %d, %d : f32[{R},{N},2,8]
  %s = reduce add %a, %zero, axes={1,3} : f32[{R},2]
  %sb = broadcast %s, axes={0,2} : f32[{R},{N},2,8]
  %xh = add %a, %sb : f32[{R},{N},2,8]
  %dg = multiply %b, %xh : f32[{R},{N},2,8]
  %scale = reduce add %dg, %zero, axes={0,1} : f32[2,8]
  %n = convert %dg : f16[{R},{N},2,8]
  output %n, %scale
})"},
      {"across_heads", R"(graph across_heads {
  %in = parameter 0 : f16[{R},{N},8]
  %w = parameter 1 : f32[{N},8]
  %c = convert %in : f32[{R},{N},8]
  %x = multiply %c, %c : f32[{R},{N},8]
  %ww = multiply %w, %w : f32[{N},8]
  %zero = constant 0 : f32[]
  %lowest = constant -inf : f32[]
  %s = reduce add %x, %zero, axes={1,2} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{N},8]
  %wb = broadcast %ww, axes={1,2} : f32[{R},{N},8]
  %y = multiply %x, %sb : f32[{R},{N},8]
  %z = multiply %y, %wb : f32[{R},{N},8]
  %heads = reduce add %z, %zero, axes={0,1} : f32[8]
  %most = reduce max %y, %lowest, axes={0,2} : f32[{N}]
  %whole = reduce add %y, %zero, axes={0} : f32[{N},8]
  output %z, %heads, %most, %whole
})"},
      {"across_images", R"(graph across_images {
  %x = parameter 0 : f32[{R},3,{N}]
  %g = parameter 1 : f32[3]
  %zero = constant 0 : f32[]
  %m = reduce add %x, %zero, axes={2} : f32[{R},3]
  %mb = broadcast %m, axes={0,1} : f32[{R},3,{N}]
  %c = subtract %x, %mb : f32[{R},3,{N}]
  %e = exp %c : f32[{R},3,{N}]
  %scale = reduce add %e, %zero, axes={0,2} : f32[3]
  %all = reduce add %x, %zero, axes={0,1,2} : f32[]
  %scaled = multiply %scale, %g : f32[3]
  output %e, %scaled, %all, %m
})"},
      {"across_everything", R"(graph across_everything {
  %x = parameter 0 : bf16[2,{R},{N}]
  %zero = constant 0 : f32[]
  %three = constant 3 : f32[]
  %xf = convert %x : f32[2,{R},{N}]
  %s = reduce add %xf, %zero, axes={2} : f32[2,{R}]
  %sb = broadcast %s, axes={0,1} : f32[2,{R},{N}]
  %y = multiply %xf, %sb : f32[2,{R},{N}]
  %all = reduce add %y, %three, axes={0,1,2} : f32[]
  %columns = reduce add %y, %zero, axes={0,1} : f32[{N}]
  %half = convert %columns : bf16[{N}]
  %yb = convert %y : bf16[2,{R},{N}]
  output %all, %half, %yb
})"},
      {"across_integers", R"(graph across_integers {
  %x = parameter 0 : s32[{R},{N}]
  %seven = constant 7 : s32[]
  %lowest = constant -2147483648 : s32[]
  %m = reduce max %x, %lowest, axes={1} : s32[{R}]
  %s = reduce add %x, %seven, axes={0} : s32[{N}]
  %n = reduce add %m, %seven, axes={0} : s32[]
  output %m, %s, %n
})"},
      {"aside_rows", R"(graph aside_rows {
  %x = parameter 0 : f16[{R},{N}]
  %w = parameter 1 : f32[{D3}]
  %i = parameter 2 : s32[]
  %zero = constant 0 : f32[]
  %one = constant 1 : s32[]
  %next = add %i, %one : s32[]
  %g = convert %next : f32[]
  %gw = broadcast %g : f32[{D3}]
  %e = multiply %w, %gw : f32[{D3}]
  %p = slice %e, ranges={1:{D3}:1} : f32[{D1}]
  %gx = broadcast %g : f32[{R},{N}]
  %xw = convert %x : f32[{R},{N}]
  %xf = multiply %xw, %gx : f32[{R},{N}]
  %s = reduce add %xf, %zero, axes={1} : f32[{R}]
  %c = reduce add %xf, %zero, axes={0} : f32[{N}]
  output %s, %next, %p, %c
})"},
      {"aside_columns", R"(graph aside_columns {
  %x = parameter 0 : f32[{R},{N}]
  %w = parameter 1 : s8[{R},3]
  %i = parameter 2 : s32[]
  %zero = constant 0 : f32[]
  %one = constant 1 : s32[]
  %next = add %i, %one : s32[]
  %g = convert %next : s8[]
  %gw = broadcast %g : s8[{R},3]
  %n = subtract %gw, %w : s8[{R},3]
  %h = convert %next : f32[]
  %hx = broadcast %h : f32[{R},{N}]
  %xh = multiply %x, %hx : f32[{R},{N}]
  %c = reduce add %xh, %zero, axes={0} : f32[{N}]
  output %c, %next, %n
})"},
      {"aside_of_one_row", R"(graph aside_of_one_row {
  %x = parameter 0 : f32[{R},{N}]
  %w = parameter 1 : f32[{D}]
  %v = parameter 2 : f32[3]
  %zero = constant 0 : f32[]
  %s = reduce add %x, %zero, axes={0,1} : f32[]
  %sb = broadcast %s : f32[{D}]
  %y = multiply %w, %sb : f32[{D}]
  %t = broadcast %s : f32[3]
  %z = add %v, %t : f32[3]
  output %y, %z, %s
})"},
  };
  return family;
}

}  // namespace tailor::ir
