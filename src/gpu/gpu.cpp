// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Who answers what. The first answer that loses the context is the last but for what the machine can do: everything the
// context held is gone, and the driver would only repeat itself.
#include "gpu/gpu.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "gpu/collect.h"
#include "gpu/layers.h"
#include "gpu/loaded.h"
#include "gpu/open.h"
#include "gpu/run.h"
#include "gpu/sampling.h"

namespace tailor::gpu {

/// LoadedSequence sequences go before the GPU they lie on.
struct Gpu::Body {
  std::unique_ptr<Opened> gpu;
  std::map<int, std::unique_ptr<LoadedSequence>> loaded;
  std::string lost;  ///< empty, or what lost the context

  Answer operator()(const AskOpen& ask);
  Answer operator()(const AskLayers& ask);
  Answer operator()(const AskLoad& ask);
  Answer operator()(const AskRun& ask);
  Answer operator()(const AskTime& ask);
  Answer operator()(const AskCount& ask);
  Answer operator()(const AskState& ask);
  Answer operator()(const AskDrop& ask);

  Trouble ready() const;
  /// The sequence of that number, or why there is none.
  std::pair<LoadedSequence*, Trouble> sequence(int id) const;

  std::span<const std::byte> blob;  ///< of the question being answered
};

Trouble Gpu::Body::ready() const {
  if (!lost.empty()) return {ir::Outcome::unavailable, fmt::format("the context was lost earlier ({})", lost), true};
  if (gpu == nullptr) return {ir::Outcome::unavailable, "no GPU was opened", false};
  return {};
}

std::pair<LoadedSequence*, Trouble> Gpu::Body::sequence(int id) const {
  if (Trouble trouble = ready()) return {nullptr, trouble};
  const auto found = loaded.find(id);
  if (found == loaded.end())
    return {nullptr, {ir::Outcome::unavailable, fmt::format("no sequence was loaded as number {}", id), false}};
  return {found->second.get(), {}};
}

Answer Gpu::Body::operator()(const AskOpen& ask) {
  if (!lost.empty()) return answer_of(ready());
  loaded.clear();
  gpu = std::make_unique<Opened>();
  if (Trouble trouble = open(ask.places, ask.ordinal, *gpu)) {
    gpu.reset();
    return answer_of(trouble);
  }
  Answer answer;
  answer.facts = gpu->facts;
  answer.layers = layers_of(ask.places, ask.ordinal, gpu->current);
  for (Layer& layer : answer.layers) {
    if (layer.name != "kernel timestamps" || layer.state != "ok" || gpu->trace_why.empty()) continue;
    layer = {layer.name, "missing", gpu->trace_why, "times by events (--timed-by events) need no CUPTI"};
  }
  return answer;
}

Answer Gpu::Body::operator()(const AskLayers& ask) {
  Answer answer;
  const bool same = gpu != nullptr && lost.empty() && gpu->ordinal == ask.ordinal;
  answer.layers = layers_of(ask.places, ask.ordinal, same ? gpu->current : nullptr);
  return answer;
}

Answer Gpu::Body::operator()(const AskLoad& ask) {
  if (Trouble trouble = ready()) return answer_of(trouble);
  loaded.erase(ask.id);  // first, so that its memory is there for the new one
  auto made = std::make_unique<LoadedSequence>();
  if (Trouble trouble = load(*gpu, ask.sequence, blob, *made)) return answer_of(trouble);
  Answer answer;
  answer.entries = made->entries;
  loaded[ask.id] = std::move(made);
  return answer;
}

Answer Gpu::Body::operator()(const AskRun& ask) {
  const auto [found, trouble] = sequence(ask.id);
  return found == nullptr ? answer_of(trouble) : run(*gpu, *found, ask);
}

Answer Gpu::Body::operator()(const AskTime& ask) {
  const auto [found, trouble] = sequence(ask.id);
  return found == nullptr ? answer_of(trouble) : take_times(*gpu, *found, ask);
}

Answer Gpu::Body::operator()(const AskCount& ask) {
  const auto [found, trouble] = sequence(ask.id);
  return found == nullptr ? answer_of(trouble) : collect(*gpu, *found, ask);
}

Answer Gpu::Body::operator()(const AskState&) {
  Answer answer = answer_of(ready());
  if (gpu != nullptr) answer.state = state_of(gpu->nvml);
  return answer;
}

Answer Gpu::Body::operator()(const AskDrop& ask) {
  Answer answer = answer_of(ready());
  loaded.erase(ask.id);
  return answer;
}

Gpu::Gpu() : body_(std::make_unique<Body>()) {}
Gpu::~Gpu() = default;
Gpu::Gpu(Gpu&&) noexcept = default;
Gpu& Gpu::operator=(Gpu&&) noexcept = default;

Answer Gpu::answer(const Ask& ask, std::span<const std::byte> blob) {
  body_->blob = blob;
  Answer answer = std::visit(*body_, ask);
  if (answer.context_lost && body_->lost.empty()) body_->lost = answer.reason;
  body_->blob = {};
  return answer;
}

}  // namespace tailor::gpu
