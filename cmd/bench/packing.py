# Packs a batch of jobs into phases by CP-SAT, on one thread. The file named has the batch as JSON. Answers, as JSON, the phase,
# VMs and role of each job, the bound in seconds and the CPU seconds of the solve call alone.
import json
import sys
import threading
import time

from ortools.sat.python import cp_model

with open(sys.argv[1]) as file:
    batch = json.load(file)
jobs, vms, machines, phases = batch["jobs"], batch["vms"], batch["machines"], range(batch["phases"])
ticks = 1000  # of a second
m = cp_model.CpModel()


def whole(low, high):
    return m.new_int_var(low, high, "")


def taken(amount, by, most):
    """The amount where a literal holds, and 0 elsewhere."""
    x = whole(0, most)
    m.add(x == amount).only_enforce_if(by)
    m.add(x == 0).only_enforce_if(~by)
    return x


longest = max(round(ticks * job["seconds"][0] * batch["penalty"]) for job in jobs) + 1
length = [whole(0, longest) for _ in phases]
for a, b in zip(length, length[1:]):
    m.add(a >= b)
loads = {role: [[] for _ in phases] for role in ("plain", "host", "guest")}
hosts, guests = [[] for _ in phases], [[] for _ in phases]
chosen = []
for job in jobs:
    least, extra = job["min_vms"], job["role"] != "plain"
    n, took, special = whole(least, vms), whole(0, longest), m.new_bool_var("")
    for factor, by in ((1, ~special), (batch["penalty"], special)):
        times = [round(ticks * s * factor) for s in job["seconds"]]
        seconds = whole(0, longest)
        m.add_element(n - least, times, seconds)
        m.add(took == seconds).only_enforce_if(by)
    if not extra:
        m.add(special == 0)
    places = [m.new_bool_var("") for _ in phases]
    m.add_exactly_one(places)
    for k in phases:
        m.add(length[k] >= took).only_enforce_if(places[k])
        own = m.new_bool_var("")  # here, and not in its role
        m.add_implication(own, places[k])
        m.add_implication(own, ~special)
        m.add_bool_or(own, ~places[k], special)
        loads["plain"][k].append(taken(n, own, vms))
        if extra:
            there = m.new_bool_var("")
            m.add_bool_and(places[k], special).only_enforce_if(there)
            m.add_bool_or(there, ~places[k], ~special)
            loads[job["role"]][k].append(taken(n, there, vms))
            (hosts if job["role"] == "host" else guests)[k].append(there)
    chosen.append((places, n, special))
for k in phases:
    m.add(sum(loads["plain"][k]) + sum(loads["host"][k]) <= vms)
    full = whole(0, machines)  # machines with plain VMs
    m.add(full * batch["disks"] >= sum(loads["plain"][k]))
    m.add(sum(loads["guest"][k]) <= batch["extras"] * (machines - full))
    for guest in guests[k]:
        m.add_bool_or(hosts[k]).only_enforce_if(guest)
m.minimize(sum(length))

s = cp_model.CpSolver()
s.parameters.num_workers = 1
before, ended = time.process_time(), threading.Event()


def watch():
    while not ended.wait(0.01):
        if time.process_time() - before > batch["limit_s"]:
            return s.stop_search()


threading.Thread(target=watch, daemon=True).start()
status = s.solve(m)
ended.set()
seconds = time.process_time() - before
answer = {"bound": s.best_objective_bound / ticks, "cpu_s": seconds, "jobs": []}
if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
    for places, n, special in chosen:
        answer["jobs"].append({"phase": [s.value(p) for p in places].index(1), "vms": s.value(n), "special": bool(s.value(special))})
json.dump(answer, sys.stdout)
