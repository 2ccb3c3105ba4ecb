// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A number and what it counts, in the right form. In: how many, and the word for one of them, whose plural ends in s.
// Out: "1 kernel", "2 kernels", "0 kernels". Called by whoever writes a sentence that counts: verdicts of checks,
// warnings of an import.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tailor {

inline std::string counted(std::int64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

}  // namespace tailor
