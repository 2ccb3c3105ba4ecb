// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the model counted, by the names of the vocabulary (ir/counters.def), whose column `model` says which part of
// Work each is. Takes a Work or a buffer of one and a name; called where counts are shown side by side. A count that
// the model does not make is absent, never zero.
#include <array>

#include "costmodel/work.h"

namespace tailor::costmodel {

namespace {

using Count = std::optional<double>;
constexpr std::nullopt_t none = std::nullopt;

Count number(std::int64_t count) { return static_cast<double>(count); }
Count number(double count) { return count; }
Count number(int count) { return count; }
Count number(std::nullopt_t) { return std::nullopt; }

/// Distinct sectors: what memory must move at least once.
double written_footprint(const Work& work) {
  double sum = 0;
  for (const BufferWork& buffer : work.buffers) sum += written_footprint(buffer);
  return sum;
}

struct LaunchCount {
  std::string_view name;
  Count (*of)(const Work&);
};
#define NONE none
constexpr auto launch_rows = std::to_array<LaunchCount>({
#define LAUNCH_COUNTER(name, unit, model, gpu, meaning) \
  {#name, []([[maybe_unused]] const Work& work) { return number(model); }},
#include "ir/counters.def"
});
#undef NONE

struct BufferCount {
  std::string_view name;
  Traffic BufferWork::*direction;
  std::int64_t Traffic::*part;
};
constexpr auto buffer_rows = std::to_array<BufferCount>({
#define BUFFER_COUNTER(name, unit, direction, part, gpu, meaning) {#name, &BufferWork::direction, &Traffic::part},
#include "ir/counters.def"
});

/// Without followers.
Count count_of_launch(const Work& work, std::string_view counter) {
  for (const LaunchCount& row : launch_rows)
    if (row.name == counter) return row.of(work);
  Count sum;
  for (const BufferWork& buffer : work.buffers)
    if (const Count part = model_count(buffer, counter)) sum = sum.value_or(0) + *part;
  return sum;
}

}  // namespace

std::optional<double> model_count(const BufferWork& buffer, std::string_view counter) {
  for (const BufferCount& row : buffer_rows)
    if (row.name == counter) return number(buffer.*row.direction.*row.part);
  return std::nullopt;
}

std::optional<double> model_count(const Work& work, std::string_view counter) {
  if (counter == "dram_read_bytes") return read_first(work);  // of all launches: later ones find what earlier ones had
  Count sum;
  for (const Work& one : works_of(work))
    if (const Count count = count_of_launch(one, counter)) sum = sum.value_or(0) + *count;
  return sum;
}

}  // namespace tailor::costmodel
