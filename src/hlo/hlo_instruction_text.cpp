// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From a node's fields to the words of HLO: the inverse of node_attributes.cpp and hlo_literal.cpp. In: a node. Out:
// text that both XLA and the importer read. Called once per instruction by the writer of modules.
//
// A decimal is the shortest that reads back to the same bits in the element's own type; small floating types go through
// float, which holds all their values. Of a NaN only the sign is kept, because HLO's readers keep no more.
#include "hlo/hlo_instruction_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <vector>

#include "base/stop.h"
#include "ir/graph/number.h"

namespace tailor::hlo {

namespace {

std::uint64_t bits_at(const std::byte* at, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, size);
  return bits;
}

void append_real(std::string& out, ir::DType dtype, std::uint64_t bits) {
  const double value = ir::decode(dtype, bits);
  if (dtype == ir::DType::f64)
    out += fmt::format("{}", value);
  else
    out += fmt::format("{}", static_cast<float>(value));
}

void append_element(std::string& out, ir::DType dtype, const std::byte* at) {
  const auto size = static_cast<std::size_t>(ir::element_bytes(dtype));
  if (row(dtype).kind == ir::DTypeKind::complex) {
    const ir::DType part = dtype == ir::DType::c128 ? ir::DType::f64 : ir::DType::f32;
    append_real(out += '(', part, bits_at(at, size / 2));
    append_real(out += ", ", part, bits_at(at + size / 2, size / 2));
    out += ')';
    return;
  }
  const std::uint64_t bits = bits_at(at, size);
  if (dtype == ir::DType::pred)
    out += bits != 0 ? "true" : "false";
  else if (dtype == ir::DType::u64)
    out += fmt::format("{}", bits);
  else if (is_integer(dtype))
    out += fmt::format("{}", ir::wrap_to(dtype, static_cast<std::int64_t>(bits)));
  else
    append_real(out, dtype, bits);
}

std::string list_text(const ir::Dims& dims) { return fmt::format("{{{}}}", fmt::join(dims.begin(), dims.end(), ",")); }

std::string slice_text(const ir::SliceRanges& slice) {
  std::string out;
  for (const ir::SliceRange& range : slice.ranges) {
    out += fmt::format("{}[{}:{}", out.empty() ? "" : ", ", range.start, range.limit);
    out += range.stride == 1 ? "]" : fmt::format(":{}]", range.stride);
  }
  return fmt::format(", slice={{{}}}", out);
}

std::string pad_text(const ir::PadRanges& pad) {
  std::string out;
  for (const ir::PadRange& range : pad.ranges) {
    out += fmt::format("{}{}_{}", out.empty() ? "" : "x", range.low, range.high);
    if (range.interior != 0) out += fmt::format("_{}", range.interior);
  }
  return out.empty() ? "" : ", padding=" + out;
}

std::string compare_text(const ir::CompareOptions& compare) {
  std::string direction(name(compare.comparison));
  for (char& c : direction) c = static_cast<char>(c - 'a' + 'A');
  return fmt::format(", direction={}{}", direction, compare.total_order ? ", type=TOTALORDER" : "");
}

std::string trips_text(const ir::TripCount& count) {
  if (count.trips <= 0) return "";
  return fmt::format(", backend_config={{\"known_trip_count\":{{\"n\":\"{}\"}}}}", count.trips);
}

std::string kept_text(std::string_view words) { return words.empty() ? "" : fmt::format(", {}", words); }

/// All dimensions of a map: HLO allows no others.
std::string map_text(const ir::Node& node) {
  ir::Dims all;
  for (int i = 0; i < node.shape.rank(); ++i) all.push_back(i);
  return ", dimensions=" + list_text(all);
}

struct AttributesOf {
  const ir::Graph& graph;
  const ir::Node& node;

  std::string operator()(const ir::NoAttributes&) const { return node.op == ir::Op::map ? map_text(node) : ""; }
  std::string operator()(const ir::ParameterNumber&) const { return ""; }
  std::string operator()(const ir::Literal&) const { return ""; }
  std::string operator()(const ir::OneAxis& a) const {
    if (a.axis < 0) return "";
    return node.op == ir::Op::iota ? fmt::format(", iota_dimension={}", a.axis)
                                   : fmt::format(", dimensions={{{}}}", a.axis);
  }
  std::string operator()(const ir::AxisList& a) const { return ", dimensions=" + list_text(a.axes); }
  std::string operator()(const ir::SliceRanges& a) const { return slice_text(a); }
  std::string operator()(const ir::PadRanges& a) const { return pad_text(a); }
  std::string operator()(const ir::CompareOptions& a) const { return compare_text(a); }
  std::string operator()(const ir::Reduction& a) const { return ", dimensions=" + list_text(a.axes); }
  std::string operator()(const ir::RegionCall& a) const { return kept_text(a.text); }
  std::string operator()(const ir::SortOptions& a) const {
    const std::int64_t axis = a.axis >= 0 ? a.axis : graph[node.operands[0]].shape.rank() - 1;
    return fmt::format(", dimensions={{{}}}{}", axis, kept_text(a.text));
  }
  std::string operator()(const ir::HloText& a) const {
    const std::string kept = kept_text(a.text);
    return node.op == ir::Op::dynamic_slice ? ", dynamic_slice_sizes=" + list_text(node.shape.dims) + kept : kept;
  }
  std::string operator()(const ir::LibraryOptions& a) const {
    if (node.op != ir::Op::custom_call) return kept_text(a.text);
    return fmt::format(", custom_call_target=\"{}\"{}", a.target, kept_text(a.text));
  }
  std::string operator()(const ir::UnknownOperation& a) const { return kept_text(a.text); }
  std::string operator()(const ir::TupleIndex& a) const { return fmt::format(", index={}", a.index); }
  std::string operator()(const ir::TripCount& a) const { return trips_text(a); }
};

}  // namespace

std::string tuple_type_text(std::span<const ir::Shape> shapes) {
  std::string out = "(";
  for (const ir::Shape& shape : shapes) out += (out.size() == 1 ? "" : ", ") + text(shape);
  return out + ")";
}

std::string type_text(const ir::Node& node) {
  return node.shape.dtype == ir::DType::tuple ? tuple_type_text(node.results) : text(node.shape);
}

std::string_view opcode_text(const ir::Node& node) {
  const std::string_view known = row(node.op).hlo;
  return known.empty() ? target(node) : known;
}

std::string literal_text(const ir::Node& constant, const std::stop_token& stop) {
  const ir::Literal* literal = known_literal(constant);
  if (literal == nullptr) return "{...}";
  const ir::Shape& shape = constant.shape;
  const auto size = static_cast<std::size_t>(ir::element_bytes(shape.dtype));
  const std::size_t count = element_count(shape);
  if (count == 0 || size == 0) return "{}";
  // A brace opens at each multiple of what a dimension and those behind it hold.
  std::vector<std::size_t> held;
  std::size_t product = 1;
  for (int d = shape.rank(); d-- > 0;) held.push_back(product *= static_cast<std::size_t>(shape.dims[d]));
  const auto at_edge = [&](std::size_t i) {
    std::size_t braces = 0;
    for (const std::size_t each : held) braces += i % each == 0 ? 1 : 0;
    return braces;
  };
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 1024 == 0) stop_if_asked(stop);
    if (i != 0) out += ", ";
    out.append(at_edge(i), '{');
    append_element(out, shape.dtype, literal->bytes.data() + i * size);
    out.append(at_edge(i + 1), '}');
  }
  return out;
}

std::string attributes_text(const ir::Graph& graph, const ir::Node& node) {
  return std::visit(AttributesOf{graph, node}, node.attributes);
}

}  // namespace tailor::hlo
