package youtube

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const maxComment = 10_000 // characters

// insertComment adds a comment to a video of the caller. When insertComment returns, the comment is on disk.
func (n *Network) insertComment(r *http.Request) (any, error) {
	var in struct {
		Snippet struct {
			VideoID  string `json:"videoId"`
			TopLevel struct {
				Snippet struct {
					Text string `json:"textOriginal"`
				} `json:"snippet"`
			} `json:"topLevelComment"`
		} `json:"snippet"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || !parseParts(r.URL.Query())["snippet"] {
		return nil, invalidRequest("missingRequiredParameter", "The request has no snippet.")
	}
	text := in.Snippet.TopLevel.Snippet.Text
	switch {
	case strings.TrimSpace(text) == "":
		return nil, invalidRequest("commentTextRequired", "The comment has no text.")
	case utf8.RuneCountInString(text) > maxComment:
		return nil, invalidRequest("commentTextTooLong", "The comment is too long.")
	}
	var response map[string]any
	_, err := n.Publish(errInternal, func(waited bool) (marker.Outcome, error) {
		var outcome marker.Outcome
		err := n.Store.InTx(r.Context(), func(t store.Tx) error {
			a, token, err := n.authenticate(r, t, scopeEdit)
			if err != nil {
				return err
			}
			p, err := findVideo(r.Context(), t, a, in.Snippet.VideoID)
			if err != nil {
				return err
			}
			attempt := marker.Attempt{Platform: Name, Account: a.ID, Text: text, Session: token.Session, Waited: waited}
			outcome, err = attempt.Publish(r.Context(), t, markerErrors, func() (string, error) {
				c := store.Post{
					Platform: Name, Account: a.ID, ID: "Ug" + stableID("comment "+base.NewID(), 24), Text: text, At: n.Now(),
					Version: base.NewID(), Body: []byte("{}"), ReplyTo: p.ID,
				}
				response = commentThread(c, map[string]bool{"snippet": true})
				return c.ID, t.SavePost(r.Context(), c)
			})
			return err
		})
		return outcome, err
	})
	return response, err
}

// listComments lists the comments on a video of the caller, newest first.
func (n *Network) listComments(r *http.Request) (any, error) {
	query := r.URL.Query()
	return n.list(r, "commentThread", []string{"id", "snippet"}, func(t store.Tx, a store.Account) ([]map[string]any, error) {
		p, err := findVideo(r.Context(), t, a, query.Get("videoId"))
		if err != nil {
			return nil, err
		}
		comments, err := t.Posts(r.Context(), `where p.platform = ? and r.reply_to = ? order by p.seq desc limit 100`, Name, p.ID)
		if err == nil {
			err = marker.WithholdAny(comments, n.Now())
		}
		items := []map[string]any{}
		for _, c := range comments {
			items = append(items, commentThread(c, parseParts(query)))
		}
		return items, err
	})
}

// commentThread returns a comment in the API's format.
func commentThread(c store.Post, requested map[string]bool) map[string]any {
	top := newResource("comment", c.ID, map[string]bool{"snippet": true}, map[string]any{"snippet": map[string]any{
		"authorChannelId": map[string]string{"value": c.Account}, "authorDisplayName": "@" + c.Handle,
		"textOriginal": c.Text, "textDisplay": c.Text, "videoId": c.ReplyTo,
		"publishedAt": c.At.UTC().Format(time.RFC3339), "updatedAt": c.At.UTC().Format(time.RFC3339),
	}})
	return newResource("commentThread", c.ID, requested, map[string]any{"snippet": map[string]any{
		"videoId": c.ReplyTo, "topLevelComment": top, "canReply": true, "totalReplyCount": 0, "isPublic": true,
	}})
}
