// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A child's life. In: a command. Out: a process with a socket, and how it ended.
//
// The program starts itself again with posix_spawn; forking without exec is not safe once threads or a driver are
// alive. The child gets its socket under an agreed number, no input, and a process group of its own, so that an
// interrupt at the terminal reaches only the process that decides what it means, and that all it started ends with it.
// What it prints goes to a file without a name, of which a report of its death quotes the last line.
#include "base/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/text.h"

namespace tailor {

namespace {

constexpr std::chrono::milliseconds look{10};  ///< between two looks at whether a process has ended

/// Kills, and waits a moment: a process that hangs inside the driver may take long to die, and nobody needs it. One
/// that is not gone by then is taken away by a thread that has nothing else to do, else its entry would stay in the
/// system's table for as long as this program runs.
void end_process(pid_t process, Seconds patience = {2}) {
  ::kill(-process, SIGKILL);
  ::kill(process, SIGKILL);  // before it had its group
  const int attempts = static_cast<int>(1000 * patience.value);
  for (int i = 0; i < attempts; ++i) {
    if (waitpid(process, nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::thread([process] {
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }).detach();
}

std::string way_of(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("it was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("it exited with code {}", WEXITSTATUS(status));
}

/// How a process that closed its socket ended.
std::string ending_of(pid_t process) {
  int status = 0;
  constexpr int attempts = 300;
  for (int i = 0; i < attempts; ++i) {
    const pid_t done = waitpid(process, &status, WNOHANG);
    if (done == process) return way_of(status);
    if (done < 0) return "its end was not seen";
    std::this_thread::sleep_for(look);
  }
  end_process(process);
  return "it closed its socket and did not end";
}

/// The last line a process printed.
std::string error_output(int file) {
  constexpr off_t most = 4000;
  const off_t size = lseek(file, 0, SEEK_END);
  if (size <= 0) return {};
  std::string text(static_cast<std::size_t>(std::min(size, most)), '\0');
  const ssize_t got = pread(file, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  if (got <= 0) return {};
  const std::string_view all = trim(std::string_view(text).substr(0, static_cast<std::size_t>(got)));
  const std::size_t line = all.find_last_of('\n');
  return std::string(line == all.npos ? all : all.substr(line + 1));
}

}  // namespace

ChildProcess::~ChildProcess() { quit(); }

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)), socket_(std::move(other.socket_)), words_(std::move(other.words_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(socket_, other.socket_);
  std::swap(words_, other.words_);
  return *this;
}

std::string ChildProcess::start(const std::vector<std::string>& command) {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fmt::format("no socket: {}", std::strerror(errno));
  Descriptor ours(ends[0]), theirs(ends[1]);
  Descriptor print(memfd_create("words of a child", MFD_CLOEXEC));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const int number : {STDOUT_FILENO, STDERR_FILENO}) {
    if (print.number() >= 0) posix_spawn_file_actions_adddup2(&actions, print.number(), number);
  }
  posix_spawn_file_actions_adddup2(&actions, theirs.number(), child_socket);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Whoever listens for interrupts has them blocked in all threads, which a new process would inherit.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const int fault = posix_spawn(&process_, words[0], &actions, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (fault != 0) {
    process_ = -1;
    return fmt::format("{} cannot be started: {}", command[0], std::strerror(fault));
  }
  socket_ = std::move(ours);
  words_ = std::move(print);
  return {};
}

std::optional<Seconds> ChildProcess::processor_time() const {
  clockid_t clock{};
  timespec spent{};
  if (process_ < 0 || clock_getcpuclockid(process_, &clock) != 0 || clock_gettime(clock, &spent) != 0) return {};
  return Seconds{static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec)};
}

void ChildProcess::quit() {
  if (process_ < 0) return;
  socket_ = Descriptor();
  constexpr int attempts = 100;
  for (int i = 0; i < attempts; ++i) {
    if (waitpid(process_, nullptr, WNOHANG) != 0) {
      process_ = -1;
      return;
    }
    std::this_thread::sleep_for(look);
  }
  end_process(std::exchange(process_, -1));
}

void ChildProcess::kill(Seconds patience) {
  if (process_ >= 0) end_process(std::exchange(process_, -1), patience);
  socket_ = Descriptor();
}

std::string ChildProcess::ending() {
  socket_ = Descriptor();
  if (process_ < 0) return "it does not run";
  const std::string how = ending_of(std::exchange(process_, -1));
  const std::string said = error_output(words_.number());
  return how + (said.empty() ? "" : "; it said: " + said);
}

}  // namespace tailor
