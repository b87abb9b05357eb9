#include "common/host/interrupts.h"

#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/core/directory.h"
#include "common/host/files.h"

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

/// The directory with the interrupts of the PCI device behind a link such as /sys/class/net/eth0/device; a virtio
/// device is below its PCI device. Empty if there is none.
fs::path interrupts_of(const fs::path& link) {
  std::error_code error;
  const fs::path device = fs::canonical(link, error);
  if (error) return {};
  for (const fs::path& place : {device, device.parent_path()}) {
    if (fs::is_directory(place / "msi_irqs", error)) return place / "msi_irqs";
  }
  return {};
}

/// Network devices by the directory with their interrupts.
std::map<fs::path, std::string> network_devices_on_pci(const fs::path& root) {
  std::map<fs::path, std::string> found;
  for (const char* const kind : {"sys/class/net", "sys/class/infiniband"}) {
    for (const std::string& name : names_in(root / kind)) {
      const fs::path interrupts = interrupts_of(root / kind / name / "device");
      if (interrupts.empty()) continue;
      std::string& names = found[interrupts];
      names += names.empty() ? name : " and " + name;
    }
  }
  return found;
}

/// The numbers of the processors in the first line of /proc/interrupts: `CPU0 CPU1`. Those that are off are missing.
std::vector<int> processors_in(const std::string& title) {
  std::vector<int> processors;
  std::istringstream words(title);
  for (std::string word; words >> word;) {
    if (!word.starts_with("CPU")) break;
    processors.push_back(parse_integer<int>(std::string_view(word).substr(3)).value_or(-1));
  }
  return processors;
}

}  // namespace

InterruptReader::InterruptReader(fs::path root) : root_(std::move(root)) {
  for (const auto& [directory, name] : network_devices_on_pci(root_)) {
    for (const std::string& number : names_in(directory)) {
      if (const auto interrupt = parse_integer<int>(number)) device_of_[*interrupt] = devices_.size();
    }
    devices_.push_back(name);
  }
}

std::vector<DeviceInterrupts> InterruptReader::read() const {
  std::vector<DeviceInterrupts> counted;
  for (const std::string& device : devices_) counted.push_back({device, {}});
  if (counted.empty()) return counted;
  const std::vector<std::string> lines = read_lines(root_ / "proc/interrupts");
  if (lines.empty()) return counted;
  const std::vector<int> processors = processors_in(lines.front());
  for (const std::string& line : lines) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto number = parse_integer<int>(without_blanks(std::string_view(line).substr(0, colon)));
    const auto known = number ? device_of_.find(*number) : device_of_.end();
    if (known == device_of_.end()) continue;
    std::istringstream counts(line.substr(colon + 1));
    for (const int processor : processors) {
      std::uint64_t count = 0;
      if (!(counts >> count)) break;
      if (count > 0) counted[known->second].by_processor[processor] += count;
    }
  }
  return counted;
}

std::vector<DeviceInterrupts> interrupts_between(const std::vector<DeviceInterrupts>& before,
                                                 const std::vector<DeviceInterrupts>& after) {
  std::vector<DeviceInterrupts> between;
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
    DeviceInterrupts handled{after[i].device, {}};
    for (const auto& [processor, count] : after[i].by_processor) {
      const auto known = before[i].by_processor.find(processor);
      const std::uint64_t already = known == before[i].by_processor.end() ? 0 : known->second;
      if (count > already) handled.by_processor[processor] = count - already;
    }
    between.push_back(std::move(handled));
  }
  return between;
}

}  // namespace fabricbench::host
