"""One training step of GLAD (Algorithm 1 of the paper) in PyTorch, batched,
with torch.linalg.eigh and autograd: what torch_test.go runs beside ours.

Reads one JSON object: layers of both networks, t, S, truth, iterations, gamma,
learning_rate, clip_norm. Then, for every line on standard input, does as many
steps as the line says and prints a JSON object with the seconds of each, and
the loss and gradient of the first step at the given weights.
"""

import json
import sys
import time

import torch

torch.set_default_dtype(torch.float64)
job = json.loads(sys.stdin.readline())


def parameter(value):
    return torch.tensor(value, dtype=torch.float64, requires_grad=True)


def parameters(layers):
    return [(parameter(w), parameter(b)) for w, b in layers]


rho, lam = parameters(job["rho"]), parameters(job["lambda"])
t = parameter(job["t"])
flat = [p for layer in rho + lam for p in layer] + [t]
s, truth = torch.tensor(job["s"]), torch.tensor(job["truth"])
count, d = s.shape[0], s.shape[1]
identity = torch.eye(d)


def network(layers, x):
    for i, (w, b) in enumerate(layers):
        x = torch.nn.functional.linear(x, w, b)
        x = torch.tanh(x) if i + 1 < len(layers) else torch.sigmoid(x)
    return x.squeeze(-1)


def loss():
    theta = torch.linalg.inv(s + t * identity)
    z, l, total = theta, torch.ones(count), 0.0
    for k in range(1, job["iterations"] + 1):
        norm2 = ((z - theta) ** 2).sum((1, 2))
        l = network(lam, torch.stack([norm2, l], -1))
        column = l[:, None, None]
        values, vectors = torch.linalg.eigh(s / column - z)
        root = torch.sqrt(values**2 + 4 / l[:, None])
        theta = (vectors * ((root - values) / 2)[:, None, :]) @ vectors.mT
        threshold = network(rho, torch.stack([theta, s, z], -1))
        z = torch.sign(theta) * torch.relu(theta.abs() - threshold)
        total = total + job["gamma"] ** (job["iterations"] - k) * ((z - truth) ** 2).sum()
    return total / count


def step(optimiser):
    optimiser.zero_grad()
    value = loss()
    value.backward()
    gradient = torch.cat([p.grad.flatten() for p in flat])
    torch.nn.utils.clip_grad_norm_(flat, job["clip_norm"])
    optimiser.step()
    return value.item(), gradient


start = [p.detach().clone() for p in flat]
for line in sys.stdin:
    with torch.no_grad():
        for p, v in zip(flat, start):
            p.copy_(v)
    optimiser = torch.optim.Adam(flat, lr=job["learning_rate"])
    seconds, first = [], None
    for _ in range(int(line)):
        began = time.perf_counter()
        value, gradient = step(optimiser)
        seconds.append(time.perf_counter() - began)
        first = first or (value, gradient.tolist())
    print(json.dumps({"seconds": seconds, "loss": first[0], "gradient": first[1],
                      "torch": torch.__version__, "threads": torch.get_num_threads()}), flush=True)
