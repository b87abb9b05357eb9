#pragma once

#include <string>

#include "common/backends/cuda/kernels.h"
#include "common/backends/cuda/memory.h"
#include "common/backends/cuda/stream.h"
#include "common/core/message_reader.h"

namespace fabricbench::cuda {

/// A kernel that reads on a device, and answers in host memory that the device can write. While it reads, calls that
/// wait for the whole device, such as an allocation or a kernel's first launch, are not allowed.
class CudaReader final : public MessageReader {
 public:
  /// Throws Error (failure) if there is no such device.
  explicit CudaReader(int device);
  ~CudaReader() override;

  [[nodiscard]] std::string description() const override;

 private:
  [[nodiscard]] ReaderWords& words() const override { return *words_; }
  [[nodiscard]] std::uint64_t* asked() const override { return &device_words_->asked; }
  void launch(const ReaderTask& task) override;
  void look_after() override;
  void join() override;

  Stream stream_;
  MappedWords<ReaderWords> words_;
  ReaderWords* device_words_;  // the same at its device address
};

}  // namespace fabricbench::cuda
