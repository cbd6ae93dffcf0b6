package ranking

// An ensemble is the networks of a model, laid out to score the pairs of one table:
// all hidden units one after the other, with the standardisation and the context of
// the table in their weights and biases.
type ensemble struct {
	inputs  int
	weights []float64 // a row of inputs for each unit
	bias    []float64
	output  []float64
	offset  float64
}

// ensemble is that of m in a table with the context.
func (m *Model) ensemble(context []float64) *ensemble {
	e := &ensemble{inputs: len(m.Inputs)}
	share := 1 / float64(len(m.Networks))
	for _, n := range m.Networks {
		for u, row := range n.Weights {
			bias := n.Bias[u]
			for k, w := range row {
				w /= m.Deviation[k]
				bias -= w * m.Mean[k]
				if k < e.inputs {
					e.weights = append(e.weights, w)
				} else {
					bias += w * context[k-e.inputs]
				}
			}
			e.bias = append(e.bias, bias)
			e.output = append(e.output, share*n.Output[u])
		}
		e.offset += share * n.OutputBias
	}
	return e
}

// score is that of a pair with the inputs x, which are clipped.
func (e *ensemble) score(x []float64) float64 {
	x = x[:e.inputs]
	w := e.weights
	sum := e.offset
	for u, h := range e.bias {
		row := w[:len(x)]
		w = w[len(x):]
		for k, v := range x {
			h += row[k] * v
		}
		if h > 0 {
			sum += e.output[u] * h
		}
	}
	return sum
}
