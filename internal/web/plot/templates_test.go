package plot

import (
	"reflect"
	"testing"

	"pressroom.example/pressroom/internal/testkit/templatecheck"
)

// The templates use only what their data has.
func TestTemplatesFitViews(t *testing.T) {
	t.Parallel()
	all := parse()
	for name, view := range views {
		for _, err := range templatecheck.Check(all.Lookup(name), reflect.TypeOf(view)) {
			t.Error(err)
		}
	}
	if got := len(all.Templates()); got < len(views) {
		t.Errorf("there are %d templates for %d views", got, len(views))
	}
}
