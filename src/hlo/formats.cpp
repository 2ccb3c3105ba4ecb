// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Knowing a model's form by its first bytes. In: contents. Out: an Error for what is no HLO text but something that
// becomes it. Called by import.cpp. Each form has a row: how it is known, what it is called, what to do. A protobuf has
// no magic number: its first field of HloModuleProto is the module's name and the second the entry computation's, and
// HloProto and HloSnapshot hold such a module as their first field.
#include "hlo/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace tailor::hlo {

namespace {

bool has_utf8_mark(std::string_view content) { return content.starts_with("\xef\xbb\xbf"); }

bool is_utf16(std::string_view content) { return content.starts_with("\xff\xfe") || content.starts_with("\xfe\xff"); }

bool is_bytecode(std::string_view content) { return content.starts_with("ML\xefR"); }

/// The contents of a length-delimited field at the front, which is cut off.
std::optional<std::string_view> field(std::string_view& content, char key) {
  if (content.empty() || content.front() != key) return {};
  std::uint64_t length = 0;
  std::size_t at = 1;
  for (int shift = 0; at < content.size() && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(content[at++]);
    length |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) != 0) continue;
    if (length > content.size() - at) return {};
    const std::string_view value = content.substr(at, length);
    content.remove_prefix(at + length);
    return value;
  }
  return {};
}

bool is_proto(std::string_view content) {
  constexpr int most_nested = 3;  // HloSnapshot, HloProto, HloModuleProto
  constexpr char first = 0x0a, second = 0x12;
  for (int depth = 0; depth < most_nested; ++depth) {
    const std::optional<std::string_view> inner = field(content, first);
    if (!inner) return false;
    const bool is_name = !inner->empty() && inner->find_first_of(std::string_view("\0\n\x12", 3)) == inner->npos;
    if (is_name && !content.empty() && content.front() == second) return true;
    content = *inner;
  }
  return false;
}

/// Without blank lines and comments.
std::string_view first_words(std::string_view content) {
  for (;;) {
    content = content.substr(std::min(content.find_first_not_of(" \t\r\n"), content.size()));
    if (!content.starts_with("//") && !content.starts_with("#loc")) return content;
    content = content.substr(std::min(content.find('\n'), content.size()));
  }
}

bool is_mlir(std::string_view content) {
  const std::string_view words = first_words(content);
  for (const std::string_view start : {"func.func", "builtin.module", "stablehlo.", "mhlo.", "\"builtin.module\""})
    if (words.starts_with(start)) return true;
  if (!words.starts_with("module")) return false;
  const std::string_view rest = first_words(words.substr(std::string_view("module").size()));
  return rest.starts_with("@") || rest.starts_with("{") || rest.starts_with("attributes");
}

constexpr std::string_view from_mlir =
    "StableHLO becomes HLO text in JAX by jax.jit(f).lower(x).as_text(dialect=\"hlo\"), of a file by XLA's "
    "xla-translate --stablehlo-to-hlo-text";

struct Form {
  bool (*is)(std::string_view content);
  std::string_view found, hint;
};
constexpr auto forms = std::to_array<Form>({
    {has_utf8_mark, "a byte order mark of UTF-8", "save the file without it: tail -c +4 FILE > FILE.hlo"},
    {is_utf16, "text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE > FILE.hlo"},
    {is_bytecode, "MLIR bytecode",
     "stablehlo-translate --deserialize FILE makes StableHLO text of it, and xla-translate --stablehlo-to-hlo-text "
     "makes "
     "HLO text of that; in JAX jax.jit(f).lower(x).as_text(dialect=\"hlo\") gives it at once"},
    {is_proto, "an HLO protobuf",
     "jaxlib's xla_client.XlaComputation(open(FILE, 'rb').read()).as_hlo_text() makes text of a module's protobuf; "
     "--xla_dump_hlo_as_text dumps text in the first place"},
    {is_mlir, "MLIR text (StableHLO)", from_mlir},
});

}  // namespace

void refuse_other_forms(std::string_view content, std::string_view file) {
  for (const Form& form : forms)
    if (form.is(content))
      throw Error(Fault::failed, Position{std::string(file), 1, 1},
                  fmt::format("found {}, expected HLO text", form.found), std::string(form.hint));
}

}  // namespace tailor::hlo
