package telemetry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/metric"
	metricnone "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracenone "go.opentelemetry.io/otel/trace/noop"

	"github.com/gladflow/gladflow/pipelines/job"
)

// exported says whether the environment asks for a signal, TRACES or METRICS.
// OpenTelemetry's own default, to export to an endpoint on this machine, is
// not ours: nothing goes anywhere unasked.
func exported(signal string) bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return false
	}
	if exporter := exporterOf(signal); exporter != "" {
		return exporter != "none"
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
}

func exporterOf(signal string) string { return os.Getenv("OTEL_" + signal + "_EXPORTER") }

// providers are where spans and instruments come from; those of a signal that
// is off make nothing.
type providers struct {
	traces  trace.TracerProvider
	metrics metric.MeterProvider
	ends    []func(context.Context) error
}

// newProviders always returns providers that can be used; an error says what
// they cannot do.
func newProviders(ctx context.Context, c Config, traces, metrics bool) (providers, error) {
	p := providers{traces: tracenone.NewTracerProvider(), metrics: metricnone.NewMeterProvider()}
	about, err := exporting(ctx)
	errs := []error{err}
	if traces {
		exporter, err := spanExporter(ctx, c)
		if err != nil {
			errs = append(errs, fmt.Errorf("traces: %w", err))
		} else {
			provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
			p.traces, p.ends = provider, append(p.ends, provider.Shutdown)
		}
	}
	options := []sdkmetric.Option{sdkmetric.WithResource(about)}
	if metrics {
		reader, err := metricReader(ctx, c)
		if err != nil {
			errs = append(errs, fmt.Errorf("metrics: %w", err))
		} else {
			options = append(options, sdkmetric.WithReader(reader))
		}
	}
	if c.Registry != nil {
		reader, err := prometheus.New(prometheus.WithRegisterer(c.Registry), prometheus.WithoutScopeInfo())
		if err != nil {
			errs = append(errs, fmt.Errorf("metrics for Prometheus: %w", err))
		} else {
			options = append(options, sdkmetric.WithReader(reader))
		}
	}
	if len(options) > 1 {
		provider := sdkmetric.NewMeterProvider(options...)
		p.metrics, p.ends = provider, append(p.ends, provider.Shutdown)
	}
	return p, errors.Join(errs...)
}

// exporting says what exports; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES
// win.
func exporting(ctx context.Context) (*resource.Resource, error) {
	return resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(
			attribute.String("service.name", "gladflow"),
			attribute.String("service.version", job.Version()),
		),
		resource.WithFromEnv(),
	)
}

// console is the exporter that writes for people to read.
const console = "console"

func spanExporter(ctx context.Context, c Config) (sdktrace.SpanExporter, error) {
	if exporterOf("TRACES") == console && c.Console != nil {
		return stdouttrace.New(stdouttrace.WithWriter(c.Console))
	}
	return autoexport.NewSpanExporter(ctx)
}

func metricReader(ctx context.Context, c Config) (sdkmetric.Reader, error) {
	if exporterOf("METRICS") == console && c.Console != nil {
		exporter, err := stdoutmetric.New(stdoutmetric.WithWriter(c.Console))
		if err != nil {
			return nil, err
		}
		return sdkmetric.NewPeriodicReader(exporter), nil
	}
	return autoexport.NewMetricReader(ctx)
}

func (p *providers) shutdown(ctx context.Context) error {
	// At once: neither may use up the other's time.
	errs := make(chan error, len(p.ends))
	for _, end := range p.ends {
		go func() { errs <- end(ctx) }()
	}
	var all []error
	for range p.ends {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}
