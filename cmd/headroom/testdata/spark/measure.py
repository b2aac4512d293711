"""Runs of job.py's jobs, each an application of its own: measure.py LOGS TIMES SEED. Each job runs so many times by its name
and as many times as "etl again", in turn, and on 2, 3 and 4 executors in turn."""
import random
import sys

from pyspark import SparkConf, SparkContext

import job


def measure(logs, name, again, executors, size, seed):
    conf = SparkConf().setAppName(name + again).setMaster("local-cluster[%d,1,768]" % executors)
    for key, value in {
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.cores.max": executors,
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "true",
        "spark.eventLog.dir": "file://" + logs,
    }.items():
        conf.set(key, value)
    context = SparkContext(conf=conf)
    job.run(context, name, size, seed)
    context.stop()


if __name__ == "__main__":
    logs, times, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    sizes = random.Random(seed)
    for turn in range(times):
        for number, name in enumerate(sorted(job.STAGES)):
            for again in ("", " again"):
                seed += 1
                measure(logs, name, again, 2 + (turn + number) % 3, sizes.uniform(0.55, 0.65), seed)
    print("measured")
