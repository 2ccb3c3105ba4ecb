// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The worker's own side: one loop over requests, and how this program starts itself as a worker. In:
// messages of a channel. Out: responses, until the other end is gone. Called by main when it is told to be
// a worker.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <thread>

#include "base/text.h"
#include "profiler/gpu/request/request_text.h"
#include "profiler/gpu/session/gpu.h"
#include "profiler/measure/channel.h"
#include "profiler/measure/worker.h"

namespace tailor::profiler {

namespace {

/// Ends this process once its parent has died: one that hangs in a driver's call would never see the socket close.
void leave_with(pid_t parent) {
  std::thread([parent] {
    while (getppid() == parent) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    kill(getpid(), SIGKILL);
  }).detach();
}

}  // namespace

int serve(int socket) {
  int kind = 0;
  socklen_t size = sizeof kind;
  if (getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &kind, &size) != 0 || kind != AF_UNIX) return 1;
  leave_with(getppid());
  // The GPU's libraries start processes of their own now and then; they must not keep the socket open.
  fcntl(socket, F_SETFD, FD_CLOEXEC);
  gpu::Gpu gpu;
  Message message;
  const Seconds forever{std::numeric_limits<double>::infinity()};
  while (receive_message(socket, forever, {}, message) == ReceiveResult::message) {
    const auto [request, contents] = gpu::parse_request(message.text, message.blob.bytes());
    gpu::Response response = gpu.answer(request, contents);
    const std::span<const std::byte> piece = response.blob;
    std::optional<SharedBytes> blob = SharedBytes::holding({&piece, 1});
    if (!blob) {
      response.outcome = ir::Outcome::unavailable;
      response.reason = "this machine has no memory left for the results";
      blob.emplace();
    }
    if (!send_message(socket, gpu::response_text(response), *blob)) break;
  }
  return 0;
}

std::vector<std::string> own_command(std::vector<std::string> arguments) {
  std::error_code none;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
  std::vector<std::string> command{program.string()};
  if (program.filename().string().starts_with("ld-")) {
    // Started as "ld.so --library-path DIR tailor ...": the same words up to the program itself.
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    const std::vector<std::string_view> words = split(all, '\0');
    for (std::size_t i = 1; i < words.size(); ++i) {
      command.emplace_back(words[i]);
      if (words[i].starts_with("--")) {
        const bool takes_a_value = words[i].find('=') == words[i].npos && i + 1 < words.size();
        if (takes_a_value) command.emplace_back(words[++i]);
        continue;
      }
      break;
    }
  }
  command.insert(command.end(), std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
  return command;
}

}  // namespace tailor::profiler
