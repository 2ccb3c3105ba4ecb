// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A program of the build. In: four file names. Out: the manual page and the completions of bash, zsh and fish, in this
// order. Meson calls it when commands have changed, and installs the files. It is linked with all of Tailor, since the
// tables of commands are.
#include <cstdio>

#include "base/text.h"
#include "cli/commands.h"
#include "manual/manual.h"

int main(int count, char** words) {
  using namespace tailor;
  if (count != 5) {
    std::fputs("usage: write_manual MAN BASH ZSH FISH\n", stderr);
    return 2;
  }
  const std::vector<manual::CommandEntry> entries = manual::entries();
  write_file(words[1], manual::man_page(entries, cli::tool_name));
  write_file(words[2], manual::bash_completion(entries));
  write_file(words[3], manual::zsh_completion(entries));
  write_file(words[4], manual::fish_completion(entries));
  return 0;
}
