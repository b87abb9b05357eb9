// The operating system's interference with this process while it measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/core/units.h"

namespace fabricbench::host {

// How often the calling thread has lost its processor against its will since it started. It is the
// thread's count and not the process's, so call it from the thread that measures: the helper
// threads of MPI libraries and of the watchdog are preempted without harm to a sample. Throws
// std::system_error. Source: ru_nivcsw of RUSAGE_THREAD, getrusage(2).
[[nodiscard]] std::int64_t involuntary_context_switches();

// The processor time of the calling thread in seconds. Throws std::system_error. Source: CLOCK_THREAD_CPUTIME_ID,
// clock_gettime(2).
[[nodiscard]] double processor_time();

// The time in seconds for which the calling thread could have run, and waited for a processor. Empty if the kernel does
// not tell. Source: the second number of schedstat, Documentation/scheduler/sched-stats.rst.
[[nodiscard]] std::optional<double> processor_wait(const std::filesystem::path& root = "/");

// The process's peak resident memory in bytes; empty if unknown. Not ru_maxrss, which Linux carries over an exec: the
// launcher that became this process would count. Source: VmHWM of proc_pid_status(5).
[[nodiscard]] std::optional<std::uint64_t> peak_resident_bytes(const std::filesystem::path& root = "/");

// The time for which the hypervisor ran something else while this machine had work to do: the sum over its processors
// since boot, in ticks of 1 / sysconf(_SC_CLK_TCK) seconds. Empty if /proc/stat has none; always 0 on bare metal.
// Source: `steal` in proc_stat(5).
[[nodiscard]] std::optional<std::uint64_t> stolen_ticks(const std::filesystem::path& root = "/");

// now() less what the kernel says when asked past the C library and the code that it maps into every process (vDSO).
// It stays within microseconds of 0 unless a preloaded library, or a clock source that differs between processors,
// makes now() leap.
[[nodiscard]] Seconds lead_of_clock();

}  // namespace fabricbench::host
