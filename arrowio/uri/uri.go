// Package uri tells URLs from paths of files. It links nothing, for those who only
// name files.
//
//	if uri.Is("s3://bucket/table.parquet") { … }
package uri

import "regexp"

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:/`)

// Is reports whether a word that names a file is a URL, as those who give it mean it:
// file:/tmp/x is one too (RFC 8089), and so is s3:/bucket, which was cleaned like a
// path. One letter before the colon is a drive. A file whose path begins like a URL has
// a name all the same: ./s3:/x.
func Is(word string) bool { return scheme.MatchString(word) }
