package main

import "testing"

// FuzzByteSize reads any text as a size: what is read is written and read again as
// the same.
func FuzzByteSize(f *testing.F) {
	for _, s := range []string{"0", "4096", "64MiB", "64 mib", "1.5GB", "2TiB", "-1", "NaN", "1e30", "0x10p4B", "9223372036854775807", "B", "1_000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b, again byteSize
		if b.Set(text) != nil {
			return
		}
		if b < 0 {
			t.Fatalf("%q is %d", text, b)
		}
		// Sizes beyond 2⁵³ are not whole numbers any more.
		if err := again.Set(b.String()); err != nil || b < 1<<53 && again != b {
			t.Errorf("%q is %d, written as %q, which is %d, %v", text, b, b.String(), again, err)
		}
	})
}
