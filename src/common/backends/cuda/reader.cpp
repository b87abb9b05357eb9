#include "common/backends/cuda/reader.h"

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::cuda {
namespace {

constexpr Seconds kLongestEnd = 10;  // for the kernel to end; it checks every millisecond whether it must

}  // namespace

CudaReader::CudaReader(int device)
    : stream_(Stream::create(device)),
      words_(allocate_mapped<ReaderWords>(device)),
      device_words_(mapped_address(device, words_.get())) {}

CudaReader::~CudaReader() {
  try {
    (void)end();
  } catch (const Error&) {
    (void)words_.release();  // the kernel may still write to them, and freeing them would wait for the device
  }
}

std::string CudaReader::description() const { return fmt::format("a kernel of GPU {}", stream_.device()); }

void CudaReader::launch(const ReaderTask& task) {
  const DeviceGuard guard(stream_.device());
  check(launch_reader(task, device_words_, stream_.get()), "launch_reader");
}

void CudaReader::look_after() {
  const cudaError_t status = cudaStreamQuery(stream_.get());
  if (status == cudaErrorNotReady) {
    cudaGetLastError();  // CUDA keeps even this answer as an error, which a later call would report
    return;
  }
  check(status, "the reader's kernel");
}

void CudaReader::join() {
  const DeviceStream stream = stream_.view();
  wait_for({&stream, 1}, kLongestEnd);
}

}  // namespace fabricbench::cuda
