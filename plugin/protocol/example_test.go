package protocol_test

import (
	"encoding/json"
	"fmt"
	"log"
	"os/exec"

	"github.com/hashicorp/go-plugin"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// A host on any version of Arrow starts the binary and puts a Flight client of its
// own on the connection.
func Example() {
	client := plugin.NewClient(protocol.ClientConfig(exec.Command("gladflow")))
	defer client.Kill()
	conn, err := protocol.Dispense(client)
	if err != nil {
		log.Fatal(err)
	}
	// flight.NewClientFromConn(conn, nil) of the host's own Arrow.
	fmt.Println(conn.Target())
}

// A ticket of DoGet, and the answer to DoPut that names its run.
func ExampleTicket() {
	var accepted protocol.Run
	if err := json.Unmarshal([]byte(`{"run":"0f3c"}`), &accepted); err != nil {
		fmt.Println(err)
		return
	}
	ticket, err := json.Marshal(protocol.Ticket{Run: accepted.Run, Table: protocol.TableEdges, Solver: "bcd"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(ticket))
	// Output: {"run":"0f3c","table":"edges","solver":"bcd"}
}

// Errors of calls carry what is wrong as data.
func ExampleFaultOf() {
	// What a call returns where a table has a missing value.
	err := (&protocol.Fault{
		Code: "InvalidArgument", Reason: protocol.ReasonInvalidTable,
		Message: `column "lacZ", row 7: the value is missing`, Column: "lacZ", Row: 7,
	}).GRPCStatus().Err()

	switch f := protocol.FaultOf(err); f.Reason {
	case protocol.ReasonInvalidTable:
		fmt.Println("look at", f.Column, "in row", f.Row)
	case protocol.ReasonLimit, protocol.ReasonDraining:
		fmt.Println("try again later:", f.Message)
	default:
		fmt.Println(f.Message)
	}
	// Output: look at lacZ in row 7
}

// An event stream of the action watch ends with the run's final state.
func ExampleState_Ended() {
	for _, line := range []string{
		`{"run":"0f3c","state":"running","stage":"solving","solver":"bcd","seconds":0.2,"done":true}`,
		`{"run":"0f3c","state":"done","seconds":0.3}`,
	} {
		var e protocol.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.State, e.Solver, e.State.Ended())
	}
	// Output:
	// running bcd false
	// done  true
}
