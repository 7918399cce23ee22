package hashtaganalysis

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// The density of ages in [0, 1] is modeled as exp(b1·P1 + … + b4·P4 - log Z) with shifted Legendre polynomials P, so
// its logarithm is smooth. Normal priors shrink the coefficients toward a uniform density. They shrink the coefficients
// of higher degrees more.
const (
	degrees     = 4
	priorSD     = 1.5 // of the first coefficient; priorSD/k³ for the k-th
	gridCells   = 128 // of the numerical integration
	maxSteps    = 50  // of Newton's method
	convergence = 1e-9
)

// densityAtZero is the log density at age 0 with its standard error.
type densityAtZero struct{ log, stdErr float64 }

// fitDensityAtZero fits the density of ages in [0, 1] and returns its value at 0. It maximizes the log-concave
// posterior by Newton's method, and reports false if that does not converge.
func fitDensityAtZero(ages []float64) (densityAtZero, bool) {
	var sums [degrees]float64
	for _, age := range ages {
		floats.Add(sums[:], legendre(age))
	}
	f := densityFit{grid: newGrid(), sums: sums[:], count: float64(len(ages))}
	b := make([]float64, degrees)
	for range maxSteps {
		gradient, curvature := f.derivatives(b)
		var cholesky mat.Cholesky
		if !cholesky.Factorize(curvature) {
			return densityAtZero{}, false
		}
		var step mat.VecDense
		if err := cholesky.SolveVecTo(&step, mat.NewVecDense(degrees, gradient)); err != nil {
			return densityAtZero{}, false
		}
		factor := f.stepSize(b, step.RawVector().Data)
		floats.AddScaled(b, factor, step.RawVector().Data)
		if factor*floats.Norm(step.RawVector().Data, math.Inf(1)) < convergence {
			return f.atZero(b, &cholesky)
		}
	}
	return densityAtZero{}, false
}

// densityFit holds the sufficient statistics: the sums of the polynomials over the ages.
type densityFit struct {
	grid  grid
	sums  []float64
	count float64
}

// grid holds the polynomials and weights of the numerical integration.
type grid struct {
	values  [][]float64
	weights []float64
}

// newGrid returns a grid for Simpson's rule.
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

// legendre returns the shifted Legendre polynomials P1 to P4 on [0, 1].
func legendre(age float64) []float64 {
	x := 2*age - 1
	return []float64{x, (3*x*x - 1) / 2, (5*x*x*x - 3*x) / 2, (35*x*x*x*x - 30*x*x + 3) / 8}
}

func priorPrecision(k int) float64 {
	degree := float64(k + 1)
	sd := priorSD / (degree * degree * degree)
	return 1 / (sd * sd)
}

// probabilities returns the probability of each grid point and the log of the normalizing constant.
func (g grid) probabilities(b []float64) ([]float64, float64) {
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

// posterior returns the log posterior up to a constant.
func (f densityFit) posterior(b []float64) float64 {
	_, logZ := f.grid.probabilities(b)
	out := floats.Dot(b, f.sums) - f.count*logZ
	for k, value := range b {
		out -= value * value * priorPrecision(k) / 2
	}
	return out
}

// derivatives returns the gradient and the negative Hessian of the log posterior.
func (f densityFit) derivatives(b []float64) ([]float64, *mat.SymDense) {
	shares, _ := f.grid.probabilities(b)
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

// stepSize returns the largest of 1, 1/2, 1/4 and so on by which step can be scaled without decreasing the posterior.
// It returns 0 if there is none.
func (f densityFit) stepSize(b, step []float64) float64 {
	current, factor := f.posterior(b), 1.0
	for range 30 {
		next := make([]float64, degrees)
		floats.AddScaledTo(next, b, factor, step)
		if f.posterior(next) >= current {
			return factor
		}
		factor /= 2
	}
	return 0
}

// atZero returns the density at 0 with the standard error of Laplace's approximation.
func (f densityFit) atZero(b []float64, solved *mat.Cholesky) (densityAtZero, bool) {
	shares, logZ := f.grid.probabilities(b)
	slope := legendre(0)
	floats.Sub(slope, f.mean(shares))
	var across mat.VecDense
	if err := solved.SolveVecTo(&across, mat.NewVecDense(degrees, slope)); err != nil {
		return densityAtZero{}, false
	}
	variance := floats.Dot(slope, across.RawVector().Data)
	return densityAtZero{log: floats.Dot(b, legendre(0)) - logZ, stdErr: math.Sqrt(math.Max(0, variance))}, true
}
