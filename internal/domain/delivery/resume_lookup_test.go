package delivery

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/post/comment"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
)

// truncatedLister is a network with a fixed list of posts, which may be truncated.
type truncatedLister struct {
	*memoryNetwork

	collection network.Collection
}

func (l *truncatedLister) Collect(context.Context, network.Grant, time.Time, int) (network.Collection, error) {
	return l.collection, nil
}

// makePosts returns count posts. The first has the ID of a known publication.
func makePosts(count int) []network.CollectedPost {
	out := make([]network.CollectedPost, count)
	for i := range out {
		out[i] = network.CollectedPost{ID: fmt.Sprint(i + 1), URL: fmt.Sprint("https://example.test/", i+1),
			Text: fmt.Sprint("post ", i), PostedAt: noon}
	}
	return out
}

// A truncated list does not prove that a post is missing, even if it contains a known post.
func TestTruncatedListProvesNoAbsence(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		net := &truncatedLister{memoryNetwork: &memoryNetwork{platform: "bluesky"}}
		p := newMultiEnv(t, testkit.Open(t, url, clock), 1, DefaultOptions, net)
		p.scheduleDue(t, 0, 0, 1)
		p.runUntil(t, clock, noon.Add(time.Minute))
		for name, c := range map[string]struct {
			told network.Collection
			want network.Verdict
		}{
			"complete list":  {network.Collection{Posts: makePosts(maxListedPosts - 1)}, network.Absent},
			"too many posts": {network.Collection{Posts: makePosts(maxListedPosts)}, network.Unknown},
			"truncated list": {network.Collection{Posts: makePosts(3), Truncated: true}, network.Unknown},
			"empty list":     {network.Collection{}, network.Absent},
		} {
			net.collection = c.told
			post := &candidate{ResumedAccount: ResumedAccount{AccountID: p.ids[0][0], DueAt: noon}, text: "bread"}
			p.lookUpAccount(t.Context(), p.ids[0][0], []*candidate{post}, noon)
			if post.verdict != c.want {
				t.Errorf("%s: %d (%s), want %d", name, post.verdict, post.Reason, c.want)
			}
		}
	})
}

// hidingNetwork has each post but does not show it.
type hidingNetwork struct{ *truncatedLister }

func (hidingNetwork) Resolve(context.Context, network.Grant, network.Draft, network.CommitHistory) (
	network.Verdict, network.Receipt, error,
) {
	return network.Absent, network.Receipt{}, &network.Error{Class: network.AppNotApproved, Hidden: network.Receipt{ID: "1"}}
}

// A post that the network has but does not show is not sent again after a hold.
func TestHiddenPostIsNotAbsent(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	net := hidingNetwork{&truncatedLister{memoryNetwork: &memoryNetwork{platform: "bluesky"}}}
	p := newMultiEnv(t, testkit.Open(t, testkit.SQLite(t), clock), 1, DefaultOptions, net)
	post := &candidate{ResumedAccount: ResumedAccount{AccountID: p.ids[0][0], DueAt: noon}, text: "bread"}
	post.delivery.Phase = phaseCommitting
	p.lookUpAccount(t.Context(), p.ids[0][0], []*candidate{post}, noon)
	if post.verdict != network.Unknown || !strings.Contains(post.Reason, "does not show it") {
		t.Errorf("%d (%s)", post.verdict, post.Reason)
	}
}

// privateLister lists no posts, but has a post that only the account's owner can see.
type privateLister struct{ *truncatedLister }

func (privateLister) ListsPartially() {}

func (privateLister) ListHidden(context.Context, network.Grant, time.Time, int) ([]network.CollectedPost, error) {
	return []network.CollectedPost{{ID: "1", URL: "https://example.test/1", Text: "Bread & butter"}}, nil
}

// A private post with the text of a candidate is named, so that the person who decides can find it.
func TestPrivatePostIsNamed(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(noon)
	net := privateLister{&truncatedLister{memoryNetwork: &memoryNetwork{platform: "bluesky"}}}
	p := newMultiEnv(t, testkit.Open(t, testkit.SQLite(t), clock), 1, DefaultOptions, net)
	for text, want := range map[string]string{"Bread & butter": "https://example.test/1", "Fish": "may be incomplete"} {
		post := &candidate{ResumedAccount: ResumedAccount{AccountID: p.ids[0][0], DueAt: noon}, text: text}
		p.lookUpAccount(t.Context(), p.ids[0][0], []*candidate{post}, noon)
		if post.verdict != network.Unknown || !strings.Contains(post.Reason, want) {
			t.Errorf("%s: %d (%s)", text, post.verdict, post.Reason)
		}
	}
}

// Lists of posts have no stories and no comments. Such a candidate neither counts as absent, nor takes the listed post
// of another candidate.
func TestUnlistedCandidates(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(noon)
		net := &truncatedLister{memoryNetwork: &memoryNetwork{platform: "bluesky"}}
		p := newMultiEnv(t, testkit.Open(t, url, clock), 1, DefaultOptions, net)
		net.collection = network.Collection{Posts: []network.CollectedPost{{ID: "1", Text: "bread", PostedAt: noon}}}
		account := ResumedAccount{AccountID: p.ids[0][0], DueAt: noon}
		story, first, feed := &candidate{ResumedAccount: account, text: "bread", isStory: true},
			&candidate{ResumedAccount: account, text: "bread", delivery: delivery{ID: "c", Part: comment.Part,
				Phase: phasePlanned}},
			&candidate{ResumedAccount: account, text: "bread"}
		p.lookUpAccount(t.Context(), p.ids[0][0], []*candidate{story, first, feed}, noon)
		if story.verdict != network.Unknown || first.verdict != network.Unknown || feed.verdict != network.Published {
			t.Errorf("story %d, comment %d, post %d", story.verdict, first.verdict, feed.verdict)
		}
	})
}
