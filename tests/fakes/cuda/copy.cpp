// How fast copies are, whether they are right, and which devices reach each other.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "../faulty_call.h"
#include "fake_cuda.h"
#include "state.h"

namespace fake_cuda {
namespace {

std::atomic<bool> hanging_ended = false;
std::atomic<int> hanging = 0;  // copies that hang, until they have copied after all

constexpr std::size_t kLeastFaulty = std::size_t{64} << 10;

/// What stands before the first `separator`, which is taken off with it.
std::string_view take(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const std::string_view first = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return first;
}

int number(std::string_view text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// In bytes per second; 0: as fast as the host can.
double speed_of(int device, std::string_view kind) {
  double speed = 0;
  for (std::string_view list = environment("FAKE_CUDA_COPY_MB_PER_S", ""); !list.empty();) {
    std::string_view entry = take(list, ',');
    const auto colons = std::count(entry.begin(), entry.end(), ':');
    if (colons > 0 && number(take(entry, ':')) != device) continue;
    if (colons > 1 && take(entry, ':') != kind) continue;
    speed = number(entry) * 1e6;
  }
  return speed;
}

bool has_fault(const char* fault, int device, std::size_t bytes) {
  std::string_view asked = environment("FAKE_CUDA_COPY_FAULT", "");
  return take(asked, ':') == fault && number(asked) == device && bytes >= kLeastFaulty;
}

/// The peers that each device was given access to.
class Access {
 public:
  static Access& of_all() {
    static auto* all = new Access;
    return *all;
  }

  bool enable(int device, int peer) {
    const std::lock_guard lock(mutex_);
    return enabled_.insert({device, peer}).second;
  }

 private:
  std::mutex mutex_;
  std::set<std::pair<int, int>> enabled_;
};

}  // namespace

bool can_reach(int device, int peer) { return device != peer && std::getenv("FAKE_CUDA_NO_PEERS") == nullptr; }

cudaError_t copy(const Copied& copied, int device) {
  const double began_s = stream_time_s();
  const int on_host = number_on_host(device);
  const bool hangs = has_fault("hang", on_host, copied.bytes);
  if (hangs) ++hanging;
  while (hangs && !hanging_ended) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::memmove(copied.into, copied.from, copied.bytes);
  if (hangs) --hanging;
  if (has_fault("wrong", on_host, copied.bytes)) static_cast<unsigned char*>(copied.into)[copied.bytes - 1] ^= 1;
  const double speed = speed_of(on_host, copied.kind);
  if (speed > 0) spend_since(began_s, static_cast<double>(copied.bytes) / speed);
  return cudaSuccess;
}

}  // namespace fake_cuda

using namespace fake_cuda;

extern "C" {

int fake_cuda_hanging_copies() { return hanging; }

void fake_cuda_end_hanging_copies() {
  hanging_ended = true;
  while (hanging > 0) std::this_thread::yield();
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (fails()) return report(cudaErrorUnknown);
  if (device < 0 || peer < 0 || device >= device_count() || peer >= device_count()) {
    return report(cudaErrorInvalidDevice);
  }
  *can = can_reach(device, peer) ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned /*flags*/) {
  if (fails()) return report(cudaErrorUnknown);
  const int device = current_device();
  if (peer < 0 || peer >= device_count() || !can_reach(device, peer)) return report(cudaErrorInvalidDevice);
  return report(Access::of_all().enable(device, peer) ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled);
}
}
