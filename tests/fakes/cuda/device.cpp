#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "../faulty_call.h"
#include "fake_cuda.h"
#include "state.h"

namespace fake_cuda {
namespace {

thread_local int chosen_device = 0;

std::size_t number(std::string_view text) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The host's numbers of the devices that this process sees. As with CUDA, the list ends at the first wrong number.
std::vector<int> visible() {
  const int on_host = static_cast<int>(number(environment("FAKE_CUDA_DEVICES", "1")));
  std::vector<int> devices;
  if (std::getenv("CUDA_VISIBLE_DEVICES") == nullptr) {
    for (int device = 0; device < on_host; ++device) devices.push_back(device);
    return devices;
  }
  std::string_view list = environment("CUDA_VISIBLE_DEVICES", "");
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    int device = -1;
    std::from_chars(list.data(), list.data() + comma, device);
    if (device < 0 || device >= on_host) break;
    devices.push_back(device);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return devices;
}

cudaError_t reachable(int device) {
  if (no_driver()) return cudaErrorInsufficientDriver;
  if (device_count() == 0) return cudaErrorNoDevice;
  return device >= 0 && device < device_count() ? cudaSuccess : cudaErrorInvalidDevice;
}

/// This process's contexts by the host's numbers of their devices, and files that keep other processes away. Never
/// destroyed: streams may outlive main.
struct Contexts {
  std::mutex mutex;
  std::map<int, int> files;
};

Contexts& contexts() {
  static auto* all = new Contexts;
  return *all;
}

/// Opens what stands for the right to use a device; -1 if another process has it.
int take_device(const char* folder, int device) {
  const std::string path = std::string(folder) + "/gpu" + std::to_string(device);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  close(file);
  return -1;
}

constexpr int kMultiprocessors = 4;
constexpr int kMemoryClock_khz = 1'000'000;
constexpr int kMemoryBits = 4096;  // 1024 GB/s

cudaDeviceProp properties_of(int device) {
  const int on_host = visible()[static_cast<std::size_t>(device)];
  cudaDeviceProp properties{};
  std::snprintf(properties.name, sizeof properties.name, "Fake GPU");
  std::memset(properties.uuid.bytes, 0xfa, sizeof properties.uuid.bytes);
  properties.uuid.bytes[15] = static_cast<char>(on_host);
  properties.pciBusID = 0x10 + on_host;
  properties.totalGlobalMem = memory_of_a_device();
  properties.major = 9;
  properties.multiProcessorCount = kMultiprocessors;
  properties.unifiedAddressing = 1;
  properties.canMapHostMemory = 1;
  return properties;
}

}  // namespace

std::string_view environment(const char* name, std::string_view otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::string_view(value);
}

int number_on_host(int device) { return visible()[static_cast<std::size_t>(device)]; }
bool no_driver() { return std::getenv("FAKE_CUDA_NO_DRIVER") != nullptr; }
int device_count() { return static_cast<int>(visible().size()); }
std::size_t memory_of_a_device() { return number(environment("FAKE_CUDA_MEMORY", "4294967296")); }
int current_device() { return chosen_device; }

cudaError_t make_context(int device) {
  if (const cudaError_t status = reachable(device); status != cudaSuccess) return report(status);
  const int on_host = number_on_host(device);
  const std::lock_guard lock(contexts().mutex);
  if (contexts().files.contains(on_host)) return cudaSuccess;
  const char* folder = std::getenv("FAKE_CUDA_EXCLUSIVE");
  const int file = folder == nullptr ? 0 : take_device(folder, on_host);
  if (file < 0) return report(cudaErrorDevicesUnavailable);
  contexts().files[on_host] = file;
  return cudaSuccess;
}

}  // namespace fake_cuda

using namespace fake_cuda;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (fails()) return report(cudaErrorUnknown);
  *count = 0;
  if (no_driver()) return report(cudaErrorInsufficientDriver);
  *count = device_count();
  return report(*count > 0 ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device) {
  if (fails()) return report(cudaErrorUnknown);
  const cudaError_t status = make_context(device);  // since CUDA 12
  if (status == cudaSuccess) chosen_device = device;
  return status;
}

int fake_cuda_contexts() {
  const std::lock_guard lock(contexts().mutex);
  return static_cast<int>(contexts().files.size());
}

cudaError_t cudaGetDevice(int* device) {
  if (fails()) return report(cudaErrorUnknown);
  *device = chosen_device;
  return report(reachable(chosen_device));
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (fails()) return report(cudaErrorUnknown);
  const cudaError_t status = reachable(device);
  if (status == cudaSuccess) *properties = properties_of(device);
  return report(status);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (fails()) return report(cudaErrorUnknown);
  if (const cudaError_t status = reachable(device); status != cudaSuccess) return report(status);
  const cudaDeviceProp properties = properties_of(device);
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount: *value = properties.multiProcessorCount; break;
    case cudaDevAttrComputeCapabilityMajor: *value = properties.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = properties.minor; break;
    case cudaDevAttrMemoryClockRate: *value = kMemoryClock_khz; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = kMemoryBits; break;
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables: *value = 0; break;
    case cudaDevAttrGPUDirectRDMAWritesOrdering:  // an H100 answers "owner"
      *value = std::getenv("FAKE_CUDA_NO_RDMA_ORDER") == nullptr ? cudaGPUDirectRDMAWritesOrderingOwner
                                                                 : cudaGPUDirectRDMAWritesOrderingNone;
      break;
    default: return report(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (fails()) return report(cudaErrorUnknown);
  if (const cudaError_t status = reachable(device); status != cudaSuccess) return report(status);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0",
                static_cast<unsigned>(properties_of(device).pciBusID));
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (fails()) return report(cudaErrorUnknown);
  *version = no_driver() ? 0 : CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (fails()) return report(cudaErrorUnknown);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  if (fails()) return report(cudaErrorUnknown);
  if (const cudaError_t status = make_context(chosen_device); status != cudaSuccess) return status;
  *total = memory_of_a_device();
  *free = *total - std::min(*total, allocated_on(chosen_device));
  return cudaSuccess;
}
}
