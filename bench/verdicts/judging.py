"""What a verdict says beside what was planted: found, missed, innocents, misplaced."""

import collections

BOTH = {"sends", "receives"}
OTHER_WAY = {"sends": "receives", "receives": "sends"}
OF_A_HOST = ("host", "nic", "dead", "transient")


def same_partition(found, group, hosts):
    """Whether groups found are the partition planted; and the share of pairs of hosts told alike."""
    of = {}
    for k, g in enumerate(found):
        for h in g:
            of[h] = k
    ids = [i for i in range(len(hosts)) if hosts[i] in of]
    whole = len(ids) == len(hosts)
    for i in range(len(hosts)):                         # a host in no group is one of its own
        of.setdefault(hosts[i], -1 - i)
    ids = list(range(len(hosts)))
    if len(ids) > 200:
        ids = ids[:200]
    alike = total = 0
    for x in range(len(ids)):
        for y in range(x):
            total += 1
            alike += (of[hosts[ids[x]]] == of[hosts[ids[y]]]) == (group[ids[x]] == group[ids[y]])
    return whole and alike == total, alike / max(1, total)


def has_died(w, host):
    """Whether a flapping host has failed in its last three meetings or more: for all that anybody can tell it is dead."""
    mode, fraction, factor, state = w.flap[host]
    return factor == 0 and state.get("run", 0) >= 3 * 2 * len(w.rails)


def was_always_slow(w):
    """Whether a path that comes and goes was slow, or failed, in all of its meetings: for all that anybody can tell it
    does not come."""
    return all(counts.get("slow") == counts.get("meetings") for _, _, counts in w.flap_paths.values())


def planted_text(w, flaps):
    """The fabric of a sweep, and what was planted on it."""
    def told(t):
        text = f"{t['kind']} {','.join(t['hosts'])} {t.get('rail') or ''} {t['direction']} to {t.get('factor', '-')}"
        if t["kind"] != "transient":
            return text
        slow, of = flaps[t["hosts"][0]]
        return f"{text} {t['mode']}, slow in {slow} of {of} readings"

    nothing = "kinds " + ",".join(sorted(w.kinds_wanted)) if w.kinds_wanted else "nothing"
    return (f"{w.fabric}; noise {w.noise*100:.1f} % + {w.shared*100:.1f} % a round, tails {w.tails*100:.1f} %, "
            f"locality {'given' if w.give_locality else 'not given'}"
            + (f"; {w.envname}" if hasattr(w, "envname") else "")
            + "; planted: " + ("; ".join(told(t) for t in w.truth) or nothing))


class Judging:
    """Of one sweep: w is its world, v the verdict, res what is told of it."""

    def __init__(self, w, v, res):
        self.w, self.v, self.res = w, v, res
        self.flaps = {w.hosts[h]: (st[3].get("slow", 0), st[3].get("n", 0)) for h, st in w.flap.items()}
        res.update(found=0, planted=len(w.truth), innocents=[], wrong=[], missed=[], failed=[])
        res["planted_text"] = planted_text(w, self.flaps)
        self.planted_hosts = {t["hosts"][0] for t in w.truth if t["kind"] in OF_A_HOST}
        self.pairs = {frozenset(t["hosts"]) for t in w.truth if t["kind"] in ("pair", "dead_pair", "unsteady_path")}
        self.cut_off = {h for t in w.truth if t["kind"] == "cut_off" for h in t["hosts"]}
        self.leaves = [set(t["hosts"]) for t in w.truth if t["kind"] == "leaf"]
        self.innocents, self.wrong = set(), set()
        self.seen = collections.defaultdict(set)  # truth -> directions of right findings

    def run(self):
        if self.v is None:
            self.res["failed"].append(self.res.get("broken", "no verdict"))
            self.res["said"] = ""
            return
        self.named = {g["name"]: set(g["hosts"]) for x in self.v["groupings"] for g in x["groups"]}
        for leaf in set((self.w.locality or {}).values()) if self.w.give_locality else ():
            self.named.setdefault(leaf, {h for h, x in self.w.locality.items() if x == leaf})
        for f in self.v["findings"]:
            if f["blame"] != "undecided":
                self.place(f)
        self.look_at_lists()
        for k, t in enumerate(self.w.truth):
            self.look_for(k, t)
        self.take_cannot_tell()
        self.look_for_structure()
        self.conclude()

    def may_be(self, t, blame):
        """Whether a finding of this kind may be about something planted."""
        since = t["ids"] and t["ids"][0] in self.w.later
        return (t["kind"] == blame or (since and blame == "transient")
                or (t["kind"], blame) in (("transient", "dead"), ("unsteady_path", "transient"))
                or (t["kind"] == "unsteady_path" and blame in ("pair", "dead_pair") and was_always_slow(self.w)))

    def matches(self, t, f):
        """Whether a finding is about something planted."""
        b, hosts = f["blame"], f["hosts"]
        since = t["ids"] and t["ids"][0] in self.w.later
        if not self.may_be(t, b):
            return False
        if (t["kind"] == b or since) and b in ("host", "dead", "transient") and hosts[:1] == t["hosts"]:
            return True
        if b == "dead" and t["kind"] == "transient" and hosts[:1] == t["hosts"] and has_died(self.w, t["ids"][0]):
            return True
        return ((b == "nic" and hosts[:1] == t["hosts"] and f["rail"] == t["rail"])
                or (b in ("pair", "dead_pair") and set(hosts) == set(t["hosts"]))
                or (t["kind"] in ("unsteady_path", "cut_off") and set(hosts) == set(t["hosts"]))
                or (b == "device" and t["hosts"] == [d["id"] for d in f["devices"]])
                or (b == "leaf" and (self.named.get(f["leaf"]) or set(hosts)) == set(t["hosts"])))

    def place(self, f):
        """Adds a finding to what was seen, to innocents, or to the wrong ones."""
        match, direction = None, f["direction"]
        for k, t in enumerate(self.w.truth):
            if self.matches(t, f):
                match = k
                if f["blame"] in ("pair", "dead_pair") and direction != "both" and f["hosts"] != t["hosts"]:
                    direction = OTHER_WAY[direction]
        if match is not None:
            self.seen[match] |= BOTH if direction == "both" else {direction}
        elif not (f["hosts"] and set(f["hosts"]) <= self.w.never_fine):
            self.place_other(f)

    def place_other(self, f):
        b, hosts = f["blame"], f["hosts"]
        what = f"{b} {','.join(hosts)} {f['rail'] or ''} {f['leaf'] or ''} {f['other_leaf'] or ''} {f['direction']}".replace("  ", " ")
        own = self.named.get(f["leaf"], set())
        near = False
        if b == "cut_off":
            near = bool(set(hosts) & self.cut_off)
        elif b in OF_A_HOST and len(hosts) < 2:
            near = bool(hosts) and hosts[0] in self.planted_hosts
        elif b in ("pair", "transient") and self.w.unknown_will_do and any(len(set(hosts) & leaf) == 1 for leaf in self.leaves):
            self.seen[0] = BOTH  # a path over the slow link, between two hosts that are fine
            return
        elif b in ("pair", "dead_pair", "transient"):
            near = frozenset(hosts) in self.pairs or bool(self.planted_hosts & set(hosts))
        elif b == "leaf":
            near = any(own & leaf and len(own & leaf) >= 0.5 * len(own | leaf) for leaf in self.leaves)
        elif b == "leaf_pair":
            near = any(leaf in (own, self.named.get(f["other_leaf"], set())) for leaf in self.leaves)
        (self.wrong if near else self.innocents).add(what)

    def look_at_lists(self):
        for name in ("slow", "dead", "unsteady"):
            for h in self.v["lists"][name]["hosts"]:
                if h not in self.planted_hosts | self.w.never_fine and not any(h in x for x in self.innocents):
                    self.innocents.add(f"list {name}: {h}")

    def look_for(self, k, t):
        """Whether something planted was found."""
        if t["kind"] == "unsteady_path":
            return self.look_for_unsteady_path(k, t)
        may_be_one_way = t["kind"] in ("dead_pair", "transient", "cut_off") or (t["kind"] == "dead" and t["direction"] == "both")
        ok = k in self.seen if may_be_one_way else self.seen[k] == (BOTH if t["direction"] == "both" else {t["direction"]})
        if t["kind"] == "transient" and not ok:  # chance may have made it flap more or less than was asked for
            slow, of = self.flaps[t["hosts"][0]]
            if not 0.2 * of <= slow <= 0.5 * of:
                self.res["planted"] -= 1
                self.wrong = {x for x in self.wrong if t["hosts"][0] not in x}
                if all(x["kind"] == "transient" for x in self.w.truth):
                    self.w.exits = {0, 6, 7}
                return None
        may_be_alone = t.get("ambiguous") and t["hosts"][0] in self.v["lists"]["suspect"]["hosts"] and any(
            "alone in its leaf" in note and t["hosts"][0] in note for note in self.v["notes"])
        if may_be_alone:
            self.w.exits = self.w.exits | {7}
        said = f" (said {sorted(self.seen[k])})" if self.seen[k] else ""
        return self.count(ok or may_be_alone, f"{t['kind']} {','.join(t['hosts'])} {t['direction']}{said}")

    def look_for_unsteady_path(self, k, t):
        """It is to be named, or open; chance may have made it slow once or never."""
        counts = next(iter(self.w.flap_paths.values()))[2]
        asked = {h for q in self.v["questions"] for h in (q["host"], q["other_host"])}
        found = k in self.seen or (self.res["exit"] == 7 and set(t["hosts"]) <= asked)
        if not found and (counts.get("slow", 0) < 2 or counts["slow"] < 0.2 * counts["meetings"]):
            self.res["planted"] -= 1
            self.w.exits = {0, 6, 7}
            return
        self.count(found, f"path {' '.join(t['hosts'])}, slow in {counts.get('slow', 0)} of {counts['meetings']} meetings")

    def count(self, found, missed):
        if found:
            self.res["found"] += 1
        else:
            self.res["missed"].append(missed)

    def take_cannot_tell(self):
        """Cannot tell, and what it would take, is as good where a case says so."""
        if not (self.w.soft and self.res["missed"] and self.v["judged"] == "unknown"):
            return
        h = self.w.truth[0]["hosts"][0]
        if h in self.v["lists"]["suspect"]["hosts"] or any(q["host"] == h for q in self.v["questions"]) or \
           any(h in f["hosts"] for f in self.v["findings"]):
            self.res.update(found=self.res["found"] + 1, missed=[], cannot_tell=True)

    def look_for_structure(self):
        """Groups, kinds of hosts, hosts that must not be called fine, and notes that are wanted."""
        w, v = self.w, self.v
        self.res["planted"] += len(w.groups_wanted or ()) + bool(w.kinds_wanted) + bool(w.never_fine) + bool(w.note_wanted)
        for group in w.groups_wanted or ():
            told = [same_partition([g["hosts"] for g in x["groups"]], group, w.hosts) for x in v["groupings"] if not x["given"]]
            alike = f"pairs of hosts told alike: {max(t[1] for t in told)*100:.1f} %" if told else "none told"
            self.count(any(t[0] for t in told), f"groups ({alike})")
        if w.kinds_wanted:
            slower = {k["name"]: set(k["hosts"]) for k in v["kinds"] or ()}.get("slower")
            amiss = "none told" if slower is None else f"{len(slower)} said to be slower, {len(slower ^ w.kinds_wanted)} of them amiss"
            self.count(slower == w.kinds_wanted, f"kinds ({amiss})")
        if w.never_fine:
            fine = sorted(w.never_fine & set(v["lists"]["fine"]["hosts"]))
            self.count(not fine, f"{len(fine)} slow hosts are called fine: {','.join(fine[:4])}")
        if w.note_wanted:
            self.count(any(words in note for words in w.note_wanted for note in v["notes"]),
                       f"a note with {' or '.join(map(repr, w.note_wanted))}")

    def conclude(self):
        w, v, res = self.w, self.v, self.res
        res["innocents"], res["wrong"] = sorted(self.innocents), sorted(self.wrong)
        if w.unknown_will_do and res["exit"] == 7:
            res["found"], res["missed"] = res["planted"], []
        if w.links_are_shared and "do not disturb each other" in res["text"]:
            res["failed"].append("says that pairs do not disturb each other")
        lines, faults = res["text"].count("\n"), sum(f["blame"] != "undecided" for f in v["findings"])
        if lines > (25 if faults < 2 else 60):
            res["failed"].append(f"a report of {lines} lines on {faults} faults")
        if "broken" in res:
            res["failed"].append(res["broken"])
        if res["missed"]:
            res["failed"].append("missed: " + "; ".join(res["missed"][:6]))
        if self.innocents:
            res["failed"].append(f"innocents ({len(self.innocents)}): " + "; ".join(res["innocents"][:6]))
        if self.wrong:
            res["failed"].append("wrong kind or place: " + "; ".join(res["wrong"][:6]))
        if res["exit"] not in w.exits:
            res["failed"].append(f"exit {res['exit']} instead of {'/'.join(map(str, sorted(w.exits)))}")
        res["said"] = v["headline"] + " " + " | ".join(f["text"] for f in v["findings"][:3])
        if res["exit"] == 7:
            res["said"] += " | notes: " + " ".join(v["notes"])[:300]
