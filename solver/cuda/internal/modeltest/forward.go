package modeltest

import "math"

// A number is a value with its derivatives by all variables: forward-mode automatic
// differentiation, which shares nothing with the way back that it is to check.
type number struct {
	v  float64
	by []float64
}

// numbers make numbers of so many variables. They last until the next reset.
type numbers struct {
	variables int
	pool      []number
	used      int
}

func (n *numbers) reset() { n.used = 0 }

// constant is v.
func (n *numbers) constant(v float64) number {
	if n.used == len(n.pool) {
		n.pool = append(n.pool, number{by: make([]float64, n.variables)})
	}
	x := n.pool[n.used]
	n.used++
	clear(x.by)
	x.v = v
	return x
}

// variable is variable i, of value v.
func (n *numbers) variable(i int, v float64) number {
	x := n.constant(v)
	x.by[i] = 1
	return x
}

// chain is a function of a and b of value v, where da and db are its derivatives by them.
func (n *numbers) chain(v float64, a number, da float64, b number, db float64) number {
	x := n.constant(v)
	for i := range x.by {
		x.by[i] = da*a.by[i] + db*b.by[i]
	}
	return x
}

// function is a function of a of value v, where da is its derivative.
func (n *numbers) function(v float64, a number, da float64) number {
	x := n.constant(v)
	for i, g := range a.by {
		x.by[i] = da * g
	}
	return x
}

func (n *numbers) add(a, b number) number { return n.chain(a.v+b.v, a, 1, b, 1) }
func (n *numbers) sub(a, b number) number { return n.chain(a.v-b.v, a, 1, b, -1) }
func (n *numbers) mul(a, b number) number { return n.chain(a.v*b.v, a, b.v, b, a.v) }
func (n *numbers) div(a, b number) number {
	return n.chain(a.v/b.v, a, 1/b.v, b, -a.v/(b.v*b.v))
}

// affine is factor·a + shift.
func (n *numbers) affine(factor float64, a number, shift float64) number {
	return n.function(factor*a.v+shift, a, factor)
}

// abs is |a|, of slope 0 at 0.
func (n *numbers) abs(a number) number { return n.function(math.Abs(a.v), a, sign(a.v)) }

func (n *numbers) tanh(a number) number {
	v := math.Tanh(a.v)
	return n.function(v, a, (1-v)*(1+v))
}

func (n *numbers) sigmoid(a number) number {
	v, rest := 1/(1+math.Exp(-a.v)), 1/(1+math.Exp(a.v))
	return n.function(v, a, v*rest)
}

func (n *numbers) exp(a number) number {
	v := math.Exp(a.v)
	return n.function(v, a, v)
}

func (n *numbers) log1p(a number) number { return n.function(math.Log1p(a.v), a, 1/(1+a.v)) }

// softThreshold is sign(a)·max(|a| − t, 0).
func (n *numbers) softThreshold(a, t number) number {
	if !(math.Abs(a.v) > t.v) {
		return n.constant(0)
	}
	return n.chain(math.Copysign(math.Abs(a.v)-t.v, a.v), a, 1, t, -sign(a.v))
}

// accumulate adds w·x to sum, where w is the value of variable i.
func (n *numbers) accumulate(sum *number, i int, w float64, x number) {
	sum.v += w * x.v
	for k, g := range x.by {
		sum.by[k] += w * g
	}
	sum.by[i] += x.v
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}
