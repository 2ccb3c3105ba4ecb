// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The graphs of the family as text, with marks such as {R} and {N} where rows, columns and sizes that follow from them
// go. For each kind of row, column and map group that the lowering has a way for there is one member, named by what it
// is. make_group() puts the sizes in, parses and verifies the text and takes the whole graph as one group.
#include "support/group_family.h"

#include <algorithm>
#include <stdexcept>

#include "base/hash.h"

namespace tailor::ir {

namespace {

const std::vector<FamilyMember>& plain_family() {
  static const std::vector<FamilyMember> family = {
      {"softmax", R"(graph softmax {
  %x = parameter 0 : f32[{R},{N}]
  %lowest = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %m = reduce max %x, %lowest, axes={1} : f32[{R}]
  %mb = broadcast %m, axes={0} : f32[{R},{N}]
  %d = subtract %x, %mb : f32[{R},{N}]
  %e = exp %d : f32[{R},{N}]
  %s = reduce add %e, %zero, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{N}]
  %y = divide %e, %sb : f32[{R},{N}]
  output %y
})"},
      {"layernorm_f16", R"(graph layernorm {
  %x = parameter 0 : f16[{R},{N}]
  %g = parameter 1 : f32[{N}]
  %b = parameter 2 : f16[{N}]
  %zero = constant 0 : f32[]
  %n = constant {N} : f32[]
  %eps = constant 0.001 : f32[]
  %xf = convert %x : f32[{R},{N}]
  %s = reduce add %xf, %zero, axes={1} : f32[{R}]
  %nb = broadcast %n : f32[{R}]
  %eb = broadcast %eps : f32[{R}]
  %mean = divide %s, %nb : f32[{R}]
  %mb = broadcast %mean, axes={0} : f32[{R},{N}]
  %c = subtract %xf, %mb : f32[{R},{N}]
  %sq = multiply %c, %c : f32[{R},{N}]
  %ss = reduce add %sq, %zero, axes={1} : f32[{R}]
  %var = divide %ss, %nb : f32[{R}]
  %ve = add %var, %eb : f32[{R}]
  %rstd = rsqrt %ve : f32[{R}]
  %rb = broadcast %rstd, axes={0} : f32[{R},{N}]
  %gb = broadcast %g, axes={1} : f32[{R},{N}]
  %bf = convert %b : f32[{N}]
  %bb = broadcast %bf, axes={1} : f32[{R},{N}]
  %n1 = multiply %c, %rb : f32[{R},{N}]
  %n2 = multiply %n1, %gb : f32[{R},{N}]
  %y = add %n2, %bb : f32[{R},{N}]
  %yh = convert %y : f16[{R},{N}]
  output %yh, %mean, %rstd
})"},
      {"rms_residual_bf16", R"(graph rms_residual {
  %x = parameter 0 : bf16[{R},{N}]
  %r = parameter 1 : bf16[{R},{N}]
  %g = parameter 2 : bf16[{N}]
  %zero = constant 0 : f32[]
  %eps = constant 0.01 : f32[]
  %n = constant {N} : f32[]
  %h = add %x, %r : bf16[{R},{N}]
  %hf = convert %h : f32[{R},{N}]
  %sq = multiply %hf, %hf : f32[{R},{N}]
  %s = reduce add %sq, %zero, axes={1} : f32[{R}]
  %nb = broadcast %n : f32[{R}]
  %mean = divide %s, %nb : f32[{R}]
  %eb = broadcast %eps : f32[{R}]
  %ve = add %mean, %eb : f32[{R}]
  %rstd = rsqrt %ve : f32[{R}]
  %rb = broadcast %rstd, axes={0} : f32[{R},{N}]
  %t = multiply %hf, %rb : f32[{R},{N}]
  %gf = convert %g : f32[{N}]
  %gb = broadcast %gf, axes={1} : f32[{R},{N}]
  %y = multiply %t, %gb : f32[{R},{N}]
  %yb = convert %y : bf16[{R},{N}]
  output %h, %yb
})"},
      {"cross_entropy", R"(graph cross_entropy {
  %x = parameter 0 : f32[{R},{N}]
  %label = parameter 1 : s32[{R}]
  %lowest = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %m = reduce max %x, %lowest, axes={1} : f32[{R}]
  %mb = broadcast %m, axes={0} : f32[{R},{N}]
  %d = subtract %x, %mb : f32[{R},{N}]
  %e = exp %d : f32[{R},{N}]
  %s = reduce add %e, %zero, axes={1} : f32[{R}]
  %i = iota, axes={1} : s32[{R},{N}]
  %lb = broadcast %label, axes={0} : s32[{R},{N}]
  %hit = compare eq %i, %lb : pred[{R},{N}]
  %zb = broadcast %zero : f32[{R},{N}]
  %picked = select %hit, %d, %zb : f32[{R},{N}]
  %p = reduce add %picked, %zero, axes={1} : f32[{R}]
  %l = log %s : f32[{R}]
  %loss = subtract %l, %p : f32[{R}]
  output %loss
})"},
      {"row_sum", R"(graph row_sum {
  %x = parameter 0 : f32[{R},{N}]
  %two = constant 2 : f32[]
  %s = reduce add %x, %two, axes={1} : f32[{R}]
  output %s
})"},
      {"full_loss", R"(graph full_loss {
  %x = parameter 0 : f32[{R},{N}]
  %t = parameter 1 : f32[{R},{N}]
  %zero = constant 0 : f32[]
  %lowest = constant -inf : f32[]
  %share = constant 0.125 : f32[]
  %d = subtract %x, %t : f32[{R},{N}]
  %sq = multiply %d, %d : f32[{R},{N}]
  %s = reduce add %sq, %zero, axes={0,1} : f32[]
  %m = reduce max %d, %lowest, axes={0,1} : f32[]
  %loss = multiply %s, %share : f32[]
  output %loss, %m
})"},
      {"row_statistics_f16", R"(graph row_statistics {
  %x = parameter 0 : f16[{R},{N}]
  %old = parameter 1 : f32[{R}]
  %zero = constant 0 : f32[]
  %n = constant {N} : f32[]
  %y = negate %x : f16[{R},{N}]
  %xf = convert %x : f32[{R},{N}]
  %sq = multiply %xf, %xf : f32[{R},{N}]
  %s = reduce add %xf, %zero, axes={1} : f32[{R}]
  %ss = reduce add %sq, %zero, axes={1} : f32[{R}]
  %nb = broadcast %n : f32[{R}]
  %mean = divide %s, %nb : f32[{R}]
  %square = divide %ss, %nb : f32[{R}]
  %mm = multiply %mean, %mean : f32[{R}]
  %var = subtract %square, %mm : f32[{R}]
  %half = negate %old : f32[{R}]
  %meanh = convert %mean : f16[{R}]
  output %meanh, %var, %half, %y
})"},
      {"integer_extremes", R"(graph integer_extremes {
  %x = parameter 0 : s64[{R},{N}]
  %b = parameter 1 : pred[{R},{N}]
  %lowest = constant -9223372036854775808 : s64[]
  %zero = constant 0 : s64[]
  %no = constant false : pred[]
  %m = reduce max %x, %lowest, axes={1} : s64[{R}]
  %s = reduce add %x, %zero, axes={1} : s64[{R}]
  %any = reduce bit_or %b, %no, axes={1} : pred[{R}]
  output %m, %s, %any
})"},
      {"split_rows", R"(graph split_rows {
  %x = parameter 0 : f32[{R},3,{N}]
  %lowest = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %m1 = reduce max %x, %lowest, axes={2} : f32[{R},3]
  %m = reduce max %m1, %lowest, axes={1} : f32[{R}]
  %mb = broadcast %m, axes={0} : f32[{R},3,{N}]
  %d = subtract %x, %mb : f32[{R},3,{N}]
  %e = exp %d : f32[{R},3,{N}]
  %s1 = reduce add %e, %zero, axes={2} : f32[{R},3]
  %s = reduce add %s1, %zero, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},3,{N}]
  %y = divide %e, %sb : f32[{R},3,{N}]
  output %y
})"},
      {"split_columns", R"(graph split_columns {
  %x = parameter 0 : f32[{R},5,{N}]
  %zero = constant 0 : f32[]
  %two = constant 2 : f32[]
  %q = multiply %x, %x : f32[{R},5,{N}]
  %s1 = reduce add %q, %zero, axes={1} : f32[{R},{N}]
  %s = reduce add %s1, %two, axes={0} : f32[{N}]
  output %s
})"},
      {"split_all", R"(graph split_all {
  %x = parameter 0 : bf16[{R},{N}]
  %zero = constant 0 : f32[]
  %w = convert %x : f32[{R},{N}]
  %q = multiply %w, %w : f32[{R},{N}]
  %s1 = reduce add %q, %zero, axes={1} : f32[{R}]
  %s = reduce add %s1, %zero, axes={0} : f32[]
  %n = sqrt %s : f32[]
  output %n
})"},
      {"attention", R"(graph attention {
  %x = parameter 0 : f32[{R},2,3,{N}]
  %mask = parameter 1 : f32[{R},{N}]
  %lowest = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %mb4 = broadcast %mask, axes={0,3} : f32[{R},2,3,{N}]
  %z = add %x, %mb4 : f32[{R},2,3,{N}]
  %m = reduce max %z, %lowest, axes={3} : f32[{R},2,3]
  %mb = broadcast %m, axes={0,1,2} : f32[{R},2,3,{N}]
  %d = subtract %z, %mb : f32[{R},2,3,{N}]
  %e = exp %d : f32[{R},2,3,{N}]
  %s = reduce add %e, %zero, axes={3} : f32[{R},2,3]
  %s1 = reshape %s : f32[{R},2,3,1]
  %s2 = reshape %s1 : f32[{R},6]
  %s3 = reshape %s2 : f32[{R},2,3]
  %sb = broadcast %s3, axes={0,1,2} : f32[{R},2,3,{N}]
  %y = divide %e, %sb : f32[{R},2,3,{N}]
  %t = transpose %y, axes={0,2,1,3} : f32[{R},3,2,{N}]
  output %t, %y
})"},
      {"stacked_row", R"(graph stacked_row {
  %x = parameter 0 : f32[{R},{N}]
  %s = parameter 1 : f32[1]
  %t = parameter 2 : f32[1]
  %w = parameter 3 : f32[{M}]
  %zero = constant 0 : f32[]
  %h = constant 0.5 : f32[1]
  %half = multiply %s, %h : f32[1]
  %c = concatenate %half, %t, %w, axes={0} : f32[{N}]
  %cb = broadcast %c, axes={1} : f32[{R},{N}]
  %y = multiply %x, %cb : f32[{R},{N}]
  %sum = reduce add %y, %zero, axes={1} : f32[{R}]
  %sb = broadcast %sum, axes={0} : f32[{R},{N}]
  %z = subtract %y, %sb : f32[{R},{N}]
  output %z
})"},
      {"integer_reductions", R"(graph integer_reductions {
  %x = parameter 0 : s32[{R},{N}]
  %lowest = constant -2147483648 : s32[]
  %zero = constant 0 : s32[]
  %yes = constant true : pred[]
  %m = reduce max %x, %lowest, axes={1} : s32[{R}]
  %zb = broadcast %zero : s32[{R},{N}]
  %positive = compare gt %x, %zb : pred[{R},{N}]
  %all = reduce bit_and %positive, %yes, axes={1} : pred[{R}]
  %mb = broadcast %m, axes={0} : s32[{R},{N}]
  %d = subtract %mb, %x : s32[{R},{N}]
  output %d, %m, %all
})"},
      {"column_sum", R"(graph column_sum {
  %x = parameter 0 : f32[{R},{N}]
  %two = constant 2 : f32[]
  %s = reduce add %x, %two, axes={0} : f32[{N}]
  output %s
})"},
      {"bias_gradient_bf16", R"(graph bias_gradient {
  %x = parameter 0 : bf16[{R},{N}]
  %g = parameter 1 : bf16[{R},{N}]
  %w = parameter 2 : f32[{N}]
  %mask = parameter 3 : f32[{R}]
  %zero = constant 0 : f32[]
  %xf = convert %x : f32[{R},{N}]
  %gf = convert %g : f32[{R},{N}]
  %t = tanh %xf : f32[{R},{N}]
  %wb = broadcast %w, axes={1} : f32[{R},{N}]
  %mb = broadcast %mask, axes={0} : f32[{R},{N}]
  %tw = multiply %t, %wb : f32[{R},{N}]
  %gm = multiply %gf, %mb : f32[{R},{N}]
  %d = multiply %tw, %gm : f32[{R},{N}]
  %dh = convert %d : bf16[{R},{N}]
  %s = reduce add %d, %zero, axes={0} : f32[{N}]
  %sw = multiply %s, %w : f32[{N}]
  %sh = convert %sw : bf16[{N}]
  output %dh, %sh
})"},
      {"column_statistics_f16", R"(graph column_statistics {
  %x = parameter 0 : f16[{R},{N}]
  %old = parameter 1 : f32[{N}]
  %zero = constant 0 : f32[]
  %n = constant {R} : f32[]
  %xf = convert %x : f32[{R},{N}]
  %sq = multiply %xf, %xf : f32[{R},{N}]
  %s = reduce add %xf, %zero, axes={0} : f32[{N}]
  %ss = reduce add %sq, %zero, axes={0} : f32[{N}]
  %nb = broadcast %n : f32[{N}]
  %mean = divide %s, %nb : f32[{N}]
  %square = divide %ss, %nb : f32[{N}]
  %mm = multiply %mean, %mean : f32[{N}]
  %var = subtract %square, %mm : f32[{N}]
  %half = negate %old : f32[{N}]
  %ssh = reshape %ss : f32[1,{N},1]
  output %mean, %var, %half, %ssh
})"},
      {"batched_columns", R"(graph batched_columns {
  %x = parameter 0 : f32[3,{R},{N}]
  %lowest = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %m = reduce max %x, %lowest, axes={1} : f32[3,{N}]
  %s = reduce add %x, %zero, axes={1} : f32[3,{N}]
  %y = add %m, %s : f32[3,{N}]
  %t = transpose %y, axes={1,0} : f32[{N},3]
  %f = reshape %t : f32[{T}]
  output %s, %f
})"},
      {"turned_columns", R"(graph turned_columns {
  %x = parameter 0 : f32[{R},2,{N},3]{2,0,3,1}
  %zero = constant 0 : f32[]
  %s = reduce add %x, %zero, axes={0} : f32[2,{N},3]
  %b = bitcast %x : f32[2,3,{R},{N}]
  %p = reduce max %b, %zero, axes={2} : f32[2,3,{N}]{2,1,0}
  output %s, %p
})"},
      {"columns_between", R"(graph columns_between {
  %x = parameter 0 : f16[2,{R},3,{N}]
  %y = parameter 1 : f16[2,{R},3,{N}]
  %one = constant 1 : f16[]
  %h = constant 0.5 : f16[]
  %hb = broadcast %h : f16[2,{R},3,{N}]
  %d = multiply %x, %hb : f16[2,{R},3,{N}]
  %z = maximum %d, %y : f16[2,{R},3,{N}]
  %s = reduce max %z, %one, axes={1} : f16[2,3,{N}]
  %u = reduce min %z, %one, axes={1} : f16[2,3,{N}]
  output %z, %s, %u
})"},
      {"two_runs", R"(graph two_runs {
  %x = parameter 0 : s32[2,3,{R},{N}]
  %zero = constant 0 : s32[]
  %yes = constant true : pred[]
  %s = reduce add %x, %zero, axes={0,2} : s32[3,{N}]
  %zb = broadcast %zero : s32[2,3,{R},{N}]
  %positive = compare gt %x, %zb : pred[2,3,{R},{N}]
  %all = reduce bit_and %positive, %yes, axes={0,2} : pred[3,{N}]
  output %s, %all
})"},
      {"column_softmax", R"(graph column_softmax {
  %x = parameter 0 : f32[{N},{R}]{0,1}
  %lowest = constant -inf : f32[]
  %zero = constant 0 : f32[]
  %m = reduce max %x, %lowest, axes={1} : f32[{N}]
  %mb = broadcast %m, axes={0} : f32[{N},{R}]{0,1}
  %d = subtract %x, %mb : f32[{N},{R}]{0,1}
  %e = exp %d : f32[{N},{R}]{0,1}
  %s = reduce add %e, %zero, axes={1} : f32[{N}]
  %sb = broadcast %s, axes={0} : f32[{N},{R}]{0,1}
  %y = divide %e, %sb : f32[{N},{R}]{0,1}
  output %y, %s
})"},
      {"bias_gelu_f16", R"(graph bias_gelu {
  %x = parameter 0 : f16[{R},{N}]
  %b = parameter 1 : f16[{N}]
  %half = constant 0.5 : f32[]
  %k = constant 0.797885 : f32[]
  %xf = convert %x : f32[{R},{N}]
  %bf = convert %b : f32[{N}]
  %bb = broadcast %bf, axes={1} : f32[{R},{N}]
  %z = add %xf, %bb : f32[{R},{N}]
  %kb = broadcast %k : f32[{R},{N}]
  %hb = broadcast %half : f32[{R},{N}]
  %zk = multiply %z, %kb : f32[{R},{N}]
  %t = tanh %zk : f32[{R},{N}]
  %th = multiply %t, %hb : f32[{R},{N}]
  %g = add %th, %hb : f32[{R},{N}]
  %y = multiply %z, %g : f32[{R},{N}]
  %yh = convert %y : f16[{R},{N}]
  output %yh
})"},
      {"transpose_scale", R"(graph transpose_scale {
  %x = parameter 0 : f32[{R},{N}]
  %s = parameter 1 : f32[{R}]
  %t = transpose %x, axes={1,0} : f32[{N},{R}]
  %sb = broadcast %s, axes={1} : f32[{N},{R}]
  %y = multiply %t, %sb : f32[{N},{R}]
  output %y
})"},
      {"slice_reverse", R"(graph slice_reverse {
  %x = parameter 0 : f32[{R},{N}]
  %a = slice %x, ranges={0:{R}:1, 1:{N}:2} : f32[{R},{H}]
  %r = reverse %a, axes={1} : f32[{R},{H}]
  %y = add %a, %r : f32[{R},{H}]
  output %y
})"},
      {"concatenate_pad", R"(graph concatenate_pad {
  %a = parameter 0 : f32[{R},{N}]
  %b = parameter 1 : f32[{R},8]
  %zero = constant 0 : f32[]
  %one = constant 1 : f32[]
  %c = concatenate %a, %b, %a, axes={1} : f32[{R},{D}]
  %p = pad %b, %one, ranges={0:0:0, 4:{P}:0} : f32[{R},{D}]
  %y = add %c, %p : f32[{R},{D}]
  output %y
})"},
      {"pad_between", R"(graph pad_between {
  %x = parameter 0 : f32[{R},{N}]
  %zero = constant 0 : f32[]
  %one = constant 1 : f32[]
  %a = pad %x, %zero, ranges={0:0:0, 1:2:2} : f32[{R},{W}]
  %b = pad %a, %one, ranges={0:0:0, -1:-1:0} : f32[{R},{Q}]
  %y = add %b, %b : f32[{R},{Q}]
  output %y
})"},
      {"two_outputs", R"(graph two_outputs {
  %x = parameter 0 : f32[{R},{N}]
  %v = parameter 1 : f32[{N}]
  %w = negate %v : f32[{N}]
  %wb = broadcast %w, axes={1} : f32[{R},{N}]
  %y = maximum %x, %wb : f32[{R},{N}]
  %i = iota, axes={0} : s32[{R},{N}]
  %f = convert %i : f32[{R},{N}]
  %z = multiply %x, %f : f32[{R},{N}]
  output %y, %w, %z
})"},
      {"window_read", R"(graph window_read {
  %x = parameter 0 : f32[{L},{N}]
  %at = parameter 1 : s32[]
  %z = parameter 2 : f32[{L},{N}]
  %zero = constant 0 : s32[]
  %next = add %at, %at : s32[]
  %rows = dynamic_slice %x, %at, %zero : f32[{R},{N}]
  %after = dynamic_slice %z, %next, %zero : f32[{R},{N}]
  %e = exp %rows : f32[{R},{N}]
  %y = add %e, %after : f32[{R},{N}]
  output %y
})"},
      {"window_columns", R"(graph window_columns {
  %x = parameter 0 : f16[{L},{N}]
  %at = parameter 1 : s32[2]
  %part = dynamic_slice %x, %at : f16[{R},{H}]
  %y = negate %part : f16[{R},{H}]
  output %y
})"},
      {"update_in_place", R"(graph update_in_place {
  %cache = parameter 0 : f16[{L},{N}]
  %new = parameter 1 : f32[{N},{R}]
  %at = parameter 2 : s64[]
  %zero = constant 0 : s64[]
  %t = transpose %new, axes={1,0} : f32[{R},{N}]
  %h = convert %t : f16[{R},{N}]
  %u = dynamic_update_slice %cache, %h, %at, %zero : f16[{L},{N}]
  %n = negate %h : f16[{R},{N}]
  output %u, %n
  in_place 0 of 0
})"},
      {"update_copy", R"(graph update_copy {
  %x = parameter 0 : f32[{L},{N}]
  %new = parameter 1 : f32[{R},{H}]
  %at = parameter 2 : s32[]
  %by = parameter 3 : u8[]
  %u = dynamic_update_slice %x, %new, %at, %by : f32[{L},{N}]
  %y = add %u, %u : f32[{L},{N}]
  output %y
})"},
      {"rounded", R"(graph rounded {
  %x = parameter 0 : bf16[{R},{N}]
  %y = parameter 1 : f32[{R},{N}]
  %p = multiply %x, %x : bf16[{R},{N}]
  %r = reduce_precision %p, text="exponent_bits=8, mantissa_bits=7" : bf16[{R},{N}]
  %q = reduce_precision %y, text="exponent_bits=8, mantissa_bits=7" : f32[{R},{N}]
  %same = reduce_precision %q, text="exponent_bits=8, mantissa_bits=23" : f32[{R},{N}]
  output %r, %same
})"},
      {"softmax_update", R"(graph softmax_update {
  %x = parameter 0 : f32[{R},{N}]
  %cache = parameter 1 : f32[{L},{N}]
  %at = parameter 2 : u32[]
  %none = constant 0 : u32[]
  %zero = constant 0 : f32[]
  %e = exp %x : f32[{R},{N}]
  %s = reduce add %e, %zero, axes={1} : f32[{R}]
  %sb = broadcast %s, axes={0} : f32[{R},{N}]
  %y = divide %e, %sb : f32[{R},{N}]
  %u = dynamic_update_slice %cache, %y, %at, %none : f32[{L},{N}]
  output %u, %s
  in_place 0 of 1
})"},
      {"batch_scaled", R"(graph batch_scaled {
  %x = parameter 0 : f32[{R},4,{N}]
  %s = parameter 1 : f32[{R}]
  %zero = constant 0 : f32[]
  %sb = broadcast %s, axes={0} : f32[{R},4,{N}]
  %y = multiply %x, %sb : f32[{R},4,{N}]
  %t = reduce add %x, %zero, axes={2} : f32[{R},4]
  %tb = broadcast %t, axes={0,1} : f32[{R},4,{N}]
  %z = subtract %y, %tb : f32[{R},4,{N}]
  output %z
})"},
  };
  return family;
}

}  // namespace

const std::vector<FamilyMember>& group_family() {
  static const std::vector<FamilyMember> family = [] {
    std::vector<FamilyMember> all = plain_family();
    all.insert(all.end(), gather_family().begin(), gather_family().end());
    all.insert(all.end(), scatter_family().begin(), scatter_family().end());
    all.insert(all.end(), across_family().begin(), across_family().end());
    all.insert(all.end(), mixed_family().begin(), mixed_family().end());
    all.insert(all.end(), stack_family().begin(), stack_family().end());
    all.insert(all.end(), turned_family().begin(), turned_family().end());
    all.insert(all.end(), pieces_family().begin(), pieces_family().end());
    all.insert(all.end(), moved_family().begin(), moved_family().end());
    all.insert(all.end(), windows_family().begin(), windows_family().end());
    all.insert(all.end(), bits_family().begin(), bits_family().end());
    all.insert(all.end(), region_family().begin(), region_family().end());
    all.insert(all.end(), spread_family().begin(), spread_family().end());
    return all;
  }();
  return family;
}

const FamilyMember& family_member(std::string_view name) {
  for (const FamilyMember& member : group_family())
    if (member.name == name) return member;
  throw std::invalid_argument("no such family member");
}

namespace {

void fill(std::string& text, std::string_view mark, std::int64_t value) {
  for (std::size_t at = 0; (at = text.find(mark, at)) != text.npos;)
    text.replace(at, mark.size(), std::to_string(value));
}

}  // namespace

Group make_group(const FamilyMember& member, std::int64_t rows, std::int64_t columns) {
  std::string text(member.text);
  fill(text, "{R}", rows);
  fill(text, "{N}", columns);
  fill(text, "{L}", rows + 3);
  fill(text, "{M}", columns - 2);
  fill(text, "{M1}", columns - 1);
  fill(text, "{H}", columns / 2);
  fill(text, "{D}", 2 * columns + 8);
  fill(text, "{D1}", 2 * columns + 2);
  fill(text, "{D2}", 2 * columns);
  fill(text, "{D3}", 2 * columns + 3);
  fill(text, "{R1}", rows + 1);
  fill(text, "{R3}", rows + 3);
  fill(text, "{N4}", columns + 4);
  fill(text, "{NH}", columns + columns / 2);
  fill(text, "{R4}", 4 * rows);
  fill(text, "{R3R}", 3 * rows);
  fill(text, "{N8}", 8 * columns);
  fill(text, "{RN}", rows * columns);
  fill(text, "{P}", 2 * columns - 4);
  fill(text, "{T}", 3 * columns);
  fill(text, "{W}", 3 * columns + 1);
  fill(text, "{Q}", 3 * columns - 1);
  Group group;
  group.graph = parse_graph(text, std::string(member.name));
  verify(group.graph);
  group.id = id_of(std::string_view(canonical_text(group.graph)));
  return group;
}

Group side_by_side(const std::vector<Group>& groups) {
  Group all;
  std::vector<Graph> bodies;
  std::int64_t read = 0;
  for (const Group& group : groups) {
    const auto first = static_cast<NodeId>(all.graph.nodes.size());
    const auto first_body = static_cast<std::int32_t>(bodies.size());
    const auto writes = static_cast<std::int32_t>(all.graph.outputs.size());
    for (Node node : group.graph.nodes) {
      if (node.op == Op::parameter) node.attributes = ParameterNumber{read + parameter_number(node)};
      for (NodeId& operand : node.operands) operand += first;
      for (std::int32_t& body : node.bodies) body += first_body;
      node.name += "_" + std::to_string(first);
      all.graph.nodes.push_back(std::move(node));
    }
    bodies.insert(bodies.end(), group.graph.bodies.begin(), group.graph.bodies.end());
    for (const NodeId output : group.graph.outputs) all.graph.outputs.push_back(first + output);
    for (const InPlace& pair : group.graph.in_place)
      all.graph.in_place.push_back({writes + pair.output, static_cast<std::int32_t>(read) + pair.parameter});
    read += std::ssize(parameters(group.graph));
  }
  all.graph.bodies = std::move(bodies);
  all.graph.name = "side_by_side";
  verify(all.graph);
  all.id = id_of(std::string_view(canonical_text(all.graph)));
  return all;
}

}  // namespace tailor::ir
