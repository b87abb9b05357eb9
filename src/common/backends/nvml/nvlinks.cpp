#include "common/backends/nvml/nvlinks.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "common/backends/nvml/nvml.h"
#include "common/core/error.h"
#include "common/core/ownership.h"

namespace fabricbench::nvml {
namespace {

constexpr unsigned kMostLinks = 64;  // more than any GPU has; asking for a missing link is harmless

/// NVML writes domains with eight upper-case digits, `00000000:42:00.0`; sysfs uses four if they suffice.
std::string address_as_in_sysfs(std::string_view address) {
  while (address.size() > std::string_view("0000:42:00.0").size() && address.front() == '0') address.remove_prefix(1);
  std::string text(address);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

double sum_to_switches(const std::vector<NvLink>& links) {
  double sum = 0;
  for (const NvLink& link : links) sum += link.to_switch ? link.bytes_per_s : 0;
  return sum;
}

}  // namespace

double nvlink_bytes_per_s(const std::vector<NvLink>& of_from, const std::vector<NvLink>& of_into,
                          const std::string& into) {
  double direct = 0;
  for (const NvLink& link : of_from) direct += link.remote == into ? link.bytes_per_s : 0;
  return direct + std::min(sum_to_switches(of_from), sum_to_switches(of_into));
}

struct Library::Loaded {
  Handle<void, dlclose> library;
  InitFunction init = nullptr;
  ShutdownFunction shutdown = nullptr;
  HandleFunction handle = nullptr;
  LinkStateFunction link_state = nullptr;
  RemoteTypeFunction remote_type = nullptr;
  RemotePciFunction remote_pci = nullptr;
  FieldsFunction fields = nullptr;

  template <typename Function>
  [[nodiscard]] bool find(const char* symbol, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(library.get(), symbol));
    return function != nullptr;
  }

  [[nodiscard]] bool find_all() {
    return find("nvmlInit_v2", init) && find("nvmlShutdown", shutdown) &&
           find("nvmlDeviceGetHandleByPciBusId_v2", handle) && find("nvmlDeviceGetNvLinkState", link_state) &&
           find("nvmlDeviceGetNvLinkRemoteDeviceType", remote_type) &&
           find("nvmlDeviceGetNvLinkRemotePciInfo_v2", remote_pci) && find("nvmlDeviceGetFieldValues", fields);
  }

  /// The bandwidth of each of a GPU's active links, which is the same for all.
  [[nodiscard]] std::optional<double> bytes_per_s(Device* device) const {
    FieldValue speed{};
    speed.field = kLinkSpeed;
    if (fields(device, 1, &speed) != kSuccess || speed.status != kSuccess || speed.type != kUnsignedInt ||
        speed.value.as_unsigned == 0) {
      return std::nullopt;
    }
    return speed.value.as_unsigned * 1e6;
  }

  /// The other end of a link; empty if the driver does not report it.
  [[nodiscard]] std::optional<NvLink> describe(Device* device, unsigned link) const {
    int type = -1;
    if (remote_type(device, link, &type) != kSuccess) return std::nullopt;
    NvLink described;
    described.to_switch = type == kRemoteSwitch;
    if (type != kRemoteGpu) return described;
    PciInfo info{};
    if (remote_pci(device, link, &info) != kSuccess) return std::nullopt;
    info.address[sizeof info.address - 1] = '\0';
    described.remote = address_as_in_sysfs(info.address);
    return described;
  }
};

Library::Library(const std::string& file) : loaded_(std::make_unique<Loaded>()) {
  loaded_->library.reset(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!loaded_->library) throw Error(ExitStatus::kMissing, std::string("nvml: ") + dlerror());
  if (!loaded_->find_all()) throw Error(ExitStatus::kMissing, "nvml: " + file + " is too old to report NVLink");
  if (loaded_->init() != kSuccess) throw Error(ExitStatus::kMissing, "nvml: nvmlInit_v2 failed");
}

Library::~Library() { loaded_->shutdown(); }

std::optional<std::vector<NvLink>> Library::links(const std::string& pci_address) const {
  Device* device = nullptr;
  if (loaded_->handle(pci_address.c_str(), &device) != kSuccess) return std::nullopt;
  std::vector<NvLink> links;
  for (unsigned number = 0; number < kMostLinks; ++number) {
    int state = 0;
    if (loaded_->link_state(device, number, &state) != kSuccess || state != kEnabled) continue;
    std::optional<NvLink> link = loaded_->describe(device, number);
    if (!link) return std::nullopt;
    links.push_back(std::move(*link));
  }
  if (links.empty()) return links;
  const std::optional<double> speed = loaded_->bytes_per_s(device);
  if (!speed) return std::nullopt;
  for (NvLink& link : links) link.bytes_per_s = *speed;
  return links;
}

}  // namespace fabricbench::nvml
