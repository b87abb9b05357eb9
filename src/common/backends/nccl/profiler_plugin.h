#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/backends/nccl/library.h"
#include "common/core/session.h"

// What NCCL chose for an operation, learnt through its profiler plug-in interface: with NCCL_PROFILER_PLUGIN set to
// STATIC_PLUGIN, NCCL looks in the program itself for tables named ncclProfiler_v<n> (2.23 and newer; openPluginLib
// in NCCL's sources), takes the newest that it knows, and calls it at the start of each kind of event in the
// activation mask. Interfaces 2 to 5 (NCCL 2.24 to 2.28; newer libraries still take 5) name algorithm, protocol and
// channels when a collective starts. NCCL reads the mask afresh for each operation, so with a mask of 0 timed loops run
// without calls of ours.
namespace fabricbench::nccl {

/// Lets NCCL find the tables in this program. Call it before the first communicator is created. Returns why the choices
/// cannot be observed; empty if they can.
[[nodiscard]] std::string offer_plugin(const Library& library);
/// Whether NCCL uses the plug-in: true once there is a communicator.
[[nodiscard]] bool plugin_in_use();

/// Starts observing choices and forgets earlier ones, or stops.
void observe_choices(bool on);
/// The last choice observed.
[[nodiscard]] std::optional<LibraryChoice> last_choice();

/// The binary interface, from NCCL's src/include/plugin/profiler/profiler_v{2,3,4,5}.h; the offsets are pinned in
/// tests/nccl/nccl_library_test.cpp. Events are declared up to the end of the collective's part, the only one read.
namespace plugin {

inline constexpr std::uint64_t kCollective = 1u << 1;

struct CollectiveV2 {
  const char* name;
  std::uint64_t communicator;
  std::uint64_t sequence;
  const char* function;
  const void* send;
  void* recv;
  std::size_t count;
  int root;
  const char* datatype;
  std::size_t traffic_bytes;
  std::uint8_t most_channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct CollectiveV3 {
  const char* name;
  std::uint64_t communicator;
  std::uint64_t sequence;
  const char* function;
  const void* send;
  void* recv;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t most_channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct CollectiveV4 {
  std::uint64_t sequence;
  const char* function;
  const void* send;
  void* recv;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t most_channels;  // exact since this version
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};

template <typename Type, typename Collective>
struct Event {
  Type type;
  void* parent;
  int rank;
  Collective collective;  // one member of a union
};
using EventV2 = Event<std::uint8_t, CollectiveV2>;
using EventV3 = Event<std::uint8_t, CollectiveV3>;
using EventV4 = Event<std::uint8_t, CollectiveV4>;
using EventV5 = Event<std::uint64_t, CollectiveV4>;

using Logger = void (*)(int level, unsigned long flags, const char* file, int line, const char* format, ...);
using InitV2 = int (*)(void** context, int* mask);
using InitV4 = int (*)(void** context, int* mask, const char* name, std::uint64_t communicator, int nodes, int ranks,
                       int rank, Logger logger);
using InitV5 = int (*)(void** context, std::uint64_t communicator, int* mask, const char* name, int nodes, int ranks,
                       int rank, Logger logger);

template <typename Init, typename EventType>
struct Table {
  const char* name;
  Init init;
  int (*start_event)(void* context, void** handle, EventType* event);
  int (*stop_event)(void* handle);
  int (*record_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

}  // namespace plugin
}  // namespace fabricbench::nccl

// The names are NCCL's.
extern "C" {
extern const fabricbench::nccl::plugin::Table<fabricbench::nccl::plugin::InitV2, fabricbench::nccl::plugin::EventV2>
    ncclProfiler_v2;  // NOLINT(readability-identifier-naming)
extern const fabricbench::nccl::plugin::Table<fabricbench::nccl::plugin::InitV2, fabricbench::nccl::plugin::EventV3>
    ncclProfiler_v3;  // NOLINT(readability-identifier-naming)
extern const fabricbench::nccl::plugin::Table<fabricbench::nccl::plugin::InitV4, fabricbench::nccl::plugin::EventV4>
    ncclProfiler_v4;  // NOLINT(readability-identifier-naming)
extern const fabricbench::nccl::plugin::Table<fabricbench::nccl::plugin::InitV5, fabricbench::nccl::plugin::EventV5>
    ncclProfiler_v5;  // NOLINT(readability-identifier-naming)
}
