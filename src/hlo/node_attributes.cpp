// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From printed attributes to the fields of a node. One row per operation that has fields of its own; the rest of what
// the text says is kept as text where a later reader may need it (library calls, look-ups, windows, unknown
// operations).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "hlo/graph_builder.h"

namespace tailor::hlo {

namespace {

using Filler = void (*)(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node);

ir::Dims read_axes(GraphBuilder& builder, const HloInstruction& instruction, std::string_view key) {
  const std::string_view value = builder.module().attribute(instruction, key);
  if (value.empty())
    builder.fail(instruction,
                 fmt::format("found '{}' without '{}=', expected the dimensions it works on", instruction.opcode, key));
  const std::vector<std::int64_t> axes = numbers_in(value);
  if (std::cmp_greater(axes.size(), ir::max_rank))
    builder.fail(instruction, fmt::format("found {} dimensions, expected at most {}", axes.size(), ir::max_rank));
  ir::Dims dims;
  for (const std::int64_t axis : axes) dims.push_back(axis);
  return dims;
}

std::int64_t read_axis(GraphBuilder& builder, const HloInstruction& instruction, std::string_view key) {
  const ir::Dims axes = read_axes(builder, instruction, key);
  if (axes.size() != 1)
    builder.fail(instruction, fmt::format("found {} dimensions in '{}', expected one", axes.size(), key));
  return axes[0];
}

void fill_dimensions(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  node.attributes = ir::AxisList{read_axes(builder, instruction, "dimensions")};
}

void fill_concatenate(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  node.attributes = ir::OneAxis{read_axis(builder, instruction, "dimensions")};
}

void fill_iota(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  if (node.shape.rank() != 0) node.attributes = ir::OneAxis{read_axis(builder, instruction, "iota_dimension")};
}

void fill_constant(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  auto& literal = ir::attributes_as<ir::Literal>(node);
  const ir::DTypeKind kind = row(node.shape.dtype).kind;
  if (kind == ir::DTypeKind::none)
    literal.known = false;
  else
    literal.known = parse_literal(builder.module(), instruction.payload, node.shape, literal.bytes);
}

void fill_compare(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  node.attributes = read_comparison(builder, instruction);
}

void check_range_count(GraphBuilder& builder, const HloInstruction& instruction, std::size_t found) {
  if (std::cmp_greater(found, ir::max_rank))
    builder.fail(instruction, fmt::format("found {} ranges, expected at most {}", found, ir::max_rank));
}

/// slice={[0:8:2], [3:5]}: start, limit, stride.
void fill_slice(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  std::vector<ir::SliceRange>& ranges = ir::attributes_as<ir::SliceRanges>(node).ranges;
  for (std::string_view rest = builder.module().attribute(instruction, "slice");;) {
    const std::size_t open = rest.find('[');
    const std::size_t close = rest.find(']', open == rest.npos ? 0 : open);
    if (open == rest.npos || close == rest.npos) break;
    const std::vector<std::int64_t> numbers = numbers_in(rest.substr(open + 1, close - open - 1));
    if (numbers.size() < 2 || numbers.size() > 3)
      builder.fail(instruction,
                   "found a slice that is not [start:limit] or [start:limit:stride], expected one per dimension");
    ranges.push_back({numbers[0], numbers[1], numbers.size() == 3 ? numbers[2] : 1});
    rest = rest.substr(close + 1);
  }
  check_range_count(builder, instruction, ranges.size());
}

/// dynamic_slice_sizes={1,8}: what the result's shape says too, and must not contradict.
void check_window(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  const std::string_view found = builder.module().attribute(instruction, "dynamic_slice_sizes");
  if (found.empty()) return;
  const std::vector<std::int64_t> sizes = numbers_in(found);
  if (!std::equal(sizes.begin(), sizes.end(), node.shape.dims.begin(), node.shape.dims.end()))
    builder.fail(instruction, fmt::format("found dynamic_slice_sizes={}, expected the dimensions of its result {}",
                                          found, ir::text(node.shape)));
}

/// padding=0_0x1_1_0: low, high, interior.
void fill_pad(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  std::vector<ir::PadRange>& ranges = ir::attributes_as<ir::PadRanges>(node).ranges;
  const std::string_view value = builder.module().attribute(instruction, "padding");
  if (!value.empty())
    for (const std::string_view part : split(value, 'x')) {
      const std::vector<std::int64_t> numbers = numbers_in(part);
      if (numbers.size() < 2 || numbers.size() > 3)
        builder.fail(instruction, fmt::format("found padding '{}', expected low_high or low_high_interior", part));
      ranges.push_back({numbers[0], numbers[1], numbers.size() == 3 ? numbers[2] : 0});
    }
  check_range_count(builder, instruction, ranges.size());
}

/// to_apply: a known reducer of what the one array holds, or a body. Collective operations may compute in a wider type.
ir::Reducer read_region(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  const HloComputation& region = builder.find_computation(instruction, "to_apply");
  const std::size_t arrays = node.operands.size() / 2;  // beside each its start, or its updates and one for all indices
  const ir::Reducer reducer = class_of(node.op) == ir::OpClass::communication ? find_reducer(builder.module(), region)
                              : arrays == 1
                                  ? find_reducer(builder.module(), region, builder.node(node.operands[0]).shape.dtype)
                                  : ir::Reducer::custom;
  if (reducer == ir::Reducer::custom)
    node.bodies.push_back(builder.find_or_add_body(region));
  else
    builder.ledger().add(Pass::regions, 1, 0, 0);
  return reducer;
}

void fill_region(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  ir::attributes_as<ir::RegionCall>(node).reducer = read_region(builder, instruction, node);
}

void fill_reduce(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  const ir::Dims axes = read_axes(builder, instruction, "dimensions");
  node.attributes = ir::Reduction{axes, read_region(builder, instruction, node)};
}

/// map, sort: the region is what the operation means and always a body.
void fill_body(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  node.bodies.push_back(builder.find_or_add_body(builder.find_computation(instruction, "to_apply")));
}

void fill_sort(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  ir::attributes_as<ir::SortOptions>(node).axis = read_axis(builder, instruction, "dimensions");
  fill_body(builder, instruction, node);
}

void fill_select_and_scatter(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  node.bodies.push_back(builder.find_or_add_body(builder.find_computation(instruction, "select")));
  node.bodies.push_back(builder.find_or_add_body(builder.find_computation(instruction, "scatter")));
}

void fill_custom_call(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  const std::string_view target = builder.module().attribute(instruction, "custom_call_target");
  ir::attributes_as<ir::LibraryOptions>(node).target =
      target.size() >= 2 ? target.substr(1, target.size() - 2) : target;
}

struct FillerRow {
  ir::Op op;
  Filler fill;
};

constexpr auto filler_rows = std::to_array<FillerRow>({
    {ir::Op::constant, fill_constant},
    {ir::Op::iota, fill_iota},
    {ir::Op::compare, fill_compare},
    {ir::Op::map, fill_body},
    {ir::Op::broadcast, fill_dimensions},
    {ir::Op::transpose, fill_dimensions},
    {ir::Op::reverse, fill_dimensions},
    {ir::Op::concatenate, fill_concatenate},
    {ir::Op::slice, fill_slice},
    {ir::Op::dynamic_slice, check_window},
    {ir::Op::pad, fill_pad},
    {ir::Op::scatter, fill_region},
    {ir::Op::reduce, fill_reduce},
    {ir::Op::reduce_window, fill_region},
    {ir::Op::select_and_scatter, fill_select_and_scatter},
    {ir::Op::sort, fill_sort},
    {ir::Op::custom_call, fill_custom_call},
    {ir::Op::all_reduce, fill_region},
    {ir::Op::reduce_scatter, fill_region},
});

constexpr auto fillers = [] {
  std::array<Filler, ir::op_table.size()> table{};
  for (const FillerRow& row : filler_rows) table[index(row.op)] = row.fill;
  return table;
}();

/// Attributes that are fields, or name computations, and so are not repeated as text.
constexpr auto fields =
    std::to_array<std::string_view>({"to_apply", "calls", "select", "scatter", "custom_call_target",
                                     "dynamic_slice_sizes", "called_computations", "iota_dimension", "direction"});

/// The attributes that have no field of their own, for operations that keep a text.
void fill_text(GraphBuilder& builder, const HloInstruction& instruction, const ir::Node& node, std::string& text) {
  const bool dimensions_are_axes = node.op == ir::Op::sort;
  for (const HloAttribute& attribute : builder.module().attributes_of(instruction)) {
    if (std::find(fields.begin(), fields.end(), attribute.key) != fields.end()) continue;
    if (attribute.key == "dimensions" && dimensions_are_axes) continue;
    // Only a custom call's configuration says what it computes; elsewhere it is scheduling and estimates.
    if (attribute.key == "backend_config" && node.op != ir::Op::custom_call && node.op != ir::Op::opaque) continue;
    if (!text.empty()) text += ", ";
    text += attribute.key;
    text += '=';
    text += attribute.value;
  }
  if (node.op == ir::Op::opaque && !instruction.payload.empty())
    text += fmt::format("{}payload={}", text.empty() ? "" : ", ", instruction.payload);
}

}  // namespace

std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if ((*at >= '0' && *at <= '9') || (*at == '-' && end - at > 1 && at[1] >= '0' && at[1] <= '9')) {
      std::int64_t value = 0;
      const auto [next, fault] = std::from_chars(at, end, value);
      // A number that does not fit stays out of every valid range.
      numbers.push_back(fault == std::errc{} ? value : INT64_MAX);
      at = next;
    } else if (end - at > 1 && at[0] == '/' && at[1] == '*') {
      const std::size_t close = text.find("*/", static_cast<std::size_t>(at - text.data()) + 2);
      at = close == text.npos ? end : text.data() + close + 2;
    } else {
      ++at;
    }
  }
  return numbers;
}

ir::CompareOptions read_comparison(const GraphBuilder& builder, const HloInstruction& instruction) {
  constexpr auto directions = std::to_array<std::string_view>({"EQ", "NE", "GE", "GT", "LE", "LT"});
  const std::string_view value = builder.module().attribute(instruction, "direction");
  const auto at = std::find(directions.begin(), directions.end(), value);
  if (at == directions.end())
    builder.fail(instruction,
                 fmt::format("found compare direction '{}', expected one of {}", value, fmt::join(directions, ", ")));
  return {static_cast<ir::Comparison>(at - directions.begin()),
          builder.module().attribute(instruction, "type") == "TOTALORDER"};
}

void fill_attributes(GraphBuilder& builder, const HloInstruction& instruction, ir::Node& node) {
  if (const Filler fill = fillers[index(node.op)]; fill != nullptr) fill(builder, instruction, node);
  std::visit(
      [&](auto& held) {
        if constexpr (requires { held.text; }) fill_text(builder, instruction, node, held.text);
      },
      node.attributes);
}

}  // namespace tailor::hlo
