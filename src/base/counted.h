// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A number and what it counts, in the right form. In: how many, and the word for one of them, as English makes its
// plural. Out: "1 kernel", "1,200 kernels", "0 launches". Called by whoever writes a sentence that counts. A test of
// the sources holds that the rooms people read from write such numbers no other way.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/text.h"

namespace tailor {

/// "kernels", "launches", "bodies".
inline std::string plural(std::string_view one) {
  const bool hisses = one.ends_with("ch") || one.ends_with("s") || one.ends_with("x");
  const bool changes = one.ends_with('y') && !one.ends_with("ay") && !one.ends_with("ey");
  return changes ? fmt::format("{}ies", one.substr(0, one.size() - 1)) : fmt::format("{}{}", one, hisses ? "es" : "s");
}

/// A count that was added up in double, as a whole number: rounded, and the largest that 64 bits hold where it is
/// beyond them, as the runs of a loop in a loop in a loop may be. Precondition: not NaN.
inline std::int64_t whole_count(double count) {
  constexpr double beyond = 0x1p63;
  if (count >= beyond) return std::numeric_limits<std::int64_t>::max();
  return count <= -beyond ? std::numeric_limits<std::int64_t>::min() : std::llround(count);
}

template <std::integral Count>
std::string counted(Count count, std::string_view one) {
  return fmt::format("{} {}", with_commas(static_cast<std::int64_t>(count)),
                     count == 1 ? std::string(one) : plural(one));
}

/// "1 kernel is", "3 kernels are": with the verb for one and for many.
template <std::integral Count>
std::string counted(Count count, std::string_view one, std::string_view is, std::string_view are) {
  return fmt::format("{} {}", counted(count, one), count == 1 ? is : are);
}

}  // namespace tailor
