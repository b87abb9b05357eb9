#include "common/host/checks/checks.h"

#include <functional>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

/// `libnccl.so.2.19.3` of `loads /usr/lib/x86_64-linux-gnu/libnccl.so.2.19.3`.
std::string nccl_library(Look& host) {
  const std::string answer = host.text("system/library/libnccl.so.2");
  return answer.starts_with("loads ") ? answer.substr(answer.rfind('/') + 1) : "does not load";
}

std::string mpi_version(Look& host) {
  if (!host.text_if_any("system/program/mpirun")) return "none";
  return host.lines("command/mpirun --version").front();
}

std::string firmware_of_board(Look& host) {
  return host.text_if_any("/sys/class/dmi/id/bios_version").value_or("not stated");
}

/// What a container's engine leaves in it. Source: the engines' own sources and systemd's container interface.
std::string container(Look& host) {
  if (host.text_if_any("/run/.containerenv")) return "podman";
  if (host.text_if_any("/.dockerenv")) return "docker";
  return host.text_if_any("env/container").value_or("none");
}

void examine_software(Look& host) {
  const auto state = [&](const char* key, const std::function<std::string(Look&)>& value) {
    host.attempt([&] { host.state({.key = key, .value = value(host)}); });
  };
  state("system", [](Look& look) { return look.field("/etc/os-release", "PRETTY_NAME"); });
  state("bios", firmware_of_board);
  state("container", container);
  state("mpi", mpi_version);
  state("nccl", nccl_library);
  state("program", [](Look& look) { return look.text("system/program_hash"); });
}

}  // namespace

Check software_check() {
  const auto compared = [](std::string_view key, std::string_view title, CheckLevel level, std::string_view consequence,
                           std::string_view next) {
    return Compared{.key = key, .title = title, .level = level, .consequence = consequence, .next = next};
  };
  constexpr auto kFail = CheckLevel::kFailure;
  constexpr auto kWarn = CheckLevel::kWarning;
  return {.name = "software",
          .what = "Hosts have the same system, firmware, MPI and NCCL, and run the same program.",
          .reads =
              "/etc/os-release, /sys/class/dmi/id/bios_version, /run/.containerenv, /.dockerenv, mpirun --version, "
              "dlopen(3) of libnccl.so.2, /proc/self/exe",
          .look = examine_software,
          .compared = {
              compared("system", "operating system", kWarn, "libraries and drivers differ", "install one image"),
              compared("bios", "version of the BIOS", CheckLevel::kNote,
                       "settings of PCIe, memory and power may differ", "update it, and compare its settings"),
              compared("container", "container", kWarn, "ranks run with other libraries and limits than their peers",
                       "start all ranks in the same container"),
              compared("mpi", "MPI", kFail, "ranks cannot talk to each other, and the job hangs",
                       "mpirun --version on each host; PATH of shells that are not interactive"),
              compared("nccl", "NCCL", kFail, "NCCL ends or hangs at its start", "install one package of libnccl2"),
              compared("program", "this program", kFail, "ranks disagree on what they do, and hang",
                       "copy one build to all hosts")}};
}

}  // namespace fabricbench::host
