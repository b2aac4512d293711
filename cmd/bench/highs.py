# Reads an instance, a gap and a limit as JSON; solves it with the HiGHS inside scipy; answers the
# status, the jobs and the CPU seconds of the solve call alone.
import json
import sys
import time

import numpy
import scipy
from scipy import optimize, sparse

q = json.load(sys.stdin)
tiers, gamma = q["supply"], numpy.array(q["gamma"])
cost = numpy.concatenate([[t["price"] for t in tiers], -numpy.array(q["penalty"])])
lower = numpy.concatenate([numpy.zeros(len(tiers)), q["low"]])
upper = numpy.concatenate([[numpy.inf if t["vms"] < 0 else t["vms"] for t in tiers], q["high"]])
row = sparse.csr_matrix(numpy.concatenate([-numpy.ones(len(tiers)), gamma]).reshape(1, -1))
before = time.process_time()
answer = optimize.milp(
    cost,
    integrality=numpy.ones(len(cost)),
    bounds=optimize.Bounds(lower, upper),
    constraints=optimize.LinearConstraint(row, -numpy.inf, 0),
    options={"mip_rel_gap": q["gap"], "time_limit": q["limit_s"]},
)
seconds = time.process_time() - before
jobs = None if answer.x is None else [round(x) for x in answer.x[len(tiers):]]
json.dump({"status": int(answer.status), "jobs": jobs, "cpu_s": seconds, "version": scipy.__version__}, sys.stdout)
