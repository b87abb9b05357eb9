"""What the campaign (campaign.py) makes go wrong: programs, and the faults of functions."""

from collections import namedtuple

COLLECTIVES = ("all_gather", "all_reduce", "alltoall", "alltoallv", "barrier", "broadcast", "gather", "hypercube", "reduce",
               "reduce_scatter", "scatter", "sendrecv")
RANKS = 2
ONE_SIZE = ("-b", "1024", "-e", "1024")
BRIEFLY = ("-n", "3", "-w", "1")
# Of RDMA, whose -w is another option, as is -T.
BRIEFLY_OVER_RDMA = ("-n", "3", "--warmup_iters", "1", "--pairs", "0-1")
ONE_SIZE_OVER_RDMA = ("-s", "1024", *BRIEFLY_OVER_RDMA)
# What plays: fakes of CUDA and NCCL, and a stub of libibverbs that connects the processes of a host.
Program = namedtuple("Program", "name arguments on_gpus over_rdma", defaults=(False, False))
# By label. All get --json and --timeout too. rdma_cm_connect is not here: rdma_cm needs the kernel's.
PROGRAMS = {
    **{f"{name}_perf": Program(f"{name}_perf", (*ONE_SIZE, *BRIEFLY)) for name in COLLECTIVES if name != "barrier"},
    "barrier_perf": Program("barrier_perf", BRIEFLY),
    **{name: Program(name, (*ONE_SIZE, *BRIEFLY)) for name in ("send_recv_bw", "send_recv_bibw", "send_recv_lat",
                                                               "multi_pair_bw", "tcp_bw", "tcp_bibw", "tcp_lat")},
    "pairwise_bw": Program("pairwise_bw", ("--level", "rank", "-n", "3", "--pair-timeout", "3")),
    "all_reduce_perf -g 2": Program("all_reduce_perf", (*ONE_SIZE, *BRIEFLY, "-g", "2"), on_gpus=True),
    "all_reduce_perf -G 3": Program("all_reduce_perf", (*ONE_SIZE, *BRIEFLY, "-G", "3"), on_gpus=True),
    "alltoall_perf on GPUs": Program("alltoall_perf", (*ONE_SIZE, *BRIEFLY), on_gpus=True),
    "send_recv_bw on GPUs": Program("send_recv_bw", (*ONE_SIZE, *BRIEFLY), on_gpus=True),
    **{name: Program(name, ONE_SIZE_OVER_RDMA, over_rdma=True) for name in (
        "rdma_write_bw", "rdma_read_bw", "rdma_send_bw", "rdma_write_lat", "rdma_read_lat", "rdma_send_lat")},
    **{name: Program(name, BRIEFLY_OVER_RDMA, over_rdma=True) for name in (
        "rdma_atomic_bw", "rdma_atomic_lat", "gpudirect_rdma_lat")},
    "rdma_write_bw --write_with_imm -b": Program("rdma_write_bw", (*ONE_SIZE_OVER_RDMA, "--write_with_imm", "-b"),
                                                 over_rdma=True),
    "rdma_send_bw -c UD": Program("rdma_send_bw", (*ONE_SIZE_OVER_RDMA, "-c", "UD"), over_rdma=True),
    "rdma_send_bw --use-srq": Program("rdma_send_bw", (*ONE_SIZE_OVER_RDMA, "--use-srq", "-q", "2"), over_rdma=True),
    "rdma_send_lat -e": Program("rdma_send_lat", (*ONE_SIZE_OVER_RDMA, "-e"), over_rdma=True),
    "gpudirect_rdma_lat on GPUs": Program("gpudirect_rdma_lat", (*BRIEFLY_OVER_RDMA, "--memory", "cuda"), True, True),
}

# What can go wrong in every function. `stop` and the signals are of the process, not of the call.
EVERYWHERE = ("hang", "stop", "kill", "late", "interrupt", "insist", "terminate")
PARTLY = ("fwrite", "write", "read", "send", "recv")  # functions that may do less than they are asked to
CLOCK = "clock_gettime"
ENDS_OF_FILES = ("fflush", "fsync", "fclose", "close")
EXIT = "exit"  # the end of the process: nothing that could fail
STUCK = ("hang", "stop")
SIGNALS = ("interrupt", "insist", "terminate")
ALL = "all"  # ranks, in the place of one. Then nobody is left to end a job that is stopped, and signals would be doubled
OF_ONE_RANK = ("stop", *SIGNALS)

OK, TIMEOUT = 0, 4
OWN_STATUSES = range(1, 8)  # docs/output.md
# -T where a rank gets stuck, more than starting MPI takes even on a busy machine, and where none does.
LIMIT_S = 4
PATIENT_LIMIT_S = 20
LEAST_LIMIT_S = {"pairwise_bw": 16}  # its own option for pairs wants it
LAUNCHER_HANGS = "launcher"
LAUNCHER_HANGS_AFTER_S = 30  # with no rank left
HUNG_AFTER_S = 60  # beyond twice the limit: such a job will not end
TRIES = 3  # other work on the machine can use up a limit of seconds
# Calls up to this number are taken one by one, and later ones in steps of a tenth: some functions are called thousands
# of times.
ONE_BY_ONE = 64

Combination = namedtuple("Combination", "program function call fault rank")
# Calls by rank (a number as text, or ALL) and function, the number of each kind of line in the record, and the number of
# rows in the table.
GoodRun = namedtuple("GoodRun", "calls kinds rows")
Outcome = namedtuple("Outcome", "combination reached status seconds problem said")


def faults_of(function, rank):
    special = ("short",) if function in PARTLY else ("freeze", "jump") if function == CLOCK else ()
    own = () if function == EXIT else ("fail", *special)
    left_out = OF_ONE_RANK if rank == ALL else ("stop",) if function == EXIT else ()  # the latter is an exception: see there
    return tuple(fault for fault in (*EVERYWHERE, *own) if fault not in left_out)


def taken(count):
    call = 1
    while call <= count:
        yield call
        call += max(1, call // 10) if call >= ONE_BY_ONE else 1
