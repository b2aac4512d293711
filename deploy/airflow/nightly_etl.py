"""A job each night that starts when the plan of Headroom has a place for it.

Put this file into the folder of DAGs. Workers need the program headroom, and HEADROOM_URL and HEADROOM_API_KEY in
their environment; a key of the role agent is enough.
"""

from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.bash import BashOperator

with DAG(
    dag_id="nightly_etl",
    schedule="0 22 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
):
    BashOperator(
        task_id="etl",
        # The place is held while the job runs, and free again at its end, also when Airflow ends the task.
        # While the job waits it takes a slot of a worker. So it waits for 5 minutes only and fails with exit code 3;
        # Airflow tries it again 5 minutes later.
        # The day at the end keeps Airflow from taking a command that ends in .sh for a template.
        bash_command="exec headroom live admission run shop nightly-etl --wait 5m -- /opt/jobs/etl.sh {{ ds }}",
        append_env=True,
        retries=24,
        retry_delay=timedelta(minutes=5),
        execution_timeout=timedelta(hours=6),
    )
