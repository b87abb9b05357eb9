"""A launcher of another MPI starts N processes that are each alone: refused, and explained once."""

import re

from launch import PROGRAM, Job, ProgramTest, environment

LAUNCHERS = {
    "OMPI_COMM_WORLD_SIZE": "Open MPI's mpirun",
    "FLUX_JOB_SIZE": "Flux",
    "JSM_NAMESPACE_SIZE": "jsrun",
    "PMI_SIZE": "mpiexec",
    "SLURM_STEP_NUM_TASKS": "Slurm",
}
RANK_VARIABLES = {
    "OMPI_COMM_WORLD_SIZE": "OMPI_COMM_WORLD_RANK",
    "FLUX_JOB_SIZE": "FLUX_TASK_RANK",
    "JSM_NAMESPACE_SIZE": "JSM_NAMESPACE_RANK",
    "PMI_SIZE": "PMI_RANK",
    "SLURM_STEP_NUM_TASKS": "SLURM_PROCID",
}
ALLOCATION = ("SLURM_NTASKS", "SLURM_JOB_NUM_NODES")
ARGUMENTS = [PROGRAM, "-b", "8", "-e", "8", "-n", "1"]


class Launcher(ProgramTest):  # 1 rank, 5 s

    def run_alone(self, *arguments, **variables):
        """Without any launcher; what a surrounding one has set is taken out."""
        surrounding = {name: None for name in (*RANK_VARIABLES, *RANK_VARIABLES.values(), *ALLOCATION, "PALS_RANKID", "PMIX_RANK")}
        with Job([*ARGUMENTS, *arguments], env=environment(**{**surrounding, **variables})) as job:
            return job.finish()

    def test_of_another_mpi(self):
        for ranks, rank in RANK_VARIABLES.items():
            with self.subTest(ranks):
                result = self.run_alone(**{ranks: "4", rank: "0"})
                self.assertEqual((result.status, result.stdout), (3, ""), result.stderr)
                self.assertRegex(
                    result.stderr,
                    re.compile(rf"\Aall_reduce_perf: launched by {LAUNCHERS[ranks]} \({ranks}=4\), but this MPI \(.+\) "
                               rf"sees one rank: the launcher belongs to another MPI, or lacks its plugin for this one; "
                               rf"start the program with this MPI's mpirun, or build it with the launcher's MPI \(to run "
                               rf"one process on purpose, unset {ranks}\)\n\Z"))

    def test_that_gives_no_number(self):
        """The second rank is the first to know that there are others."""
        for variable in ("PALS_RANKID", "PMIX_RANK"):
            with self.subTest(variable):
                self.assertEqual(self.run_alone(**{variable: "0"}).status, 0)
                second = self.run_alone(**{variable: "1"})
                self.assertEqual((second.status, second.stdout), (3, ""))
                self.assertIn(f"({variable}=1), but this MPI (", second.stderr)
                self.assertEqual(self.run_alone(**{variable: "2"}).stderr, "")

    def test_allocation(self):
        for variable in ALLOCATION:
            for script in ({}, {"SLURM_PROCID": "0"}):
                with self.subTest(variable, **script):
                    result = self.run_alone(**{variable: "8"}, **script)
                    self.assertEqual((result.status, result.stdout), (3, ""))
                    self.assertIn(f"{variable}=8: this is an allocation of Slurm, but neither srun nor mpirun started this "
                                  "process; put one of them before the program (to run one process on purpose, put 'srun -n 1' "
                                  "before it)\n", result.stderr)

    def test_a_step_of_one_process_in_an_allocation(self):
        result = self.run_alone(SLURM_NTASKS="8", SLURM_JOB_NUM_NODES="8", SLURM_STEP_NUM_TASKS="1", SLURM_PROCID="0")
        self.assertEqual((result.status, result.stderr), (0, ""))

    def test_help_is_given_everywhere(self):
        for variables in ({"SLURM_NTASKS": "8"}, {"PMI_SIZE": "4", "PMI_RANK": "0"}):
            with self.subTest(variables):
                result = self.run_alone("--help", **variables)
                self.assertEqual((result.status, result.stderr), (0, ""))
                self.assertIn("--maxbytes", result.stdout)
        self.assertEqual(self.run_alone("--help", PMI_SIZE="4", PMI_RANK="1").stdout, "")

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
                self.assertIn("# One rank: nothing crosses a network, and busbw is 0 by definition; start more with "
                              "mpirun -np N\n", result.stdout)
                self.assertIn("# Avg bus bandwidth    : 0 \n", result.stdout)

    def test_variables_that_are_no_numbers(self):
        self.assertEqual(self.run_alone(SLURM_NTASKS="many").status, 0)
