package experiment

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

func scaling() Experiment {
	return Experiment{
		Name:  "scaling",
		Title: "time and memory as variables, samples and threads grow",
		Run:   runScaling,
	}
}

// scalingGap is the relative duality gap of classical solvers here: times at a smaller one
// grow alike.
const scalingGap = 1e-4

// A growth is the cost of some work at growing sizes.
type growth struct {
	name    string
	threads int
	sizes   []int
	seconds []float64
	bytes   []float64 // NaN where the system does not tell
}

func (g *growth) add(size int, seconds, bytes float64) {
	g.sizes, g.seconds, g.bytes = append(g.sizes, size), append(g.seconds, seconds), append(g.bytes, bytes)
}

// next is the time that the size after the last one will take at most: by cubes.
func (g *growth) next(size int) float64 {
	if len(g.sizes) == 0 {
		return 0
	}
	last := len(g.sizes) - 1
	return g.seconds[last] * math.Pow(float64(size)/float64(g.sizes[last]), 3)
}

// exponent is the slope of log y over log size from a size on, with its standard error;
// NaN of fewer than three sizes.
func (g *growth) exponent(y []float64, from int) (slope, standardError float64) {
	var u, v []float64
	for i, size := range g.sizes {
		if size >= from && y[i] > 0 {
			u, v = append(u, math.Log(float64(size))), append(v, math.Log(y[i]))
		}
	}
	n := float64(len(u))
	if n < 3 {
		return math.NaN(), math.NaN()
	}
	var mu, mv, uu, uv, rest float64
	for i := range u {
		mu, mv = mu+u[i]/n, mv+v[i]/n
	}
	for i := range u {
		uu, uv = uu+(u[i]-mu)*(u[i]-mu), uv+(u[i]-mu)*(v[i]-mv)
	}
	slope = uv / uu
	for i := range u {
		d := v[i] - mv - slope*(u[i]-mu)
		rest += d * d
	}
	return slope, math.Sqrt(rest / (n - 2) / uu)
}

func runScaling(ctx context.Context, r *Run) (*Report, error) {
	sizes := choose(r, []int{100, 250, 500, 1000, 2000, 4000}, []int{30, 60, 120})
	from := choose(r, 500, 30) // below it, what takes long is not the products
	limit := choose(r, 40.0, 2.0)
	threads := []int{1}
	if n := dense.Threads(r.engine()); n > 1 {
		threads = append(threads, n)
	}
	folder, err := os.MkdirTemp("", "gladflow-scaling-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	work := scalingWork{r: r, folder: folder, limit: limit}
	var solvers []*growth
	for _, name := range recovery.SelfSufficient() {
		for _, n := range threads {
			solvers = append(solvers, &growth{name: name, threads: n})
		}
	}
	for i, d := range sizes {
		if err := work.solvers(ctx, solvers, d, float64(i)/float64(len(sizes)+1)); err != nil {
			return nil, err
		}
	}
	reading, err := work.reading(ctx, threads, choose(r, []int{2000, 20_000, 200_000}, []int{100, 200, 400}), readVariables(r))
	if err != nil {
		return nil, err
	}
	return scalingReport(r, solvers, reading, sizes, from, limit), nil
}

// engineName is the engine as a job names it.
func (r *Run) engineName() string {
	if _, ok := r.Engine.(dense.Gonum); ok {
		return "gonum"
	}
	return job.EngineAuto
}

// scalingWork is what is measured, in a folder of its own.
type scalingWork struct {
	r      *Run
	folder string
	limit  float64 // seconds that a run may take
}

// solvers runs every solver on d variables, as recover does, but those that would take
// too long.
func (w *scalingWork) solvers(ctx context.Context, all []*growth, d int, done float64) error {
	path, penalty := "", 0.0
	for _, g := range all {
		if g.next(d) > w.limit {
			continue
		}
		if path == "" {
			w.r.at(done, "a table of %d variables", d)
			rows, err := w.sample(ctx, d)
			if err != nil {
				return err
			}
			if penalty, err = w.penalty(ctx, rows, d); err != nil {
				return err
			}
			path = filepath.Join(w.folder, "table.parquet")
			if err := writeSamples(path, arrowio.Parquet, rows, d); err != nil {
				return err
			}
		}
		w.r.at(done, "%s on %d variables", g.name, d)
		j := job.Job{
			Input: path, Solvers: []string{g.name}, Threads: g.threads, Engine: w.r.engineName(), Device: job.DeviceCPU,
		}
		if certified(g.name) {
			j.Penalty, j.Gap = job.Value(fmt.Sprint(penalty)), scalingGap
		}
		seconds, bytes, err := costOf(func() (float64, error) {
			result, err := recovery.Run(ctx, j, recovery.Host{})
			if err != nil {
				return 0, err
			}
			if s := result.Solvers[0]; s.Error != "" || s.Status == "interrupted" {
				return 0, fmt.Errorf("%s on %d variables: %s %s", g.name, d, s.Status, s.Error)
			}
			return float64(result.Solvers[0].Seconds), nil
		})
		if err != nil {
			return err
		}
		g.add(d, seconds, bytes)
	}
	return nil
}

// sample draws d samples of a random graph of d variables and mean degree 5.
func (w *scalingWork) sample(ctx context.Context, d int) ([]float64, error) {
	f := simulate.Family{Graph: simulate.GraphErdosRenyi, Dimension: d, Density: 5 / float64(d)}
	setting := f.String()
	theta, err := f.Precision(w.r.random("scaling graphs", setting))
	if err != nil {
		return nil, err
	}
	return simulate.Samples(ctx, w.r.random("scaling samples", setting), theta, d)
}

// penalty is what 96.5 % of the correlations are below.
func (w *scalingWork) penalty(ctx context.Context, rows []float64, d int) (float64, error) {
	c, err := covariance.Estimate(ctx, covariance.NewTable(slices.Clone(rows), d), d, covariance.Settings{Engine: w.r.Engine})
	if err != nil {
		return 0, err
	}
	var v []float64
	for i := range d {
		for _, x := range c.S.Row(i)[:i] {
			v = append(v, math.Abs(x))
		}
	}
	return quantile(v, 0.965), nil
}

// reading is the correlation of tables in files of growing length, by format.
func (w *scalingWork) reading(ctx context.Context, threads, lengths []int, d int) ([]*growth, error) {
	var all []*growth
	for _, format := range []string{arrowio.Parquet, arrowio.CSV} {
		for _, n := range threads {
			all = append(all, &growth{name: format, threads: n})
		}
	}
	random := w.r.random("scaling", "reading")
	for i, m := range lengths {
		rows := make([]float64, m*d)
		for k := range rows {
			rows[k] = random.NormFloat64()
		}
		for k, g := range all {
			w.r.at(1-(1-float64(i)/float64(len(lengths)))/10, "%d samples in %s", m, g.name)
			path := filepath.Join(w.folder, "samples."+g.name)
			if k%len(threads) == 0 {
				if err := writeSamples(path, g.name, rows, d); err != nil {
					return nil, err
				}
			}
			engine := dense.WithThreads(w.r.engine(), g.threads)
			seconds, bytes, err := costOf(func() (float64, error) { return readAll(ctx, path, engine) })
			if err != nil {
				return nil, err
			}
			g.add(m, seconds, bytes)
		}
	}
	return all, nil
}

// readAll is the time from a file to its correlation.
func readAll(ctx context.Context, path string, engine dense.Engine) (float64, error) {
	start := time.Now()
	s, err := arrowio.OpenSamples(ctx, path, arrowio.SampleOptions{})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	_, err = covariance.Estimate(ctx, s, len(s.Names()), covariance.Settings{Engine: engine})
	return time.Since(start).Seconds(), err
}

// writeSamples writes rows of d variables into a table.
func writeSamples(path, format string, rows []float64, d int) error {
	columns := make([]arrowio.Column, d)
	for j := range columns {
		v := make([]float64, len(rows)/d)
		for i := range v {
			v[i] = rows[i*d+j]
		}
		columns[j] = arrowio.Column{Name: fmt.Sprintf("x%d", j), Values: v}
	}
	return arrowio.WriteTable(path, format, columns, nil)
}

// certified says whether a solver stops at a gap, and takes a penalty.
func certified(name string) bool {
	return slices.ContainsFunc(recovery.Solvers(), func(s job.SolverInfo) bool { return s.Name == name && s.Certified })
}

// costOf is the median time of three runs, or of one that takes over two seconds, and
// the most that the process grew by, over all of them.
func costOf(f func() (seconds float64, err error)) (seconds, bytes float64, err error) {
	peak := watchPeak()
	var all []float64
	for len(all) < 3 && (len(all) == 0 || all[0] < 2) {
		s, err := f()
		if err != nil {
			return 0, 0, err
		}
		all = append(all, s)
	}
	return quantile(all, 0.5), peak(), nil
}
