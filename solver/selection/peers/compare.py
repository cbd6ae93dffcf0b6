"""Sets the penalties of R's huge and of scikit-learn beside those of gladflow.

    python compare.py GLADFLOW TABLE[:REFERENCE] ...

TABLE has tabs, a header and one row a sample, all columns numbers; it may be gzip-compressed.
REFERENCE lists the edges of a known network: two columns, or three with 0 or 1; directions do
not count, and every pair of the table's variables does. For every table and rule it prints the
edges, the penalty, F1 and false discovery rate where there is a reference, and the seconds on one
core. huge (Debian: r-cran-huge) and scikit-learn (PyPI) are run as black boxes with their
defaults; scikit-learn, whose folds take minutes, up to 200 variables.
"""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = ["refit", "ebic", "bic", "cv", "stars", "ric"]
THEIRS = ["stars", "ric", "ebic"]
ONE_CORE = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", GOMAXPROCS="1")
LARGEST_SKLEARN = 200


def opened(path):
    return io.TextIOWrapper(gzip.open(path)) if path.endswith(".gz") else open(path)


def read(path):
    with opened(path) as f:
        rows = list(csv.reader(f, delimiter="\t"))
    return rows[0], [[float(v) for v in row] for row in rows[1:]]


def reference(path, names):
    known = set(names)
    edges = set()
    with opened(path) as f:
        for line in f:
            words = line.split()
            if len(words) > 2 and words[2] == "0":
                continue
            if words[0] in known and words[1] in known and words[0] != words[1]:
                edges.add(frozenset(words[:2]))
    return edges


def report(table, rule, penalty, edges, truth, seconds):
    line = f"{table:32} {rule:16} {len(edges):7d} {penalty:9.4g}"
    if truth is not None:
        right = len(edges & truth)
        f1 = 2 * right / max(1, len(edges) + len(truth))
        line += f"   F1 {f1:.3f}  FDR {1 - right / len(edges) if edges else 0:.3f}"
    print(f"{line}  {seconds:8.2f} s", flush=True)


def ours(gladflow, plain, rule):
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run(
            [gladflow, "recover", plain, "--solvers", "bcd", "--select", rule, "--gap", "1e-4", "--threads", "1",
             "--correlation", "pearson", "--format", "csv", "--out", out, "--json"],
            capture_output=True, text=True, env=ONE_CORE)
        if done.returncode:
            return None, done.stderr.strip()
        result = json.loads(done.stdout)
        with open(os.path.join(out, "bcd.edges.csv")) as f:
            edges = {frozenset((row["source"], row["target"])) for row in csv.DictReader(f)}
    return (result["penalty"]["rho"], edges), result["seconds"]


def huge(plain, names, rule):
    done = subprocess.run(["Rscript", os.path.join(HERE, "huge.R"), plain, rule], capture_output=True, text=True, env=ONE_CORE)
    if done.returncode:
        return None, done.stderr.strip()
    lines = done.stdout.splitlines()
    _, penalty, seconds = lines[0].split()
    edges = {frozenset(names[int(i) - 1] for i in line.split()) for line in lines[1:]}
    return (float(penalty), edges), float(seconds)


def sklearn(rows, names):
    import warnings

    import numpy
    from sklearn.covariance import GraphicalLassoCV

    x = numpy.array(rows)
    x = (x - x.mean(0)) / x.std(0)
    began = time.time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = GraphicalLassoCV(n_jobs=1).fit(x)
    theta = fitted.precision_
    d = len(names)
    edges = {frozenset((names[i], names[j])) for i in range(d) for j in range(i) if theta[i, j] != 0}
    return (fitted.alpha_, edges), time.time() - began


def main():
    gladflow, tables = sys.argv[1], sys.argv[2:]
    for argument in tables:
        path, _, known = argument.partition(":")
        names, rows = read(path)
        truth = reference(known, names) if known else None
        table = f"{os.path.basename(path).split('.')[0][:20]} {len(rows)}x{len(names)}"
        with tempfile.TemporaryDirectory() as folder:
            plain = os.path.join(folder, "table.tsv")
            with open(plain, "w") as f:
                csv.writer(f, delimiter="\t", lineterminator="\n").writerows([names] + rows)
            tried = [(rule, lambda rule=rule: ours(gladflow, plain, rule)) for rule in OURS]
            tried += [("huge " + rule, lambda rule=rule: huge(plain, names, rule)) for rule in THEIRS]
            if len(names) <= LARGEST_SKLEARN:
                tried.append(("scikit-learn cv", lambda: sklearn(rows, names)))
            for rule, choose in tried:
                found, seconds = choose()
                if found is None:
                    print(f"{table:32} {rule:16} failed: {seconds}", flush=True)
                else:
                    report(table, rule, found[0], found[1], truth, seconds)


if __name__ == "__main__":
    main()
