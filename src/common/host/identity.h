// Which machine this is, and which ranks share its clock and its memory.
//
// `root` is the directory that stands for `/`. The four domains are 64-bit FNV-1a hashes, made to
// be compared between ranks and not to be kept: a reboot changes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace fabricbench::host {

// The FNV-1a hash of 64 bits of a text, to be compared and not to be kept.
[[nodiscard]] std::uint64_t hash_of(std::string_view text);

// The host's name in full, as `hostname` prints it. Throws std::system_error.
[[nodiscard]] std::string host_name();

// What messages call a process: `rank 3 on node07`.
[[nodiscard]] std::string name_of_process(std::int64_t rank, const std::string& host);

// The kernel's release, as `uname -r` prints it. Throws std::system_error.
[[nodiscard]] std::string kernel_release();

// The processor's name in /proc/cpuinfo. Arm states numbers instead, given as
// `CPU implementer 0x41 part 0xd4f`; where neither is there, the architecture (`uname -m`).
[[nodiscard]] std::string processor_model(const std::filesystem::path& root = "/");

// The random number that the running kernel drew when it started, one per boot of one machine.
// Throws std::runtime_error, with the path, where it cannot be read: a made-up value would let
// ranks of two machines believe that they share a clock.
[[nodiscard]] std::string boot_id(const std::filesystem::path& root = "/");

// Processes with equal values read the same CLOCK_MONOTONIC: one boot, one time namespace.
// Throws as boot_id(). Source: random(4), time_namespaces(7).
[[nodiscard]] std::uint64_t clock_domain(const std::filesystem::path& root = "/");

// Processes with equal values have the same network interfaces and share a loopback. Throws as boot_id(). Source:
// network_namespaces(7).
[[nodiscard]] std::uint64_t network_domain(const std::filesystem::path& root = "/");

// Processes with equal values allocate from the same machine's memory. Throws as boot_id().
[[nodiscard]] std::uint64_t memory_domain(const std::filesystem::path& root = "/");

// Processes with equal values allocate below the same cgroup limit, the one that free_memory()
// reports; without any limit, they are in the same memory cgroup. It is the limited cgroup and not
// the process's own that counts, because Slurm puts each task into a cgroup of its own below the
// job's limit. Throws as boot_id().
[[nodiscard]] std::uint64_t cgroup_domain(const std::filesystem::path& root = "/");

}  // namespace fabricbench::host
