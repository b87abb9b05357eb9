#pragma once

#include <memory>
#include <string>
#include <thread>

#include "common/core/message_reader.h"

namespace fabricbench::verbs {

/// A host thread in place of a GPU.
class HostReader final : public MessageReader {
 public:
  ~HostReader() override;

  [[nodiscard]] std::string description() const override { return "a thread of the host"; }

 private:
  [[nodiscard]] ReaderWords& words() const override { return *words_; }
  [[nodiscard]] std::uint64_t* asked() const override { return &words_->asked; }
  void launch(const ReaderTask& task) override;
  void join() override;

  std::unique_ptr<ReaderWords> words_ = std::make_unique<ReaderWords>();
  std::thread thread_;
};

}  // namespace fabricbench::verbs
