package main

import (
	"os"
	"testing"

	"github.com/gladflow/gladflow/plugin/internal/built"
	"github.com/gladflow/gladflow/plugin/plugintest"
)

// TestMain removes the binary. Started again by TestKillHost it is a host.
func TestMain(m *testing.M) {
	if os.Getenv(hostVariable) != "" {
		os.Exit(beHost())
	}
	if os.Getenv(deafVariable) != "" {
		os.Exit(beDeaf())
	}
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// The binary is a plugin as package protocol has it, with mutual TLS and
// without.
func TestConformance(t *testing.T) {
	path := built.Binary(t)
	t.Run("mutual TLS", func(t *testing.T) { plugintest.Run(t, path) })
	t.Run("no TLS", func(t *testing.T) {
		if os.Getenv("GLADFLOW_LONG") == "" {
			t.Skip("takes as long again; set GLADFLOW_LONG=1 to run it")
		}
		plugintest.Run(t, path, plugintest.WithoutMTLS())
	})
}
