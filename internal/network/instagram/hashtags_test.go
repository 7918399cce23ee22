package instagram_test

import (
	"net/http"
	"strings"
	"testing"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

// The network's refusal of hashtags becomes the limit. Other refusals change nothing.
func TestHashtagLimitFollowsTheNetwork(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]int{
		"You can use up to 5 hashtags in a post": 5,
		"Too many hashtags":                      7,
		"Of your 8 hashtags, 3 are allowed":      3,
		"The caption is too long":                30,
	} {
		t.Run(message, func(t *testing.T) {
			t.Parallel()
			s := networktest.NewStub(t, adapter, network.App{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				networktest.Answer{
					Status: http.StatusBadRequest, Body: graph(`"code":100,"message":"` + message + `"`),
				}.ServeHTTP(w, r)
			}))
			text := strings.Repeat("#a ", 8)
			draft := network.Draft(`{"network":"instagram","text":"` + text + `","media":[{"id":1,"kind":"video",
				"type":"video/mp4","size":100,"duration":4000000000}]}`)
			_, _, err := s.Network.Prepare(t.Context(), s.Grant, draft, s.Library)
			networktest.WantClass(t, err, network.Rejected, "100")
			rules := s.Network.(interface{ Rules() network.Rules }).Rules()
			if rules.Hashtags.Most != want {
				t.Errorf("the limit is %+v, want %d", rules.Hashtags, want)
			}
			blocked := network.BlockingError(s.Network.Check(network.Content{Text: text, Media: []network.Media{picture}}))
			if (networktest.Class(blocked) == network.Rejected) != (want < 8) {
				t.Errorf("the check: %v", blocked)
			}
			_, _, err = s.Network.Prepare(t.Context(), s.Grant, draft, s.Library)
			code := "100"
			if want < 8 {
				code = "hashtags_too_many"
			}
			networktest.WantClass(t, err, network.Rejected, code)
		})
	}
}
