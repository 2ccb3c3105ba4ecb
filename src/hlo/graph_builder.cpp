// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The walk that makes a graph of a parsed module. In: an HloModule. Out: a Graph that is not yet simplified, and the
// ledger of what was added and removed. Called by the import.
//
// Instructions are visited in the order of their operands, beginning at the root. Each has as its value a list of
// leaves, the nodes that hold its arrays; a tuple is just a longer list. A table says which operations are resolved
// while walking, and by which function (pass_calls.cpp, pass_tuples.cpp, pass_control.cpp, pass_regions.cpp). Every
// other instruction becomes a node. Names are kept where they are unique.
#include "hlo/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "hlo/hlo_lexer.h"
#include "ir/graph/graph_verify.h"

namespace tailor::hlo {

namespace {

/// A module whose calls, inlined, are longer than this is refused: calls of calls can grow without bound.
constexpr std::int64_t max_instances = std::int64_t{1} << 21;

struct ResolverRow {
  ir::Op op;
  Resolver resolve;
};

constexpr auto resolver_rows = std::to_array<ResolverRow>({
    {ir::Op::call, resolve_call},
    {ir::Op::fusion, resolve_fusion},
    {ir::Op::async_start, resolve_async_start},
    {ir::Op::async_update, resolve_async_done},
    {ir::Op::async_done, resolve_async_done},
    {ir::Op::all_gather_start, resolve_wrapped_start},
    {ir::Op::all_gather_done, resolve_async_done},
    {ir::Op::all_reduce_start, resolve_wrapped_start},
    {ir::Op::all_reduce_done, resolve_async_done},
    {ir::Op::collective_permute_start, resolve_wrapped_start},
    {ir::Op::collective_permute_done, resolve_async_done},
    {ir::Op::copy_start, resolve_copy_start},
    {ir::Op::copy_done, resolve_async_done},
    {ir::Op::tuple, resolve_tuple},
    {ir::Op::get_tuple_element, resolve_tuple_element},
    {ir::Op::opt_barrier, resolve_marker},
    {ir::Op::domain, resolve_marker},
    {ir::Op::add_dependency, resolve_marker},
    {ir::Op::custom_call, resolve_custom_call},
    {ir::Op::get_dimension_size, resolve_dimension_size},
    {ir::Op::batch_norm_inference, resolve_batch_norm_inference},
    {ir::Op::batch_norm_training, resolve_batch_norm_training},
    {ir::Op::batch_norm_grad, resolve_batch_norm_grad},
    {ir::Op::bitcast_convert, resolve_bitcast_convert},
    {ir::Op::reduce, resolve_reduce},
    {ir::Op::reduce_window, resolve_reduce_window},
    {ir::Op::select_and_scatter, resolve_select_and_scatter},
    {ir::Op::topk, resolve_topk},
    {ir::Op::scatter, resolve_scatter},
    {ir::Op::while_loop, resolve_while},
    {ir::Op::conditional, resolve_conditional},
});

constexpr auto resolvers = [] {
  std::array<Resolver, ir::op_table.size()> table{};
  for (const ResolverRow& row : resolver_rows) table[index(row.op)] = row.resolve;
  return table;
}();

}  // namespace

void GraphBuilder::fail(const HloInstruction& instruction, std::string message, std::string hint) const {
  HloLexer(module().text, module().file).fail_at(instruction.offset, std::move(message), std::move(hint));
}

const HloComputation& GraphBuilder::computation_called(const HloInstruction& instruction, std::string_view name) const {
  const std::int32_t index = module().computation_named(name);
  if (index >= 0) return module().computations[index];
  std::vector<std::string_view> known;
  for (const auto& entry : module().computation_names)
    if (known.size() < 1000) known.push_back(entry.first);
  const std::string_view near = nearest(name, known);
  fail(instruction, fmt::format("found '{}' calling '{}', expected the name of a computation", instruction.name, name),
       near.empty() ? "the text may be truncated" : fmt::format("did you mean '{}'?", near));
}

const HloComputation& GraphBuilder::find_computation(const HloInstruction& instruction,
                                                     std::string_view attribute) const {
  const std::string_view name = module().attribute(instruction, attribute);
  if (name.empty())
    fail(instruction, fmt::format("found '{}' without '{}', expected '{}=' and a computation", instruction.opcode,
                                  attribute, attribute));
  return computation_called(instruction, name);
}

void GraphBuilder::walk_graph(const HloComputation& computation) {
  Frame frame;
  frame.computation = &computation;
  is_entry_ = &computation == &module().computations[static_cast<std::size_t>(module().entry)];
  number_parameters(frame);
  walk(frame);
  const HloValue root = frame.values[computation.root];
  const auto outputs = leaves(root);
  graph_.outputs.assign(outputs.begin(), outputs.end());
}

HloValue GraphBuilder::inline_computation(const HloInstruction& caller, const HloComputation& callee,
                                          const Frame& frame, Pass counted) {
  if (callee.parameters != caller.operands)
    fail(caller, fmt::format("found '{}' passing {} operands to '{}', expected {}", caller.name, caller.operands,
                             callee.name, callee.parameters));
  std::vector<HloValue> arguments;
  for (std::int32_t i = 0; i < caller.operands; ++i) arguments.push_back(operand(caller, i, frame));
  ledger().add(counted, 1, 0, 1);
  return inline_with(callee, arguments, full_name(caller, frame) + "/", counted);
}

HloValue GraphBuilder::inline_with(const HloComputation& callee, std::span<const HloValue> arguments,
                                   std::string prefix, Pass counted) {
  Frame inner;
  inner.computation = &callee;
  inner.prefix = std::move(prefix);
  inner.arguments = arguments;
  inner.inlined = true;
  ledger().add(counted, 0, callee.count, callee.parameters);
  walk(inner);
  return inner.values[callee.root];
}

std::int32_t GraphBuilder::find_or_add_body(const HloComputation& computation) {
  const auto index = static_cast<std::int32_t>(&computation - module().computations.data());
  if (const auto known = bodies_.find(index); known != bodies_.end()) return known->second;
  GraphBuilder inner(context_, computation.name);
  ledger().add(Pass::bodies, 1, computation.count, 0);
  inner.walk_graph(computation);
  graph_.bodies.push_back(std::move(inner).graph());
  const auto made = static_cast<std::int32_t>(graph_.bodies.size()) - 1;
  bodies_.emplace(index, made);
  return made;
}

std::pair<std::int32_t, bool> GraphBuilder::find_or_add_body(ir::Graph&& body) {
  const auto known = std::find(graph_.bodies.begin(), graph_.bodies.end(), body);
  const bool is_new = known == graph_.bodies.end();
  const auto number = static_cast<std::int32_t>(known - graph_.bodies.begin());
  if (is_new) graph_.bodies.push_back(std::move(body));
  return {number, is_new};
}

void GraphBuilder::walk(Frame& frame) {
  const HloComputation& computation = *frame.computation;
  const auto index = &computation - module().computations.data();
  const HloInstruction& first = module().instructions_of(computation)[0];
  if (context_.active[index] != 0)
    fail(first, fmt::format("found computation '{}' calling itself, expected calls without a cycle", computation.name));
  if (std::count(context_.active.begin(), context_.active.end(), 1) > max_nesting)
    fail(first, fmt::format("found calls nested more than {} deep, expected fewer", max_nesting));
  context_.instances += computation.count;
  if (context_.instances > max_instances)
    fail(first, fmt::format("found more than {} instructions once calls are inlined, expected fewer", max_instances),
         "calls that call others twice grow without bound");
  context_.active[index] = 1;
  frame.values.resize(static_cast<std::size_t>(computation.count));
  if (computation.sorted) {
    for (std::int32_t i = 0; i < computation.count; ++i) walk_instruction(frame, i);
  } else {
    for (const std::int32_t i : sorted_order(frame)) walk_instruction(frame, i);
  }
  context_.active[index] = 0;
}

/// Operands before users, else in the text's order. Throws when an instruction needs itself.
std::vector<std::int32_t> GraphBuilder::sorted_order(const Frame& frame) const {
  const auto instructions = module().instructions_of(*frame.computation);
  IndexedVector<std::uint8_t> state(instructions.size(), 0);  // 1: on the stack, 2: placed
  std::vector<std::int32_t> order;
  std::vector<std::pair<std::int32_t, std::int32_t>> stack;  // instruction, next operand
  for (std::int32_t start = 0; start < frame.computation->count; ++start) {
    if (state[start] == 0) stack.emplace_back(start, 0);
    while (!stack.empty()) {
      auto& [index, next] = stack.back();
      const HloInstruction& instruction = instructions[index];
      state[index] = 1;
      if (next == instruction.operands) {
        state[index] = 2;
        order.push_back(index);
        stack.pop_back();
        continue;
      }
      const std::int32_t operand = module().operands_of(instruction)[next++].instruction;
      const std::uint8_t seen = state[operand];
      if (seen == 1)
        fail(instruction, fmt::format("found '{}' needing its own result, expected no cycle", instruction.name));
      if (seen == 0) stack.emplace_back(operand, 0);
    }
  }
  return order;
}

void GraphBuilder::walk_instruction(Frame& frame, std::int32_t index) {
  stop_if_asked(module().stop);
  const HloInstruction& instruction = module().instructions_of(*frame.computation)[index];
  HloValue& value = frame.values[index];
  const Resolver resolve = resolvers[ir::index(instruction.op)];
  if (instruction.op == ir::Op::parameter)
    value = parameter_value(instruction, frame);
  else if (resolve != nullptr)
    value = resolve(*this, frame, instruction);
  else if (instruction.op == ir::Op::opaque && instruction.opcode.ends_with("-start"))
    value = resolve_wrapped_start(*this, frame, instruction);
  else if (instruction.op == ir::Op::opaque && instruction.operands == 1 &&
           (instruction.opcode.ends_with("-done") || instruction.opcode.ends_with("-update")))
    value = resolve_async_done(*this, frame, instruction);
  else
    value = add_plain(instruction, frame, instruction.op, module().type_of(instruction));
}

std::int64_t GraphBuilder::parameter_number(const HloInstruction& instruction, const Frame& frame) const {
  std::int64_t number = -1;
  const std::string_view text = trim(instruction.payload);
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || end != text.data() + text.size() || number < 0 || number >= frame.computation->parameters)
    fail(instruction,
         fmt::format("found parameter({}), expected a number from 0 to {}", text, frame.computation->parameters - 1));
  return number;
}

void GraphBuilder::number_parameters(const Frame& frame) {
  const HloComputation& computation = *frame.computation;
  IndexedVector<std::int64_t> leaf_counts(static_cast<std::size_t>(computation.parameters), -1);
  for (const HloInstruction& instruction : module().instructions_of(computation)) {
    if (instruction.op != ir::Op::parameter) continue;
    std::int64_t& leaf_count = leaf_counts[parameter_number(instruction, frame)];
    if (leaf_count >= 0)
      fail(instruction, fmt::format("found a second parameter({}), expected one", trim(instruction.payload)));
    leaf_count = module().type_of(instruction).shapes;
  }
  std::int64_t next = 0;
  for (const std::int64_t leaf_count : leaf_counts) {
    parameter_starts_.push_back(next);
    next += leaf_count;
  }
}

HloValue GraphBuilder::parameter_value(const HloInstruction& instruction, const Frame& frame) {
  const std::int64_t number = parameter_number(instruction, frame);
  const HloType& type = module().type_of(instruction);
  if (frame.inlined) {
    const HloValue& argument = frame.arguments[number];
    const auto given = leaves(argument);
    const auto wanted = module().shapes_of(type);
    bool fits = given.size() == wanted.size();
    for (std::size_t i = 0; fits && i < given.size(); ++i) {
      const ir::Shape& shape = graph_[given[i]].shape;
      fits = shape.dtype == wanted[i].dtype && shape.dims == wanted[i].dims;
      if (!fits && given.size() == 1)
        fail(instruction, fmt::format("found {} passed to parameter '{}', expected {}", text(shape), instruction.name,
                                      text(wanted[i])));
    }
    if (!fits)
      fail(instruction, fmt::format("found a tuple passed to parameter '{}' that does not fit its type, expected equal "
                                    "shapes",
                                    instruction.name));
    return argument;
  }
  std::vector<ir::NodeId> made;
  const auto shapes = module().shapes_of(type);
  ledger().add(Pass::tuples, 0, static_cast<std::int64_t>(shapes.size()), 1);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    ir::Node node;
    node.op = ir::Op::parameter;
    node.shape = shapes[i];
    node.attributes = ir::ParameterNumber{parameter_starts_[number] + static_cast<std::int64_t>(i)};
    node.name = type.children < 0 ? std::string(instruction.name) : fmt::format("{}#{}", instruction.name, i);
    made.push_back(add_node(std::move(node), instruction));
  }
  return add_value(made, type);
}

ir::NodeId GraphBuilder::add_node(ir::Node&& node, const HloInstruction& from) {
  graph_.nodes.push_back(std::move(node));
  offsets_.push_back(from.offset);
  return static_cast<ir::NodeId>(graph_.nodes.size()) - 1;
}

HloValue GraphBuilder::add_value(std::span<const ir::NodeId> nodes, const HloType& type) {
  const HloValue value{static_cast<std::int32_t>(leaves_.size()), static_cast<std::int32_t>(nodes.size()), &type};
  leaves_.insert(leaves_.end(), nodes.begin(), nodes.end());
  return value;
}

HloValue GraphBuilder::part(const HloInstruction& instruction, const HloValue& whole, std::int64_t index) const {
  if (whole.type->children < 0 || index < 0 || index >= whole.type->children)
    fail(instruction, fmt::format("found element {} of a value with {} elements, expected a smaller index", index,
                                  std::max(whole.type->children, 0)));
  const HloType& type = module().child(*whole.type, static_cast<std::int32_t>(index));
  return {whole.first + (type.first_shape - whole.type->first_shape), type.shapes, &type};
}

const HloValue& GraphBuilder::checked(const HloInstruction& instruction, const HloValue& value) const {
  const auto wanted = module().shapes_of(module().type_of(instruction));
  const auto given = leaves(value);
  bool fits = given.size() == wanted.size();
  for (std::size_t i = 0; fits && i < given.size(); ++i) {
    const ir::Shape& shape = graph_[given[i]].shape;
    fits = shape.dtype == wanted[i].dtype && shape.dims == wanted[i].dims;
    if (!fits)
      fail(instruction, fmt::format("found '{}' printed as {}, expected {} as its operand gives", instruction.name,
                                    text(wanted[i]), text(shape)));
  }
  if (!fits)
    fail(instruction,
         fmt::format("found '{}' printed with {} arrays, expected {}", instruction.name, wanted.size(), given.size()));
  return value;
}

HloValue GraphBuilder::operand(const HloInstruction& instruction, std::int32_t index, const Frame& frame) const {
  const HloOperand& operand = module().operands_of(instruction)[index];
  HloValue value = frame.values[operand.instruction];
  for (std::int32_t i = 0; i < operand.indices; ++i)
    value = part(instruction, value, module().indices[operand.first_index + i]);
  return value;
}

std::vector<ir::NodeId> GraphBuilder::flat_operands(const HloInstruction& instruction, const Frame& frame,
                                                    std::int32_t from) const {
  std::vector<ir::NodeId> flat;
  flat.reserve(static_cast<std::size_t>(instruction.operands));
  for (std::int32_t i = from; i < instruction.operands; ++i) {
    const auto nodes = leaves(operand(instruction, i, frame));
    flat.insert(flat.end(), nodes.begin(), nodes.end());
  }
  return flat;
}

std::string GraphBuilder::full_name(const HloInstruction& instruction, const Frame& frame) const {
  std::string name;
  name.reserve(frame.prefix.size() + instruction.name.size());
  name += frame.prefix;
  name += instruction.name;
  return name;
}

namespace {

/// XLA writes bitcast for both: the same memory read through another shape, and the same bits read as another type.
/// The second computes at every element; what moves elements may not hide it.
bool reads_bits_as_another_type(const ir::Node& node, const ir::Shape& operand) {
  return node.op == ir::Op::bitcast && node.shape.dtype != operand.dtype && node.shape.dims == operand.dims &&
         node.shape.same_layout(operand) && row(node.shape.dtype).bits == row(operand.dtype).bits;
}

}  // namespace

ir::Node GraphBuilder::plain_node(const HloInstruction& instruction, const Frame& frame, ir::Op op,
                                  const HloType& type) {
  ir::Node node;
  node.op = op;
  node.name = full_name(instruction, frame);
  node.operands = flat_operands(instruction, frame);
  const auto shapes = module().shapes_of(type);
  if (type.children < 0) {
    node.shape = shapes[0];
  } else {
    node.shape = make_shape(ir::DType::tuple, {});
    node.results.assign(shapes.begin(), shapes.end());
  }
  if (node.operands.size() == 1 && reads_bits_as_another_type(node, graph_[node.operands[0]].shape))
    node.op = ir::Op::bitcast_convert;
  node.attributes = ir::make_attributes(node.op);
  if (auto* unknown = std::get_if<ir::UnknownOperation>(&node.attributes)) {
    note_opaque(instruction.opcode);
    unknown->opcode = instruction.opcode;
  }
  fill_attributes(*this, instruction, node);
  if (auto* call = std::get_if<ir::LibraryOptions>(&node.attributes)) call->flops = library_flops(graph_, node, shapes);
  return node;
}

HloValue GraphBuilder::add_plain(const HloInstruction& instruction, const Frame& frame, ir::Op op,
                                 const HloType& type) {
  return add_result(plain_node(instruction, frame, op, type), type, instruction);
}

void GraphBuilder::check(const ir::Node& node, const HloInstruction& from) const {
  with_position([&] { return HloLexer(module().text, module().file).position(from.offset); },
                [&] {
                  const ir::Checked checked{graph_, node};
                  const int arity = row(node.op).arity;
                  if (arity >= 0 && static_cast<int>(node.operands.size()) != arity)
                    refuse(checked, fmt::format("{} operands", node.operands.size()), fmt::format("{}", arity));
                  verify_shapes(checked);
                });
}

HloValue GraphBuilder::add_result(ir::Node&& node, const HloType& type, const HloInstruction& from) {
  const auto shapes = module().shapes_of(type);
  if (type.children >= 0) {
    node.shape = make_shape(ir::DType::tuple, {});
    node.results.assign(shapes.begin(), shapes.end());
  }
  check(node, from);
  if (type.children < 0) {
    const ir::NodeId id = add_node(std::move(node), from);
    return add_value({&id, 1}, type);
  }
  const std::string name = node.name;
  const ir::NodeId id = add_node(std::move(node), from);
  std::vector<ir::NodeId> picked;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    ir::Node pick;
    pick.op = ir::Op::get_tuple_element;
    pick.shape = shapes[i];
    pick.operands = {id};
    pick.attributes = ir::TupleIndex{static_cast<std::int64_t>(i)};
    pick.name = fmt::format("{}#{}", name, i);
    picked.push_back(add_node(std::move(pick), from));
  }
  ledger().add(Pass::tuples, 0, static_cast<std::int64_t>(shapes.size()), 0);
  return add_value(picked, type);
}

namespace {

void count_word(std::vector<std::pair<std::string, std::int64_t>>& list, std::string_view word) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.first == word; });
  if (at == list.end())
    list.emplace_back(std::string(word), 1);
  else
    ++at->second;
}

}  // namespace

void GraphBuilder::note_opaque(std::string_view what) { count_word(context_.opaque, what); }

void GraphBuilder::note_unknown_call(std::string_view target) { count_word(context_.unknown_calls, target); }

void GraphBuilder::open_group(const HloInstruction& fusion, const Frame& frame) {
  if (++group_depth_ > 1) return;  // a fusion inside a fusion is part of the outer one
  ir::GivenGroup group;
  group.name = full_name(fusion, frame);
  group.kind = fusion.op == ir::Op::async_start ? "async" : module().attribute(fusion, "kind");
  const std::string_view config = module().attribute(fusion, "backend_config");
  constexpr std::string_view key = "\"kind\":\"";
  if (const std::size_t at = config.find(key); at != config.npos) {
    const std::string_view rest = config.substr(at + key.size());
    group.kind += rest.substr(0, rest.find('"'));
  }
  graph_.given.push_back(std::move(group));
  group_start_ = static_cast<ir::NodeId>(graph_.nodes.size());
}

void GraphBuilder::close_group() {
  if (--group_depth_ > 0) return;
  for (ir::NodeId id = group_start_; id < static_cast<ir::NodeId>(graph_.nodes.size()); ++id)
    graph_.given.back().nodes.push_back(id);
}

}  // namespace tailor::hlo
