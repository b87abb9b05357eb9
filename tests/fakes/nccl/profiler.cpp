#include "profiler.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <dlfcn.h>

namespace fake_nccl {
namespace {

// The interfaces as bytes at offsets, independent of how the program under test declares them; facts from NCCL's
// src/include/plugin/profiler/profiler_v*.h.
constexpr int kCollectiveEvent = 1 << 1;
constexpr int kGroupEvent = 1 << 0;
constexpr std::uint8_t kChannels = 4;
constexpr std::size_t kEventBytes = 256;

struct Offsets {
  std::size_t type_bytes;
  std::size_t channels;
  std::size_t algorithm;
  std::size_t protocol;
};

constexpr Offsets offsets_of(int version) {
  constexpr std::size_t kUnion = 24;  // behind type, parent and rank
  switch (version) {
    case 2: return {1, kUnion + 80, kUnion + 88, kUnion + 96};
    case 3: return {1, kUnion + 72, kUnion + 80, kUnion + 88};
    case 4: return {1, kUnion + 56, kUnion + 64, kUnion + 72};
    default: return {8, kUnion + 56, kUnion + 64, kUnion + 72};
  }
}

/// A plug-in's table as the pointers that it is.
struct Table {
  const char* name;
  void* init;
  int (*start_event)(void* context, void** handle, void* event);
  int (*stop_event)(void* handle);
  int (*record_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

using Init2 = int (*)(void** context, int* mask);
using Init4 = int (*)(void** context, int* mask, const char* name, std::uint64_t id, int nodes, int ranks, int rank,
                      void* logger);
using Init5 = int (*)(void** context, std::uint64_t id, int* mask, const char* name, int nodes, int ranks, int rank,
                      void* logger);

// One for the process, as in NCCL.
int mask = 0;
const Table* table = nullptr;
int table_version = 0;

void start(const Rank& rank, int type) {
  const Offsets offsets = offsets_of(table_version);
  alignas(8) std::byte event[kEventBytes] = {};
  const std::uint64_t wide_type = static_cast<std::uint64_t>(type);
  const char* algorithm = "RING";
  const char* protocol = "SIMPLE";
  std::memset(event, 0xff, 8);  // what lies behind a type of one byte is nobody's
  std::memcpy(event, &wide_type, offsets.type_bytes);
  if (type == kCollectiveEvent) {
    event[offsets.channels] = std::byte{kChannels};
    std::memcpy(event + offsets.algorithm, &algorithm,
                sizeof algorithm);  // NOLINT(bugprone-sizeof-expression): the pointer itself
    std::memcpy(event + offsets.protocol, &protocol, sizeof protocol);  // NOLINT(bugprone-sizeof-expression)
  }
  void* handle = nullptr;
  table->start_event(rank.profiler_context, &handle, event);
  if (handle != nullptr) table->stop_event(handle);
}

}  // namespace

void open_profiler(Rank& rank) {
  const char* plugin = std::getenv("NCCL_PROFILER_PLUGIN");
  if (plugin == nullptr || std::string_view(plugin) != "STATIC_PLUGIN") return;
  const char* version = std::getenv("FAKE_NCCL_PROFILER");
  table_version = version != nullptr ? std::atoi(version) : 5;
  void* program = dlopen(nullptr, RTLD_NOW | RTLD_LOCAL);  // what NCCL does for STATIC_PLUGIN
  table = static_cast<const Table*>(dlsym(program, ("ncclProfiler_v" + std::to_string(table_version)).c_str()));
  dlclose(program);
  if (table == nullptr) return;
  if (table_version < 4) {
    reinterpret_cast<Init2>(table->init)(&rank.profiler_context, &mask);
  } else if (table_version == 4) {
    reinterpret_cast<Init4>(table->init)(&rank.profiler_context, &mask, "fake", 1, 1, rank.ranks, rank.rank, nullptr);
  } else {
    reinterpret_cast<Init5>(table->init)(&rank.profiler_context, 1, &mask, "fake", 1, rank.ranks, rank.rank, nullptr);
  }
}

void close_profiler(Rank& rank) {
  if (table != nullptr) table->finalize(rank.profiler_context);
}

void tell_profiler(const Rank& rank, const std::vector<Operation>& operations) {
  if (table == nullptr || (std::atomic_ref(mask).load(std::memory_order_relaxed) & kCollectiveEvent) == 0) return;
  start(rank, kGroupEvent);
  for (const Operation& operation : operations) {
    if (operation.kind < Kind::kSend) start(rank, kCollectiveEvent);
  }
}

}  // namespace fake_nccl
