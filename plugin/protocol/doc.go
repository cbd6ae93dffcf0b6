// Package protocol is what a gladflow plugin and its callers agree on: the
// magic cookie and version of the handshake, the names of the Arrow Flight
// actions, and their JSON messages. It imports no Arrow, so that a host on any
// version of Arrow, or on none, can use it beside its own Flight client:
//
//	client := plugin.NewClient(protocol.ClientConfig(exec.Command("gladflow")))
//	defer client.Kill()
//	conn, err := protocol.Dispense(client) // a *grpc.ClientConn
//	flights := flight.NewClientFromConn(conn, nil)
//
// Hosts on github.com/apache/arrow/go/v15 have package plugin, which does the
// rest as well.
//
// # Versions
//
// Version is that of the handshake and of everything in this package. Within a
// version, messages gain fields and services gain actions and error reasons;
// nothing is taken away or given another meaning, so callers must ignore what
// they do not know. A change that breaks a caller gets a new version, and a
// plugin serves the version before it for at least a year.
package protocol

//go:generate go run ./internal/messages
