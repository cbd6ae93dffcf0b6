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
// run.json has another checksum for the file, or the file bears the name of a solver
// of the run and is not listed. It is empty where there is nothing to warn of: no
// folder of a run, or a list of a name of its own.
func stale(path, sha256 string) string {
	local, ok := arrowio.LocalPath(path)
	if !ok || local == job.Stdin {
		return ""
	}
	folder, name := filepath.Split(local)
	data, err := os.ReadFile(filepath.Join(folder, job.RunFile))
	if err != nil {
		return ""
	}
	var run job.Result
	if err := json.Unmarshal(data, &run); err != nil {
		return "" // somebody else's document
	}
	solver := ""
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
		if s.Name != "" && strings.HasPrefix(name, s.Name+".") {
			solver = s.Name
		}
	}
	if solver == "" {
		return ""
	}
	return fmt.Sprintf("%s is not of the run that %s beside it tells of, which has left no such file of solver %s: it is of another run", local, job.RunFile, solver)
}
