// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker and nothing else, for tests of those who ask: the program's own side of profiler/measure/worker.h, and, told
// to compile, of profiler/compile/compiler.h. With other words after its name it prints them and says them on the
// socket as they are, as a program would that is no worker. Started by the suites `profiler` and `study`.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "profiler/compile/compiler.h"
#include "profiler/measure/worker.h"

int main(int count, char** words) {
  if (count > 1 && std::strcmp(words[1], "--compiler") == 0)
    return tailor::profiler::serve_compiler(tailor::child_socket);
  if (count < 2) return tailor::profiler::serve(tailor::profiler::worker_socket);
  std::puts(words[1]);
  std::fflush(stdout);
  const std::size_t size = std::strlen(words[1]);
  const std::size_t lengths[2] = {size, 0};
  if (write(tailor::profiler::worker_socket, lengths, sizeof lengths) != sizeof lengths) return 2;
  if (write(tailor::profiler::worker_socket, words[1], size) != static_cast<ssize_t>(size)) return 2;
  pause();
  return 0;
}
