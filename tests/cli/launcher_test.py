"""A launcher of another MPI starts N processes that are each alone: refused, and explained once."""

import re

from launch import PROGRAM, Job, ProgramTest, environment

RANK_VARIABLES = {
    "OMPI_COMM_WORLD_SIZE": "OMPI_COMM_WORLD_RANK",
    "PMI_SIZE": "PMI_RANK",
    "SLURM_NTASKS": "SLURM_PROCID",
    "SLURM_STEP_NUM_TASKS": "SLURM_PROCID",
}
ARGUMENTS = [PROGRAM, "-b", "8", "-e", "8", "-n", "1"]


class Launcher(ProgramTest):  # 1 rank, 5 s

    def run_alone(self, **variables):
        """Without any launcher; what a surrounding one has set is taken out."""
        surrounding = {name: None for pair in RANK_VARIABLES.items() for name in pair}
        with Job(ARGUMENTS, env=environment(**{**surrounding, **variables})) as job:
            return job.finish()

    def test_of_another_mpi(self):
        for ranks, rank in RANK_VARIABLES.items():
            with self.subTest(ranks):
                result = self.run_alone(**{ranks: "4", rank: "0"})
                self.assertEqual((result.status, result.stdout), (3, ""), result.stderr)
                self.assertRegex(
                    result.stderr,
                    re.compile(rf"\Aall_reduce_perf: {ranks}=4, but every process is alone in its MPI \(.+\): the "
                               rf"launcher belongs to another MPI than the one this program is linked to; start it "
                               rf"with that MPI's mpirun, or build it with the launcher's MPI \(to run one process on "
                               rf"purpose, unset {ranks}\)\n\Z"))

    def test_of_another_mpi_is_explained_by_one_process(self):
        for ranks, rank in RANK_VARIABLES.items():
            with self.subTest(ranks):
                result = self.run_alone(**{ranks: "4", rank: "3"})
                self.assertEqual((result.status, result.stdout, result.stderr), (3, "", ""))

    def test_alone(self):
        for variables in ({}, {"SLURM_NTASKS": "1", "SLURM_PROCID": "0"}):
            with self.subTest(variables):
                result = self.run_alone(**variables)
                self.assertEqual((result.status, result.stderr), (0, ""))
                self.assertIn("# One rank: nothing crosses a network, and busbw is 0 by definition", result.stdout)
                self.assertIn("# Avg bus bandwidth    : 0 \n", result.stdout)

    def test_variables_that_are_no_numbers(self):
        self.assertEqual(self.run_alone(SLURM_NTASKS="many").status, 0)
