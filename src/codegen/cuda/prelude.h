// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions that printed kernels call and CUDA's library does not have: HLO's integer arithmetic, NaN-propagating
// maximum, 16-bit types, and the pinned loads and stores. No header is included: a kernel compiles faster without
// cuda_fp16.h, and NVRTC then needs no include path. Only what a kernel uses is printed in front of it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel/kernel.h"

namespace tailor::codegen {

/// A prelude function or type: what it is called and its CUDA C++ text.
struct PreludeRow {
  std::string_view name;
  std::string_view text;
  bool plain;  ///< C++ that any compiler takes once __device__ and __forceinline__ are defined away
  std::string_view only_with = {};  ///< an overload that is printed only when this name occurs too
  std::string_view portable = {};   ///< its text without PTX, for any compiler; empty: `text` will do
};

/// In an order in which each row uses earlier rows only.
const std::vector<PreludeRow>& prelude_table();

/// Its rows for integers: arithmetic, and conversions of floats to them (prelude_integer.cpp).
std::vector<PreludeRow> integer_rows();

/// Its rows for the floating types of 8 bits: what holds one, and conversions from and to float (prelude_narrow.cpp).
std::vector<PreludeRow> narrow_float_rows();

/// The rows whose names occur in `body`, and those they use in turn, in table order.
std::string prelude_for(std::string_view body, bool portable = false);

/// One access of `width` elements. Accesses to arrays ignore the policy; one to another block's takes its number behind
/// the place. A store with an operation changes what is there, atomically.
struct Access {
  bool store = false;
  ir::Space space = ir::Space::global;
  ir::Policy policy = ir::Policy::once;
  ir::DType dtype = ir::DType::f32;
  int width = 1;
  ir::Op op = ir::Op::copy;
  bool by_exchange = false;
  auto operator<=>(const Access&) const = default;
};

/// "load_f32x4", "cached_load_bf16x8", "shared_store_f32", "store_beside_f32", "atomic_add_f32x4".
std::string access_name(const Access& access);
/// The pinned helper: `T name(const T* from)` for one element, `void name(T* to, const T* from)` for more; stores
/// `void name(T* to, T value)` and `void name(T* to, const T* from)`.
std::string access_text(const Access& access);
/// The same function as a plain loop, not pinned: for reading and for running on the host.
std::string portable_access_text(const Access& access);

/// The C++ type of a register of that type: "float", "f16" (a prelude struct), "unsigned char".
std::string_view register_type(ir::DType dtype);

/// The C++ type of the member `bits` of a register of a type that is held as its bits.
std::string_view bits_type(ir::DType dtype);

/// The words of a text that are names or numbers.
std::set<std::string_view> identifiers(std::string_view text);

/// The names that a kernel's own must avoid: keywords, CUDA names, prelude and operation functions.
std::vector<std::string_view> reserved_names();

}  // namespace tailor::codegen
