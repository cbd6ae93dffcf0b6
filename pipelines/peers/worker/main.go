// Command worker does what peers are compared with: it reads one request a line, as JSON,
// and answers each with a line of JSON. compare.py beside it starts it, with as many
// threads as its peers have. Matrices are files of float64, little endian, by rows.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glasso"
	"github.com/gladflow/gladflow/solver/selection"
)

// A request is something to be timed.
type request struct {
	// Do is bcd, gista, admm, glad, stars or read.
	Do string
	// S is the file of a covariance of D variables, or for stars of samples, Out that of the
	// answer.
	S   string
	D   int
	Out string
	// Rho is the penalty, of the diagonal too if Diagonal is set, Gap the relative
	// duality gap to reach.
	Rho, Gap float64
	Diagonal bool
	// Iterations, if any, are performed whatever the gap.
	Iterations int
	// Table is the file of a table of samples.
	Table string
}

// An answer says how long it took.
type answer struct {
	// Seconds are those of a clock, CPU those of all threads.
	Seconds, CPU float64
	// Iterations are sweeps, steps or cells.
	Iterations int `json:",omitempty"`
	// Engine does the linear algebra, Threads are its threads.
	Engine  string
	Threads int
	Error   string `json:",omitempty"`
}

func main() {
	engine, err := dense.Open("auto")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for in.Scan() {
		var r request
		err := json.Unmarshal(in.Bytes(), &r)
		a := answer{Engine: engine.Name(), Threads: dense.Threads(engine)}
		if err == nil {
			err = r.perform(context.Background(), engine, &a)
		}
		if err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil {
			os.Exit(1)
		}
	}
}

func (r *request) perform(ctx context.Context, engine dense.Engine, a *answer) error {
	switch r.Do {
	case "read":
		return r.read(ctx, engine, a)
	case "stars":
		return r.stars(ctx, engine, a)
	}
	p, err := r.problem()
	if err != nil {
		return err
	}
	set := glasso.Settings{Penalty: glasso.Penalty{Rho: r.Rho, Diagonal: r.Diagonal}, Gap: r.Gap, Engine: engine}
	if r.Iterations > 0 {
		set.Gap, set.IterationLimit = math.SmallestNonzeroFloat64, r.Iterations
	}
	var est *solver.Estimate
	solved := func(s solver.Solver) error {
		return a.time(func() (err error) {
			est, err = s.Solve(ctx, p)
			return err
		})
	}
	switch r.Do {
	case "bcd":
		err = solved(glasso.BCD{Settings: set})
	case "gista":
		err = solved(glasso.GISTA{Settings: set})
	case "admm":
		err = solved(glasso.ADMM{Settings: set})
	case "glad":
		m, err := glad.Builtin("er-d100-m100-literal")
		if err != nil {
			return err
		}
		if err := solved(glad.Solver{Model: m, Backend: glad.CPU{Engine: engine}}); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%q is nothing to do", r.Do)
	}
	if err != nil {
		return err
	}
	if r.Iterations == 0 && r.Do != "glad" && est.Status != solver.Converged {
		return fmt.Errorf("%s: %v", r.Do, est.Status)
	}
	a.Iterations = est.Iterations
	if r.Out == "" {
		return nil
	}
	var b bytes.Buffer
	for i := range r.D {
		if err := binary.Write(&b, binary.LittleEndian, est.Precision.Row(i)); err != nil {
			return err
		}
	}
	return os.WriteFile(r.Out, b.Bytes(), 0o666)
}

// stars chooses a penalty by StARS.
func (r *request) stars(ctx context.Context, engine dense.Engine, a *answer) error {
	rows, err := floats(r.S)
	if err != nil {
		return err
	}
	set := covariance.Settings{Engine: engine}
	return a.time(func() error {
		whole, err := covariance.Estimate(ctx, covariance.NewTable(rows, r.D), r.D, set)
		if err != nil {
			return err
		}
		_, err = selection.StARS(ctx, &covariance.Resampler{Rows: rows, D: r.D, Settings: set, Whole: whole}, nil, selection.Settings{Engine: engine})
		return err
	})
}

func (r *request) problem() (p solver.Problem, err error) {
	v, err := floats(r.S)
	if err != nil {
		return p, err
	}
	if len(v) != r.D*r.D {
		return p, fmt.Errorf("%s has %d numbers and no matrix of %d variables", r.S, len(v), r.D)
	}
	p.S = dense.NewSym(r.D, v)
	return p, nil
}

// floats are the numbers of a file.
func floats(path string) ([]float64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	v := make([]float64, len(data)/8)
	return v, binary.Read(bytes.NewReader(data), binary.LittleEndian, v)
}

// read is the correlation of a table in a file.
func (r *request) read(ctx context.Context, engine dense.Engine, a *answer) error {
	return a.time(func() error {
		s, err := arrowio.OpenSamples(ctx, r.Table, arrowio.SampleOptions{})
		if err != nil {
			return err
		}
		defer s.Close()
		_, err = covariance.Estimate(ctx, s, len(s.Names()), covariance.Settings{Engine: engine})
		return err
	})
}

// time times a call of f, after what is no longer needed is gone; short calls are repeated
// for a tenth of a second.
func (a *answer) time(f func() error) error {
	runtime.GC()
	cpu, start := used(), time.Now()
	for n := 1.0; ; n++ {
		if err := f(); err != nil {
			return err
		}
		if took := time.Since(start); took > time.Second/10 {
			a.Seconds, a.CPU = took.Seconds()/n, (used()-cpu)/n
			return nil
		}
	}
}

// used is the processor time of this process, in seconds.
func used() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return math.NaN()
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
