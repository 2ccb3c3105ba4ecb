// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the values of attributes have to look like: one row per attribute that says what an operation does. In: a name
// and a value. Out: the form that is missed. Called by the parser. Comments between the parts of a value, as printers
// put them into long lists, are passed over. What has no row is free.
#include "hlo/attribute_forms.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tailor::hlo {

namespace {

/// Goes through a value from the left; what does not fit leaves it where it is.
class Scan {
 public:
  explicit Scan(std::string_view text) : rest_(text) {}

  bool accept(std::string_view mark) {
    pass_over();
    if (!rest_.starts_with(mark)) return false;
    rest_.remove_prefix(mark.size());
    return true;
  }
  bool integer() {
    pass_over();
    const std::size_t sign = rest_.starts_with('-') ? 1 : 0;
    const std::size_t end = std::min(rest_.find_first_not_of("0123456789", sign), rest_.size());
    if (end == sign) return false;
    rest_.remove_prefix(end);
    return true;
  }
  std::string_view word() {
    pass_over();
    const std::string_view found = rest_.substr(0, rest_.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"));
    rest_.remove_prefix(found.size());
    return found;
  }
  bool ends() {
    pass_over();
    return rest_.empty();
  }

 private:
  void pass_over() {
    for (;;) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
      if (!rest_.starts_with("/*")) return;
      const std::size_t end = rest_.find("*/", 2);
      rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 2);
    }
  }

  std::string_view rest_;
};

bool are_numbers(Scan scan) {
  if (!scan.accept("{")) return false;
  if (scan.accept("}")) return scan.ends();
  do {
    if (!scan.integer()) return false;
  } while (scan.accept(","));
  return scan.accept("}") && scan.ends();
}

/// A single dimension stands without braces in some dumps.
bool is_number(Scan scan) { return scan.integer() && scan.ends(); }
bool are_dimensions(Scan scan) { return are_numbers(scan) || is_number(scan); }
bool is_flag(Scan scan) { return (scan.accept("true") || scan.accept("false")) && scan.ends(); }

bool is_window(Scan scan) {
  constexpr auto fields =
      std::to_array<std::string_view>({"size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"});
  if (!scan.accept("{")) return false;
  std::size_t rank = 0;
  while (!scan.accept("}")) {
    const std::string_view field = scan.word();
    if (std::find(fields.begin(), fields.end(), field) == fields.end() || !scan.accept("=")) return false;
    std::size_t dimensions = 0;
    do {
      ++dimensions;
      if (!scan.integer() || (field == "pad" && (!scan.accept("_") || !scan.integer()))) return false;
    } while (scan.accept("x"));
    if (rank != 0 && dimensions != rank) return false;
    rank = dimensions;
  }
  return scan.ends();
}

bool is_comparison(Scan scan) {
  constexpr auto kinds = std::to_array<std::string_view>({"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"});
  return std::any_of(kinds.begin(), kinds.end(), [&](std::string_view kind) { return scan.accept(kind); }) &&
         scan.ends();
}

struct ValueForm {
  std::string_view expected;
  bool (*fits)(Scan scan);
};

constexpr ValueForm numbers{"{number, ...}", are_numbers}, dimensions{"{dimension, ...}", are_dimensions},
    number{"a whole number", is_number}, flag{"'true' or 'false'", is_flag},
    window{
        "{size=2x2 stride=1x1 pad=0_0x0_0 lhs_dilate=1x1 rhs_dilate=1x1 rhs_reversal=0x0}, each for as many dimensions",
        is_window},
    comparison{"FLOAT, TOTALORDER, SIGNED or UNSIGNED", is_comparison};

struct FormRow {
  std::string_view key;
  const ValueForm& form;
};

constexpr auto rows = std::to_array<FormRow>({
    {"dimensions", dimensions},
    {"iota_dimension", number},
    {"index", number},
    {"dynamic_slice_sizes", numbers},
    {"exponent_bits", number},
    {"mantissa_bits", number},
    {"is_stable", flag},
    {"window", window},
    {"largest", flag},
    {"k", number},
    {"offset_dims", numbers},
    {"collapsed_slice_dims", numbers},
    {"start_index_map", numbers},
    {"index_vector_dim", number},
    {"slice_sizes", numbers},
    {"indices_are_sorted", flag},
    {"unique_indices", flag},
    {"operand_batching_dims", numbers},
    {"start_indices_batching_dims", numbers},
    {"update_window_dims", numbers},
    {"inserted_window_dims", numbers},
    {"scatter_dims_to_operand_dims", numbers},
    {"input_batching_dims", numbers},
    {"scatter_indices_batching_dims", numbers},
    {"lhs_batch_dims", numbers},
    {"lhs_contracting_dims", numbers},
    {"rhs_batch_dims", numbers},
    {"rhs_contracting_dims", numbers},
    {"feature_group_count", number},
    {"batch_group_count", number},
    {"type", comparison},
});

}  // namespace

std::string_view misses_form(std::string_view key, std::string_view value) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const FormRow& one) { return one.key == key; });
  return row == rows.end() || row->form.fits(Scan(value)) ? std::string_view() : row->form.expected;
}

}  // namespace tailor::hlo
