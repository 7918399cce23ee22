package storm

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// groups are networks that accept the same post, by the kind of media.
var groups = []struct {
	shows     string
	platforms []string
}{
	{"", []string{"bluesky", "threads", "linkedin", "x", "facebook"}},
	{"image", []string{"instagram", "pinterest", "bluesky", "threads", "linkedin", "x", "facebook"}},
	{"video", []string{"tiktok", "youtube"}},
}

// markers are the markers of some posts, with percentages.
var markers = []struct {
	percent int
	text    string
}{{3, "[sandbox:reject]"}, {3, "[sandbox:error]"}, {1, "[sandbox:rate-limit]"}, {5, "[sandbox:lost-answer]"}, {
	4, "[sandbox:slow=1]",
}, {1, "[sandbox:expired-token]"}}

// createPosts creates posts one after another, and publishes, schedules, cancels or changes each.
func (c *client) createPosts(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		p := c.compose()
		c.draft(p)
		if p.id == "" {
			continue
		}
		switch dice := c.dice.IntN(100); {
		case dice < 45:
			c.publish(p)
		case dice < 85:
			c.schedule(p)
			if p.state == scheduled && c.chance(50) {
				c.rest(time.Duration(c.dice.IntN(1500)) * time.Millisecond)
				c.cancel(p)
			}
		case dice < 92:
			c.rewrite(p)
			c.publish(p)
		}
		if p.state == submitted && c.chance(30) {
			c.follow(p)
		}
	}
}

// compose returns a new post without content and records it in the book.
func (c *client) compose() *posted {
	p := &posted{team: c.team, targets: map[int64]string{}, state: drafted}
	c.book.change(func() {
		p.mark = fmt.Sprintf("storm post %06d.", len(c.book.posts)+1)
		c.book.posts[p.mark] = p
	})
	return p
}

// content returns the text, accounts and media of a post.
func (c *client) content(p *posted) map[string]any {
	group := groups[c.dice.IntN(len(groups))]
	text := p.mark
	for _, m := range markers {
		if c.chance(m.percent) {
			text += " " + m.text
			p.bad, p.busy = m.text == "[sandbox:reject]", m.text == "[sandbox:rate-limit]"
			break
		}
	}
	platforms := slices.Clone(group.platforms)
	c.dice.Shuffle(len(platforms), func(i, j int) { platforms[i], platforms[j] = platforms[j], platforms[i] })
	for _, platform := range platforms[:1+c.dice.IntN(min(3, len(platforms)))] {
		p.targets[c.team.accounts[platform]] = platform
	}
	body := map[string]any{"caption": text, "account_ids": slices.Sorted(maps.Keys(p.targets))}
	if c.chance(40) && !slices.ContainsFunc(platforms[:len(p.targets)], func(platform string) bool { return !hasThreads(platform) }) {
		body["thread"] = c.thread(p)
	}
	if c.chance(40) {
		body["first_comment"] = c.firstComment(p)
	}
	switch group.shows {
	case "image":
		body["media_ids"] = []int64{c.team.images[c.dice.IntN(len(c.team.images))]}
	case "video":
		body["media_ids"] = []int64{c.team.video}
	}
	return body
}

// hasThreads reports whether a network has threads.
func hasThreads(platform string) bool {
	return platform == "bluesky" || platform == "threads" || platform == "x"
}

// thread returns one to nine parts that follow a post. The network loses the response to some of them.
func (c *client) thread(p *posted) []map[string]any {
	var parts []map[string]any
	for p.parts = 0; p.parts < 1+c.dice.IntN(9); {
		p.parts++
		text := p.partMark(p.parts)
		if c.chance(10) {
			text += " [sandbox:lost-answer]"
		}
		parts = append(parts, map[string]any{"caption": text})
	}
	return parts
}

// hasFirstComments reports whether a network has first comments.
func hasFirstComments(platform string) bool {
	return hasThreads(platform) || platform == "facebook" || platform == "instagram"
}

// firstComment returns the first comment of a post. The network loses the response to some of them.
func (c *client) firstComment(p *posted) string {
	p.commented = true
	text := p.commentMark()
	if c.chance(10) {
		text += " [sandbox:lost-answer]"
	}
	return text
}

// commentMark returns the unique part of the text of the first comment.
func (p *posted) commentMark() string {
	return strings.Replace(p.mark, "storm post", "storm comment", 1)
}

// partMark returns the unique part of the text of a part of the thread.
func (p *posted) partMark(part int) string {
	return fmt.Sprintf("%s/%d.", strings.TrimSuffix(strings.Replace(p.mark, "storm post", "storm part", 1), "."), part)
}

// key returns a random key of the team with a level.
func (c *client) key(level string) *apiKey {
	var of []*apiKey
	for _, k := range c.team.keys {
		if k.level == level {
			of = append(of, k)
		}
	}
	return of[c.dice.IntN(len(of))]
}

// postCall returns a call about a post.
func (c *client) postCall(p *posted, tool, what string, body map[string]any) call {
	return call{tool: tool, method: http.MethodPost, path: "/posts/" + p.id + "/" + what, body: body, more: map[string]any{"post_id": p.id},
		key: c.key("full"), idem: newIdem(), asTool: c.chance(40)}
}

func (c *client) draft(p *posted) {
	level := "full"
	if c.chance(30) {
		level = "drafts"
	}
	k := call{
		tool: "create_post", method: http.MethodPost, path: "/posts", body: c.content(p), key: c.key(level),
		idem: newIdem(), asTool: c.chance(40),
	}
	if c.chance(5) {
		k.idem = "" // Without a response, its effect is unknown.
	}
	a := c.do(k)
	var made struct{ ID string }
	if a.ok() {
		a.into(&made)
		c.book.write("post.created", made.ID)
	}
	c.book.change(func() { p.id, p.isAnswered = made.ID, !a.isTemporary() })
	if !a.ok() && !a.isTemporary() {
		c.book.complainf("refused", "a draft: %s", a.raw)
	}
}

// publish publishes a post immediately.
func (c *client) publish(p *posted) {
	k := c.postCall(p, "publish_post", "publish", nil)
	if c.chance(5) {
		k.idem = ""
	}
	a := c.do(k)
	switch {
	case a.ok():
		c.recordSubmission(p, a)
	case a.isTemporary():
		c.setState(p, unclear)
	default:
		c.rejectedPost(p, "publishing", a)
	}
}

// recordSubmission records that a post was submitted, by this or by an earlier call without a response.
func (c *client) recordSubmission(p *posted, a answer) {
	var data struct {
		Already bool `json:"already_submitted"`
	}
	a.into(&data)
	if data.Already {
		c.book.complainf("twice", "the first call to publish %s says that the post was already submitted", p.mark)
	}
	c.setState(p, submitted)
	c.book.write("post.handed_over", p.id)
}

func (c *client) setState(p *posted, state postState) {
	c.book.change(func() { p.state = state })
}

// rejectedPost checks why a post was rejected: a disconnected account, or a text that the network rejects.
func (c *client) rejectedPost(p *posted, what string, a answer) {
	if a.Code != "preflight_blocked" {
		c.book.complainf("refused", "%s %s: %s", what, p.mark, a.raw)
	}
}

// schedule schedules a post for the near future, relative to the clock that is furthest ahead.
func (c *client) schedule(p *posted) {
	at := time.Now().Add(maxClockOffset + time.Duration(800+c.dice.IntN(3000))*time.Millisecond).UTC().Format(time.RFC3339Nano)
	a := c.do(c.postCall(p, "schedule_post", "schedule", map[string]any{"scheduled_at": at}))
	switch {
	case a.ok():
		c.setState(p, scheduled)
		c.book.write("post.scheduled", p.id)
	case a.isTemporary():
		c.setState(p, unclear)
	case a.Context.Reason == "in_the_past": // The call took too long.
	default:
		c.rejectedPost(p, "scheduling", a)
	}
}

// cancel unschedules a post unless it is too late.
func (c *client) cancel(p *posted) {
	k := c.postCall(p, "cancel_post", "cancel", nil)
	k.key = c.key("drafts")
	a := c.do(k)
	switch {
	case a.ok():
		c.setState(p, drafted)
		c.book.write("post.cancelled", p.id)
	case a.isTemporary():
		c.setState(p, unclear)
	case a.Context.Reason != "wrong_state":
		c.book.complainf("refused", "cancelling %s: %s", p.mark, a.raw)
	}
}

// rewrite changes a draft's text except its mark.
func (c *client) rewrite(p *posted) {
	k := call{tool: "update_post", method: http.MethodPatch, path: "/posts/" + p.id,
		body: map[string]any{"caption": p.mark + " Written anew."}, more: map[string]any{"id": p.id},
		key: c.key("drafts"), idem: newIdem(), asTool: c.chance(40)}
	a := c.do(k)
	switch {
	case a.ok():
		c.book.change(func() { p.bad, p.busy = false, false })
		c.book.write("post.changed", p.id)
	case !a.isTemporary():
		c.book.complainf("refused", "changing %s: %s", p.mark, a.raw)
	}
}

// follow waits for a post's job and retries failed accounts.
func (c *client) follow(p *posted) {
	for range 10 {
		var post struct{ Status string }
		c.do(call{
			tool: "get_post", method: http.MethodGet, path: "/posts/" + p.id, more: map[string]any{"id": p.id}, key: c.key("read_only"),
		}).into(&post)
		switch post.Status {
		case "published":
			return
		case "failed", "partially_published":
			c.retry(p)
			return
		}
		c.rest(300 * time.Millisecond)
	}
}

func (c *client) retry(p *posted) {
	a := c.do(c.postCall(p, "retry_post", "retry", nil))
	var data struct {
		Skipped []struct{ Reason string }
	}
	a.into(&data)
	switch {
	case a.ok():
		c.book.change(func() { p.retried++ })
	case a.Code == "preflight_blocked" || a.isTemporary():
	default:
		c.book.complainf("refused", "retrying %s: %s", p.mark, a.raw)
	}
}
