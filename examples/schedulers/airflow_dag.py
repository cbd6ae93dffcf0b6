"""An Airflow DAG: each day's table from a bucket becomes a network and a score.

Needs Airflow 2.4 or later and a gladflow binary on the workers. gladflow reads the
table from the bucket itself, with the credentials of the worker, and writes to a
folder that the workers share. Exit code 2 says that the table or the job is wrong: trying
again does not help, so it fails at once; 1 and 3 are tried again.
"""

from datetime import datetime, timedelta

from airflow import DAG
from airflow.exceptions import AirflowFailException
from airflow.operators.python import PythonOperator

BUCKET = "s3://expression/{{ ds }}.parquet"
OUT = "/data/networks/{{ ds }}"
KNOWN = "/data/known.tsv"


def gladflow(*args):
    import subprocess

    done = subprocess.run(["gladflow", *args], capture_output=True, text=True)
    if done.returncode == 2:
        raise AirflowFailException(done.stderr)
    if done.returncode != 0:
        raise RuntimeError(f"gladflow: exit code {done.returncode}: {done.stderr}")
    return done.stdout  # the JSON document, kept by Airflow as the result of the task


with DAG(
    dag_id="gladflow",
    schedule="@daily",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=10)},
) as dag:
    recover = PythonOperator(
        task_id="recover",
        python_callable=gladflow,
        op_args=["recover", BUCKET, "--solvers", "glad,bcd", "--time-limit", "30m", "--out", OUT, "--json"],
    )
    evaluate = PythonOperator(
        task_id="evaluate",
        python_callable=gladflow,
        op_args=["evaluate", OUT + "/glad.edges.parquet", KNOWN, "--json"],
    )
    recover >> evaluate
