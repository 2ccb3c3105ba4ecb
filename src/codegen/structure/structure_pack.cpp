// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the pack skeleton recognises, and what it doubts. In: a group with its border. Out: its bodies, or why it is no
// pack; for a doubt, which body alone would be doubted, or what bodies would read twice. Called through the table of
// skeletons, and by prepare() for the bodies themselves.
//
// Recognising. Two nodes are of one part when one uses the other, or both use a third one, as far as they are computed
// inside: union-find over the operands. What a kernel writes as a literal or a view (constants, and broadcasts and
// reshapes of what is read) binds nobody: every part has its own. So a part is a group of its own, with its own border,
// and the other skeletons say what it is. Parts that go over one array are a body together where one loop holds both.
// Parts of equal layout that one kernel can hold without a doubt are one body, since one loop over both shares indices
// and blocks. At least two bodies are left, or it is no pack.
//
// Blocks are handed out in the order of their numbers, so the body with most elements comes first: the short ones fill
// what its last wave leaves idle.
//
// Doubts. Bodies run at about the same time, but not block by block: what two of them read comes from memory for
// each, as far as L2 does not have it still. A group in which that is much is better off in two kernels, or in one
// loop.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "codegen/structure/recognise.h"

namespace tailor::codegen {

using namespace ir;

namespace {

constexpr std::size_t most_bodies = 16;  ///< of a launch: a block looks for its body by halving, its code holds all

/// What is computed inside, by place in Boundary::inside, in parts.
class Parts {
 public:
  Parts(const Graph& graph, const Boundary& border) : graph_(graph), border_(border), parents_(border.inside.size()) {
    std::iota(parents_.begin(), parents_.end(), 0);
    places_.reserve(border.inside.size());
    for (std::size_t i = 0; i < border.inside.size(); ++i) places_.emplace(border.inside[i], i);
    binds_.resize(border.inside.size());
    part_of_.resize(border.inside.size(), 0);
    for (const NodeId id : border.writes)
      if (const auto at = places_.find(id); at != places_.end())
        binds_[at->second] = true;
      else
        copies_ = true;
    for (std::size_t i = 0; i < border.inside.size(); ++i) {
      const Node& node = graph[border.inside[i]];
      if (!is_free(graph, border.inside[i]) && node.op != Op::constant) binds_[i] = true;
      for (const NodeId operand : node.operands)
        if (const auto at = places_.find(operand); at != places_.end() && binds_[at->second]) {
          binds_[i] = true;
          parents_[root(i)] = root(at->second);
        }
    }
  }

  /// Whether there are several, and everything that is written is of one.
  bool apart() { return !copies_ && count() > 1; }

  /// Whether something is written as it was read: nothing computes it, so it is of no part.
  bool copies() const { return copies_; }

  /// The border of each part, in the order of the first that each writes.
  std::vector<BodyBorder> borders() {
    std::vector<BodyBorder> parts;
    std::unordered_map<std::size_t, std::size_t> number;  // by root
    for (std::size_t w = 0; w < border_.writes.size(); ++w) {
      const auto [known, fresh] = number.try_emplace(root(places_.at(border_.writes[w])), parts.size());
      if (fresh) parts.emplace_back();
      parts[known->second].writes.push_back(static_cast<std::int32_t>(w));
    }
    std::vector<std::vector<std::size_t>> inside(parts.size());
    for (std::size_t i = 0; i < parents_.size(); ++i)
      if (binds_[i])
        if (const auto part = number.find(root(i)); part != number.end()) inside[part->second].push_back(i);
    for (std::size_t part = 0; part < parts.size(); ++part) fill(parts[part], std::move(inside[part]));
    return parts;
  }

  /// Several parts as one.
  BodyBorder together(const std::vector<BodyBorder>& parts) {
    BodyBorder all;
    std::vector<std::size_t> inside;
    for (const BodyBorder& part : parts) {
      all.writes.insert(all.writes.end(), part.writes.begin(), part.writes.end());
      for (const NodeId id : part.border.inside) inside.push_back(places_.at(id));
    }
    std::sort(all.writes.begin(), all.writes.end());
    fill(all, std::move(inside));
    return all;
  }

 private:
  std::size_t count() {
    std::size_t found = 0;
    for (std::size_t i = 0; i < parents_.size(); ++i) found += binds_[i] && root(i) == i ? 1 : 0;
    return found;
  }

  std::size_t root(std::size_t at) {
    while (parents_[at] != at) at = parents_[at] = parents_[parents_[at]];
    return at;
  }

  /// The border of these places and of the free nodes that they use; writes are known.
  void fill(BodyBorder& part, std::vector<std::size_t> inside) {
    std::vector<NodeId> read;
    std::sort(inside.begin(), inside.end());
    inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
    ++filled_;
    for (const std::size_t at : inside) part_of_[at] = filled_;
    for (std::size_t i = 0; i < inside.size(); ++i)
      for (const NodeId operand : graph_[border_.inside[inside[i]]].operands) {
        const auto at = places_.find(operand);
        if (at == places_.end())
          read.push_back(operand);
        else if (std::exchange(part_of_[at->second], filled_) != filled_)
          inside.push_back(at->second);
      }
    std::sort(inside.begin(), inside.end());
    for (const std::size_t at : inside) part.border.inside.push_back(border_.inside[at]);
    std::sort(read.begin(), read.end());
    for (std::size_t i = 0; i < border_.reads.size(); ++i)
      if (std::binary_search(read.begin(), read.end(), border_.reads[i])) {
        part.reads.push_back(static_cast<std::int32_t>(i));
        part.border.reads.push_back(border_.reads[i]);
      }
    for (const std::int32_t write : part.writes) part.border.writes.push_back(border_.writes[index(write)]);
    for (const InPlace& pair : border_.in_place) {
      const auto output = std::find(part.writes.begin(), part.writes.end(), pair.output);
      const auto parameter = std::find(part.reads.begin(), part.reads.end(), pair.parameter);
      if (output == part.writes.end() || parameter == part.reads.end()) continue;
      part.border.in_place.push_back({static_cast<std::int32_t>(output - part.writes.begin()),
                                      static_cast<std::int32_t>(parameter - part.reads.begin())});
    }
    const NodeId kept = border_.kept_from_place;
    if (kept != no_node && part_of_[places_.at(kept)] == filled_) part.border.kept_from_place = kept;
  }

  const Graph& graph_;
  const Boundary& border_;
  std::unordered_map<NodeId, std::size_t> places_;  ///< in Boundary::inside
  std::vector<std::size_t> parents_;
  std::vector<bool> binds_;            ///< who uses it is of its part
  std::vector<std::int32_t> part_of_;  ///< the last border that has the place, by their count
  std::int32_t filled_ = 0;            ///< borders so far
  bool copies_ = false;
};

/// The parts as one body, where one loop holds them without a doubt.
std::optional<BodyBorder> as_one_loop(const Graph& graph, Parts& parts, const std::vector<BodyBorder>& of) {
  BodyBorder one = parts.together(of);
  const Classified found = analyse_loop(graph, one.border);
  const auto* layout = std::get_if<Layout>(&found);
  if (layout == nullptr || find_doubt(graph, one.border, *layout)) return std::nullopt;
  one.layout = *layout;
  return one;
}

/// Joins parts that go over the same array, where one loop over it holds both: it is read once then. A part without
/// writes is gone.
void join_readers(const Graph& graph, Parts& parts, const std::vector<NodeId>& reads, std::vector<BodyBorder>& each) {
  std::vector<std::optional<std::size_t>> reader(reads.size());
  for (std::size_t i = 0; i < each.size(); ++i)
    for (const std::int32_t read : std::vector<std::int32_t>(each[i].reads)) {
      std::optional<std::size_t>& before = reader[index(read)];
      if (2 * elements(graph[reads[index(read)]].shape) < elements_of(each[i].layout)) continue;
      if (!before || *before == i || each[*before].writes.empty()) {
        before = i;
        continue;
      }
      std::optional<BodyBorder> one = as_one_loop(graph, parts, {each[*before], each[i]});
      if (!one) continue;
      each[*before] = *std::move(one);
      each[i] = {};
      break;
    }
  std::erase_if(each, [](const BodyBorder& part) { return part.writes.empty(); });
}

}  // namespace

Layout layout_of(Skeleton skeleton, const std::vector<BodyBorder>& bodies) {
  Layout layout{skeleton, std::ssize(bodies), 0, {}};
  for (const BodyBorder& body : bodies) layout.columns += elements_of(body.layout);
  return layout;
}

std::optional<std::int32_t> contested(const std::vector<BodyBorder>& bodies, bool in_order) {
  for (std::size_t body = 0; body < bodies.size(); ++body)
    for (const InPlace& pair : bodies[body].border.in_place) {
      const std::int32_t read = bodies[body].reads[index(pair.parameter)];
      for (std::size_t other = in_order ? body + 1 : 0; other < bodies.size(); ++other)
        if (other != body && std::binary_search(bodies[other].reads.begin(), bodies[other].reads.end(), read))
          return read;
    }
  return std::nullopt;
}

namespace {

std::variant<std::vector<BodyBorder>, Rejection> bodies_of(const Graph& graph, const Boundary& border, Parts& parts) {
  if (parts.copies()) return refuse("bodies", "a value is written as it was read, which is no body's work");
  for (const NodeId id : border.inside)
    if (graph[id].op == Op::scatter)
      return refuse("scatter-beside", fmt::format("scatter %{} has launches of its own", graph[id].name));
  std::vector<BodyBorder> each = parts.borders();
  for (BodyBorder& part : each) {
    const Classified found = analyse_loop(graph, part.border);
    if (const auto* refused = std::get_if<Rejection>(&found)) return *refused;
    part.layout = std::get<Layout>(found);
  }
  join_readers(graph, parts, border.reads, each);
  std::vector<std::vector<BodyBorder>> alike;  // of equal layout
  for (BodyBorder& part : each) {
    const auto same = std::find_if(alike.begin(), alike.end(),
                                   [&](const auto& others) { return others.front().layout == part.layout; });
    if (same == alike.end())
      alike.push_back({std::move(part)});
    else
      same->push_back(std::move(part));
  }
  std::vector<BodyBorder> bodies;
  for (std::vector<BodyBorder>& same : alike) {
    if (same.size() > 1)
      if (std::optional<BodyBorder> one = as_one_loop(graph, parts, same); one && one->layout == same.front().layout)
        same = {*std::move(one)};
    std::move(same.begin(), same.end(), std::back_inserter(bodies));
  }
  if (bodies.size() < 2) return refuse("bodies", "one body is no pack");
  if (bodies.size() > most_bodies)
    return refuse("bodies", fmt::format("{} bodies, a launch holds at most {}", bodies.size(), most_bodies));
  if (const auto read = contested(bodies, false))
    return refuse("bodies", fmt::format("one body writes over %{}, which another one reads",
                                        graph[border.reads[index(*read)]].name));
  std::stable_sort(bodies.begin(), bodies.end(), [](const BodyBorder& a, const BodyBorder& b) {
    return elements_of(a.layout) > elements_of(b.layout);
  });
  for (BodyBorder& body : bodies)
    for (std::int32_t& write : body.writes) write += static_cast<std::int32_t>(border.reads.size());
  return bodies;
}

}  // namespace

bool falls_apart(const Graph& graph, const Boundary& border) {
  return border.writes.size() > 1 && Parts(graph, border).apart();
}

std::variant<std::vector<BodyBorder>, Rejection> find_bodies(const Graph& graph, const Boundary& border) {
  Parts parts(graph, border);
  return bodies_of(graph, border, parts);
}

std::optional<std::variant<std::vector<BodyBorder>, Rejection>> find_pack(const Graph& graph, const Boundary& border) {
  if (border.writes.size() < 2) return std::nullopt;
  Parts parts(graph, border);
  if (!parts.apart()) return std::nullopt;
  return bodies_of(graph, border, parts);
}

std::optional<Classified> recognise_pack(const Region& region) {
  const auto found = find_pack(region.graph, region.border);
  if (!found) return std::nullopt;
  if (const auto* refused = std::get_if<Rejection>(&*found)) return *refused;
  return layout_of(Skeleton::pack, std::get<std::vector<BodyBorder>>(*found));
}

namespace {

/// Whether what was reduced is needed to go over the same elements again.
bool goes_again(const Region& region, const Layout& layout) {
  const std::unordered_set<NodeId> behind = behind_reductions(region);
  const auto is_behind = [&](NodeId id) { return behind.contains(id); };
  for (const NodeId id : region.inside())
    if (region[id].op == Op::reduce && is_behind(region[id].operands[0])) return true;
  return std::any_of(region.border.writes.begin(), region.border.writes.end(), [&](NodeId id) {
    return is_behind(id) && elements(region.graph[id].shape) == elements_of(layout);
  });
}

/// Blocks would share each row or column of the loop and meet.
bool wants_meetings(const Region& region, const Layout& layout) {
  constexpr std::int64_t of_a_block = std::int64_t{1} << 14;  // elements that one block goes through at ease
  const std::int64_t shared = layout.skeleton == Skeleton::column ? elements_of(layout) : layout.columns;
  return (layout.skeleton == Skeleton::row || layout.skeleton == Skeleton::column) && shared > of_a_block &&
         goes_again(region, layout);
}

}  // namespace

std::optional<Rejection> doubt_alone(const Graph& graph, const BodyBorder& body) {
  if (body.layout.skeleton == Skeleton::pack) {
    const auto found = find_bodies(graph, body.border);
    if (const auto* bodies = std::get_if<std::vector<BodyBorder>>(&found))
      for (const BodyBorder& one : *bodies)
        if (auto doubted = doubt_alone(graph, one)) return doubted;
    return std::nullopt;
  }
  if (!wants_meetings(Region(graph, body.border), body.layout)) return std::nullopt;
  return refuse("bodies",
                fmt::format("{} would be one block's in a stage, where several could share it", text(body.layout)));
}

std::optional<Rejection> doubt_each(const Graph& graph, const std::vector<BodyBorder>& bodies) {
  for (const BodyBorder& body : bodies) {
    if (auto doubted = find_doubt(graph, body.border, body.layout)) return doubted;
    if (auto doubted = doubt_alone(graph, body)) return doubted;
  }
  return std::nullopt;
}

std::optional<Rejection> doubt_bodies(const Graph& graph, const Boundary& border,
                                      const std::vector<BodyBorder>& bodies) {
  constexpr std::int64_t little = 8;  // a share of all that is read
  for (const BodyBorder& body : bodies)
    if (auto doubted = find_doubt(graph, body.border, body.layout)) return doubted;
  std::int64_t all = 0, again = 0;
  IndexedVector<std::int32_t> readers(border.reads.size(), 0);
  for (const BodyBorder& body : bodies)
    for (const std::int32_t read : body.reads) {
      const std::int64_t size = bytes(graph[border.reads[index(read)]].shape);
      all += size;
      if (readers[read]++ > 0) again += size;
    }
  if (little * again > all)
    return refuse("bodies", fmt::format("bodies would read {} of {} bytes more than once", again, all));
  return std::nullopt;
}

std::optional<Rejection> doubt_pack(const Region& region, const Layout&) {
  const auto found = find_bodies(region.graph, region.border);
  if (const auto* refused = std::get_if<Rejection>(&found)) return *refused;
  return doubt_bodies(region.graph, region.border, std::get<std::vector<BodyBorder>>(found));
}

}  // namespace tailor::codegen
