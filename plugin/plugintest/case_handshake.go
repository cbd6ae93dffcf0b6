package plugintest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// The handshake is the first and only thing on standard output, a service is
// behind its address, with mutual TLS if the host has a certificate, and it
// ends when it is told to.
func handshake(t *testing.T, k *kit) {
	b := k.bare(t, false)
	ctx := soon(t)
	_, err := b.act(ctx, protocol.ActionDescribe, nil)
	fatal(t, "the action describe", err)
	b.lives(t, "describe")
	if k.mutualTLS {
		b.shutsOthersOut(ctx, t)
	}
	b.shutDown(ctx, t, k.endWithin)
	nothingLeft(t, k, "Shutdown", b.temp, "")
	<-b.copied
	if rest := b.rest.String(); rest != "" {
		t.Errorf("nothing may follow the handshake on standard output, where hosts do not look; there is %.200q", rest)
	}
}

// shutsOthersOut fails if a caller without the host's certificate is let in.
func (b *bare) shutsOthersOut(ctx context.Context, t *testing.T) {
	stranger := newIdentity(t)
	parts := handshakeForm.FindStringSubmatch(b.handshake)
	wrong, err := stranger.credentials(parts[4])
	fatal(t, "the certificate of the handshake", err)
	for what, c := range map[string]grpc.DialOption{
		"with another certificate than the host's": grpc.WithTransportCredentials(wrong),
		"without TLS": grpc.WithTransportCredentials(insecure.NewCredentials()),
	} {
		conn, err := grpc.NewClient(b.conn.Target(), c)
		fatal(t, "connecting", err)
		_, err = grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
		conn.Close()
		if err == nil {
			t.Errorf("with mutual TLS a caller %s must not be let in", what)
		}
	}
}

// Without the cookie, or with another, the binary is not a plugin.
func noCookie(t *testing.T, k *kit) {
	for _, cookie := range []string{"", protocol.CookieKey + "=another"} {
		temp := temporary(t)
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		cmd := exec.CommandContext(ctx, k.path, k.args...)
		for _, v := range append(append(os.Environ(), k.env...), "TMPDIR="+temp, cookie) {
			if v != "" && (v == cookie || !strings.HasPrefix(v, protocol.CookieKey+"=")) {
				cmd.Env = append(cmd.Env, v)
			}
		}
		cmd.WaitDelay = time.Second
		out, err := cmd.StdoutPipe()
		fatal(t, "a pipe", err)
		fatal(t, "starting the binary", cmd.Start())
		context.AfterFunc(ctx, func() { out.Close() }) // a child of the binary may have it too
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if handshakeForm.MatchString(strings.TrimSpace(lines.Text())) {
				t.Errorf("without the right cookie in its environment (%q) the binary must not serve as a plugin; it prints %q", cookie, lines.Text())
				break
			}
		}
		cancel()
		_ = cmd.Wait() // it may end as it likes, and may have to be killed
	}
}

// Every line on standard error is one of hclog's in JSON, which go-plugin's
// hosts understand.
func logLines(t *testing.T, k *kit) {
	b := k.bare(t, false)
	b.lives(t, "the start")
	_, err := b.act(soon(t), protocol.ActionResult, protocol.Run{Run: "nobody"})
	if err == nil {
		t.Error("the action result of a run that is not there must be refused")
	}
	b.shutDown(soon(t), t, k.endWithin)
	<-b.copied
	s := bufio.NewScanner(strings.NewReader(b.stderr.String()))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var entry struct {
			Message *string `json:"@message"`
			Level   string  `json:"@level"`
		}
		line := bytes.TrimSpace(s.Bytes())
		if err := json.Unmarshal(line, &entry); err != nil || entry.Message == nil || entry.Level == "" {
			t.Errorf("every line on standard error must be a JSON object with @level and @message, as hclog writes it; there is %.200q", line)
		}
	}
}

// An interrupt from the terminal goes to the host and its plugins alike, and is
// the host's to act on. go-plugin's servers take notice a moment after the
// handshake, so a call comes first.
func interrupt(t *testing.T, k *kit) {
	needsSignals(t)
	b := k.bare(t, false)
	b.lives(t, "the start")
	for range 3 {
		fatal(t, "interrupting", b.cmd.Process.Signal(os.Interrupt))
		time.Sleep(20 * time.Millisecond)
		if _, err := b.act(soon(t), protocol.ActionSolvers, nil); err != nil {
			t.Fatalf("an interrupt is the host's to act on, so the binary must go on after one; the action solvers fails: %v", err)
		}
	}
	b.shutDown(soon(t), t, k.endWithin)
}

// go-plugin pings by the health service.
func health(t *testing.T, k *kit) {
	b := k.bare(t, false)
	r, err := grpc_health_v1.NewHealthClient(b.conn).Check(soon(t), &grpc_health_v1.HealthCheckRequest{Service: healthName})
	if err != nil || r.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("grpc.health.v1.Health/Check of %q must be SERVING; it is %v, %v", healthName, r.GetStatus(), err)
	}
	b.shutDown(soon(t), t, k.endWithin)
}
