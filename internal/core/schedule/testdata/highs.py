# Solves programs of whole numbers with HiGHS, on one thread: a JSON document a line from standard input, and an answer a line.
import json
import os
import sys

import highspy
import numpy

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what HiGHS says itself

for line in sys.stdin:
    p = json.loads(line)
    h = highspy.Highs()
    for option, value in {"output_flag": False, "threads": 1, "mip_rel_gap": 1e-9, "time_limit": p["seconds"]}.items():
        h.setOptionValue(option, value)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(p["cost"]), len(p["row_lower"])
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = (numpy.array(p[name]) for name in ("cost", "lower", "upper"))
    lp.row_lower_, lp.row_upper_ = numpy.array(p["row_lower"]), numpy.array(p["row_upper"])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = (numpy.array(p[name]) for name in ("start", "index", "value"))
    lp.integrality_ = [highspy.HighsVarType.kInteger] * lp.num_col_
    h.passModel(lp)
    h.run()
    info = h.getInfo()
    optimal = h.getModelStatus() == highspy.HighsModelStatus.kOptimal
    found = info.primal_solution_status == 2  # a solution that fits
    print(json.dumps({"found": found, "optimal": optimal, "objective": info.objective_function_value if found else 0}), file=answers, flush=True)
