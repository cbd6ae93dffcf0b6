package job

import (
	"encoding/json"
	"math"
	"testing"
)

func TestMetricsRoundTrip(t *testing.T) {
	m := Metrics{{"z", 0.5}, {"a", NaN()}, {"m", 1}}
	const text = `{"z":0.5,"a":null,"m":1}`
	data, err := json.Marshal(m)
	if err != nil || string(data) != text {
		t.Fatalf("%s, %v; want %s", data, err, text)
	}
	var back Metrics
	if err := json.Unmarshal(data, &back); err != nil || len(back) != 3 || back[0] != m[0] || back[1].Key != "a" || !math.IsNaN(float64(back[1].Value)) || back[2] != m[2] {
		t.Errorf("%v, %v", back, err)
	}
	if v := back.Get("m"); v != 1 || back.Get("none").IsFinite() {
		t.Errorf("m is %v, and a key that is not there %v", v, back.Get("none"))
	}
	for _, bad := range []string{`[1]`, `{"a":"x"}`, `{"a":1`, `3`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s is read as %v", bad, back)
		}
	}
	if err := json.Unmarshal([]byte("null"), &back); err != nil || back != nil {
		t.Errorf("null: %v, %v", back, err)
	}
}

func TestMetricsBesideOthers(t *testing.T) {
	type document struct {
		Name string `json:"name"`
		N    int    `json:"n"`
	}
	d, m := document{"x", 3}, Metrics{{"auroc", 0.75}, {"aupr", NaN()}}
	data, err := m.MarshalBeside(d)
	if err != nil || string(data) != `{"name":"x","n":3,"auroc":0.75,"aupr":null}` {
		t.Fatalf("%s, %v", data, err)
	}
	var back document
	var metrics Metrics
	if err := metrics.UnmarshalBeside(data, &back, []string{"aupr", "none", "auroc"}); err != nil {
		t.Fatal(err)
	}
	if back != d || len(metrics) != 2 || metrics[0].Key != "aupr" || metrics[0].Value.IsFinite() || metrics[1] != m[0] {
		t.Errorf("%+v with %v", back, metrics)
	}
	if data, err := (Metrics)(nil).MarshalBeside(d); err != nil || string(data) != `{"name":"x","n":3}` {
		t.Errorf("without metrics: %s, %v", data, err)
	}
	if err := metrics.UnmarshalBeside([]byte(`{"name":"x","aupr":"high"}`), &back, []string{"aupr"}); err == nil {
		t.Error("a word is read as a metric")
	}
}
