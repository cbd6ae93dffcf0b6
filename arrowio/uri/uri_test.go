package uri

import "testing"

func TestIs(t *testing.T) {
	for word, want := range map[string]bool{
		"s3://bucket/x": true, "file:///tmp/x": true, "HTTPS://h": true, "file:/tmp/x": true, "s3:/bucket/x": true, "a.b+c-1://": true,
		"a/b": false, "/a": false, `C:/a`: false, `C:\a`: false, "c://a": false, "a:b/c": false, "./s3:/a": false, "./s3://a": false,
		"17:/a": false, "-": false, "": false, ":/x": false, "x.csv?a=http://b": false, "file:x": false,
	} {
		if Is(word) != want {
			t.Errorf("%q: %v", word, !want)
		}
	}
}
