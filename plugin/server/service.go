package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// Config is what a Service is made of. Its zero value is a service with
// DefaultLimits whose jobs may name any file.
type Config struct {
	// Limits bound what it takes on; fields that are zero are those of
	// DefaultLimits.
	Limits protocol.Limits
	// Files says which files jobs may name, to read and to write: FilesAny,
	// which is the default, FilesNone, or a folder in which they must lie.
	Files string
	// Stores open the URLs that jobs name, such as store.All(); nil: they are
	// refused.
	Stores arrowio.Opener
	// Logger is told of every run; nil for none.
	Logger hclog.Logger
	// Observer is told of every run too, for traces and metrics; nil for none.
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

// An Observer is told what runs do. Its methods are called from many
// goroutines.
type Observer interface {
	// RunStarted returns the context of the run: ctx, perhaps with a span.
	RunStarted(ctx context.Context, run string, solvers []string) context.Context
	// StageDone is told of the end of every stage, after it.
	StageDone(ctx context.Context, p pipelines.Progress)
	// RunEnded is told of every run's end; fault is nil for one that is done.
	RunEnded(ctx context.Context, state protocol.State, took time.Duration, fault *protocol.Fault)
}

type noObserver struct{}

func (noObserver) RunStarted(ctx context.Context, _ string, _ []string) context.Context { return ctx }
func (noObserver) StageDone(context.Context, pipelines.Progress)                        {}
func (noObserver) RunEnded(context.Context, protocol.State, time.Duration, *protocol.Fault) {
}

// A Service serves jobs over Arrow Flight. It is safe for concurrent use.
type Service struct {
	flight.BaseFlightServer

	limits   protocol.Limits
	stores   arrowio.Opener
	files    string // FilesAny, FilesNone, or a folder without symbolic links
	log      hclog.Logger
	observer Observer
	run      func(context.Context, pipelines.Job, pipelines.Host) (*pipelines.Result, error)

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	work sync.WaitGroup // of runs, and of what drops old ones

	mu       sync.Mutex
	runs     map[string]*run
	order    []*run // of runs that have ended and are held, the oldest first
	active   int
	draining bool
	bytes    int64         // of results
	idle     chan struct{} // closed when active falls to 0; nil if nobody waits
}

// New makes a service. Close releases it.
func New(c Config) (*Service, error) {
	s := &Service{
		limits:   withDefaults(c.Limits),
		stores:   c.Stores,
		files:    c.Files,
		log:      c.Logger,
		observer: c.Observer,
		run:      pipelines.Run,
		runs:     make(map[string]*run),
	}
	if s.log == nil {
		s.log = hclog.NewNullLogger()
	}
	if s.observer == nil {
		s.observer = noObserver{}
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
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.work.Go(s.dropOld)
	return s, nil
}

// confine makes folder the one in which the files of jobs must lie.
func (s *Service) confine(folder string) error {
	real, err := filepath.Abs(folder)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return fmt.Errorf("the folder for files, %s: %w; make it, or choose another", folder, err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder; name one, or say any or none", folder)
	}
	s.files = real
	return nil
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
	return append(s.transport(), grpc.ChainUnaryInterceptor(s.guardUnary), grpc.ChainStreamInterceptor(s.guardStream))
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
	// Running is the number of runs at work, Held that of runs that have
	// ended and whose results can be had.
	Running, Held int
	// ResultBytes is the memory that results take.
	ResultBytes int64
}

// Stats returns the figures of the moment.
func (s *Service) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Running: s.active, Held: len(s.order), ResultBytes: s.bytes}
}

// Close cancels every run and waits until they have ended, which takes a
// fraction of a second. Their files are whole or not there.
func (s *Service) Close() {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	s.stop()
	s.work.Wait()
}

func (s *Service) drainingFault() *protocol.Fault {
	return fault(codes.Unavailable, protocol.ReasonDraining, "the service is ending; try again, or elsewhere")
}
