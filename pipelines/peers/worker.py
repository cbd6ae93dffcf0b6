"""Performs peers in Python: one request a line, as JSON, one line of JSON for each.

compare.py starts it, with the number of threads in its environment. Matrices are files of
float64 by rows. Solvers are called as black boxes, tolerances and limits of iterations apart
with what they do by default.
"""

import glob
import importlib.util
import json
import os
import sys
import time
import warnings

import iterations
import numpy as np


def covariance(r):
    return np.fromfile(r["S"]).reshape(r["D"], r["D"])


def sklearn(r):
    from sklearn.covariance import graphical_lasso

    s = covariance(r)
    return lambda: graphical_lasso(s, r["Rho"], tol=r["Tolerance"], enet_tol=min(1e-4, r["Tolerance"]), max_iter=10_000)[1]


def quic(r):
    """QUIC by its authors, as the Python package skggm carries it; its compiled part alone."""
    folder = importlib.util.find_spec("inverse_covariance").submodule_search_locations[0]
    file = glob.glob(os.path.join(folder, "pyquic", "pyquic*.so"))[0]
    spec = importlib.util.spec_from_file_location("pyquic", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    s, d = covariance(r), r["D"]
    penalty = np.full((d, d), float(r["Rho"]))
    np.fill_diagonal(penalty, 0)

    def f():
        x, w = np.eye(d), np.eye(d)
        one = lambda t=float: np.zeros(1, dtype=t)
        module.quic(b"default", d, s, penalty, 1, np.ones(1), r["Tolerance"], 0, 10_000, x, w, one(), one(), one(np.uint32), one())
        return x

    return f


def iteration(r):
    s = covariance(r)
    return lambda: iterations.iterations(r["Method"], s, r["Rho"], r["Iterations"])[0]


def glad(r):
    s, model = covariance(r), iterations.read_model()
    if r["Library"] == "numpy":
        return lambda: iterations.numpy_glad(model, s)[1]
    import torch

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    tensor = torch.tensor(s, dtype=getattr(torch, r["Precision"]))
    return lambda: iterations.torch_glad(model, tensor)[1].numpy()


def correlation_of(x):
    return np.corrcoef(x, rowvar=False)


def pyarrow(r):
    import pyarrow.csv
    import pyarrow.parquet

    read = pyarrow.parquet.read_table if r["Table"].endswith("parquet") else pyarrow.csv.read_csv

    def f():
        t = read(r["Table"])
        return correlation_of(np.column_stack([c.to_numpy() for c in t.columns]))

    return f


def polars(r):
    import polars

    read = polars.read_parquet if r["Table"].endswith("parquet") else polars.read_csv
    return lambda: correlation_of(read(r["Table"]).to_numpy())


def timed(f):
    """One call of f takes this long; short calls are repeated for a tenth of a second."""
    n, cpu, start = 0, time.process_time(), time.perf_counter()
    while n == 0 or time.perf_counter() - start < 0.1:
        result = f()
        n += 1
    return {"Seconds": (time.perf_counter() - start) / n, "CPU": (time.process_time() - cpu) / n}, result


WORK = {f.__name__: f for f in (sklearn, quic, iteration, glad, pyarrow, polars)}


def main():
    warnings.simplefilter("ignore")  # compare.py says what does not converge
    for line in sys.stdin:
        r = json.loads(line)
        try:
            f = WORK[r["Do"]](r)
            answer, result = timed(f)
            if r.get("Out"):
                np.ascontiguousarray(result, dtype=np.float64).tofile(r["Out"])
        except Exception as e:  # told to who asked
            answer = {"Error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
