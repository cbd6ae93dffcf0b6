package telemetry

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/runs"
)

// Nothing is exported, and nothing runs, unless the environment asks for it.
func TestTelemetryIsOffByDefault(t *testing.T) {
	variables := []string{"OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"}
	for _, c := range []struct {
		set             string // separated by blanks
		traces, metrics bool
	}{
		{"", false, false},
		{"OTEL_TRACES_EXPORTER=none OTEL_METRICS_EXPORTER=none", false, false},
		{"OTEL_TRACES_EXPORTER=none OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", false, true},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:1", true, false},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://127.0.0.1:1", false, true},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", true, true},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 OTEL_SDK_DISABLED=true", false, false},
		{"OTEL_TRACES_EXPORTER=otlp", true, false},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_METRICS_EXPORTER=otlp OTEL_SDK_DISABLED=TRUE", false, false},
	} {
		for _, name := range variables {
			t.Setenv(name, "")
		}
		for _, set := range strings.Fields(c.set) {
			name, value, _ := strings.Cut(set, "=")
			t.Setenv(name, value)
		}
		if exported("TRACES") != c.traces || exported("METRICS") != c.metrics {
			t.Errorf("%q: traces %v, metrics %v", c.set, exported("TRACES"), exported("METRICS"))
		}
		if c.traces || c.metrics {
			continue
		}
		before := runtime.NumGoroutine()
		telemetry := New(t.Context(), Config{})
		if telemetry != nil || telemetry.ServerOptions("service") != nil || runtime.NumGoroutine() > before {
			t.Errorf("%q: there is telemetry", c.set)
		}
		telemetry.Measure(nil)
		telemetry.Shutdown(t.Context())
	}
}

// What observed before is told beside.
func TestTelemetryPassesOn(t *testing.T) {
	told := &recorder{}
	telemetry := New(t.Context(), Config{Registry: prometheus.NewRegistry(), Next: told})
	ctx := telemetry.RunStarted(t.Context(), runs.Started{Run: "r", Solvers: []string{"bcd"}})
	telemetry.StageDone(ctx, progress.Update{Stage: progress.Reading})
	telemetry.RunEnded(ctx, protocol.StateFailed, time.Second, nil)
	telemetry.Shutdown(t.Context())
	if got := strings.Join(told.calls, ", "); got != "started r, done reading, ended failed" {
		t.Errorf("it was told %q", got)
	}
}

type recorder struct{ calls []string }

func (r *recorder) RunStarted(ctx context.Context, s runs.Started) context.Context {
	r.calls = append(r.calls, "started "+s.Run)
	return ctx
}

func (r *recorder) StageDone(_ context.Context, p progress.Update) {
	r.calls = append(r.calls, "done "+string(p.Stage))
}

func (r *recorder) RunEnded(_ context.Context, s protocol.State, _ time.Duration, _ *protocol.Fault) {
	r.calls = append(r.calls, "ended "+string(s))
}
