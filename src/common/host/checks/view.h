// What a check can see of a host: texts by their source, replaceable by what was recorded elsewhere.
//
// A source is the path of a file, or what stands beside files, with a word before it that says what it is:
//   /sys/class/infiniband/mlx5_0/fw_ver   a file
//   env/NCCL_IB_HCA                       a variable of the environment
//   nvml/0000:42:00.0/ecc_mode            what NVIDIA's library says of a GPU
//   command/lldpctl -f json               what a command prints on standard output
//   system/free/dev/shm                   what the kernel answers to a call, here statvfs(2): free and total bytes
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/ownership.h"

namespace fabricbench::host {

/// A source that a check needs and cannot have: the reason why it could not check.
class NotSeen : public std::exception {
 public:
  /// `is_absent`: its folder can be read, and it is not there.
  NotSeen(std::string source, std::string reason, bool is_absent = false)
      : source_(std::move(source)), reason_(std::move(reason)), is_absent_(is_absent) {}
  [[nodiscard]] const std::string& source() const { return source_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] bool is_absent() const { return is_absent_; }
  [[nodiscard]] const char* what() const noexcept override { return reason_.c_str(); }

 private:
  std::string source_;
  std::string reason_;
  bool is_absent_;
};

/// A host, as far as it can be read. All functions throw NotSeen, and never change anything.
class View : public InterfaceBase {
 public:
  /// The whole text of a source.
  [[nodiscard]] virtual std::string text(const std::string& source) const = 0;
  /// What follows `key`, blanks and a colon on the first line of a text that begins with it.
  [[nodiscard]] virtual std::string field(const std::string& source, std::string_view key) const;
  /// The names in a folder, sorted.
  [[nodiscard]] virtual std::vector<std::string> names(const std::string& folder) const = 0;
  /// The path that a link leads to, without links in it.
  [[nodiscard]] virtual std::string target(const std::string& link) const = 0;
};

/// What answers for the sources with one word before them; gets what stands behind it. Throws NotSeen.
using Provider = std::function<std::string(const std::string& rest)>;

/// This host.
class LiveView final : public View {
 public:
  /// `providers`: by the word before their sources. It has those of `env` and `system` itself.
  explicit LiveView(std::map<std::string, Provider> providers = {});
  [[nodiscard]] std::string text(const std::string& source) const override;
  [[nodiscard]] std::vector<std::string> names(const std::string& folder) const override;
  [[nodiscard]] std::string target(const std::string& link) const override;

 private:
  std::map<std::string, Provider> providers_;
};

/// A copy of another host's files below a folder. What is no file is in folders with an `@`: `@env/NCCL_IB_HCA`,
/// `@nvml/...`, and `@command/lldpctl -f json`, with `_` for each `/` of a command.
class FolderView final : public View {
 public:
  explicit FolderView(std::filesystem::path folder);
  [[nodiscard]] std::string text(const std::string& source) const override;
  [[nodiscard]] std::vector<std::string> names(const std::string& folder) const override;
  [[nodiscard]] std::string target(const std::string& link) const override;

 private:
  [[nodiscard]] std::filesystem::path file_of(const std::string& source) const;

  std::filesystem::path folder_;
};

}  // namespace fabricbench::host
