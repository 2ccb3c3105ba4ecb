// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Planning where the program was built without CUDA's headers: there is no host
// library, and every question gets that one reason. Takes the place of metrics.cpp in
// the build.
#include "profiler/gpu/cupti/metrics.h"

namespace tailor::gpu {

struct MetricHost::Body {};

MetricHost::MetricHost(std::unique_ptr<Body> body) : body_(std::move(body)) {}
MetricHost::MetricHost(MetricHost&&) noexcept = default;
MetricHost& MetricHost::operator=(MetricHost&&) noexcept = default;
MetricHost::~MetricHost() = default;

std::variant<MetricHost, Capability> MetricHost::open(const LibraryPaths&) {
  return Capability{"metrics", "missing", "this program was built without CUDA's headers",
                    "run tools/setup, which fetches them into .venv, or install a toolkit; then build again"};
}

std::string MetricHost::name() const { return {}; }
int MetricHost::api_version() const { return 0; }
std::vector<std::string> MetricHost::chips() const { return {}; }
CountPlan MetricHost::plan(std::string_view, int) const { return {}; }
CountPlan MetricHost::plan(std::string_view, std::span<const std::string>) const { return {}; }

}  // namespace tailor::gpu
