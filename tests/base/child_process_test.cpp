// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Processes that exit, die, compute, print and start others: whoever owns one is told how it ended, and nothing that it
// started stays. In: scripts, since the children are the shell's, where a child of the program's own would need one
// that misbehaves. Part of the suite `base`.
#include "base/child_process.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "support/children.h"

using namespace tailor;

namespace {

constexpr Seconds long_enough{20};

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

ChildProcess started(const std::string& script) {
  ChildProcess child;
  REQUIRE(child.start(shell(script)) == "");
  return child;
}

/// A process that has ended and that nobody has asked about counts as gone.
bool is_gone(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state;
  return !(file >> number >> name >> state) || state == "Z" || state == "X";
}

}  // namespace

TEST_CASE("how a child ended is told, with the last line that it printed") {
  const auto ending = [](const std::string& script) {
    ChildProcess child = started(script);
    CHECK(await_message(child.socket(), long_enough, {}) == ReceiveResult::message);  // its end can be read
    const std::string how = child.ending();
    CHECK_FALSE(child.is_running());
    return how;
  };
  CHECK(ending("exit 3") == "it exited with code 3");
  CHECK(ending("echo first; echo last words >&2; exit 0") == "it exited with code 0; it said: last words");
  CHECK(ending("kill -SEGV $$") == "it was ended by signal 11 (Segmentation fault)");
}

TEST_CASE("a command that is no program is a reason") {
  ChildProcess child;
  CHECK(child.start({"/no/such/program"}).starts_with("/no/such/program cannot be started"));
  CHECK_FALSE(child.is_running());
  CHECK_FALSE(child.processor_time());
}

TEST_CASE("killing a child ends what it has started too") {
  ChildProcess child = started("sleep 100 & echo $! >&3; wait");
  std::string number(16, '\0');
  const ssize_t got = read(child.socket(), number.data(), number.size());
  REQUIRE(got > 0);
  const auto other = static_cast<pid_t>(std::atoi(number.c_str()));
  REQUIRE(other > 0);
  CHECK_FALSE(is_gone(other));
  child.kill();
  CHECK_FALSE(child.is_running());
  for (int i = 0; i < 1000 && !is_gone(other); ++i) usleep(1000);
  CHECK(is_gone(other));
}

TEST_CASE("a child that nobody waits for leaves nothing behind") {
  for (int i = 0; i < 8; ++i) {
    ChildProcess child = started("sleep 100");
    child.kill({0});
    CHECK_FALSE(child.is_running());
  }
  CHECK(testing::no_child_is_left());
}

TEST_CASE("the time that a child has computed passes while it computes, not while it waits") {
  ChildProcess busy = started("while :; do :; done");
  ChildProcess idle = started("read word <&3");
  for (int i = 0; i < 2000 && busy.processor_time().value().value < 0.03; ++i) usleep(1000);
  CHECK(busy.processor_time().value().value >= 0.03);
  CHECK(idle.processor_time().value().value < 0.03);
  idle.quit();  // whose socket closes
  CHECK_FALSE(idle.is_running());
  busy.kill();
}

TEST_CASE("this program is started again by its own name") {
  const std::vector<std::string> command = own_command({"--word", "x"});
  REQUIRE(command.size() >= 3);
  CHECK(command[command.size() - 2] == "--word");
  CHECK(command.back() == "x");
}
