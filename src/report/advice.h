// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Advice: what to look at next. In: a Summary. Out: sentences, made by a short table of rules. Called
// by the overview and the page. A rule speaks only when its number is there, and its sentence names
// that number.
#pragma once

#include <string>
#include <vector>

#include "report/summary.h"

namespace tailor::report {

/// In the order of the rules; empty when none applies.
std::vector<std::string> advice(const Summary& summary);

}  // namespace tailor::report
