// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/machine_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_text.hpp"
#include "perf_models/machine_curves.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline perf_models {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format_name = "ringweave machine 1";

struct NamedNumber {
  const char* name;
  double Network::*number;
};
constexpr std::array network_numbers = {
    NamedNumber{"short_latency", &Network::short_latency},
    NamedNumber{"short_byte", &Network::short_byte},
    NamedNumber{"long_latency", &Network::long_latency},
    NamedNumber{"long_byte", &Network::long_byte},
    NamedNumber{"longest_short", &Network::longest_short},
    NamedNumber{"uncertainty", &Network::uncertainty},
};

Json json_of(const CostCurve& curve) {
  Json points = Json::array();
  for (const CostCurve::Point& point : curve.points())
    points.push_back({point.size, point.seconds});
  return {{"points", points}, {"uncertainty", curve.uncertainty()}};
}

Json json_of(const Network& network) {
  Json json;
  for (const auto& [name, number] : network_numbers) json[name] = network.*number;
  return json;
}

Json json_of(const DeviceCosts& device) {
  Json json = {{"name", device.name}};
  for (const auto& [name, curve] : device_curves) json[name] = json_of(device.*curve);
  if (device.network) json["network"] = json_of(*device.network);
  return json;
}

CostCurve curve_of(const Json& json) {
  std::vector<CostCurve::Point> points;
  for (const Json& point : json.at("points")) points.push_back({point.at(0), point.at(1)});
  return {std::move(points), json.at("uncertainty")};
}

/// Returns `read` applied to the entry `key`; errors name the entry and the file `where`.
template <class Read>
auto read_entry(const Json& json, const std::string& key, const std::string& where,
                const Read& read) {
  const auto refuse = [&](const std::string& why) {
    return DataError(where,
                     "\"" + key + "\": " + why + "; `ringweave calibrate` writes a machine file");
  };
  if (!json.contains(key)) throw refuse("missing");
  try {
    return read(json.at(key));
  } catch (const Json::exception& error) {
    throw refuse(error.what());
  } catch (const UsageError& error) {
    throw refuse(error.what());
  }
}

double not_negative(const Json& json) {
  const double value = json.get<double>();
  if (!(value >= 0)) throw UsageError("expected a number of 0 or more");
  return value;
}

int positive(const Json& json) {
  const double value = json.get<double>();
  if (!(value >= 1 && value <= std::numeric_limits<int>::max() && value == std::floor(value)))
    throw UsageError("expected a whole number of 1 or more");
  return static_cast<int>(value);
}

std::string text_of(const Json& json) { return json.get<std::string>(); }

template <class Owner, std::size_t n>
void read_curves(const Json& json, const std::array<NamedCurve<Owner>, n>& named,
                 const std::string& where, Owner& owner) {
  for (const auto& [name, curve] : named) owner.*curve = read_entry(json, name, where, curve_of);
}

/// Adds those of these costs that a file lacks, as the owner that typical() returns has them.
template <class Owner, std::size_t n, class Typical>
void add_missing(Json& json, const std::array<NamedCurve<Owner>, n>& named,
                 std::initializer_list<std::string_view> costs, const Typical& typical) {
  for (const auto& [name, curve] : named) {
    const bool is_asked = std::find(costs.begin(), costs.end(), name) != costs.end();
    if (is_asked && !json.contains(name)) json[name] = json_of(typical().*curve);
  }
}

/// Adds the costs that files of earlier versions lack: those of the typical machine and of an H100;
/// sums over pixels of fields of spin are as far from predicted ones as those of scalar fields.
Json with_later_costs(Json json) {
  add_missing(json, machine_curves, {"point_sums"}, typical_machine);
  if (json.contains("convolution_sectors") && !json.contains("convolution_spin"))
    json["convolution_spin"] = json["convolution_sectors"];
  if (json.contains("device") && json["device"].is_object()) {
    add_missing(json["device"], device_curves,
                {"convolution_pixels", "convolution_ring_fft", "convolution_modes", "point_sums"},
                [] { return *described_machine("h100_cluster").device; });
  }
  return json;
}

Network read_network(const Json& json, const std::string& where) {
  Network network;
  for (const auto& [name, number] : network_numbers)
    network.*number = read_entry(json, name, where, not_negative);
  return network;
}

DeviceCosts read_device(const Json& json, const std::string& where) {
  DeviceCosts device;
  device.name = read_entry(json, "name", where, text_of);
  read_curves(json, device_curves, where, device);
  if (json.contains("network")) device.network = read_network(json["network"], where);
  return device;
}

}  // namespace

std::string machine_text(const Machine& machine) {
  Json json = {{"format", format_name}, {"name", machine.name}, {"date", machine.date}};
  if (!machine.notes.empty()) json["notes"] = machine.notes;
  json["backend"] = machine.backend;
  json["ranks"] = machine.n_ranks;
  json["threads"] = machine.n_threads;
  for (const auto& [name, curve] : machine_curves) json[name] = json_of(machine.*curve);
  json["network"] = json_of(machine.network);
  if (machine.device) json["device"] = json_of(*machine.device);
  return json_text(json, 1) + '\n';
}

Machine parse_machine(const std::string& text, const std::string& where) {
  // Copies of what nests deeper would need more stack than there is.
  constexpr int most_depth = 16;
  const auto is_read = [&](int depth, Json::parse_event_t, const Json&) {
    return depth <= most_depth;
  };
  const Json parsed = Json::parse(text, is_read, false);
  if (parsed.is_discarded() || !parsed.is_object() ||
      parsed.value("format", Json()) != format_name) {
    throw DataError(where, std::string("not a machine file (JSON with \"format\": \"") +
                               format_name + "\"); `ringweave calibrate` writes one");
  }
  const Json json = with_later_costs(parsed);
  Machine machine;
  machine.name = read_entry(json, "name", where, text_of);
  machine.date = read_entry(json, "date", where, text_of);
  if (json.contains("notes")) machine.notes = read_entry(json, "notes", where, text_of);
  machine.backend = read_entry(json, "backend", where, text_of);
  machine.n_ranks = read_entry(json, "ranks", where, positive);
  machine.n_threads = read_entry(json, "threads", where, positive);
  read_curves(json, machine_curves, where, machine);
  const auto network_of = [&](const Json& entry) {
    return read_network(entry, where + ": network");
  };
  machine.network = read_entry(json, "network", where, network_of);
  const auto device_of = [&](const Json& entry) { return read_device(entry, where + ": device"); };
  if (json.contains("device")) machine.device = read_entry(json, "device", where, device_of);
  return machine;
}

}  // namespace ringweave::detail::inline perf_models
