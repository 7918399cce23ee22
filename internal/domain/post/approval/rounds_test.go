package approval_test

import (
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestRounds(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		id := w.Draft(t, "first", time.Time{})
		link := must.Get(w.Approvals.Request(t.Context(), w.Person, id))(t)
		token := link[strings.LastIndex(link, "/")+1:]
		must.NoError(t, w.Approvals.Decide(t.Context(), token, approval.Decision{Round: 1, Name: "Grace", Comment: "No."}))
		w.Do(t, "update_post", map[string]any{"id": id, "caption": "second"})
		w.Do(t, "update_post", map[string]any{"id": id, "caption": "third"})
		rounds := must.Get(w.Approvals.Rounds(t.Context(), w.Call.TeamID, id))(t)
		if len(rounds) != 2 || rounds[0].Number != 3 || rounds[0].Decision != post.Waiting || rounds[1].Number != 1 ||
			rounds[1].Decision != post.Rejected || rounds[1].Client != "Grace" || rounds[1].Comment != "No." {
			t.Errorf("%+v", rounds)
		}
		if others, err := w.Approvals.Rounds(t.Context(), w.Call.TeamID+1, id); err != nil || len(others) != 0 {
			t.Errorf("another team sees %v, %v", others, err)
		}
	})
}
