// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One list of members per struct; the library's macros make both directions of each, so that they cannot differ. JSON
// has no word for what is no number, and a counter that could not be collected is one: those stand as strings.
#include "profiler/gpu/request_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace {

nlohmann::json json_of(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("{}", value);
}

double number_in(const nlohmann::json& from) {
  return from.is_string() ? std::strtod(from.get<std::string>().c_str(), nullptr) : from.get<double>();
}

}  // namespace

namespace tailor {

static void to_json(nlohmann::json& to, const Seconds& from) { to = json_of(from.value); }
static void from_json(const nlohmann::json& from, Seconds& to) { to.value = number_in(from); }

}  // namespace tailor

namespace tailor::ir {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Sample, duration, sm_clock, throttle)

}  // namespace tailor::ir

namespace tailor::gpu {

using Json = nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Buffer, name, bytes, role)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Argument, buffer, offset, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Launch, image, entry, grid, block, cluster, static_shared, dynamic_shared,
                                   min_blocks, cooperative, arguments)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryPaths, driver, cupti, nvml, toolkits, virtual_environments)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GpuProperties, name, uuid, chip, driver, driver_api, cupti_api, compute_capability,
                                   sms, memory_bytes, l2_bytes, shared_per_sm, shared_per_block_optin, registers_per_sm,
                                   threads_per_sm, sm_clock_max, dram_clock_max, bus_bits, ecc, mig, can_time_activity,
                                   can_count)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Capability, name, state, detail, remedy)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelAttributes, registers, local_bytes, static_shared, dynamic_shared,
                                   blocks_per_sm)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GpuState, sm_clock, dram_clock, temperature, power, power_limit, throttle)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Response, outcome, reason, context_lost, properties, capabilities, entries, samples,
                                   launches, passes, state)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OpenRequest, paths, ordinal)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CapabilitiesRequest, paths, ordinal)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunRequest, id, seed, fetch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeRequest, id, cache, timed_by, launch, samples, warmup, per_launch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CountRequest, id, cache, metrics)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(UnloadRequest, id)

static void to_json(Json& to, const StateRequest&) { to = Json::object(); }
static void from_json(const Json&, StateRequest&) {}

static void to_json(Json& to, const Image& from) { to = {{"name", from.name}, {"bytes", from.code.size()}}; }
static void from_json(const Json& from, Image& to) {
  from.at("name").get_to(to.name);
  to.code.resize(from.at("bytes").get<std::size_t>());
}

static void to_json(Json& to, const LoadRequest& from) {
  to = {{"id", from.id},
        {"images", from.sequence.images},
        {"buffers", from.sequence.buffers},
        {"launches", from.sequence.launches}};
}
static void from_json(const Json& from, LoadRequest& to) {
  from.at("id").get_to(to.id);
  from.at("images").get_to(to.sequence.images);
  from.at("buffers").get_to(to.sequence.buffers);
  from.at("launches").get_to(to.sequence.launches);
}

namespace {

/// The alternative with number `kind`, read from JSON.
template <std::size_t I = 0>
Request alternative(std::size_t kind, const Json& from) {
  if constexpr (I < std::variant_size_v<Request>) {
    if (kind == I) return from.get<std::variant_alternative_t<I, Request>>();
    return alternative<I + 1>(kind, from);
  } else {
    throw std::out_of_range("no such question");
  }
}

}  // namespace

std::string request_text(const Request& request) {
  const Json body = std::visit([](const auto& one) { return Json(one); }, request);
  // Names of files and kernels may hold any bytes.
  return Json{{"ask", request.index()}, {"with", body}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::span<const std::byte>> blob_pieces(const Request& request, std::span<const std::byte> contents) {
  std::vector<std::span<const std::byte>> pieces;
  if (const auto* load = std::get_if<LoadRequest>(&request))
    for (const Image& image : load->sequence.images) pieces.emplace_back(image.code);
  pieces.push_back(contents);
  return pieces;
}

std::pair<Request, std::span<const std::byte>> parse_request(std::string_view text, std::span<const std::byte> blob) {
  const Json whole = Json::parse(text);
  Request request = alternative(whole.at("ask").get<std::size_t>(), whole.at("with"));
  if (auto* load = std::get_if<LoadRequest>(&request))
    for (Image& image : load->sequence.images) {
      if (image.code.size() > blob.size()) throw std::out_of_range("the blob ends within an image");
      const auto code = blob.first(image.code.size());
      image.code.assign(code.begin(), code.end());
      blob = blob.subspan(code.size());
    }
  return {std::move(request), blob};
}

std::string response_text(const Response& response) {
  Json whole = response;
  Json& values = whole["values"] = Json::array();
  for (const double value : response.values) values.push_back(json_of(value));
  return whole.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Response parse_response(std::string_view text) {
  const Json whole = Json::parse(text);
  Response response = whole.get<Response>();
  for (const Json& value : whole.at("values")) response.values.push_back(number_in(value));
  return response;
}

}  // namespace tailor::gpu
