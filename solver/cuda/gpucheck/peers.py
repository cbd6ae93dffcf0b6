# The forward pass of GLAD by eigendecompositions, in PyTorch or CuPy, from the formulas
# of the paper: the peer of gpu-check. Arguments: a folder with job.json (weights) and s.bin
# (float64, by rows); it writes theta.bin and z.bin there and prints one line of JSON.
import json, os, sys, time

folder, library = sys.argv[1], sys.argv[2]
job = json.load(open(os.path.join(folder, "job.json")))
d = job["d"]
if library == "torch":
    import torch as xp
    if job["device"] != "cpu" and not xp.cuda.is_available():
        sys.exit("torch finds no GPU")
    import numpy as np
    wait = (lambda: xp.cuda.synchronize()) if job["device"] != "cpu" else (lambda: None)
    array = lambda a: xp.tensor(a, dtype=xp.float64, device=job["device"])
    host = lambda a: a.cpu().numpy()
    maximum = lambda a, b: xp.clamp(a, min=b)
    eye = lambda n: xp.eye(n, dtype=xp.float64, device=job["device"])
    inverse, version = xp.linalg.inv, "torch " + xp.__version__
else:
    import cupy as xp, numpy as np
    wait, array, host, eye = xp.cuda.Device().synchronize, xp.asarray, xp.asnumpy, xp.eye
    maximum, inverse, version = xp.maximum, xp.linalg.inv, "cupy " + xp.__version__
    xp.cuda.Device(int(job["device"].split(":")[1])).use()

s = array(np.fromfile(os.path.join(folder, "s.bin")).reshape(d, d))


def sigmoid(x):
    return 1 / (1 + xp.exp(-x))


def network(layers, inputs):
    """Of one matrix for each input: one unit after the other, to bound memory."""
    x = inputs
    for layer in layers:
        y = []
        for row, bias in zip(layer["weights"], layer["bias"]):
            v = bias
            for w, a in zip(row, x):
                v = v + w * a
            if layer["activation"] == "tanh":
                v = xp.tanh(v)
            elif layer["activation"] == "sigmoid":
                v = sigmoid(v)
            elif layer["activation"] == "exp":
                v = xp.exp(v)
            y.append(v * layer.get("scale", 1))
        x = y
    return x[0]


def forward():
    theta = inverse(s + job["t"] * eye(d))
    z = theta
    lam, norm2 = array(job["lambda0"]), array(0.0)
    for _ in range(job["iterations"]):
        lam = network(job["lambda"], [norm2, lam])
        values, vectors = xp.linalg.eigh(s / lam - z)
        root = xp.sqrt(values * values + 4 / lam)
        phi = xp.where(values > 0, (2 / lam) / (values + root), (root - values) / 2)
        theta = (vectors * phi) @ vectors.T
        rho = network(job["rho"], [theta, s, z])
        z = xp.sign(theta) * maximum(abs(theta) - rho, 0.0)
        norm2 = ((z - theta) ** 2).sum()
    return theta, z


theta, z = forward()
wait()
times = []
for _ in range(job["repeats"]):
    begin = time.perf_counter()
    theta, z = forward()
    wait()
    times.append(time.perf_counter() - begin)
host(theta).tofile(os.path.join(folder, "theta.bin"))
host(z).tofile(os.path.join(folder, "z.bin"))
print(json.dumps({"version": version, "seconds": sorted(times)[len(times) // 2]}))
