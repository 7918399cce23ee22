package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// entry is one result. If there is no floor to compare with, Floor and Ratio are 0. If there is no target, Target is 0
// and Met is true.
type entry struct {
	Name      string  `json:"name"`
	Direction string  `json:"better"` // higherIsBetter or lowerIsBetter
	Ours      float64 `json:"ours"`
	Floor     float64 `json:"floor"`
	Ratio     float64 `json:"ratio"`
	Target    float64 `json:"target"`
	Met       bool    `json:"holds"`

	noise float64 // range of the measured values, as a share of their median; see spread
}

const (
	higherIsBetter = "more"
	lowerIsBetter  = "less"
)

// newRelativeEntry returns an entry that compares pressroom's result with the floor's. target is a ratio, or 0 if there
// is no target.
func newRelativeEntry(name, better string, ours, floor, target float64) entry {
	e := entry{Name: name, Direction: better, Ours: ours, Floor: floor, Ratio: ratio(ours, floor), Target: target}
	e.Met = target == 0 || better == higherIsBetter && e.Ratio >= target || better == lowerIsBetter && e.Ratio <= target
	return e
}

// newAbsoluteEntry returns an entry that is not compared with the floor, and for which lower is better. target is 0 if
// there is no target.
func newAbsoluteEntry(name string, ours, target float64) entry {
	return entry{Name: name, Direction: lowerIsBetter, Ours: ours, Target: target, Met: target == 0 || ours <= target}
}

// report collects entries, and prints each entry when it is added.
type report struct {
	out     io.Writer
	entries []entry
}

func (r *report) printHeader() {
	fmt.Fprintf(r.out, "%-44s %10s %10s %7s %8s %7s  %s\n", "figure", "ours", "floor", "ratio", "target", "noise", "")
}

func (r *report) add(entries ...entry) {
	for _, e := range entries {
		r.entries = append(r.entries, e)
		fmt.Fprintf(r.out, "%-44s %10s %10s %7s %8s %7s  %s\n", e.Name, formatNumber(e.Ours), formatNumber(e.Floor),
			formatNumber(e.Ratio), e.targetText(), formatNoise(e.noise), e.verdict())
	}
}

func (e entry) targetText() string {
	if e.Target == 0 {
		return "-"
	}
	sign := "≥ "
	if e.Direction == lowerIsBetter {
		sign = "≤ "
	}
	return sign + strconv.FormatFloat(e.Target, 'g', -1, 64)
}

func (e entry) verdict() string {
	switch {
	case !e.Met:
		return "MISSED"
	case e.Target == 0:
		return ""
	}
	return "ok"
}

// formatNumber formats a number with three decimals, or without decimals if it is at least 100. It formats 0 as "-".
func formatNumber(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

func formatNoise(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("±%.0f%%", v*50)
}

// printSummary prints how many targets were met and lists the missed targets.
func (r *report) printSummary() {
	targets, missed := 0, []entry{}
	for _, e := range r.entries {
		if e.Target != 0 {
			targets++
		}
		if !e.Met {
			missed = append(missed, e)
		}
	}
	fmt.Fprintf(r.out, "\n%d of %d targets met.\n", targets-len(missed), targets)
	for _, e := range missed {
		fmt.Fprintf(r.out, "MISSED %s: %s, target %s\n", e.Name, formatNumber(cmp.Or(e.Ratio, e.Ours)), e.targetText())
	}
}

// write writes the entries to a file as JSON.
func (r *report) write(path string) error {
	raw, err := json.MarshalIndent(r.entries, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	if err := os.WriteFile(path, append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	fmt.Fprintln(r.out, "Wrote", path)
	return nil
}
