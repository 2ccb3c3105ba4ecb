// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The child's side of child_process.h: how this program is started again, and what it does first then. In: arguments,
// the socket. Out: a command; a process that ends with its parent. Called by who starts one, and by main when it is
// told to be one.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/child_process.h"
#include "base/text.h"

namespace tailor {

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

bool begin_as_child(int socket) {
  int kind = 0;
  socklen_t size = sizeof kind;
  if (getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &kind, &size) != 0 || kind != AF_UNIX) return false;
  fcntl(socket, F_SETFD, FD_CLOEXEC);
  std::thread([parent = getppid()] {
    while (getppid() == parent) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ::kill(getpid(), SIGKILL);
  }).detach();
  return true;
}

}  // namespace tailor
