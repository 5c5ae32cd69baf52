// SPDX-License-Identifier: GPL-3.0-or-later
#include "softdevice/settings.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace softdevice {
namespace {

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv((std::string("SOFTDEVICE_") + name).c_str());
  return value == nullptr ? otherwise : value;
}

std::int64_t number(const char* name, const char* otherwise) {
  const std::string text = variable(name, otherwise);
  std::size_t end = 0;
  std::int64_t value = 0;
  try {
    value = std::stoll(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (end != text.size() || text.empty())
    throw std::runtime_error(std::string("SOFTDEVICE_") + name + ": a number expected, not " +
                             text);
  return value;
}

Schedule schedule(const char* name, const char* in_order) {
  const std::string text = variable(name, in_order);
  if (text == in_order) return {};
  if (text == "lazy") return {Schedule::Kind::lazy, 0};
  if (text.starts_with("random:"))
    return {Schedule::Kind::random, std::stoull(text.substr(text.find(':') + 1))};
  throw std::runtime_error(std::string("SOFTDEVICE_") + name + "=" + text + ": unknown; " +
                           in_order + ", random:SEED or, of streams, lazy are known");
}

/// Returns a file of this process alone in a folder: ranks that end together do not mix their
/// lines.
std::string own_file(const std::string& folder) {
  return folder.empty() ? "" : folder + "/" + std::to_string(::getpid()) + ".json";
}

FailingOperation failing_operation() {
  FailingOperation failing;
  std::istringstream words(variable("FAIL", "-1"));
  if (!(words >> failing.number))
    throw std::runtime_error("SOFTDEVICE_FAIL: N or N RANK expected, not " + words.str());
  words >> failing.rank;
  return failing;
}

std::vector<Drop> drops() {
  std::vector<Drop> all;
  std::istringstream list(variable("DROP", ""));
  for (std::string one; std::getline(list, one, ';');) {
    std::istringstream words(one);
    Drop drop;
    words >> drop.kind;
    if (drop.kind.empty()) continue;
    std::string word;
    while (words >> word) {
      if (word.find_first_not_of("0123456789") == std::string::npos)
        drop.number = std::stoi(word);
      else
        drop.kernel = word;
    }
    all.push_back(drop);
  }
  return all;
}

}  // namespace

const Settings& settings() {
  static const Settings read{
      .streams = schedule("STREAMS", "eager"),
      .lanes = schedule("LANES", "together"),
      .checks = number("CHECKS", "1") != 0 && number("SAMPLE", "1") == 1,
      .sample = static_cast<int>(number("SAMPLE", "1")),
      .memory = number("MEMORY", "8589934592"),
      .capability = static_cast<int>(number("CAPABILITY", "80")),
      .devices = static_cast<int>(number("DEVICES", "1")),
      .failing = failing_operation(),
      .host_may_touch = number("MPI", "0") != 0,
      .drops = drops(),
      .counts = variable("COUNTS", ""),
      .mutants = own_file(variable("MUTANTS", "")),
      .opcodes = variable("OPCODES", ""),
  };
  return read;
}

bool must_fail(std::int64_t number) {
  const FailingOperation& failing = settings().failing;
  if (number != failing.number || failing.number < 0) return false;
  // The launcher tells, before MPI is there.
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (const char* rank = std::getenv(name); rank != nullptr)
      return failing.rank < 0 || std::stoi(rank) == failing.rank;
  }
  return failing.rank <= 0;
}

bool is_dropped(const std::string& kind, int number, const std::string& kernel) {
  for (const Drop& drop : settings().drops) {
    if (kind.starts_with(drop.kind) && (drop.number < 0 || drop.number == number) &&
        kernel.find(drop.kernel) != std::string::npos)
      return true;
  }
  return false;
}

}  // namespace softdevice
