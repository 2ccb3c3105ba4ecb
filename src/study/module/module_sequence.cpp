// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole model as one stream of launches. In: a graph, its partition, a kernel and a binary for each group that has
// one. Out: a sequence of launches over shared buffers, with the contents of those that nobody writes. Called by
// tailor profile --module and by tests, which execute it and compare.
//
// Within a graph, groups and single nodes are units that read and write values. A unit is ready when all it reads is
// written, and of the ready ones the first in the graph's own order goes next, so the order is the same on every
// machine and near to what a framework would launch. Groups that wait for one another have no order and are left out
// and counted, like groups without a kernel.
//
// A body of a loop or branch is walked where its node stands. Known trips repeat the body's launches over the same
// buffers; a loop that would make the sequence longer than allowed runs once and is counted as shortened. The
// condition of a loop of known trips is not launched. Every branch of a conditional runs.
//
// Each value has a buffer of its own. A result that is written in place takes over the buffer of its input. Inputs,
// and what a library call would have written, are arrays of random numbers in the ranges that their first reader's
// group asks for (reference/inputs.h); long ones repeat a drawn stretch.
#include "study/module/module_sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <utility>

#include "base/counted.h"
#include "ir/graph/number.h"
#include "reference/inputs.h"

namespace tailor::study {

namespace {

using explore::Occurrence;
using explore::Partition;

/// Elements that are drawn; longer arrays repeat them.
constexpr std::int64_t drawn_elements = 1 << 18;

/// Random bytes for a buffer that nobody in the sequence writes.
std::vector<std::byte> filling(const ir::Buffer& buffer, reference::InputRange range, std::uint64_t seed) {
  range.distinct = false;  // cannot hold for a repeated pattern
  const std::int64_t drawn = std::min(buffer.elements, drawn_elements);
  const std::vector<std::byte> pattern = reference::input_tensor({buffer.dtype, {drawn}, {}}, range, seed).bytes;
  std::vector<std::byte> bytes(static_cast<std::size_t>(buffer.elements * ir::element_bytes(buffer.dtype)));
  for (std::size_t i = 0; i < bytes.size(); i += pattern.size())
    std::copy_n(pattern.begin(), std::min(pattern.size(), bytes.size() - i),
                bytes.begin() + static_cast<std::ptrdiff_t>(i));
  return bytes;
}

/// Something that reads and writes values of one graph: a group at a place, or a node that is in none.
struct Unit {
  const Occurrence* occurrence = nullptr;
  std::size_t group = 0;
  ir::NodeId first = ir::no_node;  ///< decides among the ready
  std::vector<ir::NodeId> reads;
};

class Walk {
 public:
  Walk(const Partition& partition, std::span<const GroupKernel> kernels, profiler::ImageForm form,
       std::int64_t most_launches, ModuleSequence& into)
      : partition_(partition), kernels_(kernels), form_(form), most_launches_(most_launches), into_(into) {
    for (std::size_t g = 0; g < partition.groups.size(); ++g)
      for (const Occurrence& occurrence : partition.groups[g].occurrences)
        by_path_[occurrence.where].emplace_back(g, &occurrence);
  }

  void graph(const ir::Graph& graph, const std::string& where) {
    const std::vector<Unit> units = find_units(graph, where);
    const std::vector<std::size_t> order = find_order(graph, units);
    // Groups that wait for one another have no order.
    std::vector<bool> ordered(units.size(), false);
    for (const std::size_t next : order) ordered[next] = true;
    for (std::size_t u = 0; u < units.size(); ++u)
      into_.groups_left_out += !ordered[u] && units[u].occurrence != nullptr ? 1 : 0;
    for (const std::size_t next : order) {
      const Unit& unit = units[next];
      if (unit.occurrence != nullptr)
        launch(where, unit);
      else if (!graph[unit.first].bodies.empty())
        control(graph, graph[unit.first], where);
    }
  }

  /// Gives every buffer that nobody writes its contents, in order.
  void fill() {
    for (std::size_t i = 0; i < into_.sequence.buffers.size(); ++i) {
      gpu::Buffer& buffer = into_.sequence.buffers[i];
      into_.buffer_bytes += buffer.bytes;
      if (!gpu::brings_contents(buffer)) continue;
      const std::vector<std::byte> bytes = filling(readers_[i].first, readers_[i].second, i + 1);
      into_.contents.insert(into_.contents.end(), bytes.begin(), bytes.end());
    }
  }

 private:
  std::vector<Unit> find_units(const ir::Graph& graph, const std::string& where) const {
    std::vector<Unit> units;
    std::vector<bool> written(graph.nodes.size(), false);
    if (const auto here = by_path_.find(where); here != by_path_.end())
      for (const auto& [group, occurrence] : here->second) {
        Unit unit{occurrence, group, occurrence->nodes.empty() ? 0 : occurrence->nodes.front(), occurrence->reads};
        if (!occurrence->writes.empty()) unit.first = occurrence->writes.front();
        for (const ir::NodeId id : occurrence->writes) written[ir::index(id)] = true;
        units.push_back(std::move(unit));
      }
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      if (!written[i]) units.push_back({nullptr, 0, static_cast<ir::NodeId>(i), graph.nodes[i].operands});
    return units;
  }

  static std::vector<std::size_t> find_order(const ir::Graph& graph, const std::vector<Unit>& units) {
    std::vector<std::size_t> maker(graph.nodes.size(), 0);
    for (std::size_t u = 0; u < units.size(); ++u) {
      if (units[u].occurrence == nullptr) maker[ir::index(units[u].first)] = u;
      if (units[u].occurrence != nullptr)
        for (const ir::NodeId id : units[u].occurrence->writes) maker[ir::index(id)] = u;
    }
    std::vector<std::vector<std::size_t>> users(units.size());
    std::vector<std::size_t> missing(units.size(), 0);
    for (std::size_t u = 0; u < units.size(); ++u)
      for (const ir::NodeId id : units[u].reads)
        if (maker[ir::index(id)] != u) {
          users[maker[ir::index(id)]].push_back(u);
          ++missing[u];
        }
    using Key = std::pair<ir::NodeId, std::size_t>;
    std::priority_queue<Key, std::vector<Key>, std::greater<>> ready;
    for (std::size_t u = 0; u < units.size(); ++u)
      if (missing[u] == 0) ready.emplace(units[u].first, u);
    std::vector<std::size_t> order;
    while (!ready.empty()) {
      const std::size_t u = ready.top().second;
      ready.pop();
      order.push_back(u);
      for (const std::size_t user : users[u])
        if (--missing[user] == 0) ready.emplace(units[user].first, user);
    }
    return order;
  }

  void control(const ir::Graph& graph, const ir::Node& node, const std::string& where) {
    const std::int64_t trips = node.op == ir::Op::while_loop ? trip_count(node) : 0;
    for (std::size_t i = 0; i < node.bodies.size(); ++i) {
      if (i == 0 && trips > 0) continue;  // trips are known: nothing asks whether to go on
      const ir::Graph& body = ir::body(graph, node, i);
      const std::size_t before = into_.sequence.launches.size();
      this->graph(body, explore::body_path(where, node, i));
      if (trips <= 1) continue;
      const std::vector<gpu::Launch> once(into_.sequence.launches.begin() + static_cast<std::ptrdiff_t>(before),
                                          into_.sequence.launches.end());
      if (once.empty()) continue;
      if (trips > (most_launches_ - static_cast<std::int64_t>(before)) / std::ssize(once)) {
        ++into_.shortened_loops;
        continue;
      }
      for (std::int64_t trip = 1; trip < trips; ++trip)
        into_.sequence.launches.insert(into_.sequence.launches.end(), once.begin(), once.end());
    }
  }

  void launch(const std::string& where, const Unit& unit) {
    const GroupKernel& of = kernels_[unit.group];
    if (of.kernel == nullptr || of.binary == nullptr) {
      ++into_.groups_left_out;
      return;
    }
    ++into_.launched_groups;
    std::vector<gpu::Launch> launches = profiler::sequence_of(*of.kernel, *of.binary, form_).launches;
    gpu::Launch& launch = launches.front();
    launch.image = image(*of.binary);
    const std::vector<reference::InputRange> ranges =
        reference::input_ranges(partition_.groups[unit.group].group.graph);
    std::size_t read = 0, write = 0;
    for (std::size_t i = 0; i < of.kernel->buffers.size(); ++i) {
      const ir::Buffer& buffer = of.kernel->buffers[i];
      const auto id = static_cast<ir::BufferId>(i);
      int& place = launch.arguments[i].buffer;
      if (buffer.role == ir::BufferRole::input) {
        place = known(where, unit.occurrence->reads[read], buffer, ranges[read]);
        ++read;
      } else if (buffer.role == ir::BufferRole::in_place) {
        // The partition says that nobody else wants the input any more: from here on the result lies there.
        place = launch.arguments[ir::owner(*of.kernel, id)].buffer;
        buffers_[{where, unit.occurrence->writes[write++]}] = place;
        gpu::BufferRole& role = into_.sequence.buffers[static_cast<std::size_t>(place)].role;
        if (role == gpu::BufferRole::input) role = gpu::BufferRole::in_place;
      } else if (buffer.role == ir::BufferRole::output) {
        place = written(where, unit.occurrence->writes[write++], buffer, ir::memory_role(*of.kernel, id));
      } else {
        place = own(buffer);
      }
    }
    for (gpu::Launch& one : launches) {
      one.image = launch.image;
      one.arguments = launch.arguments;
    }
    into_.sequence.launches.insert(into_.sequence.launches.end(), launches.begin(), launches.end());
  }

  int image(const ir::Binary& binary) {
    const auto [found, fresh] = images_.try_emplace(&binary, static_cast<int>(into_.sequence.images.size()));
    if (fresh) into_.sequence.images.push_back(profiler::image_of(binary, form_));
    return found->second;
  }

  int known(const std::string& where, ir::NodeId id, const ir::Buffer& buffer, const reference::InputRange& range) {
    const auto [found, fresh] = buffers_.try_emplace({where, id}, static_cast<int>(into_.sequence.buffers.size()));
    if (fresh) {
      into_.sequence.buffers.push_back(
          {buffer.name, buffer.elements * ir::element_bytes(buffer.dtype), gpu::BufferRole::input});
      readers_.emplace_back(buffer, range);
    }
    return found->second;
  }

  /// A workspace or ticket, of this launch alone.
  int own(const ir::Buffer& buffer) {
    into_.sequence.buffers.push_back({buffer.name, buffer.elements * ir::element_bytes(buffer.dtype), buffer.role});
    readers_.emplace_back(buffer, reference::InputRange{});
    return static_cast<int>(into_.sequence.buffers.size()) - 1;
  }

  int written(const std::string& where, ir::NodeId id, const ir::Buffer& buffer, ir::BufferRole wanted) {
    const int number = known(where, id, buffer, {});
    gpu::BufferRole& role = into_.sequence.buffers[static_cast<std::size_t>(number)].role;
    if (role != ir::BufferRole::workspace) role = wanted;
    return number;
  }

  const Partition& partition_;
  std::span<const GroupKernel> kernels_;
  profiler::ImageForm form_;
  std::int64_t most_launches_;
  ModuleSequence& into_;
  std::map<std::string, std::vector<std::pair<std::size_t, const Occurrence*>>> by_path_;
  std::map<std::pair<std::string, ir::NodeId>, int> buffers_;
  std::vector<std::pair<ir::Buffer, reference::InputRange>> readers_;  ///< of each buffer, the first
  std::map<const ir::Binary*, int> images_;
};

}  // namespace

ModuleSequence module_sequence(const ir::Graph& graph, const Partition& partition, std::span<const GroupKernel> kernels,
                               profiler::ImageForm form, std::int64_t most_launches) {
  ModuleSequence sequence;
  Walk walk(partition, kernels, form, most_launches, sequence);
  walk.graph(graph, graph.name);
  walk.fill();
  return sequence;
}

namespace {

using Places = std::set<std::pair<std::string, ir::NodeId>>;

void add_left_out(const ir::Graph& graph, const std::string& where, const Places& grouped, const Places& run,
                  WorkPlaces& left_out) {
  const ir::DefUse def_use = ir::def_use(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const ir::Node& node = graph.nodes[i];
    const std::pair place(where, static_cast<ir::NodeId>(i));
    if (def_use.roles[i] == ir::Role::work && grouped.contains(place) && !run.contains(place))
      left_out.emplace(place, node.name);
    for (std::size_t body = 0; body < node.bodies.size() && class_of(node.op) == ir::OpClass::control; ++body)
      add_left_out(graph.bodies[ir::index(node.bodies[body])], explore::body_path(where, node, body), grouped, run,
                   left_out);
  }
}

/// "2 operations (%a, ...)" of those in `these` that are not in `those`; empty when there are none.
std::string not_among(const WorkPlaces& these, const WorkPlaces& those) {
  std::int64_t count = 0;
  std::string first;
  for (const auto& [place, name] : these)
    if (!those.contains(place) && ++count == 1) first = name;
  if (count == 0) return {};
  return count == 1 ? fmt::format("%{}", first) : fmt::format("{} (%{} is one)", counted(count, "operation"), first);
}

}  // namespace

WorkPlaces work_left_out(const ir::Graph& graph, const explore::Partition& partition,
                         std::span<const GroupKernel> kernels) {
  Places grouped, run;
  for (std::size_t g = 0; g < partition.groups.size(); ++g)
    for (const Occurrence& occurrence : partition.groups[g].occurrences)
      for (const ir::NodeId id : occurrence.nodes) {
        grouped.emplace(occurrence.where, id);
        if (kernels[g].kernel != nullptr) run.emplace(occurrence.where, id);
      }
  WorkPlaces left_out;
  if (run.size() < grouped.size()) add_left_out(graph, graph.name, grouped, run, left_out);
  return left_out;
}

std::string work_difference(const std::string& one, const WorkPlaces& left_out, std::int64_t shortened,
                            const std::string& other, const WorkPlaces& others_left_out,
                            std::int64_t others_shortened) {
  std::string words;
  const auto add = [&](const std::string& who, const std::string& what, const std::string& whose) {
    if (what.empty()) return;
    words += fmt::format("{}{} has no kernel for {}, which {} runs", words.empty() ? "" : "; ", who, what, whose);
  };
  add(one, not_among(left_out, others_left_out), other);
  add(other, not_among(others_left_out, left_out), one);
  if (shortened != others_shortened && words.empty())
    words = fmt::format("{} runs one trip of {}, {} of {}", one, counted(shortened, "loop"), other, others_shortened);
  return words;
}

}  // namespace tailor::study
