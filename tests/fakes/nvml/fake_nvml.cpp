// A libnvidia-ml.so.1 that knows the GPUs of the fake CUDA and their NVLinks.
//
// Environment, read at each call:
//   FAKE_NVML_LINKS   NVLinks of each GPU (0)
//   FAKE_NVML_MBPS    speed of each, in MB/s (26562); 0: not known
//   FAKE_NVML_REMOTE  `switch` (the default), `next`: the GPU with the next number, or `unknown`
//   FAKE_NVML_DOWN    links of GPU 0 that are down, from the first (0)
//   FAKE_NVML_BROKEN  any value: nvmlInit_v2 fails
#include <cstdio>
#include <cstdlib>
#include <string>

#include "common/backends/nvml/nvml.h"

using namespace fabricbench::nvml;

namespace {

constexpr int kFailed = 999;
constexpr unsigned kFirstBus = 0x10;
constexpr unsigned kGpus = 16;

unsigned number(const char* name, unsigned otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(value, nullptr, 10));
}

std::string remote() {
  const char* value = std::getenv("FAKE_NVML_REMOTE");
  return value == nullptr ? "switch" : value;
}

/// A handle is the bus's number.
unsigned bus_of(const Device* device) { return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)); }

}  // namespace

extern "C" {

int nvmlInit_v2() { return std::getenv("FAKE_NVML_BROKEN") == nullptr ? kSuccess : kFailed; }
int nvmlShutdown() { return kSuccess; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* pci_address, Device** device) {
  unsigned domain = 0;
  unsigned bus = 0;
  if (std::sscanf(pci_address, "%x:%x:", &domain, &bus) != 2 || bus < kFirstBus || bus >= kFirstBus + kGpus) {
    return kFailed;
  }
  *device = reinterpret_cast<Device*>(static_cast<std::uintptr_t>(bus));
  return kSuccess;
}

int nvmlDeviceGetNvLinkState(Device* device, unsigned link, int* state) {
  if (link >= number("FAKE_NVML_LINKS", 0)) return kFailed;
  *state = bus_of(device) == kFirstBus && link < number("FAKE_NVML_DOWN", 0) ? 0 : kEnabled;
  return kSuccess;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(Device* /*device*/, unsigned /*link*/, int* type) {
  *type = remote() == "switch" ? kRemoteSwitch : kRemoteGpu;
  return remote() == "unknown" ? kFailed : kSuccess;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(Device* device, unsigned /*link*/, PciInfo* info) {
  std::snprintf(info->address, sizeof info->address, "00000000:%02X:00.0", bus_of(device) + 1);
  return kSuccess;
}

int nvmlDeviceGetFieldValues(Device* /*device*/, int count, FieldValue* values) {
  for (int i = 0; i < count; ++i) {
    values[i].status = values[i].field == kLinkSpeed && number("FAKE_NVML_MBPS", 26562) > 0 ? kSuccess : kFailed;
    values[i].type = kUnsignedInt;
    values[i].value.as_unsigned = number("FAKE_NVML_MBPS", 26562);
  }
  return kSuccess;
}
}
