// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays of a model in .npy files: which file is whose, reading one as the type that the model asks for, writing one.
// In: words of the command line, names and shapes. Out: tensors, or the text of a file. Called by evaluate_model.cpp,
// which fills a model's parameters and holds its results against files. The format itself is profiler/run/npy.h's.
#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "reference/evaluate.h"

namespace tailor::study {

/// A parameter or a result of a model; its number is its place.
struct ArrayName {
  std::string name;
  ir::Shape shape;
};

/// The name of an array's file without its ending: letters, digits, '.', '_' and '-' of the name, '_' for the rest.
std::string array_stem(std::string_view name);

/// For each array the file that holds it; empty: none does. A word is NAME=FILE or NUMBER=FILE, or a folder with
/// NAME.npy or NUMBER.npy for some of them. Throws Error(usage) for a word that is neither, names no array or one that
/// has a file already, Error(missing) for a file that is not there, Error(failed) for a .npy file of a folder that is
/// no array's. `option` is what the words stood behind.
std::vector<std::filesystem::path> find_array_files(std::string_view option, std::span<const std::string> words,
                                                    std::span<const ArrayName> arrays);

/// What a file holds, as `wanted` says. Of types that NumPy has no word for (floats of 4, 6 and 8 bits, integers of 1,
/// 2 and 4) files hold f32, s8 or u8, and so may those of 16-bit floats; an element that the type does not have is
/// refused. Throws Error(failed) naming the file for another type or shape, Error(interrupted) when asked to stop.
reference::Tensor read_array(const std::filesystem::path& path, const ArrayName& wanted, const std::stop_token& stop);

/// The bytes of a .npy file that read_array() reads back. bf16 is two opaque bytes, as ml_dtypes writes it.
std::string array_text(const reference::Tensor& tensor, const std::stop_token& stop);

}  // namespace tailor::study
