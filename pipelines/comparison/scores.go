package comparison

import (
	"fmt"
	"math"

	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/table"
)

// Scores are those that a solver gives to ordered pairs of variables. Pairs that it
// gives none have −Inf: they tie last.
type Scores struct {
	// Names are those of the variables.
	Names []string
	// Directed says that the two directions of a pair may differ.
	Directed bool

	values []float64 // d×d, the diagonal unused
}

// At is the score of variable i as the source and j as the target.
func (s *Scores) At(i, j int) float64 { return s.values[i*len(s.Names)+j] }

// Unordered is the better score of the two directions.
func (s *Scores) Unordered(i, j int) float64 { return max(s.At(i, j), s.At(j, i)) }

// scoresOf reads the table of edges that a run hands to its host.
func scoresOf(edges output.Table, names []string) (*Scores, error) {
	s := &Scores{Names: names, Directed: edges.Metadata[output.MetaDirected] != "false", values: make([]float64, len(names)*len(names))}
	for k := range s.values {
		s.values[k] = math.Inf(-1)
	}
	var source, target []string
	var score []float64
	for _, c := range edges.Columns {
		switch c.Name {
		case "source":
			source, _ = c.Values.([]string)
		case "target":
			target, _ = c.Values.([]string)
		case "score":
			score, _ = c.Values.([]float64)
		}
	}
	if len(source) != len(score) || len(target) != len(score) {
		return nil, fmt.Errorf("the list of edges has %d sources, %d targets and %d scores", len(source), len(target), len(score))
	}
	at := table.Positions(names)
	d := len(names)
	for k, v := range score {
		i, iok := at[source[k]]
		j, jok := at[target[k]]
		if !iok || !jok {
			return nil, fmt.Errorf("the list of edges has the pair %q, %q, which is none of the table's", source[k], target[k])
		}
		s.values[i*d+j] = v
		if !s.Directed {
			s.values[j*d+i] = v
		}
	}
	return s, nil
}
