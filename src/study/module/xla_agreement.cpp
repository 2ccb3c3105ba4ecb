// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Scoring our XLA against XLA. In: a digest of what XLA's compiler did. Out: counts and reasons. Called by
// xla_agreement_tables.cpp's caller, `tailor import-xla --agreement`, and by tests.
//
// A kernel of XLA's is the same as one of ours when the names inside are the same, parameters, constants, tuples and
// bitcasts left out, as the digest leaves them out. Its launch and price are compared on XLA's own body of the fusion,
// so that a kernel cut another way does not count twice. What stands behind a difference is looked for in the digest:
// kernels that XLA made again after fusion (rematerialised) or changed since are no fusion decisions.
#include "study/module/xla_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/compressed.h"
#include "base/error.h"
#include "base/json.h"
#include "base/stop.h"
#include "base/text.h"
#include "costmodel/xla/price.h"
#include "explore/xla_instructions.h"
#include "hlo/import.h"

namespace tailor::study {

namespace xla = costmodel::xla;
namespace fs = std::filesystem;

namespace {

/// The release whose rules were written down.
constexpr std::string_view known_release = "0.10.2";

using Names = std::set<std::string>;

/// A kernel of the digest.
struct Theirs {
  std::string name, kind;
  Names members;
  double bytes = 0;
  std::optional<double> us;
  std::optional<xla::Launch> launch;
  bool exact = true;  ///< the members are those of the final body
};

std::string word_of(const Json& json, std::string_view key) {
  const Json* const found = json.find(key);
  return found != nullptr && found->string() != nullptr ? *found->string() : std::string();
}

double number_of(const Json& json, std::string_view key) {
  const Json* const found = json.find(key);
  return found == nullptr ? 0 : found->number().value_or(0);
}

std::optional<xla::Launch> launch_in(const Json& kernel) {
  const Json* const launches = kernel.find("launches");
  if (launches == nullptr || launches->array() == nullptr || launches->array()->empty()) return std::nullopt;
  const Json& first = launches->array()->front();
  const Json* const grid = first.find("grid");
  const Json* const block = first.find("block");
  const auto sizes = [](const Json* list) {
    std::vector<std::int64_t> found;
    if (list != nullptr && list->array() != nullptr)
      for (const Json& size : *list->array()) found.push_back(size.integer().value_or(0));
    return found;
  };
  const std::vector<std::int64_t> blocks = sizes(grid), threads = sizes(block);
  if (blocks.size() != 3 || threads.size() != 3) return std::nullopt;
  return xla::Launch{{blocks[0], blocks[1], blocks[2]}, xla::product(threads)};
}

std::vector<Theirs> kernels_in(const Json& json, std::string_view text, const std::string& file) {
  const Json* const list = json.find("kernels");
  if (list == nullptr || list->array() == nullptr)
    throw Error(Fault::failed, position_at(text, json.offset, file), "found no list of 'kernels', expected a digest",
                "tools that write digests put the kernels XLA made there");
  std::vector<Theirs> all;
  for (const Json& kernel : *list->array()) {
    Theirs one;
    one.name = word_of(kernel, "name");
    one.kind = word_of(kernel, "kind");
    if (one.kind != "loop" && one.kind != "input" && one.kind != "triton") continue;
    if (const Json* const members = kernel.find("members"); members != nullptr && members->array() != nullptr)
      for (const Json& member : *members->array())
        if (member.string() != nullptr) one.members.insert(*member.string());
    one.bytes = number_of(kernel, "bytes_in") + number_of(kernel, "bytes_out");
    if (const Json* const us = kernel.find("us")) one.us = us->number();
    one.launch = launch_in(kernel);
    if (const Json* const exact = kernel.find("members_exact")) one.exact = exact->boolean().value_or(true);
    all.push_back(std::move(one));
  }
  return all;
}

/// NAME.KIND.hlo or NAME.KIND.hlo.gz; empty when neither is there.
fs::path text_of(const fs::path& digest, std::string_view kind) {
  const std::string stem = digest.string().substr(0, digest.string().size() - std::string_view(".json").size());
  std::error_code unread;
  for (const std::string_view end : {".hlo", ".hlo.gz"})
    if (const fs::path path = fmt::format("{}.{}{}", stem, kind, end); fs::is_regular_file(path, unread)) return path;
  return {};
}

bool is_counted(const ir::Node& node) {
  switch (node.op) {
    case ir::Op::parameter:
    case ir::Op::constant:
    case ir::Op::bitcast:
    case ir::Op::bitcast_convert:  // of the same width, which XLA writes as a bitcast
    case ir::Op::get_tuple_element:
      return false;
    default:
      return true;
  }
}

/// The kernels we make of a module and its loops, by the names XLA's text has.
class Ours {
 public:
  Ours(const fs::path& path, const xla::Target& target, const std::stop_token& stop) : target_(target), stop_(stop) {
    const std::string text = read_unpacked(path.string());
    const hlo::HloModule module = hlo::parse_module(text, path.string(), stop);
    add(hlo::import_as_written(module, module.computations[module.entry]));
  }

  bool has_name(const std::string& name) const { return names_.contains(name); }
  /// Whether one of ours has exactly these members; each of ours answers once.
  bool take(const Names& members) {
    const auto found = kernels_.find(members);
    if (found == kernels_.end()) return false;
    kernels_.erase(found);
    return true;
  }
  /// Names that are counted on neither side.
  Names without_views(const Names& members) const {
    Names kept;
    for (const std::string& name : members)
      if (!views_.contains(name)) kept.insert(name);
    return kept;
  }
  std::string_view difference(const Names& members) const {
    bool more = false, less = false;
    for (const Names& ours : kernels_) {
      Names both;
      std::set_intersection(ours.begin(), ours.end(), members.begin(), members.end(), std::inserter(both, both.end()));
      if (both.empty()) continue;
      more = more || (both.size() == members.size() && ours.size() > members.size());
      less = less || (both.size() == ours.size() && ours.size() < members.size());
    }
    if (more) return "a kernel of ours holds all of it and more";
    return less ? "ours is several smaller kernels" : "cut at other places";
  }

 private:
  void add(const ir::Graph& graph) {
    const auto short_name = [](const std::string& name) { return name.substr(name.rfind('/') + 1); };
    for (const ir::Node& node : graph.nodes) (is_counted(node) ? names_ : views_).insert(short_name(node.name));
    for (const std::vector<ir::NodeId>& kernel : explore::xla_kernels(graph, target_, stop_)) {
      Names members;
      for (const ir::NodeId id : kernel)
        if (is_counted(graph[id])) members.insert(short_name(graph[id].name));
      if (!members.empty()) kernels_.insert(std::move(members));
    }
    stop_if_asked(stop_);
    for (const ir::Node& node : graph.nodes)
      if (ir::class_of(node.op) == ir::OpClass::control)
        for (const std::int32_t body : node.bodies) add(graph.bodies[static_cast<std::size_t>(body)]);
  }

  const xla::Target& target_;
  const std::stop_token& stop_;
  std::multiset<Names> kernels_;
  Names names_, views_;
};

void note(Agreement& found, std::string words) {
  if (!found.note.empty()) found.note += "; ";
  found.note += std::move(words);
}

void disagree(Agreement& found, std::string_view about, std::string_view reason, double bytes) {
  found.reasons[{std::string(about), std::string(reason)}].add(false, bytes);
}

bool was_made_again(const Theirs& kernel) { return kernel.name.find(".remat") != std::string::npos; }

void score_members(Agreement& found, const std::vector<Theirs>& theirs, const fs::path& path, const xla::Target& target,
                   const std::stop_token& stop) {
  Ours ours(path, target, stop);
  for (const Theirs& kernel : theirs) {
    const Names members = ours.without_views(kernel.members);
    if (members.empty()) continue;  // made after fusion
    const auto unknown =
        std::count_if(members.begin(), members.end(), [&](const std::string& name) { return !ours.has_name(name); });
    const bool same = ours.take(members);
    found.kernels.add(same, kernel.bytes);
    if (same) continue;
    disagree(found, "kernel",
             unknown > 0              ? "names that the module does not have"
             : was_made_again(kernel) ? "XLA computed it again later, to save memory"
             : !kernel.exact          ? "XLA changed it after fusion"
                                      : ours.difference(members),
             kernel.bytes);
  }
}

void score_prices(Agreement& found, const std::vector<Theirs>& theirs, const fs::path& path, const xla::Target& target,
                  const std::stop_token& stop) {
  const std::string text = read_unpacked(path.string());
  const hlo::HloModule module = hlo::parse_module(text, path.string(), stop);
  std::map<std::string_view, const hlo::HloInstruction*> named;
  for (const hlo::HloComputation& computation : module.computations)
    for (const hlo::HloInstruction& one : module.instructions_of(computation)) named.emplace(one.name, &one);
  for (const Theirs& kernel : theirs) {
    stop_if_asked(stop);
    if (!kernel.us && !kernel.launch) continue;
    const auto at = named.find(kernel.name);
    const std::int32_t body = at == named.end() ? -1 : module.computation_named(module.attribute(*at->second, "calls"));
    if (body < 0) {
      disagree(found, "price", "no body of that name in the optimised module", kernel.bytes);
      if (kernel.us) found.prices.add(false, kernel.bytes);
      if (kernel.launch) found.launches.add(false, kernel.bytes);
      continue;
    }
    const ir::Graph graph = hlo::import_as_written(module, module.computations[body]);
    const xla::Priced price = xla::priced(xla::kernel_of(graph), target);
    const auto reason = [&] {
      return was_made_again(kernel) ? std::string("XLA computed it again later, with the price of the whole")
                                    : fmt::format("kernel of the {} emitter", name(price.analysis.emitter));
    };
    if (kernel.us) {
      const double ours = xla::seconds(price.time) * 1e6;
      // XLA keeps quarters of a nanosecond, and the digest what is left of them in print.
      const bool same = std::abs(ours - *kernel.us) <= std::max(same_price * *kernel.us, 0.25e-3);
      found.prices.add(same, kernel.bytes);
      if (!same) disagree(found, "price", reason(), kernel.bytes);
    }
    if (kernel.launch) {
      const bool same = *kernel.launch == price.launch;
      found.launches.add(same, kernel.bytes);
      if (!same) disagree(found, "launch", reason(), kernel.bytes);
    }
  }
}

}  // namespace

void Share::add(bool agrees, double bytes) {
  ++all;
  all_bytes += bytes;
  if (!agrees) return;
  ++same;
  same_bytes += bytes;
}

Share& Share::operator+=(const Share& other) {
  same += other.same;
  all += other.all;
  same_bytes += other.same_bytes;
  all_bytes += other.all_bytes;
  return *this;
}

Agreement agreement_of(const fs::path& digest, const fs::path& targets, const std::stop_token& stop) {
  const std::string text = read_unpacked(digest.string());
  const Json json = parse_json(text, digest.string());
  Agreement found;
  found.module = digest.stem().string();
  found.device = word_of(json, "target");
  std::vector<Theirs> theirs = kernels_in(json, text, digest.string());
  const auto target = xla::find_target_of_xla(found.device, targets.string());
  if (target == nullptr) {
    note(found, fmt::format("not scored: data/xla has no description of XLA's target '{}', only of {}", found.device,
                            xla::known_targets(targets.string())));
    return found;
  }
  found.device = target->name;
  if (const std::string release = word_of(json, "jaxlib"); release != known_release)
    note(found,
         fmt::format("made by jaxlib {}, our rules are those of {}", release.empty() ? "?" : release, known_release));
  const auto triton = std::erase_if(theirs, [](const Theirs& kernel) { return kernel.kind == "triton"; });
  const fs::path path = text_of(digest, "prefusion");
  if (triton > 0)
    note(found, fmt::format("kernels not scored: {} are Triton's, which decides what is left for the others", triton));
  else if (!path.empty())
    score_members(found, theirs, path, *target, stop);
  else
    note(found, "kernels not scored: found no prefusion.hlo beside the digest");
  if (const fs::path optimised = text_of(digest, "optimized"); !optimised.empty())
    score_prices(found, theirs, optimised, *target, stop);
  else
    note(found, "launches and prices not scored: found no optimized.hlo beside the digest");
  return found;
}

std::vector<Agreement> agreements(const fs::path& folder, const std::string& module, const std::string& device,
                                  const fs::path& targets, const std::stop_token& stop) {
  std::error_code fault;
  std::vector<fs::path> digests;
  if (fs::is_regular_file(folder, fault)) digests.push_back(folder);
  if (digests.empty())
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, fault))
      if (entry.path().extension() == ".json" &&
          !(text_of(entry.path(), "prefusion").empty() && text_of(entry.path(), "optimized").empty()))
        digests.push_back(entry.path());
  if (digests.empty())
    throw Error(Fault::failed, Position{folder.string()},
                "found no digest of XLA's, expected NAME.json with NAME.prefusion.hlo and NAME.optimized.hlo",
                "XLA's own dump does not say which instructions a kernel was made of");
  std::sort(digests.begin(), digests.end());
  std::vector<Agreement> all;
  for (const fs::path& digest : digests) {
    stop_if_asked(stop);
    if (digest.stem().string().find(module) == std::string::npos) continue;
    Agreement one = agreement_of(digest, targets, stop);
    if (device.empty() || one.device == device) all.push_back(std::move(one));
  }
  if (all.empty())
    throw Error(Fault::usage,
                fmt::format("found {} digests, none for module '{}' and device '{}'", digests.size(), module, device),
                "leave --module or --device out to see all");
  return all;
}

}  // namespace tailor::study
