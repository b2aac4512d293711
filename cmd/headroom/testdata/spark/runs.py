"""Runs applications one after the other in one process: runs.py LOGS, and "JOB SLOTS SIZE SEED" a line on standard input.
Slots are threads of one executor (local[SLOTS]), so that an application begins in a moment."""
import sys

from pyspark import SparkConf, SparkContext

import job

for line in sys.stdin:
    name, slots, size, seed = line.split()
    settings = SparkConf().setMaster(f"local[{slots}]").setAppName(name).setAll([
        ("spark.headroom.class", name), ("spark.ui.enabled", "false"), ("spark.eventLog.enabled", "true"),
        ("spark.eventLog.dir", "file://" + sys.argv[1])])
    context = SparkContext(conf=settings)
    print(line.strip(), job.run(context, name, float(size), int(seed)), flush=True)
    context.stop()
