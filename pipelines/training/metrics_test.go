package training

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

func TestFiguresRoundTrip(t *testing.T) {
	f := Figures{Examples: 4, Graphs: 2, Metrics: job.Metrics{{Key: "nmse_db", Value: -9.5}, {Key: "strict_ps", Value: 0.25}}}
	data, err := json.Marshal(f)
	if err != nil || string(data) != `{"examples":4,"graphs":2,"nmse_db":-9.5,"strict_ps":0.25}` {
		t.Fatalf("%s, %v", data, err)
	}
	var back Figures
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, f) {
		t.Errorf("%+v, %v; want %+v", back, err, f)
	}
	data, err = json.Marshal(&Result{Validation: f, RolledBack: 3})
	if err != nil || !strings.Contains(string(data), `"validation":{"examples":4`) || !strings.Contains(string(data), `"undone":3`) {
		t.Errorf("%s, %v", data, err)
	}
}

// Progress names the figure by the criterion's name: it must be a key.
func TestMetricsAndCriteriaAgree(t *testing.T) {
	selectable := 0
	for _, m := range Metrics() {
		if (m.Select == "") != (m.figure == nil) || m.Reported != (m.value != nil) {
			t.Errorf("%s: selected by %q, reported %v, without the function", m.Key, m.Select, m.Reported)
		}
		if m.Select == "" {
			continue
		}
		selectable++
		if m.Short == "" || strings.Contains(fmt.Sprintf(m.Short, 1.5), "%!") {
			t.Errorf("%s has the short form %q", m.Key, m.Short)
		}
		for _, kind := range []glad.Kind{glad.GLAD, glad.GLADPM} {
			if c := selected(m.Select, kind); c.Name != m.Key || c.Compute == nil {
				t.Errorf("%s is selected by the criterion %s", m.Key, c.Name)
			}
		}
	}
	if selectable == 0 {
		t.Error("nothing can be selected by")
	}
}

// Help quotes the settings of the default architecture.
func TestHelpQuotesThePreset(t *testing.T) {
	preset, err := train.NewPreset(defaultArchitecture, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := preset.Settings
	quoted := map[string]any{"steps": s.Steps, "batch": s.Batch, "learning_rate": s.LearningRate, "gamma": s.Loss.Gamma}
	for _, f := range job.Fields(&job.Training{}, Facts()) {
		if v, ok := quoted[f.Key]; ok && !strings.Contains(f.Description, fmt.Sprintf(" %v for %s", v, defaultArchitecture)) {
			t.Errorf("%s is %v for %s, and described by %q", f.Key, v, defaultArchitecture, f.Description)
		}
		if f.Key == "architecture" && !strings.Contains(f.Description, "without it "+defaultArchitecture+",") {
			t.Errorf("the default architecture is %s, and described by %q", defaultArchitecture, f.Description)
		}
	}
}
