//go:build cuda

package cuda

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/glad"
)

// rowArrays is how many numbers posterior_rows has of every variable; the first two are
// the host's.
const rowArrays = 6

// zArrays are what Z steps need besides matrices.
type zArrays struct {
	fixed       driver.Pointer // 7n: kernels.Fixed
	description driver.Pointer
	scratch     driver.Pointer
	rows, mean  driver.Pointer // of posterior-mean cells: 6nd and n
}

// rowNumbers is how many numbers of every variable the cells keep.
func (s *session) rowNumbers() int64 {
	if s.plan.Kind == glad.GLADPM {
		return rowArrays
	}
	return 0
}

// scratchBytes is the largest scratch of the session's kernels for a batch.
func (s *session) scratchBytes(d, n int) int64 {
	var most int64
	for k := range s.plan.Iterations {
		_, bytes := s.networks.Blocks(s.networks.Cell(k+1).Kernel, int64(d), n)
		most = max(most, bytes)
	}
	if s.plan.Kind == glad.GLADPM {
		_, bytes := s.networks.Blocks(kernels.PosteriorDiagonal, int64(d), n)
		most = max(most, bytes)
	}
	return most
}

// loadFixed loads what the cells need of S besides its entries.
func (b *batch) loadFixed(ctx context.Context) error {
	n, d := b.n, b.d
	var fixed []float64
	for _, p := range b.prepared {
		fixed = append(fixed, kernels.Fixed(p.Shape, p.RootSamples)...)
	}
	if err := b.send(ctx, b.z.fixed, fixed); err != nil {
		return err
	}
	if err := b.send(ctx, b.z.description, b.session.networks.Descriptions); err != nil {
		return err
	}
	if b.session.plan.Kind != glad.GLADPM {
		return nil
	}
	rows := make([]float64, rowArrays*n*d)
	for i, p := range b.prepared {
		of := rows[i*rowArrays*d:]
		copy(of[:d], p.Nodes)
		for j := range d {
			of[d+j] = math.Log(b.problems[i].S.At(j, j))
		}
	}
	return b.send(ctx, b.z.rows, rows)
}

// A zStep are the matrices of a Z step: those of all problems. u and toU are 0 unless the
// kind is ADMMu; toZ may be z, and toU u.
type zStep struct{ theta, z, u, toZ, toU driver.Pointer }

// zStep computes the Z (and U) of cell k, and ‖Z − Θ‖²F of every problem into norm2.
func (b *batch) zStep(ctx context.Context, k int, m zStep, norm2 []float64) error {
	cell := b.session.networks.Cell(k)
	d := b.dimension()
	a, z := &b.device, &b.z
	weigh := len(cell.Weights) > 0 && !b.session.weighed(k)
	if weigh { // which waits for Θ: here others go on meanwhile, and it ends with ctx
		if err := b.do(ctx, func(*queue) {}); err != nil {
			return err
		}
	}
	err := b.do(ctx, func(q *queue) {
		if weigh {
			q.try(func() error { return b.session.weigh(q, k, cell.Weights) })
		}
		network := z.description.At(8 * int64(cell.At))
		launch := func(k kernels.Kernel, args ...any) {
			blocks := k.Blocks(d)
			if needsScratch(k) {
				blocks, _ = b.session.networks.Blocks(k, d, b.n)
			}
			q.launch(k, blocks, b.n, append(args, d)...)
		}
		if b.session.plan.Kind == glad.GLADPM {
			gain := b.session.plan.Gain(k)
			b.posteriorRows(q, m.theta, m.z)
			launch(kernels.PosteriorDiagonal, m.toZ, m.theta, m.z, z.rows, z.mean, a.lambda, z.fixed, gain, network, z.scratch)
			switch cell.Kernel {
			case kernels.PosteriorEntries9:
				launch(cell.Kernel, m.toZ, a.partial, m.theta, m.z, z.rows, z.mean, a.lambda, gain)
			case kernels.PosteriorEntries11, kernels.PosteriorEntries18:
				launch(cell.Kernel, m.toZ, a.partial, m.theta, m.z, z.rows, z.mean, a.lambda, z.fixed, gain)
			default:
				launch(cell.Kernel, m.toZ, a.partial, m.theta, m.z, z.rows, z.mean, a.lambda, z.fixed, gain, network, z.scratch)
			}
		} else if cell.Kernel == kernels.PaperCellAny {
			launch(cell.Kernel, m.toZ, m.toU, a.partial, m.theta, b.s, m.z, m.u, a.lambda, z.fixed, network, z.scratch)
		} else {
			launch(cell.Kernel, m.toZ, m.toU, a.partial, m.theta, b.s, m.z, m.u)
		}
		q.over(kernels.Sum, b.n, kernels.Tiles(d), a.figures, a.partial)
		q.download(b.figures[:b.n], a.figures)
	})
	copy(norm2, b.figures)
	return err
}

// posteriorRows queues what posterior-mean cells need of every row.
func (b *batch) posteriorRows(q *queue, theta, z driver.Pointer) {
	q.over(kernels.PosteriorRows, b.n, b.dimension(), b.z.rows, b.s, theta, z, b.device.lambda)
	q.over(kernels.PosteriorMean, b.n, b.dimension(), b.z.mean, theta)
}

// needsScratch says whether a kernel evaluates any network.
func needsScratch(k kernels.Kernel) bool {
	switch k {
	case kernels.PaperCellAny, kernels.PosteriorDiagonal, kernels.PosteriorEntriesAny:
		return true
	}
	return false
}
