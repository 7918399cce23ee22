package hashtaganalysis

import "math"

// symmetric is the lower triangle of a symmetric matrix. A library for matrices of any size would make the program
// 2 MB larger.
type symmetric [degrees][degrees]float64

// cholesky is the lower triangular matrix L of a factorization A = L·Lᵀ.
type cholesky symmetric

// factorize returns the factorization of a matrix, or false if it is not positive definite.
func (a symmetric) factorize() (cholesky, bool) {
	var l cholesky
	for i := range degrees {
		for j := range i + 1 {
			rest := a[i][j]
			for k := range j {
				rest -= l[i][k] * l[j][k]
			}
			switch {
			case i != j:
				l[i][j] = rest / l[j][j]
			case rest > 0:
				l[i][i] = math.Sqrt(rest)
			default: // also if it is not a number
				return l, false
			}
		}
	}
	return l, true
}

// solve returns x with A·x = b.
func (l cholesky) solve(b []float64) []float64 {
	x := make([]float64, degrees)
	for i := range degrees { // L·y = b
		x[i] = b[i]
		for k := range i {
			x[i] -= l[i][k] * x[k]
		}
		x[i] /= l[i][i]
	}
	for i := degrees - 1; i >= 0; i-- { // Lᵀ·x = y
		for k := i + 1; k < degrees; k++ {
			x[i] -= l[k][i] * x[k]
		}
		x[i] /= l[i][i]
	}
	return x
}
