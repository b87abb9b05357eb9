#include "common/backends/verbs/background_stream.h"

#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/core/clock.h"

namespace fabricbench::verbs {

BackgroundStream::BackgroundStream(std::unique_ptr<VerbsSession> session, bool is_first)
    : session_(std::move(session)), source_(*session_, kMessage), target_(*session_, kMessage) {
  session_->backend(0).prepare(source_.on(0), target_.on(0));
  if (is_first) begin();
}

BackgroundStream::~BackgroundStream() {
  if (!thread_.joinable()) return;
  abandon();
  thread_.join();
}

void BackgroundStream::abandon() noexcept {
  stopping_ = true;
  session_->abandon();
}

void BackgroundStream::begin() {
  began_ = now();
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    throw Error(ExitStatus::kMissing, fmt::format("cannot start the thread of --background: {}; raise the limit on "
                                                  "processes (ulimit -u)",
                                                  error.what()));
  }
}

void BackgroundStream::run() noexcept {
  try {
    while (!stopping_) keep_full();
  } catch (const Error& error) {
    keep_error(error);
  } catch (const std::exception& error) {
    keep_error(Error(ExitStatus::kFailure, error.what()));
  }
}

/// Starts a few writes as soon as the queue has room for them: short visits count them too.
void BackgroundStream::keep_full() {
  constexpr std::int64_t kWrites = 4;
  session_->backend(0).start_sends(source_.on(0).data(), kMessage, DataType::kInt8, 1, kWrites);
  const bool are_first = bytes_ == 0;
  bytes_ = session_->completed_requests() * kMessage;
  if (!are_first || bytes_ == 0) return;
  const std::lock_guard lock(mutex_);
  has_carried_.notify_all();
}

void BackgroundStream::await_first_bytes(Seconds patience) {
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  has_carried_.wait_for(lock, std::chrono::duration<Seconds>(patience), [this] { return bytes_ > 0 || error_; });
  if (error_) throw *error_;
  if (bytes_ > 0) return;
  throw Error(ExitStatus::kNotJudged,
              fmt::format("the stream of --background carried nothing for {}, so there is no load to measure under",
                          readable_seconds(patience)));
}

void BackgroundStream::keep_error(const Error& error) {
  const std::lock_guard lock(mutex_);
  error_ = Error(error.status(), fmt::format("the stream of --background ended: {}", error.what()));
  has_carried_.notify_all();
}

TransportCounters BackgroundStream::counters() const {
  if (!thread_.joinable()) return {};
  const std::lock_guard lock(mutex_);
  if (error_) throw *error_;
  return {.background_bytes = bytes_.load(), .background_time = now() - began_};
}

}  // namespace fabricbench::verbs
