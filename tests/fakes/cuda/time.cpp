// How time passes on the devices.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "fake_cuda.h"
#include "state.h"

namespace fake_cuda {
namespace {

std::atomic<double (*)()> scripted = nullptr;  // the host's clock, as a test says
thread_local double own_s = 0;                 // time of the stream that this thread is of, where it is scripted

double real_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

double host_time_s() {
  const auto clock = scripted.load();
  return clock != nullptr ? clock() : real_s();
}

double stream_time_s() { return scripted.load() != nullptr ? own_s : real_s(); }

void go_on_from(double time_s) { own_s = std::max(own_s, time_s); }

void spend_since(double began_s, double seconds) {
  if (scripted.load() != nullptr) {
    own_s = std::max(own_s, began_s + seconds);
  } else {
    std::this_thread::sleep_for(std::chrono::duration<double>(began_s + seconds - real_s()));
  }
}

Task not_before_its_launch(Task task) {
  if (scripted.load() == nullptr) return task;
  return [task = std::move(task), launched_s = host_time_s()] {
    go_on_from(launched_s);
    return task();
  };
}

}  // namespace fake_cuda

extern "C" {

void fake_cuda_script_time(double (*host_s)()) { fake_cuda::scripted = host_s; }

void fake_cuda_spend(double seconds) { fake_cuda::spend_since(fake_cuda::stream_time_s(), seconds); }
}
