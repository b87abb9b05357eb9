#include "common/backends/nccl/profiler_plugin.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include <fmt/format.h>

namespace fabricbench::nccl {
namespace {

constexpr const char* kVariable = "NCCL_PROFILER_PLUGIN";
constexpr const char* kInThisProgram = "STATIC_PLUGIN";

/// State shared by the tables' functions.
class Observer {
 public:
  void connect(int* mask) {
    if (mask == nullptr) return;
    const std::lock_guard lock(mutex_);
    mask_ = mask;
    set_mask();
  }
  [[nodiscard]] bool connected() {
    const std::lock_guard lock(mutex_);
    return mask_ != nullptr;
  }
  void turn(bool on) {
    const std::lock_guard lock(mutex_);
    on_ = on;
    if (on) seen_ = false;
    set_mask();
  }
  void note(const char* algorithm, const char* protocol, int channels) {
    if (algorithm == nullptr || protocol == nullptr) return;  // NCCL does not know either
    const std::lock_guard lock(mutex_);
    if (!on_) return;
    copy(algorithm, algorithm_);
    copy(protocol, protocol_);
    channels_ = channels;
    seen_ = true;
  }
  [[nodiscard]] std::optional<LibraryChoice> last() {
    const std::lock_guard lock(mutex_);
    if (!seen_) return std::nullopt;
    return LibraryChoice{algorithm_.data(), protocol_.data(), channels_};
  }

 private:
  using Word = std::array<char, 32>;  // allocates nothing: NCCL, a C library, cannot propagate an exception

  static void copy(const char* from, Word& into) {
    std::strncpy(into.data(), from, into.size() - 1);
    into.back() = '\0';
  }
  /// NCCL reads the mask from its own threads, atomically and without ordering.
  void set_mask() {
    if (mask_ == nullptr) return;
    std::atomic_ref(*mask_).store(on_ ? static_cast<int>(plugin::kCollective) : 0, std::memory_order_relaxed);
  }

  std::mutex mutex_;
  int* mask_ = nullptr;  // NCCL's own variable, which lives as long as the library is loaded
  bool on_ = false;
  bool seen_ = false;
  Word algorithm_{};
  Word protocol_{};
  int channels_ = 0;
};

/// NCCL finds the tables by name, calls them without an argument of ours, and has one mask for all communicators; so
/// this is the only object that belongs to the process.
Observer& observer() {
  static Observer of_process;
  return of_process;
}

int init_v2(void** context, int* mask) {
  if (context != nullptr) *context = nullptr;
  observer().connect(mask);
  return 0;
}

int init_v4(void** context, int* mask, const char* /*name*/, std::uint64_t /*communicator*/, int /*nodes*/,
            int /*ranks*/, int /*rank*/, plugin::Logger /*logger*/) {
  return init_v2(context, mask);
}

int init_v5(void** context, std::uint64_t /*communicator*/, int* mask, const char* /*name*/, int /*nodes*/,
            int /*ranks*/, int /*rank*/, plugin::Logger /*logger*/) {
  return init_v2(context, mask);
}

/// Events get a handle, because NCCL 2.24 and 2.25 skip the collectives of a group without one.
template <typename EventType>
int start_event(void* /*context*/, void** handle, EventType* event) {
  static char some_event;
  if (handle != nullptr) *handle = &some_event;
  if (event == nullptr || event->type != plugin::kCollective) return 0;
  observer().note(event->collective.algorithm, event->collective.protocol, event->collective.most_channels);
  return 0;
}

int stop_event(void* /*handle*/) { return 0; }
int record_state(void* /*handle*/, int /*state*/, void* /*arguments*/) { return 0; }
int finalize(void* /*context*/) { return 0; }

}  // namespace

std::string offer_plugin(const Library& library) {
  if (std::string reason = library.why_not(Feature::kChoices); !reason.empty()) return reason;
  const char* given = std::getenv(kVariable);
  if (given != nullptr && std::string_view(given) != kInThisProgram) {
    return fmt::format("{} is set to {}, and NCCL accepts only one profiler plug-in", kVariable, given);
  }
  setenv(kVariable, kInThisProgram, 1);
  return "";
}

bool plugin_in_use() { return observer().connected(); }
void observe_choices(bool on) { observer().turn(on); }
std::optional<LibraryChoice> last_choice() { return observer().last(); }

}  // namespace fabricbench::nccl

namespace fn = fabricbench::nccl;

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names are NCCL's.
const fn::plugin::Table<fn::plugin::InitV2, fn::plugin::EventV2> ncclProfiler_v2 = {
    "fabricbench", fn::init_v2, fn::start_event<fn::plugin::EventV2>, fn::stop_event, fn::record_state, fn::finalize};
const fn::plugin::Table<fn::plugin::InitV2, fn::plugin::EventV3> ncclProfiler_v3 = {
    "fabricbench", fn::init_v2, fn::start_event<fn::plugin::EventV3>, fn::stop_event, fn::record_state, fn::finalize};
const fn::plugin::Table<fn::plugin::InitV4, fn::plugin::EventV4> ncclProfiler_v4 = {
    "fabricbench", fn::init_v4, fn::start_event<fn::plugin::EventV4>, fn::stop_event, fn::record_state, fn::finalize};
const fn::plugin::Table<fn::plugin::InitV5, fn::plugin::EventV5> ncclProfiler_v5 = {
    "fabricbench", fn::init_v5, fn::start_event<fn::plugin::EventV5>, fn::stop_event, fn::record_state, fn::finalize};
// NOLINTEND(readability-identifier-naming)
}
