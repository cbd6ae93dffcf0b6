package server

import (
	"strings"
	"testing"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// What is wrong with a message is said in English.
func TestUndecodable(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:            "the message is an array; send a run as JSON",
		`"x"`:           "the message is a string;",
		`{"run":[]}`:    "the message has an array as its run;",
		`{"run":{}}`:    "the message has an object as its run;",
		`{"run":1}`:     "the message has a number as its run;",
		`{"run":true}`:  "the message has a bool as its run;",
		`{"walk":"x"}`:  `the message has the key "walk", which is unknown;`,
		`{"run":"x"} 1`: "something follows the message;",
		``:              "the message is empty;",
		`{"run"`:        "the message is cut short;",
	} {
		var run protocol.Run
		if err := decode([]byte(text), &run, "a run"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
