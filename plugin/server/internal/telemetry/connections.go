package telemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gladflow/gladflow/plugin/server/internal/gate"
)

// attributeReason is why a connection was closed.
const attributeReason = attribute.Key("gladflow.reason")

// MeasureConnections reports how many connections there are, and how many were
// closed by the service, by why.
func (t *Telemetry) MeasureConnections(stats func() gate.Stats) {
	if t == nil {
		return
	}
	_, err := t.meter.Int64ObservableGauge("gladflow.connections",
		metric.WithUnit("{connection}"), metric.WithDescription("Connections that there are."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(int64(stats().Open))
			return nil
		}))
	_, refused := t.meter.Int64ObservableCounter("gladflow.connections.refused",
		metric.WithUnit("{connection}"), metric.WithDescription("Connections that were closed: too many, too many by one peer, or without a call that was let in."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			r := stats().Refused
			o.Observe(r.Full, metric.WithAttributes(attributeReason.String("full")))
			o.Observe(r.FullPeer, metric.WithAttributes(attributeReason.String("peer")))
			o.Observe(r.Unproven, metric.WithAttributes(attributeReason.String("unproven")))
			return nil
		}))
	if err := errors.Join(err, refused); err != nil {
		t.log.Error("metrics are off in part", "error", err)
	}
}
