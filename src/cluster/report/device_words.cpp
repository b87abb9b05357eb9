#include "cluster/report/device_words.h"

#include <cstddef>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/report/finding_words.h"
#include "cluster/report/names.h"
#include "common/core/plain_text.h"

namespace fabricbench::cluster {
namespace {

const Device& device_at(const Sweep& sweep, std::int32_t place) {
  return sweep.devices.at(static_cast<std::size_t>(place));
}

std::string_view word(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kNic: return "NIC";
    case DeviceKind::kGpu: return "GPU";
    case DeviceKind::kSwitchPort: break;
  }
  return "switch port";
}

/// The kind of the devices, if they have one kind; else nothing.
std::optional<DeviceKind> kind_of(const Sweep& sweep, const Finding& finding) {
  if (finding.devices.size() != 1) return std::nullopt;
  return device_at(sweep, finding.devices[0]).kind;
}

/// `NIC mlx5_2, 0x0c42a103`.
std::string text_of(const Device& device) {
  const std::string id = printable(device.id);
  if (device.name.empty() || device.name == device.id) return fmt::format("{} {}", word(device.kind), id);
  return fmt::format("{} {}, {}", word(device.kind), printable(device.name), id);
}

std::string text_of_all(const Sweep& sweep, const Finding& finding, std::string_view between) {
  std::vector<std::string> texts;
  for (const std::int32_t place : finding.devices) texts.push_back(text_of(device_at(sweep, place)));
  return fmt::format("{}", fmt::join(texts, between));
}

/// The hosts that are slow over a device, and whether they are fast without it.
std::string hosts_of_device(const Sweep& sweep, const Finding& finding, std::string_view it) {
  const std::string names = hosts_text(sweep, finding.hosts);
  const auto slow = static_cast<std::int64_t>(finding.hosts.size());
  if (slow == 1 && finding.hosts_met == 1) return fmt::format("{}, which is fast without {}", names, it);
  std::string text = slow == finding.hosts_met
                         ? fmt::format("all {} hosts that used {} ({})", slow, it, names)
                         : fmt::format("{} of {} hosts that used {} ({})", slow, finding.hosts_met, it, names);
  if (finding.fine_without > 0) text += fmt::format("; {} of them fast without {}", finding.fine_without, it);
  return text;
}

}  // namespace

std::string_view devices_word(const Sweep& sweep, const std::vector<Finding>& findings) {
  std::optional<DeviceKind> same;
  for (const Finding& finding : findings) {
    if (finding.blame != Blame::kDevice) continue;
    const std::optional<DeviceKind> kind = kind_of(sweep, finding);
    if (!kind || (same && *same != *kind)) return "device";
    same = kind;
  }
  return same ? word(*same) : "device";
}

std::string_view device_tag(const Sweep& sweep, const Finding& finding) {
  const std::optional<DeviceKind> kind = kind_of(sweep, finding);
  if (!kind) return "SLOW DEVICE";
  switch (*kind) {
    case DeviceKind::kNic: return "SLOW NIC";
    case DeviceKind::kGpu: return "SLOW GPU";
    case DeviceKind::kSwitchPort: break;
  }
  return "SLOW PORT";
}

std::string device_line(const Sweep& sweep, const Finding& finding) {
  const std::optional<DeviceKind> kind = kind_of(sweep, finding);
  std::vector<std::string> ids;
  for (const std::int32_t place : finding.devices) ids.push_back(listed_name(device_at(sweep, place).id));
  return fmt::format("Slow {}: {}\n", kind ? word(*kind) : "device", fmt::join(ids, " "));
}

std::string of_devices(const Sweep& sweep, const Finding& finding) {
  const bool several = finding.devices.size() > 1;
  const char* way = finding.direction == Direction::kSends      ? "when sending"
                    : finding.direction == Direction::kReceives ? "when receiving"
                                                                : "sending and receiving";
  return fmt::format("{}{} slow, {}, on {}", text_of_all(sweep, finding, " and "),
                     several ? ", always used together, are" : " is", way,
                     hosts_of_device(sweep, finding, several ? "them" : "it"));
}

std::string devices_beside(const Sweep& sweep, const Finding& finding) {
  return finding.devices.empty() ? "" : fmt::format(" ({})", text_of_all(sweep, finding, ", "));
}

}  // namespace fabricbench::cluster
