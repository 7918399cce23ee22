package storm

import "pressroom.example/pressroom/internal/testkit/fixture"

func partStates(parts []struct{ State string }) []string {
	var out []string
	for _, part := range parts {
		out = append(out, part.State)
	}
	return out
}

// thread checks the parts of a thread on an account: each is there at most once, replies to the part before it, and is
// reported as it is.
func (r *verifier) thread(p *posted, account int64, platform string, root []fixture.Post, states []string) {
	if len(states) != p.parts {
		r.complainf("lost", "%s has %d parts on %s, want %d", p.mark, len(states), platform, p.parts)
		return
	}
	before := root
	for i, state := range states {
		there := r.parts[platform][p.partMark(i+1)]
		switch {
		case len(there) > 1:
			r.complainf("doubled", "part %d of %s is on %s %d times%s", i+1, p.mark, platform, len(there), r.history(p.id, account))
		case state == "published" && len(there) == 0:
			r.complainf("lost", "part %d of %s is reported as published on %s but is not%s", i+1, p.mark, platform,
				r.history(p.id, account))
		case len(there) == 1 && state != "published" && state != "unconfirmed":
			r.complainf("misreported", "part %d of %s is on %s but reported as %s%s", i+1, p.mark, platform, state,
				r.history(p.id, account))
		case len(there) == 1 && (len(before) != 1 || there[0].ReplyTo != before[0].ID):
			r.complainf("torn", "part %d of %s on %s replies to %q, not to the part before it", i+1, p.mark, platform,
				there[0].ReplyTo)
		}
		r.book.recordAnswer("part on "+platform, state, 0, 0)
		before = there
	}
}

// comment checks the first comment on an account: it is there at most once, belongs to the post, and is reported as it
// is. state is empty without a result.
func (r *verifier) comment(p *posted, account int64, platform string, root []fixture.Post, isPublished bool, state string) {
	there := r.parts[platform][p.commentMark()]
	switch {
	case len(there) > 1:
		r.complainf("doubled", "the comment of %s is on %s %d times%s", p.mark, platform, len(there), r.history(p.id, account))
	case state == "published" && len(there) == 0:
		r.complainf("lost", "the comment of %s is reported as published on %s but is not%s", p.mark, platform,
			r.history(p.id, account))
	case state == "" && isPublished && hasFirstComments(platform):
		r.complainf("lost", "the comment of %s was not sent to %s%s", p.mark, platform, r.history(p.id, account))
	case len(there) == 1 && state != "published" && state != "unconfirmed":
		r.complainf("misreported", "the comment of %s is on %s but reported as %q%s", p.mark, platform, state,
			r.history(p.id, account))
	case len(there) == 1 && (len(root) != 1 || there[0].ReplyTo != root[0].ID):
		r.complainf("torn", "the comment of %s on %s belongs to %q, not to the post", p.mark, platform, there[0].ReplyTo)
	}
	r.book.recordAnswer("comment on "+platform, state, 0, 0)
}
