"""An acceptance run (scripts/accept.sh) as a test of ReFrame 4.

    reframe -c examples/accept_reframe.py -r
    reframe -c examples/accept_reframe.py -r -S nodes=64 -S 'options=--baseline results/site.jsonl'
    reframe -c examples/accept_reframe.py -r --performance-report

It passes if all hosts are accepted. The folder of the run is kept in ReFrame's output folder, and each collective's
largest bus bandwidth is a performance variable. FABRICBENCH names the folder of fabricbench, if this file lies elsewhere.
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher

FABRICBENCH = os.environ.get("FABRICBENCH", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@rfm.simple_test
class AcceptanceRun(rfm.RunOnlyRegressionTest):
    descr = "hosts alone, pairs of hosts, and collectives over 2, 4, ... all hosts"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    nodes = variable(int, value=2)
    options = variable(str, value="")
    executable = os.path.join(FABRICBENCH, "scripts", "accept.sh")
    keep_files = ["accept"]
    num_tasks_per_node = 1
    time_limit = "1h"

    @run_after("init")
    def choose_nodes(self):
        self.num_tasks = self.nodes
        self.executable_opts = ["--output", "accept", *self.options.split()]

    @run_before("run")
    def start_it_once(self):
        """It starts its own jobs on the hosts of the allocation."""
        self.job.launcher = getlauncher("local")()

    @sanity_function
    def all_hosts_are_accepted(self):
        return sn.assert_eq(self.job.exitcode, 0, msg="{}".format(self.headline()))

    def verdict(self):
        with open(os.path.join(self.stagedir, "accept", "acceptance.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        return next((line for line in reversed(lines) if line["kind"] == "acceptance_verdict"), None), lines

    def headline(self):
        try:
            return self.verdict()[0]["headline"]
        except (OSError, ValueError, TypeError):
            return "accept.sh left no verdict; see its messages in the error output"

    def busbw(self, records):
        """The largest bus bandwidth that a program measured, in GB/s."""
        figures = []
        with open(os.path.join(self.stagedir, "accept", records), encoding="utf-8") as file:
            for row in map(json.loads, file):
                if row["kind"] == "row":
                    figures += [row[place]["busbw_gb_per_s"] for place in ("out_of_place", "in_place") if row[place]]
        return max(figures, default=0.0)

    @run_before("performance")
    def name_collectives(self):
        steps = {line["name"]: line for line in self.verdict()[1] if line["kind"] == "acceptance_step"}
        self.perf_variables = {
            step["name"].partition("/")[2]: sn.make_performance_function(lambda file=step["records"]: self.busbw(file), "GB/s")
            for step in steps.values() if step["stage"] == "collectives" and step["records"]}
