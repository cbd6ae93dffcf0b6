package recovery

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/report/page"
	"github.com/gladflow/gladflow/pipelines/table"
)

// Report makes the page of a finished run from its run.json and its lists of edges, and from
// its reference where the file is still the same. It returns what the page does not have of
// what the run's own page has, in sentences, with the file that it has written. A list that
// is not the one that run.json tells of is left out, with a sentence. What the user can put
// right is a *job.Error.
func Report(ctx context.Context, r job.Reporting, files table.Files) (written job.WrittenFile, missing []string, err error) {
	if err := r.Validate(); err != nil {
		return written, nil, err
	}
	result, err := readResult(filepath.Join(r.Folder, job.RunFile))
	if err != nil {
		return written, nil, err
	}
	to := cmp.Or(r.Report, filepath.Join(r.Folder, job.ReportFile))
	p := &reportPage{result: result, kept: make(map[string]*kept)}
	if p.population, err = p.readReference(ctx, files); err != nil {
		return written, nil, err
	}
	if p.population != nil {
		p.known = page.KnownBy(p.population, result.Regulators != nil)
	}
	for _, s := range result.Solvers {
		if err := p.read(ctx, r.Folder, s, files); err != nil {
			return written, nil, err
		}
		if s.Course == nil && s.Iterations > 0 {
			p.missing = append(p.missing, fmt.Sprintf("How %s came to where it stopped is not shown: the run.json of %s does not have it.", s.Name, result.Version))
		}
		if s.Curves == nil && s.Metrics != nil {
			p.missing = append(p.missing, fmt.Sprintf("The curves of %s are not shown: the run.json of %s does not have them.", s.Name, result.Version))
		}
	}
	if err := keepsMore(result, r.Folder, to, p.missing); err != nil {
		return written, nil, err
	}
	file, err := output.OpenFileIn(files.Root, "report", to)
	if err != nil {
		return written, nil, err
	}
	defer file.Close()
	if written, err = file.Write(p.page().Encode); err != nil {
		file.Discard()
		return written, nil, err
	}
	written.Name = to
	return written, p.missing, nil
}

// keepsMore is the error of a page that would replace the run's own one, which is still there,
// by one that lacks what that has.
func keepsMore(result *job.Result, folder, to string, missing []string) error {
	if len(missing) == 0 {
		return nil
	}
	name := output.Beside(folder, to)
	if !slices.ContainsFunc(result.Files, func(f job.WrittenFile) bool { return f.Name == name }) {
		return nil
	}
	if _, err := os.Stat(to); err != nil {
		return nil
	}
	return job.Errorf("report", "%s is the page of the run itself, and has more than can be made of what is left; name another", to)
}

// readResult reads the document of a run.
func readResult(path string) (*job.Result, error) {
	const field = "folder"
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, job.Errorf(field, "%s is no regular file; give the folder of a finished run", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, job.FileError(field, path, err)
	}
	result := new(job.Result)
	if err := json.Unmarshal(data, result); err != nil {
		return nil, job.Errorf(field, "%s is not what a run has left (%v); give the folder of a finished run", path, err)
	}
	if result.Version == "" || result.Input.Path == "" || len(result.Variables) == 0 {
		return nil, job.Errorf(field, "%s is not what a recovery has left; give the folder of one", path)
	}
	return result, nil
}

// readReference is the population of the run's reference, nil where there was none and where
// it is not there any more.
func (p *reportPage) readReference(ctx context.Context, files table.Files) (*metric.Population, error) {
	was := p.result.Reference
	if was == nil {
		return nil, nil
	}
	var population *metric.Population
	ref, err := evaluation.ReadReference(ctx, was.Path, files)
	if err == nil && ref.SHA256 == was.SHA256 {
		population, err = ref.Population(p.result.Variables, was.Population, !was.Directed)
	}
	if ctx.Err() != nil {
		return nil, job.Interrupted(ctx)
	}
	if err != nil || population == nil {
		p.missing = append(p.missing, fmt.Sprintf("The reference %s is not there any more, or is another: edges are not compared with it, and its degrees are not shown. Paths are those of the run.", was.Path))
		return nil, nil
	}
	return population, nil
}

// read takes what a solver has left.
func (p *reportPage) read(ctx context.Context, folder string, s job.SolverResult, files table.Files) error {
	at := slices.IndexFunc(s.Files, func(f job.WrittenFile) bool {
		return strings.HasPrefix(f.Name, s.Name+"."+TableEdges+".") && !strings.HasSuffix(f.Name, ".json")
	})
	left := func(why string) error {
		if ctx.Err() != nil {
			return job.Interrupted(ctx)
		}
		p.missing = append(p.missing, fmt.Sprintf("The network of %s is not shown: %s.", s.Name, why))
		return nil
	}
	if at < 0 {
		if s.Network != nil && s.Network.Edges > 0 {
			return left("its list of edges was not written")
		}
		return nil
	}
	file := s.Files[at]
	list, err := arrowio.ReadEdges(ctx, filepath.Join(folder, file.Name), files.Lists())
	if err != nil {
		return left(fmt.Sprintf("its list of edges cannot be read (%v)", err))
	}
	if list.SHA256 != file.SHA256 {
		return left(file.Name + " is of another run, or was changed")
	}
	links, err := p.listed(s, list)
	if err != nil {
		return left(err.Error())
	}
	score := "absolute partial correlation"
	switch {
	case s.Ranking || p.result.Regulators != nil:
		score = "score"
	case s.Score == job.ScoreProbability:
		score = "probability of an edge"
	}
	p.add(s, links, score, p.regulators(ctx, list, files))
	return nil
}

// listed are the edges of a list that the page draws: of a list of more than the solver's
// edges the first so many, and of a ranking as many as its run's page draws.
func (p *reportPage) listed(s job.SolverResult, list *arrowio.EdgeList) (*page.Strongest, error) {
	at := table.Positions(p.result.Variables)
	names := p.result.Variables
	n, limit := list.Len(), 0
	switch {
	case s.Ranking || p.result.Regulators != nil:
		limit = len(names)
		if ref := p.result.Reference; ref != nil {
			limit = ref.Positives
		}
		limit = min(limit, job.MostRanked)
	case p.result.Job.Edges != job.EdgesSupport:
		n = min(n, s.Edges)
	}
	type ends struct{ i, j int }
	rows := make(map[ends]int, n)
	var sure []page.Sure
	for _, c := range list.Confidence.Columns() {
		values := c.Values.([]float64)
		sure = append(sure, page.Sure{Name: c.Name, Of: func(l page.Link) float64 { return values[rows[ends{l.I, l.J}]] }})
	}
	links := page.NewStrongest(len(names), limit, sure...)
	for k := range n {
		i, known := at[list.Source[k]]
		j, too := at[list.Target[k]]
		if !known || !too || i == j {
			return nil, fmt.Errorf("its list of edges names %q and %q, which are not two variables of the run", list.Source[k], list.Target[k])
		}
		if p.result.Regulators == nil && i > j {
			i, j = j, i
		}
		l := page.Link{I: i, J: j, Score: float64(n-k) / float64(n)}
		if list.Score != nil {
			l.Score = list.Score[k]
		}
		if list.Sign != nil {
			l.Sign = int(list.Sign[k])
		}
		rows[ends{i, j}] = k
		links.Add(l)
	}
	if n < s.Edges && limit == 0 {
		p.missing = append(p.missing, fmt.Sprintf("Of %s the %d edges are shown that its list has, of %d.", s.Name, n, s.Edges))
	}
	return links, nil
}

// regulators are the names of the run's list or, where it is not there any more, those at
// which edges of the list start.
func (p *reportPage) regulators(ctx context.Context, list *arrowio.EdgeList, files table.Files) []string {
	was := p.result.Regulators
	if was == nil {
		return nil
	}
	if names, err := arrowio.ReadNames(ctx, was.Path, files.Lists()); err == nil && names.SHA256 == was.SHA256 {
		return names.Names
	}
	return list.Source
}
