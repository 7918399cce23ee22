package delivery

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
)

// cutList is a network that lists only the first posts and reports that.
type cutList struct {
	*memoryNetwork

	told network.Collection
}

func (l *cutList) Collect(context.Context, network.Grant, time.Time, int) (network.Collection, error) {
	return l.told, nil
}

// listFigures returns this many posts, the first with the ID of a known publication.
func listFigures(count int) []network.CollectedPost {
	out := make([]network.CollectedPost, count)
	for i := range out {
		out[i] = network.CollectedPost{ID: fmt.Sprint(i + 1), URL: fmt.Sprint("https://example.test/", i+1),
			Text: fmt.Sprint("post ", i), PostedAt: noon}
	}
	return out
}

// A truncated list does not prove that a post is missing, even if some of it is known.
func TestTruncatedListProvesNoAbsence(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		net := &cutList{memoryNetwork: &memoryNetwork{platform: "bluesky"}}
		p := newMultiEnv(t, testkit.Open(t, url, clock), 1, DefaultOptions, net)
		p.scheduleDue(t, 0, 0, 1)
		p.runUntil(t, clock, noon.Add(time.Minute))
		for name, c := range map[string]struct {
			told network.Collection
			want network.Verdict
		}{
			"a whole list":    {network.Collection{Posts: listFigures(maxListedPosts - 1)}, network.Absent},
			"too many":        {network.Collection{Posts: listFigures(maxListedPosts)}, network.Unknown},
			"some left out":   {network.Collection{Posts: listFigures(3), Truncated: true}, network.Unknown},
			"nothing was out": {network.Collection{}, network.Absent},
		} {
			net.told = c.told
			d := &candidate{ResumedAccount: ResumedAccount{AccountID: p.ids[0][0], Due: noon}, text: "bread"}
			p.lookUpAccount(t.Context(), p.ids[0][0], []*candidate{d}, noon)
			if d.verdict != c.want {
				t.Errorf("%s: %d (%s), want %d", name, d.verdict, d.Reason, c.want)
			}
		}
	})
}
