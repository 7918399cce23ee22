package hashtaganalysis

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The solution of A·x = b fits for random positive definite matrices A = M·Mᵀ + I.
func TestCholesky(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var m, a symmetric
		b := make([]float64, degrees)
		for i := range degrees {
			b[i] = random.NormFloat64()
			for j := range degrees {
				m[i][j] = random.NormFloat64()
			}
		}
		for i := range degrees {
			a[i][i] = 1
			for j := range degrees {
				for k := range degrees {
					a[i][j] += m[i][k] * m[j][k]
				}
			}
		}
		l, ok := a.factorize()
		if !ok {
			t.Fatalf("%v has no factorization", a)
		}
		x := l.solve(b)
		for i := range degrees {
			rest := b[i]
			for j := range degrees {
				rest -= a[i][j] * x[j]
			}
			if math.Abs(rest) > 1e-9 {
				t.Errorf("%v: row %d differs by %g", a, i, rest)
			}
		}
	}
}

func TestNotPositiveDefinite(t *testing.T) {
	t.Parallel()
	for _, value := range []float64{0, -1, math.NaN()} {
		a := symmetric{{1}, {0, 1}, {0, 0, value}, {0, 0, 0, 1}}
		if _, ok := a.factorize(); ok {
			t.Errorf("a matrix with %g is factorized", value)
		}
	}
}
