// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Files in other forms than HLO text are named, with the way to HLO text; HLO text never is. Inputs are the first bytes
// that the tools of XLA and JAX write, put together by hand.
// Part of the suite `hlo`.
#include "hlo/formats.h"

#include <doctest/doctest.h>

#include <string>

#include "base/error.h"

using namespace tailor;
using namespace tailor::hlo;

namespace {

std::string said_of(const std::string& content) {
  try {
    refuse_other_forms(content, "model.hlo");
  } catch (const Error& error) {
    CHECK(error.fault == Fault::failed);
    CHECK(error.at.file == "model.hlo");
    return error.message + "; " + error.hint;
  }
  return {};
}

/// A length-delimited field of a protobuf.
std::string field(char key, const std::string& value) {
  std::string bytes(1, key);
  std::size_t length = value.size();
  for (; length > 0x7f; length >>= 7) bytes += static_cast<char>((length & 0x7f) | 0x80);
  return bytes + static_cast<char>(length) + value;
}

const std::string text = "HloModule m\n\nENTRY e {\n  ROOT x = f32[4]{0} parameter(0)\n}\n";

}  // namespace

TEST_CASE("HLO text passes, with whatever stands before it") {
  CHECK(said_of(text).empty());
  CHECK(said_of("\n\n// a comment\n" + text).empty());
  CHECK(said_of("").empty());
  CHECK(said_of("HloModule module, is_scheduled=true\n").empty());
  CHECK(said_of("module_of_mine").empty());
}

TEST_CASE("StableHLO as text and bytecode is named, and what makes HLO of it") {
  for (const char* start :
       {"module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n", "module {\n",
        "#loc = loc(unknown)\nmodule @m {\n", "// RUN: x\nfunc.func @main() {\n", "builtin.module @m {\n"}) {
    const std::string said = said_of(start);
    CHECK(said.find("found MLIR text (StableHLO), expected HLO text") != std::string::npos);
    CHECK(said.find("as_text(dialect=\"hlo\")") != std::string::npos);
  }
  const std::string said =
      said_of(std::string("ML\xef"
                          "R\x03StableHLO_v1.0.0\0",
                          22));
  CHECK(said.find("found MLIR bytecode") != std::string::npos);
  CHECK(said.find("stablehlo-translate --deserialize") != std::string::npos);
}

TEST_CASE("an HLO protobuf is named, alone or inside what XLA wraps around it") {
  const std::string module = field(0x0a, "jit_f.4") + field(0x12, "main.4") + field(0x1a, std::string(300, 'c'));
  for (const std::string& bytes : {module, field(0x0a, module), field(0x0a, field(0x0a, module))}) {
    const std::string said = said_of(bytes);
    CHECK(said.find("found an HLO protobuf") != std::string::npos);
    CHECK(said.find("as_hlo_text()") != std::string::npos);
  }
}

TEST_CASE("a byte order mark and UTF-16 are named") {
  CHECK(said_of("\xef\xbb\xbf" + text).find("found a byte order mark of UTF-8") != std::string::npos);
  CHECK(said_of(std::string("\xff\xfeH\0l\0", 6)).find("iconv -f UTF-16") != std::string::npos);
  CHECK(said_of(std::string("\xfe\xff\0H", 4)).find("iconv -f UTF-16") != std::string::npos);
}
