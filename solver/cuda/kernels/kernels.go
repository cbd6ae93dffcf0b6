// Package kernels holds what runs on a CUDA card besides cuBLAS and cuSOLVER: the
// kernels as PTX, the grids that they are launched with, and the networks of a model as
// they read them. It loads nothing and needs no card: package driver does both.
//
//	networks, err := kernels.Encode(plan)
//	k := networks.Cell(1).Kernel
//	blocks := k.Blocks(d)             // times problems, of k.Threads() threads each
//
// The formulas are those of package glad. kernels.cu and what it includes is the source;
// generate.py makes kernels.ptx of it. Comments there say what the arguments of a kernel
// are; the last one is always d or another count, which Blocks takes.
//
// The problems of a batch have one dimension and follow each other in memory; they are
// the second dimension of a grid, of which there are at most MostProblems. A matrix
// has d² numbers, by rows, and is symmetric.
package kernels

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// PTX is the module, for cards of compute capability 8.0 and later and drivers of CUDA
// 12.0 and later. A session that has another plan needs a module of its own: Weights is
// one for each module.
//
//go:embed kernels.ptx
var PTX string

// Sources are kernels.cu and what it includes.
//
//go:embed kernels.cu *.cuh
var Sources embed.FS

// Digest is the SHA-256 of Sources, in the first line of a PTX that was made of them.
func Digest() (string, error) {
	headers, err := fs.Glob(Sources, "*.cuh") // sorted
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, name := range append([]string{"kernels.cu"}, headers...) {
		text, err := Sources.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s\n%d\n%s", name, len(text), text)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}

// Names of globals in constant memory.
const (
	// Weights are the weights of a shipped network: see Network.
	Weights = "weights"
	// WeightsBytes is its size.
	WeightsBytes = 8 * weightsLength

	weightsLength = 1024
)

// MostProblems is the largest second dimension of a grid.
const MostProblems = 65535

// A Kernel is a kernel by its name in the module.
type Kernel string

// The kernels. Arguments are in kernels.cu.
const (
	ThetaArgument Kernel = "theta_argument"
	RowNorms      Kernel = "row_norms"
	Largest       Kernel = "largest"
	AddDiagonal   Kernel = "add_diagonal"
	Mirror        Kernel = "mirror"
	Scale         Kernel = "scale"
	SetIdentity   Kernel = "set_identity"
	Polynomial    Kernel = "polynomial"
	Residual      Kernel = "residual"
	Sum           Kernel = "sum"
	Rescale       Kernel = "rescale"

	HalfDifference Kernel = "half_difference"
	SpectralValues Kernel = "spectral_values"
	InverseValues  Kernel = "inverse_values"
	ScaleRows      Kernel = "scale_rows"

	PaperCell3   Kernel = "paper_cell_3"
	PaperCell5   Kernel = "paper_cell_5"
	PaperCellAny Kernel = "paper_cell_any"

	PosteriorRows       Kernel = "posterior_rows"
	PosteriorMean       Kernel = "posterior_mean"
	PosteriorDiagonal   Kernel = "posterior_diagonal"
	PosteriorEntries9   Kernel = "posterior_entries_9"
	PosteriorEntries11  Kernel = "posterior_entries_11"
	PosteriorEntries18  Kernel = "posterior_entries_18"
	PosteriorEntriesAny Kernel = "posterior_entries_any"

	DividedDifferences   Kernel = "divided_differences"
	ThetaArgumentAdjoint Kernel = "theta_argument_adjoint"
	AddLoss              Kernel = "add_loss"
	RowProducts          Kernel = "row_products"

	PaperAdjoint             Kernel = "paper_adjoint"
	PosteriorAdjointEntries  Kernel = "posterior_adjoint_entries"
	PosteriorAdjointDiagonal Kernel = "posterior_adjoint_diagonal"
	PosteriorAdjointRows     Kernel = "posterior_adjoint_rows"
	PosteriorAdjointEnd      Kernel = "posterior_adjoint_end"
	CollectGradient          Kernel = "collect_gradient"
)

// Threads of a block: THREADS and ONE of block.cuh.
const (
	threads = 256
	one     = 1024
)

// properties are what a launch needs to know of a kernel.
type properties struct {
	arguments int
	threads   int
	shared    int // bytes, which are in the module: a launch asks for none
	blocks    func(n int64) int64
}

const (
	oneSum     = 8 * one
	blockSum   = 8 * threads
	tileShared = 8 * tile * (tile + 1)
)

var table = map[Kernel]properties{
	ThetaArgument: {6, threads, 0, byEntry},
	RowNorms:      {3, threads, blockSum, byRow},
	Largest:       {3, one, oneSum, byProblem},
	AddDiagonal:   {3, threads, 0, byNumber},
	Mirror:        {3, threads, tileShared, byTile},
	Scale:         {4, threads, 0, byNumber},
	SetIdentity:   {3, threads, 0, byRow},
	Polynomial:    {5, threads, 0, byRow},
	Residual:      {3, threads, blockSum, byRow},
	Sum:           {3, one, oneSum, byProblem},
	Rescale:       {3, threads, 0, byRow},

	HalfDifference: {4, threads, tileShared, byTile},
	SpectralValues: {5, one, oneSum, byProblem},
	InverseValues:  {4, one, oneSum, byProblem},
	ScaleRows:      {5, threads, 0, byRow},

	PaperCell3:   {8, threads, 2*tileShared + blockSum, byTile},
	PaperCell5:   {8, threads, 2*tileShared + blockSum, byTile},
	PaperCellAny: {12, threads, 2*tileShared + blockSum, byTile},

	PosteriorRows:       {6, threads, blockSum, byRow},
	PosteriorMean:       {3, one, oneSum, byProblem},
	PosteriorDiagonal:   {11, threads, 0, byNumber},
	PosteriorEntries9:   {9, threads, tileShared + blockSum, byTile},
	PosteriorEntries11:  {10, threads, tileShared + blockSum, byTile},
	PosteriorEntries18:  {10, threads, tileShared + blockSum, byTile},
	PosteriorEntriesAny: {12, threads, tileShared + blockSum, byTile},

	DividedDifferences:   {6, threads, 0, byRow},
	ThetaArgumentAdjoint: {6, threads, blockSum, byRow},
	AddLoss:              {6, threads, blockSum, byRow},
	RowProducts:          {4, threads, blockSum, byRow},

	PaperAdjoint:             {16, threads, 3*tileShared + blockSum + threads, bySlot},
	PosteriorAdjointEntries:  {18, threads, 4*tileShared + blockSum + threads, bySlot},
	PosteriorAdjointDiagonal: {18, threads, blockSum + threads, byProblem},
	PosteriorAdjointRows:     {12, threads, blockSum, byRow},
	PosteriorAdjointEnd:      {6, threads, 0, byRow},
	CollectGradient:          {8, threads, 0, byNumber},
}

// All are the kernels by name.
func All() []Kernel { return slices.Sorted(maps.Keys(table)) }

// Arguments is the number of arguments.
func (k Kernel) Arguments() int { return table[k].arguments }

// Threads is the number of threads of a block. The kernel needs exactly those.
func (k Kernel) Threads() int { return table[k].threads }

// Shared is the shared memory of a block in bytes, none of which the launch has to ask
// for.
func (k Kernel) Shared() int { return table[k].shared }

// Blocks is the first dimension of the grid where n is the last argument of the kernel,
// d or another count. Fewer give the same bits. A kernel with scratch takes
// no more than what Networks.Blocks says.
func (k Kernel) Blocks(n int64) int { return int(max(1, table[k].blocks(n))) }

// entriesPerThread is how many entries a thread goes over where blocks are many.
const entriesPerThread = 4

func byEntry(d int64) int64  { return ceil(d*d, threads*entriesPerThread) }
func byNumber(n int64) int64 { return min(ceil(n, threads), 1<<20) }
func byRow(d int64) int64    { return d }
func byProblem(int64) int64  { return 1 }
func byTile(d int64) int64   { return Tiles(d) }

// tile is the number of rows and columns of a tile: TILE of block.cuh.
const tile = 32

// Tiles is the number of partial sums that a paper_cell or posterior_entries writes
// for each problem, and that Sum adds.
func Tiles(d int64) int64 {
	n := ceil(d, tile)
	return n * (n + 1) / 2
}

// mostSlots is SLOTS of adjoint.cuh, CellSums CELL_SUMS.
const (
	mostSlots = 256
	// CellSums is how many numbers a slot of the adjoint kernels has behind the
	// derivatives by the weights: those by λ, by the mean of the diagonal and by the gain.
	CellSums = 3
)

// Slots is how many slots of each problem a PaperAdjoint or PosteriorAdjointEntries fills.
// The memory has one more, that of PosteriorAdjointDiagonal.
func Slots(d int64) int64 { return min(Tiles(d), mostSlots) }

func bySlot(d int64) int64 { return Slots(d) }

func ceil(a, b int64) int64 { return (a + b - 1) / b }
