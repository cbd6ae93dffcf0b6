package genes

import "math/rand/v2"

// drawKnockouts draws linear responses to single perturbations: every sample has
// small noise on all genes and one gene knocked down, by 1 to 4, or in some sets
// down or up, and the change spreads along the edges of net, which is acyclic. In
// half of the sets that have a sample for every gene, the genes take turns.
func drawKnockouts(rng *rand.Rand, net *network, samples int) (table, [][]int8) {
	d := len(net.parents)
	weights, signs := make([][]float64, d), make([][]int8, d)
	for j, parents := range net.parents {
		for range parents {
			sign := pick[int8](rng, -1, 1)
			signs[j] = append(signs[j], sign)
			weights[j] = append(weights[j], float64(sign)*uniform(rng, .2, .9))
		}
	}
	t := newTable(d, samples)
	addNoise(rng, t, uniform(rng, .05, .6))
	anyGene := samples < d || rng.IntN(2) == 0
	bothWays := rng.Float64() < .3
	size := uniform(rng, 1, 4)
	for r := range samples {
		gene := r % d
		if anyGene {
			gene = rng.IntN(d)
		}
		by := -size
		if bothWays && rng.IntN(2) == 0 {
			by = -by
		}
		t[gene][r] += by
	}
	for _, j := range net.order {
		for k, parent := range net.parents[j] {
			for r, x := range t[parent] {
				t[j][r] += weights[j][k] * x
			}
		}
	}
	addNoise(rng, t, uniform(rng, 0, .2))
	return t, signs
}
