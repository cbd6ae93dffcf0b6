package server

import (
	"encoding/hex"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc/metadata"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/internal/logtest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A run arrives at a collector as a span below the call's, which is below the
// caller's, with its stages below it; and it is counted and timed.
func TestExport(t *testing.T) {
	for _, name := range []string{"http/protobuf", "grpc"} {
		t.Run(name, func(t *testing.T) {
			c := collecting(t, name)
			t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment=test")
			l := listening(t, ListenConfig{Insecure: true})
			conn := dial(t, l.target)
			const trace, caller = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
			ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-"+trace+"-"+caller+"-01")
			labelled := shortJob(t)
			labelled["labels"] = map[string]string{"team/x": "blue"}
			text, err := flighttest.Action(ctx, conn, protocol.ActionRecover, labelled)
			if err != nil {
				t.Fatal(err)
			}
			var run protocol.Run
			if err := decode(text, &run, ""); err != nil {
				t.Fatal(err)
			}
			if _, err := flighttest.Action(t.Context(), conn, protocol.ActionResult, run); err != nil {
				t.Fatal(err)
			}
			l.end()
			if err := <-l.ended; err != nil {
				t.Fatal(err)
			}

			if c.about["service.name"] != "gladflow" || c.about["service.version"] != job.Version() || c.about["deployment"] != "test" {
				t.Errorf("the resource is %v", c.about)
			}
			call := c.below(t, caller, flightService+"/DoAction") // that of the result has another caller
			whole := c.span(t, "run")
			if id := hex.EncodeToString(call.TraceId); id != trace {
				t.Errorf("the call is of the trace %s, not its caller's, %s", id, trace)
			}
			if string(whole.ParentSpanId) != string(call.SpanId) {
				t.Error("the run is not below its call")
			}
			about := values(whole.Attributes)
			if about["gladflow.run.id"] != run.Run || about["gladflow.state"] != string(protocol.StateDone) || whole.Status.GetCode() != traces.Status_STATUS_CODE_UNSET {
				t.Errorf("the run is %v, %v", about, whole.Status)
			}
			if about["gladflow.label.team/x"] != "blue" {
				t.Errorf("the run is %v, without its label", about)
			}
			for _, name := range []string{"reading", "solving bcd"} {
				stage := c.span(t, name)
				if string(stage.ParentSpanId) != string(whole.SpanId) || hex.EncodeToString(stage.TraceId) != trace {
					t.Errorf("%s is not below the run", name)
				}
				if stage.StartTimeUnixNano < whole.StartTimeUnixNano-uint64(5*time.Millisecond) || stage.EndTimeUnixNano > whole.EndTimeUnixNano {
					t.Errorf("%s is from %d to %d, the run from %d to %d", name,
						stage.StartTimeUnixNano, stage.EndTimeUnixNano, whole.StartTimeUnixNano, whole.EndTimeUnixNano)
				}
			}

			ended := c.metric(t, "gladflow.runs").GetSum().DataPoints
			if len(ended) != 1 || ended[0].GetAsInt() != 1 || values(ended[0].Attributes)["gladflow.state"] != "done" || len(ended[0].Attributes) != 1 {
				t.Errorf("gladflow.runs is %v", ended)
			}
			if p := c.metric(t, "gladflow.runs.active").GetSum().DataPoints; len(p) != 1 || p[0].GetAsInt() != 0 {
				t.Errorf("gladflow.runs.active is %v", p)
			}
			if m := c.metric(t, "gladflow.run.duration"); m.Unit != "s" || m.GetHistogram().DataPoints[0].Count != 1 || len(m.GetHistogram().DataPoints[0].Attributes) != 1 {
				t.Errorf("gladflow.run.duration is %v", m)
			}
			var stages []string
			for _, p := range c.metric(t, "gladflow.stage.duration").GetHistogram().DataPoints {
				v := values(p.Attributes)
				if v["gladflow.label.team/x"] != "" {
					t.Errorf("the stages are counted by label: %v", v)
				}
				stages = append(stages, v["gladflow.stage"]+" "+v["gladflow.solver"])
			}
			if !slices.Contains(stages, "solving bcd") || !slices.Contains(stages, "reading ") {
				t.Errorf("gladflow.stage.duration has %q", stages)
			}
			if p := c.metric(t, "gladflow.results.bytes").GetGauge().DataPoints; len(p) != 1 || p[0].GetAsInt() <= 0 {
				t.Errorf("gladflow.results.bytes is %v", p)
			}
		})
	}
}

// A run that fails is an error, with its reason; OTEL_SERVICE_NAME wins.
func TestExportOfAFailure(t *testing.T) {
	c := collecting(t, "http/protobuf")
	t.Setenv("OTEL_SERVICE_NAME", "networks")
	l := listening(t, ListenConfig{Insecure: true})
	conn := dial(t, l.target)
	j := shortJob(t)
	j["input"] = j["input"].(string) + ".missing"
	run := startRun(t, conn, j)
	if _, err := flighttest.Action(t.Context(), conn, protocol.ActionResult, run); err == nil {
		t.Fatal("a job without its table succeeds")
	}
	l.end()
	<-l.ended
	if c.about["service.name"] != "networks" {
		t.Errorf("the resource is %v", c.about)
	}
	whole := c.span(t, "run")
	if whole.Status.GetCode() != traces.Status_STATUS_CODE_ERROR || whole.Status.Message == "" || len(whole.Events) != 1 {
		t.Errorf("the run is %v with %v", whole.Status, whole.Events)
	}
	if about := values(whole.Attributes); about["error.type"] != protocol.ReasonInvalidJob && about["error.type"] != protocol.ReasonInvalidTable {
		t.Errorf("the run is %v", about)
	}
}

// A variable that makes no sense is logged, and the service works without.
func TestUnknownExporter(t *testing.T) {
	t.Setenv("OTEL_TRACES_EXPORTER", "pigeon")
	var log logtest.Log
	l := listening(t, ListenConfig{Insecure: true, Config: Config{Logger: hclog.New(&hclog.LoggerOptions{Output: &log})}})
	conn := dial(t, l.target)
	run := startRun(t, conn, shortJob(t))
	if _, err := flighttest.Action(t.Context(), conn, protocol.ActionResult, run); err != nil {
		t.Error(err)
	}
	l.end()
	<-l.ended
	if !strings.Contains(log.String(), "OTEL_") {
		t.Errorf("the log is %q", log.String())
	}
}

// A collector that is not there delays the end by flushTimeout at the most.
func TestCollectorThatIsNotThere(t *testing.T) {
	// It takes connections and never answers.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+silent.Addr().String())
	l := listening(t, ListenConfig{Insecure: true})
	conn := dial(t, l.target)
	run := startRun(t, conn, shortJob(t))
	if _, err := flighttest.Action(t.Context(), conn, protocol.ActionResult, run); err != nil {
		t.Error(err)
	}
	start := time.Now()
	l.end()
	<-l.ended
	if took := time.Since(start); took > flushTimeout+time.Second {
		t.Errorf("the end took %v", took)
	}
}

// Prometheus finds the same figures, and those of the process, without any
// variable.
func TestMetricsAndHealth(t *testing.T) {
	l := listening(t, ListenConfig{Insecure: true, MetricsAddress: "127.0.0.1:0"})
	base := "http://" + l.MetricsAddress()
	if code, text := fetch(t, base+"/healthz"); code != http.StatusOK || text != "ok\n" {
		t.Errorf("/healthz: %d %q", code, text)
	}
	if code, text := fetch(t, base+"/"); code != http.StatusOK || !strings.Contains(text, "/metrics") || !strings.Contains(text, "/healthz") {
		t.Errorf("/: %d %q", code, text)
	}
	if code, _ := fetch(t, base+"/other"); code != http.StatusNotFound {
		t.Errorf("/other: %d", code)
	}
	conn := dial(t, l.target)
	run := startRun(t, conn, shortJob(t))
	if _, err := flighttest.Action(t.Context(), conn, protocol.ActionResult, run); err != nil {
		t.Fatal(err)
	}
	// The end of a run is told before it is counted, one figure after the other.
	wants := []string{
		`gladflow_runs_total{gladflow_state="done"} 1`,
		"gladflow_runs_active 0\n", "gladflow_run_duration_seconds_count{", "gladflow_results_bytes ",
		`gladflow_stage_duration_seconds_count{gladflow_solver="bcd",gladflow_stage="solving"} 1`,
		"go_goroutines ", "process_resident_memory_bytes ", "rpc_server_",
	}
	var text string
	lacks := func(want string) bool { return !strings.Contains(text, want) }
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, text = fetch(t, base+"/metrics"); !slices.ContainsFunc(wants, lacks) {
			break
		}
		if time.Now().After(deadline) {
			missing := wants[slices.IndexFunc(wants, lacks)]
			t.Fatalf("/metrics lacks %q:\n%s", missing, text)
		}
	}
	// Addresses of a service without --metrics-listen.
	if plain := listening(t, ListenConfig{Insecure: true}); plain.MetricsAddress() != "" {
		t.Errorf("metrics are at %q, unasked", plain.MetricsAddress())
	}
}
