package job

import (
	"reflect"
	"strings"
)

// Stdin is the path that stands for standard input, or for the samples that a
// caller streams.
const Stdin = "-"

// File says that a field names files, and what is done with them: the tag file.
// What services allow, what is recorded without secrets, what help and
// completion say, all come from it.
type File string

// Kinds of fields that name files.
const (
	// NoFile is a field that names none.
	NoFile File = ""
	// ReadFile is a path or URL that is read; Stdin is standard input.
	ReadFile File = "read"
	// ReadFolder is a folder whose files are read.
	ReadFolder File = "read-folder"
	// ReadModel is the name of a built-in model, or the path of a model file.
	ReadModel File = "read-model"
	// WriteFile is a file that is written.
	WriteFile File = "write"
	// WriteFolder is a folder that files are written to.
	WriteFolder File = "write-folder"
)

// A NamedFile is what a field of a document names.
type NamedFile struct {
	// Key is that of the field.
	Key string
	// File is what is done with it.
	File File
	// Path is the field's value, never empty.
	Path string
}

// IsStdin reports whether it is standard input: the path Stdin of a file that is
// read. A folder or a model of that name is a file like others.
func (f NamedFile) IsStdin() bool { return f.File == ReadFile && f.Path == Stdin }

// Files lists what the fields of document, a pointer to a Job or another
// document, name, in the order of the fields. Fields that are empty are left
// out.
func Files(document any) []NamedFile {
	var files []NamedFile
	eachFile(document, func(key string, file File, path *string) {
		if *path != "" && !(file == WriteFile && *path == ReportNone) {
			files = append(files, NamedFile{key, file, *path})
		}
	})
	return files
}

func eachFile(document any, visit func(key string, file File, path *string)) {
	eachField(document, func(f reflect.StructField, v reflect.Value) {
		if file := File(f.Tag.Get("file")); file != NoFile {
			visit(keyOf(f), file, v.Addr().Interface().(*string))
		}
	})
}

// Redact replaces every path in document, a pointer to a Job or another document,
// by what redacted makes of it: arrowio.Redacted takes away what URLs may hold of
// secrets.
func Redact(document any, redacted func(path string) string) {
	eachFile(document, func(_ string, _ File, path *string) { *path = redacted(*path) })
}

// checkStdin reports the second field that names standard input.
func checkStdin(document any) error {
	first := ""
	for _, f := range Files(document) {
		switch {
		case !f.IsStdin():
		case first == "":
			first = f.Key
		default:
			return Errorf(f.Key, "standard input is the %s already; name a file", strings.ReplaceAll(first, "_", " "))
		}
	}
	return nil
}
