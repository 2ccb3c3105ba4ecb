// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Seeded graphs for property tests. well_formed_graph keeps every shape rule and can be evaluated; any_text_graph uses
// every operation and attribute without meaning, to try the text form. Used by tests of text forms, strategies,
// partitions and sequences.
#pragma once

#include <cstdint>
#include <random>

#include "ir/graph/graph.h"

/// About `nodes` nodes on small shapes: elementwise operations in several types, index operations, look-ups,
/// reductions, sort. verify() accepts it and the evaluator runs it. The same seed gives the same graph on every
/// machine.
tailor::ir::Graph well_formed_graph(std::uint64_t seed, int nodes);

/// Every operation of the table once in random order, with random names, layouts, attributes, literals, bodies and
/// given groups. Well-formed as text only.
tailor::ir::Graph any_text_graph(std::uint64_t seed);
