package label_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/post/label"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	got := must.Get(label.Normalize([]string{"  Winter \n blend ", "menu", "Menu", "Cafe\u0301", "Café", "x\u202Ey"}))(t)
	if diff := cmp.Diff([]string{"Winter blend", "menu", "Café", "xy"}, got); diff != "" {
		t.Error(diff)
	}
	for _, empty := range []string{"", " \n", "\u202E"} {
		if _, err := label.Normalize([]string{"a", empty}); err == nil {
			t.Errorf("the label %q is accepted", empty)
		}
	}
}
