package plugintest

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// describe says what the service is.
func describe(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	d, err := answer[plugin.Description](ctx, s, protocol.ActionDescribe, nil)
	fatal(t, "the action describe", err)
	if d.Protocol != protocol.Version {
		t.Errorf("describe must say protocol: %d, not %d", protocol.Version, d.Protocol)
	}
	for name, value := range map[string]float64{
		"limits.concurrent_runs": float64(d.Limits.ConcurrentRuns), "limits.message_bytes": float64(d.Limits.MessageBytes),
		"limits.upload_bytes": float64(d.Limits.UploadBytes), "limits.variables": float64(d.Limits.Variables),
		"limits.result_bytes": float64(d.Limits.ResultBytes), "limits.result_seconds": d.Limits.ResultSeconds,
		"limits.idle_seconds": d.Limits.IdleSeconds,
	} {
		if value <= 0 {
			t.Errorf("describe must say %s, which is positive; it says %v", name, value)
		}
	}
	for name, value := range map[string]string{"version": d.Version, "platform": d.Platform, "files": d.Files} {
		if value == "" {
			t.Errorf("describe must say %s", name)
		}
	}
	if d.Limits.MessageBytes < 16<<20 {
		t.Errorf("messages of 16 MiB must be taken, so that one of 5,000 variables is; limits.message_bytes is %d", d.Limits.MessageBytes)
	}
	solvers, err := answer[[]job.SolverInfo](ctx, s, protocol.ActionSolvers, nil)
	fatal(t, "the action solvers", err)
	for _, name := range []string{"glad", "bcd"} {
		if !slices.ContainsFunc(solvers, func(s job.SolverInfo) bool { return s.Name == name }) {
			t.Errorf("the action solvers must list %q, and lists %v", name, solvers)
		}
	}
	if len(d.Solvers) != len(solvers) {
		t.Errorf("describe must list the solvers that the action solvers lists, %d, and lists %d", len(solvers), len(d.Solvers))
	}
	models, err := answer[[]job.ModelInfo](ctx, s, protocol.ActionModels, nil)
	fatal(t, "the action models", err)
	if len(models) == 0 || models[0].Name == "" {
		t.Errorf("the action models must list a built-in model of GLAD, the default first, and lists %v", models)
	}
}

// listActions names every action of the protocol.
func listActions(t *testing.T, k *kit) {
	s := k.start(t)
	stream, err := s.flights.ListActions(soon(t), &flight.Empty{})
	fatal(t, "ListActions", err)
	var names []string
	for {
		a, err := stream.Recv()
		if err == io.EOF {
			break
		}
		fatal(t, "ListActions", err)
		if a.GetDescription() == "" {
			t.Errorf("the action %q must have a description", a.GetType())
		}
		names = append(names, a.GetType())
	}
	for _, name := range []string{
		protocol.ActionDescribe, protocol.ActionSchema, protocol.ActionValidate, protocol.ActionSolvers, protocol.ActionModels,
		protocol.ActionRecover, protocol.ActionLook, protocol.ActionWatch, protocol.ActionResult, protocol.ActionFile, protocol.ActionCancel, protocol.ActionForget,
	} {
		if !slices.Contains(names, name) {
			t.Errorf("ListActions must list %q, and lists %q", name, names)
		}
	}
}

// schema is the JSON Schema of a job.
func schema(t *testing.T, k *kit) {
	s := k.start(t)
	got, err := answer[struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
	}](soon(t), s, protocol.ActionSchema, nil)
	fatal(t, "the action schema", err)
	if got.Type != "object" {
		t.Errorf(`a job is an object, so its schema must have "type": "object"; it has %q`, got.Type)
	}
	var j job.Job
	for _, f := range job.Fields(&j, job.Facts{}) {
		if _, ok := got.Properties[f.Key]; !ok {
			t.Errorf("the schema must have the property %q", f.Key)
		}
	}
}

// validate returns a good job with its defaults, and refuses a bad one.
func validate(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	got, err := answer[job.Job](ctx, s, protocol.ActionValidate, fields{"penalty": 0.25})
	fatal(t, "the action validate of a good job", err)
	if !slices.Equal(got.Solvers, []string{"glad", "bcd"}) || got.Penalty != "0.25" || got.Edges != "support" || got.Correlation != "pearson" || got.Gap != 1e-6 {
		t.Errorf("validate must return the job with its defaults: penalty 0.25 as given, solvers glad and bcd, edges support, correlation pearson, gap 1e-06; it returns %+v", got)
	}
	if len(got.Model) == 0 {
		t.Error("validate must fill in the model, which has a default")
	}
	for _, c := range []struct {
		what string
		body any
		want refusal
	}{
		{"a negative penalty", fields{"penalty": -1}, field("penalty")},
		{"an unknown solver", fields{"solvers": []string{"bcd", "nothing"}}, field("solvers")},
		{"a solver named twice", fields{"solvers": []string{"bcd", "bcd"}}, field("solvers")},
		{"an unknown word", fields{"correlation": "sideways"}, field("correlation")},
		{"a text where a number belongs", fields{"gap": "small"}, field("gap")},
		{"a duration without a unit", fields{"time_limit": "90"}, field("time_limit")},
		{"an unknown key", fields{"penlty": 1}, field("penlty")},
		{"population without a reference", fields{"population": "all"}, field("population")},
		{"a job that is no JSON", `{"penalty": `, invalid(protocol.ReasonInvalidJob)},
		{"a job that is a list", `[1]`, invalid(protocol.ReasonInvalidJob)},
		{"no job at all", nil, refusal{codes: []codes.Code{codes.InvalidArgument}}},
		{"a job of 100 kB of brackets", strings.Repeat("[", 100_000), refusal{codes: []codes.Code{codes.InvalidArgument}}},
	} {
		_, err := s.act(ctx, protocol.ActionValidate, c.body)
		c.want.check(t, "validate of "+c.what, err)
	}
	s.lives(t, "bad jobs")
}

// field is the refusal of a job for one of its fields.
func field(name string) refusal {
	r := invalid(protocol.ReasonInvalidJob)
	r.field = name
	return r
}
