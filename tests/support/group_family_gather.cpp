// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Members of the family that read at places from memory, as text for group_family.cpp: rows of a table with what
// follows them, norms and sums over such rows, single elements, elements picked along a batch, windows along two
// dimensions, gathers of gathers, and gathers of which only a part is asked for.
#include "support/group_family.h"

namespace tailor::ir {

const std::vector<FamilyMember>& gather_family() {
  static const std::vector<FamilyMember> family = {
      {"gather_rows", R"(graph gather_rows {
  %table = parameter 0 : f16[{L},{N}]
  %at = parameter 1 : s32[{R}]
  %b = parameter 2 : f16[{N}]
  %rows = gather %table, %at, text="offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,{N}}" : f16[{R},{N}]
  %bb = broadcast %b, axes={1} : f16[{R},{N}]
  %y = add %rows, %bb : f16[{R},{N}]
  output %y
})"},
      {"gather_norm", R"(graph gather_norm {
  %table = parameter 0 : bf16[{L},{N}]
  %at = parameter 1 : s64[{R},1]
  %p = parameter 2 : f32[{R},{N}]
  %zero = constant 0 : f32[]
  %eps = constant 0.001 : f32[]
  %rows = gather %table, %at, text="offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,{N}}" : bf16[{R},{N}]
  %w = convert %rows : f32[{R},{N}]
  %x = add %w, %p : f32[{R},{N}]
  %sq = multiply %x, %x : f32[{R},{N}]
  %s = reduce add %sq, %zero, axes={1} : f32[{R}]
  %eb = broadcast %eps : f32[{R}]
  %se = add %s, %eb : f32[{R}]
  %r = rsqrt %se : f32[{R}]
  %rb = broadcast %r, axes={0} : f32[{R},{N}]
  %n = multiply %x, %rb : f32[{R},{N}]
  %y = convert %n : bf16[{R},{N}]
  output %y, %rows
})"},
      {"gather_labels", R"(graph gather_labels {
  %x = parameter 0 : f32[{R},{N}]
  %at = parameter 1 : s16[{R}]
  %zero = constant 0 : f32[]
  %e = exp %x : f32[{R},{N}]
  %s = reduce add %e, %zero, axes={1} : f32[{R}]
  %l = log %s : f32[{R}]
  %picked = gather %x, %at, text="offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}" : f32[{R}]
  %loss = subtract %l, %picked : f32[{R}]
  output %loss
})"},
      {"gather_bag", R"(graph gather_bag {
  %table = parameter 0 : f32[{L},{H}]
  %at = parameter 1 : u32[{R},{N}]
  %zero = constant 0 : f32[]
  %rows = gather %table, %at, text="offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,{H}}" : f32[{R},{N},{H}]
  %y = reduce add %rows, %zero, axes={1} : f32[{R},{H}]
  output %y
})"},
      {"gather_elements", R"(graph gather_elements {
  %x = parameter 0 : f32[{L},{N}]
  %at = parameter 1 : s32[{R},{H},2]
  %z = parameter 2 : f32[{R},{H}]
  %e = exp %x : f32[{L},{N}]
  %p = gather %e, %at, text="offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=2, slice_sizes={1,1}" : f32[{R},{H}]
  %y = multiply %p, %z : f32[{R},{H}]
  output %y
})"},
      {"gather_windows", R"(graph gather_windows {
  %x = parameter 0 : s32[{L},{N}]
  %at = parameter 1 : s8[2,{R}]
  %y = gather %x, %at, text="offset_dims={0,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=0, slice_sizes={2,{H}}" : s32[2,{R},{H}]
  output %y
})"},
      {"gather_twice", R"(graph gather_twice {
  %table = parameter 0 : f32[{L},{N}]
  %of = parameter 1 : s32[{L}]
  %at = parameter 2 : s32[{R}]
  %x = parameter 3 : f32[{R},{N}]
  %zero = constant 0 : f32[]
  %place = gather %of, %at, text="offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}" : s32[{R}]
  %rows = gather %table, %place, text="offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,{N}}" : f32[{R},{N}]
  %c = concatenate %rows, %x, axes={1} : f32[{R},{D2}]
  %y = pad %c, %zero, ranges={0:1:0, 2:1:0} : f32[{R1},{D3}]
  output %y
})"},
  };
  return family;
}

}  // namespace tailor::ir
