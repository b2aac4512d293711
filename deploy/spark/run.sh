#!/bin/sh
# Runs an application of Spark with the executors of the plan, for cron, Airflow and people:
#   deploy/spark/run.sh shop etl --master yarn etl.py 2026-01-05
# It waits up to two hours for a place (HEADROOM_WAIT). While Headroom is away it runs by the plan that it read last, which it
# keeps in ~/.local/state/headroom (HEADROOM_STATE). HEADROOM_URL and HEADROOM_API_KEY, of the role planner, say where Headroom is.
set -eu

cluster=${1:?the cluster is missing: run.sh CLUSTER CLASS [ARGUMENT OF spark-submit]...}
class=${2:?the class is missing: run.sh CLUSTER CLASS [ARGUMENT OF spark-submit]...}
shift 2
state=${HEADROOM_STATE:-$HOME/.local/state/headroom}
mkdir -p "$state"
exec headroom drive spark "$cluster" --class "$class" --wait "${HEADROOM_WAIT:-2h}" --last-plan "$state/$cluster-$class.json" -- \
	spark-submit "$@"
