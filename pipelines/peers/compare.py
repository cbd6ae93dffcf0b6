"""Sets gladflow's speed beside that of its peers, on the same tables, at the same duality gap.

    python compare.py WORKER [--data FOLDER] [--only WORD ...] [--rounds N] [--out DOCUMENT.md]

WORKER is the program of the folder worker beside this file. Programs take turns on one
machine, A B A B, with pauses, on equal numbers of threads; a time is the median of the rounds,
of which calls of more than LONG seconds have no more than three.
A peer's tolerance is the largest power of √10 at which it reaches the gap. Gaps are recomputed
here from the precision matrices alone, against the best dual bound that any of them gives.
What takes longer than --limit seconds counts as not reached.

Peers in Python are those of requirements.txt; skggm (QUIC) and packages of R (glasso, huge,
glassoFast) are compared with where they are installed; --without leaves programs out. Rows
that a peer wins are marked.
"""

import argparse
import importlib.metadata
import json
import os
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import instances
import iterations
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
GAPS = (1e-4, 1e-6)
LADDER = [10 ** (-k / 2) for k in range(2, 21)]
PAUSE = 0.2
LONG = 3  # seconds
OTHERS = {"stars", "iteration", "glad", "reading"}  # kinds of comparisons but that of solvers
SECTION = "## peers: "  # experiment --all keeps it


class Slow(Exception):
    """It took longer than the limit."""


class Process:
    """A program that answers lines, started when it is needed and again after it was slow."""

    def __init__(self, command, threads, limit):
        self.command, self.limit, self.process = command, limit, None
        count = str(threads)
        self.environment = dict(
            os.environ, GOMAXPROCS=count, OMP_NUM_THREADS=count, OPENBLAS_NUM_THREADS=count,
            MKL_NUM_THREADS=count, POLARS_MAX_THREADS=count, ARROW_NUM_THREADS=count)

    def ask(self, line):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment, text=True)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], self.limit)
        if not ready:
            self.close()
            raise Slow()
        answer = self.process.stdout.readline()
        if not answer:
            self.close()
            raise RuntimeError(f"{self.command[0]} ended")
        return answer

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class Program:
    """Something that is timed: ours, or a peer."""

    def __init__(self, name, process, in_r=False):
        self.name, self.process, self.in_r = name, process, in_r

    def run(self, request):
        if self.in_r:
            words = self.process.ask(" ".join(str(request[k]) for k in ("Do", "S", "D", "Rho", "Tolerance", "Out"))).split(maxsplit=1)
            if words[0] == "error":
                raise RuntimeError(words[1].strip())
            return {"Seconds": float(words[0]), "CPU": float(words[1])}
        answer = json.loads(self.process.ask(json.dumps(request)))
        if answer.get("Error"):
            raise RuntimeError(answer["Error"])
        return answer


def objective(s, theta, rho):
    sign, logdet = np.linalg.slogdet(theta)
    if sign <= 0 or np.linalg.eigvalsh(theta)[0] <= 0:
        return np.inf
    return -logdet + np.sum(s * theta) + rho * (np.sum(np.abs(theta)) - np.sum(np.abs(np.diag(theta))))


def dual(s, theta, rho):
    """A lower bound of the objective: log det W + d of the W nearest Θ⁻¹ that is feasible."""
    w = np.clip(np.linalg.inv(theta), s - rho, s + rho)
    np.fill_diagonal(w, np.diag(s))
    w = (w + w.T) / 2
    try:
        return 2 * np.sum(np.log(np.diag(np.linalg.cholesky(w)))) + len(s)
    except np.linalg.LinAlgError:
        return -np.inf


def turns(programs, requests, rounds):
    """The programs in turns; the answers of each."""
    answers = [[] for _ in programs]
    while len(answers[0]) < rounds:
        for k, (p, r) in enumerate(zip(programs, requests)):
            time.sleep(PAUSE)
            answers[k].append(p.run(r))
        if max(a[0]["Seconds"] for a in answers) > LONG:
            rounds = min(rounds, 3)
    return answers


def median(answers, of="Seconds"):
    return statistics.median(a[of] for a in answers)


class Comparison:
    """The rows of the table."""

    def __init__(self):
        self.rows = []

    def add(self, what, threads, ours, peer, theirs, ours_gap="", peer_gap=""):
        if theirs is None:
            row = [what, str(threads), f"{ours:.4g}", peer, "not reached", "", ours_gap, peer_gap]
        else:
            ratio = theirs / ours
            mark = "" if ratio >= 1 else " **peer**"
            row = [what, str(threads), f"{ours:.4g}", peer, f"{theirs:.4g}", f"{ratio:.2f}{mark}", ours_gap, peer_gap]
        self.rows.append(row)
        print(" | ".join(row), flush=True)

    def markdown(self):
        head = ["what", "threads", "gladflow, s", "peer", "peer, s", "peer / gladflow", "gap", "peer's gap"]
        lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
        return "\n".join(lines + ["| " + " | ".join(r) + " |" for r in self.rows]) + "\n"


def compare_solvers(table, case, threads, ours, peers, o, folder):
    """Graphical lasso of one covariance, to every gap, by every peer."""
    file = os.path.join(folder, "s.bin")
    case.s.tofile(file)
    d = len(case.s)
    base = {"S": file, "D": d, "Rho": case.rho}

    def request(p, **more):
        return dict(base, Do=p.name, Out=os.path.join(folder, p.name + ".bin"), **more)

    def matrix(p):
        theta = np.fromfile(os.path.join(folder, p.name + ".bin")).reshape(d, d)
        return (theta + theta.T) / 2

    for smallest in (1e-14, 1e-12, 1e-10):  # rounding may not let it reach the first
        try:
            ours.run(request(ours, Gap=smallest))
            break
        except RuntimeError:
            continue
    bound = dual(case.s, matrix(ours), case.rho)

    def gap(p):
        value = objective(case.s, matrix(p), case.rho)
        return (value - bound) / max(abs(value), d) if value < np.inf else np.inf

    for p in peers:
        ladder, reason = iter(LADDER), ""
        for target in GAPS:
            what = f"{case.name}, gap {target:.0e}"
            mine = request(ours, Gap=target)
            try:
                theirs, a = None, None
                if reason:  # a smaller gap takes no less
                    raise Slow()
                while a is None:
                    if theirs is None or gap(p) > target:
                        theirs = request(p, Tolerance=next(ladder))
                        p.run(theirs)
                    if gap(p) <= target:
                        both = turns([ours, p], [mine, theirs], o.rounds)
                        if gap(p) <= target:  # not every program does the same twice
                            a = both
            except (Slow, StopIteration) as e:
                a = turns([ours], [mine], o.rounds)
                reason = reason or (f"over {o.limit:g} s" if isinstance(e, Slow) else "by no tolerance")
                table.add(what, threads, median(a[0]), p.name, None, f"{gap(ours):.1e}", reason)
                continue
            except RuntimeError as e:
                print(f"{p.name}: {e}", file=sys.stderr)
                break
            table.add(what, threads, median(a[0]), p.name, median(a[1]), f"{gap(ours):.1e}", f"{gap(p):.1e}")


def compare_plain(table, what, threads, ours, mine, peers, o, rounds=None):
    """Work with nothing to be chosen: iterations, forward passes, reading."""
    for p, theirs in peers:
        if any(w in p.name for w in o.without):
            continue
        try:
            a = turns([ours, p], [mine, theirs], rounds or o.rounds)
        except (Slow, RuntimeError) as e:
            print(f"{p.name}: {str(e) or 'too slow'}", file=sys.stderr)
            continue
        table.add(what, threads, median(a[0]), p.name, median(a[1]))


def compare(o, folder):
    table = Comparison()
    wanted = lambda word: (not o.only or any(w in word for w in o.only)) and not any(w in word for w in o.without)
    for threads in o.threads:
        go = Process([o.worker], threads, 10 * o.limit)
        python = Process([sys.executable, os.path.join(HERE, "worker.py")], threads, o.limit)
        torch = Process([sys.executable, os.path.join(HERE, "worker.py")], threads, o.limit)
        r = Process(["Rscript", os.path.join(HERE, "worker.R")], threads, o.limit)
        ours = lambda name: Program(name, go)
        if wanted("glasso") or set(o.only) - OTHERS:
            peers = [Program("sklearn", python), Program("quic", python)]
            if shutil.which("Rscript"):
                peers += [Program("glasso", r, True), Program("glassoFast", r, True)]
            peers = [p for p in peers if p.name not in o.without]
            for case in instances.covariances(o.data):
                if wanted(case.name) or "glasso" in o.only:
                    compare_solvers(table, case, threads, ours("bcd"), peers, o, folder)
        if threads == 1 and o.data and wanted("stars") and shutil.which("Rscript"):  # huge has one thread
            mine = {"Do": "stars", "S": os.path.join(folder, "x.bin"), "D": 500}
            instances.most_variable(o.data, mine["D"]).tofile(mine["S"])
            patient = Process(r.command, threads, 20 * o.limit)
            compare_plain(table, "a penalty by StARS as each does it, 500 genes of riboflavin, once", threads, ours("stars"), mine, [
                (Program("huge", patient, True), dict(mine, Rho=0, Tolerance=0, Out=os.path.join(folder, "stars.bin")))], o, rounds=1)
            patient.close()
        for d in iterations.DIMENSIONS:
            if not wanted("iteration") and not wanted("glad"):
                break
            file = os.path.join(folder, "s.bin")
            iterations.covariance(d).tofile(file)
            both = {"S": file, "D": d, "Rho": 0.01}  # all variables in one component
            if wanted("iteration"):
                for name in ("gista", "admm"):
                    n = {"Iterations": 20}
                    compare_plain(table, f"20 iterations of {name}, d = {d}", threads, ours(name), dict(both, Do=name, **n), [
                        (Program("numpy", python), dict(both, Do="iteration", Method=name, **n))], o)
            if wanted("glad"):
                compare_plain(table, f"GLAD's forward pass, 30 cells, d = {d}", threads, ours("glad"), dict(both, Do="glad"), [
                    (Program("numpy float64", python), dict(both, Do="glad", Library="numpy")),
                    (Program("PyTorch float64", torch), dict(both, Do="glad", Library="torch", Precision="float64")),
                    (Program("PyTorch float32", torch), dict(both, Do="glad", Library="torch", Precision="float32")),
                ], o)
        if wanted("reading"):
            for what, file in instances.tables(folder):
                mine = {"Do": "read", "Table": file}
                compare_plain(table, f"correlation of {what}", threads, ours("read"), mine, [
                    (Program("pyarrow", python), dict(mine, Do="pyarrow")),
                    (Program("polars", python), dict(mine, Do="polars"))], o)
        for p in (go, python, torch, r):
            p.close()
    return table


def heading(o):
    command = " ".join(os.path.basename(w) for w in sys.argv)
    versions = ", ".join(f"{p} {version(p)}" for p in ("numpy", "scikit-learn", "skggm", "pyarrow", "polars", "torch") if version(p))
    return f"""gladflow beside the programs that people use now

Programs take turns on one machine, on as many threads; a time is the median of {o.rounds} rounds, or of
three where a call takes more than {LONG} s, in seconds of a clock. A ratio above 1 says how many
times as long the peer takes; rows that a peer wins are marked. Gaps are relative duality gaps,
recomputed from the precision matrices alone: ours is asked for and certified, a peer's tolerance
is the largest power of √10 that reaches it.
"not reached" is what took over {o.limit:g} s a call, or reached the gap by no tolerance.

`{command}` on {instances.machine()}; {versions}.
"""


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worker", help="program of the folder worker")
    parser.add_argument("--data", help="folder with dream5/ and er692/, for their correlations")
    parser.add_argument("--only", nargs="*", default=[], help="glasso, stars, iteration, glad, reading, or a word of a covariance's name")
    parser.add_argument("--without", nargs="*", default=[], help="the same words, or the names of peers")
    parser.add_argument("--threads", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60, help="seconds that a call of a peer may take")
    parser.add_argument("--out", help="Markdown document whose last section becomes the table")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = compare(o, folder)
    if o.out:
        kept = ""
        if os.path.exists(o.out):
            with open(o.out) as f:
                kept = f.read().split(SECTION)[0].rstrip("\n")
        with open(o.out, "w") as f:
            f.write(f"{kept}\n\n{SECTION}{heading(o)}\n{table.markdown()}")


if __name__ == "__main__":
    main()
