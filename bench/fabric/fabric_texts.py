"""Texts as ibnetdiscover prints them, of fabrics that are well or have one fault. Shares no code with the reader.

Cables are made as a technician would lay them: lists of (node, port, node, port, rate). A fault changes one or two of
them, and says what a right judge has to name.
"""

import random


class Fabric:
    def __init__(self, switch_ports):
        self.switch_ports = switch_ports
        self.nodes = {}  # name -> (kind, guid, device id)
        self.cables = []  # [node, port, node, port, rate]
        self.below = {}  # leaf -> hosts

    def add(self, name, kind, devid):
        self.nodes[name] = (kind, (0x0002C90300000000 if kind == "S" else 0x506B4B0300000000) + 64 * (len(self.nodes) + 1), devid)

    def join(self, a, port_a, b, port_b, rate):
        self.cables.append([a, port_a, b, port_b, rate])


def name_of_host(style, number):
    return {"node": f"node{number:04d}", "gpu": f"gpu-{number}", "rack": f"r{(number - 1) // 16 + 1}n{(number - 1) % 16 + 1:02d}"}[style]


def leaf_pair(fabric, lower, upper, m, first_low, first_high, rate):
    """All of `lower` with all of `upper`, m cables each, in the order of ports."""
    for i, low in enumerate(lower):
        for j, high in enumerate(upper):
            for k in range(m):
                fabric.join(low, first_low + j * m + k, high, first_high + i * m + k, rate)


def fat_tree_2(random_, hosts):
    per_leaf = random_.choice([n for n in (8, 12, 16, 18, 20, 24, 32) if hosts / n >= 2.9])
    leaves = max(3, round(hosts / per_leaf))
    spines = random_.choice([s for s in (2, 3, 4, 6, 8, 9) if s <= per_leaf])
    m = max(1, per_leaf // spines // random_.choice([1, 1, 2]))
    fabric = Fabric(per_leaf + spines * m + random_.choice([0, 4]))
    leaf_names = [f"MF0;leaf{i + 1:02d}:MQM8700/U1" for i in range(leaves)]
    spine_names = [f"MF0;spine{i + 1:02d}:MQM8700/U1" for i in range(spines)]
    rate, trunk = random_.choice([("4xHDR", "4xHDR"), ("2xHDR", "4xHDR"), ("4xQDR", "4xFDR10"), ("4xNDR", "4xNDR"), ("4xEDR", "4xEDR")])
    for name in leaf_names + spine_names:
        fabric.add(name, "S", 0xD2F0)
    number = 1
    for leaf in leaf_names:
        for port in range(per_leaf):
            add_host(fabric, f"node{number:04d} mlx5_0", leaf, port + 1, rate)
            number += 1
    leaf_pair(fabric, leaf_names, spine_names, m, per_leaf + 1, 1, trunk)
    fabric.leaves = leaf_names
    return fabric


def add_host(fabric, adapter, leaf, port, rate):
    fabric.add(adapter, "H", 0x101B)
    fabric.join(adapter, 1, leaf, port, rate)


def fat_tree_3(random_, hosts):
    per_leaf = random_.choice([8, 12, 16])
    pod_leaves = random_.choice([3, 4, 6])
    pods = max(3, round(hosts / per_leaf / pod_leaves))
    aggs = random_.choice([2, 4])
    m = random_.choice([1, 2]) if aggs > 2 else 2  # of 2 uplinks, either may be the wrong one
    cores_of_agg = random_.choice([2, 4])
    fabric = Fabric(64)
    fabric.leaves = []
    cores = [[f"core{j * cores_of_agg + k + 1}" for k in range(cores_of_agg)] for j in range(aggs)]
    for group in cores:
        for name in group:
            fabric.add(name, "S", 0xD2F0)
    number = 1
    for pod in range(pods):
        leaves = [f"pod{pod + 1}-leaf{i + 1}" for i in range(pod_leaves)]
        uppers = [f"pod{pod + 1}-spine{i + 1}" for i in range(aggs)]
        for name in leaves + uppers:
            fabric.add(name, "S", 0xD2F0)
        for leaf in leaves:
            for port in range(per_leaf):
                add_host(fabric, f"gpu-{number} mlx5_0", leaf, port + 1, "4xHDR")
                number += 1
        leaf_pair(fabric, leaves, uppers, m, per_leaf + 1, 1, "4xHDR")
        for j, upper in enumerate(uppers):
            for k, core in enumerate(cores[j]):
                fabric.join(upper, 33 + k, core, pod + 1, "4xHDR")
        fabric.leaves += leaves
    return fabric


def rail_aligned(random_, hosts):
    rails = random_.choice([4, 8])
    per_unit = random_.choice([n for n in (9, 12, 16, 18, 32) if hosts / n >= 1.9])
    units = max(2, round(hosts / per_unit))
    spines = random_.choice([2, 3, 4, 8])
    m = random_.choice([1, 2])
    fabric = Fabric(max(per_unit + spines * m, units * rails * m))
    spine_names = [f"spine{i + 1}" for i in range(spines)]
    for name in spine_names:
        fabric.add(name, "S", 0xD2F2)
    fabric.leaves = []
    for unit in range(units):
        for rail in range(rails):
            leaf = f"su{unit + 1:02d}-rail{rail + 1}"
            fabric.add(leaf, "S", 0xD2F2)
            fabric.leaves.append(leaf)
            for i in range(per_unit):
                add_host(fabric, f"{name_of_host('rack', unit * per_unit + i + 1)} mlx5_{rail}", leaf, i + 1, "4xNDR")
    leaf_pair(fabric, fabric.leaves, spine_names, m, per_unit + 1, 1, "4xNDR")
    return fabric


SHAPES = {"fat tree, 2 tiers": fat_tree_2, "fat tree, 3 tiers": fat_tree_3, "rail-aligned": rail_aligned}


def is_host(fabric, name):
    return fabric.nodes[name][0] == "H"


def end(fabric, name, port):
    return f"{name.removeprefix('MF0;').partition(':')[0]} port {port}"


def truth(fabric, cable):
    return [end(fabric, cable[0], cable[1]), end(fabric, cable[2], cable[3])]


def swapped(random_, fabric):
    kind = random_.choice(["trunk", "host"])
    cables = [c for c in fabric.cables if is_host(fabric, c[0]) == (kind == "host")]
    one = random_.choice(cables)
    other = random_.choice([c for c in cables if {c[0], c[2]} != {one[0], one[2]} and tier(fabric, c) == tier(fabric, one)])
    one[2:4], other[2:4] = other[2:4], one[2:4]
    return "swapped cables", [*truth(fabric, one), *truth(fabric, other)]


def tier(fabric, cable):
    return tuple("core" in cable[i] for i in (0, 2))


def missing(random_, fabric):
    cable = random_.choice(fabric.cables)
    fabric.cables.remove(cable)
    ends = truth(fabric, cable)
    if is_host(fabric, cable[0]):
        ends[0] = cable[0]
    return "missing cable", ends


def half_width(random_, fabric):
    cable = random_.choice(fabric.cables)
    lanes = int(cable[4].split("x")[0])
    cable[4] = f"{lanes // 2 if random_.random() < 0.5 else 1}x{cable[4].split('x')[1]}"
    return "reduced width", truth(fabric, cable)


def low_speed(random_, fabric):
    cable = random_.choice(fabric.cables)
    speeds = ["SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR"]
    lanes, speed = cable[4].split("x")
    cable[4] = f"{lanes}x{random_.choice(speeds[:speeds.index(speed)])}"
    return "low speed", truth(fabric, cable)


def absent_leaf(random_, fabric):
    """No adapter of its hosts on it is seen, and ports of the spines are free."""
    leaf = random_.choice(fabric.leaves)
    behind = sorted(c[0].split()[0] for c in fabric.cables if c[2] == leaf)
    ports = sorted({c[3] for c in fabric.cables if c[0] == leaf})
    del fabric.nodes[leaf]
    fabric.cables = [c for c in fabric.cables if leaf not in (c[0], c[2])]
    return "absent switch", {"hosts": behind, "ports": ports}


FAULTS = {"swapped": swapped, "missing": missing, "width": half_width, "speed": low_speed, "absent leaf": absent_leaf}


def text_of(fabric, random_):
    """As ibnetdiscover prints it: nodes in the order of a search, an adapter without cables is not seen."""
    at = {}
    for a, port_a, b, port_b, rate in fabric.cables:
        at.setdefault(a, []).append((port_a, b, port_b, rate))
        at.setdefault(b, []).append((port_b, a, port_a, rate))
    ports = {name: max(fabric.switch_ports, *(port for port, *_ in cables), 0) for name, cables in at.items()}
    lids = {name: i + 1 for i, name in enumerate(fabric.nodes)}
    suffix = random_.choice(["", " s=4 w=2 v=4 e=4"])
    blank = random_.choice(["\t", "     "])
    lines = ["#", "# Topology file: generated on Tue Dec  1 00:00:00 2026", "#"]
    names = [name for name in fabric.nodes if name in at]
    random_.shuffle(names)
    for name in sorted(names, key=lambda n: fabric.nodes[n][0] != "S"):
        kind, guid, devid = fabric.nodes[name]
        lines += ["", "vendid=0x2c9", f"devid=0x{devid:x}", f"sysimgguid=0x{guid:x}"]
        if kind == "S":
            lines += [f"switchguid=0x{guid:x}({guid:x})",
                      f'Switch{blank}{ports[name]} "S-{guid:016x}"\t\t# "{name}" enhanced port 0 lid {lids[name]} lmc 0']
        else:
            lines += [f"caguid=0x{guid:x}", f'Ca{blank}1 "H-{guid:016x}"\t\t# "{name}"']
        for port, peer, peer_port, rate in sorted(at[name]):
            peer_kind, peer_guid, _ = fabric.nodes[peer]
            if kind == "S":
                own = f"({peer_guid + 1:x}) " if peer_kind == "H" else ""
                lines.append(f'[{port}]{blank}"{peer_kind}-{peer_guid:016x}"[{peer_port}]{own}\t\t# "{peer}" lid {lids[peer]} {rate}{suffix}')
            else:
                lines.append(f'[{port}]({guid + 1:x}) {blank}"{peer_kind}-{peer_guid:016x}"[{peer_port}]\t\t# lid {lids[name]} lmc 0 "{peer}" lid {lids[peer]} {rate}{suffix}')
    return "\n".join(lines) + "\n"


def healthy(seed):
    random_ = random.Random(seed)
    shape = list(SHAPES)[seed % 3]
    hosts = round(36 * (1600 / 36) ** random_.random()) if shape != "rail-aligned" else round(36 * (400 / 36) ** random_.random())
    if seed % 10 == 0:
        hosts = random_.choice([36, 1600])
    return random_, shape, hosts, SHAPES[shape](random_, hosts)
