# What a Python user does with pyarrow.flight alone: arguments are the address
# of a service, a table of samples in Parquet and a Parquet file of edges that
# the command line has made of it with bcd and a penalty of 0.2.
import json
import os
import random
import sys
import tempfile
import time

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import flight

address, table, expected = sys.argv[1:]
client = flight.connect(address)
samples = pq.read_table(table)
JOB = {"solvers": ["bcd"], "penalty": 0.2}


def command(job):
    return flight.FlightDescriptor.for_command(json.dumps(job))


def act(name, body=None):
    action = flight.Action(name, json.dumps(body).encode() if body else b"")
    return [json.loads(r.body.to_pybytes()) for r in client.do_action(action)]


def put(job, table, rows=None):
    writer, reader = client.do_put(command(job), table.schema)
    with writer:
        writer.write_table(table, max_chunksize=rows)
        writer.done_writing()
        return json.loads(reader.read().to_pybytes())


def get(run, **what):
    return client.do_get(flight.Ticket(json.dumps({**run, **what}))).read_all()


def refused(kind, words, call, *args):
    try:
        call(*args)
    except kind as e:
        assert words in str(e), (words, str(e))
        return str(e)
    raise AssertionError(f"{words}: nothing was raised")


# describe, and what else there is
about = act("describe")[0]
assert about["protocol"] == 1 and "glad" in [s["name"] for s in about["solvers"]], about
actions = [a.type for a in client.list_actions()]
assert actions == "describe schema validate solvers models recover look watch result file cancel forget".split(), actions
assert act("validate", JOB)[0]["edges"] == "support"
assert "penalty" in act("schema")[0]["properties"]

# DoPut and DoGet: the same edges as the command line's file, to the last bit
want = pq.read_table(expected)
run = put(JOB, samples)
edges = get(run, solver="bcd", table="edges")
assert edges.num_rows > 0 and edges.schema.equals(want.schema), (edges.schema, want.schema)
assert edges.equals(want.combine_chunks()), "the edges are not those of the command line"
pd.testing.assert_frame_equal(edges.to_pandas(), pd.read_parquet(expected), check_exact=True)
assert edges.schema.metadata[b"gladflow.solver"] == b"bcd"
assert get(run, table="precision").num_rows >= samples.num_columns
assert act("result", run)[0]["solvers"][0]["status"] == "converged"
events = act("watch", run)
assert events[-1]["state"] == "done" and [e["stage"] for e in events if e.get("done")] == ["reading", "solving"], events

# small batches, and lists, make no difference
assert get(put(JOB, samples, rows=7)).equals(edges)
values = pa.array([v for row in zip(*samples.to_pydict().values()) for v in row])
field = pa.field("sample", pa.list_(pa.float64(), samples.num_columns), metadata={"gladflow.names": json.dumps(samples.column_names)})
lists = pa.table([pa.FixedSizeListArray.from_arrays(values, samples.num_columns)], schema=pa.schema([field]))
assert get(put(JOB, lists)).equals(edges)

# DoExchange
writer, reader = client.do_exchange(command(JOB))
with writer:
    writer.begin(samples.schema)
    writer.write_table(samples)
    writer.done_writing()
    assert reader.read_all().equals(edges)

# ListFlights and GetFlightInfo
info = client.get_flight_info(flight.FlightDescriptor.for_path(run["run"], "edges", "bcd"))
assert info.total_records == edges.num_rows and info.schema.equals(edges.schema)
assert client.do_get(info.endpoints[0].ticket).read_all().equals(edges)
assert sorted(f.descriptor.path[1] for f in client.list_flights(json.dumps(run).encode())) == [b"edges", b"precision"]

# look: of a stream and of a file, and the job that it advises; what a run would refuse
def ask(path, table):
    writer, reader = client.do_put(flight.FlightDescriptor.for_path(*path), table.schema)
    with writer:
        writer.write_table(table)
        writer.done_writing()
        pieces = []
        while (piece := reader.read()) is not None:
            pieces.append(piece.to_pybytes())
        return b"".join(pieces)


def look(job, table):
    return json.loads(ask(["look", json.dumps(job)], table))


seen = look({**JOB, "labels": {"request": "4713"}}, samples)
assert seen["input"]["samples"] == samples.num_rows and seen["job"]["labels"] == {"request": "4713"}, seen
there = act("look", {"input": table})[0]
assert there["ratio"] == seen["ratio"] and there["median_kurtosis"] == seen["median_kurtosis"], (there, seen)
gap = samples.set_column(1, samples.column_names[1], pa.array([None] + samples.column(1).to_pylist()[1:], pa.float64()))
refused(pa.ArrowInvalid, "the value is missing", put, JOB, gap)
seen = look(JOB, gap)
assert seen["input"]["missing"]["values"] == 1 and seen["whole_samples"] == samples.num_rows - 1, seen
assert act("result", put(seen["job"], gap))[0]["input"]["samples"] == samples.num_rows - 1
refused(pa.ArrowInvalid, "missing: ", look, {"missing": "perhaps"}, gap)
refused(pa.ArrowInvalid, "one sample", look, {}, gap.slice(0, 1))


# files of a run: its page, its edges for other programs, a picture; and one of edges that are sent
def made(run, file, **more):
    action = flight.Action("file", json.dumps({**run, "file": file, **more}).encode())
    return b"".join(r.body.to_pybytes() for r in client.do_action(action))


page = made(run, "report.html")
assert page.startswith(b"<!DOCTYPE html>") and samples.column_names[0].encode() in page
assert made(run, "bcd.edges.sif").count(b"\n") == edges.num_rows
assert made(run, "bcd.edges.svg", top=3) == ask(["draw", json.dumps({"file": "x.svg", "top": 3})], edges)
assert made(run, "bcd.edges.png", theme="dark").startswith(b"\x89PNG")
assert pq.read_table(pa.BufferReader(made(run, "bcd.edges.parquet"))).equals(edges)
refused(pa.ArrowKeyError, "there is no file", made, run, "bcd.edges.gif")
refused(pa.ArrowInvalid, "no edges to draw", ask, ["draw", '{"file": "x.svg"}'], edges.slice(0, 0))

# labels come back, and find their run
labelled = put({**JOB, "labels": {"request": "4711", "note": "é = x"}}, samples)
assert act("result", labelled)[0]["job"]["labels"] == {"request": "4711", "note": "é = x"}
assert all(e["labels"]["request"] == "4711" for e in act("watch", labelled))
assert json.loads(get(labelled).schema.metadata[b"gladflow.labels"])["note"] == "é = x"
found = client.list_flights(json.dumps({"labels": {"request": "4711"}}).encode())
assert {f.descriptor.path[0].decode() for f in found} == {labelled["run"]}
refused(pa.ArrowInvalid, "labels: the value of note", put, {"labels": {"note": "two\nlines"}}, samples)

# what is wrong is said
refused(pa.ArrowInvalid, "penalty: -1 is negative", put, {"penalty": -1}, samples)
refused(pa.ArrowInvalid, "did you mean penalty?", act, "validate", {"penality": 1})
bad = pa.table({"a": [1.0, 2.0, float("nan")], "b": [1.0, 3.0, 2.0]})
refused(pa.ArrowInvalid, 'column "a", row 3', put, {}, bad)
refused(pa.ArrowKeyError, "there is no run", get, {"run": "nobody"})

# a run that fails: its document comes before its error, and its tables are there
with tempfile.TemporaryDirectory() as out:
    os.makedirs(os.path.join(out, "bcd.edges.parquet", "in the way"))
    run = put({**JOB, "out": out}, samples)
    documents = []
    try:
        for r in client.do_action(flight.Action("result", json.dumps(run).encode())):
            documents.append(json.loads(r.body.to_pybytes()))
        raise AssertionError("a run that could not write its files has not failed")
    except flight.FlightInternalError as e:
        [document] = documents
        assert document["partial"] and "bcd.edges.parquet" in document["error"] and document["error"] in str(e), (document, e)
    with open(os.path.join(out, "run.json")) as f:
        assert json.load(f)["solvers"][0]["error"] == document["error"]
    assert act("watch", run)[-1]["error"]["message"] == document["error"]
    assert get(run).equals(edges)

# cancel
random.seed(1)
big = pa.table({f"v{i}": [random.gauss(0, 1) for _ in range(100)] for i in range(60)})
run = put({"solvers": ["am"], "penalty": 1e-3, "gap": 1e-300, "iteration_limit": 10**9}, big)
time.sleep(0.1)
began = time.monotonic()
info = act("cancel", run)[0]
assert time.monotonic() - began < 0.2 and info["state"] == "cancelled", info
assert info["error"]["solver"] == "am" and info["error"]["iteration"] > 0, info
refused(flight.FlightCancelledError, "the run was cancelled", get, run)
act("forget", run)
refused(pa.ArrowKeyError, "there is no run", get, run)
print("ok")
