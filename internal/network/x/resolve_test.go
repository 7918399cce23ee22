package x

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/testkit/must"
)

var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// networkForm returns a text in the format in which X lists it: escaped, with short URLs, and with an additional URL
// for the media.
func networkForm(t *rapid.T, text string) tweet {
	var out strings.Builder
	urls := []map[string]string{}
	at := 0
	for i, link := range findLinks(text) {
		full := text[link.start:link.end]
		if !strings.Contains(full, "://") {
			full = "http://" + full
		}
		short := fmt.Sprintf("https://t.co/%d-", i)
		urls = append(urls, map[string]string{"url": short, "expanded_url": full})
		out.WriteString(escaped.Replace(text[at:link.start]) + short)
		at = link.end
	}
	out.WriteString(escaped.Replace(text[at:]) + " https://t.co/media")
	urls = append(urls,
		map[string]string{"url": "https://t.co/media", "expanded_url": "https://x.com/me/status/1/photo/1", "media_key": "3_1"})
	written := must.Get(json.Marshal(map[string]any{"text": out.String(), "entities": map[string]any{"urls": urls}}))(t)
	var read tweet
	must.NoError(t, json.Unmarshal(written, &read))
	return read
}

// A text matches the form in which X lists it.
func TestTextMatchesNetworkForm(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{
		"hello", "example.org", "https://example.org/?a=1&copy=2", "http://a.test/", "<b>", "&amp;", "AT&T", `"it's"`,
		"👋", "é", "e\u0301", "@me", "#tag", "\n", "…", "(https://a.test/b_(c))", ".",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(word, 1, 12).Draw(t, "words"), rapid.SampledFrom([]string{" ", "  ", "\n"}).Draw(t, "between"))
		if got := networkForm(t, text); normalize(got.originalText()) != normalize(text) {
			t.Fatalf("%q is %q", normalize(text), normalize(got.originalText()))
		}
		if other := networkForm(t, text+" more"); normalize(other.originalText()) == normalize(text) {
			t.Fatal("a different text matches")
		}
	})
}
