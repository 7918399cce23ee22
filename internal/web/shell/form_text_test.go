package shell

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFormsHoldTexts(t *testing.T) {
	t.Parallel()
	form := url.Values{"a": {"x\x00y", "so ☕ be it"}, "b": {"\xff\xfe!"}}
	CleanForm(form)
	if diff := cmp.Diff(url.Values{"a": {"x\uFFFDy", "so ☕ be it"}, "b": {"\uFFFD!"}}, form); diff != "" {
		t.Error(diff)
	}
	for _, odd := range []url.Values{{"a": {"fine", "\x00"}}, {"\xff": {"a"}}} {
		if hasOnlyText(odd) {
			t.Errorf("%q are texts", odd)
		}
	}
}
