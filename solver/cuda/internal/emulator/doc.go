// Package emulator is a CUDA driver for tests, on machines without a GPU: C++
// sources from which [Build] makes libcuda.so.1, libcublas.so.12 and
// libcusolver.so.11. A program that finds them there, by GLADFLOW_CUDA_PATH, runs on
// them unchanged:
//
//	t.Setenv("GLADFLOW_CUDA_PATH", emulator.Build(t))
//
// Device memory is host memory. Kernels are those of solver/cuda/kernels/kernels.cu,
// compiled by g++; cuBLAS and cuSOLVER stand on OpenBLAS.
//
// # What it proves
//
// The order of calls, sizes, strides, transposes, lifetimes and error paths; the
// numbers to about 1e-9, as another library's rounding allows. In particular:
//
//   - Memory holds NaN until it is written. An access outside an allocation is error
//     700, with the kernel and the thread on standard error, or changes guard bytes that are
//     looked at after each launch. Copies, and every matrix and vector that is given to
//     cuBLAS and cuSOLVER, must lie in one live allocation of the context, to their
//     whole extent; what is written must not overlap what is read. Errors of the kind
//     that a device notices late spoil the context, as there.
//   - Double frees, memory of a context that ended, and everything that was not
//     given back are counted. Handles are never used twice.
//   - A call from a thread whose current context is another one fails. cuBLAS and
//     cuSOLVER, which would make a context of their own, fail as well.
//   - A kernel must be in the PTX, with the parameters that kernels.cu has, and
//     constants with their size; the PTX must suit the driver's version and the device.
//   - A __syncthreads that only some threads of a block reach is error 719. Shared memory holds NaN when
//     a block begins. Every argument has 8 bytes, or kernels.cu does not
//     compile.
//   - Sizes, leading dimensions, increments, modes and workspaces are checked, with the
//     status that the manuals name. Workspaces are overwritten.
//
// # What it cannot prove
//
// Races inside a block (its threads run in turns, though the deferred mode changes
// the order), speed, the compilation of the PTX, resources such as registers and
// shared memory, and behaviour misread in a manual. Wherever its results are shown,
// that has to be said until a card has been used. Which error a
// broken card gives is guessed.
//
// # Settings
//
// Environment variables, read when the libraries are opened; [Control.Set] changes
// them later. A name that is not in this list ends the process.
//
//	EMULATOR_NO_DEVICE=1       cuInit returns 100
//	EMULATOR_DEVICES=n         number of devices, 1 by default
//	EMULATOR_DRIVER_VERSION=v  12090 by default; decides which PTX is taken
//	EMULATOR_CAPABILITY=c      compute capability times ten, 90 by default
//	EMULATOR_MULTIPROCESSORS=n 8 by default
//	EMULATOR_MEMORY=bytes      of each device, 4 GiB by default; charged in steps of 512
//	EMULATOR_BUSY=1            the device takes no context (46)
//	EMULATOR_FAIL=n            the n-th call fails; NAME:n the n-th call of that name
//	EMULATOR_FAIL_CODE=code    with this code; by default 999, of cuBLAS 14, of cuSOLVER 7
//	EMULATOR_LOST_AFTER=n      every call after the n-th fails, as when a card is lost
//	EMULATOR_LOST_CODE=code    with this code of the driver, 719 by default
//	EMULATOR_DEFERRED=seed     work waits until something synchronises
//	EMULATOR_HOLD=name         then work of that kernel or call waits until this is changed
//	EMULATOR_REPORT=file       counters; %p in the name stands for the process's number
//
// Calls are counted from the start or from the last setting of EMULATOR_FAIL or
// EMULATOR_LOST_AFTER, over all three libraries; cuGetErrorName and cuGetErrorString
// are not calls. A call that gives something back does so even where it
// has to fail, so that what is left afterwards was really forgotten.
//
// In the deferred mode streams go on in a random order when something synchronises,
// and a little when something asks whether they are done; events, waits for them
// and the null stream keep their order. Blocks and threads run in a random order as
// well. Asynchronous copies use host memory when their turn comes, of whatever kind
// it is; pinned memory that was given back by then is error 700. cuMemFree waits, as
// the real one does (frees_that_waited counts how often). What synchronises with work that
// is held complains, and lets it go: tests hold work to show that nobody waits for it.
//
// # The report
//
// A file of lines "name number", kept up to date while the process runs. What lives:
// allocations, allocated_bytes, pinned, pinned_bytes, streams, events, modules, contexts,
// primary_references, cublas_handles, cusolver_handles, cusolver_parameters.
// What went wrong: complaints, faults, bad_frees. What was done:
// calls, call.NAME, launches, launch.KERNEL, copies, uploaded_bytes, downloaded_bytes, works,
// failed_on_request, most_allocated_bytes. A constant of a loaded module is one of
// the allocations.
package emulator
