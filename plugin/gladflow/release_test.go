package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/hashicorp/go-hclog"

	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/internal/built"
)

// A release has each binary by itself, not only in an archive, and SHA256SUMS has
// its sum: hosts pin that.
func TestReleaseHasSums(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Archives []struct {
			IDs     []string
			Formats []string
			Name    string `yaml:"name_template"`
		}
		Checksum struct {
			Name      string `yaml:"name_template"`
			Algorithm string
			Disable   bool
			IDs       []string
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	if c := config.Checksum; c.Name != "SHA256SUMS" || c.Algorithm != "sha256" || c.Disable || c.IDs != nil {
		t.Errorf("checksums are %+v", c)
	}
	alone := false
	for _, a := range config.Archives {
		if slices.Equal(a.Formats, []string{"binary"}) {
			alone = a.Name == "gladflow_{{ .Version }}_{{ .Os }}_{{ .Arch }}"
		}
	}
	if !alone {
		t.Errorf("the binaries are not by themselves, as gladflow_VERSION_OS_ARCH: %+v", config.Archives)
	}
}

// A host takes the sum from such a file; the plugin that it starts is still called
// gladflow by ps.
func TestHostTakesSum(t *testing.T) {
	path := built.Binary(t)
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const name = "gladflow_0.2.0_linux_amd64"
	sum := sha256.Sum256(program)
	sums := fmt.Sprintf("%s  %s\n%x  %s.tar.gz\n", hex.EncodeToString(sum[:]), name, sha256.Sum256(nil), name)
	checksum, err := plugin.ChecksumOf(strings.NewReader(sums), name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := plugin.Launch(t.Context(), plugin.Config{Path: path, Checksum: checksum, Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if runtime.GOOS != "linux" {
		return
	}
	if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", c.PID())); err != nil || string(comm) != "gladflow\n" {
		t.Errorf("the process is called %q, %v", comm, err)
	}
}
