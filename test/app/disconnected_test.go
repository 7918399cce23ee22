package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// disconnect disconnects the team's account and keeps it in scheduled posts.
func (c *crew) disconnect(t *testing.T) {
	t.Helper()
	must.Get(c.Accounts.Disconnect(t.Context(), c.people[access.Owner].ID, c.team.ID, c.account))(t)
}

// The page of a post with a disconnected account explains the effect. Saving the post keeps the account; duplicating
// it removes the account.
func TestPostWithDisconnectedAccount(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		second := c.addAccount(t)
		own := "For the harbour alone"
		id := c.draft(t, "For all", "")
		c.callTool(t, "update_post", map[string]any{"id": id, "overrides": []any{map[string]any{"account_id": c.account,
			"caption": own}}})
		c.callTool(t, "update_post", map[string]any{"id": id, "account_ids": []any{c.account, second}})
		c.callTool(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": c.apiTime(48 * time.Hour)})
		b.open("/posts/"+id).shows(200, "Scheduled for").lacks("it will fail")
		c.disconnect(t)

		b.open("/posts/"+id).
			shows(200, "to Threads ( second ).",
				"It will fail for Bluesky ( "+c.handle()+" ) because the account is not connected.", "Blocks this account").
			lacks("Blocks publishing", "The post cannot be published")
		edit := b.open("/posts/"+id+"/edit").
			shows(200, " is disconnected: nothing is published to it.", "because the account is not connected.", own)
		edit.lacks("would keep this post from going out")
		edit.form("Save").fill("caption", "For all of you").press().shows(200, "Saved.")
		held := c.storedPost(t, "/posts/"+id)
		if held.Caption != "For all of you" || len(held.Targets) != 2 || held.Targets[0].Caption == nil || *held.Targets[0].Caption != own {
			t.Errorf("%+v", held)
		}
		made := b.open("/posts/"+id).form("Duplicate").press().
			shows(200, "It is not for Bluesky ("+c.handle()+"), because 1 account is no longer connected.")
		if copied := c.storedPost(t, made.path); len(copied.Targets) != 1 || copied.Targets[0].AccountID != second {
			t.Errorf("%+v", copied.Targets)
		}
		c.change(t, `UPDATE social_accounts SET connection_state = 'lost', disconnected_at = 1 WHERE id = ?`, second)
		b.open("/posts/"+id).shows(200, "none of its accounts is connected.").form("Duplicate").press().
			shows(422, "The post cannot be duplicated, because none of its accounts is connected.")
	})
}

// The form of an existing series explains the missing date and keeps the rule. All pages count the series' posts in
// the same way.
func TestFormOfExistingSeries(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		id := c.draft(t, "Every week", c.apiTime(24*time.Hour))
		must.Get(c.Posts.Repeat(t.Context(), c.people[access.Owner].ID, id, "FREQ=WEEKLY", nil))(t)
		b.open(fmt.Sprintf("/accounts/%d/disconnect", c.account)).shows(200, "1 scheduled post and 1 series use it.")
		b.open("/settings/delete").shows(200, "1 post, including 1 scheduled, and 1 series")
		b.open("/posts/" + id).form("Pause the series").press().shows(200)
		edit := b.open("/posts/"+id+"/edit").
			shows(200, "Series, paused", "The series is paused: nothing is published until someone resumes it.",
				"If resumed now, the series would be published:")
		edit.lacks("Does not repeat", "Also on this day")
		edit.form("Save").fill("repeat", "monthly").press().shows(200, "Saved. The series is paused", "Every month")
		if rule := c.storedPost(t, "/posts/"+id).Series.Rule; !strings.HasPrefix(rule, "FREQ=MONTHLY") {
			t.Errorf("rule = %s", rule)
		}
		b.open("/posts/"+id+"/edit").form("Save and resume").fill("repeat", "").press().
			shows(422, "Choose how often the post repeats.").lacks("the next step failed")
		b.open("/posts/"+id+"/edit").form("Save and resume").fill("repeat", "daily").press().
			shows(200, "The series was resumed", "Every day")
	})
}
