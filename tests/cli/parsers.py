"""The rules by which other people's programs read the output of nccl-tests, each in a few lines.

They are stated here as those programs apply them, odd as some are; our output has to pass them all.
"""

import re


def superbench(stdout):
    """microsoft/superbenchmark: size, time, algbw and busbw of each row between two landmarks. Columns are
    found by the header's words and counted from the end; the last `out-of-place` counts."""
    lines = stdout.splitlines()
    begin = max(i for i, line in enumerate(lines) if "out-of-place" in line)
    end = max(i for i, line in enumerate(lines) if "Out of bounds values" in line)
    body = lines[begin + 1:end]
    header = next(line for line in body if "time" in line and "busbw" in line)
    titles = re.sub(" +", " ", header[1:].strip(" ")).split(" ")
    columns = [titles.index(title) - len(titles) for title in ("time", "algbw", "busbw")]
    rows = [re.sub(" +", " ", line.strip(" ")).split(" ") for line in body]
    return [(int(row[0]), *(float(row[column]) for column in columns)) for row in rows if re.match(r"\d+", row[0])]


def cloudai(stdout):
    """NVIDIA/cloudai: rows of exactly 13 fields; success is both closing lines and no failure."""
    if "# Out of bounds values" not in stdout or "# Avg bus bandwidth" not in stdout:
        return None
    if "Test NCCL failure" in stdout or "Test failure" in stdout:
        return None
    found = [line.split() for line in stdout.splitlines() if re.match(r"^\d", line.strip())]
    return [row for row in found if len(row) == 13]


def dcgm(stdout, status):
    """NVIDIA/DCGM: the closing lines exist and do not say FAILED."""
    lines = stdout.splitlines()
    landmarks = ("# Out of bounds values", "# Avg bus bandwidth")
    closing = [line for line in lines if any(landmark in line for landmark in landmarks)]
    return status == 0 and len(closing) == 2 and not any("FAILED" in line for line in closing)


def azure(stdout):
    """Azure/azurehpc-health-checks: any FAILED is a fault; the 6th field of the line with `bandwidth` counts.
    None where there is not exactly one such line."""
    if "FAILED" in stdout:
        return None
    lines = [line for line in stdout.splitlines() if "bandwidth" in line]
    return float(lines[0].split()[5]) if len(lines) == 1 else None


def parallelcluster(stdout, size, count):
    """aws/aws-parallelcluster: grep -E 'SIZE\\s+COUNT' | awk '{print $12}', the in-place busbw."""
    found = [line for line in stdout.splitlines() if re.search(rf"{size}\s+{count}", line)]
    return [float(line.split()[11]) for line in found]


def cluster_health_scanner(stdout):
    """GoogleCloudPlatform/cluster-health-scanner: in-place time and bandwidths of rows of 13 fields with type
    float, and the average's whole part."""
    fields = [line.split() for line in stdout.splitlines()]
    rows = [(float(row[9]), float(row[10]), float(row[11])) for row in fields if len(row) == 13 and row[2] == "float"]
    average = re.search(r"# Avg bus bandwidth\s*:\s*(\d+)", stdout)
    return rows, int(average[1])


def cluster_health_scanner_nodes(stdout):
    """Its node names: grep -oP ' on \\K[^\\s]+' | sort -u, over the whole log."""
    return sorted(set(re.findall(r" on (\S+)", stdout)))


def reframe(stdout):
    """CSCS ReFrame xccl_tests.py: a sanity pattern and the figure."""
    if not re.search(r"Out of bounds values\s*:\s*0\s*OK", stdout):
        return None
    return float(re.search(r"Avg bus bandwidth\s*:\s*(?P<gbs>\S+)", stdout)["gbs"])


def sichek(stdout):
    """scitix/sichek: the average."""
    return float(re.search(r"Avg bus bandwidth\s*:\s*([0-9]+(?:\.[0-9]+)?)", stdout)[1])
