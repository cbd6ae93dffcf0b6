package batch

import "testing"

func TestVerify(t *testing.T) {
	for _, meta := range [][]byte{nil, {1}, {0, 0, 0, 0}, {4, 0, 0, 0, 0, 0, 0, 0}, {0xFF, 0xFF, 0xFF, 0xFF}} {
		if err := VerifyMessage(meta); err == nil {
			t.Errorf("%v passes", meta)
		}
	}
	if VerifySchema("") == nil || VerifySchema("!") == nil || VerifySchema("AAAA") == nil {
		t.Error("an empty schema passes")
	}
}
