// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays in NumPy's file format (.npy), so that inputs and expected results come from NumPy, JAX or PyTorch and results
// go back there. In: the bytes of a file. Out: an array, row-major, little-endian. Called by run_text.cpp and by the
// commands that read and write arrays. The format is NumPy's NEP 1: a magic word, a version, a header in Python's
// notation, the elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/types.h"

namespace tailor::profiler {

struct NpyArray {
  ir::DType dtype = ir::DType::f32;
  std::vector<std::int64_t> dims;
  std::vector<std::byte> bytes;  ///< row-major, each element in its own bytes
  bool operator==(const NpyArray&) const = default;
};

/// Throws Error(failed) naming `file` for what is no such file, for elements in column-major or big-endian order, for
/// types that Tailor has not, and for a file that is shorter or longer than its header says. NumPy has no bfloat16: two
/// opaque bytes ("V2", as ml_dtypes writes them) are taken for it.
NpyArray parse_npy(std::string_view content, const std::string& file);
NpyArray read_npy(const std::filesystem::path& path);

/// The bytes of a file. Nothing for types that NumPy has no word for (4 bits, 8-bit floats).
std::optional<std::string> npy_text(const NpyArray& array);

}  // namespace tailor::profiler
