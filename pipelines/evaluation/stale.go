package evaluation

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
)

// stale is a warning that a list is not of the run that its folder tells of, for
// run.json has another checksum for the file, or the file has the name of the edges
// of a solver of the job, or of the solver that the list says it is of, and is not
// listed. It is empty where there is nothing to warn of: no folder of a run, or a list
// of a name of its own.
func stale(path, sha256, of string) string {
	local, ok := arrowio.LocalPath(path)
	if !ok || local == job.Stdin {
		return ""
	}
	folder, name := filepath.Split(local)
	document := filepath.Join(folder, job.RunFile)
	if info, err := os.Stat(document); err != nil || !info.Mode().IsRegular() {
		return "" // a pipe would keep the reader waiting
	}
	data, err := os.ReadFile(document)
	if err != nil {
		return ""
	}
	var run job.Result
	if err := json.Unmarshal(data, &run); err != nil {
		return "" // somebody else's document
	}
	for _, s := range run.Solvers {
		for _, f := range s.Files {
			if f.Name != name {
				continue
			}
			if f.SHA256 == "" || f.SHA256 == sha256 {
				return ""
			}
			return fmt.Sprintf("%s is not the file that %s beside it lists, for its checksum is another: it is of another run, or was changed", local, job.RunFile)
		}
	}
	solvers := run.Job.Solvers
	if run.Version != "" && of != "" { // the document of a run that may not have run it
		solvers = append(solvers, of)
	}
	for _, solver := range solvers {
		if strings.HasPrefix(name, solver+".edges.") {
			return fmt.Sprintf("%s is not listed by %s beside it, whose run has left no such file of solver %s: it is of another run", local, job.RunFile, solver)
		}
	}
	return ""
}
