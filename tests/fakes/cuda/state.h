// What the handles of the fake runtime stand for. Private to this directory.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>

namespace fake_cuda {

/// A piece of work; where one fails, its stream carries out nothing after it.
using Task = std::function<cudaError_t()>;
using Tasks = std::vector<Task>;

/// A stream's work. Its thread and its handle share it, because destroying a stream does not end its work.
struct Queue {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Task> tasks;
  bool running = false;
  bool closing = false;
  cudaError_t failure = cudaSuccess;
};

/// An event's last record; shared with the work that completes it.
struct Record {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t asked = 0;
  std::uint64_t completed = 0;
  double time_s = 0;
};

/// Keeps a failure as CUDA does, for cudaGetLastError.
cudaError_t report(cudaError_t status);

/// What a copy is about.
struct Copied {
  void* into;
  const void* from;
  std::size_t bytes;
  const char* kind;  // h2d, d2h, d2d or p2p
};

/// The host's clock, and that of the stream whose thread calls: the same one, unless a test scripts them.
double host_time_s();
double stream_time_s();
/// What the calling thread's stream does next is not before `time_s`, where time is scripted.
void go_on_from(double time_s);
/// What the stream does next is `seconds` after `began_s`.
void spend_since(double began_s, double seconds);
/// The task, which begins when it is put into a stream, or later.
Task not_before_its_launch(Task task);

/// Copies as fast and as well as the environment says. `device` is this process's number of it.
cudaError_t copy(const Copied& copied, int device);
/// The host's number of a device that this process sees.
int number_on_host(int device);
/// A variable of the environment; `otherwise` where it is not set.
std::string_view environment(const char* name, std::string_view otherwise);
/// Whether one device can reach another's memory.
bool can_reach(int device, int peer);

/// Whether FAKE_CUDA_NO_DRIVER is set.
bool no_driver();
int device_count();
std::size_t memory_of_a_device();
int current_device();
/// Makes this process's context on a device, if it has none there; what takes memory or work on a device does.
cudaError_t make_context(int device);

/// Whether the block is cudaMalloc's and holds so many bytes from `address` on.
bool is_device_memory(const void* address, std::size_t bytes);
/// The same, and on this device.
bool lies_on(int device, const void* address, std::size_t bytes);
std::size_t allocated_on(int device);

/// Puts work into a stream, or into what it records.
cudaError_t enqueue(cudaStream_t stream, Task task);
/// Carries out all work of a stream before it returns.
cudaError_t drain(cudaStream_t stream);

}  // namespace fake_cuda

struct CUstream_st {
  int device = 0;
  std::shared_ptr<fake_cuda::Queue> queue = std::make_shared<fake_cuda::Queue>();
  std::thread thread;
  bool capturing = false;
  bool capture_broken = false;
  fake_cuda::Tasks captured;
};

struct CUevent_st {
  std::shared_ptr<fake_cuda::Record> record = std::make_shared<fake_cuda::Record>();
};

struct CUgraph_st {
  fake_cuda::Tasks tasks;
};

struct CUgraphExec_st {
  std::shared_ptr<const fake_cuda::Tasks> tasks;
};
