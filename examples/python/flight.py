"""A client of gladflow serve, with pyarrow and pandas alone.

    gladflow serve --insecure &
    python flight.py examples/data/expression.csv --id-column sample --out edges.csv

recovers a network from a table, shows the progress and prints the strongest edges.
Against a service elsewhere: --address grpc+tls://host:8815 --ca ca.pem, with a bearer
token in the environment variable GLADFLOW_TOKEN if the service asks for one.
"""

import argparse
import json
import os
import sys

import pandas as pd
import pyarrow as pa
from pyarrow import flight


def arguments():
    p = argparse.ArgumentParser(description="recover a network over Arrow Flight")
    p.add_argument("table", help="table of samples, .csv or .parquet")
    p.add_argument("--id-column", help="column that labels the rows")
    p.add_argument("--address", default="grpc://127.0.0.1:8815")
    p.add_argument("--ca", help="PEM file with the authority of the service's certificate")
    p.add_argument("--solver", default="bcd")
    p.add_argument("--penalty", default="refit")
    p.add_argument("--out", help="CSV file for the edges")
    p.add_argument("--report", help="HTML file for the page of the run, with the network drawn")
    return p.parse_args()


def connect(address, ca):
    roots = None
    if ca:
        with open(ca, "rb") as f:
            roots = f.read()
    return flight.connect(address, tls_root_certs=roots)


def read(path, id_column):
    frame = pd.read_csv(path) if path.endswith(".csv") else pd.read_parquet(path)
    if id_column:
        frame = frame.drop(columns=id_column)
    return pa.Table.from_pandas(frame, preserve_index=False)


def main():
    args = arguments()
    token = os.environ.get("GLADFLOW_TOKEN")
    headers = [(b"authorization", b"Bearer " + token.encode())] if token else []
    options = flight.FlightCallOptions(headers=headers)
    client = connect(args.address, args.ca)
    samples = read(args.table, args.id_column)

    # DoPut: the job is the command, the samples are the stream. The name of the run
    # comes back as soon as the job is accepted, an error of the table at the end.
    job = {"solvers": [args.solver], "penalty": args.penalty}
    command = flight.FlightDescriptor.for_command(json.dumps(job))
    writer, reader = client.do_put(command, samples.schema, options=options)
    with writer:
        writer.write_table(samples, max_chunksize=1000)
        writer.done_writing()
        run = json.loads(reader.read().to_pybytes())

    try:
        # watch: an event for everything that happens, until the run has ended.
        for result in client.do_action(flight.Action("watch", json.dumps(run).encode()), options):
            event = json.loads(result.body.to_pybytes())
            if event.get("done"):
                print(event["stage"], event.get("solver", ""), event.get("detail", ""), file=sys.stderr)
    except KeyboardInterrupt:
        list(client.do_action(flight.Action("cancel", json.dumps(run).encode()), options))
        raise

    # DoGet: a ticket names the run, the solver and the table.
    ticket = flight.Ticket(json.dumps({**run, "solver": args.solver, "table": "edges"}))
    edges = client.do_get(ticket, options).read_pandas()
    print(edges.head(10).to_string(index=False))
    if args.out:
        edges.to_csv(args.out, index=False)
    if args.report:
        # file: a file made of the results, in pieces.
        page = flight.Action("file", json.dumps({**run, "file": "report.html"}).encode())
        with open(args.report, "wb") as f:
            for piece in client.do_action(page, options):
                f.write(piece.body)
    # Results are kept for a quarter of an hour; forget drops them at once.
    list(client.do_action(flight.Action("forget", json.dumps(run).encode()), options))


if __name__ == "__main__":
    try:
        main()
    except pa.ArrowInvalid as e:  # the job or the table is wrong: a sentence says how
        sys.exit(f"flight.py: {e}")
    except flight.FlightUnavailableError as e:
        sys.exit(f"flight.py: there is no service: {e}")
