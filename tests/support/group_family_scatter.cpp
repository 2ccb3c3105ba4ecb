// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Members of the family that write where data says, as text for group_family.cpp: rows added to a table of zeros, to a
// table that is read, to what is computed; in place; the larger and the smaller; products; bits; updates that replace,
// apart and not; single elements, windows, batches, indices that are computed.
#include "support/group_family.h"

namespace tailor::ir {

const std::vector<FamilyMember>& scatter_family() {
  static const std::vector<FamilyMember> family = {
      {"scatter_rows", R"(graph scatter_rows {
  %at = parameter 0 : s32[{R}]
  %x = parameter 1 : f32[{R},{N}]
  %z = constant 0 : f32[]
  %zeros = broadcast %z : f32[{L},{N}]
  %e = multiply %x, %x : f32[{R},{N}]
  %y = scatter add %zeros, %at, %e, text="update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1" : f32[{L},{N}]
  output %y
})"},
      {"scatter_in_place", R"(graph scatter_in_place {
  %t = parameter 0 : f32[{L},{N}]
  %at = parameter 1 : s64[{R},1]
  %x = parameter 2 : f32[{R},{N}]
  %y = scatter add %t, %at, %x, text="update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1" : f32[{L},{N}]
  output %y
  in_place 0 of 0
})"},
      {"scatter_max", R"(graph scatter_max {
  %t = parameter 0 : f32[{L},{N}]
  %at = parameter 1 : u32[{R}]
  %x = parameter 2 : f32[{R},{N}]
  %n = negate %t : f32[{L},{N}]
  %y = scatter max %n, %at, %x, text="update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1" : f32[{L},{N}]
  output %y
})"},
      {"scatter_halves", R"(graph scatter_halves {
  %t = parameter 0 : bf16[{L},{N}]
  %at = parameter 1 : s32[{R}]
  %x = parameter 2 : bf16[{R},{N}]
  %y = scatter add %t, %at, %x, text="update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1" : bf16[{L},{N}]
  output %y
})"},
      {"scatter_count", R"(graph scatter_count {
  %at = parameter 0 : s32[{R},{N}]
  %o = constant 1 : s32[]
  %z = constant 0 : s32[]
  %ones = broadcast %o : s32[{R},{N}]
  %zeros = broadcast %z : s32[{L}]
  %y = scatter add %zeros, %at, %ones, text="update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=2" : s32[{L}]
  output %y
})"},
      {"scatter_elements", R"(graph scatter_elements {
  %t = parameter 0 : u32[{L},{N}]
  %at = parameter 1 : s16[{R},{H},2]
  %x = parameter 2 : u32[{R},{H}]
  %y = scatter xor %t, %at, %x, text="update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=2" : u32[{L},{N}]
  output %y
})"},
      {"scatter_windows", R"(graph scatter_windows {
  %t = parameter 0 : s32[{L},{N}]
  %at = parameter 1 : s8[2,{R}]
  %x = parameter 2 : s32[2,{R},{H}]
  %y = scatter min %t, %at, %x, text="update_window_dims={0,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=0" : s32[{L},{N}]
  output %y
})"},
      {"scatter_batches", R"(graph scatter_batches {
  %t = parameter 0 : f32[{R},{N}]
  %at = parameter 1 : s32[{R},{H}]
  %x = parameter 2 : f32[{R},{H}]
  %y = scatter multiply %t, %at, %x, text="update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, index_vector_dim=2" : f32[{R},{N}]
  output %y
})"},
      {"scatter_unique", R"(graph scatter_unique {
  %t = parameter 0 : s8[{L},{N}]
  %at = parameter 1 : s32[{R}]
  %x = parameter 2 : s8[{R},{N}]
  %y = scatter add %t, %at, %x, text="update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true" : s8[{L},{N}]
  output %y
  in_place 0 of 0
})"},
      {"scatter_set", R"(graph scatter_set {
  graph second {
    %a = parameter 0 : bf16[]
    %b = parameter 1 : bf16[]
    output %b
  }
  %t = parameter 0 : bf16[{L},{N}]
  %at = parameter 1 : s32[{R}]
  %x = parameter 2 : bf16[{R},{N}]
  %y = scatter custom %t, %at, %x, text="update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1", bodies={0} : bf16[{L},{N}]
  output %y
})"},
      {"scatter_computed", R"(graph scatter_computed {
  %t = parameter 0 : f16[{L},{N}]
  %at = parameter 1 : s32[{R}]
  %x = parameter 2 : f32[{R},{N}]
  %z = constant 0 : s32[]
  %of = broadcast %z : s32[{R}]
  %i = subtract %at, %of : s32[{R}]
  %h = convert %x : f16[{R},{N}]
  %y = scatter add %t, %i, %h, text="update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1" : f16[{L},{N}]
  output %y, %h
})"},
  };
  return family;
}

}  // namespace tailor::ir
