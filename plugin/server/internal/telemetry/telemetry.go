// Package telemetry has the traces and metrics of the service, by OpenTelemetry
// and for Prometheus.
package telemetry

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/runs"
)

// labelPrefix begins the attributes of the labels of a run's job. Only spans have
// them: a metric would have as many series as there are values.
const labelPrefix = "gladflow.label."

// scope is the name of what makes the spans and instruments.
const scope = "github.com/gladflow/gladflow/plugin/server"

// Attributes of spans and metrics.
const (
	attributeRun     = attribute.Key("gladflow.run.id")
	attributeCaller  = attribute.Key("gladflow.caller")
	attributeSolvers = attribute.Key("gladflow.solvers")
	attributeState   = attribute.Key("gladflow.state")
	attributeStage   = attribute.Key("gladflow.stage")
	attributeSolver  = attribute.Key("gladflow.solver")
	attributeDetail  = attribute.Key("gladflow.detail")
	attributeError   = attribute.Key("error.type")
)

// A Config is what Telemetry takes beside the OTEL_* variables.
type Config struct {
	// Registry, if set, is given the metrics for Prometheus.
	Registry *prometheus.Registry
	// Console is where the exporter "console" writes: standard output belongs
	// to the handshake, or to scripts.
	Console io.Writer
	// Logger gets the errors of exports.
	Logger hclog.Logger
	// Next, if set, is called for every run as well.
	Next runs.Observer
}

// Telemetry is traces and metrics by OpenTelemetry. As an Observer it makes a
// span of every run, a child of the call's that started it, with one of every
// stage, and counts and times them. All methods of nil but the Observer's do
// nothing.
type Telemetry struct {
	providers
	next   runs.Observer
	log    hclog.Logger
	tracer trace.Tracer
	meter  metric.Meter

	ended    metric.Int64Counter
	active   metric.Int64UpDownCounter
	duration metric.Float64Histogram
	stages   metric.Float64Histogram
}

var _ runs.Observer = (*Telemetry)(nil)

// New returns nil, and makes nothing, unless c has a Registry or the
// environment asks for exports: with OTEL_TRACES_EXPORTER or
// OTEL_METRICS_EXPORTER, or with an endpoint (OTEL_EXPORTER_OTLP_ENDPOINT, or
// that of traces or metrics), and without OTEL_SDK_DISABLED. The other
// variables of OpenTelemetry's specification hold as well. What cannot be
// exported is logged; runs go on.
//
// OpenTelemetry has one handler of errors for the whole process, which is set
// to c.Logger; nothing else of it is global.
func New(ctx context.Context, c Config) *Telemetry {
	traces, metrics := exported("TRACES"), exported("METRICS")
	if !traces && !metrics && c.Registry == nil {
		return nil
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		c.Logger.Warn("telemetry cannot be exported", "error", err)
	}))
	t := &Telemetry{next: c.Next, log: c.Logger}
	var err error
	if t.providers, err = newProviders(ctx, c, traces, metrics); err != nil {
		c.Logger.Error("telemetry is off in part; look at the OTEL_ variables of the environment", "error", err)
	}
	t.tracer = t.traces.Tracer(scope, trace.WithInstrumentationVersion(job.Version()))
	t.meter = t.metrics.Meter(scope, metric.WithInstrumentationVersion(job.Version()))
	if err := t.instruments(); err != nil {
		c.Logger.Error("metrics are off in part", "error", err)
	}
	return t
}

// seconds are the boundaries of histograms of durations.
var seconds = metric.WithExplicitBucketBoundaries(.01, .03, .1, .3, 1, 3, 10, 30, 100, 300, 1000, 3000)

func (t *Telemetry) instruments() error {
	var errs [4]error
	t.ended, errs[0] = t.meter.Int64Counter("gladflow.runs",
		metric.WithUnit("{run}"), metric.WithDescription("Runs that have ended, by how."))
	t.active, errs[1] = t.meter.Int64UpDownCounter("gladflow.runs.active",
		metric.WithUnit("{run}"), metric.WithDescription("Runs at work."))
	t.duration, errs[2] = t.meter.Float64Histogram("gladflow.run.duration", seconds,
		metric.WithUnit("s"), metric.WithDescription("Time that runs took, by how they ended."))
	t.stages, errs[3] = t.meter.Float64Histogram("gladflow.stage.duration", seconds,
		metric.WithUnit("s"), metric.WithDescription("Time that stages of runs took, by solver."))
	return errors.Join(errs[:]...)
}

// Measure reports the memory that results take, in bytes.
func (t *Telemetry) Measure(resultBytes func() int64) {
	if t == nil {
		return
	}
	_, err := t.meter.Int64ObservableGauge("gladflow.results.bytes",
		metric.WithUnit("By"), metric.WithDescription("Memory that the results of runs take."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(resultBytes())
			return nil
		}))
	if err != nil {
		t.log.Error("metrics are off in part", "error", err)
	}
}

// ServerOptions make a server trace and measure the calls of one gRPC service. A
// caller's span, by W3C's headers, is their parent.
func (t *Telemetry) ServerOptions(service string) []grpc.ServerOption {
	if t == nil {
		return nil
	}
	return []grpc.ServerOption{grpc.StatsHandler(otelgrpc.NewServerHandler(
		otelgrpc.WithTracerProvider(t.traces),
		otelgrpc.WithMeterProvider(t.metrics),
		otelgrpc.WithPropagators(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})),
		// Neither health nor the services of go-plugin.
		otelgrpc.WithFilter(func(call *stats.RPCTagInfo) bool {
			return strings.HasPrefix(call.FullMethodName, "/"+service+"/")
		}),
	))}
}

// RunStarted implements Observer.
func (t *Telemetry) RunStarted(ctx context.Context, s runs.Started) context.Context {
	if t.next != nil {
		ctx = t.next.RunStarted(ctx, s)
	}
	t.active.Add(ctx, 1)
	about := []attribute.KeyValue{attributeRun.String(s.Run), attributeSolvers.StringSlice(s.Solvers)}
	if s.Caller != "" {
		about = append(about, attributeCaller.String(string(s.Caller)))
	}
	for key, value := range s.Labels {
		about = append(about, attribute.String(labelPrefix+key, value))
	}
	ctx, _ = t.tracer.Start(ctx, "run", trace.WithAttributes(about...))
	return ctx
}

// StageDone implements Observer. The span of a stage is made when it has ended.
func (t *Telemetry) StageDone(ctx context.Context, p progress.Update) {
	if t.next != nil {
		t.next.StageDone(ctx, p)
	}
	end := time.Now()
	name, what := string(p.Stage), []attribute.KeyValue{attributeStage.String(string(p.Stage))}
	if p.Solver != "" {
		name += " " + p.Solver
		what = append(what, attributeSolver.String(p.Solver))
	}
	t.stages.Record(ctx, p.Elapsed.Seconds(), metric.WithAttributes(what...))
	_, span := t.tracer.Start(ctx, name, trace.WithTimestamp(end.Add(-p.Elapsed)),
		trace.WithAttributes(append(what, attributeDetail.String(p.Detail))...))
	span.End(trace.WithTimestamp(end))
}

// RunEnded implements Observer.
func (t *Telemetry) RunEnded(ctx context.Context, state protocol.State, took time.Duration, fault *protocol.Fault) {
	if t.next != nil {
		t.next.RunEnded(ctx, state, took, fault)
	}
	how := attributeState.String(string(state))
	t.active.Add(ctx, -1)
	t.ended.Add(ctx, 1, metric.WithAttributes(how))
	t.duration.Record(ctx, took.Seconds(), metric.WithAttributes(how))

	span := trace.SpanFromContext(ctx)
	span.SetAttributes(how)
	if fault != nil {
		span.SetAttributes(attributeError.String(fault.Reason))
		if fault.Solver != "" {
			span.SetAttributes(attributeSolver.String(fault.Solver))
		}
		span.RecordError(fault)
	}
	if state == protocol.StateFailed {
		what := ""
		if fault != nil {
			what = fault.Message
		}
		span.SetStatus(codes.Error, what)
	}
	span.End()
}

// Shutdown exports what has not been yet, for as long as ctx lasts.
func (t *Telemetry) Shutdown(ctx context.Context) {
	if t == nil {
		return
	}
	if err := t.shutdown(ctx); err != nil {
		t.log.Warn("the last telemetry was not exported", "error", err)
	}
}
