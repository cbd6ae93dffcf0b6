package server

import (
	"context"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
	"github.com/gladflow/gladflow/plugin/server/internal/runs"
	"github.com/gladflow/gladflow/solver/dense"
)

// Config is what a Service is made of. Its zero value is a service with
// DefaultLimits whose jobs may name any file.
type Config struct {
	// Limits bound what it accepts; fields that are zero are those of
	// DefaultLimits. Threads bound the whole process: see dense.LimitCores.
	Limits protocol.Limits
	// Files says which files jobs may name, to read and to write: FilesAny,
	// which is the default, FilesNone, or a folder in which they must lie.
	Files string
	// Stores open the URLs that jobs name, such as store.All(); nil: they are
	// refused.
	Stores arrowio.Opener
	// Logger gets a line for the beginning and the end of every run; nil for none.
	Logger hclog.Logger
	// Observer is called for every run, for traces and metrics; nil for none.
	Observer Observer
}

// Values of Config.Files other than a folder.
const (
	FilesAny  = "any"
	FilesNone = "none"
)

// DefaultLimits are the limits of a service that is given none.
func DefaultLimits() protocol.Limits {
	return protocol.Limits{
		ConcurrentRuns: 32,
		Threads:        dense.Cores(),
		MessageBytes:   64 << 20,
		UploadBytes:    16 << 30,
		Variables:      10_000,
		ResultBytes:    1 << 30,
		ResultSeconds:  (15 * time.Minute).Seconds(),
		IdleSeconds:    (5 * time.Minute).Seconds(),
	}
}

func withDefaults(l protocol.Limits) protocol.Limits {
	d := DefaultLimits()
	fill(&l.ConcurrentRuns, d.ConcurrentRuns)
	fill(&l.Threads, d.Threads)
	fill(&l.MessageBytes, d.MessageBytes)
	fill(&l.UploadBytes, d.UploadBytes)
	fill(&l.Variables, d.Variables)
	fill(&l.ResultBytes, d.ResultBytes)
	fill(&l.ResultSeconds, d.ResultSeconds)
	fill(&l.IdleSeconds, d.IdleSeconds)
	return l
}

func fill[T int | int64 | float64](v *T, byDefault T) {
	if *v == 0 {
		*v = byDefault
	}
}

// An Observer is called when a run starts (RunStarted), when a stage of it is done
// (StageDone) and when it ends (RunEnded), from many goroutines.
type Observer = runs.Observer

// A Service serves jobs over Arrow Flight. It is safe for concurrent use.
type Service struct {
	flight.BaseFlightServer

	limits protocol.Limits
	files  string // FilesAny, FilesNone, or a folder without symbolic links
	log    hclog.Logger
	runs   *runs.Registry
}

// New makes a service. Close releases it.
func New(c Config) (*Service, error) { return newService(c, recovery.Run) }

// newService makes a service whose runs do the given work.
func newService(c Config, work func(context.Context, job.Job, recovery.Host) (*job.Result, error)) (*Service, error) {
	s := &Service{limits: withDefaults(c.Limits), files: c.Files, log: c.Logger}
	dense.LimitCores(s.limits.Threads)
	s.limits.Threads = dense.Cores()
	if s.log == nil {
		s.log = hclog.NewNullLogger()
	}
	switch s.files {
	case "":
		s.files = FilesAny
	case FilesAny, FilesNone:
	default:
		if err := s.confine(s.files); err != nil {
			return nil, err
		}
	}
	s.runs = runs.New(runs.Config{Limits: s.limits, Stores: c.Stores, Logger: s.log, Observer: c.Observer, Work: work})
	return s, nil
}

// Register adds the Flight service to a server. The health service is left to
// the caller.
func (s *Service) Register(g *grpc.Server) error {
	flight.RegisterFlightServiceServer(g, s)
	return nil
}

// ServerOptions are the options of a gRPC server for this service: its limits,
// windows that keep a fast connection busy, and keepalive, by which callers
// that have vanished are noticed.
func (s *Service) ServerOptions() []grpc.ServerOption {
	return append(s.transport(), grpc.ChainUnaryInterceptor(s.catchUnary), grpc.ChainStreamInterceptor(s.catchStream))
}

func (s *Service) transport() []grpc.ServerOption {
	const (
		window     = 8 << 20
		buffer     = 256 << 10
		mostCalls  = 1000
		ping       = 30 * time.Second
		pong       = 20 * time.Second
		leastAlive = 5 * time.Second
	)
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(s.limits.MessageBytes),
		grpc.MaxConcurrentStreams(mostCalls),
		grpc.InitialWindowSize(window),
		grpc.InitialConnWindowSize(2 * window),
		grpc.ReadBufferSize(buffer),
		grpc.WriteBufferSize(buffer),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: ping, Timeout: pong}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: leastAlive, PermitWithoutStream: true}),
	}
}

// Stats are figures of the moment.
type Stats struct {
	// Running is the number of runs at work, Held that of runs that have ended
	// and whose results are kept.
	Running, Held int
	// ResultBytes is the memory that results take, in bytes.
	ResultBytes int64
}

// Stats returns the figures of the moment.
func (s *Service) Stats() Stats {
	running, ended, bytes := s.runs.Stats()
	return Stats{Running: running, Held: ended, ResultBytes: bytes}
}

func (s *Service) resultBytes() int64 { return s.Stats().ResultBytes }

// Drain refuses new runs from now on and returns when those at work have
// ended and their results were taken, or two seconds after their end, or with
// the error of ctx if runs are still at work then. Results can be had meanwhile
// and after it.
func (s *Service) Drain(ctx context.Context) error { return s.runs.Drain(ctx) }

// Close cancels every run and waits until they have ended, which takes a
// fraction of a second. Their files are whole or not there.
func (s *Service) Close() { s.runs.Close() }

// catchUnary turns panics of a call into errors.
func (s *Service) catchUnary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (reply any, err error) {
	err = fault.Catch(s.log, func() (err error) {
		reply, err = next(ctx, request)
		return err
	})
	return reply, err
}

// catchStream turns panics of a call into errors.
func (s *Service) catchStream(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	return fault.Catch(s.log, func() error { return next(service, stream) })
}
