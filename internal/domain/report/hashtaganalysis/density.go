package hashtaganalysis

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The density of ages between 0 and 1 is fitted as exp(b1·P1 + … + b4·P4 - log Z), with Legendre's polynomials P: its
// logarithm is a smooth curve. Each coefficient is drawn towards 0, which is a constant density, by a normal prior whose
// width falls with the degree: few ages bend the curve little.
const (
	degrees     = 4
	priorSD     = 1.5 // of the first coefficient; the k-th has priorSD/k³
	gridCells   = 128 // of the numerical integral
	maxSteps    = 50
	convergence = 1e-9
)

// densityAtZero is what is known of a density at age 0: the logarithm, and its standard error.
type densityAtZero struct{ log, err float64 }

// fitDensityAtZero fits the density of ages, which lie between 0 and 1, and says what it is at age 0. It is the largest of the
// posterior, found by Newton's method: the posterior is log-concave, so there is one.
func fitDensityAtZero(ages []float64) (densityAtZero, bool) {
	var sums [degrees]float64
	for _, age := range ages {
		floats.Add(sums[:], legendre(age))
	}
	f := densityFit{grid: newGrid(), sums: sums[:], count: float64(len(ages))}
	b := make([]float64, degrees)
	for range maxSteps {
		gradient, curvature := f.derivatives(b)
		var solved mat.Cholesky
		if !solved.Factorize(curvature) {
			return densityAtZero{}, false
		}
		var step mat.VecDense
		if err := solved.SolveVecTo(&step, mat.NewVecDense(degrees, gradient)); err != nil {
			return densityAtZero{}, false
		}
		by := f.stepSize(b, step.RawVector().Data)
		floats.AddScaled(b, by, step.RawVector().Data)
		if by*floats.Norm(step.RawVector().Data, math.Inf(1)) < convergence {
			return f.atZero(b, &solved)
		}
	}
	return densityAtZero{}, false
}

// densityFit is what the ages say: the sums of the polynomials at them.
type densityFit struct {
	grid  grid
	sums  []float64
	count float64
}

// grid is the cells of the integral: the polynomials in each, and its weight.
type grid struct {
	values  [][]float64
	weights []float64
}

// newGrid prepares Simpson's rule.
func newGrid() grid {
	var g grid
	for i := range gridCells + 1 {
		weight := 2.0
		switch {
		case i == 0 || i == gridCells:
			weight = 1
		case i%2 == 1:
			weight = 4
		}
		g.values = append(g.values, legendre(float64(i)/gridCells))
		g.weights = append(g.weights, weight/(3*gridCells))
	}
	return g
}

// legendre are the polynomials P1 to P4, moved to lie between 0 and 1.
func legendre(age float64) []float64 {
	x := 2*age - 1
	return []float64{x, (3*x*x - 1) / 2, (5*x*x*x - 3*x) / 2, (35*x*x*x*x - 30*x*x + 3) / 8}
}

func priorPrecision(k int) float64 {
	degree := float64(k + 1)
	sd := priorSD / (degree * degree * degree)
	return 1 / (sd * sd)
}

// share is the density of each cell times its weight, and the logarithm of what they sum to before they are made to
// sum to 1.
func (g grid) share(b []float64) ([]float64, float64) {
	logs := make([]float64, len(g.values))
	for i, values := range g.values {
		logs[i] = floats.Dot(b, values) + math.Log(g.weights[i])
	}
	logZ := floats.LogSumExp(logs)
	for i := range logs {
		logs[i] = math.Exp(logs[i] - logZ)
	}
	return logs, logZ
}

// posterior is the logarithm of the posterior but for a constant.
func (f densityFit) posterior(b []float64) float64 {
	_, logZ := f.grid.share(b)
	out := floats.Dot(b, f.sums) - f.count*logZ
	for k, value := range b {
		out -= value * value * priorPrecision(k) / 2
	}
	return out
}

// derivatives is the gradient of the posterior's logarithm, and its curvature with the sign changed.
func (f densityFit) derivatives(b []float64) ([]float64, *mat.SymDense) {
	shares, _ := f.grid.share(b)
	mean := f.mean(shares)
	gradient := make([]float64, degrees)
	curvature := mat.NewSymDense(degrees, nil)
	for k, value := range b {
		gradient[k] = f.sums[k] - f.count*mean[k] - value*priorPrecision(k)
		for l := range k + 1 {
			both := 0.0
			for i, share := range shares {
				both += share * (f.grid.values[i][k] - mean[k]) * (f.grid.values[i][l] - mean[l])
			}
			curvature.SetSym(k, l, f.count*both)
		}
		curvature.SetSym(k, k, curvature.At(k, k)+priorPrecision(k))
	}
	return gradient, curvature
}

func (f densityFit) mean(shares []float64) []float64 {
	mean := make([]float64, degrees)
	for i, share := range shares {
		floats.AddScaled(mean, share, f.grid.values[i])
	}
	return mean
}

// stepSize is how much of a step can be taken without going down.
func (f densityFit) stepSize(b, step []float64) float64 {
	before, by := f.posterior(b), 1.0
	for range 30 {
		next := make([]float64, degrees)
		floats.AddScaledTo(next, b, by, step)
		if f.posterior(next) >= before {
			return by
		}
		by /= 2
	}
	return 0
}

// atZero reads the density at 0, with the error that the curvature at the top tells (Laplace's approximation).
func (f densityFit) atZero(b []float64, solved *mat.Cholesky) (densityAtZero, bool) {
	shares, logZ := f.grid.share(b)
	slope := legendre(0)
	floats.Sub(slope, f.mean(shares))
	var across mat.VecDense
	if err := solved.SolveVecTo(&across, mat.NewVecDense(degrees, slope)); err != nil {
		return densityAtZero{}, false
	}
	variance := floats.Dot(slope, across.RawVector().Data)
	return densityAtZero{log: floats.Dot(b, legendre(0)) - logZ, err: math.Sqrt(math.Max(0, variance))}, true
}
