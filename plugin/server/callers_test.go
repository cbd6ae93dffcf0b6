package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/internal/logtest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// shown is what a guest shows of itself.
type shown struct {
	token string
	names *x509.Certificate
}

// A run belongs to the caller that its token, its certificate or both name.
func TestCallersAreApart(t *testing.T) {
	spiffe, err := url.Parse("spiffe://example.org/alice")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		tokens       string
		certificates bool
		shared       bool
		// guests have a token and a certificate; the first starts the run.
		guests []shown
		same   []bool // which of the others are the first
		caller string // what the first is called, before a hash
	}{
		"tokens": {
			tokens: twoTokens,
			guests: []shown{{"alices-token", nil}, {"bobs-token", nil}, {"alices-new-token", nil}},
			same:   []bool{true, false, true}, caller: "token:alice",
		},
		"tokens without names": {
			tokens: "one\ntwo\n",
			guests: []shown{{"one", nil}, {"two", nil}, {"one", nil}},
			same:   []bool{true, false, true}, caller: "token:sha256:",
		},
		"certificates": {
			certificates: true,
			guests:       []shown{{"", &x509.Certificate{URIs: []*url.URL{spiffe}}}, {"", named("bob")}, {"", &x509.Certificate{URIs: []*url.URL{spiffe}, DNSNames: []string{"elsewhere"}}}},
			same:         []bool{true, false, true}, caller: "certificate:uri:spiffe://example.org/alice@",
		},
		"both": {
			tokens: twoTokens, certificates: true,
			guests: []shown{{"alices-token", named("gate")}, {"bobs-token", named("gate")}, {"alices-token", named("other")}, {"alices-new-token", named("gate")}},
			same:   []bool{true, false, false, true}, caller: "token:alice+certificate:cn:gate@",
		},
		"neither": {
			guests: make([]shown, 2),
			same:   []bool{true, true},
		},
		"shared": {
			tokens: twoTokens, shared: true,
			guests: []shown{{"alices-token", nil}, {"bobs-token", nil}},
			same:   []bool{true, true}, caller: "token:alice",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var clients *authority
			if test.certificates {
				clients = newAuthority(t)
			}
			g := serviceOf(t, test.tokens, clients, Config{SharedRuns: test.shared})
			var all []guest
			for _, who := range test.guests {
				var certificate *tls.Certificate
				if who.names != nil {
					certificate = clients.identity(t, who.names)
				}
				all = append(all, g.guest(t, who.token, certificate))
			}
			s := all[0].service(t)
			if !strings.HasPrefix(s.Caller, test.caller) || (s.Caller == "") != (test.caller == "") || strings.Contains(s.Caller, "alices-") {
				t.Errorf("the caller is %q, want %q", s.Caller, test.caller)
			}
			if known := s.Caller != ""; s.SharedRuns != test.shared || (s.Limits.RunsPerCaller == 16) != known || (s.Limits.UploadsPerCaller == 16) != known || (s.Limits.ResultBytesPerCaller == 1<<29) != known {
				t.Errorf("%+v", s)
			}
			for i, who := range all {
				id := all[0].run(t, quickJob)
				if test.same[i] {
					own(t, who, id)
				} else {
					foreign(t, who, id)
					if _, err := act(all[0].ctx, all[0].Client, protocol.ActionForget, `{"run":"`+id+`"}`); err != nil {
						t.Errorf("the run of the first after another has probed: %v", err)
					}
				}
			}
		})
	}
}

// A connection that resumes a session of TLS is of the same caller.
func TestCallerOfAResumedSession(t *testing.T) {
	clients := newAuthority(t)
	g := serviceOf(t, "", clients, Config{})
	c := g.services.client(t, "", "")
	c.Certificates = []tls.Certificate{*clients.identity(t, named("alice"))}
	c.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	first := guestOf(bg(t), dial(t, g.listener.target, withTLS(c)))
	id := first.run(t, quickJob)
	own(t, guestOf(bg(t), dial(t, g.listener.target, withTLS(c))), id)
}

// What another's cancel and forget leave alone goes on.
func TestRunsAtWorkAreNotEndedByOthers(t *testing.T) {
	g := serviceOf(t, twoTokens, nil, Config{})
	alice, bob := g.guest(t, "alices-token", nil), g.guest(t, "bobs-token", nil)
	text, err := flighttest.Action(alice.ctx, alice.conn, protocol.ActionRecover, longJob(t))
	if err != nil {
		t.Fatal(err)
	}
	var r protocol.Run
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	foreign(t, bob, r.Run)
	if list := alice.runs(t, ""); len(list) != 1 || list[0].State.Ended() {
		t.Errorf("alice's run after bob's cancel and forget: %+v", list)
	}
	if err := actionProbes()[protocol.ActionCancel](alice, r.Run); err != nil {
		t.Error(err)
	}
}

// A name stays the caller when its token is replaced in the file.
func TestRotatedToken(t *testing.T) {
	path := tokenFile(t, "# caller: alice\nold\n# caller: bob\nbobs-token\n")
	g := &guests{listener: listening(t, ListenConfig{Insecure: true, TokenFile: path})}
	id := g.guest(t, "old", nil).run(t, quickJob)
	if err := os.WriteFile(path, []byte("# caller: alice\nnew-token\n# caller: bob\nbobs-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	alice := g.guest(t, "new-token", nil)
	eventually(t, "the new token is unknown", func() bool {
		_, err := act(alice.ctx, alice.Client, protocol.ActionSolvers, "")
		return err == nil
	})
	foreign(t, g.guest(t, "bobs-token", nil), id)
	own(t, alice, id)
}

// The quotas of a caller are its own, and describe tells them.
func TestQuotasOfCallers(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	config := Config{Limits: protocol.Limits{ConcurrentRuns: 4, UploadsPerCaller: 1}, Caller: func(ctx context.Context) string {
		return metadata.ValueFromIncomingContext(ctx, "who")[0]
	}}
	exchanging := make(chan struct{}, 2)
	_, c := servedWith(t, config, until(release), grpc.ChainStreamInterceptor(
		func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if strings.HasSuffix(info.FullMethod, "/DoExchange") {
				exchanging <- struct{}{}
			}
			return next(service, stream)
		}))
	as := func(who string) guest {
		return guest{Client: c, ctx: metadata.AppendToOutgoingContext(bg(t), "who", who)}
	}
	alice, bob := as("alice"), as("bob")
	table := sampled(t, 3, 10)
	for range 2 {
		if _, err := put(alice.ctx, t, c, `{}`, table); err != nil {
			t.Fatal(err)
		}
	}
	_, err := put(alice.ctx, t, c, `{}`, table)
	if f := wantFault(t, err, codes.ResourceExhausted, protocol.ReasonLimit, ""); !strings.Contains(f.Message, "2 runs of this caller") || !strings.Contains(f.Message, "runs_per_caller") {
		t.Error(f.Message)
	}
	if _, err := put(bob.ctx, t, c, `{}`, table); err != nil {
		t.Errorf("bob, beside alice's two of four: %v", err)
	}
	// A call that has not sent anything yet, and one that sends back what it takes,
	// are uploads too.
	for _, d := range []*flight.FlightDescriptor{nil, {Type: flight.DescriptorPATH, Path: []string{protocol.PathEcho}}} {
		ctx, cancel := context.WithCancel(bob.ctx)
		stream, err := c.DoExchange(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if d != nil {
			w := flight.NewRecordWriter(stream, ipc.WithSchema(table.Schema()))
			w.SetFlightDescriptor(d)
			if err := w.Write(table); err != nil {
				t.Fatal(err)
			}
		}
		<-exchanging
		eventually(t, "a second upload is not refused", func() bool {
			_, err = put(bob.ctx, t, c, `{`, table) // no job: it never runs
			return protocol.FaultOf(err).Reason == protocol.ReasonLimit
		})
		if f := wantFault(t, err, codes.ResourceExhausted, protocol.ReasonLimit, ""); !strings.Contains(f.Message, "uploads_per_caller") {
			t.Error(f.Message)
		}
		_, err = put(as("carol").ctx, t, c, `{`, table)
		wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidJob, "")
		cancel()
		eventually(t, "the upload that has ended counts", func() bool {
			_, err = put(bob.ctx, t, c, `{`, table)
			return protocol.FaultOf(err).Reason == protocol.ReasonInvalidJob
		})
	}
	if l := bob.service(t).Limits; l.RunsPerCaller != 2 || l.UploadsPerCaller != 1 || l.ResultBytesPerCaller != l.ResultBytes/2 {
		t.Errorf("%+v", l)
	}
}

// Without identities nobody has a quota that he is not given.
func TestQuotasWithoutCallers(t *testing.T) {
	for given, want := range map[protocol.Limits]protocol.Limits{
		{}: {},
		{RunsPerCaller: 3, ResultBytesPerCaller: 5}: {RunsPerCaller: 3, ResultBytesPerCaller: 5},
		{RunsPerCaller: 300}:                        {RunsPerCaller: 32},
	} {
		l := withCallerQuotas(withDefaults(given), false)
		if l.RunsPerCaller != want.RunsPerCaller || l.UploadsPerCaller != want.UploadsPerCaller || l.ResultBytesPerCaller != want.ResultBytesPerCaller {
			t.Errorf("%+v: %+v", given, l)
		}
	}
	if l := withCallerQuotas(withDefaults(protocol.Limits{ConcurrentRuns: 1, ResultBytes: 1}), true); l.RunsPerCaller != 1 || l.UploadsPerCaller != 1 || l.ResultBytesPerCaller != 1 {
		t.Errorf("of one run: %+v", l)
	}
}

// The lines of a run name its caller, and no line has a token.
func TestLogNamesTheCaller(t *testing.T) {
	var log logtest.Log
	logger := hclog.New(&hclog.LoggerOptions{Output: &log, JSONFormat: true})
	g := serviceOf(t, twoTokens+"secret-token\n", nil, Config{Logger: logger})
	g.guest(t, "alices-token", nil).run(t, quickJob)
	g.guest(t, "secret-token", nil).run(t, quickJob)
	// The end of a run is told before it is logged.
	eventually(t, "the runs have not ended", func() bool { return strings.Count(log.String(), "run ended") == 2 })
	for _, message := range []string{"run started", "run ended"} {
		var callers []string
		for line := range strings.Lines(log.String()) {
			var entry struct {
				Message string `json:"@message"`
				Caller  string
			}
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				t.Fatal(err)
			}
			if entry.Message == message {
				callers = append(callers, entry.Caller)
			}
		}
		if len(callers) != 2 || callers[0] != "token:alice" || !strings.HasPrefix(callers[1], "token:sha256:") {
			t.Errorf("%q of %q", message, callers)
		}
	}
	if text := log.String(); strings.Contains(text, "alices-token") || strings.Contains(text, "secret-token") {
		t.Errorf("the log has a token:\n%s", text)
	}
}
