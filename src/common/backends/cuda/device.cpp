#include "common/backends/cuda/device.h"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <sstream>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "common/backends/cuda/check.h"
#include "common/backends/cuda/stream.h"

namespace fabricbench::cuda {
namespace {

/// CUDA writes 13.0 as 13000; 0 if there is no driver.
int cuda_version_of_driver() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string why_none(cudaError_t status) {
  const int driver = cuda_version_of_driver();
  if (driver == 0) return "no NVIDIA driver is installed";
  if (status == cudaErrorInsufficientDriver) {
    return fmt::format(
        "the NVIDIA driver is too old: it knows CUDA {}, and this program was built with CUDA {}; update "
        "the driver or build with an older toolkit",
        version_text(driver), version_text(CUDART_VERSION));
  }
  if (status == cudaErrorNoDevice || status == cudaSuccess) {
    return "the NVIDIA driver shows this process no device; see nvidia-smi and CUDA_VISIBLE_DEVICES";
  }
  return fmt::format("the NVIDIA driver does not work: {} ({}); see nvidia-smi", cudaGetErrorString(status),
                     cudaGetErrorName(status));
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

std::string driver_text() {
  std::ifstream file("/proc/driver/nvidia/version");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string kernel = kernel_driver_version(text);
  const std::string cuda = version_text(cuda_version_of_driver());
  return kernel.empty() ? fmt::format("CUDA {}", cuda) : fmt::format("{} (CUDA {})", kernel, cuda);
}

}  // namespace

VisibleDevices visible_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return {count, ""};
  VisibleDevices none{0, why_none(status)};
  cudaGetLastError();  // clears the error, which this function's result already tells
  return none;
}

DeviceFacts device_facts(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return {device,
          properties.name,
          fmt::format("{:04x}:{:02x}:{:02x}.0", properties.pciDomainID, properties.pciBusID, properties.pciDeviceID),
          uuid_text(properties.uuid),
          properties.totalGlobalMem,
          fmt::format("{}.{}", properties.major, properties.minor),
          properties.multiProcessorCount,
          driver_text()};
}

Bytes free_memory(int device) {
  const DeviceGuard guard(device);
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

bool keeps_order_of_rdma_writes(int device) {
  int order = cudaGPUDirectRDMAWritesOrderingNone;
  check(cudaDeviceGetAttribute(&order, cudaDevAttrGPUDirectRDMAWritesOrdering, device), "cudaDeviceGetAttribute");
  return order >= cudaGPUDirectRDMAWritesOrderingOwner;
}

// `NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun ...`, and with the open modules `NVRM version:
// NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (...)`.
std::string kernel_driver_version(const std::string& text) {
  std::istringstream line(text.substr(0, text.find('\n')));
  for (std::string word; line >> word;) {
    const bool digits_and_dots = word.find_first_not_of("0123456789.") == std::string::npos;
    if (digits_and_dots && word.find('.') != std::string::npos) return word;
  }
  return "";
}

}  // namespace fabricbench::cuda
