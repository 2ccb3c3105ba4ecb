// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What distinguishes two nodes of the same operation beside their operands, shapes and bodies. One small struct per
// kind of operation. The column `attributes` of ops.def says which struct an operation takes: verify() holds every node
// to it, and the text form reads and writes the fields that the struct lists in walk(). Graph's nodes hold one of them;
// the importer fills it, and evaluator, passes and lowering read it through the projections of graph.h.
//
// walk(field, a) calls field(key, member) for each member that the text form writes as ", key=value". Members that
// stand as a word before the operands (a parameter's number, a comparison, a reducer, a constant) are not listed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/indexed.h"
#include "ir/graph/op.h"
#include "ir/graph/types.h"

namespace tailor::ir {

enum class Comparison : std::uint8_t { eq, ne, ge, gt, le, lt };

/// What a region computes. `custom`: see the node's bodies.
enum class Reducer : std::uint8_t { none, add, multiply, maximum, minimum, bit_and, bit_or, bit_xor, custom };

/// One number that the text form writes as a list: axes={1}. -1 stands for none.
template <class Number>
struct ListOfOne {
  Number& number;
};
template <class Number>
ListOfOne(Number&) -> ListOfOne<Number>;

/// Elementwise operations, reshape, map, conditional and others that operands, shapes and bodies say all about.
struct NoAttributes {
  bool operator==(const NoAttributes&) const = default;
  static void walk(auto&, auto&) {}
};

/// A parameter's place among the inputs of its graph, from 0.
struct ParameterNumber {
  std::int64_t number = 0;
  bool operator==(const ParameterNumber&) const = default;
  static void walk(auto&, auto&) {}
};

/// The contents of a constant, row-major in logical order, each element in its own bytes (sub-byte types use one byte).
/// A constant whose contents the dump left out ("{...}") is not known.
struct Literal {
  bool known = true;
  std::vector<std::byte> bytes;
  bool operator==(const Literal&) const = default;
  static void walk(auto&, auto&) {}
};

/// iota, concatenate: the dimension along which. -1: none, which only an iota of a scalar may have.
struct OneAxis {
  std::int64_t axis = -1;
  bool operator==(const OneAxis&) const = default;
  static void walk(auto& field, auto& a) { field("axes", ListOfOne{a.axis}); }
};

/// broadcast: operand dimension i is result dimension axes[i]. transpose: result dimension i is operand dimension
/// axes[i]. reverse: the dimensions turned round.
struct AxisList {
  Dims axes;
  bool operator==(const AxisList&) const = default;
  static void walk(auto& field, auto& a) { field("axes", a.axes); }
};

/// Of one dimension, the elements start, start + stride, ... below limit.
struct SliceRange {
  std::int64_t start = 0, limit = 0, stride = 1;
  bool operator==(const SliceRange&) const = default;
};

/// One range per dimension.
struct SliceRanges {
  IndexedVector<SliceRange> ranges;
  bool operator==(const SliceRanges&) const = default;
  static void walk(auto& field, auto& a) { field("ranges", a.ranges); }
};

/// Elements put before, after and between those of one dimension. Before and after may be negative: elements go.
struct PadRange {
  std::int64_t low = 0, high = 0, interior = 0;
  bool operator==(const PadRange&) const = default;
};

/// One range per dimension.
struct PadRanges {
  IndexedVector<PadRange> ranges;
  bool operator==(const PadRanges&) const = default;
  static void walk(auto& field, auto& a) { field("ranges", a.ranges); }
};

struct CompareOptions {
  Comparison comparison = Comparison::eq;
  bool total_order = false;  ///< HLO's type=TOTALORDER: -NaN < -inf < ... < NaN
  bool operator==(const CompareOptions&) const = default;
  static void walk(auto& field, auto& a) { field("total_order", a.total_order); }
};

/// reduce: the operand's dimensions that go, and what combines their elements.
struct Reduction {
  Dims axes;
  Reducer reducer = Reducer::none;
  bool operator==(const Reduction&) const = default;
  static void walk(auto& field, auto& a) { field("axes", a.axes); }
};

/// scatter, windows and collectives that combine elements: how, and HLO's remaining attributes as it prints them.
struct RegionCall {
  Reducer reducer = Reducer::none;
  std::string text;
  bool operator==(const RegionCall&) const = default;
  static void walk(auto& field, auto& a) { field("text", a.text); }
};

/// sort: the dimension whose lines are sorted (-1: the last), and HLO's remaining attributes (is_stable).
struct SortOptions {
  std::int64_t axis = -1;
  std::string text;
  bool operator==(const SortOptions&) const = default;
  static void walk(auto& field, auto& a) {
    field("axes", ListOfOne{a.axis});
    field("text", a.text);
  }
};

/// Look-ups, random numbers, communication and others that are read from HLO's own words (attribute_text.h).
struct HloText {
  std::string text;
  bool operator==(const HloText&) const = default;
  static void walk(auto& field, auto& a) { field("text", a.text); }
};

/// A call with a cost. `flops` is written behind the node's results: see walk_attributes.
struct LibraryOptions {
  std::string target;  ///< of a custom-call
  std::string text;
  double flops = 0;  ///< floating operations, 2 per multiply-add; 0 where the text does not tell
  bool operator==(const LibraryOptions&) const = default;
  static void walk(auto& field, auto& a) {
    field("target", a.target);
    field("text", a.text);
  }
};

/// An opcode that has no row in ops.def.
struct UnknownOperation {
  std::string opcode;
  std::string text;
  bool operator==(const UnknownOperation&) const = default;
  static void walk(auto& field, auto& a) {
    field("target", a.opcode);
    field("text", a.text);
  }
};

/// get_tuple_element: which result of its operand.
struct TupleIndex {
  std::int64_t index = 0;
  bool operator==(const TupleIndex&) const = default;
  static void walk(auto& field, auto& a) { field("number", a.index); }
};

/// while: how often the body runs; 0 is unknown.
struct TripCount {
  std::int64_t trips = 0;
  bool operator==(const TripCount&) const = default;
  static void walk(auto& field, auto& a) { field("number", a.trips); }
};

using Attributes =
    std::variant<NoAttributes, ParameterNumber, Literal, OneAxis, AxisList, SliceRanges, PadRanges, CompareOptions,
                 Reduction, RegionCall, SortOptions, HloText, LibraryOptions, UnknownOperation, TupleIndex, TripCount>;

/// Attributes at their defaults, of the struct that the operation takes.
Attributes make_attributes(Op op);
/// The name of the struct that is held ("AxisList"), for messages.
std::string_view struct_name(const Attributes& attributes);

std::string_view name(Comparison comparison);
std::string_view name(Reducer reducer);
/// The elementwise operation a reducer applies. Precondition: neither none nor custom.
Op op_of(Reducer reducer);

}  // namespace tailor::ir
