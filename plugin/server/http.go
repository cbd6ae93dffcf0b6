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

	"github.com/gladflow/gladflow/plugin/server/internal/setting"
)

// An httpServer tells monitors how the service does. All methods of nil do
// nothing.
type httpServer struct {
	server   *http.Server
	listener net.Listener
	draining atomic.Bool
	log      hclog.Logger
}

// listenHTTP takes the address for what registry holds, and for how this
// process does.
func listenHTTP(address string, registry *prometheus.Registry, log hclog.Logger) (*httpServer, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, setting.Errorf(setting.MetricsAddress, "%q is no address; write it as 127.0.0.1:9090", address)
	}
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	h := &httpServer{listener: listener, log: log}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Error}),
	}))
	mux.HandleFunc("GET /healthz", h.health)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		plain(w, http.StatusOK, "gladflow\n\n/metrics  for Prometheus\n/healthz  200 while it takes runs, 503 while it ends")
	})
	h.server = &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	return h, nil
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
	h.log.Info("metrics", "address", "http://"+h.address())
	go func() {
		if err := h.server.Serve(h.listener); !errors.Is(err, http.ErrServerClosed) {
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
