package server

import (
	"os"
	"slices"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
	"github.com/gladflow/gladflow/plugin/server/internal/setting"
)

// confine opens the folder in which the files of jobs must lie. Runs open them
// through it, and nothing else.
func (s *Service) confine(folder string) error {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return setting.Errorf(setting.Files, "%s is no folder; name one, or say any or none", folder)
	}
	root, err := arrowio.OpenRoot(folder)
	if err != nil {
		return setting.Errorf(setting.Files, "the folder for files, %s: %v; make it, or choose another", folder, job.Cause(err))
	}
	s.root, s.files = root, root.Name()
	return nil
}

// checkFiles refuses a job that names files which it may not: early, and for all
// its fields. Of a folder that is a courtesy: what decides is how the run opens the
// files.
func (s *Service) checkFiles(j job.Job) error {
	if s.files == FilesAny {
		return nil
	}
	for _, f := range job.Files(&j) {
		switch {
		case f.IsStdin(): // the samples of the call
		case f.File == job.ReadModel && slices.Contains(recovery.ModelNames(), f.Path):
		case s.files == FilesNone:
			return forbidden(f.Key, "this service opens no files and URLs; stream the samples and take the results from it")
		default:
			if err := s.root.Check(f.Path); err != nil {
				return forbidden(f.Key, "%v", err)
			}
		}
	}
	return nil
}

func forbidden(field, format string, args ...any) error {
	f := fault.Field(field, format, args...)
	f.Code, f.Reason = codes.PermissionDenied.String(), protocol.ReasonForbidden
	return f
}
