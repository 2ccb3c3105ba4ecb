// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A made-up but realistic run for the tests of the report: a small transformer, three strategies, four groups, one of
// them without a skeleton, one with a failed check. Names contain what must be escaped. Called by the tests of pages,
// tables and overviews.
#pragma once

#include "report/summary.h"

/// The same every time.
tailor::report::Summary example_summary();
