"""What programs are compared on: covariances with a penalty, and tables in files."""

import gzip
import os
import platform
from dataclasses import dataclass

import numpy as np


@dataclass
class Covariance:
    name: str
    s: np.ndarray
    rho: float


def correlation(x):
    s = np.corrcoef(x, rowvar=False)
    np.fill_diagonal(s, 1)
    return (s + s.T) / 2


def random_graph(d, m, seed=17):
    """The correlation of m samples of a random graph of mean degree 5, weights of ±.2 to ±.5,
    diagonally dominant by .1."""
    rng = np.random.default_rng([seed, d])
    upper = np.triu(rng.random((d, d)) < 5 / (d - 1), 1) * rng.uniform(0.2, 0.5, (d, d)) * rng.choice([-1, 1], (d, d))
    theta = upper + upper.T
    theta += np.diag(np.abs(theta).sum(1) + 0.1)
    return correlation(np.linalg.solve(np.linalg.cholesky(theta).T, rng.standard_normal((d, m))).T)


def quantile(s, q):
    """The penalty of which a share q of the pairs is below."""
    v = np.sort(np.abs(s[np.tril_indices(len(s), -1)]))
    return float(v[int(q * len(v))])


def published(path, skip=0):
    """The numbers below the header, without the first columns."""
    with gzip.open(path, "rt") as f:
        columns = len(f.readline().split("\t"))
        return np.loadtxt(f, delimiter="\t", usecols=range(skip, columns))


def most_variable(data, d):
    """Samples of the d genes of riboflavin whose variance is largest, by rows."""
    x = published(os.path.join(data, "riboflavin/riboflavin_71x4088.tsv.gz"), skip=2)
    return np.ascontiguousarray(x[:, np.sort(np.argsort(-x.var(0))[:d])])


def covariances(data):
    """One at a time: some are large."""
    yield Covariance("random graph, d = 100, penalty .03", random_graph(100, 500), 0.03)
    for d in (500, 1000, 2000):
        s = random_graph(d, d // 2)
        yield Covariance(f"random graph, d = {d}, 96.5 % of pairs below the penalty", s, quantile(s, 0.965))
    if data is None:
        return
    s = published(os.path.join(data, "er692/ER_692_S.tsv.gz"))
    yield Covariance("ER_692, penalty .5", (s + s.T) / 2, 0.5)
    s = correlation(published(os.path.join(data, "dream5/net3_expression_1081genes_301conditions.tsv.gz"), skip=1))
    for rho in (0.5, 0.3, 0.1):
        yield Covariance(f"E. coli, 1081 genes, penalty {rho:g}", s, rho)


def tables(folder):
    """Long and wide tables of normal numbers, in Parquet and CSV; seed 17."""
    import polars

    rng = np.random.default_rng(17)
    for m, d, formats in ((200_000, 200, ["parquet"]), (20_000, 200, ["csv"]), (300, 4000, ["parquet", "csv"])):
        t = polars.DataFrame(rng.standard_normal((m, d)), schema=[f"x{j}" for j in range(d)])
        for kind in formats:
            path = os.path.join(folder, f"{m}x{d}.{kind}")
            (t.write_parquet if kind == "parquet" else t.write_csv)(path)
            yield f"{m} × {d}, {kind}, {os.path.getsize(path) / 1e6:.0f} MB", path
            os.remove(path)


def machine():
    model = platform.machine()
    try:
        with open("/proc/cpuinfo") as f:
            model = next(line.split(":")[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, {os.cpu_count()} processors, {platform.system()}"
