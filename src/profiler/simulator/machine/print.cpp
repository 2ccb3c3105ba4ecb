// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// printf of a kernel. The compiler calls vprintf(format, values): addresses, of which the second is of a record in
// local memory that holds the values in order, each at a multiple of its size: 4 bytes of an int and what is promoted
// to it, 8 of a long, a double or a pointer. In: these two addresses, lane by lane. Out: text in the machine's list.
//
// The format is taken apart here, because its values are bytes of simulated memory and not arguments. Each conversion
// becomes one of the host's, rebuilt from the flags, width and precision that C knows, so nothing that a kernel writes
// reaches the host's printf unread. What is no conversion is printed as it stands, and what cannot be read as "(?)".
//
// Each machine keeps the first 1 MiB of what its resident sets print. They come in order, so the first 1 MiB of the
// launch are among them whatever the number of threads.
#include "profiler/simulator/machine/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace tailor::simulator {
namespace {

constexpr std::string_view unreadable = "(?)";
constexpr int most_width = 4096;  ///< of one value: a kernel may ask for any

/// Simulated memory as one lane sees it.
class LaneMemory {
 public:
  LaneMemory(Warp& warp, int lane) : warp_(warp), state_(state_of(warp).machine->state), lane_(lane) {}

  /// Null: not all of the bytes are in one buffer or in the lane's local memory.
  const std::byte* at(std::uint64_t address, std::uint64_t bytes) const {
    if (address >= local_window && address < local_window + window_bytes) return local(address - local_window, bytes);
    const int buffer = state_.memory.holding(address);
    if (buffer < 0) return nullptr;
    const MemoryBuffer& of = state_.memory.buffers[buffer];
    const std::uint64_t offset = address - global_base - static_cast<std::uint64_t>(of.offset);
    if (bytes > static_cast<std::uint64_t>(of.bytes) - offset) return nullptr;
    state_.memory.window(buffer, static_cast<std::int64_t>(offset), static_cast<std::int64_t>(bytes));
    return state_.memory.pages[buffer].data() + offset;
  }
  /// `offset` from the beginning of the lane's local memory.
  const std::byte* local(std::uint64_t offset, std::uint64_t bytes) const {
    const auto size = static_cast<std::uint64_t>(state_.program.local_bytes);
    if (bytes > size || offset > size - bytes) return nullptr;
    return warp_.local.host + static_cast<std::uint64_t>(lane_) * warp_.local.lane_stride + offset;
  }
  /// Up to its zero byte.
  std::optional<std::string> text(std::uint64_t address) const {
    const std::byte* const first = at(address, 1);
    for (std::uint64_t size = 0; size < most_printed; ++size) {
      const std::byte* const one = at(address + size, 1);
      if (one == nullptr) return std::nullopt;
      if (*one == std::byte{0}) return std::string(reinterpret_cast<const char*>(first), size);
    }
    return std::nullopt;
  }

 private:
  Warp& warp_;
  const LaunchState& state_;
  int lane_;
};

template <class Value>
std::optional<Value> value_at(const std::byte* at) {
  if (at == nullptr) return std::nullopt;
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// The values of one call, read one after the other.
class Values {
 public:
  Values(const LaneMemory& memory, std::uint64_t address) : memory_(memory), next_(address) {}

  template <class Value>
  std::optional<Value> take() {
    next_ = (next_ + sizeof(Value) - 1) / sizeof(Value) * sizeof(Value);
    const std::uint64_t at = next_;
    next_ += sizeof(Value);
    return value_at<Value>(memory_.at(at, sizeof(Value)));
  }

 private:
  const LaneMemory& memory_;
  std::uint64_t next_;
};

/// %[flags][width][.precision][length]conversion
struct Conversion {
  std::string flags, length;
  std::optional<int> width, precision;
  char kind = 0;
};

template <class Value>
std::string converted(const Conversion& one, std::string_view length, Value value) {
  std::string form = "%" + one.flags;
  if (one.width) form += std::to_string(*one.width);
  if (one.precision) form += "." + std::to_string(*one.precision);
  form += length;
  form += one.kind;
  const int size = std::snprintf(nullptr, 0, form.c_str(), value);
  std::string text(static_cast<std::size_t>(std::max(size, 0)) + 1, '\0');
  std::snprintf(text.data(), text.size(), form.c_str(), value);
  text.pop_back();
  return text;
}

/// A whole number as wide as its length says, then as wide as C promotes it.
std::optional<long long> whole(const Conversion& one, Values& values) {
  const bool is_signed = one.kind == 'd' || one.kind == 'i';
  if (!one.length.empty() && one.length[0] != 'h') return values.take<long long>();
  const std::optional<int> value = values.take<int>();
  if (!value) return std::nullopt;
  if (one.length == "hh")
    return is_signed ? static_cast<long long>(static_cast<signed char>(*value)) : static_cast<unsigned char>(*value);
  if (one.length == "h")
    return is_signed ? static_cast<long long>(static_cast<short>(*value)) : static_cast<unsigned short>(*value);
  return is_signed ? static_cast<long long>(*value) : static_cast<long long>(static_cast<unsigned>(*value));
}

std::string text_of(const Conversion& one, const LaneMemory& memory, Values& values) {
  const std::string nothing(unreadable);
  switch (one.kind) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
      const auto value = whole(one, values);
      return value ? converted(one, "ll", *value) : nothing;
    }
    case 'c': {
      const auto value = values.take<int>();
      return value ? converted(one, "", *value) : nothing;
    }
    case 's': {
      const auto address = values.take<std::uint64_t>();
      const auto text = address ? memory.text(*address) : std::nullopt;
      return text ? converted(one, "", text->c_str()) : nothing;
    }
    case 'p': {
      const auto address = values.take<std::uint64_t>();
      return address ? fmt::format("{:#x}", *address) : nothing;
    }
    default: {
      const auto value = values.take<double>();
      return value ? converted(one, "", *value) : nothing;
    }
  }
}

/// The conversion that `rest`, behind its '%', begins with, which is taken away; nothing where there is none.
std::optional<Conversion> take_conversion(std::string_view& rest, Values& values) {
  std::string_view text = rest;
  Conversion one;
  const auto take = [&](std::string_view any) {
    const std::size_t count = std::min(text.find_first_not_of(any), text.size());
    const std::string_view taken = text.substr(0, count);
    text.remove_prefix(count);
    return std::string(taken);
  };
  const auto number = [&]() -> std::optional<int> {
    if (text.starts_with('*')) {
      text.remove_prefix(1);
      return std::clamp(values.take<int>().value_or(0), -most_width, most_width);
    }
    const std::string digits = take("0123456789");
    if (digits.empty()) return std::nullopt;
    return digits.size() > 4 ? most_width : std::min(std::stoi(digits), most_width);
  };
  one.flags = take("-+ #0");
  one.width = number();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    one.precision = number().value_or(0);
  }
  one.length = take("hlLqjzt");
  if (text.empty() || std::string_view("diuoxXcspfFeEgGaA").find(text[0]) == std::string_view::npos)
    return std::nullopt;
  one.kind = text[0];
  if (one.precision && *one.precision < 0) one.precision.reset();
  rest = text.substr(1);
  return one;
}

std::string printed_text(std::string_view format, const LaneMemory& memory, Values values) {
  std::string text;
  while (!format.empty()) {
    const std::size_t percent = std::min(format.find('%'), format.size());
    text += format.substr(0, percent);
    format.remove_prefix(percent);
    if (format.empty()) break;
    format.remove_prefix(1);
    if (format.starts_with('%')) {
      format.remove_prefix(1);
      text += '%';
    } else if (const std::optional<Conversion> one = take_conversion(format, values)) {
      text += text_of(*one, memory, values);
    } else {
      text += '%';
    }
  }
  return text;
}

}  // namespace

void print(Warp& warp, const Micro& micro) {
  Machine& machine = *state_of(warp).machine;
  const std::int64_t first_block = machine.resident[0].linear;
  for (std::uint32_t left = warp.active; left != 0; left &= left - 1) {
    if (machine.printed_bytes >= most_printed) {
      machine.printed_all = false;
      return;
    }
    const int lane = std::countr_zero(left);
    const LaneMemory memory(warp, lane);
    const auto parameter = [&](Slot slot) {
      return value_at<std::uint64_t>(memory.local(double_words(warp, slot)[lane], 8)).value_or(0);
    };
    const std::optional<std::string> format = memory.text(parameter(micro.a));
    std::string text =
        format ? printed_text(*format, memory, Values(memory, parameter(micro.b))) : std::string(unreadable);
    machine.printed_bytes += text.size();
    if (machine.printed.empty() || machine.printed.back().first_block != first_block)
      machine.printed.push_back({first_block, {}});
    machine.printed.back().text += text;
  }
}

}  // namespace tailor::simulator
