// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Floating operations of library calls, two per multiply-add. Dots: result elements times contracted elements.
// Convolutions: result elements times the kernel's window and input features, padding counted as if it were computed.
// Custom calls into cuBLAS and cuDNN follow the same rules from what their configuration prints.
#include <algorithm>

#include "hlo/graph_builder.h"

namespace tailor::hlo {

namespace {

/// The text between a key and the bracket that ends its list.
std::string_view list_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == text.npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  return rest.substr(0, rest.find_first_of("]}"));
}

double product_of(const ir::Dims& dims, const std::vector<std::int64_t>& axes) {
  double product = 1;
  for (const std::int64_t axis : axes)
    if (axis >= 0 && axis < dims.size()) product *= static_cast<double>(dims[static_cast<int>(axis)]);
  return product;
}

double dot_flops(const ir::Graph& graph, const ir::Node& node, const ir::Shape& result,
                 std::string_view contracting_key) {
  if (node.operands.empty()) return 0;
  const ir::Shape& left = graph[node.operands[0]].shape;
  const std::vector<std::int64_t> axes = numbers_in(list_after(hlo_text(node), contracting_key));
  return 2.0 * static_cast<double>(elements(result)) * product_of(left.dims, axes);
}

/// dim_labels=b01f_01io->b01f. `kernel` is the array the middle part labels, `result` the one after the arrow.
double convolution_flops(const ir::Node& node, const ir::Shape& kernel, const ir::Shape& result) {
  constexpr std::string_view key = "dim_labels=";
  const std::string_view text = hlo_text(node);
  const std::size_t at = text.find(key);
  if (at == text.npos) return 0;
  const std::string_view labels = text.substr(at + key.size());
  const std::size_t from = labels.find('_');
  const std::size_t to = labels.find("->");
  if (from == labels.npos || to == labels.npos || to < from) return 0;
  const std::string_view middle = labels.substr(from + 1, to - from - 1);
  double per_element = 2;
  for (std::size_t i = 0; i < middle.size() && static_cast<int>(i) < kernel.rank(); ++i)
    if (middle[i] != 'o') per_element *= static_cast<double>(kernel.dims[static_cast<int>(i)]);
  return per_element * static_cast<double>(elements(result));
}

/// Which operands of a cuDNN convolution play kernel and result; -1 is the call's own result.
struct ConvolutionRow {
  std::string_view target;
  int kernel, result;
};

constexpr auto convolution_rows = std::to_array<ConvolutionRow>({
    {"__cudnn$convForward", 1, -1},
    {"__cudnn$convBiasActivationForward", 1, -1},
    {"__cudnn$convForwardGraph", 1, -1},
    {"__cudnn$convBackwardInput", 1, 0},
    {"__cudnn$convBackwardFilter", -1, 1},
});

bool is_matrix_product(std::string_view target) {
  return target.starts_with("__cublas$gemm") || target.starts_with("__cublas$lt$matmul");
}

double custom_call_flops(const ir::Graph& graph, const ir::Node& node, const ir::Shape& result) {
  const std::string_view target = ir::target(node);
  if (is_matrix_product(target)) return dot_flops(graph, node, result, "\"lhs_contracting_dimensions\":[");
  for (const ConvolutionRow& row : convolution_rows) {
    if (row.target != target || node.operands.size() < 2) continue;
    const auto shape = [&](int operand) -> const ir::Shape& {
      if (operand < 0) return result;
      return graph[node.operands[operand]].shape;
    };
    return convolution_flops(node, shape(row.kernel), shape(row.result));
  }
  return 0;
}

}  // namespace

bool is_known_call(std::string_view target) {
  return is_matrix_product(target) || std::any_of(convolution_rows.begin(), convolution_rows.end(),
                                                  [&](const ConvolutionRow& row) { return row.target == target; });
}

double library_flops(const ir::Graph& graph, const ir::Node& node, std::span<const ir::Shape> results) {
  if (results.empty()) return 0;
  if (node.op == ir::Op::dot) return dot_flops(graph, node, results[0], "lhs_contracting_dims={");
  if (node.op == ir::Op::convolution && node.operands.size() == 2)
    return convolution_flops(node, graph[node.operands[1]].shape, results[0]);
  if (node.op == ir::Op::custom_call) return custom_call_flops(graph, node, results[0]);
  return 0;
}

}  // namespace tailor::hlo
