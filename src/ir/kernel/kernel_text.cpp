// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The text form of kernels: one statement per line, two spaces per scope. `each` is an unrolled loop, `loop` a rolled
// one; `<-` moves, `x4` is the width of an access. Print only: what it leaves out (policies that are the usual ones,
// types that follow) can be read off the program's structs. A kernel that is launched behind another one begins with
// `then`, one in the same launch with `beside` or `behind`; its buffers are the first one's.
#include <fmt/format.h>

#include <array>

#include "base/indexed.h"
#include "ir/kernel/index_text.h"
#include "ir/kernel/kernel.h"
#include "ir/kernel/kernel_names.h"

namespace tailor::ir {

namespace {

constexpr std::array comparison_names = std::to_array<std::string_view>({"eq", "ne", "ge", "gt", "le", "lt"});
/// By role: input, output, in_place, workspace, ticket.
constexpr std::array role_words = std::to_array<std::string_view>({"in", "out", "in-place", "workspace", "ticket"});
constexpr std::array half_words = std::to_array<std::string_view>({"", " arrive", " wait"});
constexpr auto reserved = std::to_array<std::string_view>({"tid"});

struct TextPrinter {
  const Kernel& kernel;
  KernelNames names;
  IndexSpelling spelling;
  std::string out;

  explicit TextPrinter(const Kernel& k)
      : kernel(k), names(make_names(k, NameScope(reserved))), spelling{&k.indices, names.vars, {}} {}

  std::string index(ExprId expr) const { return text(spelling, expr); }

  std::string ref(const Ref& r, int width) const {
    std::string s = names.arrays[r.array];
    for (const ExprId sub : r.subs)
      if (sub != no_expr) s += fmt::format("[{}]", index(sub));
    const bool whole = width == kernel.arrays[r.array].vector;
    if (r.lane != no_expr)
      s += fmt::format(".{}", index(r.lane));
    else if (!whole)
      s += ".0";
    return s;
  }

  std::string value(ValueId id) const {
    const Value& v = kernel.values[id];
    switch (v.kind) {
      case ValueKind::constant:
        if (v.dtype == DType::pred) return v.integer != 0 ? "true" : "false";
        return is_floating(v.dtype) ? fmt::format("{}", v.real) : fmt::format("{}", v.integer);
      case ValueKind::let:
        return names.lets[v.let];
      case ValueKind::element:
        return ref(v.element, 1);
      case ValueKind::convert:
        return fmt::format("{}({})", name(v.dtype), value(v.operands[0]));
      case ValueKind::index:
        return fmt::format("{}({})", name(v.dtype), index(v.index));
      case ValueKind::op:
        break;
    }
    std::string arguments;
    for (const ValueId operand : v.operands)
      if (operand != no_value) arguments += (arguments.empty() ? "" : ", ") + value(operand);
    if (v.op == Op::reduce_precision) arguments += fmt::format(", e{}m{}", v.digits.exponent, v.digits.mantissa);
    const std::string_view called = v.op == Op::compare ? row_for(comparison_names, v.comparison) : name(v.op);
    return fmt::format("{}({})", called, arguments);
  }

  std::string memory_operand(const Stmt& s) const {
    const std::string of = s.rank == no_expr ? "" : fmt::format(" of {}", index(s.rank));
    return fmt::format("{}{}[{}]{}", is_array(s.space) ? "shared " : "",
                       is_array(s.space) ? names.arrays[s.memory] : names.buffers[s.memory], index(s.expr), of);
  }

  std::string declaration(const Stmt& s) const {
    const Array& a = kernel.arrays[s.target.array];
    const bool shared = a.space == Space::shared;
    std::string line = fmt::format("{} {}: {}", shared ? "shared" : "reg", names.arrays[s.target.array], name(a.dtype));
    for (const std::int64_t dim : a.dims)
      if (dim != 0) line += fmt::format("[{}]", dim);
    if (a.vector != 1) line += fmt::format(" x{}", a.vector);
    if (s.value != no_value) line += " = " + value(s.value);
    return line;
  }

  std::string condition(const Condition& c) const {
    return fmt::format("{} {} {}", index(c.a), c.equal ? "==" : "<", index(c.b));
  }

  std::string load(const Stmt& s) const {
    const std::string target = s.target.array == no_id ? names.lets[s.let] : ref(s.target, s.width);
    const bool plain = s.policy == Policy::once;
    return fmt::format("{} <- {} x{}{}{}", target, memory_operand(s), s.width, plain ? "" : " ",
                       plain ? "" : name(s.policy));
  }

  std::string assignment(const Stmt& s) const {
    const std::string target = ref(s.target, 1);
    if (s.op == Op::copy) return fmt::format("{} <- {}", target, value(s.value));
    return fmt::format("{} {}= {}", target, name(s.op), value(s.value));
  }

  std::string line(const Stmt& s, std::size_t at) const {
    switch (s.kind) {
      case StmtKind::declare:
        return declaration(s);
      case StmtKind::index:
        return fmt::format("index {} = {}", names.named[at], index(s.expr));
      case StmtKind::let:
        return fmt::format("{} = {}", names.lets[s.let], value(s.value));
      case StmtKind::assign:
        return assignment(s);
      case StmtKind::load:
        return load(s);
      case StmtKind::store:
        return fmt::format("{} x{} <- {}{}", memory_operand(s), s.width,
                           s.target.array == no_id ? value(s.value) : ref(s.target, s.width),
                           s.policy == Policy::fresh ? " beside others" : "");
      case StmtKind::atomic:
        return fmt::format("{}atomic {}{} {}= {}{}", s.let == no_id ? "" : names.lets[s.let] + " <- ",
                           memory_operand(s), s.width == 1 ? "" : fmt::format(" x{}", s.width), name(s.op),
                           s.target.array == no_id ? value(s.value) : ref(s.target, s.width),
                           s.by_exchange ? " by exchange" : "");
      case StmtKind::loop:
        return fmt::format("{} {} < {}{}:", s.unrolled ? "each" : "loop", names.vars[s.var],
                           kernel.indices.vars[s.var].extent, s.backward ? " backward" : "");
      case StmtKind::guard: {
        if (s.otherwise) return "else:";
        std::string both = condition(s.conditions[0]);
        if (s.conditions[1].a != no_expr) both += " and " + condition(s.conditions[1]);
        if (s.value != no_value) both = fmt::format("{} (counted as {})", value(s.value), both);
        return fmt::format("if {}:", both);
      }
      case StmtKind::shuffle:
        return fmt::format("{} <- {} over {} lanes", ref(s.target, 1), name(s.op), static_cast<int>(s.lanes));
      case StmtKind::exchange:
        if (s.stride == 0)
          return fmt::format("{} = {} of the first of {} lanes", names.lets[s.let], value(s.value),
                             static_cast<int>(s.lanes));
        return fmt::format("{} = {} of lane ^ {} of {}", names.lets[s.let], value(s.value), static_cast<int>(s.stride),
                           static_cast<int>(s.lanes));
      case StmtKind::barrier:
        return fmt::format(
            "barrier {}{}{}", name(s.scope), row_for(half_words, s.half),
            s.memory == no_id ? ""
                              : fmt::format(" at {}[{}] as {}", names.buffers[s.memory], index(s.expr), index(s.rank)));
      case StmtKind::issue:
        return "issue";
      case StmtKind::bind:
        return fmt::format("bind {} = {}", names.vars[s.var], value(s.value));
      case StmtKind::fence:
        return "fence";
      case StmtKind::wait:
        return "wait for the launches before";
    }
    return {};
  }

  void statements(std::size_t first, std::size_t end, int depth) {
    const std::size_t visible = spelling.named.size();
    for (std::size_t at = first; at < end; ++at) {
      const Stmt& s = kernel.body[at];
      out += std::string(static_cast<std::size_t>(2 * depth), ' ') + line(s, at) + "\n";
      if (s.kind == StmtKind::index) spelling.named.push_back({s.expr, names.named[at]});
      if (s.kind != StmtKind::loop && s.kind != StmtKind::guard) continue;
      statements(at + 1, static_cast<std::size_t>(s.end), depth + 1);
      at = static_cast<std::size_t>(s.end) - 1;
    }
    spelling.named.resize(visible);
  }

  /// Of the first kernel of a program, or of one that follows it.
  void head(bool follows) {
    out += fmt::format("{} {} threads={} vblocks={}", follows ? ir::name(kernel.begins) : "kernel", kernel.name,
                       kernel.threads, kernel.virtual_blocks);
    if (kernel.persistent) out += fmt::format(" persistent grid={}", kernel.grid);
    if (kernel.grid > kernel.virtual_blocks && !kernel.persistent) out += fmt::format(" grid={}", kernel.grid);
    if (kernel.shared_bytes != 0)
      out += fmt::format(" {}shared={}", kernel.dynamic_shared ? "dynamic_" : "", kernel.shared_bytes);
    if (kernel.cluster != 1) out += fmt::format(" cluster={}", kernel.cluster);
    if (kernel.min_blocks != 0) out += fmt::format(" min_blocks={}", kernel.min_blocks);
    if (kernel.cooperative) out += " cooperative";
    if (follows)
      out += "\n";
    else
      of_program();
    digits();
  }

  /// What all of its kernels share.
  void of_program() {
    if (kernel.arithmetic != Kernel().arithmetic) out += fmt::format(" arithmetic={}", name(kernel.arithmetic));
    out += is_idempotent(kernel) ? " idempotent\n" : "\n";
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
      const Buffer& b = kernel.buffers[i];
      const std::string of = b.role == BufferRole::in_place ? fmt::format(" over {}", names.buffers[b.of]) : "";
      out += fmt::format("  {} {}: {}[{}]{}\n", row_for(role_words, b.role), names.buffers[i], name(b.dtype),
                         b.elements, of);
    }
  }

  void digits() {
    for (std::size_t i = 0; i < kernel.indices.vars.size(); ++i) {
      const Var& var = kernel.indices.vars[i];
      const bool of_thread = var.kind == VarKind::thread;
      const std::int64_t all = of_thread ? kernel.threads : kernel.virtual_blocks;
      if (!of_thread && (var.kind != VarKind::block || var.extent == all)) continue;
      const std::string_view whole = of_thread ? "tid" : "vb";
      std::string from = var.divisor == 1 ? std::string(whole) : fmt::format("{} / {}", whole, var.divisor);
      if (var.divisor * var.extent != all) from += fmt::format(" % {}", var.extent);
      out += fmt::format("  index {} = {}\n", names.vars[i], from);
    }
  }
};

}  // namespace

std::string text(const Kernel& kernel) {
  std::string out;
  for (const Kernel& one : kernels_of(kernel)) {
    TextPrinter printer(one);
    printer.head(&one != &kernel);
    printer.statements(0, one.body.size(), 1);
    out += printer.out;
  }
  return out;
}

}  // namespace tailor::ir
