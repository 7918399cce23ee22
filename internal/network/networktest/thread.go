package networktest

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// testThreads tests replies on networks that support threads.
func testThreads(t *testing.T, c Case) {
	if rules, _ := network.DefaultRules(c.Platform); !rules.Thread || c.Partial {
		return
	}
	subtests(t, c, map[string]func(*testing.T, Case){
		"Thread": publishThread, "LoseAnswerOfReply": loseReplyResponse, "NoParent": replyToDeletedPost,
	})
}

// publishThread publishes a post and two replies, each to the part before it.
func publishThread(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	root := f.Post(g, "part one", f.Media()...)
	second := f.postReply(g, network.Reply{Root: root.ID, Parent: root.ID}, "part two")
	third := f.postReply(g, network.Reply{Root: root.ID, Parent: second.ID}, "part three", f.Media()...)
	posts := f.Posts()
	if len(posts) != 3 || posts[0].ReplyTo != "" || posts[1].ReplyTo != root.ID || posts[2].ReplyTo != second.ID {
		t.Fatalf("posts %+v", posts)
	}
	if third.ID != posts[2].ID {
		t.Errorf("receipt %+v, post %+v", third, posts[2])
	}
	f.WantPermalink(g, third)
}

// loseReplyResponse drops the response to a reply. The reply has the text of the thread's first post, unless the
// network rejects repeated texts.
func loseReplyResponse(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	text, replyText := "part", "part"
	if c.Duplicates {
		replyText = "another part"
	}
	root := f.Post(g, text)
	d, err := f.Prepare(g, f.PlanReply(network.Reply{Root: root.ID, Parent: root.ID}, replyText))
	if err != nil {
		t.Fatal(err)
	}
	f.Transport.LoseResponse(c.isPublishing)
	_, err = f.Commit(g, d)
	_ = WantClass(t, err, network.OutcomeUnknown, "")
	f.Transport.LoseResponse(nil)
	verdict, receipt, err := f.Decide(g, d)
	posts := f.Posts()
	if err != nil || verdict != network.Published || len(posts) != 2 || receipt.ID != posts[1].ID {
		t.Errorf("verdict %v, receipt %+v, %v, posts %+v", verdict, receipt, err, posts)
	}
}

// replyToDeletedPost replies to a post that does not exist.
func replyToDeletedPost(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	root := f.Post(g, "part one")
	missing := root.ID[:len(root.ID)-1] + "7"
	d, err := f.Prepare(g, f.PlanReply(network.Reply{Root: missing, Parent: missing}, "part two"))
	if err == nil {
		_, err = f.Commit(g, d)
	}
	if err == nil {
		t.Error("the reply was published")
	}
	f.WantPosts(1)
}

// postReply publishes a reply and advances the clock by a minute.
func (f *Fixture) postReply(g network.Grant, to network.Reply, text string, media ...network.Media) network.Receipt {
	f.t.Helper()
	d, err := f.Prepare(g, f.PlanReply(to, text, media...))
	if err != nil {
		f.t.Fatal(err)
	}
	receipt := f.Publish(g, d)
	f.Clock.Advance(time.Minute)
	return receipt
}
