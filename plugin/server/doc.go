// Package server is the service behind a gladflow plugin: it runs jobs,
// by package recovery, over Arrow Flight, as package protocol describes it.
//
//	service, err := server.New(server.Config{})
//	if err != nil {
//		return err
//	}
//	defer service.Close()
//	g := grpc.NewServer(service.ServerOptions()...)
//	if err := service.Register(g); err != nil {
//		return err
//	}
//	return g.Serve(listener)
//
// Plugin serves it to a host that has launched the process, Listen on a
// listener of its own. Hosts do not import this package but package plugin,
// which links none of it.
//
// Here are the calls of Flight, HTTP and listening. Below it, package runs has the
// runs from their start to the end of their results, package security TLS and
// tokens, and package telemetry traces and metrics.
package server
