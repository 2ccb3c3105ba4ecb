// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bits read as numbers of another width, at import: shifts stand for it in the graph, and give the bytes that were
// given, which is all that a bitcast-convert of row-major arrays means. Every two types of whole bytes, with a
// dimension in front and without. Part of the suite `hlo`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "hlo/import.h"
#include "hlo/normalise.h"
#include "reference/evaluate.h"
#include "support/ledger.h"

using namespace tailor;
using namespace tailor::ir;
using namespace tailor::reference;

namespace {

/// Bytes that say where they are. None makes a NaN in any type: that may get other bits.
std::byte byte_at(std::size_t i) { return static_cast<std::byte>(0x30 + (i * 7) % 16); }

bool has_whole_bytes(const DTypeRow& type) {
  return (is_floating(type.dtype) || is_integer(type.dtype)) && type.bits >= 8 && type.dtype != DType::f8e8m0fnu;
}

/// The dimensions of 24 bytes, or of three times as many, as numbers of `bits`, of which `wide` are one of the others.
std::string dims(bool front, int bits, int wide) {
  std::string text = front ? "3," : "";
  text += fmt::format("{}", 24 * 8 / std::max(bits, wide));
  return bits < wide ? fmt::format("{},{}", text, wide / bits) : text;
}

}  // namespace

TEST_CASE("bits read as numbers of another width are the same bytes, and no kernel needs to know") {
  int pairs = 0;
  for (const DTypeRow& from : dtype_table)
    for (const DTypeRow& to : dtype_table)
      for (const bool front : {false, true}) {
        if (!has_whole_bytes(from) || !has_whole_bytes(to) || from.bits == to.bits) continue;
        const std::string text = fmt::format(
            "HloModule m\n\nENTRY e {{\n  x = {}[{}] parameter(0)\n  ROOT y = {}[{}] bitcast-convert(x)\n}}\n",
            from.name, dims(front, from.bits, to.bits), to.name, dims(front, to.bits, from.bits));
        CAPTURE(text);
        const hlo::Imported imported = hlo::import_hlo(text, "test.hlo");
        verify(imported.graph);
        CHECK(nodes_by_ledger(imported) == hlo::nodes_in_all(imported.graph));
        for (const Node& node : imported.graph.nodes)
          if (node.op == Op::bitcast_convert)
            CHECK(row(node.shape.dtype).bits == row(imported.graph[node.operands[0]].shape.dtype).bits);
        Tensor given = zeros(imported.graph.nodes[0].shape);
        for (std::size_t i = 0; i < given.bytes.size(); ++i) given.bytes[i] = byte_at(i);
        const std::vector<Tensor> found = evaluate(imported.graph, {&given, 1});
        CHECK(std::equal(found[0].bytes.begin(), found[0].bytes.end(), given.bytes.begin(), given.bytes.end()));
        ++pairs;
      }
  CHECK(pairs == 2 * (2 * (9 * 4 + 9 * 3 + 9 * 3) + 2 * (4 * 3 + 4 * 3) + 2 * 3 * 3));
}

TEST_CASE("what is no such reading stays: dimensions that do not fit, types without whole bytes") {
  for (const std::string_view line : {"x = f32[6] parameter(0)\n  ROOT y = u8[24] bitcast-convert(x)",
                                      "x = f32[6] parameter(0)\n  ROOT y = u8[4,6] bitcast-convert(x)",
                                      "x = u4[6,2] parameter(0)\n  ROOT y = u8[6] bitcast-convert(x)"}) {
    const hlo::Imported imported =
        hlo::import_hlo(fmt::format("HloModule m\n\nENTRY e {{\n  {}\n}}\n", line), "test.hlo");
    CHECK(imported.graph.nodes.size() == 2);
  }
}
