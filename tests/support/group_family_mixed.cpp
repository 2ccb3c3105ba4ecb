// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Members of the family whose rows do not lie together, as text for group_family.cpp: channels between batch and image,
// groups of channels that lie fastest, rows of an array turned in memory, sums across such rows, and a sum over all
// elements of an array of one dimension beside rows of two.
#include "support/group_family.h"

namespace tailor::ir {

const std::vector<FamilyMember>& mixed_family() {
  static const std::vector<FamilyMember> family = {
      {"batch_norm", R"(graph batch_norm {
  %x = parameter 0 : f32[3,{R},{N}]
  %g = parameter 1 : f32[{R}]
  %zero = constant 0 : f32[]
  %share = constant 0.03125 : f32[]
  %tiny = constant 0.5 : f32[]
  %s = reduce add %x, %zero, axes={0,2} : f32[{R}]
  %nb = broadcast %share : f32[{R}]
  %m = multiply %s, %nb : f32[{R}]
  %mb = broadcast %m, axes={1} : f32[3,{R},{N}]
  %c = subtract %x, %mb : f32[3,{R},{N}]
  %sq = multiply %c, %c : f32[3,{R},{N}]
  %ss = reduce add %sq, %zero, axes={0,2} : f32[{R}]
  %v = multiply %ss, %nb : f32[{R}]
  %tb = broadcast %tiny : f32[{R}]
  %vt = add %v, %tb : f32[{R}]
  %r = rsqrt %vt : f32[{R}]
  %rg = multiply %r, %g : f32[{R}]
  %rb = broadcast %rg, axes={1} : f32[3,{R},{N}]
  %y = multiply %c, %rb : f32[3,{R},{N}]
  output %y, %m, %v
})"},
      {"group_norm", R"(graph group_norm {
  %x = parameter 0 : f16[2,{N},{R4}]
  %g = parameter 1 : f16[{R4}]
  %zero = constant 0 : f32[]
  %share = constant 0.015625 : f32[]
  %xg = reshape %x : f16[2,{N},{R},4]
  %xf = convert %xg : f32[2,{N},{R},4]
  %s = reduce add %xf, %zero, axes={1,3} : f32[2,{R}]
  %nb = broadcast %share : f32[2,{R}]
  %m = multiply %s, %nb : f32[2,{R}]
  %mb = broadcast %m, axes={0,2} : f32[2,{N},{R},4]
  %c = subtract %xf, %mb : f32[2,{N},{R},4]
  %most = constant -inf : f32[]
  %a = abs %c : f32[2,{N},{R},4]
  %l = reduce max %a, %most, axes={1,3} : f32[2,{R}]
  %lb = broadcast %l, axes={0,2} : f32[2,{N},{R},4]
  %w = add %c, %lb : f32[2,{N},{R},4]
  %h = convert %w : f16[2,{N},{R},4]
  %flat = reshape %h : f16[2,{N},{R4}]
  %gb = broadcast %g, axes={2} : f16[2,{N},{R4}]
  %y = multiply %flat, %gb : f16[2,{N},{R4}]
  output %y, %l
})"},
      {"mixed_across", R"(graph mixed_across {
  %x = parameter 0 : f32[3,{R},{N}]
  %zero = constant 0 : f32[]
  %s = reduce add %x, %zero, axes={0,2} : f32[{R}]
  %sb = broadcast %s, axes={1} : f32[3,{R},{N}]
  %y = multiply %x, %sb : f32[3,{R},{N}]
  %columns = reduce add %y, %zero, axes={1} : f32[3,{N}]
  %most = reduce add %s, %zero, axes={0} : f32[]
  output %columns, %most
})"},
      {"turned_rows", R"(graph turned_rows {
  %x = parameter 0 : f32[{R},3,{N}]{2,0,1}
  %b = parameter 1 : f32[{R},3]
  %zero = constant 0 : f32[]
  %e = exp %x : f32[{R},3,{N}]{2,0,1}
  %s = reduce add %e, %zero, axes={2} : f32[{R},3]
  %t = add %s, %b : f32[{R},3]
  %all = reduce add %x, %zero, axes={0,1,2} : f32[]
  output %t, %all
})"},
      {"flat_everything", R"(graph flat_everything {
  %x = parameter 0 : f32[{R},{N}]
  %zero = constant 0 : f32[]
  %s = reduce add %x, %zero, axes={1} : f32[{R}]
  %flat = reshape %x : f32[{RN}]
  %sq = multiply %flat, %flat : f32[{RN}]
  %all = reduce add %sq, %zero, axes={0} : f32[]
  output %s, %all
})"},
  };
  return family;
}

}  // namespace tailor::ir
