# Solves a program of whole numbers in a free MPS file by the solver named, on one thread, for some seconds of processor
# time. Answers, as JSON, the status, the columns' values by name, the solver's bound and the CPU seconds of its solve call alone.
import json
import math
import sys
import threading
import time

solver, file, gap, limit = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])


def timed(call, stop=None):
    """Calls stop when the processor time is used up, from a thread of its own."""
    before, ended = time.process_time(), threading.Event()

    def watch():
        while not ended.wait(0.002):
            if time.process_time() - before > limit:
                return stop()

    if stop:
        threading.Thread(target=watch, daemon=True).start()
    answer = call()
    ended.set()
    return answer, time.process_time() - before


def highs():
    import highspy

    h = highspy.Highs()
    for option, value in {"output_flag": False, "log_to_console": False, "threads": 1, "mip_rel_gap": gap}.items():
        h.setOptionValue(option, value)
    h.readModel(file)
    over = threading.Event()
    for interrupt in (h.cbMipInterrupt, h.cbSimplexInterrupt, h.cbIpmInterrupt):
        interrupt.subscribe(lambda event: over.is_set() and event.interrupt())
    _, seconds = timed(h.run, over.set)
    states = highspy.HighsModelStatus
    status = {states.kOptimal: "optimal", states.kInfeasible: "infeasible", states.kTimeLimit: "limit", states.kInterrupt: "limit"}.get(h.getModelStatus(), "failed")
    program, info = h.getLp(), h.getInfo()
    found = info.primal_solution_status == 2  # a solution that fits
    values = dict(zip(program.col_names_, h.getSolution().col_value)) if found else None
    return status, values, info.mip_dual_bound, seconds


def scip():
    from pyscipopt import Model

    m = Model()
    m.hideOutput()
    m.readProblem(file)
    m.setParams({"limits/gap": gap, "limits/time": limit, "timing/clocktype": 1, "lp/threads": 1})
    _, seconds = timed(m.optimize)
    status = {"optimal": "optimal", "gaplimit": "optimal", "infeasible": "infeasible", "timelimit": "limit"}.get(m.getStatus(), "failed")
    values = {x.name: m.getVal(x) for x in m.getVars()} if m.getNSols() > 0 else None
    return status, values, m.getDualbound(), seconds


def cpsat():
    from ortools.linear_solver.python import model_builder

    m = model_builder.Model()
    m.import_from_mps_file(file)
    s = model_builder.Solver("sat")
    s.set_solver_specific_parameters(f"num_workers:1 relative_gap_limit:{gap}")
    answer, seconds = timed(lambda: s.solve(m), s.interrupt_solve)
    states = model_builder.SolveStatus
    status = {states.OPTIMAL: "optimal", states.INFEASIBLE: "infeasible", states.FEASIBLE: "limit", states.NOT_SOLVED: "limit"}.get(answer, "failed")
    found = answer in (states.OPTIMAL, states.FEASIBLE)
    values = {x.name: s.value(x) for x in m.get_variables()} if found else None
    return status, values, s.best_objective_bound, seconds


status, values, bound, seconds = {"highs": highs, "scip": scip, "cp-sat": cpsat}[solver]()
print()  # ends what a solver has said of itself
json.dump({
    "status": status,
    "found": values is not None,
    "values": {name: x for name, x in (values or {}).items() if x},
    "bound": bound if math.isfinite(bound) and abs(bound) < 1e19 else None,
    "cpu_s": seconds,
}, sys.stdout)
