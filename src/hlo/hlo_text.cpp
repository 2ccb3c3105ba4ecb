// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Writing a module. In: a graph with its bodies, and the borders of its groups. Out: HLO text. Called by study where
// somebody asks for the fused module as a file.
//
// A group becomes a computation whose parameters are what its border reads and whose root is what it writes, a tuple
// where that is several values; the nodes between stand in the order of the border, which is operands before users.
// Free nodes are written in every group that needs one, as XLA does it, and once outside where something outside reads
// them; the importer makes one node of equal ones again. So the text says the same graph, and a fusion instruction for
// each group.
//
// Outside of the groups instructions stand in an order that data allows. It is a depth-first walk over units, which are
// fusions and single nodes: first all parameters, then the fusions in their order, then what runs by itself, then the
// results, each after what it reads. That keeps the order of groups as far as data allows, which matters where several
// compute one value and the first of them owns it. The walk has a stack of its own, because chains are long; a unit
// that is met again while it is open closes a circle, which no text can hold.
//
// A loop's state is a tuple where the loop has several results: its bodies get one parameter and take it apart. So does
// a branch unless it has one parameter. Regions with a known meaning are written once per operation and type; others
// are the graphs that the node holds. A computation is appended to the text when it is complete, and it completes those
// that it calls first, so whoever reads the text has met every computation before it is called.
#include "hlo/hlo_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/stop.h"
#include "hlo/hlo_instruction_text.h"

namespace tailor::hlo {

using namespace ir;

namespace {

/// What HLO's lexers take for a name behind '%'.
std::string plain_name(std::string_view words) {
  std::string name;
  for (const char c : words) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool later = (c >= '0' && c <= '9') || c == '.' || c == '-';
    if (!letter && name.empty()) name += '_';
    if (letter || later)
      name += c;
    else if (name != "_")
      name += c == '/' ? '.' : '_';
  }
  return name;
}

/// Names of one scope, all different.
class NameSet {
 public:
  std::string fresh(const std::string& wish) {
    std::string name = wish;
    for (std::int64_t& count = next_[wish]; !used_.insert(name).second;) name = fmt::format("{}.{}", wish, ++count);
    return name;
  }

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, std::int64_t> next_;
};

/// How a graph stands as a computation: what calls it decides.
struct Signature {
  bool tuple_parameter = false;  ///< one parameter that holds all
  bool tuple_result = false;
  auto operator<=>(const Signature&) const = default;
};

const WrittenGroups nothing_fused;

class ModuleText {
 public:
  explicit ModuleText(const std::stop_token& stop) : stop_(stop) {}

  void append(const std::string& computation) { out_ += computation + "\n"; }
  std::string fresh(const std::string& wish) { return names_.fresh(plain_name(wish)); }
  const std::stop_token& stop() const { return stop_; }
  std::string take() { return std::move(out_); }

  /// The region that combines two numbers.
  const std::string& region(Reducer reducer, DType dtype) {
    std::string& name = regions_[{reducer, dtype}];
    if (!name.empty()) return name;
    const std::string_view op = row(op_of(reducer)).hlo, type = ir::name(dtype);
    name = fresh(fmt::format("{}_{}", op, type));
    append(
        fmt::format("%{0} {{\n  %a = {1}[] parameter(0)\n  %b = {1}[] parameter(1)\n"
                    "  ROOT %c = {1}[] {2}(%a, %b)\n}}\n",
                    name, type, op));
    return name;
  }

 private:
  const std::stop_token& stop_;
  NameSet names_;
  std::map<std::pair<Reducer, DType>, std::string> regions_;
  std::string out_;
};

/// One graph: the computation it becomes, those of its fusions, and those that its nodes call.
class GraphText {
 public:
  GraphText(const Graph& graph, const WrittenGroups& groups, ModuleText& module)
      : graph_(graph),
        groups_(groups),
        module_(module),
        names_(hlo_names(graph)),
        values_(names_),
        maker_(graph.nodes.size(), -1),
        bare_(groups.fusions.size(), false) {
    for (const std::string& name : names_) used_.fresh(name);
    std::vector<std::uint8_t> times(graph.nodes.size(), 0);
    for (const WrittenFusion& fusion : groups.fusions)
      for (const NodeId id : fusion.border.inside)
        times[index(id)] = static_cast<std::uint8_t>(std::min(2, times[index(id)] + 1));
    for (std::size_t f = 0; f < groups.fusions.size(); ++f) {
      const Boundary& border = groups.fusions[f].border;
      bare_[f] = border.inside.size() == 1 && times[index(border.inside.front())] == 1;
      if (bare_[f]) continue;
      for (const NodeId id : border.writes)
        if (maker_[index(id)] < 0) maker_[index(id)] = static_cast<std::int32_t>(f);
    }
  }

  /// The name of the computation.
  std::string write(const Signature& form, const std::string& wish, bool entry) {
    open_parameters(form);
    for (std::size_t f = 0; f < groups_.fusions.size(); ++f) visit(f);
    const std::size_t first = groups_.fusions.size();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (runs_alone(static_cast<NodeId>(i))) visit(first + i);
    for (const NodeId output : graph_.outputs) visit(unit_of(output));
    close();
    const std::string name = module_.fresh(wish);
    module_.append(fmt::format("{}%{} {{\n{}}}\n", entry ? "ENTRY " : "", name, body_));
    return name;
  }

 private:
  static bool runs_by_class(OpClass kind) {
    return kind == OpClass::library || kind == OpClass::control || kind == OpClass::communication ||
           kind == OpClass::opaque;
  }
  bool runs_alone(NodeId id) const {
    return runs_by_class(class_of(graph_[id].op)) && (groups_.fusions.empty() || !computed_inside(id));
  }
  bool computed_inside(NodeId id) const {
    if (inside_.empty()) {
      inside_.resize(graph_.nodes.size(), false);
      for (const WrittenFusion& fusion : groups_.fusions)
        for (const NodeId member : fusion.border.inside) inside_[index(member)] = true;
    }
    return inside_[index(id)];
  }

  // --- order ------------------------------------------------------------------------------------------------------
  std::size_t unit_of(NodeId value) const {
    const std::int32_t fusion = maker_[index(value)];
    return fusion >= 0 ? static_cast<std::size_t>(fusion) : groups_.fusions.size() + index(value);
  }
  const std::vector<NodeId>& read_by(std::size_t unit) const {
    const std::size_t fusions = groups_.fusions.size();
    return unit < fusions ? groups_.fusions[unit].border.reads : graph_.nodes[unit - fusions].operands;
  }

  void visit(std::size_t start) {
    const std::size_t fusions = groups_.fusions.size();
    if (start < fusions && bare_[start]) start = fusions + index(groups_.fusions[start].border.inside.front());
    if (states_.empty()) states_.resize(fusions + graph_.nodes.size(), State::fresh);
    if (states_[start] != State::fresh) return;
    std::vector<std::pair<std::size_t, std::size_t>> stack{{start, 0}};
    states_[start] = State::open;
    while (!stack.empty()) {
      const std::size_t unit = stack.back().first;
      const std::vector<NodeId>& reads = read_by(unit);
      if (stack.back().second == reads.size()) {
        states_[unit] = State::done;
        stack.pop_back();
        emit(unit);
        continue;
      }
      const NodeId value = reads[stack.back().second++];
      const std::size_t other = unit_of(value);
      if (states_[other] == State::open)
        throw Error(Fault::failed,
                    fmt::format("the group that computes %{} and what reads it wait for each other in a circle: HLO "
                                "cannot say this",
                                graph_[value].name));
      if (states_[other] == State::done) continue;
      states_[other] = State::open;
      stack.emplace_back(other, 0);
    }
  }

  // --- text -------------------------------------------------------------------------------------------------------
  void emit(std::size_t unit) {
    stop_if_asked(module_.stop());
    if (unit < groups_.fusions.size()) return emit_fusion(groups_.fusions[unit]);
    const auto id = static_cast<NodeId>(unit - groups_.fusions.size());
    const bool root = !tuple_result_ && graph_.outputs.front() == id;
    instruction(body_, id, values_, root);
  }

  void emit_fusion(const WrittenFusion& fusion) {
    const Boundary& border = fusion.border;
    std::string name = used_.fresh(plain_name(fusion.name));
    std::string inner;
    for (std::size_t i = 0; i < border.reads.size(); ++i)
      inner += fmt::format("  %{} = {} parameter({})\n", names_[index(border.reads[i])],
                           type_text(graph_[border.reads[i]]), i);
    const bool single = border.writes.size() == 1;
    for (const NodeId id : border.inside) instruction(inner, id, names_, single && id == border.writes.front());
    std::vector<Shape> shapes;
    for (const NodeId id : border.writes) shapes.push_back(graph_[id].shape);
    const std::string type = single ? type_text(graph_[border.writes.front()]) : tuple_type_text(shapes);
    if (!single)
      inner +=
          fmt::format("  ROOT %{} = {} tuple({})\n", used_.fresh("results"), type, names_of(border.writes, names_));
    const std::string computation = module_.fresh("fused_" + name);
    module_.append(fmt::format("%{} {{\n{}}}\n", computation, inner));
    const auto own = static_cast<std::int32_t>(&fusion - groups_.fusions.data());
    const auto is_root = [&](NodeId id) {
      return !tuple_result_ && graph_.outputs.front() == id && maker_[index(id)] == own;
    };
    const bool root = single && is_root(border.writes.front());
    body_ += fmt::format("  {}%{} = {} fusion({}), kind={}, calls=%{}\n", root ? "ROOT " : "", name, type,
                         names_of(border.reads, values_), fusion.kind, computation);
    for (std::size_t i = 0; i < border.writes.size(); ++i) {
      const NodeId id = border.writes[i];
      if (maker_[index(id)] != own) continue;
      if (single)
        values_[index(id)] = name;
      else
        body_ += fmt::format("  {}%{} = {} get-tuple-element(%{}), index={}\n", is_root(id) ? "ROOT " : "",
                             names_[index(id)], type_text(graph_[id]), name, i);
    }
  }

  template <class Ids>
  std::string names_of(const Ids& ids, const std::vector<std::string>& names) const {
    std::string out;
    for (const NodeId id : ids) {
      out += out.empty() ? "%" : ", %";
      out += names[index(id)];
    }
    return out;
  }

  void instruction(std::string& out, NodeId id, const std::vector<std::string>& names, bool root) {
    const Node& node = graph_[id];
    if (node.op == Op::parameter) return parameter(out, id, root);
    std::string operands, called;
    if (node.op == Op::constant)
      operands = literal_text(node, module_.stop());
    else if (node.op == Op::while_loop)
      operands = state(out, id, names, 0, node.operands.size(), node.shape.dtype == DType::tuple);
    else if (node.op == Op::conditional)
      operands = branch_operands(out, id, names);
    else
      operands = names_of(node.operands, names);
    out += fmt::format("  {}%{} = {} {}({}){}{}\n", root ? "ROOT " : "", names_[index(id)], type_text(node),
                       opcode_text(node), operands, attributes_text(graph_, node), calls(node));
  }

  /// Operands from..to as one operand: itself, or the tuple of them.
  std::string state(std::string& out, NodeId id, const std::vector<std::string>& names, std::size_t from,
                    std::size_t to, bool as_tuple) {
    const Node& node = graph_[id];
    const std::vector<NodeId> operands(node.operands.begin() + static_cast<std::ptrdiff_t>(from),
                                       node.operands.begin() + static_cast<std::ptrdiff_t>(to));
    if (!as_tuple) return names_of(operands, names);
    std::vector<Shape> shapes;
    for (const NodeId operand : operands) shapes.push_back(graph_[operand].shape);
    const std::string name = used_.fresh(names_[index(id)] + ".state");
    out += fmt::format("  %{} = {} tuple({})\n", name, tuple_type_text(shapes), names_of(operands, names));
    return "%" + name;
  }

  std::string branch_operands(std::string& out, NodeId id, const std::vector<std::string>& names) {
    const Node& node = graph_[id];
    std::string operands = "%" + names[index(node.operands.front())];
    std::size_t from = 1;
    for (const std::int32_t branch : node.bodies) {
      const std::size_t count = parameters(graph_.bodies[index(branch)]).size();
      operands += ", " + state(out, id, names, from, from + count, count != 1);
      from += count;
    }
    return operands;
  }

  /// Attributes that name computations.
  std::string calls(const Node& node) {
    const bool tuple = node.shape.dtype == DType::tuple;
    if (node.op == Op::while_loop)
      return fmt::format(", condition=%{}, body=%{}", body(node.bodies[0], {tuple, false}, true),
                         body(node.bodies[1], {tuple, tuple}, true));
    if (node.op == Op::conditional) return branches(node, tuple);
    if (node.op == Op::select_and_scatter)
      return fmt::format(", select=%{}, scatter=%{}", body(node.bodies[0], {}, false), body(node.bodies[1], {}, false));
    const bool compares = node.op == Op::sort;  // its comparator says yes or no, however many arrays it puts in order
    if (!node.bodies.empty())
      return fmt::format(", to_apply=%{}", body(node.bodies[0], {false, tuple && !compares}, false));
    const Reducer known = reducer(node);
    if (known == Reducer::none || known == Reducer::custom) return "";
    return fmt::format(", to_apply=%{}", module_.region(known, graph_[node.operands[0]].shape.dtype));
  }

  std::string branches(const Node& node, bool tuple) {
    std::vector<std::string> names;
    for (const std::int32_t branch : node.bodies)
      names.push_back(body(branch, {parameters(graph_.bodies[index(branch)]).size() != 1, tuple}, true));
    if (graph_[node.operands[0]].shape.dtype == DType::pred && names.size() == 2)
      return fmt::format(", true_computation=%{}, false_computation=%{}", names[0], names[1]);
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "%" : ", %") + name;
    return fmt::format(", branch_computations={{{}}}", list);
  }

  /// The computation of a body in a form; written when it is first called.
  const std::string& body(std::int32_t number, const Signature& form, bool fused) {
    const auto [place, fresh] = bodies_.try_emplace({number, form, fused});
    if (fresh) {
      const Graph& called = graph_.bodies[index(number)];
      const bool cut = fused && index(number) < groups_.bodies.size();
      const WrittenGroups& groups = cut ? groups_.bodies[index(number)] : nothing_fused;
      place->second = GraphText(called, groups, module_).write(form, called.name, false);
    }
    return place->second;
  }

  // --- the computation's own parameters and root ------------------------------------------------------------------
  void open_parameters(const Signature& form) {
    tuple_result_ = form.tuple_result || graph_.outputs.size() != 1;
    const std::vector<NodeId> all = parameters(graph_);
    if (form.tuple_parameter) {
      std::vector<Shape> shapes;
      for (const NodeId id : all) shapes.push_back(graph_[id].shape);
      // "arg#0", "arg#1" are parts of one parameter of the file that was read.
      const std::string first = all.empty() ? "" : graph_[all.front()].name;
      const std::string whole = first.ends_with("#0") ? first.substr(0, first.size() - 2) : "state";
      state_name_ = used_.fresh(plain_name(whole));
      body_ += fmt::format("  %{} = {} parameter(0)\n", state_name_, tuple_type_text(shapes));
    }
    for (const NodeId id : all) visit(groups_.fusions.size() + index(id));
  }

  void parameter(std::string& out, NodeId id, bool root) const {
    const Node& node = graph_[id];
    const std::int64_t number = parameter_number(node);
    const std::string from = state_name_.empty() ? fmt::format("parameter({})", number)
                                                 : fmt::format("get-tuple-element(%{}), index={}", state_name_, number);
    out += fmt::format("  {}%{} = {} {}\n", root ? "ROOT " : "", names_[index(id)], type_text(node), from);
  }

  void close() {
    if (!tuple_result_) return;
    std::vector<Shape> shapes;
    for (const NodeId output : graph_.outputs) shapes.push_back(graph_[output].shape);
    body_ += fmt::format("  ROOT %{} = {} tuple({})\n", used_.fresh("results"), tuple_type_text(shapes),
                         names_of(graph_.outputs, values_));
  }

  enum class State : std::uint8_t { fresh, open, done };

  const Graph& graph_;
  const WrittenGroups& groups_;
  ModuleText& module_;
  std::vector<std::string> names_;   ///< of nodes
  std::vector<std::string> values_;  ///< what outside of fusions stands for a node's value
  std::vector<std::int32_t> maker_;  ///< the fusion that writes it; -1: an instruction of its own
  std::vector<bool> bare_;           ///< fusions that are written as their one instruction
  mutable std::vector<bool> inside_;
  std::vector<State> states_;
  NameSet used_;
  std::map<std::tuple<std::int32_t, Signature, bool>, std::string> bodies_;
  std::string state_name_;
  bool tuple_result_ = false;
  std::string body_;
};

std::string alias_text(const Graph& graph) {
  std::string pairs;
  for (const InPlace& pair : graph.in_place) {
    const std::string output = graph.outputs.size() == 1 ? "" : std::to_string(pair.output);
    pairs += fmt::format("{}{{{}}}: ({}, {{}}, may-alias)", pairs.empty() ? " " : ", ", output, pair.parameter);
  }
  return pairs.empty() ? "" : fmt::format(", input_output_alias={{{} }}", pairs);
}

}  // namespace

std::vector<std::string> hlo_names(const Graph& graph) {
  const auto own = [](const std::string& name) { return plain_name(name.substr(name.rfind('/') + 1)); };
  std::unordered_map<std::string, int> times;
  for (const Node& node : graph.nodes) ++times[own(node.name)];
  NameSet used;
  std::vector<std::string> names;
  names.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    std::string name = own(node.name);
    if (times[name] > 1) name = plain_name(node.name);
    if (name.empty()) name = ir::name(node.op);
    names.push_back(used.fresh(name));
  }
  return names;
}

std::string hlo_text(const Graph& graph, const WrittenGroups& groups, const std::stop_token& stop) {
  const std::string name = graph.name.empty() ? "module" : plain_name(graph.name);
  const std::string head = fmt::format("HloModule {}{}\n\n", name, alias_text(graph));
  ModuleText module(stop);
  GraphText(graph, groups, module).write({}, "main", true);
  return head + module.take();
}

}  // namespace tailor::hlo
