// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings: collected, merged over host threads, and as text. In: findings of several machines. Out: one list in which
// each kind and instruction occurs once, from the lowest block that had it, so that the list does not depend on how
// blocks were spread over threads.
#include "profiler/simulator/machine/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/indexed.h"

namespace tailor::simulator {

std::string_view name(FindingKind kind) {
  constexpr auto names = std::to_array<std::string_view>({
      "out-of-bounds access",
      "misaligned access",
      "store to an input",
      "uninitialised read",
      "race",
      "divergent barrier",
      "mismatched barrier",
      "bad lane mask",
      "bad cluster rank",
      "misused asynchronous copy",
      "deadlock",
      "trap",
      "too long",
      "refused launch",
      "unwritten output",
  });
  return row_for(names, kind);
}

std::string_view name(Severity severity) { return severity == Severity::error ? "error" : "advice"; }

std::int64_t errors(std::span<const Finding> findings) {
  return std::count_if(findings.begin(), findings.end(),
                       [](const Finding& one) { return one.severity == Severity::error; });
}

const Finding* first_error(std::span<const Finding> findings) {
  const auto at = std::find_if(findings.begin(), findings.end(),
                               [](const Finding& one) { return one.severity == Severity::error; });
  return at == findings.end() ? nullptr : &*at;
}

std::string describe(const Finding& finding) {
  std::string text = fmt::format("{}: {}", name(finding.kind), finding.text);
  if (finding.ptx_line > 0) text += fmt::format(" (PTX line {}", finding.ptx_line);
  if (finding.source_line > 0)
    text +=
        fmt::format(", {} line {}", finding.source_file.empty() ? "source" : finding.source_file, finding.source_line);
  if (finding.ptx_line > 0) text += ")";
  if (finding.times > 1) text += fmt::format(", {} times", finding.times);
  return text;
}

void Findings::add(std::uint32_t site, Finding finding) {
  const auto [at, fresh] = kept_.try_emplace({finding.kind, site}, finding);
  if (fresh) return;
  if (finding.severity < at->second.severity)
    at->second = std::move(finding);
  else if (finding.severity == at->second.severity)
    at->second.times += finding.times;
}

bool Findings::seen(FindingKind kind, std::uint32_t site, Severity severity) const {
  const auto at = kept_.find({kind, site});
  return at != kept_.end() && at->second.severity <= severity;
}

void Findings::again(FindingKind kind, std::uint32_t site, Severity severity) {
  Finding& kept = kept_.at({kind, site});
  if (kept.severity == severity) ++kept.times;
}

std::vector<Finding> Findings::merged(std::vector<Findings*> parts, int most) {
  Findings all;
  for (const Findings* part : parts)
    for (const auto& [key, finding] : part->kept_) {
      const auto [at, fresh] = all.kept_.try_emplace(key, finding);
      if (fresh || finding.severity > at->second.severity) continue;
      if (finding.severity < at->second.severity) {
        at->second = finding;
        continue;
      }
      const std::int64_t times = at->second.times + finding.times;
      if (finding.block >= 0 && (at->second.block < 0 || finding.block < at->second.block)) at->second = finding;
      at->second.times = times;
    }
  std::vector<Finding> list;
  for (auto& [key, finding] : all.kept_) list.push_back(std::move(finding));
  std::stable_sort(list.begin(), list.end(), [](const Finding& a, const Finding& b) {
    return std::pair(a.block, a.ptx_line) < std::pair(b.block, b.ptx_line);
  });
  if (list.size() > static_cast<std::size_t>(most)) list.resize(static_cast<std::size_t>(most));
  return list;
}

}  // namespace tailor::simulator
