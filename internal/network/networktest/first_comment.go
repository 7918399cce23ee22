package networktest

import (
	"net/http"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
)

// testFirstComments tests comments of accounts on their own posts. On networks whose comments are replies, testThreads
// tests them.
func testFirstComments(t *testing.T, c Case) {
	rules, ok := New(t, c, 0).Network().(network.RulesProvider)
	if !ok || rules.Rules().FirstComment.MaxLength == 0 || c.Partial {
		return
	}
	subtests(t, c, map[string]func(*testing.T, Case){
		"FirstComment": publishComment, "LoseAnswerOfComment": loseCommentResponse, "LoseComment": loseComment,
		"NoPost": commentOnDeletedPost,
	})
}

// RunFirstComments runs the tests of first comments, for a network that allows them only with a setting.
func RunFirstComments(t *testing.T, c Case) {
	t.Helper()
	subtests(t, c, map[string]func(*testing.T, Case){"FirstComments": testFirstComments})
}

// isComment reports whether a request publishes a comment.
func isComment(r Request) bool {
	return r.Method == http.MethodPost && strings.Contains(strings.ToLower(r.URL.Path), "comment")
}

// publishComment publishes a post and a comment on it.
func publishComment(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	post := f.Post(g, "a post", f.Media()...)
	receipt := f.postReply(g, network.Reply{Root: post.ID, Parent: post.ID}, "the first comment")
	posts := f.Posts()
	if len(posts) != 2 || posts[1].ReplyTo == "" || posts[1].Text != "the first comment" || receipt.ID != posts[1].ID {
		t.Fatalf("receipt %+v, posts %+v", receipt, posts)
	}
}

// loseCommentResponse drops the response to a comment. An earlier comment on another post has the same text, and
// Resolve must not return that one.
func loseCommentResponse(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	first := f.Post(g, "a post", f.Media()...)
	f.postReply(g, network.Reply{Root: first.ID, Parent: first.ID}, "the first comment")
	second := f.Post(g, "another post", f.Media()...)
	d := f.prepareComment(g, second)
	f.Transport.LoseResponse(isComment)
	_, err := f.Commit(g, d)
	_ = WantClass(t, err, network.OutcomeUnknown, "")
	f.Transport.LoseResponse(nil)
	verdict, receipt, err := f.Decide(g, d)
	posts := f.Posts()
	if err != nil || verdict != network.Published || len(posts) != 4 || receipt.ID != posts[3].ID {
		t.Errorf("verdict %v, receipt %+v, %v, posts %+v", verdict, receipt, err, posts)
	}
}

// loseComment drops the request that publishes a comment. Resolve must return Absent.
func loseComment(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	d := f.prepareComment(g, f.Post(g, "a post", f.Media()...))
	f.Transport.loseNth(0, true)
	_, err := f.Commit(g, d)
	_ = WantClass(t, err, network.OutcomeUnknown, "")
	if verdict, receipt, err := f.Decide(g, d); verdict != network.Absent || err != nil {
		t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
	}
	f.Publish(g, d)
	f.WantPosts(2)
}

// commentOnDeletedPost comments on a post that does not exist.
func commentOnDeletedPost(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	post := f.Post(g, "a post", f.Media()...)
	post.ID = post.ID[:len(post.ID)-1] + "7"
	_, err := f.Commit(g, f.prepareComment(g, post))
	if err == nil {
		t.Error("the comment was published")
	}
	f.WantPosts(1)
}

// prepareComment returns the prepared draft of a comment on a post.
func (f *Fixture) prepareComment(g network.Grant, post network.Receipt) network.Draft {
	f.t.Helper()
	d, err := f.Prepare(g, f.PlanReply(network.Reply{Root: post.ID, Parent: post.ID}, "the first comment"))
	if err != nil {
		f.t.Fatal(err)
	}
	return d
}
