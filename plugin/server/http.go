package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gladflow/gladflow/plugin/server/internal/gate"
	"github.com/gladflow/gladflow/plugin/server/internal/security"
	"github.com/gladflow/gladflow/plugin/server/internal/setting"
)

// An httpServer tells monitors how the service does. All methods of nil do
// nothing.
type httpServer struct {
	server   *http.Server
	listener *gate.Listener
	draining atomic.Bool
	log      hclog.Logger
}

// Bounds of the connections of monitors.
const (
	maxMonitors        = 64
	maxMonitorsPerPeer = 32
)

// listenHTTP takes the address for what registry holds, and for how this
// process does.
func listenHTTP(ctx context.Context, c *ListenConfig, p patience, registry *prometheus.Registry) (*httpServer, error) {
	guard, at, err := guardHTTP(ctx, c)
	if err != nil {
		return nil, err
	}
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	bound, err := bindTCP(ctx, setting.MetricsAddress, at)
	if err != nil {
		return nil, err
	}
	log := c.Logger
	h := &httpServer{listener: gate.New(bound, gate.Config{Most: maxMonitors, MostPerPeer: maxMonitorsPerPeer, Logger: log}), log: log}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", guard.Protect(promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Error}),
	})))
	mux.HandleFunc("GET /healthz", h.health)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		plain(w, http.StatusOK, "gladflow\n\n/metrics  for Prometheus\n/healthz  200 while it takes runs, 503 while it ends")
	})
	h.server = &http.Server{
		Handler:           mux,
		TLSConfig:         guard.TLS(),
		ReadHeaderTimeout: p.request,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaders,
		ErrorLog:          log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	return h, nil
}

// guardHTTP is who may read the metrics at an address: everyone on this machine,
// and others by the certificates and tokens of the service.
func guardHTTP(ctx context.Context, c *ListenConfig) (*security.Guard, security.Address, error) {
	at, err := security.ParseAddress(ctx, setting.MetricsAddress, c.MetricsAddress)
	switch {
	case err != nil:
		return nil, at, err
	case at.Local || c.MetricsInsecure:
		return nil, at, nil
	case c.CertFile == "" || c.TokenFile == "" && c.ClientCAFile == "":
		return nil, at, setting.Errorf(setting.MetricsAddress,
			"%s can be reached from other machines, so it needs TLS and callers who are known; listen on 127.0.0.1, give a certificate (%s, %s) with tokens (%s) or authorities of clients (%s), or show the metrics to all with %s",
			c.MetricsAddress, setting.CertFile, setting.KeyFile, setting.TokenFile, setting.ClientCAFile, setting.MetricsInsecure)
	}
	guard, err := c.security().Guard()
	return guard, at, err
}

func (h *httpServer) health(w http.ResponseWriter, _ *http.Request) {
	if h.draining.Load() {
		plain(w, http.StatusServiceUnavailable, "ending")
		return
	}
	plain(w, http.StatusOK, "ok")
}

func plain(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	fmt.Fprintln(w, text)
}

func (h *httpServer) serve() {
	if h == nil {
		return
	}
	serve, scheme := h.server.Serve, "http://"
	if h.server.TLSConfig != nil {
		scheme = "https://"
		serve = func(l net.Listener) error { return h.server.ServeTLS(l, "", "") }
	}
	h.log.Info("metrics", "address", scheme+h.address())
	go func() {
		if err := serve(h.listener); !errors.Is(err, http.ErrServerClosed) {
			h.log.Error("metrics cannot be served any more", "error", err)
		}
	}()
}

func (h *httpServer) address() string {
	if h == nil {
		return ""
	}
	return h.listener.Addr().String()
}

// drain makes /healthz say that the service ends.
func (h *httpServer) drain() {
	if h != nil {
		h.draining.Store(true)
	}
}

func (h *httpServer) close() {
	if h == nil {
		return
	}
	// A scrape under way may end.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if h.server.Shutdown(ctx) != nil {
		h.server.Close()
	}
	h.listener.Close() // for a server that never served
}
