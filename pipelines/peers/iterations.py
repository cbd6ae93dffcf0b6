"""One pass of GLAD and one iteration of G-ISTA and of ADMM, in numpy and in PyTorch.

They are what these methods cost a person who writes them down in an array language:
written from the papers, with the fastest calls that the packages have for symmetric
matrices, whole matrices at a time and no loop over entries. The Go benchmarks
BenchmarkForward (solver/glad), BenchmarkGISTAIteration and BenchmarkADMMIteration
(solver/glasso) time the same on the same matrices, which this file writes.

    python iterations.py write FOLDER                   covariances for both sides
    python iterations.py forward FOLDER --package numpy --threads 1
    python iterations.py gista FOLDER --threads 1
    python iterations.py admm FOLDER --threads 1
    python iterations.py forward FOLDER --package torch --type float32 --threads 2

prints a line of JSON for each dimension: the median over rounds of processor time and
of wall time, in seconds, of one pass or of one iteration.

Symbols: S the d x d covariance, Theta the precision matrix, Z its sparse twin, lambda
the quadratic penalty, rho the threshold or the penalty.
"""

import argparse
import json
import os
import statistics
import sys
import time

DIMENSIONS = (25, 100, 500, 1000)
MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../solver/glad/models/er-d100-m100-literal.json")


# --- GLAD: Shrivastava et al., GLAD: Learning Sparse Graph Recovery, ICLR 2020, Algorithm 1.

def read_model(path=MODEL):
    """Reads a literal model of gladflow: K, t, lambda0, and the layers of both networks."""
    with open(path) as f:
        return json.load(f)


def eigenvalues_of_theta(y, lam, np):
    """phi(y) = (-y + sqrt(y^2 + 4/lambda))/2, without cancellation where y > 0."""
    s = np.sqrt(y * y + 4 / lam)
    return np.where(y > 0, (2 / lam) / (np.abs(y) + s), (s - y) / 2)


def numpy_network(layers, x):
    """Evaluates a network at the columns of x, in place where that can be."""
    import numpy as np
    for layer in layers:
        x = layer["weights"] @ x
        x += layer["bias"][:, None]
        if layer["activation"] == "tanh":
            np.tanh(x, out=x)
        elif layer["activation"] == "sigmoid":
            np.negative(x, out=x)
            np.exp(x, out=x)
            x += 1
            np.reciprocal(x, out=x)
        x *= layer.get("scale", 1)
    return x


def numpy_glad(model, s):
    """The forward pass of the literal model in float64. Returns Theta and Z."""
    import numpy as np
    rho_nn = [{**l, "weights": np.array(l["weights"]), "bias": np.array(l["bias"])} for l in model["rho"]["layers"]]
    lambda_nn = [{**l, "weights": np.array(l["weights"]), "bias": np.array(l["bias"])} for l in model["lambda"]["layers"]]
    d = len(s)
    theta = np.linalg.inv(s + model["theta0_offset"] * np.eye(d))
    z, lam = theta, model["lambda0"]
    features = np.empty((3, d * d))
    features[1] = s.ravel()
    for _ in range(model["iterations"]):
        difference = (z - theta).ravel()
        lam = numpy_network(lambda_nn, np.array([[difference @ difference], [lam]]))[0, 0]
        y, q = np.linalg.eigh(s / lam - z)
        theta = (q * eigenvalues_of_theta(y, lam, np)) @ q.T
        features[0], features[2] = theta.ravel(), z.ravel()
        rho = numpy_network(rho_nn, features).reshape(d, d)
        z = np.sign(theta) * np.maximum(np.abs(theta) - rho, 0)
    return theta, z


def torch_glad(model, s):
    """The forward pass of the literal model in the type of the tensor s. Returns Theta and Z."""
    import torch

    def network(layers, x):
        for w, b, activation, scale in layers:
            x = torch.nn.functional.linear(x, w, b)
            if activation == "tanh":
                x = torch.tanh(x)
            elif activation == "sigmoid":
                x = torch.sigmoid(x)
            if scale != 1:
                x = x * scale
        return x

    def load(layers):
        return [(torch.tensor(l["weights"], dtype=s.dtype), torch.tensor(l["bias"], dtype=s.dtype),
                 l["activation"], l.get("scale", 1)) for l in layers]

    with torch.no_grad():
        rho_nn, lambda_nn = load(model["rho"]["layers"]), load(model["lambda"]["layers"])
        d = len(s)
        theta = torch.linalg.inv(s + model["theta0_offset"] * torch.eye(d, dtype=s.dtype))
        z, lam = theta, torch.tensor(float(model["lambda0"]), dtype=s.dtype)
        for _ in range(model["iterations"]):
            lam = network(lambda_nn, torch.stack([((z - theta) ** 2).sum(), lam]))[0]
            y, q = torch.linalg.eigh(s / lam - z)
            theta = (q * eigenvalues_of_theta(y, lam, torch)) @ q.T
            rho = network(rho_nn, torch.stack([theta, s, z], dim=-1).reshape(-1, 3)).reshape(d, d)
            z = torch.sign(theta) * torch.clamp(torch.abs(theta) - rho, min=0)
    return theta, z


# --- G-ISTA: Guillot et al., Iterative thresholding algorithm for sparse inverse covariance
# estimation, NIPS 2012.

def soft_threshold(x, t):
    import numpy as np
    return np.sign(x) * np.maximum(np.abs(x) - t, 0)


def cholesky_inverse(a):
    """log det a and the inverse of a, or None where a is not positive definite: LAPACK's dpotrf
    and dpotri through scipy, half of the work of numpy.linalg.inv."""
    import numpy as np
    from scipy.linalg import lapack
    c, info = lapack.dpotrf(a, lower=1, clean=0)
    if info:
        return None
    log_det = 2 * np.log(np.diag(c)).sum()
    inverse, _ = lapack.dpotri(c, lower=1, overwrite_c=1)
    below = np.tril(inverse, -1)
    return log_det, below + below.T + np.diag(np.diag(inverse))


def gista_start(s, rho):
    """Theta diagonal, its inverse, the smooth part of the objective, and the first step length.
    The diagonal has no penalty."""
    import numpy as np
    variances = np.diag(s)
    return np.diag(1 / variances), np.diag(variances), np.log(variances).sum() + len(s), 1.0


def gista_iteration(s, penalty, state):
    """A proximal step, with its line search and the next length of Barzilai and Borwein; penalty
    is rho off the diagonal and 0 on it."""
    theta, inverse, smooth, step = state
    gradient = s - inverse
    while True:
        new = soft_threshold(theta - step * gradient, step * penalty)
        change = new - theta
        made = cholesky_inverse(new)
        if made is not None:
            log_det, new_inverse = made
            new_smooth = (s * new).sum() - log_det
            if new_smooth <= smooth + (gradient * change).sum() + (change * change).sum() / (2 * step) + 1e-13 * abs(smooth):
                break
        step /= 2
    curvature = (change * (inverse - new_inverse)).sum()
    return new, new_inverse, new_smooth, (change * change).sum() / curvature if curvature > 0 else step


# --- ADMM: Boyd et al., Distributed optimization and statistical learning via the alternating
# direction method of multipliers, 2011, section 6.5.

def admm_start(s, rho):
    import numpy as np
    return np.diag(1 / np.diag(s)), np.zeros_like(s)


def admm_iteration(s, penalty, state, lam=1.0, relaxation=1.6):
    """Theta, Z and U once, over-relaxed (section 3.4.3)."""
    import numpy as np
    z, u = state
    y, q = np.linalg.eigh(s / lam - z + u)
    theta = (q * eigenvalues_of_theta(y, lam, np)) @ q.T
    v = relaxation * theta + (1 - relaxation) * z + u
    z = soft_threshold(v, penalty / lam)
    return z, v - z


# --- the data and the clock

def covariance(d, seed=1):
    """The covariance of d samples of a Gaussian graphical model: an Erdos-Renyi graph with 10
    neighbours in the mean (p = .1 below d = 100), weights U(-1, 1), smallest eigenvalue 1."""
    import numpy as np
    random = np.random.default_rng([seed, d])
    upper = np.triu(random.uniform(-1, 1, (d, d)) * (random.random((d, d)) < min(.1, 10 / d)), 1)
    precision = upper + upper.T
    precision += (1 - np.linalg.eigvalsh(precision)[0]) * np.eye(d)
    x = np.linalg.solve(np.linalg.cholesky(precision).T, random.standard_normal((d, d)))
    x -= x.mean(axis=1, keepdims=True)
    return x @ x.T / d


def file_of(folder, d):
    """Holds S as d*d float64 numbers, little-endian."""
    return os.path.join(folder, f"covariance-{d}.f64")


def read(folder, d):
    import numpy as np
    return np.fromfile(file_of(folder, d), dtype="<f8").reshape(d, d)


def clocks():
    return time.process_time(), time.perf_counter()


def seconds(call, rounds, per_call=1):
    """The medians of processor time and of wall time of one call, after one that does not count."""
    call()
    processor, wall = [], []
    for _ in range(rounds):
        p, w = clocks()
        call()
        q, v = clocks()
        processor.append((q - p) / per_call)
        wall.append((v - w) / per_call)
    return statistics.median(processor), statistics.median(wall)


def iterations(method, s, rho, count, state=None):
    """count iterations from the start of "gista" or "admm", or from a state."""
    import numpy as np
    start, iterate = {"gista": (gista_start, gista_iteration), "admm": (admm_start, admm_iteration)}[method]
    penalty = np.full_like(s, rho)
    np.fill_diagonal(penalty, 0)
    state = start(s, rho) if state is None else state
    for _ in range(count):
        state = iterate(s, penalty, state)
    return state


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["write", "forward", "gista", "admm"])
    parser.add_argument("folder")
    parser.add_argument("--package", choices=["numpy", "torch"], default="numpy")
    parser.add_argument("--type", choices=["float32", "float64"], default="float64")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rho", type=float, default=.01)
    parser.add_argument("--iterations", type=int, default=20, help="of gista and admm, of which one is the mean")
    parser.add_argument("--dimensions", type=int, nargs="+", default=DIMENSIONS)
    a = parser.parse_args()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(a.threads)  # read when numpy is imported
    import numpy as np

    if a.what == "write":
        os.makedirs(a.folder, exist_ok=True)
        for d in a.dimensions:
            covariance(d).astype("<f8").tofile(file_of(a.folder, d))
        return
    for d in a.dimensions:
        s = read(a.folder, d)
        if a.what != "forward":
            call, per_call = lambda: iterations(a.what, s, a.rho, a.iterations), a.iterations
        elif a.package == "numpy":
            if a.type != "float64":
                sys.exit("numpy is timed in float64")
            call, per_call = lambda: numpy_glad(read_model(), s), 1
        else:
            import torch
            torch.set_num_threads(a.threads)
            t = torch.tensor(s, dtype=getattr(torch, a.type))
            call, per_call = lambda: torch_glad(read_model(), t), 1
        processor, wall = seconds(call, a.rounds, per_call)
        print(json.dumps({"what": a.what, "package": a.package, "type": a.type, "threads": a.threads,
                          "d": d, "processor_s": processor, "wall_s": wall}), flush=True)


if __name__ == "__main__":
    main()
