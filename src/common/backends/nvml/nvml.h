// The part of NVML's binary interface that is used here, declared because its header is not part of every CUDA toolkit.
// Source: the NVML API reference, and nvml.h as of CUDA 12. Private to this directory.
#pragma once

#include <cstdint>

namespace fabricbench::nvml {

struct Device;  // nvmlDevice_t points to it

inline constexpr int kSuccess = 0;
inline constexpr int kEnabled = 1;          // nvmlEnableState_t
inline constexpr int kRemoteGpu = 0;        // nvmlIntNvLinkDeviceType_t
inline constexpr int kRemoteSwitch = 2;     // the same
inline constexpr int kUnsignedInt = 1;      // nvmlValueType_t
inline constexpr unsigned kLinkSpeed = 90;  // NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON

/// nvmlFieldValue_t.
struct FieldValue {
  unsigned field;
  unsigned scope;
  std::int64_t timestamp;
  std::int64_t latency_us;
  int type;
  int status;
  union {
    unsigned as_unsigned;
    std::uint64_t as_eight_bytes;
  } value;
};
static_assert(sizeof(FieldValue) == 40);

/// nvmlPciInfo_t.
struct PciInfo {
  char old_address[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned ids[2];
  char address[32];
};
static_assert(sizeof(PciInfo) == 68);

using InitFunction = int (*)();
using ShutdownFunction = int (*)();
using HandleFunction = int (*)(const char* pci_address, Device** device);
using LinkStateFunction = int (*)(Device* device, unsigned link, int* state);
using RemoteTypeFunction = int (*)(Device* device, unsigned link, int* type);
using RemotePciFunction = int (*)(Device* device, unsigned link, PciInfo* info);
using FieldsFunction = int (*)(Device* device, int count, FieldValue* values);

}  // namespace fabricbench::nvml
