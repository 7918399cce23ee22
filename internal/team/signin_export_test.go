package team

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"
)

// What unknown people's passwords are hashed against costs what everybody's does.
func TestNobodysHashCostsTheSame(t *testing.T) {
	t.Parallel()
	own, err := HashPassword("any")
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Split(own, "$"), strings.Split(nobodysHash, "$")
	if strings.Join(a[:4], "$") != strings.Join(b[:4], "$") || len(a[4]) != len(b[4]) || len(a[5]) != len(b[5]) {
		t.Errorf("%s, and nobody's is %s", own, nobodysHash)
	}
}

// However many addresses are tried, what is remembered stays bounded, and most of it stays.
func TestCountsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWrongs(wrongPerWindow)
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for i := range wrongKept + 10 {
		w.count(now, [][sha256.Size]byte{{byte(i), byte(i >> 8), byte(i >> 16)}})
	}
	if len(w.of) != wrongKept {
		t.Errorf("%d are remembered", len(w.of))
	}
	w.count(now.Add(wrongWindow), [][sha256.Size]byte{{0, 0, 0, 1}})
	if len(w.of) != 1 {
		t.Errorf("%d are remembered after the window", len(w.of))
	}
}
