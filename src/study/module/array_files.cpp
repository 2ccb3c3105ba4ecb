// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which file holds which array, and types that NumPy has not. In: words, paths, names and shapes. Out: paths, tensors,
// bytes of files. A narrow type is carried by the narrowest one that NumPy has a word for and that holds all its
// values; on the way back every element must be one of the narrow type's own.
#include "study/module/array_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <system_error>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "ir/graph/number.h"
#include "profiler/run/npy.h"
#include "reference/evaluate_cells.h"

namespace tailor::study {

namespace fs = std::filesystem;

namespace {

using reference::Tensor;

constexpr std::string_view ending = ".npy";

/// The type by which a file may hold elements of another one; the type itself where nothing carries it.
ir::DType carrier(ir::DType dtype) {
  const int bits = ir::row(dtype).bits;
  if (ir::is_floating(dtype) && bits <= 16) return ir::DType::f32;
  if (ir::is_signed(dtype) && bits < 8) return ir::DType::s8;
  if (ir::is_unsigned(dtype) && bits < 8) return ir::DType::u8;
  return dtype;
}

/// The same elements as another type: rounded or wrapped where it does not have them.
Tensor converted(const Tensor& from, ir::DType to, const std::stop_token& stop) {
  Tensor out{from.shape, {}};
  out.shape.dtype = to;
  out = reference::zeros(out.shape);
  std::array<reference::Cell, reference::block_cells> cells;
  const std::int64_t total = ir::elements(from.shape);
  for (std::int64_t first = 0; first < total; first += reference::block_cells) {
    stop_if_asked(stop);
    const auto count = static_cast<std::size_t>(std::min(reference::block_cells, total - first));
    const std::span<reference::Cell> here = std::span(cells).first(count);
    reference::load_cells(from, first, 1, here);
    reference::store_cells(out, first, here);
  }
  return out;
}

/// The first element that the narrow type does not have; -1: it has them all.
std::int64_t first_lost(const Tensor& wide, const Tensor& narrow, const std::stop_token& stop) {
  const Tensor back = converted(narrow, wide.shape.dtype, stop);
  const std::int64_t total = ir::elements(wide.shape);
  for (std::int64_t i = 0; i < total; ++i) {
    const double here = reference::as_double(wide, i), there = reference::as_double(back, i);
    if (here != there && !(std::isnan(here) && std::isnan(there))) return i;
  }
  return -1;
}

std::string type_text(ir::DType dtype, std::span<const std::int64_t> dims) {
  return fmt::format("{}[{}]", ir::name(dtype), fmt::join(dims, ","));
}

/// What makes an array of another type one that is taken, in NumPy's words.
std::string conversion_words(ir::DType dtype) {
  const std::string name(ir::name(carrier(dtype)));
  const std::string bits = name.substr(std::min(name.find_first_of("0123456789"), name.size()));
  const std::string kind = name.front() == 'f' ? "float" : name.front() == 's' ? "int" : "uint";
  const std::string numpy = name == "pred" ? "bool" : kind + bits;
  return fmt::format(
      "convert it before it is saved: numpy.save(file, array.astype(numpy.{})){}", numpy,
      carrier(dtype) == dtype ? "" : fmt::format("; elements of {} are saved as {}", ir::name(dtype), name));
}

/// "x (0), y (1)", as many as fit in a sentence.
std::string listed(std::span<const ArrayName> arrays) {
  constexpr std::size_t most = 12;
  std::string out;
  for (std::size_t i = 0; i < std::min(arrays.size(), most); ++i)
    out += fmt::format("{}{} ({})", i == 0 ? "" : ", ", arrays[i].name, i);
  return arrays.size() > most ? out + fmt::format(" and {} more", arrays.size() - most) : out;
}

/// The array that a word means: its name, the stem of its file, or its number. arrays.size(): none.
std::size_t array_meant(std::string_view word, std::span<const ArrayName> arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i)
    if (arrays[i].name == word) return i;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    if (array_stem(arrays[i].name) == word || std::to_string(i) == word) return i;
  return arrays.size();
}

std::vector<fs::path> arrays_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none))
    if (entry.path().extension() == ending) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string array_stem(std::string_view name) {
  std::string stem(name);
  for (char& one : stem)
    if (std::isalnum(static_cast<unsigned char>(one)) == 0 && one != '.' && one != '_' && one != '-') one = '_';
  return stem;
}

std::vector<fs::path> find_array_files(std::string_view option, std::span<const std::string> words,
                                       std::span<const ArrayName> arrays) {
  std::vector<fs::path> files(arrays.size());
  const auto put = [&](std::size_t at, const fs::path& file) {
    if (!files[at].empty())
      throw Error(Fault::usage, fmt::format("{}: {} is given twice, by {} and by {}", option, arrays[at].name,
                                            files[at].string(), file.string()));
    files[at] = file;
  };
  for (const std::string& word : words) {
    std::error_code fault;
    const std::size_t equals = word.find('=');
    if (fs::is_directory(word, fault)) {
      const std::vector<fs::path> found = arrays_in(word);
      if (found.empty())
        throw Error(Fault::missing, Position{word}, fmt::format("{}: found no .npy file there", option),
                    arrays.empty() ? "the model has none: leave --inputs out"
                                   : fmt::format("they are called NAME.npy or NUMBER.npy: {}", listed(arrays)));
      for (const fs::path& file : found) {
        const std::size_t at = array_meant(file.stem().string(), arrays);
        if (at == arrays.size())
          throw Error(Fault::failed, Position{file.string()},
                      fmt::format("{}: found a file that is called like no array", option),
                      fmt::format("known: {}", listed(arrays)));
        put(at, file);
      }
    } else if (equals != word.npos && equals > 0 && equals + 1 < word.size()) {
      const std::size_t at = array_meant(word.substr(0, equals), arrays);
      if (at == arrays.size())
        throw Error(Fault::usage, fmt::format("{}: no array is called '{}'", option, word.substr(0, equals)),
                    fmt::format("known: {}", listed(arrays)));
      const fs::path file = word.substr(equals + 1);
      if (!fs::exists(file, fault)) throw Error(Fault::missing, Position{file.string()}, "no such file");
      put(at, file);
    } else {
      throw Error(Fault::usage, fmt::format("{}: found '{}', expected a folder or NAME=FILE.npy", option, word),
                  fmt::format("known: {}", listed(arrays)));
    }
  }
  return files;
}

Tensor read_array(const fs::path& path, const ArrayName& wanted, const std::stop_token& stop) {
  profiler::NpyArray array = profiler::read_npy(path);
  const ir::DType dtype = wanted.shape.dtype;
  const bool same_shape =
      std::equal(array.dims.begin(), array.dims.end(), wanted.shape.dims.begin(), wanted.shape.dims.end());
  if (!same_shape || (array.dtype != dtype && array.dtype != carrier(dtype))) {
    const std::vector<std::int64_t> dims(wanted.shape.dims.begin(), wanted.shape.dims.end());
    throw Error(Fault::failed, Position{path.string()},
                fmt::format("found {}, expected {} for {}", type_text(array.dtype, array.dims), type_text(dtype, dims),
                            wanted.name),
                same_shape ? conversion_words(dtype) : "");
  }
  Tensor found{wanted.shape, std::move(array.bytes)};
  if (array.dtype == dtype) return found;
  found.shape.dtype = array.dtype;
  Tensor narrow = converted(found, dtype, stop);
  if (const std::int64_t lost = first_lost(found, narrow, stop); lost >= 0)
    throw Error(Fault::failed, Position{path.string()},
                fmt::format("element {} is {}, which is no number of {}", lost, reference::as_double(found, lost),
                            ir::name(dtype)),
                fmt::format("round the array to {} before it is saved", ir::name(dtype)));
  return narrow;
}

std::string array_text(const Tensor& tensor, const std::stop_token& stop) {
  const ir::Dims& dims = tensor.shape.dims;
  profiler::NpyArray array{tensor.shape.dtype, {dims.begin(), dims.end()}, {}};
  if (std::optional<std::string> text = profiler::npy_text({array.dtype, array.dims, tensor.bytes})) return *text;
  array.dtype = carrier(tensor.shape.dtype);
  array.bytes = converted(tensor, array.dtype, stop).bytes;
  return profiler::npy_text(array).value();
}

}  // namespace tailor::study
