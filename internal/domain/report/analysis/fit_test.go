package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/domain/report/result"
)

// newLine returns a model of a straight line with noise.
func newLine(points int) (linearModel, []float64) {
	draw := rand.New(rand.NewPCG(1, 2))
	m := linearModel{columns: 2}
	var xs []float64
	for i := range points {
		x := float64(i) / 10
		xs = append(xs, x)
		m.rows = append(m.rows, []entry{{0, 1}, {1, x}})
		m.y = append(m.y, 3+0.5*x+draw.NormFloat64())
	}
	return m, xs
}

func checkNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestFitLeastSquares(t *testing.T) {
	t.Parallel()
	m, xs := newLine(50)
	got, ok := m.solve(false)
	if !ok {
		t.Fatal("no solution")
	}
	alpha, beta := stat.LinearRegression(xs, m.y, nil, false)
	checkNear(t, "the constant", got.coefficients[0], alpha)
	checkNear(t, "the slope", got.coefficients[1], beta)
	squares, mean := 0.0, stat.Mean(xs, nil)
	around := 0.0
	for i, x := range xs {
		squares += (m.y[i] - alpha - beta*x) * (m.y[i] - alpha - beta*x)
		around += (x - mean) * (x - mean)
	}
	slope, ok := got.contrast([]float64{0, 1})
	if !ok {
		t.Fatal("no slope")
	}
	checkNear(t, "the slope's standard error", slope.stdErr, math.Sqrt(squares/48/around))
}

func TestFitWithOutliers(t *testing.T) {
	t.Parallel()
	m, _ := newLine(50)
	before, _ := m.solve(true)
	m.y[49] += 1e6
	after, ok := m.solve(true)
	if !ok || math.Abs(after.coefficients[1]-before.coefficients[1]) > 0.1 {
		t.Errorf("the slope %v became %v", before.coefficients[1], after.coefficients[1])
	}
}

// Linearly dependent columns cannot be estimated. Other columns can.
func TestAliases(t *testing.T) {
	t.Parallel()
	m, _ := newLine(50)
	for i := range m.rows { // the third column is twice the second; the fourth is independent
		m.rows[i] = append(m.rows[i], entry{2, 2 * m.rows[i][1].value}, entry{3, float64(i % 2)})
	}
	m.columns = 4
	got, ok := m.solve(true)
	if !ok {
		t.Fatal("no solution")
	}
	for name, test := range map[string]struct {
		weights []float64
		told    bool
	}{
		"one of two dependent columns": {[]float64{0, 1, 0, 0}, false},
		"the other":                    {[]float64{0, 0, 1, 0}, false},
		"both dependent columns":       {[]float64{0, 1, 2, 0}, true},
		"independent column":           {[]float64{0, 0, 0, 1}, true},
	} {
		if _, told := got.contrast(test.weights); told != test.told {
			t.Errorf("%s: told %v", name, told)
		}
	}
}

func TestFitOfConstantValues(t *testing.T) {
	t.Parallel()
	m := linearModel{columns: 1}
	for range 40 {
		m.rows, m.y = append(m.rows, []entry{{0, 1}}), append(m.y, 5)
	}
	if got, ok := m.solve(true); ok {
		t.Errorf("a solution: %+v", got)
	}
}

// The weakest column is removed.
func TestWeakestColumnRemoved(t *testing.T) {
	t.Parallel()
	m, _ := newLine(50)
	for i := range m.rows {
		m.rows[i] = append(m.rows[i], entry{2, float64(i % 3)}, entry{3, float64(i % 2)})
		m.y[i] += 2 * float64(i%2)
	}
	m.columns = 4
	got, _ := m.solve(true)
	if gone := got.uninformativeColumns([]int{2, 3}); len(gone) != 1 || gone[0] != 2 {
		t.Errorf("%v are uninformative, want the column without effect", gone)
	}
}

// The p-values are from the example in Benjamini and Hochberg (1995), with a rate of 3%.
func TestBHThreshold(t *testing.T) {
	t.Parallel()
	var doubts []float64
	for _, chance := range []float64{0.0459, 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.3240,
		0.4262, 0.5719, 0.6528, 0.7590, 1} {
		doubts = append(doubts, 15*chance)
	}
	checkNear(t, "threshold", bhThreshold(doubts), 15*0.0019)
	checkNear(t, "of none", bhThreshold(nil), -1)
	checkNear(t, "threshold without significant values", bhThreshold([]float64{0.5, 0.2}), -1)
	// The first p-value is rejected only together with the second.
	checkNear(t, "threshold of several values", bhThreshold([]float64{0.04, 0.05, 0.5}), 0.05)
}

// The median equals the median of the sorted values.
func TestMedian(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 5), rapid.SampledFrom([]float64{0, 1, 2})), 1, 60).
			Draw(t, "values")
		want := result.Quantile(slices.Sorted(slices.Values(values)), 0.5)
		if got := median(values); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	})
}
