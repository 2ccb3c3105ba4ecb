// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading a kernel for its comments. In: a kernel. Out: what each loop, buffer and barrier is for, in words. Called by
// the printer, once for each kernel. The statements alone are asked: which arrays are accumulated into, after which
// statement the last reduction is done, how wide the widest access to each buffer is.
#include "codegen/cuda/remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/counted.h"
#include "base/text.h"

namespace tailor::codegen {

using namespace ir;

namespace {

bool reduces(const Stmt& s) { return exchanges_lanes(s) || (s.kind == StmtKind::assign && s.op != Op::copy); }

}  // namespace

std::string comment(std::string_view words, std::size_t indent) {
  constexpr std::size_t columns = 120;
  const std::string margin(indent, ' ');
  std::string out, gap = margin + "// ", plain(words);
  for (char& letter : plain)
    if (letter == '\\')
      letter = '/';  // at the end of a line it would make the next line part of the comment
    else if (static_cast<unsigned char>(letter) < ' ')
      letter = ' ';
  std::string_view rest = plain;
  while (!rest.empty()) {
    std::size_t end = rest.size();
    if (gap.size() + end > columns) end = rest.rfind(' ', columns - gap.size());
    if (end == rest.npos || end == 0) end = std::min(rest.find(' ', 1), rest.size());
    out += gap + std::string(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(rest.size(), end + 1));
    gap = margin + "//   ";
  }
  return out;
}

namespace {

/// Elements of the widest loads from a buffer, and of the widest stores and atomics to it.
std::array<int, 2> widest_accesses(const Kernel& kernel, std::size_t buffer) {
  std::array<int, 2> widest{};
  for (const Stmt& s : kernel.body) {
    if (!is_memory(s) || s.space != Space::global || s.memory != buffer) continue;
    int& most = widest[s.kind == StmtKind::load ? 0 : 1];
    most = std::max(most, int{s.width});
  }
  return widest;
}

}  // namespace

Remarks remarks_on(const Kernel& kernel) {
  Remarks remarks;
  remarks.used.assign(kernel.lets.size(), false);
  for (const Value& value : kernel.values)
    if (value.kind == ValueKind::let) remarks.used[value.let] = true;
  for (const Stmt& s : kernel.body) {
    if (s.kind != StmtKind::declare) continue;
    for (const Stmt& other : kernel.body)
      if (reduces(other) && other.target.array == s.target.array) {
        remarks.reductions.push_back({s.target.array, other.op});
        break;
      }
  }
  std::size_t last = kernel.body.size(), outermost = 0;
  for (std::size_t at = 0; at < kernel.body.size(); ++at) {
    if (reduces(kernel.body[at])) last = at;
  }
  if (last == kernel.body.size()) return remarks;
  while (outermost <= last) {
    const Stmt& s = kernel.body[outermost];
    const bool nests = s.kind == StmtKind::loop || s.kind == StmtKind::guard;
    outermost = nests ? static_cast<std::size_t>(s.end) : outermost + 1;
  }
  if (outermost < kernel.body.size()) remarks.results = outermost;
  return remarks;
}

std::string_view reduction_word(Op op) {
  if (op == Op::add) return "sum";
  if (op == Op::multiply) return "product";
  return name(op);
}

std::string in_words(const Kernel& kernel, const KernelNames& names, bool of_several) {
  std::string threads, phases;
  std::array<std::string, 2> moved;
  for (std::size_t i = 0; i < kernel.indices.vars.size(); ++i)
    if (const Var& var = kernel.indices.vars[i]; var.kind == VarKind::thread && var.extent > 1)
      threads += fmt::format("{}{} ({})", threads.empty() ? "" : " x ", names.vars[i], var.extent);
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const Buffer& buffer = kernel.buffers[i];
    const std::array<int, 2> widest = widest_accesses(kernel, i);
    const auto add = [&](std::size_t list, int at_a_time) {
      moved[list] += fmt::format("{}{} ({} {}, {} at a time)", moved[list].empty() ? "" : ", ", names.buffers[i],
                                 with_commas(buffer.elements), name(buffer.dtype), at_a_time);
    };
    if (of_several && buffer.role != BufferRole::ticket) {
      for (const std::size_t list : {0, 1})
        if (widest[list] != 0) add(list, widest[list]);
    } else if (buffer.role != BufferRole::workspace && buffer.role != BufferRole::ticket) {
      add(is_result(buffer.role) ? 1 : 0, std::max(widest[0], widest[1]));
    }
  }
  for (const Reduction& reduction : remarks_on(kernel).reductions)
    phases += fmt::format("{} ({}), then ", names.arrays[reduction.array], reduction_word(reduction.op));
  std::string out;
  if (!moved[0].empty() || !moved[1].empty())
    out = comment(fmt::format("Reads {}; writes {}.", moved[0].empty() ? "nothing" : moved[0], moved[1]));
  if (!threads.empty()) out += comment(fmt::format("A block's threads: {}.", threads));
  if (!phases.empty()) out += comment(fmt::format("Phases: {}the results.", phases));
  return out;
}

namespace {

/// What a caller must do to a buffer before a run, or nothing where that goes without saying.
std::string owed(const Kernel& kernel, const KernelNames& names, BufferId id) {
  const std::string& name = names.buffers[id];
  const Buffer& buffer = kernel.buffers[id];
  if (buffer.role == BufferRole::in_place)
    return comment(fmt::format("{} is written over {}: pass the same address twice.", name, names.buffers[buffer.of]));
  if (buffer.role == BufferRole::ticket)
    return comment(fmt::format("{} must be zero before the first run; every run leaves it zero.", name));
  if (buffer.role == BufferRole::workspace)
    return holds_anything(kernel, id) ? "" : comment(fmt::format("{} must be zero before every run.", name));
  if (memory_role(kernel, id) == BufferRole::workspace)
    return comment(fmt::format("Adds into {}: it must be zero before every run.", name));
  return {};
}

/// The workspaces to which nothing is owed.
std::string workspaces(const Kernel& program, const KernelNames& names) {
  std::string list;
  for (std::size_t i = 0; i < program.buffers.size(); ++i)
    if (holds_anything(program, static_cast<BufferId>(i))) list += (list.empty() ? "" : ", ") + names.buffers[i];
  return list.empty() ? "" : comment(fmt::format("Memory to work in, whatever it holds before: {}.", list));
}

/// The launch and its parameters, in the words that `tailor run` reads, of a program of one launch. Whole numbers are
/// zero, so that indices among them are places. What lies over another array those words cannot say.
std::string launch_in_words(const Kernel& program, const KernelNames& names) {
  const std::vector<Chain<Kernel>> launches = launches_of(program);
  if (launches.size() > 1) return {};
  const LaunchShape shape = launch_shape(launches[0]);
  std::string out = fmt::format("// launch: grid={} block={}", shape.grid[0], shape.block[0]);
  if (shape.dynamic_shared > 0) out += fmt::format(" shared={}", shape.dynamic_shared);
  if (shape.cluster[0] > 1) out += fmt::format(" cluster={}", shape.cluster[0]);
  out += shape.cooperative ? " cooperative\n" : "\n";
  const auto is_over = [](const Buffer& buffer) { return buffer.role == BufferRole::in_place; };
  if (std::any_of(program.buffers.begin(), program.buffers.end(), is_over)) return out;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    const auto id = static_cast<BufferId>(i);
    std::string_view use = "both zero";
    if (buffer.role == BufferRole::input) use = is_floating(buffer.dtype) ? "input random" : "input zero";
    if (memory_role(program, id) == BufferRole::output) use = "output";
    if (holds_anything(program, id)) use = "scratch";
    out += fmt::format("// buffer: {} {}[{}] {}\n", names.buffers[i], name(buffer.dtype), buffer.elements, use);
  }
  return out;
}

/// Which of the bodies of its launch a kernel is, and in which step.
std::string place_in_launch(const Chain<Kernel>& launch, std::size_t body) {
  if (!has_steps(launch)) return fmt::format("Body {} of {} side by side in one launch", body + 1, launch.size());
  const std::vector<Chain<Kernel>> steps = steps_of(launch);
  std::size_t step = 0;
  for (; body >= steps[step].size(); ++step) body -= steps[step].size();
  std::string words = fmt::format("Step {} of {} of one launch", step + 1, steps.size());
  if (is_meeting(steps[step][0])) words += ": all of its blocks meet";
  if (steps[step].size() > 1) words += fmt::format(", body {} of {} side by side", body + 1, steps[step].size());
  return words;
}

/// Which of a program's launches a kernel begins, or which body of a launch it is; nothing where there is one alone.
std::string launch_words(const Kernel& program, const Kernel& kernel) {
  std::string words, names;
  const std::vector<Chain<Kernel>> launches = launches_of(program);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Chain<Kernel>& launch = launches[i];
    names += (names.empty() ? "" : ", ") + launch[0].name;
    for (std::size_t body = 0; body < launch.size(); ++body) {
      if (&launch[body] != &kernel) continue;
      if (launches.size() > 1 && body == 0) words = fmt::format("Launch {} of {}", i + 1, launches.size());
      if (i > 0 && launch_shape(launch).dependent) words += "; it may begin while the one before it runs";
      if (launch.size() > 1) words += (words.empty() ? "" : ". ") + place_in_launch(launch, body);
    }
  }
  if (words.empty()) return {};
  if (launches.size() > 1 && &kernel == &program)
    words += fmt::format(", in this order and with the same arguments: {}", names);
  return comment(words + ".");
}

}  // namespace

std::string head(const Kernel& program, const Kernel& kernel, const KernelNames& names, std::string_view plan) {
  const bool first = &kernel == &program;
  std::string out = comment(kernel.name) + "//\n";
  if (first && !plan.empty()) out += comment(fmt::format("Plan: {}", plan));
  out += launch_words(program, kernel);
  out += in_words(kernel, names, !program.followers.empty());
  out += fmt::format("// {} threads per block, {}", kernel.threads,
                     counted(kernel.virtual_blocks, is_meeting(kernel) ? "block" : "virtual block"));
  if (kernel.persistent) out += fmt::format(" looped over by {}", counted(kernel.grid, "block"));
  const std::string_view whose = !kernel.dynamic_shared      ? ""
                                 : program.followers.empty() ? "dynamic "
                                                             : "its launch's dynamic ";
  out += fmt::format("{}{} bytes of {}shared memory per block.\n", kernel.persistent ? ".\n// " : ", ",
                     with_commas(kernel.shared_bytes), whose);
  if (kernel.cluster != 1) out += fmt::format("// Blocks form clusters of {}.\n", kernel.cluster);
  if (kernel.cooperative) out += "// All blocks must be resident at once: launch it as a cooperative kernel.\n";
  for (std::size_t i = 0; first && i < kernel.buffers.size(); ++i)
    out += owed(program, names, static_cast<BufferId>(i));
  if (first) out += workspaces(program, names) + launch_in_words(program, names);
  return out + "\n";
}

}  // namespace tailor::codegen
