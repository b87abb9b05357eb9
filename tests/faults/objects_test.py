"""Every program releases what it makes of MPI, libibverbs, CUDA and NCCL, in each of the cycles of --run_cycles."""

import unittest
from concurrent.futures import ThreadPoolExecutor

from campaign import Suite
from combinations import RANKS

JOBS = 3  # they wait most of the time
CYCLES = "3"
# What makes objects of a kind, and what releases them.
KINDS = (
    (("MPI_Comm_create_group", "MPI_Comm_split", "MPI_Comm_split_type", "MPI_Comm_dup"), ("MPI_Comm_free",)),
    (("MPI_Comm_group", "MPI_Group_incl"), ("MPI_Group_free",)),
    (("MPI_Op_create",), ("MPI_Op_free",)),
    (("MPI_Type_contiguous", "MPI_Type_create_struct"), ("MPI_Type_free",)),
    (("ibv_get_device_list",), ("ibv_free_device_list",)),
    (("ibv_open_device",), ("ibv_close_device",)),
    (("ibv_alloc_pd",), ("ibv_dealloc_pd",)),
    (("ibv_reg_mr", "ibv_reg_mr_iova", "ibv_reg_dmabuf_mr"), ("ibv_dereg_mr",)),
    (("ibv_create_comp_channel",), ("ibv_destroy_comp_channel",)),
    (("ibv_create_cq",), ("ibv_destroy_cq",)),
    (("ibv_create_srq",), ("ibv_destroy_srq",)),
    (("ibv_create_qp",), ("ibv_destroy_qp",)),
    (("ibv_create_ah",), ("ibv_destroy_ah",)),
    (("cudaMalloc",), ("cudaFree",)),
    (("cudaHostAlloc",), ("cudaFreeHost",)),
    (("cudaHostRegister",), ("cudaHostUnregister",)),
    (("cudaStreamCreateWithFlags",), ("cudaStreamDestroy",)),
    (("cudaEventCreateWithFlags",), ("cudaEventDestroy",)),
    (("cudaStreamEndCapture",), ("cudaGraphDestroy",)),
    (("cudaGraphInstantiateWithFlags",), ("cudaGraphExecDestroy",)),
    (("ncclCommInitRankConfig",), ("ncclCommDestroy",)),
    (("ncclCommRegister",), ("ncclCommDeregister",)),
    (("ncclMemAlloc",), ("ncclMemFree",)),
)
WITHOUT_CYCLES = ("pairwise_bw",)


def unreleased(calls, rank):
    """A line for each kind of which not as many objects were released as made. `calls`: by rank and function."""
    def total(functions):
        return sum(calls.get((str(rank), function), 0) for function in functions)

    return [f"rank {rank}: {total(makers)} by {', '.join(makers)}, {total(enders)} by {', '.join(enders)}"
            for makers, enders in KINDS if total(makers) != total(enders)]


class Objects(unittest.TestCase):  # 2 ranks, 120 s

    def test_all_are_released(self):
        suite = Suite.of_environment()

        def calls_of(program):
            more = () if program in WITHOUT_CYCLES else ("--run_cycles", CYCLES)
            return suite.good_run(program, *more).calls

        programs = suite.programs()
        with ThreadPoolExecutor(JOBS) as pool:
            for program, calls in zip(programs, pool.map(calls_of, programs)):
                with self.subTest(program=program):
                    self.assertEqual([line for rank in range(RANKS) for line in unreleased(calls, rank)], [])
                    self.assertGreater(calls["0", "MPI_Comm_create_group"], 0)
