package server

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
	"github.com/gladflow/gladflow/solver/glad"
)

// confine makes folder the one in which the files of jobs must lie.
func (s *Service) confine(folder string) error {
	real, err := filepath.Abs(folder)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return fmt.Errorf("the folder for files, %s: %w; make it, or choose another", folder, job.Cause(err))
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder; name one, or say any or none", folder)
	}
	s.files = real
	return nil
}

// checkFiles refuses a job that names files which it may not.
func (s *Service) checkFiles(j job.Job) error {
	if s.files == FilesAny {
		return nil
	}
	for _, f := range job.Files(&j) {
		switch {
		case f.IsStdin(): // the samples of the call
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
	f := fault.Field(field, format, args...)
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
