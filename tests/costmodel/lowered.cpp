// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The graphs are templates in which {R}, {N} and the type are put in. A graph's text is parsed and made one group; its
// plans come from a small plan space, and those that the lowering accepts are handed to the caller one by one. Nothing
// here judges a kernel; the tests do.
#include "lowered.h"
#include "support/paths.h"

#include <fmt/format.h>

#include <stdexcept>

namespace tailor::costmodel {

namespace {

constexpr std::string_view map_text = R"(graph map {
  %x = parameter 0 : T[R,N]
  %b = parameter 1 : T[N]
  %bb = broadcast %b, axes={1} : T[R,N]
  %s = add %x, %bb : T[R,N]
  %t = tanh %s : T[R,N]
  output %t
}
)";
constexpr std::string_view softmax_text = R"(graph softmax {
  %x = parameter 0 : T[R,N]
  %lowest = constant -inf : T[]
  %zero = constant 0 : T[]
  %m = reduce max %x, %lowest, axes={1} : T[R]
  %mb = broadcast %m, axes={0} : T[R,N]
  %d = subtract %x, %mb : T[R,N]
  %e = exp %d : T[R,N]
  %s = reduce add %e, %zero, axes={1} : T[R]
  %sb = broadcast %s, axes={0} : T[R,N]
  %y = divide %e, %sb : T[R,N]
  output %y
}
)";
constexpr std::string_view layernorm_text = R"(graph layernorm {
  %x = parameter 0 : T[R,N]
  %g = parameter 1 : T[N]
  %zero = constant 0 : T[]
  %k = constant 0.001 : T[]
  %kb = broadcast %k, axes={} : T[R]
  %s = reduce add %x, %zero, axes={1} : T[R]
  %m = multiply %s, %kb : T[R]
  %mb = broadcast %m, axes={0} : T[R,N]
  %c = subtract %x, %mb : T[R,N]
  %q = multiply %c, %c : T[R,N]
  %v = reduce add %q, %zero, axes={1} : T[R]
  %r = rsqrt %v : T[R]
  %rb = broadcast %r, axes={0} : T[R,N]
  %gb = broadcast %g, axes={1} : T[R,N]
  %n = multiply %c, %rb : T[R,N]
  %y = multiply %n, %gb : T[R,N]
  output %y
}
)";
constexpr std::string_view rmsnorm_text = R"(graph rmsnorm {
  %x = parameter 0 : T[R,N]
  %h = parameter 1 : T[R,N]
  %zero = constant 0 : T[]
  %a = add %x, %h : T[R,N]
  %q = multiply %a, %a : T[R,N]
  %v = reduce add %q, %zero, axes={1} : T[R]
  %r = rsqrt %v : T[R]
  %rb = broadcast %r, axes={0} : T[R,N]
  %y = multiply %a, %rb : T[R,N]
  output %y, %a
}
)";

std::string_view template_of(std::string_view name) {
  if (name == "map") return map_text;
  if (name == "softmax") return softmax_text;
  if (name == "layernorm") return layernorm_text;
  return rmsnorm_text;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
}

}  // namespace

std::string graph_text(std::string_view name, std::int64_t rows, std::int64_t columns, std::string_view dtype) {
  std::string text(template_of(name));
  replace_all(text, "T[R,N]", fmt::format("{}[{},{}]", dtype, rows, columns));
  replace_all(text, "T[R]", fmt::format("{}[{}]", dtype, rows));
  replace_all(text, "T[N]", fmt::format("{}[{}]", dtype, columns));
  replace_all(text, "T[]", fmt::format("{}[]", dtype));
  return text;
}

ir::Group group_of(const std::string& text) {
  ir::Group group;
  group.graph = ir::parse_graph(text);
  group.id = id_of(std::string_view(ir::canonical_text(group.graph)));
  return group;
}

ir::Limits limits_of(const std::string& device) {
  return ir::limits(ir::find_device(device, source_folder() + "/data/devices"));
}

int for_each_kernel(const ir::Group& group, const ir::Limits& limits,
                    const std::function<void(const ir::Plan&, const ir::Kernel&)>& visit) {
  const auto made = codegen::prepare(group);
  if (!std::holds_alternative<codegen::Prepared>(made)) throw std::logic_error(std::get<ir::Rejection>(made).reason);
  const codegen::Prepared& prepared = std::get<codegen::Prepared>(made);
  codegen::LowerScratch scratch;
  int legal = 0;
  ir::Plan plan;
  plan.skeleton = prepared.skeleton;
  plan.dominant = prepared.dominants.front();
  for (const int threads : {64, 128, 256})
    for (const int per_row : {8, 32, 128})
      for (const int vector : {1, 4})
        for (const int in_flight : {1, 2})
          for (const auto homes : {ir::HomesWord::registers, ir::HomesWord::shared, ir::HomesWord::reload})
            for (const auto grid : {ir::GridShape::tile, ir::GridShape::persistent}) {
              const bool row = plan.skeleton == ir::Skeleton::row;
              if (!row && (per_row != 8 || homes != ir::HomesWord::registers)) continue;
              if (row && per_row > threads) continue;
              plan.threads = threads;
              plan.threads_per_row = row ? per_row : 32;
              plan.vector = vector;
              (row ? plan.in_flight : plan.unroll) = in_flight;
              plan.homes = codegen::homes_of(prepared, homes);
              plan.grid = grid;
              plan.blocks_per_sm = grid == ir::GridShape::persistent ? 2 : 0;
              const codegen::Lowered lowered = codegen::lower(prepared, plan, limits, scratch);
              if (const auto* kernel = std::get_if<ir::Kernel>(&lowered)) {
                ++legal;
                visit(plan, *kernel);
              }
            }
  return legal;
}

}  // namespace tailor::costmodel
