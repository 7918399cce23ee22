package instagram_test

import (
	"net/http"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/instagram"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// prepare prepares a post with an image and this text.
func prepare(t *testing.T, n network.Network, g network.Grant, l *networktest.Library, text string) error {
	t.Helper()
	d, err := n.Plan(network.Submission{Seed: "s", Content: network.Content{
		Text: text, Media: []network.Media{l.Image("jpeg", 40, 40)},
	}})
	must.NoError(t, err)
	_, _, err = n.Prepare(t.Context(), g, d, l)
	return err
}

// warning returns the message of a text's only problem, which must not block, or "".
func warning(t *testing.T, n network.Network, text string) string {
	t.Helper()
	picture := network.Media{Kind: network.Image, Type: "image/jpeg", Width: 40, Height: 40, Size: 1}
	found := n.Check(network.Content{Text: text, Media: []network.Media{picture}})
	if len(found) == 0 {
		return ""
	}
	if len(found) > 1 || found[0].Blocking {
		t.Errorf("problems %+v", found)
	}
	return found[0].Message
}

// The warning about hashtags follows the sandbox's responses. A rejection sets the limit, and an accepted post removes
// it.
func TestHashtagLimitFollowsResponses(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	n := f.Network().(*instagram.Network)
	seven := strings.Repeat("#tea ", 7)
	if got := warning(t, n, seven); !strings.Contains(got, "may ignore more than 5") {
		t.Errorf("before: %q", got)
	}
	networktest.WantClass(t, prepare(t, n, f.Connect("instagram", "studio.north"), f.Library, seven), network.Rejected, "36004/2207010")
	if got := warning(t, n, seven); got != "The text has 7 hashtags; Instagram rejected a post with more than 5. Remove 2." ||
		n.Rules().Hashtags.SoftLimit != 5 {
		t.Errorf("after a rejection: %q, rules %+v", got, n.Rules().Hashtags)
	}
	if got := warning(t, n, strings.Repeat("#tea ", 5)); got != "" {
		t.Errorf("within the limit: %q", got)
	}
	must.NoError(t, prepare(t, n, f.Grant(), f.Library, seven))
	if got := warning(t, n, seven); !strings.Contains(got, "may ignore") {
		t.Errorf("after an accepted post: %q", got)
	}
}

// A rejection without a number means that the limit is below the text's number of hashtags. The rejection of a text
// that is too long does not set a limit.
func TestHashtagLimitWithoutNumber(t *testing.T) {
	t.Parallel()
	s := networktest.NewStub(t, adapter, network.App{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":{"code":36004,"error_subcode":2207010,"message":"Caption too long"}}`))
	}))
	n, text := s.Network.(*instagram.Network), strings.Repeat("#tea ", 9)
	networktest.WantClass(t, prepare(t, n, s.Grant, s.Library, "#tea #tea"), network.Rejected, "")
	if most := n.Rules().Hashtags.SoftLimit; most != 5 {
		t.Errorf("a limit of %d after a text with few hashtags", most)
	}
	networktest.WantClass(t, prepare(t, n, s.Grant, s.Library, text), network.Rejected, "")
	if most := n.Rules().Hashtags.SoftLimit; most != 8 {
		t.Errorf("a limit of %d", most)
	}
}
