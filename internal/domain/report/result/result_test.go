package result

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/testkit/must"
)

func component(name string, value, weight float64) FindingComponentCause {
	return FindingComponentCause{FindingComponent: FindingComponent{Name: name, Value: value}, FullWeight: weight}
}

// The weight of missing components is distributed proportionally.
func TestNewScore(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		known   []FindingComponentCause
		value   float64
		weights []float64
	}{
		"all": {[]FindingComponentCause{component("reach", 100, 0.5), component("growth", 20, 0.3),
			component("activity", 0, 0.2)}, 56, []float64{0.5, 0.3, 0.2}},
		"one short": {[]FindingComponentCause{component("reach", 100, 0.5), component("growth", 20, 0.3)}, 70,
			[]float64{0.625, 0.375}},
		"one alone": {[]FindingComponentCause{component("activity", 33.3, 0.2)}, 33, []float64{1}},
	} {
		section := NewScore(test.known, []string{"consistency"}, math.Round)
		short := section.Summary()
		var weights []float64
		for _, c := range short.Components {
			weights = append(weights, c.Weight)
		}
		if diff := cmp.Diff(test.weights, weights); diff != "" || section.Value != test.value ||
			short.Value != test.value {
			t.Errorf("%s: %v, want %v, weights %s", name, section.Value, test.value, diff)
		}
	}
	if none := NewScore(nil, []string{"reach"}, math.Round); none != nil || none.Summary() != nil {
		t.Errorf("the score without components is %+v", none)
	}
}

func TestNewWords(t *testing.T) {
	t.Parallel()
	got := NewWords(map[string]int{"boat": 2, "harbour": 3, "bread": 2, "sea": 1}, 7, 3)
	want := &FindingWords{Posts: 7, Different: 4, Words: []FindingWord{{"harbour", 3}, {"boat", 2}, {"bread", 2}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if none := NewWords(nil, 7, 3); none != nil {
		t.Errorf("without words: %+v", none)
	}
}

// Best times stored by earlier releases are significant.
func TestBestTimeFromEarlierRelease(t *testing.T) {
	t.Parallel()
	var got Result
	kept := `{"best_time":{"weekday":"saturday","hour":8,"hours":4,"days":"weekend","posts":44,"ratio":{"value":1.6,` +
		`"low":1.3,"high":2,"shrunk":1.5}}}`
	must.NoError(t, json.Unmarshal([]byte(kept), &got))
	if b := got.BestTime; !b.StandsOut || b.Low != 1.3 || b.High != 2 || b.Hour != 8 || b.Ratio.Value != 1.6 {
		t.Errorf("%+v", b)
	}
	for _, now := range []FindingBestTime{{StandsOut: false, Low: 0.5, High: 2}, {StandsOut: true, Low: 1.1, High: 2}} {
		raw := must.Get(json.Marshal(now))(t)
		var again FindingBestTime
		if err := json.Unmarshal(raw, &again); err != nil || again != now {
			t.Errorf("%+v became %+v (%v)", now, again, err)
		}
	}
}
