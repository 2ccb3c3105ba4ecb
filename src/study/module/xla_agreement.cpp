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
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "base/compressed.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/json.h"
#include "base/stop.h"
#include "base/text.h"
#include "costmodel/xla/price.h"
#include "explore/xla/instructions.h"
#include "hlo/import.h"
#include "profiler/xla/xla_digest.h"
#include "profiler/xla/xla_partition.h"

namespace tailor::study {

namespace xla = costmodel::xla;
namespace fs = std::filesystem;

namespace {

/// The release whose rules were written down.
constexpr std::string_view known_release = "0.10.2";

using Names = std::set<std::string>;

using profiler::XlaDigestKernel;

std::optional<xla::Launch> launch_of(const XlaDigestKernel& kernel) {
  if (!kernel.shape) return std::nullopt;
  const ir::LaunchShape& shape = *kernel.shape;
  return xla::Launch{{shape.grid[0], shape.grid[1], shape.grid[2]},
                     std::int64_t{shape.block[0]} * shape.block[1] * shape.block[2]};
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
    for (const hlo::HloComputation& computation : module.computations)
      for (const hlo::HloInstruction& one : module.instructions_of(computation))
        if (one.op == ir::Op::opaque) unread_.emplace(one.opcode);
    add(hlo::import_as_written(module, module.computations[module.entry]));
  }

  /// Operations of the module that are not known here, by their names: a later release has some.
  const Names& unread() const { return unread_; }

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
  Names names_, views_, unread_;
};

void note(Agreement& found, std::string words) {
  if (!found.note.empty()) found.note += "; ";
  found.note += std::move(words);
}

void disagree(Agreement& found, std::string_view about, std::string_view reason, const XlaDigestKernel& kernel) {
  const Disagreement what{std::string(about), std::string(reason)};
  found.reasons[what].add(false, kernel.bytes);
  if (std::vector<std::string>& named = found.named[what]; named.size() < shown_kernels) named.push_back(kernel.name);
}

bool was_made_again(const XlaDigestKernel& kernel) { return kernel.name.find(".remat") != std::string::npos; }

void score_members(Agreement& found, const std::vector<XlaDigestKernel>& theirs, const fs::path& path,
                   const xla::Target& target, const std::stop_token& stop) {
  Ours ours(path, target, stop);
  if (!ours.unread().empty())
    note(found, fmt::format("operations not known here, left unfused: {}", fmt::join(ours.unread(), ", ")));
  std::string first_unknown;
  std::int64_t kernels_unknown = 0;
  for (const XlaDigestKernel& kernel : theirs) {
    const Names members = ours.without_views(Names(kernel.members.begin(), kernel.members.end()));
    if (members.empty()) continue;  // made after fusion
    const auto unknown =
        std::find_if(members.begin(), members.end(), [&](const std::string& name) { return !ours.has_name(name); });
    if (unknown != members.end() && ++kernels_unknown == 1)
      first_unknown = fmt::format("'{}' of kernel {}", *unknown, kernel.name);
    const bool same = ours.take(members);
    found.kernels.add(same, kernel.bytes);
    if (same) continue;
    disagree(found, "kernel",
             unknown != members.end() ? "names that the module does not have"
             : was_made_again(kernel) ? "XLA computed it again later, to save memory"
             : !kernel.exact          ? "XLA changed it after fusion"
                                      : ours.difference(members),
             kernel);
  }
  if (kernels_unknown > 0)
    note(found,
         fmt::format("{} names that {} does not have, the first {}: is it the module XLA fused?",
                     counted(kernels_unknown, "kernel", "has", "have"), path.filename().string(), first_unknown));
}

void score_prices(Agreement& found, const std::vector<XlaDigestKernel>& theirs, const fs::path& path,
                  const xla::Target& target, const std::stop_token& stop) {
  const std::string text = read_unpacked(path.string());
  const hlo::HloModule module = hlo::parse_module(text, path.string(), stop);
  std::map<std::string_view, const hlo::HloInstruction*> named;
  for (const hlo::HloComputation& computation : module.computations)
    for (const hlo::HloInstruction& one : module.instructions_of(computation)) named.emplace(one.name, &one);
  for (const XlaDigestKernel& kernel : theirs) {
    stop_if_asked(stop);
    const std::optional<xla::Launch> launch = launch_of(kernel);
    if (!kernel.us && !launch) continue;
    const auto at = named.find(kernel.name);
    const std::int32_t body = at == named.end() ? -1 : module.computation_named(module.attribute(*at->second, "calls"));
    if (body < 0) {
      disagree(found, "price", "no body of that name in the optimised module", kernel);
      if (kernel.us) found.prices.add(false, kernel.bytes);
      if (launch) found.launches.add(false, kernel.bytes);
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
      if (!same) disagree(found, "price", reason(), kernel);
    }
    if (launch) {
      const bool same = *launch == price.launch;
      found.launches.add(same, kernel.bytes);
      if (!same) disagree(found, "launch", reason(), kernel);
    }
  }
}

/// The kernels of a dump with the bytes that XLA's model counts for them, each element of an array once.
/// Kernels that XLA's fusion passes decide about, Triton's among them; libraries and copies are none.
bool is_fusion_of_xla(std::string_view kind) { return kind == "loop" || kind == "input" || kind == "triton"; }

std::vector<XlaDigestKernel> kernels_in(const profiler::XlaSource& dump, std::vector<profiler::XlaPart> parts,
                                        const xla::Target& target, const std::stop_token& stop) {
  std::map<std::string, ir::LaunchShape, std::less<>> launches;
  for (const profiler::XlaLaunch& launch : profiler::read_launches(dump))
    if (!launch.entry.empty() && launch.fault.empty()) launches.try_emplace(launch.instruction, launch);
  const std::string text = read_file(dump.hlo);
  const hlo::HloModule module = hlo::parse_module(text, dump.hlo.string(), stop);
  std::map<std::string_view, std::string_view> bodies;
  for (const hlo::HloInstruction& one : module.instructions) bodies.emplace(one.name, module.attribute(one, "calls"));
  std::vector<XlaDigestKernel> all;
  for (profiler::XlaPart& part : parts) {
    if (!is_fusion_of_xla(part.kind)) continue;
    XlaDigestKernel one{part.name, part.kind, part.members, part.exact, 0, part.us, {}, {}};
    if (const auto launch = launches.find(part.name); launch != launches.end()) one.shape = launch->second;
    const std::int32_t body = module.computation_named(bodies.at(part.name));
    const ir::Graph graph = hlo::import_as_written(module, module.computations[body]);
    const xla::Work work = xla::work_of(xla::kernel_of(graph), target);
    one.bytes = static_cast<double>(work.written);
    for (std::size_t i = 0; i < work.read.size(); ++i)
      one.bytes += static_cast<double>(work.read[i]) / std::max(1.0, static_cast<double>(work.utilization[i]));
    all.push_back(std::move(one));
  }
  return all;
}

/// A word of the manifest beside a dump; empty when there is none.
std::string manifest_word(const fs::path& folder, std::string_view key) {
  std::error_code unread;
  const fs::path path = folder / "manifest.json";
  if (!fs::is_regular_file(path, unread)) return {};
  const std::optional<Json> manifest = try_parse_json(read_file(path));
  const Json* const found = manifest ? manifest->find(key) : nullptr;
  return found != nullptr && found->string() != nullptr ? *found->string() : std::string();
}

void note_release(Agreement& found, const std::string& release) {
  found.release = "jaxlib " + (release.empty() ? "?" : release);
  if (release != known_release)
    note(found, fmt::format("made by {}, our rules are those of jaxlib {}", found.release, known_release));
}

std::string name_of(const fs::path& digest) { return digest.stem().string(); }
std::string name_of(const profiler::XlaSource& dump) { return dump.name; }

/// One of the words between the dots of a module's name: the model, the device or the flags it was compiled with.
bool has_part(std::string_view name, std::string_view word) {
  const auto parts = split(name, '.');
  return std::find(parts.begin(), parts.end(), word) != parts.end();
}

/// Kernels against `before`, launches and prices against `optimised`; an empty path is said in the note.
void score(Agreement& found, std::vector<XlaDigestKernel> theirs, const fs::path& before, const fs::path& optimised,
           const xla::Target& target, const std::stop_token& stop) {
  const auto triton = std::erase_if(theirs, [](const XlaDigestKernel& kernel) { return kernel.kind == "triton"; });
  if (found.misfit) {
    // Its note says why.
  } else if (triton > 0)
    note(found, fmt::format("kernels not scored: {} are Triton's, which decides what is left for the others", triton));
  else if (!before.empty())
    score_members(found, theirs, before, target, stop);
  else
    note(found, "kernels not scored: found no prefusion.hlo beside the digest");
  if (!optimised.empty())
    score_prices(found, theirs, optimised, target, stop);
  else
    note(found, "launches and prices not scored: found no optimized.hlo beside the digest");
}

/// Where and what, for a row of a table.
std::string one_line(const Error& error) {
  const std::string file = fs::path(error.at.file).filename().string();
  const std::string place = error.at.line > 0 ? fmt::format("{}:{}", file, error.at.line) : file;
  return fmt::format("not read: {}{}{}", place, place.empty() ? "" : ": ", error.message);
}

/// The score, or of files that are not sound what is wrong with them.
Agreement unread_or(const std::string& name, const std::function<Agreement()>& score_it) {
  try {
    return score_it();
  } catch (const Error& error) {
    if (error.fault != Fault::failed) throw;
    return {.module = name, .note = one_line(error), .unread = true};
  }
}

Agreement agreement_of_dump(const profiler::XlaSource& dump, const fs::path& targets, const std::stop_token& stop) {
  Agreement found;
  const fs::path folder = dump.hlo.parent_path();
  found.module = dump.name;
  found.device = manifest_word(folder, "target");
  const auto target = xla::find_target(found.device, targets.string());
  const std::string described = manifest_word(folder, "target_of");
  if (target == nullptr || described != "XLA's specification") {
    const std::string compiled = found.device.empty() || described.empty()
                                     ? "XLA compiled for a GPU that no manifest names"
                                 : target == nullptr ? fmt::format("data/xla has no '{}'", found.device)
                                                     : "XLA compiled for " + described;
    note(found, fmt::format("not scored: {}, expected XLA's own specification of one of {}", compiled,
                            xla::known_targets(targets.string())));
    return found;
  }
  note_release(found, manifest_word(folder, "jaxlib"));
  profiler::XlaPartition partition = profiler::read_partition(dump, stop);
  // Members of the kernels that do fit are not scored either: of a record that is another module's, or not whole, the
  // rest can score better than the whole would.
  if (found.misfit = !partition.faults.empty(); found.misfit)
    note(found, fmt::format("kernels not scored: the record of XLA's fusion is not that of its modules in {}, "
                            "the first: {}",
                            counted(partition.faults.size(), "place"), partition.faults[0]));
  score(found, kernels_in(dump, std::move(partition.parts), *target, stop), dump.before, dump.hlo, *target, stop);
  return found;
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

std::string other_gpu_words(const profiler::XlaSource& dump, const ir::Device& device) {
  const fs::path folder = dump.hlo.parent_path();
  const std::string title = manifest_word(folder, "device");
  std::string arch = manifest_word(folder, "arch");
  std::error_code unread;
  if (arch.empty() && !dump.ptx.empty() && fs::is_regular_file(dump.ptx.front(), unread)) {
    const std::string ptx = read_file(dump.ptx.front());
    const std::size_t at = ptx.find(".target ");
    if (at != ptx.npos) arch = ptx.substr(at + 8, ptx.find_first_of(" ,\n", at + 8) - at - 8);
  }
  while (!arch.empty() && std::isdigit(static_cast<unsigned char>(arch.back())) == 0) arch.pop_back();  // "sm_90a"
  const bool same = (arch.empty() || arch == device.arch) && (title.empty() || title == device.title);
  if (same) return {};
  return fmt::format(
      "the dump was made for {}, and is looked at with {} ({}): launches and code are those of the former, "
      "limits and caches those of the latter",
      title.empty() ? fmt::format("a GPU of {}", arch) : fmt::format("{} ({})", title, arch), device.name, device.arch);
}

std::string what_failed(const std::vector<Agreement>& all) {
  const auto unread = std::count_if(all.begin(), all.end(), [](const Agreement& one) { return one.unread; });
  if (unread > 0)
    return fmt::format("{} of {} could not be read; the notes say why", unread, counted(all.size(), "module"));
  const auto misfit = std::count_if(all.begin(), all.end(), [](const Agreement& one) { return one.misfit; });
  if (misfit > 0)
    return fmt::format("{} of {} {} a record of XLA's fusion that is not {}; the notes say where", misfit,
                       counted(all.size(), "module"), misfit == 1 ? "has" : "have",
                       misfit == 1 ? "its own" : "their own");
  const bool judged = std::any_of(all.begin(), all.end(), [](const Agreement& one) {
    return one.kernels.all + one.launches.all + one.prices.all > 0;
  });
  return judged ? std::string()
                : fmt::format("nothing was scored: found no kernel to judge in {}", counted(all.size(), "module"));
}

Agreement agreement_of(const fs::path& digest, const fs::path& targets, const std::stop_token& stop) {
  profiler::XlaDigest read = profiler::read_digest(digest);
  std::erase_if(read.kernels, [](const XlaDigestKernel& kernel) { return !is_fusion_of_xla(kernel.kind); });
  Agreement found;
  found.module = digest.stem().string();
  found.device = read.target;
  const auto target = xla::find_target_of_xla(found.device, targets.string());
  if (target == nullptr) {
    note(found, fmt::format("not scored: data/xla has no description of XLA's target '{}', only of {}", found.device,
                            xla::known_targets(targets.string())));
    return found;
  }
  found.device = target->name;
  note_release(found, read.release);
  score(found, std::move(read.kernels), profiler::text_beside(digest, "prefusion"),
        profiler::text_beside(digest, "optimized"), *target, stop);
  return found;
}

std::vector<Agreement> agreements(const fs::path& folder, const std::string& module, const std::string& device,
                                  const fs::path& targets, const std::stop_token& stop) {
  std::error_code fault;
  std::vector<fs::path> digests;
  if (fs::is_regular_file(folder, fault)) digests.push_back(folder);
  if (digests.empty())
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, fault))
      if (entry.path().extension() == ".json" && !(profiler::text_beside(entry.path(), "prefusion").empty() &&
                                                   profiler::text_beside(entry.path(), "optimized").empty()))
        digests.push_back(entry.path());
  std::sort(digests.begin(), digests.end());
  std::vector<profiler::XlaSource> dumps;
  if (digests.empty()) {
    dumps = profiler::xla_modules(folder);
    std::erase_if(dumps, [](const profiler::XlaSource& dump) { return !profiler::has_partition(dump); });
  }
  if (digests.empty() && dumps.empty())
    throw Error(Fault::failed, Position{folder.string()},
                "found nothing that says which instructions a kernel of XLA's was made of, expected a dump of "
                "tools/xla-dump, or NAME.json with NAME.prefusion.hlo and NAME.optimized.hlo",
                "XLA's own dump leaves the merges of its multi-output pass out; tools/xla-dump keeps them");
  const auto by_part = [&](const auto& one) { return has_part(name_of(one), module); };
  if (std::any_of(digests.begin(), digests.end(), by_part)) std::erase_if(digests, std::not_fn(by_part));
  if (std::any_of(dumps.begin(), dumps.end(), by_part)) std::erase_if(dumps, std::not_fn(by_part));
  std::vector<Agreement> all;
  std::set<std::string> devices;
  std::vector<std::string> names;
  for (const fs::path& digest : digests) names.push_back(name_of(digest));
  for (const profiler::XlaSource& dump : dumps) names.push_back(name_of(dump));
  const auto unwanted = [&](const auto& one) { return name_of(one).find(module) == std::string::npos; };
  std::erase_if(digests, unwanted);
  std::erase_if(dumps, unwanted);
  if (digests.empty() && dumps.empty())
    throw Error(Fault::usage,
                fmt::format("found {}, none with '{}' in its name", counted(names.size(), "module"), module),
                suggestion(module, std::vector<std::string_view>(names.begin(), names.end())));
  const bool several = digests.size() + dumps.size() > 1;
  const auto keep = [&](const std::string& name, const auto& score_it) {
    stop_if_asked(stop);
    Agreement one = several ? unread_or(name, score_it) : score_it();
    if (!one.unread) devices.insert(one.device);
    if (device.empty() || one.unread || one.device == device) all.push_back(std::move(one));
  };
  for (const fs::path& digest : digests) keep(name_of(digest), [&] { return agreement_of(digest, targets, stop); });
  for (const profiler::XlaSource& dump : dumps)
    keep(name_of(dump), [&] { return agreement_of_dump(dump, targets, stop); });
  if (all.empty())
    throw Error(Fault::usage,
                fmt::format("found modules compiled for {}, none for '{}'", fmt::join(devices, ", "), device),
                "leave --device out to see all");
  return all;
}

}  // namespace tailor::study
