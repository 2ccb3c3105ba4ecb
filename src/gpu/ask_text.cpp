// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One list of members per struct; the library's macros make both directions of each, so that they cannot differ. JSON
// has no word for what is no number, and a counter that could not be collected is one: those stand as strings.
#include "gpu/ask_text.h"

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
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Launch, image, entry, grid, block, cluster, dynamic_shared, cooperative, arguments)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Places, driver, cupti, nvml, toolkits, virtual_environments)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Facts, name, uuid, chip, driver, driver_api, cupti_api, compute_capability, sms,
                                   memory_bytes, l2_bytes, shared_per_sm, shared_per_block_optin, registers_per_sm,
                                   threads_per_sm, sm_clock_max, dram_clock_max, bus_bits, ecc, mig, can_time_activity,
                                   can_count)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Layer, name, state, detail, remedy)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EntryFacts, registers, local_bytes, static_shared, dynamic_shared, blocks_per_sm)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GpuState, sm_clock, dram_clock, temperature, power, power_limit, throttle)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Answer, outcome, reason, context_lost, facts, layers, entries, samples, launches,
                                   passes, state)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AskOpen, places, ordinal)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AskLayers, places, ordinal)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AskRun, id, seed, fetch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AskTime, id, cache, timed_by, launch, samples, warmup, per_launch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AskCount, id, cache, metrics)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AskDrop, id)

static void to_json(Json& to, const AskState&) { to = Json::object(); }
static void from_json(const Json&, AskState&) {}

static void to_json(Json& to, const Image& from) { to = {{"name", from.name}, {"bytes", from.code.size()}}; }
static void from_json(const Json& from, Image& to) {
  from.at("name").get_to(to.name);
  to.code.resize(from.at("bytes").get<std::size_t>());
}

static void to_json(Json& to, const AskLoad& from) {
  to = {{"id", from.id},
        {"images", from.sequence.images},
        {"buffers", from.sequence.buffers},
        {"launches", from.sequence.launches}};
}
static void from_json(const Json& from, AskLoad& to) {
  from.at("id").get_to(to.id);
  from.at("images").get_to(to.sequence.images);
  from.at("buffers").get_to(to.sequence.buffers);
  from.at("launches").get_to(to.sequence.launches);
}

namespace {

/// The alternative with number `kind`, read from JSON.
template <std::size_t I = 0>
Ask alternative(std::size_t kind, const Json& from) {
  if constexpr (I < std::variant_size_v<Ask>) {
    if (kind == I) return from.get<std::variant_alternative_t<I, Ask>>();
    return alternative<I + 1>(kind, from);
  } else {
    throw std::out_of_range("no such question");
  }
}

}  // namespace

std::string ask_text(const Ask& ask) {
  const Json body = std::visit([](const auto& one) { return Json(one); }, ask);
  // Names of files and kernels may hold any bytes.
  return Json{{"ask", ask.index()}, {"with", body}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::span<const std::byte>> blob_of(const Ask& ask, std::span<const std::byte> contents) {
  std::vector<std::span<const std::byte>> pieces;
  if (const auto* load = std::get_if<AskLoad>(&ask))
    for (const Image& image : load->sequence.images) pieces.emplace_back(image.code);
  pieces.push_back(contents);
  return pieces;
}

std::pair<Ask, std::span<const std::byte>> ask_from(std::string_view text, std::span<const std::byte> blob) {
  const Json whole = Json::parse(text);
  Ask ask = alternative(whole.at("ask").get<std::size_t>(), whole.at("with"));
  if (auto* load = std::get_if<AskLoad>(&ask))
    for (Image& image : load->sequence.images) {
      if (image.code.size() > blob.size()) throw std::out_of_range("the blob ends within an image");
      const auto code = blob.first(image.code.size());
      image.code.assign(code.begin(), code.end());
      blob = blob.subspan(code.size());
    }
  return {std::move(ask), blob};
}

std::string answer_text(const Answer& answer) {
  Json whole = answer;
  Json& values = whole["values"] = Json::array();
  for (const double value : answer.values) values.push_back(json_of(value));
  return whole.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Answer answer_from(std::string_view text) {
  const Json whole = Json::parse(text);
  Answer answer = whole.get<Answer>();
  for (const Json& value : whole.at("values")) answer.values.push_back(number_in(value));
  return answer;
}

}  // namespace tailor::gpu
