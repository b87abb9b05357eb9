#include "common/backends/rdma/agreement_watch.h"

#include <chrono>
#include <utility>

#include "common/core/clock.h"

namespace fabricbench {
namespace {

// Polling costs less than a wake-up for every agreement, of which there are thousands per second.
constexpr auto kInterval = std::chrono::milliseconds(50);

}  // namespace

void AgreementLimit::arm(Seconds limit, std::string text) {
  deadline_ = now() + limit;
  text_ = std::move(text);
}

std::optional<std::string> AgreementLimit::take_passed() {
  const Seconds time = now();
  if (!deadline_ || time < *deadline_) return std::nullopt;
  deadline_.reset();
  return text_;
}

AgreementWatch::AgreementWatch(std::function<void(const std::string&)> end)
    : end_(std::move(end)), thread_([this] { watch(); }) {}

AgreementWatch::~AgreementWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_one();
  thread_.join();
}

void AgreementWatch::arm(Seconds limit, std::string text) {
  const std::lock_guard lock(mutex_);
  limit_.arm(limit, std::move(text));
}

void AgreementWatch::disarm() {
  const std::lock_guard lock(mutex_);
  limit_.disarm();
}

void AgreementWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, kInterval, [this] { return stopping_; })) {
    if (const auto passed = limit_.take_passed()) end_(*passed);
  }
}

}  // namespace fabricbench
