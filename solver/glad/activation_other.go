//go:build !amd64

package glad

// tanh replaces every x by tanh(x), to a relative 1e-15.
func tanh(y []float64) { tanhGo(y) }

// sigmoids replaces every x by 1/(1 + e⁻ˣ), to a relative 1e-15.
func sigmoids(y []float64) { sigmoidsGo(y) }
