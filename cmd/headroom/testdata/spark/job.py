"""Jobs of Spark for tests: job.py etl|words|join [SIZE [SEED]]. Tasks wait for most of their time, as those that read and write do."""
import random
import sys
import time

from pyspark import SparkContext

# Of each stage: its tasks, their seconds, and how many times as long the first takes.
STAGES = {
    "etl": [(24, 0.4, 3), (12, 0.5, 1), (8, 0.3, 1)],
    "words": [(12, 0.5, 2), (4, 0.4, 1)],
    "join": [(24, 0.3, 1), (8, 0.5, 4)],
}


def working(seconds, skew, seed):
    def work(index, rows):
        took = seconds * random.Random(seed * 1000 + index).uniform(0.8, 1.2) * (skew if index == 0 else 1)
        until = time.process_time() + 0.3 * took
        time.sleep(0.7 * took)
        while time.process_time() < until:
            pass
        return ((row[0] + 1, 1) for row in rows)

    return work


def run(spark, name, size=1.0, seed=1):
    rows = None
    for number, (tasks, seconds, skew) in enumerate(STAGES[name]):
        if rows is None:
            rows = spark.parallelize([(i, 1) for i in range(tasks * 4)], tasks)
        else:
            rows = rows.partitionBy(tasks)
        rows = rows.mapPartitionsWithIndex(working(seconds * size, skew, seed * 10 + number))
    return rows.count()


if __name__ == "__main__":
    name, size, seed = sys.argv[1], float((sys.argv + ["1", "1"])[2]), int((sys.argv + ["1", "1", "1"])[3])
    context = SparkContext(appName=name)
    print("rows", run(context, name, size, seed))
    context.stop()
