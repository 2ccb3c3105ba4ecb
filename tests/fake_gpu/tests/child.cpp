// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fork and wait, with a time limit. In: a body. Out: how the child ended. A
// body that comes back leaves without running what the parent would run at
// its end.
#include "fake_gpu/tests/child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace tailor::fake {

std::string ending(const std::function<void()>& body, double seconds) {
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    for (const int one : {SIGABRT, SIGSEGV}) std::signal(one, SIG_DFL);  // doctest catches them
    body();
    _exit(0);
  }
  const auto limit = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > limit) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return "hangs";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                             : "exit " + std::to_string(WEXITSTATUS(status));
}

}  // namespace tailor::fake
