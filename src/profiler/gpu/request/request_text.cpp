// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The JSON of requests and responses. The members of each struct are listed once, as a walk over named fields; a writer
// and a reader take the same walk, so the two directions cannot differ. JSON has no word for what is no number, and a
// counter that could not be collected is one: those stand as strings.
#include "profiler/gpu/request/request_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <type_traits>

#include "base/error.h"
#include "base/json.h"

namespace tailor::gpu {

namespace {

// The walks: what each struct's object holds.

template <class Fields>
void walk(Fields& field, ir::Sample& sample) {
  field("duration", sample.duration);
  field("sm_clock", sample.sm_clock);
  field("throttle", sample.throttle);
}

template <class Fields>
void walk(Fields& field, Buffer& buffer) {
  field("name", buffer.name);
  field("bytes", buffer.bytes);
  field("role", buffer.role);
  field("pattern", buffer.pattern);
}

template <class Fields>
void walk(Fields& field, Argument& argument) {
  field("buffer", argument.buffer);
  field("offset", argument.offset);
  field("value", argument.value);
}

/// The code travels in the blob; here stands its length.
template <class Fields>
void walk(Fields& field, Image& image) {
  field("name", image.name);
  std::size_t bytes = image.code.size();
  field("bytes", bytes);
  if constexpr (Fields::reads) image.code.resize(bytes);
}

template <class Fields>
void walk(Fields& field, Launch& launch) {
  field("image", launch.image);
  field("entry", launch.entry);
  field("grid", launch.grid);
  field("block", launch.block);
  field("cluster", launch.cluster);
  field("static_shared", launch.static_shared);
  field("dynamic_shared", launch.dynamic_shared);
  field("min_blocks", launch.min_blocks);
  field("cooperative", launch.cooperative);
  field("dependent", launch.dependent);
  field("arguments", launch.arguments);
  field("kind", launch.kind);
  field("bytes", launch.bytes);
  field("word", launch.word);
}

template <class Fields>
void walk(Fields& field, Sequence& sequence) {
  field("images", sequence.images);
  field("buffers", sequence.buffers);
  field("launches", sequence.launches);
}

template <class Fields>
void walk(Fields& field, LibraryPaths& paths) {
  field("driver", paths.driver);
  field("cupti", paths.cupti);
  field("nvml", paths.nvml);
  field("toolkits", paths.toolkits);
  field("virtual_environments", paths.virtual_environments);
}

template <class Fields>
void walk(Fields& field, GpuProperties& properties) {
  field("name", properties.name);
  field("uuid", properties.uuid);
  field("chip", properties.chip);
  field("driver", properties.driver);
  field("driver_api", properties.driver_api);
  field("cupti_api", properties.cupti_api);
  field("compute_capability", properties.compute_capability);
  field("sms", properties.sms);
  field("memory_bytes", properties.memory_bytes);
  field("l2_bytes", properties.l2_bytes);
  field("shared_per_sm", properties.shared_per_sm);
  field("shared_per_block_optin", properties.shared_per_block_optin);
  field("registers_per_sm", properties.registers_per_sm);
  field("threads_per_sm", properties.threads_per_sm);
  field("sm_clock_max", properties.sm_clock_max);
  field("dram_clock_max", properties.dram_clock_max);
  field("bus_bits", properties.bus_bits);
  field("ecc", properties.ecc);
  field("mig", properties.mig);
  field("can_time_activity", properties.can_time_activity);
  field("can_count", properties.can_count);
}

template <class Fields>
void walk(Fields& field, Capability& capability) {
  field("name", capability.name);
  field("state", capability.state);
  field("detail", capability.detail);
  field("remedy", capability.remedy);
}

template <class Fields>
void walk(Fields& field, KernelAttributes& attributes) {
  field("registers", attributes.registers);
  field("local_bytes", attributes.local_bytes);
  field("static_shared", attributes.static_shared);
  field("dynamic_shared", attributes.dynamic_shared);
  field("blocks_per_sm", attributes.blocks_per_sm);
  field("clusters", attributes.clusters);
}

template <class Fields>
void walk(Fields& field, GpuState& state) {
  field("sm_clock", state.sm_clock);
  field("dram_clock", state.dram_clock);
  field("temperature", state.temperature);
  field("power", state.power);
  field("power_limit", state.power_limit);
  field("throttle", state.throttle);
}

template <class Fields>
void walk(Fields& field, Response& response) {
  field("outcome", response.outcome);
  field("reason", response.reason);
  field("context_lost", response.context_lost);
  field("properties", response.properties);
  field("capabilities", response.capabilities);
  field("entries", response.entries);
  field("samples", response.samples);
  field("launches", response.launches);
  field("values", response.values);
  field("passes", response.passes);
  field("state", response.state);
}

template <class Fields>
void walk(Fields& field, OpenRequest& request) {
  field("paths", request.paths);
  field("ordinal", request.ordinal);
  field("use", request.use);
}

template <class Fields>
void walk(Fields& field, CapabilitiesRequest& request) {
  field("paths", request.paths);
  field("ordinal", request.ordinal);
  field("use", request.use);
}

template <class Fields>
void walk(Fields& field, LoadRequest& request) {
  field("id", request.id);
  field("sequence", request.sequence);
  field("arena", request.arena);
  field("arena_bytes", request.arena_bytes);
  field("filled", request.filled);
}

template <class Fields>
void walk(Fields& field, RunRequest& request) {
  field("id", request.id);
  field("seed", request.seed);
  field("fetch", request.fetch);
}

template <class Fields>
void walk(Fields& field, TimeRequest& request) {
  field("id", request.id);
  field("cache", request.cache);
  field("timed_by", request.timed_by);
  field("launch", request.launch);
  field("samples", request.samples);
  field("warmup", request.warmup);
  field("per_launch", request.per_launch);
}

template <class Fields>
void walk(Fields& field, CountRequest& request) {
  field("id", request.id);
  field("cache", request.cache);
  field("metrics", request.metrics);
  field("more", request.more);
}

template <class Fields>
void walk(Fields&, StateRequest&) {}

template <class Fields>
void walk(Fields& field, UnloadRequest& request) {
  field("id", request.id);
}

/// Takes a walk and makes a JSON object.
class Writer {
 public:
  static constexpr bool reads = false;
  Json::Object object;

  template <class T>
  void operator()(const char* key, const T& value) {
    object.push_back({key, json_of(value)});
  }

  template <class T>
  static Json json_of(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return static_cast<std::underlying_type_t<T>>(value);
    } else if constexpr (std::is_integral_v<T>) {
      return value;
    } else {
      Writer writer;
      walk(writer, const_cast<T&>(value));  // a writer changes nothing
      return std::move(writer.object);
    }
  }
  static Json json_of(double value) { return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value)); }
  static Json json_of(Seconds value) { return json_of(value.value); }
  static Json json_of(const std::string& value) { return value; }
  static Json json_of(const std::filesystem::path& value) { return value.string(); }
  template <class T>
  static Json json_of(const std::vector<T>& values) {
    return list(values);
  }
  template <class T, std::size_t N>
  static Json json_of(const std::array<T, N>& values) {
    return list(values);
  }

 private:
  template <class Values>
  static Json list(const Values& values) {
    Json::Array items;
    for (const auto& value : values) items.push_back(json_of(value));
    return items;
  }
};

[[noreturn]] void refuse(std::string_view expected, const Json& found) {
  throw Error(Fault::failed, fmt::format("found {}, expected {}", kind_of(found), expected));
}

/// Takes the same walk and fills the struct from an object. Throws Error for what does not fit.
class Reader {
 public:
  static constexpr bool reads = true;
  explicit Reader(const Json& object) : object_(object) {}

  template <class T>
  void operator()(const char* key, T& value) {
    read(member(object_, key), value);
  }

  static const Json& member(const Json& object, std::string_view key) {
    const Json* found = object.find(key);
    if (found == nullptr) throw Error(Fault::failed, fmt::format("'{}' is missing", key));
    return *found;
  }

  template <class T>
  static void read(const Json& from, T& to) {
    if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      read(from, number);
      to = static_cast<T>(number);
    } else if constexpr (std::is_integral_v<T>) {
      read_integer(from, to);
    } else {
      if (from.object() == nullptr) refuse("an object", from);
      Reader reader(from);
      walk(reader, to);
    }
  }
  static void read(const Json& from, bool& to) {
    if (!from.boolean()) refuse("true or false", from);
    to = *from.boolean();
  }
  static void read(const Json& from, double& to) {
    if (from.string() == nullptr && !from.number()) refuse("a number", from);
    to = from.string() != nullptr ? std::strtod(from.string()->c_str(), nullptr) : *from.number();
  }
  static void read(const Json& from, Seconds& to) { read(from, to.value); }
  static void read(const Json& from, std::string& to) {
    if (from.string() == nullptr) refuse("a string", from);
    to = *from.string();
  }
  static void read(const Json& from, std::filesystem::path& to) {
    if (from.string() == nullptr) refuse("a path", from);
    to = *from.string();
  }
  template <class T>
  static void read(const Json& from, std::vector<T>& to) {
    for (const Json& item : items(from)) read(item, to.emplace_back());
  }
  template <class T, std::size_t N>
  static void read(const Json& from, std::array<T, N>& to) {
    if (items(from).size() != N) refuse(fmt::format("a list of {}", N), from);
    for (std::size_t i = 0; i < N; ++i) read(items(from)[i], to[i]);
  }

 private:
  template <class Integer>
  static void read_integer(const Json& from, Integer& to) {
    if constexpr (std::is_unsigned_v<Integer>) {
      const std::optional<std::uint64_t> number = from.natural();
      if (!number || !std::in_range<Integer>(*number)) refuse("a whole number in range, from 0 up", from);
      to = static_cast<Integer>(*number);
    } else {
      const std::optional<std::int64_t> number = from.integer();
      if (!number || !std::in_range<Integer>(*number)) refuse("a whole number in range", from);
      to = static_cast<Integer>(*number);
    }
  }
  static const Json::Array& items(const Json& from) {
    if (from.array() == nullptr) refuse("a list", from);
    return *from.array();
  }

  const Json& object_;
};

/// The alternative with number `kind`, read from JSON.
template <std::size_t I = 0>
Request alternative(std::size_t kind, const Json& from) {
  if constexpr (I < std::variant_size_v<Request>) {
    if (kind != I) return alternative<I + 1>(kind, from);
    std::variant_alternative_t<I, Request> request;
    Reader::read(from, request);
    return request;
  } else {
    throw Error(Fault::failed, fmt::format("found request {}, expected less than {}", kind, I));
  }
}

}  // namespace

std::string request_text(const Request& request) {
  const auto body = [](const auto& one) { return Writer::json_of(one); };
  return json_text({{"request", request.index()}, {"with", std::visit(body, request)}});
}

std::vector<std::span<const std::byte>> blob_pieces(const Request& request, std::span<const std::byte> contents) {
  std::vector<std::span<const std::byte>> pieces;
  if (const auto* load = std::get_if<LoadRequest>(&request))
    for (const Image& image : load->sequence.images) pieces.emplace_back(image.code);
  pieces.push_back(contents);
  return pieces;
}

std::pair<Request, std::span<const std::byte>> parse_request(std::string_view text, std::span<const std::byte> blob) {
  const Json whole = parse_json(text, "request");
  std::size_t kind = 0;
  Reader::read(Reader::member(whole, "request"), kind);
  Request request = alternative(kind, Reader::member(whole, "with"));
  if (auto* load = std::get_if<LoadRequest>(&request))
    for (Image& image : load->sequence.images) {
      if (image.code.size() > blob.size()) throw Error(Fault::failed, "the blob ends within an image");
      const auto code = blob.first(image.code.size());
      image.code.assign(code.begin(), code.end());
      blob = blob.subspan(code.size());
    }
  return {std::move(request), blob};
}

std::string response_text(const Response& response) { return json_text(Writer::json_of(response)); }

Response parse_response(std::string_view text) {
  Response response;
  Reader::read(parse_json(text, "response"), response);
  return response;
}

}  // namespace tailor::gpu
