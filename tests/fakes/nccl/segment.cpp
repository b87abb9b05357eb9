#include "segment.h"

#include <chrono>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace fake_nccl {
namespace {

constexpr std::uint64_t kMarker = 0x66616b65206e6363;

}  // namespace

Address create_segment() {
  const int file = memfd_create("fake_nccl", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, sizeof(Layout)) != 0) return {0, 0, -1};
  return {kMarker, static_cast<int>(getpid()), file};
}

void close_file(const Address& address) {
  if (address.process == static_cast<int>(getpid())) close(address.file);
}

std::shared_ptr<Layout> map_segment(const Address& address) {
  if (address.marker != kMarker) return nullptr;
  const std::string path = "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* memory = mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<Layout*>(memory), [](Layout* layout) { munmap(layout, sizeof(Layout)); }};
}

bool wait_until(const std::function<bool()>& ready, const std::atomic<bool>& stopped) {
  constexpr int kTurnsBeforeSleep = 200;
  for (int turn = 0; !ready(); ++turn) {
    if (stopped) return false;
    if (turn < kTurnsBeforeSleep) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  return true;
}

void Barrier::arrive(std::atomic<std::uint64_t>& arrivals, int ranks) {
  target_ += static_cast<std::uint64_t>(ranks);
  ++arrivals;
}

bool Barrier::wait(const std::atomic<std::uint64_t>& arrivals, const std::atomic<bool>& stopped) const {
  return wait_until([&] { return arrivals >= target_; }, stopped);
}

}  // namespace fake_nccl
