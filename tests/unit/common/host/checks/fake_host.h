// Hosts for checks, in memory: texts by their source, links, and what is denied.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/host/checks/view.h"

namespace fabricbench::host {

class FakeHost final : public View {
 public:
  FakeHost() = default;
  FakeHost(const FakeHost& other)
      : View(),
        texts_(other.texts_),
        links_(other.links_),
        folders_(other.folders_),
        denied_(other.denied_),
        taken_(other.taken_) {}
  FakeHost& operator=(const FakeHost&) = delete;

  void set(const std::string& source, const std::string& text) { texts_[source] = text; }
  void link(const std::string& from, const std::string& to) { links_[from] = to; }
  void make_folder(const std::string& folder) { folders_.insert(folder); }
  /// Removes a file, or all that is below a folder.
  void remove(const std::string& source);

  /// What a check asks for: a text, the names in a folder, a link, or a field of a text (`SOURCE#KEY`).
  void deny(const std::string& asked) { denied_.insert(asked); }
  void take_away(const std::string& asked) { taken_.insert(asked); }
  void forget_asked() { asked_.clear(), answered_.clear(); }  ///< what was asked to make it
  [[nodiscard]] const std::set<std::string>& asked() const { return asked_; }
  [[nodiscard]] const std::set<std::string>& answered() const { return answered_; }  ///< of these, what was there

  [[nodiscard]] std::string text(const std::string& source) const override;
  [[nodiscard]] std::string field(const std::string& source, std::string_view key) const override;
  [[nodiscard]] std::vector<std::string> names(const std::string& folder) const override;
  [[nodiscard]] std::string target(const std::string& link) const override;

 private:
  void ask(const std::string& what) const;
  [[nodiscard]] std::string resolved(const std::string& path) const;

  std::map<std::string, std::string> texts_;
  std::map<std::string, std::string> links_;
  std::set<std::string> folders_;
  std::set<std::string> denied_;
  std::set<std::string> taken_;
  mutable std::set<std::string> asked_;
  mutable std::set<std::string> answered_;
};

/// Hosts that are well. Each is complete as far as checks read.
[[nodiscard]] FakeHost host_with_nothing();  ///< a laptop: one Ethernet interface
[[nodiscard]] FakeHost
h100_infiniband_host();  ///< 8 H100, 8 ConnectX-7 at 400 Gb/s InfiniBand, a BlueField for storage

/// What checks of the operating system, of launching and of settings read.
void add_system_details(FakeHost& host);
void add_rdma_settings(FakeHost& host, const std::string& device);  ///< of a host with mlx5_0 to mlx5_8
[[nodiscard]] FakeHost roce_host();  ///< 8 ConnectX-7 at 400 Gb/s Ethernet, a bond of two 200 Gb/s interfaces
[[nodiscard]] FakeHost efa_host();   ///< p4d.24xlarge with 4 EFA devices

void add_h100_gpus(FakeHost& host);  ///< 8 of them, idle: their links are x16, and at the speed of PCIe 1

/// What checks of interfaces and of adapters read of those that a host has so far.
void add_interface_details(FakeHost& host);
void add_adapter_details(FakeHost& host);

using NamedHost = std::pair<std::string, std::function<FakeHost()>>;
[[nodiscard]] const std::vector<NamedHost>& healthy_hosts();

}  // namespace fabricbench::host
