// What checks of the operating system, of launching and of settings read of hosts that are well.

#include <fmt/format.h>

#include "common/host/checks/fake_host.h"

namespace fabricbench::host {
namespace {

void add_processors(FakeHost& host) {
  host.set("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Platinum 8480C\nflags\t\t: fpu\n");
  host.set("/proc/meminfo", "MemTotal:       2113513472 kB\nMemFree:        2000000000 kB\nHugePages_Free:     5128\n");
  const std::string cpus = "/sys/devices/system/cpu/";
  host.set(cpus + "online", "0-223\n");
  host.set(cpus + "smt/active", "1\n");
  for (int policy = 0; policy < 2; ++policy) {
    host.set(fmt::format("{}cpufreq/policy{}/scaling_governor", cpus, policy), "performance\n");
    host.set(fmt::format("{}cpufreq/policy{}/scaling_driver", cpus, policy), "intel_pstate\n");
  }
  host.set("/sys/devices/system/node/node0/cpulist", "0-55,112-167\n");
  host.set("/sys/devices/system/node/node1/cpulist", "56-111,168-223\n");
  host.set("/sys/devices/system/node/node2/cpulist", "\n");  // memory of a GPU
  host.set("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  host.set("/sys/module/intel_idle/parameters/max_cstate", "9\n");
  host.set("/proc/sys/kernel/numa_balancing", "0\n");
  host.set("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  host.set("system/clock", "synchronized 1250");
  const std::string controller = "/sys/devices/system/edac/mc/mc0/";
  host.set(controller + "ce_count", "0\n");
  host.set(controller + "ue_count", "0\n");
  host.set(controller + "seconds_since_reset", "864000\n");
}

void add_processes(FakeHost& host) {
  host.set("/proc/1/stat", "1 (systemd) S 0 1 1 0 -1 4194560 0\n");
  host.set("/proc/2/stat", "2 (kthreadd) S 0 0 0 0 -1 2129984 0\n");
  host.set("/proc/77/stat", "77 (kworker/0:1H) D 2 0 0 0 -1 69238880 0\n");
  host.set("/proc/801/stat", "801 (irqbalance) S 1 801 801 0 -1 4194560 0\n");
  host.set("/proc/900/stat", "900 (mpirun) S 1 900 900 0 -1 4194304 0\n");
  host.set("/proc/901/stat", "901 (preflight) R 900 901 900 0 -1 4194304 0\n");
  host.set("/proc/self/stat", "901 (preflight) R 900 901 900 0 -1 4194304 0\n");
  host.set("/proc/loadavg", "1.05 0.80 0.50 2/2100 901\n");
  const std::string head = "  sl  local_address rem_address   st tx_queue rx_queue\n";
  host.set("/proc/net/tcp", head + "   0: 00000000:0016 00000000:0000 0A 00000000:00000000\n");
  host.set("/proc/net/tcp6", head + "   0: 00000000000000000000000000000000:0016 0:0000 0A 00000000:00000000\n");
  host.set("/proc/self/limits",
           "Limit                     Soft Limit           Hard Limit           Units     \n"
           "Max processes             8252000              8252000              processes \n"
           "Max open files            1024                 1048576              files     \n"
           "Max locked memory         unlimited            unlimited            bytes     \n");
  host.set("/proc/self/cgroup", "0::/user.slice/user-1000.slice\n");
  host.set("/sys/fs/cgroup/user.slice/pids.max", "max\n");
  host.set("/sys/fs/cgroup/user.slice/user-1000.slice/pids.max", "2722000\n");
  host.set("/sys/fs/cgroup/user.slice/user-1000.slice/memory.max", "max\n");
  host.set("system/free/tmp", "800000000000 1000000000000");
  host.set("system/free/home/anna", "800000000000 1000000000000");
}

void add_settings(FakeHost& host) {
  host.set("env/HOME", "/home/anna");
  host.set("env/PATH", "/usr/bin");
  host.set("system/home", "/home/anna");
  host.set("/etc/nccl.conf", "# of the site\nNCCL_SOCKET_IFNAME=eno,eth\nNCCL_DEBUG=WARN\nNCCL_TUNER_PLUGIN=none\n");
  host.set("system/interfaces",
           "docker0 up 172.17.0.1/16\neno1 up 10.0.0.7/24\neth0 up 10.0.0.7/24\neth0 up fe80::1/64\n"
           "lo up 127.0.0.1/8\n");
  host.set("/proc/sys/net/ipv6/conf/all/disable_ipv6", "0\n");
  host.set("system/program/mpirun", "/opt/openmpi/bin/orterun");
  host.set("command/mpirun --version", "mpirun (Open MPI) 4.1.6\n");
  host.set("/opt/openmpi/etc/openmpi-mca-params.conf", "# site\npml = ucx\noob_tcp_if_include = eth0\n");
  host.set("/home/anna/.openmpi/mca-params.conf", "btl_tcp_if_include = 10.0.0.0/24\n");
  host.set("system/library/libnccl.so.2", "loads /usr/lib/x86_64-linux-gnu/libnccl.so.2.21.5");
  host.set("system/library/libnccl-net.so",
           "fails libnccl-net.so: cannot open shared object file: No such file or directory");
  host.set("system/library/libnccl-tuner.so",
           "fails libnccl-tuner.so: cannot open shared object file: No such file or directory");
  host.set("/etc/os-release", "PRETTY_NAME=\"Ubuntu 22.04.4 LTS\"\nNAME=\"Ubuntu\"\n");
  host.set("/sys/class/dmi/id/bios_version", "2.1.5\n");
  host.set("system/program_hash", "00112233445566aa");
  for (const char* folder : {"/bin", "/etc", "/proc"}) host.make_folder(folder);
}

}  // namespace

void add_rdma_settings(FakeHost& host, const std::string& device) {
  host.set("/etc/nccl.conf",
           "NCCL_SOCKET_IFNAME==eno1\nNCCL_DEBUG=WARN\nNCCL_TUNER_PLUGIN=none\nNCCL_IB_HCA=^mlx5_8\n"
           "NCCL_TOPO_FILE=/etc/topology.xml\nNCCL_IB_PKEY=1\n");
  host.set("/home/anna/ucx.conf", "UCX_NET_DEVICES=mlx5_0:1,eno1\n");
  const std::string address = device.substr(device.rfind('/') + 1);
  host.set("/etc/topology.xml", fmt::format("<pci busid=\"{}\" class=\"0x020700\"/>\n", address));
}

void add_system_details(FakeHost& host) {
  add_processors(host);
  add_processes(host);
  add_settings(host);
}

}  // namespace fabricbench::host
