// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a loop reads its values for one element. In: a group. Out: a value read all over. Called by stitch-v1.
//
// Method. An element of a result stands at its own place. From users to operands every node hands on the places that it
// is needed at: an elementwise operation as they are; a slice, a pad and a piece of a concatenation moved; a window
// once for each of its taps, moved by them. Any other change of place (a stride, a transpose, a look-up) is a step of a
// way that tells its places from those of other ways, and that later moves are counted from. What a reduction reads it
// reads in a loop of its own, which begins at one place again, and one number has one place.
#include "explore/places.h"

#include <algorithm>
#include <map>
#include <vector>

#include "codegen/structure/window_taps.h"
#include "ir/graph/attribute_text.h"

namespace tailor::explore {

using namespace ir;

namespace {

/// `way` is 0 from the place of the element itself on; `moved` is what was added to the coordinates since it began.
struct Place {
  std::uint64_t way = 0;
  Dims moved;
  bool operator==(const Place&) const = default;
};

/// No padding, so that what is read is inside.
bool only_cuts(const PadRanges& pads) {
  return std::all_of(pads.ranges.begin(), pads.ranges.end(),
                     [](const PadRange& one) { return one.low <= 0 && one.high <= 0 && one.interior == 0; });
}

class Places {
 public:
  Places(const codegen::Region& region, std::int64_t most) : region_(region), most_(static_cast<std::size_t>(most)) {}

  std::optional<NodeId> find() {
    for (const NodeId id : region_.border.writes) need(id, own_place(id));
    for (auto at = region_.inside().rbegin(); at != region_.inside().rend() && !found_; ++at) {
      const std::vector<Place> places = std::move(needed_[*at]);
      const Node& node = region_[*at];
      if (node.op == Op::reduce_window && node.operands.size() == 2)
        window(*at, places);
      else
        for (number_ = 0; number_ < places.size() && !found_; ++number_) hand_on(*at, places[number_]);
    }
    return found_;
  }

 private:
  Place own_place(NodeId id) const {
    Place place;
    for (int d = 0; d < region_[id].shape.rank(); ++d) place.moved.push_back(0);
    return place;
  }

  void need(NodeId id, Place place) {
    const Node& node = region_[id];
    if (node.shape.dtype == DType::tuple || elements(node.shape) == 1) place = {};
    std::vector<Place>& places = needed_[id];
    if (std::find(places.begin(), places.end(), place) != places.end()) return;
    places.push_back(std::move(place));
    if (places.size() > most_ && !found_) found_ = id;
  }

  /// A place that is told by how it was come to: through the node that hands on, from that one of its places, by that
  /// one of its operands or taps.
  Place by_way(NodeId through, NodeId operand, std::size_t part = 0) const {
    Place there = own_place(operand);
    there.way = ((static_cast<std::uint64_t>(through) * (most_ + 1) + number_) << 32U) + part + 1;
    return there;
  }

  void hand_on(NodeId id, const Place& place) {
    const Node& node = region_[id];
    for (std::size_t k = 0; k < node.operands.size(); ++k) {
      const NodeId operand = node.operands[k];
      if (is_elementwise(node.op))
        need(operand, place);
      else if (node.op == Op::reduce)
        need(operand, own_place(operand));
      else
        need(operand, moved(id, k, place));
    }
  }

  Place moved(NodeId id, std::size_t k, const Place& place) const {
    const Node& node = region_[id];
    const NodeId operand = node.operands[k];
    Place there = place;
    if (const auto* slices = std::get_if<SliceRanges>(&node.attributes)) {
      for (int d = 0; d < node.shape.rank(); ++d) {
        if (slices->ranges[d].stride != 1) return by_way(id, operand);
        there.moved[d] += slices->ranges[d].start;
      }
      return there;
    }
    if (const auto* pads = std::get_if<PadRanges>(&node.attributes); pads != nullptr && k == 0 && only_cuts(*pads)) {
      for (int d = 0; d < node.shape.rank(); ++d) there.moved[d] -= pads->ranges[d].low;
      return there;
    }
    return by_way(id, operand, k);
  }

  /// Of one array; what it begins with is one number.
  void window(NodeId id, const std::vector<Place>& places) {
    const Node& node = region_[id];
    const NodeId operand = node.operands[0];
    const auto taps = codegen::window_taps(region_.graph, node);
    const IndexedVector<WindowDim> dims = parse_window(hlo_text(node), region_[operand].shape.rank());
    const bool is_padded =
        std::any_of(dims.begin(), dims.end(), [](const auto& d) { return d.pad_low > 0 || d.pad_high > 0; });
    const bool steps = std::any_of(dims.begin(), dims.end(), [](const auto& d) { return d.stride != 1; });
    for (number_ = 0; number_ < places.size() && !found_; ++number_) {
      const Place from = steps || !taps ? by_way(id, operand) : places[number_];
      if (!taps) need(operand, from);
      for (std::size_t tap = 0; taps && tap < taps->offsets.size(); ++tap) {
        Place there = is_padded ? by_way(id, operand, tap) : from;
        for (int d = 0; !is_padded && d < there.moved.size(); ++d) there.moved[d] += taps->offsets[tap][d];
        need(operand, std::move(there));
      }
    }
  }

  const codegen::Region& region_;
  std::size_t most_;
  std::size_t number_ = 0;  ///< of the place that is handed on, among those of its node
  std::map<NodeId, std::vector<Place>> needed_;
  std::optional<NodeId> found_;
};

}  // namespace

std::optional<NodeId> read_all_over(const codegen::Region& region, std::int64_t most) {
  return Places(region, most).find();
}

}  // namespace tailor::explore
