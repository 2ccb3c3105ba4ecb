// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The program: words in, an exit code out. It holds the only catch; everything else is in libraries, within reach of
// tests. An Error that arrives here is printed once, with its place and its hint, and its fault decides the exit code
// that the shell sees.
#include <signal.h>

#include <csignal>
#include <exception>
#include <new>
#include <span>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/commands.h"

int main(int count, char** words) {
  using namespace tailor;
  // A file that may not grow any more (ulimit -f) is a write that fails, like a full disk, and no reason to die.
  std::signal(SIGXFSZ, SIG_IGN);
  // Ctrl-C waits until a command listens, and does not kill one whose work is done.
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, nullptr);
  const cli::Terminal terminal = cli::current_terminal();
  const std::span<char* const> typed(words, static_cast<std::size_t>(count));
  try {
    cli::dispatch(typed, terminal);
    return 0;
  } catch (const Error& error) {
    return cli::refused(error, typed, terminal);
  } catch (const std::bad_alloc&) {
    return cli::refused(Error(Fault::failed, "out of memory"), typed, terminal);
  } catch (const std::exception& error) {
    return cli::refused(Error(Fault::failed, fmt::format("inside Tailor: {}", error.what()),
                              "this is a bug: please report it with the command and the model"),
                        typed, terminal);
  }
}
