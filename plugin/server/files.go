package server

import (
	"path/filepath"
	"slices"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/solver/glad"
)

// checkFiles refuses a job that names files which it may not.
func (s *Service) checkFiles(j job.Job) error {
	if s.files == FilesAny {
		return nil
	}
	for _, f := range job.Files(&j) {
		switch {
		case f.Path == job.Stdin: // the samples of the call
		case f.File == job.ReadModel && slices.Contains(glad.BuiltinNames(), f.Path):
		case s.files == FilesNone:
			return s.forbidden(f.Key, "this service opens no files and URLs; stream the samples and take the results from it")
		case !s.within(f.Path):
			return s.forbidden(f.Key, "this service opens files in %s only, and no URLs", s.files)
		}
	}
	return nil
}

func (s *Service) forbidden(field, format string, args ...any) error {
	f := badField(field, format, args...)
	f.Code, f.Reason = codes.PermissionDenied.String(), protocol.ReasonForbidden
	return f
}

// within reports whether a path, its symbolic links followed, lies in the
// folder for files. Of a path that is not there yet, the part that is counts.
func (s *Service) within(path string) bool {
	local, ok := arrowio.LocalPath(path)
	if !ok {
		return false
	}
	at, err := filepath.Abs(local)
	if err != nil {
		return false
	}
	rest := ""
	for {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			relative, err := filepath.Rel(s.files, filepath.Join(real, rest))
			return err == nil && filepath.IsLocal(relative)
		}
		parent := filepath.Dir(at)
		if parent == at {
			return false
		}
		at, rest = parent, filepath.Join(filepath.Base(at), rest)
	}
}
