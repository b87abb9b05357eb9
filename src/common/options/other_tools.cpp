#include "common/options/other_tools.h"

namespace fabricbench {
namespace {

using enum Treatment;

// nccl-tests at the version of July 2026: every option has its letter here.
constexpr OtherOption kNcclTests[] = {
    {kSame, "-t,--nthreads", "N", ""},
    {kSame, "-g,--ngpus", "N", ""},
    {kSame, "-b,--minbytes", "SIZE", ""},
    {kSame, "-e,--maxbytes", "SIZE", ""},
    {kSame, "-i,--stepbytes", "SIZE", ""},
    {kSame, "-f,--stepfactor", "N", ""},
    {kSame, "-n,--iters", "N", ""},
    {kSame, "-m,--agg_iters", "N", ""},
    {kSame, "-w,--warmup_iters", "N", ""},
    {kSame, "-N,--run_cycles", "N", ""},
    {kSame, "-p,--parallel_init", "0|1", ""},
    {kSame, "-c,--check", "N", ""},
    {kSame, "-o,--op", "OP", ""},
    {kSame, "-d,--datatype", "TYPE", ""},
    {kSame, "-r,--root", "RANK", ""},
    {kSame, "-z,--blocking", "N", ""},
    {kSame, "-y,--stream_null", "0|1", ""},
    {kSame, "-T,--timeout", "SECONDS", ""},
    {kSame, "-G,--cudagraph", "N", ""},
    {kSame, "-C,--report_cputime", "0|1", ""},
    {kSame, "-S,--report_timestamps", "0|1", ""},
    {kSame, "-J,--output_file", "FILE", ""},
    {kSame, "-a,--average", "N", ""},
    {kSame, "-R,--local_register", "0|1|2", ""},
    {kSame, "-x,--cta_policy", "0|1|2", ""},
    {kSame, "-D,--device_implementation", "N", ""},
    {kSame, "-V,--device_cta_count", "N", ""},
    {kSame, "-M", "0|1", ""},
    {kSame, "--memory", "0|1", ""},
    {kSame, "-u,--unalign", "N", ""},
    {kSame, "-I,--per_iter_timing", "0|1", ""},
    {kSame, "-K,--per_iter_skip", "N", ""},
    {kSame, "-h,--help", "", ""},
};

// What rccl-tests has beside nccl-tests' options, in July 2026. -q and -u have other meanings here.
constexpr std::string_view kFilesOfRows = "rows go to files with names: --csv FILE, or --json FILE";
constexpr OtherOption kRcclTests[] = {
    {kRefused, "-Y,--memory_type", "KIND", "buffers are in host memory or in CUDA's usual kind here: --memory"},
    {kRefused, "-Z,--rccl_output_format", "FORMAT", kFilesOfRows},
    {kRefused, "-X,--rccl_output_file", "FILE", kFilesOfRows},
    {kRefused, "-O,--out_of_place", "0|1", "the placement of buffers has a name here: --placement in, out or both"},
    {kRefused, "-F,--cache_flush", "N",
     "caches of instructions are not emptied here; --buffers cold keeps data out of the processor's caches"},
    {kRefused, "-E,--rotating_tensor", "0|1", "--buffers rotate goes through the largest buffer"},
    {kRefused, "-A,--output_algo_proto_channels", "0|1", "the library itself tells its choice: NCCL_DEBUG=INFO"},
};

constexpr std::string_view kRawEthernet = "raw Ethernet packets are not measured here";
constexpr std::string_view kOtherAccelerators =
    "GPU memory is CUDA's here: --memory cuda, or --memory cuda:N for GPU N";
constexpr std::string_view kPinning = "processes are bound by the launcher: mpirun --bind-to";
constexpr std::string_view kEncryption = "encryption and signatures by the adapter are not measured here";
constexpr std::string_view kRateLimit = "--rate-limit is in Gb/s here, and kept by the program itself";
constexpr std::string_view kOneMemory = "buffers are registered in one way here; --memory chooses their memory";
constexpr std::string_view kHow =
    "how requests are posted and completions polled cannot be chosen here, except by "
    "--events, --post_list and --cq-mod";

constexpr std::string_view kLatencies = "rdma_*_lat";
constexpr std::string_view kNotReceived = "rdma_read_*,rdma_atomic_*";
constexpr Unsupported kOneAtATime = {kLatencies, kRefused, "a latency is of one message at a time; leave it out"};
constexpr Unsupported kEachSignaled = {kLatencies, kDropped,
                                       "a latency is of one message at a time, and each is signaled"};
constexpr Unsupported kOneWay = {kLatencies, kRefused,
                                 "a latency is of one message at a time; use the program that ends in _bw"};
constexpr Unsupported kInMicroseconds = {kLatencies, kDropped, "latencies are in microseconds"};
constexpr Unsupported kEightBytes = {"rdma_atomic_*", kRefused, "atomics have 8 bytes; leave it out"};
constexpr Unsupported kAtomicsOnly = {
    "rdma_write_*,rdma_read_*,rdma_send_*", kRefused,
    "only atomics have a type; leave it out, or use rdma_atomic_bw or rdma_atomic_lat"};
constexpr Unsupported kNothingInline = {kNotReceived, kRefused, "reads and atomics carry no data inline; leave it out"};
constexpr Unsupported kNoReceives = {kNotReceived, kRefused, "reads and atomics consume no receives; leave it out"};
constexpr Unsupported kNoResponses = {"rdma_write_*,rdma_send_*", kRefused,
                                      "only reads and atomics are limited by it; -t limits requests in flight"};
constexpr Unsupported kOneOutstanding = {kLatencies, kDropped, "a latency is of one operation at a time"};
constexpr Unsupported kWritesOnly = {
    "rdma_read_*,rdma_atomic_*,rdma_send_*", kRefused,
    "only writes can have immediate data; leave it out, or use rdma_write_bw or rdma_write_lat"};

// perftest at the version of July 2026, with the options of all its builds.
constexpr OtherOption kPerftest[] = {
    {kSame, "-a,--all", "", "", {{kEightBytes}}},
    {kSame, "-A,--atomic_type", "TYPE", "", {{kAtomicsOnly}}},
    {kSame, "-b,--bidirectional", "", "", {{kOneWay}}},
    {kSame, "-c,--connection", "TYPE", ""},
    {kSame, "-d,--ib-dev", "NAME", ""},
    {kSame, "-D,--duration", "SECONDS", ""},
    {kSame, "-e,--events", "", ""},
    {kSame, "-F,--CPU-freq", "", ""},
    {kSame, "-h,--help", "", ""},
    {kSame, "-i,--ib-port", "N", ""},
    {kSame, "-I,--inline_size", "BYTES", "", {{kNothingInline}}},
    {kSame, "-l,--post_list", "N", "", {{kOneAtATime}}},
    {kSame, "-m,--mtu", "BYTES", ""},
    {kSame, "-n,--iters", "N", ""},
    {kSame, "-o,--outs", "N", "", {{kNoResponses, kOneOutstanding}}},
    {kSame, "-q,--qp", "N", "", {{kOneAtATime}}},
    {kSame, "-Q,--cq-mod", "N", "", {{kEachSignaled}}},
    {kSame, "-r,--rx-depth", "N", "", {{kNoReceives}}},
    {kSame, "-R,--rdma_cm", "", ""},
    {kSame, "-s,--size", "SIZE", "", {{kEightBytes}}},
    {kSame, "-S,--sl", "N", ""},
    {kSame, "-t,--tx-depth", "N", "", {{kOneAtATime}}},
    {kSame, "-x,--gid-index", "N", ""},
    {kSame, "--report_gbits", "", "", {{kInMicroseconds}}},
    {kSame, "--tclass", "N", ""},
    {kSame, "--use-srq", "", "", {{kNoReceives}}, {}, {}, "writes need --write_with_imm with it"},
    {kSame, "--write_with_imm", "", "", {{kWritesOnly}}},
    {kMapped, "-T,--tos", "N", "--tclass VALUE"},
    {kMapped, "-V", "", "--version"},
    {kMapped, "--data_validation", "", "--check all"},
    {kMapped, "--disable_numa", "", "--numa off"},
    {kMapped, "--numa_node", "N", "--numa VALUE"},
    {kMapped, "--out_json_file", "FILE", "--json VALUE", {}, {}, {}, "its format is that of docs/output.md"},
    {kMapped, "--run_infinitely", "", "--run_cycles 0"},
    {kMapped, "--use_cuda", "N", "--memory cuda:VALUE"},
    {kMapped, "--use_data_direct", "", "--data-direct"},
    {kMapped, "--use_hugepages", "", "--memory hugepages"},
    {kDropped, "-N,--noPeak", "", "there is no peak to leave out"},
    {kDropped, "-p,--port", "PORT", "both ends meet over MPI, and there is no port to choose"},
    {kDropped, "-z,--comm_rdma_cm", "", "both ends exchange addresses over MPI"},
    {kDropped, "--dont_xchg_versions", "", "both ends are the same program"},
    {kDropped, "--perform_warm_up", "", "there is always a warm-up of --warmup_iters iterations"},
    {kDropped, "--use_cuda_dmabuf", "", "the way to register GPU memory is found by trying, and printed"},
    {kRefused, "-C,--report-cycles", "", "times are in microseconds here"},
    {kRefused, "-f,--margin", "SECONDS", "warm-up is counted in iterations here: --warmup_iters"},
    {kRefused, "-g,--mcg,--connectionless", "", "multicast is not measured here"},
    {kRefused, "-M,--MGID", "GID", "multicast is not measured here"},
    {kRefused, "-H,--report-histogram,--report-histogrm,-U,--report-unsorted", "",
     "--stats prints percentiles, and --samples adds every sample to --json"},
    {kRefused, "-L,--hop_limit", "N", "the hop limit cannot be chosen here"},
    {kRefused, "-O,--dualport", "", "--devices all measures one rank per active device, all at the same time"},
    {kSame, "-u,--qp-timeout", "N", ""},
    {kRefused, "-w,--limit_bw", "LIMIT",
     "the least bandwidth is in GB/s here: --min-bw, or a share of the port's "
     "rate: --percent-of-rate"},
    {kRefused, "-W,--report-counters", "NAMES",
     "bytes of each port are in --json, and a note names the errors, ECN marks, CNPs and pauses that ports "
     "counted; other counters are not read"},
    {kRefused, "-X,--vector", "N", "the completion vector cannot be chosen here"},
    {kRefused, "-y,--limit_msgrate", "LIMIT", "there is no least message rate here; --min-bw is the least bandwidth"},
    {kRefused,
     "-B,--source_mac,-E,--dest_mac,-j,--source_ip,-J,--dest_ip,-k,--source_port,-K,--dest_port,-Y,"
     "--ethertype,--remote_mac,--local_mac,--remote_ip,--local_ip,--remote_port,--local_port,--vlan_pcp,"
     "--flows,--flows_burst,--reply_every",
     "VALUE", kRawEthernet},
    {kRefused,
     "-G,--use_rss,-P,--client,-v,--mac_fwd,-Z,--server,--promiscuous,--raw_ipv6,--raw_mcast,--sniffer,"
     "--tcp,--vlan_en",
     "", kRawEthernet},
    {kRefused, "--aes_xts,--encrypt_on_tx,--sig_before,--sig_offload", "", kEncryption},
    {kRefused, "--aes_block_size,--kek_path,--credentials_path,--data_enc_keys_number,--data_enc_key_app_path", "VALUE",
     kEncryption},
    {kRefused, "--bind_source_ip", "ADDRESS", "the device is chosen by --ib-dev, and its address by --gid-index"},
    {kSame, "--burst_size", "N", "", {{kOneAtATime}}},
    {kSame, "--rate_limit", "GBITS", "", {{kOneAtATime}}},
    {kRefused, "--rate_limit_type,--rate_units,--typical_pkt_size", "VALUE", kRateLimit},
    {kRefused, "--congest_type", "TYPE", "congestion control cannot be chosen here"},
    {kRefused, "--cpu_util", "", "the use of processors is not measured here"},
    {kRefused, "--cqe_poll,--recv_post_list", "N", kHow},
    {kRefused, "--disable_dynamic_polling,--no_lock,--use_old_post_send", "", kHow},
    {kRefused, "--cuda_mem_type", "N", "GPU memory is of the usual kind here: --memory cuda"},
    {kRefused, "--use_cuda_bus_id", "ADDRESS", "GPUs have CUDA's numbers here: --memory cuda:N"},
    {kRefused, "--use_cuda_pcie_mapping", "",
     "--data-direct chooses that mapping with Data Direct, and no other adapter needs it"},
    {kRefused,
     "--use_musa,--use_musa_bus_id,--use_rocm,--use_neuron,--use_hl,--use_mlu,--use_opencl,"
     "--opencl_platform_id",
     "N", kOtherAccelerators},
    {kRefused, "--use_musa_dmabuf,--use_musa_pcie_mapping,--use_rocm_dmabuf,--use_neuron_dmabuf,--use_mlu_dmabuf", "",
     kOtherAccelerators},
    {kRefused, "--gpu_touch", "MODE", "gpudirect_rdma_lat has a kernel that reads the memory: --seen-by gpu"},
    {kRefused, "--data_validation_debug", "", "wrong data is reported with its place; there is no more to print"},
    {kRefused, "--pin_cores", "CORES", kPinning},
    {kSame, "--disable_pcie_relaxed", "", ""},
    {kRefused, "--no_enhanced_reorder,--use_ooo", "", "the order of packets cannot be chosen here"},
    {kRefused, "--dlid", "LID", "the LID is that of the other end"},
    {kSame, "--flow_label", "LABELS", ""},
    {kRefused, "--force-link", "TYPE", "the kind of link is that of the port: --ib-dev and --ib-port choose it"},
    {kRefused, "--ipv6,--ipv6-addr", "", "both ends agree on a GID; --gid-index chooses another"},
    {kRefused, "--latency_gap", "TIME", "messages follow each other at once here"},
    {kRefused, "--log_dci_streams,--log_active_dci_streams", "N", "a DC initiator has one stream here"},
    {kRefused, "--mmap,--mmap-offset,--use_ib_dm_dmabuf", "VALUE", kOneMemory},
    {kRefused, "--mr_per_qp,--odp,--use-null-mr", "", kOneMemory},
    {kRefused, "--out_json", "", "records go to a file with a name: --json FILE"},
    {kRefused, "--output", "COLUMN", "--csv FILE has every result, one line per row"},
    {kRefused, "--payload_file_path", "FILE", "the data is a pattern that shows every misplaced byte"},
    {kSame, "--pkey_index", "N", ""},
    {kDropped, "--report-both", "", "with --bidirectional the table has both directions"},
    {kRefused, "--report-per-port", "", "--devices all prints one row per device"},
    {kSame, "--retry_count", "N", ""},
    {kRefused, "--reversed", "", "name the hosts in the other order: mpirun --host B,A"},
    {kRefused, "--send_with_imm,--unsolicited_write", "", "only writes have immediate data here: --write_with_imm"},
    {kRefused, "--tph_mem,--cpu_id,--ph", "VALUE", "processing hints of PCI Express cannot be given here"},
    {kRefused, "--wait_destroy", "SECONDS", "resources are released at once"},
};

// OSU micro-benchmarks 7.5.
constexpr OtherOption kOsu[] = {
    {kSame, "-h,--help", "", ""},
    {kMapped, "-v,--version", "", "--version"},
    {kMapped, "-m,--message-size", "[MIN:]MAX", "--minbytes MIN --maxbytes MAX"},
    {kMapped, "-i,--iterations", "N", "--iters VALUE", {}, {}, {}, {}, true},
    {kMapped, "-x,--warmup", "N", "--warmup_iters VALUE"},
    {kMapped, "-W,--window-size", "N", "--window VALUE"},
    {kMapped,
     "-d,--accelerator",
     "KIND",
     "--memory VALUE",
     {},
     {"cuda,host", "GPU memory is CUDA's here: --memory cuda"}},
    {kMapped, "D", "", "--memory cuda"},
    {kMapped, "H", "", "--memory host"},
    {kRefused, "M,MD,MH", "", "managed memory is not measured here; give D or H, or --memory"},
    {kDropped, "-M,--mem-limit", "SIZE", "a run takes the memory that its largest message needs"},
    {kMapped, "-k,--root-rank", "RANK", "--root VALUE"},
    {kMapped, "-l,--in-place", "", "--placement in"},
    {kDropped, "-c,--validation", "", "data is always checked, unless --check is 0"},
    {kDropped, "-f,--full", "", "--stats prints what the rows leave out"},
    {kRefused, "-b,--buffer-num", "KIND", "buffers of each operation are chosen by --buffers"},
    {kRefused, "-D,--ddt", "TYPE", "derived datatypes of MPI are not measured here"},
    {kRefused, "-G,--graph", "KIND", "fabricbench report draws the results of --json"},
    {kRefused, "-I,--session", "", "MPI sessions are not used here"},
    {kRefused, "-N,--nhbr", "KIND", "neighbourhood collectives are not measured here"},
    {kRefused, "-p,--num-pairs", "N", "multi_pair_bw measures pairs at the same time, and --pairs chooses them"},
    {kRefused, "-P,--papi", "EVENTS", "counters of the processor are not read here"},
    {kRefused, "-q,--partitions", "N", "partitioned messages are not measured here"},
    {kRefused, "-r,--cuda-target,-t,--num-test-calls", "VALUE",
     "collectives that overlap computation are not measured here"},
    {kRefused, "-a,--array-size", "N", "collectives that overlap computation are not measured here"},
    {kRefused, "-R,--print-rate", "0|1", "messages per second are always printed"},
    {kRefused, "-s,--sync-option,-w,--win-options", "KIND", "one-sided operations of MPI are not measured here"},
    {kRefused, "-T,--type", "TYPE", "the datatype of collectives is chosen by --datatype; messages are bytes"},
    {kRefused, "-u,--validation-warmup", "N", "--check is the number of checked operations"},
    {kRefused, "-V,--vary-window", "0|1", "a run has one window: --window"},
    {kRefused, "-z,--tail-lat", "", "--stats prints percentiles"},
};

constexpr std::string_view kDatagrams = "UDP and SCTP are not measured here";
constexpr std::string_view kOneCommand = "mpirun starts both ends, and there is no server";
constexpr std::string_view kSockets = "options of sockets are the system's own here";
constexpr std::string_view kLogins = "MPI starts both ends, and there is no login";
constexpr std::string_view kLimits = "--timeout is the time without progress after which the job ends";

// iperf3 at the version of July 2026.
constexpr OtherOption kIperf3[] = {
    {kSame, "-h,--help", "", ""},
    {kMapped, "-v,--version", "", "--version"},
    {kMapped, "-t,--time", "SECONDS", "--time-budget VALUE", {}, {}, "--minbytes 128K --maxbytes 128K"},
    {kMapped, "-P,--parallel", "N", "--streams VALUE"},
    {kMapped, "-l,--length", "SIZE", "--minbytes VALUE --maxbytes VALUE"},
    {kMapped, "-k,--blockcount", "N", "--iters VALUE --window 1"},
    {kMapped, "-B,--bind", "ADDRESS", "--interface VALUE"},
    {kMapped, "--bind-dev", "NAME", "--interface VALUE"},
    {kMapped, "-T,--title", "TEXT", "--label VALUE"},
    {kDropped, "-p,--port,--cport", "PORT", "ports are chosen by the program"},
    {kDropped, "--forceflush", "", "each row is printed at once with --iters"},
    {kDropped, "--get-server-output", "", "one program reports both ends"},
    {kDropped, "-N,--no-delay", "", "small messages are never held back"},
    {kRefused, "-s,--server,-D,--daemon,-1,--one-off", "", kOneCommand},
    {kRefused, "-c,--client", "HOST", "mpirun starts both ends, on the hosts of mpirun --host A,B"},
    {kRefused, "-R,--reverse", "", "name the hosts in the other order: mpirun --host B,A"},
    {kRefused, "--bidir", "", "tcp_bibw measures both ways at the same time"},
    {kRefused, "-J,--json,--json-stream,--json-stream-full-output", "",
     "records go to a file with a name: --json FILE"},
    {kRefused, "--logfile,-I,--pidfile", "FILE", "let the shell keep the output, or give --json or --csv a file"},
    {kRefused, "--timestamps", "", "--report_timestamps 1 appends the time to each row"},
    {kRefused, "-V,--verbose,-d,--debug", "", "--stats prints more about every row"},
    {kDropped,
     "-i,--interval",
     "SECONDS",
     "results are per size, with intervals of confidence; --samples keeps every sample",
     {},
     {},
     {},
     {},
     true},
    {kRefused, "-f,--format", "UNIT", "bandwidth is in GB/s here"},
    {kRefused, "-n,--bytes", "SIZE", "a run has a number of windows of messages, --iters, or a time, --time-budget"},
    {kRefused, "-O,--omit", "SECONDS", "warm-up is counted in windows of messages here: --warmup_iters"},
    {kRefused, "-A,--affinity", "CPUS", kPinning},
    {kRefused, "-b,--bitrate,--bandwidth,--fq-rate,--pacing-timer,--server-bitrate-limit", "RATE",
     "messages are sent as fast as TCP takes them"},
    {kRefused, "--no-fq-socket-pacing", "", "messages are sent as fast as TCP takes them"},
    {kRefused, "-u,--udp,--udp-counters-64bit,--sctp,--dont-fragment,--gsro", "", kDatagrams},
    {kRefused, "--nstreams,-X,--xbind", "VALUE", kDatagrams},
    {kRefused, "-w,--window,-M,--set-mss,-S,--tos,--dscp,-L,--flowlabel,-C,--congestion,--linux-congestion", "VALUE",
     kSockets},
    {kRefused, "-Z,--zerocopy,-m,--mptcp,--skip-rx-copy,--cntl-ka", "", kSockets},
    {kRefused, "-4,--version4,-6,--version6", "", "the network is chosen by --interface, by name or address"},
    {kRefused, "-F,--file", "FILE", "messages are in memory, with a pattern that is checked"},
    {kRefused, "--repeating-payload", "", "messages are in memory, with a pattern that is checked"},
    {kRefused, "--extra-data", "TEXT", "the name of a run is its label: --label"},
    {kRefused, "--connect-timeout,--idle-timeout,--rcv-timeout,--snd-timeout,--server-max-duration", "TIME", kLimits},
    {kRefused, "--username,--rsa-public-key-path,--rsa-private-key-path,--authorized-users-path,--time-skew-threshold",
     "VALUE", kLogins},
    {kRefused, "--use-pkcs1-padding", "", kLogins},
};

bool is_collective(std::string_view program) { return program.ends_with("_perf"); }
bool is_verbs(std::string_view program) { return program.starts_with("rdma_") && program != "rdma_cm_connect"; }
bool is_tcp(std::string_view program) { return program.starts_with("tcp_"); }
bool is_messages(std::string_view program) { return program.starts_with("send_recv_") || program == "multi_pair_bw"; }

constexpr std::array<OtherTool, 5> kTools = {{
    {"nccl-tests", "*_perf", false, is_collective, kNcclTests},
    {"rccl-tests", "*_perf", false, is_collective, kRcclTests},
    {"perftest", "rdma_*", true, is_verbs, kPerftest},
    {"OSU", "*_perf, send_recv_* and multi_pair_bw", false,
     [](std::string_view program) { return is_collective(program) || is_messages(program); }, kOsu},
    {"iperf3", "tcp_*", true, is_tcp, kIperf3},
}};

}  // namespace

std::span<const OtherTool> other_tools() { return kTools; }

}  // namespace fabricbench
