package plugin

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"google.golang.org/grpc"

	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server"
)

// BenchmarkEcho streams 40 MB to a service and back, as a host does; MB/s count
// both ways. The record is in memory as one.
func BenchmarkEcho(b *testing.B) {
	for name, record := range map[string]func(memory.Allocator) arrow.Record{
		"rows":    func(mem memory.Allocator) arrow.Record { return rowsOf(mem, 1000, 5000) },
		"columns": func(mem memory.Allocator) arrow.Record { return wide(mem, 1000, 5000) },
	} {
		b.Run(name+"/served", func(b *testing.B) {
			service, err := server.New(server.Config{Limits: protocol.Limits{}})
			if err != nil {
				b.Fatal(err)
			}
			defer service.Close()
			address := listen(b, func(s *grpc.Server) {
				if err := service.Register(s); err != nil {
					b.Fatal(err)
				}
			}, service.ServerOptions()...)
			c, err := Attach(b.Context(), AttachConfig{Address: address, Insecure: true})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			benchmarkEcho(b, c, record(memory.DefaultAllocator))
		})
		b.Run(name+"/launched", func(b *testing.B) {
			benchmarkEcho(b, launch(b, Config{}), record(memory.DefaultAllocator))
		})
		b.Run(name+"/launched without mTLS", func(b *testing.B) {
			benchmarkEcho(b, launch(b, Config{DisableMTLS: true}), record(memory.DefaultAllocator))
		})
	}
}

func benchmarkEcho(b *testing.B, c *Client, record arrow.Record) {
	b.SetBytes(2 * 40e6)
	for b.Loop() {
		in, err := array.NewRecordReader(record.Schema(), []arrow.Record{record})
		if err != nil {
			b.Fatal(err)
		}
		out, err := c.Echo(b.Context(), in)
		if err != nil {
			b.Fatal(err)
		}
		if rows, err := drain(out); err != nil || rows != record.NumRows() {
			b.Fatalf("%d rows, %v", rows, err)
		}
		in.Release()
	}
}
