#!/usr/bin/env python3
"""Writes kernels.ptx from kernels.cu, or with --check compares the two.

    pip install nvidia-cuda-nvrtc-cu12==12.0.140     # and for --check nvidia-cuda-nvcc-cu12
    python3 generate.py [--check]

NVRTC is old on purpose: drivers from CUDA 12.0 on take its PTX. It gives the same
bytes every time. The first line of kernels.ptx has the SHA-256 of the sources: see
Digest in kernels.go. --check also assembles it for cards with compute capability 8.0
and 9.0, shows the registers of each kernel, and fails if a kernel has not
enough of them and spills.
"""

import ctypes
import glob
import hashlib
import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile

NVRTC = "12.0.140"
ARCHITECTURE = "compute_80"
ASSEMBLE_FOR = ("sm_80", "sm_90")
HERE = os.path.dirname(os.path.abspath(__file__))
PTX = os.path.join(HERE, "kernels.ptx")


def installed(package, file):
    """The path of a file of an installed package."""
    found = [f for f in importlib.metadata.files(package) or [] if f.name == file]
    if not found:
        sys.exit(f"{package} has no {file}")
    return str(found[0].locate())


def read_sources():
    names = ["kernels.cu"] + sorted(os.path.basename(f) for f in glob.glob(os.path.join(HERE, "*.cuh")))
    return {name: open(os.path.join(HERE, name), "rb").read() for name in names}


def digest(sources):
    h = hashlib.sha256()
    for name, text in sources.items():
        h.update(b"%s\n%d\n" % (name.encode(), len(text)) + text)
    return h.hexdigest()


def compile_ptx(sources):
    if (version := importlib.metadata.version("nvidia-cuda-nvrtc-cu12")) != NVRTC:
        sys.exit(f"nvidia-cuda-nvrtc-cu12 is {version}; install {NVRTC}")
    library = ctypes.CDLL(installed("nvidia-cuda-nvrtc-cu12", "libnvrtc.so.12"))
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    program = ctypes.c_void_p()

    def call(name, *arguments):
        status = getattr(library, name)(*arguments)
        if status:
            print(text("nvrtcGetProgramLogSize", "nvrtcGetProgramLog") if program else "", file=sys.stderr)
            sys.exit(f"{name}: {library.nvrtcGetErrorString(status).decode()}")

    def text(size, get):
        n = ctypes.c_size_t()
        call(size, program, ctypes.byref(n))
        buffer = ctypes.create_string_buffer(n.value)
        call(get, program, buffer)
        return buffer.value.decode()

    def strings(values):
        return (ctypes.c_char_p * len(values))(*values)

    headers = {k: v for k, v in sources.items() if k != "kernels.cu"}
    call("nvrtcCreateProgram", ctypes.byref(program), sources["kernels.cu"], b"kernels.cu",
         len(headers), strings(list(headers.values())), strings([k.encode() for k in headers]))
    # Relocatable code is the same, but variables in constant memory are visible to the host.
    options = [f"--gpu-architecture={ARCHITECTURE}".encode(), b"--std=c++17", b"--relocatable-device-code=true"]
    call("nvrtcCompileProgram", program, len(options), strings(options))
    if log := text("nvrtcGetProgramLogSize", "nvrtcGetProgramLog").strip():
        sys.exit(log)
    return f"// SHA-256 of the sources: {digest(sources)}\n{text('nvrtcGetPTXSize', 'nvrtcGetPTX')}"


def assemble():
    """Shows what each kernel takes on a card, and returns those that spill."""
    ptxas = installed("nvidia-cuda-nvcc-cu12", "ptxas")
    spilling = []
    for card in ASSEMBLE_FOR:
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([ptxas, "-v", f"-arch={card}", "-o", os.path.join(folder, "out"), PTX],
                                 capture_output=True, text=True)
        if run.returncode:
            sys.exit(run.stdout + run.stderr)
        told = set()
        for name, report in re.findall(r"entry function '(\w+)' for .*((?:\n(?!.*entry function).*)*)", run.stderr):
            told.add(name)
            stack, stores, loads = re.search(
                r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", report).groups()
            registers, shared = re.search(r"Used (\d+) registers", report)[1], re.search(r"(\d+) bytes smem", report)
            print(f"{card} {name:22} {registers:>3} registers, {shared[1] if shared else 0:>5} bytes shared, "
                  f"{stack:>3} stack, {stores} and {loads} spilled")
            if int(stores) or int(loads):
                spilling.append(f"{name} on {card}")
        if told != set(re.findall(r"\.entry (\w+)", open(PTX).read())):
            sys.exit(f"ptxas -v does not tell of every kernel:\n{run.stderr}")
    return spilling


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    sources = read_sources()
    ptx = compile_ptx(sources)
    if compile_ptx(sources) != ptx:
        sys.exit("NVRTC gives other bytes the second time")
    if not check:
        open(PTX, "w").write(ptx)
        return
    if open(PTX).read() != ptx:
        sys.exit("kernels.ptx is not what NVRTC makes of kernels.cu; run solver/cuda/kernels/generate.py")
    if spilling := assemble():
        sys.exit("out of registers: " + ", ".join(spilling))


main()
