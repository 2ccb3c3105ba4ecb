// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the import: any text either is refused with an Error or becomes a graph whose text form reads back to the
// same graph, and whose ledger balances. Anything else (a crash, another exception, a leak) is a bug. Run by libFuzzer
// as hlo_fuzz, and over corpus/hlo with mutants in the suite `fuzz` (replay.cpp).
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "hlo/import.h"
#include "hlo/normalise.h"
#include "support/ledger.h"

namespace {

bool holds(std::string_view text) {
  using namespace tailor;
  using namespace tailor::ir;
  using namespace tailor::hlo;
  const Imported imported = import_hlo(text, "fuzz.hlo");
  if (nodes_by_ledger(imported) != nodes_in_all(imported.graph)) return false;
  return parse_graph(tailor::ir::text(imported.graph)) == imported.graph;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    if (!holds({reinterpret_cast<const char*>(bytes), size})) std::abort();
  } catch (const tailor::Error&) {
    return 0;
  }
  return 0;
}
