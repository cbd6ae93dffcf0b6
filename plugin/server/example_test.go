package server_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"

	"google.golang.org/grpc"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server"
)

// A process offers the service on a gRPC server of its own; a caller checks a job.
func Example() {
	service, err := server.New(server.Config{
		Limits: protocol.Limits{Variables: 2000}, // the others have defaults
		Files:  server.FilesNone,                 // samples are streamed
	})
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	g := grpc.NewServer(service.ServerOptions()...)
	if err := service.Register(g); err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go g.Serve(listener)
	defer g.Stop()

	ctx := context.Background()
	client, err := plugin.Attach(ctx, plugin.AttachConfig{Address: listener.Addr().String(), Insecure: true})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	j, err := client.Validate(ctx, job.Job{Solvers: []string{"bcd"}, Penalty: "0.3"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(j.Solvers, j.Penalty, j.Correlation)
	_, err = client.Validate(ctx, job.Job{Input: "samples.parquet"})
	fmt.Println(protocol.FaultOf(err).Field, "is", protocol.FaultOf(err).Reason)
	// Output:
	// [bcd] 0.3 pearson
	// input is FORBIDDEN
}

// Listen offers the service at an address, with TLS or to this machine alone,
// until its context ends.
func ExampleListen() {
	ctx, end := context.WithCancel(context.Background())
	listener, err := server.Listen(ctx, server.ListenConfig{Address: "127.0.0.1:0", Insecure: true})
	if err != nil {
		log.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- listener.Serve(ctx) }()

	client, err := plugin.Attach(ctx, plugin.AttachConfig{Address: listener.Address()[len("grpc://"):], Insecure: true})
	if err != nil {
		log.Fatal(err)
	}
	description, err := client.Describe(ctx)
	if err != nil {
		log.Fatal(err)
	}
	client.Close()
	fmt.Println("protocol", description.Protocol)
	end() // runs may go on for ListenConfig.DrainTimeout
	fmt.Println(<-served)
	// Output:
	// protocol 1
	// <nil>
}

// A SettingError names the field; a command line prints its flags instead.
func ExampleSettingError() {
	_, err := server.Listen(context.Background(), server.ListenConfig{KeyFile: "key.pem"})
	fmt.Println(err)
	var wrong *server.SettingError
	if errors.As(err, &wrong) {
		flags := map[string]string{"CertFile": "--tls-cert", "KeyFile": "--tls-key"}
		flag := func(field string) string { return flags[field] }
		fmt.Printf("%s: %s\n", flag(wrong.Setting), wrong.Reason(flag))
	}
	// Output:
	// CertFile: there is a key without its certificate; give it with CertFile
	// --tls-cert: there is a key without its certificate; give it with --tls-cert
}
