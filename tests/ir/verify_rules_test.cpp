// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What verify() says of a node that breaks a rule of its operation: the number that it found and the one that it
// expected, at both sides of each bound. A row is a line that is right, the same line with one number changed, and the
// words that follow from the rules of HLO, written down here. Part of the suite `ir`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "ir/graph/graph.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

struct Ruling {
  std::string_view good, bad, words;
};

constexpr std::string_view whole_gather =
    "gather %x, %two, text=\"slice_sizes={4,6}, offset_dims={0,1}, start_index_map={0,1}, index_vector_dim=0\" : "
    "f32[4,6]";
constexpr std::string_view row_gather =
    "gather %x, %two, text=\"slice_sizes={1,6}, offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
    "index_vector_dim=1\" : f32[2,6]";

constexpr std::string_view window_scatter =
    "scatter add %x, %two, %w, text=\"update_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, "
    "index_vector_dim=0\" : f32[4,6]";

/// Lines that may use the nodes of graph_with(); the words are of the bad one.
constexpr auto rulings = std::to_array<Ruling>({
    {"slice %x, ranges={0:4:1, 6:6:1} : f32[4,0]", "slice %x, ranges={0:4:1, 6:7:1} : f32[4,1]",
     "found range 6:7:1, expected 0 <= start <= limit <= 6 and a positive stride"},
    {"slice %x, ranges={0:4:1, 0:6:1} : f32[4,6]", "slice %x, ranges={0:5:1, 0:6:1} : f32[5,6]", "found range 0:5:1"},
    {"slice %x, ranges={0:4:1, 0:6:1} : f32[4,6]", "slice %x, ranges={-1:3:1, 0:6:1} : f32[4,6]", "found range -1:3:1"},
    {"slice %x, ranges={2:2:1, 0:6:1} : f32[0,6]", "slice %x, ranges={2:1:1, 0:6:1} : f32[0,6]", "found range 2:1:1"},
    {"slice %x, ranges={0:4:1, 0:6:5} : f32[4,2]", "slice %x, ranges={0:4:1, 0:6:0} : f32[4,6]", "found range 0:6:0"},
    {"slice %x, ranges={0:4:1, 0:6:5} : f32[4,2]", "slice %x, ranges={0:4:1, 0:6:5} : f32[4,1]",
     "found f32[4,1], expected f32[4,2]"},
    {"pad %x, %s, ranges={0:-1:0, 0:0:0} : f32[3,6]", "pad %x, %s, ranges={0:-1:0, 0:0:0} : f32[4,6]",
     "found f32[4,6], expected f32[3,6]"},
    {"pad %x, %s, ranges={-2:3:1, 0:0:0} : f32[8,6]", "pad %x, %s, ranges={-2:3:1, 0:0:0} : f32[9,6]",
     "found f32[9,6], expected f32[8,6]"},
    {"pad %x, %s, ranges={0:0:0, 0:0:0} : f32[4,6]", "pad %x, %s, ranges={0:0:-1, 0:0:0} : f32[1,6]",
     "found interior padding -1, expected none below 0"},
    {"pad %x, %s, ranges={0:0:0, 0:0:0} : f32[4,6]", "pad %x, %i, ranges={0:0:0, 0:0:0} : f32[4,6]",
     "found s32[], expected f32[]"},
    {"concatenate %x, %w, axes={1} : f32[4,11]", "concatenate %x, %w, axes={1} : f32[4,12]",
     "found f32[4,12], expected f32[4,11]"},
    {"concatenate %x, %w, axes={1} : f32[4,11]", "concatenate %x, %w, axes={0} : f32[8,6]",
     "found f32[4,5], expected f32[4,6]"},
    {"concatenate %x, %x, axes={1} : f32[4,12]", "concatenate %x, %x, axes={2} : f32[4,12]",
     "found dimension 2, expected one below 2"},
    {"transpose %c, axes={1,2,0} : f32[3,4,2]", "transpose %c, axes={1,2,0} : f32[4,2,3]",
     "found f32[4,2,3], expected f32[3,4,2]"},
    {"broadcast %v, axes={1} : f32[4,6]", "broadcast %v, axes={0} : f32[4,6]", "found f32[6], expected f32[4]"},
    {"broadcast %v, axes={1} : f32[4,6]", "broadcast %v, axes={2} : f32[4,6]",
     "found axes {2}, expected distinct dimensions below 2"},
    {"dynamic_slice %x, %i, %i : f32[4,6]", "dynamic_slice %x, %i, %i : f32[5,6]",
     "found f32[5,6], expected a part of f32[4,6]"},
    {"dynamic_slice %x, %two : f32[2,3]", "dynamic_slice %c, %i, %i : f32[2,3,1]", "found 2 start indices, expected 3"},
    {"dynamic_slice %x, %i, %i : f32[1,6]", "dynamic_slice %x, %i, %i : s32[1,6]",
     "found s32[1,6], expected a part of f32[4,6]"},
    {"dynamic_update_slice %x, %x, %i, %i : f32[4,6]", "dynamic_update_slice %w, %x, %i, %i : f32[4,5]",
     "found f32[4,6], expected a part of f32[4,5]"},
    {"dynamic_update_slice %x, %w, %i, %i : f32[4,6]", "dynamic_update_slice %x, %w, %i, %s : f32[4,6]",
     "found f32[], expected integer start indices"},
    {whole_gather, "gather %x, %two, text=\"slice_sizes={5,6}\" : f32[5,6]", "found a slice of 5, expected at most 4"},
    {whole_gather, "gather %x, %two, text=\"slice_sizes={4,7}\" : f32[4,7]", "found a slice of 7, expected at most 6"},
    {"gather %x, %two, text=\"slice_sizes={0,6}, offset_dims={0,1}, start_index_map={0,1}, index_vector_dim=0\" : "
     "f32[0,6]",
     "gather %x, %two, text=\"slice_sizes={-1,6}\" : f32[0,6]", "found a slice of -1, expected at most 4"},
    {whole_gather, "gather %x, %two, text=\"slice_sizes={4}\" : f32[4]", "found 1 slice sizes, expected 2"},
    {"gather %x, %two, text=\"slice_sizes={1,1}, collapsed_slice_dims={0,1}, start_index_map={0}, index_vector_dim=1\" "
     ": f32[2]",
     "gather %x, %v, text=\"slice_sizes={1,1}\" : f32[2]", "found f32[6], expected integer indices"},
    {row_gather,
     "gather %x, %two, text=\"slice_sizes={2,6}, offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1\" : f32[2,6]",
     "found a slice of 2 along dimension 0, expected 1"},
    {row_gather,
     "gather %x, %two, text=\"slice_sizes={1,6}, offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=0\" : f32[2,6]",
     "found start_index_map of 1 numbers, expected 2"},
    {row_gather,
     "gather %x, %two, text=\"slice_sizes={1,6}, offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=2\" : f32[2,6]",
     "found index_vector_dim=2, expected 0 to 1"},
    {row_gather,
     "gather %x, %two, text=\"slice_sizes={1,6}, offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1\" : f32[2,6]",
     "found offset_dims={2}, expected distinct dimensions below 2, in order"},
    {row_gather,
     "gather %x, %two, text=\"slice_sizes={1,6}, offset_dims={1}, start_index_map={0}, index_vector_dim=1\" : f32[2,6]",
     "found offset_dims of 1 numbers, expected 2"},
    {row_gather,
     "gather %x, %two, text=\"slice_sizes={1,5}, offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1\" : f32[2,6]",
     "found 6 along dimension 1 of the result, expected 5"},
    {row_gather,
     "gather %x, %two, text=\"slice_sizes={1,6}, offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0}, "
     "index_vector_dim=1\" : f32[2,6]",
     "found 6 along dimension 1 of the result, expected 2, dimension 0 of the indices"},
    {row_gather,
     "gather %x, %two, text=\"slice_sizes={1,6}, offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0,0}, "
     "index_vector_dim=1\" : f32[2,6]",
     "found start_index_map={0,0}, expected distinct"},
    {row_gather,
     "gather %x, %two, text=\"slice_sizes={1,6}, offset_dims={1}, collapsed_slice_dims={0}, operand_batching_dims={0}, "
     "start_indices_batching_dims={0}, start_index_map={0}, index_vector_dim=1\" : f32[2,6]",
     "found offset_dims of 1 numbers, expected 0"},
    {row_gather,
     "gather %x, %two, text=\"slice_sizes={1,6}, offset_dims={1}, collapsed_slice_dims={0}, index_vector_dim=1\" : "
     "f32[2,6]",
     "found start_index_map of 0 numbers, expected 1, as many as the indices have at a place"},
    {window_scatter, "scatter add %x, %v, %w : f32[4,6]", "found f32[6], expected integer indices"},
    {window_scatter, "scatter add %x, %two, %w : f32[4,5]", "found f32[4,5], expected f32[4,6]"},
    {window_scatter, "scatter add %x, %two, %w : f32[4,6]",
     "found scatter_dims_to_operand_dims of 0 numbers, expected 1, as many as the indices have at a place"},
    {window_scatter,
     "scatter add %x, %two, %w, text=\"update_window_dims={0,2}, scatter_dims_to_operand_dims={0,1}, "
     "index_vector_dim=0\" : f32[4,6]",
     "found update_window_dims={0,2}, expected distinct dimensions below 2"},
    {"reduce add %c, %s, axes={0,2} : f32[3]", "reduce add %c, %s, axes={0,2} : f32[2]",
     "found f32[2], expected f32[3]"},
    {"reduce add %c, %s, axes={2} : f32[2,3]", "reduce add %c, %s, axes={3} : f32[2,3]", "found axes {3}"},
    {"reduce add %x, %s, axes={1} : f32[4]", "reduce add %x, %v, axes={1} : f32[4]", "found f32[6], expected f32[]"},
    {"reduce add %x, %s, axes={1} : f32[4]", "reduce add %x, %x, %s, %s, axes={1}, results={f32[4], f32[4]} : tuple",
     "of 2 arrays, expected one array, or a custom body"},
    {"reduce_window add %v, %s, text=\"window={size=3 rhs_dilate=2}\" : f32[2]",
     "reduce_window add %v, %s, text=\"window={size=3 rhs_dilate=2}\" : f32[1]", "found f32[1], expected f32[2]"},
    {"reduce_window add %v, %s, text=\"window={size=2 lhs_dilate=3}\" : f32[15]",
     "reduce_window add %v, %s, text=\"window={size=2 lhs_dilate=3}\" : f32[17]", "found f32[17], expected f32[15]"},
    {"reduce_window add %v, %s, text=\"window={size=3 pad=2_1}\" : f32[7]",
     "reduce_window add %v, %s, text=\"window={size=3 pad=2_1}\" : f32[8]", "found f32[8], expected f32[7]"},
    {"reduce_window add %v, %s, text=\"window={size=3 stride=2 pad=0_3}\" : f32[4]",
     "reduce_window add %v, %s, text=\"window={size=3 stride=2 pad=0_3}\" : f32[3]", "found f32[3], expected f32[4]"},
    {"reduce_window add %v, %s, text=\"window={size=6}\" : f32[1]",
     "reduce_window add %v, %s, text=\"window={size=7}\" : f32[1]", "found f32[1], expected f32[0]"},
    {"reduce_window add %v, %s, text=\"window={size=2}\" : f32[5]",
     "reduce_window add %v, %s, text=\"window={size=2 stride=0}\" : f32[5]", "stride or dilation below 1"},
    {"dot %x, %w, text=\"lhs_contracting_dims={0}, rhs_contracting_dims={0}\" : f32[6,5]",
     "dot %x, %w, text=\"lhs_contracting_dims={1}, rhs_contracting_dims={1}\" : f32[4,4]",
     "found 6 against 5, expected paired dimensions of one length"},
    {"dot %x, %w, text=\"lhs_batch_dims={0}, rhs_batch_dims={0}\" : f32[4,6,5]",
     "dot %x, %w, text=\"lhs_batch_dims={0}, rhs_batch_dims={0}\" : f32[4,5,6]",
     "found f32[4,5,6], expected f32[4,6,5]"},
    {"dot %x, %w, text=\"lhs_contracting_dims={0}, rhs_contracting_dims={0}\" : f32[6,5]",
     "dot %x, %w, text=\"lhs_contracting_dims={0}\" : f32[6,4,5]", "found dimension lists of different lengths"},
    {"dot %x, %w, text=\"lhs_contracting_dims={0}, rhs_contracting_dims={0}\" : f32[6,5]",
     "dot %x, %w, text=\"lhs_contracting_dims={2}, rhs_contracting_dims={0}\" : f32[6,5]", "found dimension 2"},
    {"clamp %s, %x, %x : f32[4,6]", "clamp %s, %x, %v : f32[4,6]", "found f32[6], expected f32[4,6]"},
    {"select %q, %x, %x : f32[4,6]", "select %p6, %x, %x : f32[4,6]",
     "found pred[6], expected a predicate, scalar or of the result's dimensions"},
    {"bitcast_convert %x : s16[4,6,2]", "bitcast_convert %x : s16[4,6,3]", "found 1152 bits, expected 768"},
    {"bitcast %x : s16[48]", "bitcast %x : s16[47]", "expected as many bytes as f32[4,6]"},
    {"iota, axes={1} : s32[4,6]", "iota, axes={2} : s32[4,6]", "found dimension 2, expected one below 2"},
    {"while_loop %x, bodies={2,3} : f32[4,6]", "while_loop %x, bodies={2} : f32[4,6]",
     "found 1 bodies, expected at least 2"},
    {"while_loop %x, bodies={2,3} : f32[4,6]", "while_loop %x, bodies={2,3} : f32[4,5]",
     "found f32[4,5], expected f32[4,6]"},
    {"while_loop %x, bodies={2,3} : f32[4,6]", "while_loop %x, bodies={3,3} : f32[4,6]",
     "found flip that gives f32[4,6], expected pred[]"},
    {"while_loop %x, bodies={2,3} : f32[4,6]", "while_loop %x, bodies={2,2} : f32[4,6]",
     "found yes that gives pred[], expected f32[4,6]"},
    {"conditional %q, %x, bodies={3,3} : f32[4,6]", "conditional %q, %x, bodies={3,3} : f32[4,5]",
     "found flip that gives f32[4,6], expected f32[4,5]"},
    {"conditional %q, %x, bodies={3,3} : f32[4,6]", "conditional %q, %x, bodies={3,2} : f32[4,6]",
     "found yes that gives pred[], expected f32[4,6]"},
    {"reduce_window add %x, %s, text=\"window={size=1x2}\" : f32[4,5]",
     "reduce_window add %x, %s, text=\"window={size=2}\" : f32[3,6]", "found a window of 1 dimension, expected 2"},
    {"reduce_window add %x, %s, text=\"window={size=1x2}\" : f32[4,5]", "reduce_window add %x, %s : f32[4,6]",
     "found a window of 0 dimensions, expected 2"},
});

Graph graph_with(std::string_view line) {
  return parse_graph(fmt::format(R"(graph g {{
    graph sum {{ %a = parameter 0 : f32[] %b = parameter 1 : f32[] %c = add %a, %b : f32[] output %c }}
    graph less {{ %a = parameter 0 : f32[] %b = parameter 1 : f32[] %c = compare lt %a, %b : pred[] output %c }}
    graph yes {{ %a = parameter 0 : f32[4,6] %c = constant 1 : pred[] output %c }}
    graph flip {{ %a = parameter 0 : f32[4,6] %c = negate %a : f32[4,6] output %c }}
    %x = parameter 0 : f32[4,6] %w = parameter 1 : f32[4,5] %v = parameter 2 : f32[6] %c = parameter 3 : f32[2,3,4]
    %two = parameter 4 : s32[2] %q = parameter 5 : pred[] %p6 = parameter 6 : pred[6]
    %s = constant 0 : f32[] %i = constant 1 : s32[]
    %line = {} output %line }})",
                                 line));
}

std::string complaint_of(std::string_view line) {
  try {
    verify(graph_with(line));
  } catch (const Error& error) {
    return error.message;
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a broken rule of an operation is told in its own numbers, at both sides of each bound") {
  for (const Ruling& ruling : rulings) {
    CAPTURE(ruling.good);
    CAPTURE(ruling.bad);
    CHECK(complaint_of(ruling.good) == "accepted");
    const std::string said = complaint_of(ruling.bad);
    CHECK_MESSAGE(said.find(ruling.words) != said.npos, said);
  }
}

TEST_CASE("an output lies over a parameter of its own type, dimensions and layout only") {
  const auto accepted = [](std::string_view of_parameter, std::string_view of_output) {
    const Graph graph = parse_graph(fmt::format(
        "graph g {{ %a = parameter 0 : {} %y = bitcast %a : {} output %y in_place 0 of 0 }}", of_parameter, of_output));
    try {
      verify(graph);
    } catch (const Error& error) {
      CHECK(error.message.find("expected equal shapes") != std::string::npos);
      return false;
    }
    return true;
  };
  CHECK(accepted("f32[4,4]", "f32[4,4]"));
  CHECK_FALSE(accepted("f32[4,4]", "s32[4,4]"));
  CHECK_FALSE(accepted("f32[4,4]", "f32[4,4]{0,1}"));
  CHECK_FALSE(accepted("f32[4,4]", "f32[2,8]"));
}
