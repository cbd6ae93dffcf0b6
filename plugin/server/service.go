package server

import (
	"context"
	"math"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/runs"
	"github.com/gladflow/gladflow/plugin/server/internal/setting"
	"github.com/gladflow/gladflow/solver/dense"
)

// Config is what a Service is made of. Its zero value is a service with
// DefaultLimits whose jobs may name any file.
type Config struct {
	// Limits bound what it accepts; fields that are zero are those of
	// DefaultLimits. Threads bound the whole process: see dense.LimitCores.
	// Without Caller there are no limits of each caller by default; with it they
	// are half of those of all: RunsPerCaller of ConcurrentRuns, as many
	// UploadsPerCaller, and ResultBytesPerCaller of ResultBytes.
	Limits protocol.Limits
	// Caller says who makes a call, by the call's context. A run belongs to the
	// caller that has started it, and others are told that it does not exist. What
	// it returns is told to the caller and logged, so it must not be a secret. nil:
	// all callers are one. Listen sets it if it knows callers by tokens or
	// certificates and c has none.
	Caller func(context.Context) string
	// SharedRuns lets every caller have the runs of all. The limits of each caller
	// hold all the same.
	SharedRuns bool
	// Files says which files jobs may name, to read and to write: FilesAny,
	// which is the default, FilesNone, or a folder in which they must lie. The
	// folder is opened once, by New, and relative paths of jobs are relative to
	// it: see arrowio.Root.
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

// DefaultLimits are the limits of a service that is given none. That of memory is
// memory.Default(), 80 % of what the machine or its cgroup has. The process should tell
// Go's garbage collector of it too: debug.SetMemoryLimit(memory.Heap(limit)).
func DefaultLimits() protocol.Limits {
	return protocol.Limits{
		ConcurrentRuns: 32,
		Threads:        dense.Cores(),
		MessageBytes:   defaultMessage(memory.Default()),
		UploadBytes:    16 << 30,
		Variables:      10_000,
		ResultBytes:    1 << 30,
		MemoryBytes:    memory.Default(),
		ResultSeconds:  (15 * time.Minute).Seconds(),
		IdleSeconds:    (5 * time.Minute).Seconds(),
	}
}

// defaultMessage is Limits.MessageBytes where the process may take so much memory: 64
// MiB, or an eighth of what is left for runs.
func defaultMessage(limit int64) int {
	const most, least = 64 << 20, 1 << 20
	if limit == 0 {
		return most
	}
	return int(min(max((limit-memory.Process)/8, least), most))
}

// checkMemory refuses memory that leaves nothing for runs.
func checkMemory(l protocol.Limits) error {
	message := runs.LargestMessage(l)
	if l.MemoryBytes == 0 || l.MemoryBytes > memory.Process+message {
		return nil
	}
	return setting.Errorf(setting.MemoryBytes, "%s leaves nothing for runs, for the program itself takes %s and a message %s; choose more, or smaller messages (%s)",
		memory.Size(l.MemoryBytes), memory.Size(memory.Process), memory.Size(message), setting.MessageBytes)
}

func withDefaults(l protocol.Limits) protocol.Limits {
	d := DefaultLimits()
	fill(&l.ConcurrentRuns, d.ConcurrentRuns)
	fill(&l.Threads, d.Threads)
	fill(&l.MemoryBytes, d.MemoryBytes)
	fill(&l.MessageBytes, defaultMessage(l.MemoryBytes))
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

// RunStarted is what an Observer is told of a run that starts.
type RunStarted = runs.Started

// A Service serves jobs over Arrow Flight. It is safe for concurrent use.
type Service struct {
	flight.BaseFlightServer

	limits   protocol.Limits
	files    string        // FilesAny, FilesNone, or the name of root
	root     *arrowio.Root // nil if files are not those of a folder
	log      hclog.Logger
	runs     *runs.Registry
	callerOf func(context.Context) string // nil if all callers are one
}

// New makes a service. Close releases it. An error is a *SettingError
// of Files, or of Limits that leave no memory for runs.
func New(c Config) (*Service, error) { return newService(c, recovery.Run) }

// newService makes a service whose runs do the given work.
func newService(c Config, work func(context.Context, job.Job, recovery.Host) (*job.Result, error)) (*Service, error) {
	limits := withCallerQuotas(withDefaults(c.Limits), c.Caller != nil)
	if err := checkMemory(limits); err != nil {
		return nil, err
	}
	s := &Service{limits: limits, files: c.Files, log: c.Logger, callerOf: c.Caller}
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
	s.runs = runs.New(runs.Config{
		Limits: s.limits, Callers: c.Caller != nil, SharedRuns: c.SharedRuns, Root: s.root, Stores: c.Stores,
		Logger: s.log, Observer: c.Observer, Work: work,
	})
	return s, nil
}

// ServerOptions are the options of a gRPC server for this service: its limits,
// windows that keep a fast connection busy, and keepalive, by which callers
// that have vanished are noticed.
func (s *Service) ServerOptions() []grpc.ServerOption {
	return append(s.transport(), s.callOptions()...)
}

// A connection on which nothing arrives for pingTime is asked whether it is
// alive, and closed if no answer has arrived in pongTime. What arrives in part
// does not count.
const (
	pingTime = 30 * time.Second
	pongTime = 20 * time.Second
)

func (s *Service) transport() []grpc.ServerOption {
	const (
		connectionWindow = 16 << 20 // of which nothing is held: it is in the streams' windows
		leastAlive       = 5 * time.Second
	)
	calls, window := runs.OpenCalls(s.limits)
	buffer := 128 << 10 // of a connection
	if s.limits.MemoryBytes > 0 {
		buffer = int(min(max(s.limits.MemoryBytes/32/DefaultMaxConnections, 32<<10), int64(buffer)))
	}
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(int(min(runs.LargestMessage(s.limits), math.MaxInt32))),
		grpc.MaxConcurrentStreams(uint32(calls)),
		// A message that is being received may be larger than the window.
		grpc.InitialWindowSize(int32(window)),
		grpc.InitialConnWindowSize(connectionWindow),
		grpc.ReadBufferSize(buffer),
		grpc.WriteBufferSize(buffer),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingTime, Timeout: pongTime}),
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
	// MemoryBytes is what runs have reserved and results take of Limits.MemoryBytes.
	MemoryBytes int64
}

// Stats returns the figures of the moment.
func (s *Service) Stats() Stats {
	running, ended, bytes := s.runs.Stats()
	return Stats{Running: running, Held: ended, ResultBytes: bytes, MemoryBytes: s.runs.Reserved()}
}

func (s *Service) resultBytes() int64 { return s.Stats().ResultBytes }

// Drain refuses new runs from now on and returns when those at work have
// ended and their results were taken, or two seconds after their end, or with
// the error of ctx if runs are still at work then. Results can be had meanwhile
// and after it.
func (s *Service) Drain(ctx context.Context) error { return s.runs.Drain(ctx) }

// Close cancels every run and waits until they have ended, which takes a
// fraction of a second. Their files are whole or not there.
func (s *Service) Close() {
	s.runs.Close()
	s.root.Close()
}
