// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Members of the family that reduce over windows of few elements: pools of what is computed, with and without padding,
// strides and dilation; windows that a negative padding cuts; each width of types and every reducer; windows of
// windows, of a value that a row's reduction is needed for, and below one; layouts; windows that stand beside others.
#include "support/group_family.h"

namespace tailor::ir {

const std::vector<FamilyMember>& windows_family() {
  static const std::vector<FamilyMember> family = {
      {"pool_channels", R"(graph pool_channels {
  %x = parameter 0 : f32[{R},{N},8]
  %s = parameter 1 : f32[8]
  %z = constant 0 : f32[]
  %low = constant -inf : f32[]
  %sb = broadcast %s, axes={2} : f32[{R},{N},8]
  %zb = broadcast %z : f32[{R},{N},8]
  %a = multiply %x, %sb : f32[{R},{N},8]
  %b = maximum %a, %zb : f32[{R},{N},8]
  %p = reduce_window max %b, %low, text="window={size=1x3x1 pad=0_0x1_1x0_0}" : f32[{R},{N},8]
  output %p
})"},
      {"pool_half", R"(graph pool_half {
  %x = parameter 0 : f16[{R},{N}]
  %low = constant -inf : f16[]
  %p = reduce_window max %x, %low, text="window={size=1x2 stride=1x2}" : f16[{R},{H}]
  output %p
})"},
      {"mean_of_nine", R"(graph mean_of_nine {
  %x = parameter 0 : bf16[{R},{N}]
  %z = constant 0 : bf16[]
  %c = constant 0.111 : bf16[]
  %p = reduce_window add %x, %z, text="window={size=3x3 pad=1_1x1_1}" : bf16[{R},{N}]
  %cb = broadcast %c : bf16[{R},{N}]
  %y = multiply %p, %cb : bf16[{R},{N}]
  output %y
})"},
      {"causal_taps", R"(graph causal_taps {
  %x = parameter 0 : bf16[{R},{N}]
  %w = parameter 1 : f32[{N}]
  %z = constant 0 : bf16[]
  %wb = broadcast %w, axes={1} : f32[{R},{N}]
  %before = pad %x, %z, ranges={1:-1:0, 0:0:0} : bf16[{R},{N}]
  %after = pad %x, %z, ranges={-1:1:0, 0:0:0} : bf16[{R},{N}]
  %a = convert %before : f32[{R},{N}]
  %b = convert %x : f32[{R},{N}]
  %c = convert %after : f32[{R},{N}]
  %aw = multiply %a, %wb : f32[{R},{N}]
  %s = add %aw, %b : f32[{R},{N}]
  %t = maximum %s, %c : f32[{R},{N}]
  %y = convert %t : bf16[{R},{N}]
  output %y
})"},
      {"window_dilated", R"(graph window_dilated {
  %x = parameter 0 : s32[{R},{N}]
  %z = constant 7 : s32[]
  %p = reduce_window add %x, %z, text="window={size=1x2 rhs_dilate=1x2}" : s32[{R},{M}]
  %n = negate %p : s32[{R},{M}]
  output %p, %n
})"},
      {"window_cut", R"(graph window_cut {
  %x = parameter 0 : f64[{R},{N}]{0,1}
  %i = constant inf : f64[]
  %p = reduce_window min %x, %i, text="window={size=1x3 pad=0_0x-1_1}" : f64[{R},{M}]
  output %p
})"},
      {"windows_of_windows", R"(graph windows_of_windows {
  %x = parameter 0 : f32[{R},{N}]
  %one = constant 1 : f32[]
  %z = constant 0 : f32[]
  %t = tanh %x : f32[{R},{N}]
  %p = reduce_window multiply %t, %one, text="window={size=1x3 pad=0_0x2_0}" : f32[{R},{N}]
  %q = reduce_window add %p, %z, text="window={size=2x2 pad=0_1x0_1}" : f32[{R},{N}]
  %y = add %q, %x : f32[{R},{N}]
  output %y
})"},
      {"sums_of_windows", R"(graph sums_of_windows {
  %x = parameter 0 : f32[{R},{N}]
  %z = constant 0 : f32[]
  %a = abs %x : f32[{R},{N}]
  %p = reduce_window add %a, %z, text="window={size=1x3 pad=0_0x1_1}" : f32[{R},{N}]
  %s = reduce add %p, %z, axes={1} : f32[{R}]
  %b = broadcast %s, axes={0} : f32[{R},{N}]
  %y = divide %p, %b : f32[{R},{N}]
  output %y
})"},
      {"windows_of_rows", R"(graph windows_of_rows {
  %x = parameter 0 : f32[{R},{N}]
  %z = constant 0 : f32[]
  %low = constant -inf : f32[]
  %m = reduce max %x, %low, axes={1} : f32[{R}]
  %b = broadcast %m, axes={0} : f32[{R},{N}]
  %d = subtract %x, %b : f32[{R},{N}]
  %e = exp %d : f32[{R},{N}]
  %y = reduce_window add %e, %z, text="window={size=1x3 pad=0_0x1_1}" : f32[{R},{N}]
  output %y
})"},
      {"windows_of_flags", R"(graph windows_of_flags {
  %x = parameter 0 : u8[{R},{N}]
  %k = constant 100 : u8[]
  %no = constant false : pred[]
  %kb = broadcast %k : u8[{R},{N}]
  %f = compare lt %x, %kb : pred[{R},{N}]
  %p = reduce_window or %f, %no, text="window={size=1x2 pad=0_0x1_0}" : pred[{R},{N}]
  %y = select %p, %x, %kb : u8[{R},{N}]
  output %y
})"},
      {"windows_joined", R"(graph windows_joined {
  %x = parameter 0 : f32[{R},{N}]
  %low = constant -inf : f32[]
  %p = reduce_window max %x, %low, text="window={size=2x1 pad=1_0x0_0}" : f32[{R},{N}]
  %c = concatenate %p, %x, axes={1} : f32[{R},{D2}]
  output %c
})"},
  };
  return family;
}

}  // namespace tailor::ir
