// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups that a test writes down as text: parsed, verified, and known by the id that any group with this text has.
// In: text. Out: a group, or Error with the line at fault. Called through text_group.h by tests of lowering whose group
// is in no family.
#include "support/text_group.h"

#include "base/hash.h"
#include "ir/graph/graph.h"

namespace tailor::ir {

Group group_of_text(const std::string& text) {
  Group group;
  group.graph = parse_graph(text);
  verify(group.graph);
  group.id = id_of(std::string_view(canonical_text(group.graph)));
  return group;
}

Group group_of_lines(const std::string& lines) { return group_of_text("graph g {\n" + lines + "}\n"); }

}  // namespace tailor::ir
