package server

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// A collector keeps what is exported to it.
type collector struct {
	collectortrace.UnimplementedTraceServiceServer
	mu      sync.Mutex
	spans   []*traces.Span
	metrics []*metrics.Metric
	about   map[string]string // of the resource
}

func (c *collector) takeTraces(r *collectortrace.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range r.ResourceSpans {
		c.about = values(of.Resource.Attributes)
		for _, s := range of.ScopeSpans {
			c.spans = append(c.spans, s.Spans...)
		}
	}
}

func (c *collector) takeMetrics(r *collectormetrics.ExportMetricsServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range r.ResourceMetrics {
		for _, s := range of.ScopeMetrics {
			c.metrics = append(c.metrics, s.Metrics...)
		}
	}
}

// Export implements the service of traces.
func (c *collector) Export(_ context.Context, r *collectortrace.ExportTraceServiceRequest) (*collectortrace.ExportTraceServiceResponse, error) {
	c.takeTraces(r)
	return &collectortrace.ExportTraceServiceResponse{}, nil
}

// metricsCollector is the service of metrics, whose method is called the same.
type metricsCollector struct {
	collectormetrics.UnimplementedMetricsServiceServer
	*collector
}

// Export implements the service of metrics.
func (c metricsCollector) Export(_ context.Context, r *collectormetrics.ExportMetricsServiceRequest) (*collectormetrics.ExportMetricsServiceResponse, error) {
	c.takeMetrics(r)
	return &collectormetrics.ExportMetricsServiceResponse{}, nil
}

// ServeHTTP takes OTLP over HTTP.
func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		var err error
		if body, err = gzip.NewReader(body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	text, err := io.ReadAll(body)
	var spans collectortrace.ExportTraceServiceRequest
	var figures collectormetrics.ExportMetricsServiceRequest
	switch {
	case err != nil:
	case r.URL.Path == "/v1/traces":
		if err = proto.Unmarshal(text, &spans); err == nil {
			c.takeTraces(&spans)
		}
	case r.URL.Path == "/v1/metrics":
		if err = proto.Unmarshal(text, &figures); err == nil {
			c.takeMetrics(&figures)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// span is the only span of that name. Where several may have it, as calls of one
// method, use below: they arrive in any order.
func (c *collector) span(t testing.TB, name string) *traces.Span {
	t.Helper()
	return c.only(t, name, func(*traces.Span) bool { return true })
}

// below is the only span of that name whose parent has that id.
func (c *collector) below(t testing.TB, parent, name string) *traces.Span {
	t.Helper()
	return c.only(t, name, func(s *traces.Span) bool { return hex.EncodeToString(s.ParentSpanId) == parent })
}

func (c *collector) only(t testing.TB, name string, wanted func(*traces.Span) bool) *traces.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	var found []*traces.Span
	for _, s := range c.spans {
		if s.Name == name && wanted(s) {
			found = append(found, s)
		}
		names = append(names, s.Name+" below "+hex.EncodeToString(s.ParentSpanId))
	}
	if len(found) != 1 {
		t.Fatalf("there are %d such spans %q among %q, not one", len(found), name, names)
	}
	return found[0]
}

func (c *collector) metric(t testing.TB, name string) *metrics.Metric {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range slices.Backward(c.metrics) {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("there is no metric %q among %d", name, len(c.metrics))
	return nil
}

func values(all []*common.KeyValue) map[string]string {
	m := make(map[string]string)
	for _, kv := range all {
		m[kv.Key] = kv.Value.GetStringValue()
	}
	return m
}

// collecting starts a collector, sets the environment for it and returns it.
func collecting(t *testing.T, protocol string) *collector {
	c := &collector{}
	var endpoint string
	switch protocol {
	case "http/protobuf":
		s := httptest.NewServer(c)
		// The exporter keeps connections, beyond its own end.
		s.Config.SetKeepAlivesEnabled(false)
		t.Cleanup(s.Close)
		endpoint = s.URL
	case "grpc":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := grpc.NewServer()
		collectortrace.RegisterTraceServiceServer(s, c)
		collectormetrics.RegisterMetricsServiceServer(s, metricsCollector{collector: c})
		go s.Serve(l)
		t.Cleanup(s.Stop)
		endpoint = "http://" + l.Addr().String()
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
	return c
}
