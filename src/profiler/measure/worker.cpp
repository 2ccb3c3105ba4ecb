// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker's life. In: requests with their bytes and a time limit. Out: a response in any case, and the reason when it
// is not the worker's own. Called by all that measures; worker.h says why there is a process.
//
// Starting. The program starts itself again with posix_spawn; forking without exec is not safe once threads or a
// driver are alive. The worker gets a socket under an agreed number, no input, and a process group of its own, so that
// an interrupt at the terminal reaches only the process that decides what it means. What it prints goes to a file
// without a name, of which a crash report quotes the last line.
//
// Asking. A request goes as text over the socket and its bytes as memory that both processes map. No response within
// the limit means that the worker hangs: it is killed, and the outcome is "timed out". A closed socket means that it
// died: how it ended is asked of the system. A response that cannot be read counts as a death too. After a response
// that says that the context was lost the worker is killed, because no later answer of it could be trusted.
//
// The next request starts another worker and opens the GPU again. What was loaded is gone then; generation() tells it
// to whoever loaded it. Leaving, the socket is closed, which a worker understands; one that stays is killed.
#include "profiler/measure/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include "base/text.h"
#include "profiler/gpu/request/request_text.h"
#include "profiler/measure/channel.h"

namespace tailor::profiler {

namespace {

gpu::Response make_response(ir::Outcome outcome, std::string reason) {
  gpu::Response response;
  response.outcome = outcome;
  response.reason = std::move(reason);
  return response;
}

/// Kills, and waits a moment: a process that hangs inside the driver may take long to die, and nobody needs it.
void end_process(pid_t process) {
  kill(process, SIGKILL);
  constexpr int attempts = 200;
  for (int i = 0; i < attempts; ++i) {
    const pid_t done = waitpid(process, nullptr, WNOHANG);
    if (done != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/// How a process that closed its socket ended.
std::string ending_of(pid_t process) {
  int status = 0;
  constexpr int attempts = 300;
  for (int i = 0; i < attempts; ++i) {
    const pid_t done = waitpid(process, &status, WNOHANG);
    if (done == process) {
      if (WIFSIGNALED(status))
        return fmt::format("it was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
      return fmt::format("it exited with code {}", WEXITSTATUS(status));
    }
    if (done < 0) return "its end was not seen";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
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

struct Worker::Body {
  WorkerSetup setup;
  pid_t process = -1;
  Descriptor socket, words;
  gpu::Response opened;
  int generation = 0;
  int numbers = 0;  ///< that were given out

  ~Body() { quit(); }

  /// The other end sees the socket close and leaves; one that does not is killed.
  void quit() {
    if (process < 0) return;
    socket = Descriptor();
    constexpr int attempts = 100;
    for (int i = 0; i < attempts; ++i) {
      if (waitpid(process, nullptr, WNOHANG) != 0) {
        process = -1;
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    end_process(process);
    process = -1;
  }

  void kill_now() {
    if (process >= 0) end_process(process);
    process = -1;
    socket = Descriptor();
  }

  /// Empty, or why no process could be started.
  std::string start() {
    std::array<int, 2> ends{-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      return fmt::format("no socket: {}", std::strerror(errno));
    Descriptor ours(ends[0]), theirs(ends[1]);
    Descriptor print(memfd_create("words of a worker", MFD_CLOEXEC));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (const int number : {STDOUT_FILENO, STDERR_FILENO}) {
      if (print.number() >= 0) posix_spawn_file_actions_adddup2(&actions, print.number(), number);
    }
    posix_spawn_file_actions_adddup2(&actions, theirs.number(), worker_socket);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // Whoever listens for interrupts has them blocked in all threads, which a new process would inherit.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    std::vector<char*> words_of_command;
    for (std::string& word : setup.command) words_of_command.push_back(word.data());
    words_of_command.push_back(nullptr);
    const int fault =
        posix_spawn(&process, words_of_command[0], &actions, &attributes, words_of_command.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (fault != 0) {
      process = -1;
      return fmt::format("{} cannot be started: {}", setup.command[0], std::strerror(fault));
    }
    socket = std::move(ours);
    words = std::move(print);
    ++generation;
    return {};
  }

  /// One question to the process that runs.
  gpu::Response exchange(const gpu::Request& request, std::span<const std::byte> blob, Seconds limit) {
    const std::optional<SharedBytes> bytes = SharedBytes::holding(gpu::blob_pieces(request, blob));
    if (!bytes)
      return make_response(ir::Outcome::unavailable, "this machine has no memory left for the buffers' contents");
    Message message;
    ReceiveResult heard = ReceiveResult::ended;
    if (send_message(socket.number(), gpu::request_text(request), *bytes))
      heard = receive_message(socket.number(), limit, setup.stop, message);
    switch (heard) {
      case ReceiveResult::message:
        break;
      case ReceiveResult::too_late:
        kill_now();
        return make_response(ir::Outcome::timed_out,
                             fmt::format("no answer within {}: the worker was killed", humane_seconds(limit.value)));
      case ReceiveResult::stopped:
        kill_now();
        return make_response(ir::Outcome::stopped, "stopped");
      case ReceiveResult::ended: {
        const std::string how = ending_of(std::exchange(process, -1));
        socket = Descriptor();
        const std::string said = error_output(words.number());
        return make_response(ir::Outcome::crashed,
                             fmt::format("the worker died: {}{}", how, said.empty() ? "" : "; it said: " + said));
      }
    }
    gpu::Response response = read(message);
    if (response.context_lost) kill_now();
    return response;
  }

  /// What the process said; one that says something else than an answer is as good as dead.
  static gpu::Response read(const Message& message) {
    try {
      gpu::Response response = gpu::parse_response(message.text);
      const auto data = message.blob.bytes();
      response.blob.assign(data.begin(), data.end());
      return response;
    } catch (const std::exception& wrong) {
      gpu::Response response = make_response(
          ir::Outcome::crashed, fmt::format("the worker's answer cannot be read, it was killed: {}", wrong.what()));
      response.context_lost = true;
      return response;
    }
  }

  /// Starts a worker and opens its GPU; the answer says whether that went well.
  const gpu::Response& begin() {
    if (process >= 0) return opened;
    if (const std::string reason = start(); !reason.empty()) {
      opened = make_response(ir::Outcome::unavailable, "no worker process: " + reason);
      return opened;
    }
    opened = exchange(gpu::OpenRequest{setup.paths, setup.ordinal, setup.use}, {}, setup.start_limit);
    if (opened.outcome != ir::Outcome::ok) kill_now();
    return opened;
  }
};

Worker::Worker(WorkerSetup setup) : body_(std::make_unique<Body>()) { body_->setup = std::move(setup); }
Worker::~Worker() = default;
Worker::Worker(Worker&&) noexcept = default;
Worker& Worker::operator=(Worker&&) noexcept = default;

gpu::Response Worker::call(const gpu::Request& request, std::span<const std::byte> blob, Seconds limit) {
  if (std::holds_alternative<gpu::CapabilitiesRequest>(request)) {
    // Tells more of an open GPU (who may read counters), and must answer where there is none.
    body_->begin();
    if (body_->process < 0)
      if (const std::string reason = body_->start(); !reason.empty())
        return make_response(ir::Outcome::unavailable, "no worker process: " + reason);
    gpu::Response response = body_->exchange(request, blob, limit);
    body_->kill_now();
    return response;
  }
  if (const gpu::Response& ready = body_->begin(); ready.outcome != ir::Outcome::ok) return ready;
  return body_->exchange(request, blob, limit);
}

const gpu::Response& Worker::opened() {
  if (body_->generation == 0) body_->begin();
  return body_->opened;
}

int Worker::generation() const { return body_->generation; }
int Worker::new_number() { return body_->numbers++; }
bool Worker::is_running() const { return body_->process >= 0; }

}  // namespace tailor::profiler
