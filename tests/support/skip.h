// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Marks the running test case as skipped: it shows as SKIP with its reason in the TAP output, and the case should
// return right after. For what a machine may lack: NVRTC, CUPTI, a toolkit, the data folder. Linked into every test
// program.
#pragma once

#include <string>

void skip(const std::string& reason);
