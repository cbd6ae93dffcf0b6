package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"io"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// A guest is a client of a listener with its credentials.
type guest struct {
	flight.Client
	ctx  context.Context
	conn *grpc.ClientConn
}

func guestOf(ctx context.Context, conn *grpc.ClientConn) guest {
	return guest{flight.NewClientFromConn(conn, nil), ctx, conn}
}

// guests are clients of a service, by what they have to show.
type guests struct {
	services *authority // signs the service's certificate
	listener *serving
}

// guest is a client with a token, or with none.
func (g *guests) guest(t *testing.T, token string, certificate *tls.Certificate) guest {
	t.Helper()
	ctx := bg(t)
	if token != "" {
		ctx = bearer(ctx, "Bearer "+token)
	}
	if g.services == nil {
		return guestOf(ctx, dial(t, g.listener.target))
	}
	c := g.services.client(t, "", "")
	if certificate != nil {
		c.Certificates = []tls.Certificate{*certificate}
	}
	return guestOf(ctx, dial(t, g.listener.target, withTLS(c)))
}

// identity is a certificate of a client for the names in a template.
func (a *authority) identity(t *testing.T, c *x509.Certificate) *tls.Certificate {
	t.Helper()
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	der, key := sign(t, c, a)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func named(name string) *x509.Certificate {
	return &x509.Certificate{Subject: pkix.Name{CommonName: name}}
}

// twoTokens are of alice and bob; alice has a second one.
const twoTokens = "# caller: alice\nalices-token\n\n# caller: alice\nalices-new-token\n# caller: bob\nbobs-token\n"

// serviceOf serves with TLS where there are clients' authorities.
func serviceOf(t *testing.T, tokens string, clients *authority, c Config) *guests {
	t.Helper()
	config := ListenConfig{Config: c, Insecure: clients == nil}
	if tokens != "" {
		config.TokenFile = tokenFile(t, tokens)
	}
	g := &guests{}
	if clients != nil {
		g.services = newAuthority(t)
		config.CertFile, config.KeyFile = g.services.pair(t, 2)
		config.ClientCAFile = clients.file
	}
	g.listener = listening(t, config)
	return g
}

// runOf is a run of a guest that has ended, or one that goes on.
func (g guest) run(t *testing.T, document string) string {
	t.Helper()
	id, err := put(g.ctx, t, g.Client, document, sampled(t, 6, 50))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := act(g.ctx, g.Client, protocol.ActionResult, `{"run":"`+id+`"}`); err != nil {
		t.Fatal(err)
	}
	return id
}

const quickJob = `{"solvers":["bcd"],"penalty":0.1}`

// probes ask for a run in every way there is: by methods of Flight, and by actions.
func methodProbes() map[string]func(guest, string) error {
	path := func(id string) *flight.FlightDescriptor {
		return &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{id}}
	}
	return map[string]func(guest, string) error{
		"ListFlights": func(g guest, id string) error {
			stream, err := g.ListFlights(g.ctx, &flight.Criteria{Expression: []byte(`{"run":"` + id + `"}`)})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"GetFlightInfo": func(g guest, id string) error {
			_, err := g.GetFlightInfo(g.ctx, path(id))
			return err
		},
		"GetSchema": func(g guest, id string) error {
			_, err := g.GetSchema(g.ctx, path(id))
			return err
		},
		"DoGet": func(g guest, id string) error {
			_, err := get(g.ctx, g.Client, protocol.Ticket{Run: id})
			return err
		},
		"DoAction": func(g guest, id string) error { return actionProbes()[protocol.ActionWatch](g, id) },
	}
}

func actionProbes() map[string]func(guest, string) error {
	probes := make(map[string]func(guest, string) error)
	for _, name := range []string{protocol.ActionWatch, protocol.ActionResult, protocol.ActionCancel, protocol.ActionForget} {
		probes[name] = func(g guest, id string) error {
			_, err := act(g.ctx, g.Client, name, `{"run":"`+id+`"}`)
			return err
		}
	}
	probes[protocol.ActionFile] = func(g guest, id string) error {
		_, err := act(g.ctx, g.Client, protocol.ActionFile, `{"run":"`+id+`","file":"report.html"}`)
		return err
	}
	return probes
}

// Every method and action is probed for the runs of others, or takes no run's name:
// one that is added must be put into either list.
func TestEveryCallIsProbed(t *testing.T) {
	noRun := []string{"DoPut", "DoExchange", "Handshake", "ListActions", "PollFlightInfo"}
	if _, err := new(Service).PollFlightInfo(t.Context(), &flight.FlightDescriptor{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("PollFlightInfo is served (%v), so it must be probed", err)
	}
	methods := reflect.TypeFor[flight.FlightServer]()
	probed := methodProbes()
	for i := range methods.NumMethod() {
		m := methods.Method(i)
		if m.PkgPath != "" { // not exported
			continue
		}
		if has := probed[m.Name] != nil; has == slices.Contains(noRun, m.Name) {
			t.Errorf("the method %s is probed: %v; it must be, or be in the list of those that take no run", m.Name, has)
		}
	}
	noRun = []string{
		protocol.ActionDescribe, protocol.ActionSchema, protocol.ActionValidate, protocol.ActionSolvers, protocol.ActionModels,
		protocol.ActionRecover, protocol.ActionLook,
	}
	actionsProbed := actionProbes()
	for _, a := range actions() {
		if has := actionsProbed[a.name] != nil; has == slices.Contains(noRun, a.name) {
			t.Errorf("the action %s is probed: %v; it must be, or be in the list of those that take no run", a.name, has)
		}
	}
}

// foreign checks that to a guest the run is one that does not exist.
func foreign(t *testing.T, g guest, id string) {
	t.Helper()
	missing := strings.Repeat("A", len(id))
	for _, probes := range []map[string]func(guest, string) error{methodProbes(), actionProbes()} {
		for name, probe := range probes {
			got := wantFault(t, probe(g, id), codes.NotFound, protocol.ReasonNotFound, "")
			want := wantFault(t, probe(g, missing), codes.NotFound, protocol.ReasonNotFound, "")
			got.Message, got.Run = strings.ReplaceAll(got.Message, id, missing), strings.ReplaceAll(got.Run, id, missing)
			if *got != *want {
				t.Errorf("%s of another's run: %+v, of none: %+v", name, got, want)
			}
		}
	}
	for _, r := range g.runs(t, "") {
		if r.Run == id {
			t.Error("ListFlights tells of another's run")
		}
	}
}

// own checks that a guest can have its run by every call.
func own(t *testing.T, g guest, id string) {
	t.Helper()
	forget := actionProbes()[protocol.ActionForget]
	for _, probes := range []map[string]func(guest, string) error{methodProbes(), actionProbes()} {
		for name, probe := range probes {
			if name == protocol.ActionForget {
				continue
			}
			if err := probe(g, id); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if !slices.ContainsFunc(g.runs(t, ""), func(r protocol.RunInfo) bool { return r.Run == id }) {
		t.Error("ListFlights does not tell of the run")
	}
	if err := forget(g, id); err != nil {
		t.Errorf("forget: %v", err)
	}
}

// runs are those that a guest is told of, by criteria.
func (g guest) runs(t *testing.T, criteria string) []protocol.RunInfo {
	t.Helper()
	stream, err := g.ListFlights(g.ctx, &flight.Criteria{Expression: []byte(criteria)})
	if err != nil {
		t.Fatal(err)
	}
	var list []protocol.RunInfo
	for {
		info, err := stream.Recv()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		var r protocol.RunInfo
		if err := json.Unmarshal(info.AppMetadata, &r); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(list, func(o protocol.RunInfo) bool { return o.Run == r.Run }) {
			list = append(list, r)
		}
	}
}

// service is what a guest is told of the service.
func (g guest) service(t *testing.T) protocol.Service {
	t.Helper()
	results, err := act(g.ctx, g.Client, protocol.ActionDescribe, "")
	if err != nil {
		t.Fatal(err)
	}
	var s protocol.Service
	if err := json.Unmarshal(results[0], &s); err != nil {
		t.Fatal(err)
	}
	return s
}
