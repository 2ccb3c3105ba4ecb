// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Marks the running test case as skipped: it shows as SKIP with its reason, and the case should return.
#pragma once

#include <string>

void skip(const std::string& reason);
