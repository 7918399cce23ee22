package linkedin

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf16"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const maxComment = 1250 // UTF-16 code units

// commentRequest is a request to comment on a post.
type commentRequest struct {
	Actor   string `json:"actor"`
	Object  string `json:"object"`
	Message struct {
		Text string `json:"text"`
	} `json:"message"`
}

// createComment adds a comment to a post. When createComment returns, the comment is on disk.
func (n *Network) createComment(r *http.Request) (any, error) {
	var in commentRequest
	if err := readBody(r, &in); err != nil {
		return nil, err
	}
	if in.Object != r.PathValue("urn") {
		return nil, invalidRequest("object must be the entity in the path")
	}
	var response map[string]any
	_, err := n.Publish(errInternal, func(waited bool) (marker.Outcome, error) {
		var outcome marker.Outcome
		err := n.asCaller(r, func(t store.Tx, c caller) error {
			var err error
			if outcome, err = n.tryComment(r.Context(), t, c, in, waited); err != nil || outcome.Post == "" {
				return err
			}
			comment, _, err := t.Post(r.Context(), Name, outcome.Post)
			response = commentView(comment)
			return err
		})
		return outcome, err
	})
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		base.WriteJSON(w, http.StatusCreated, response)
	}), nil
}

func (n *Network) tryComment(
	ctx context.Context, t store.Tx, c caller, in commentRequest, waited bool,
) (marker.Outcome, error) {
	if err := c.checkAuthor(in.Actor); err != nil {
		return marker.Outcome{}, err
	}
	if _, found, err := t.Post(ctx, Name, in.Object); err != nil || !found {
		return marker.Outcome{}, firstError(err, errNotFound)
	}
	if text := in.Message.Text; strings.TrimSpace(text) == "" || len(utf16.Encode([]rune(text))) > maxComment {
		return marker.Outcome{}, newInputError("FIELD_LENGTH_TOO_LONG", "message.text has an invalid length",
			"A comment has 1 to 1250 characters")
	}
	attempt := marker.Attempt{
		Platform: Name, Account: in.Actor, Text: in.Message.Text, Session: c.session, Waited: waited,
	}
	return attempt.Publish(ctx, t, markerErrors, func() (string, error) {
		next, err := t.NextPost(ctx)
		if err != nil {
			return "", err
		}
		urn := fmt.Sprintf("urn:li:comment:(%s,7%018d)", in.Object, next)
		return urn, t.SavePost(ctx, store.Post{
			Platform: Name, Account: in.Actor, ID: urn, Text: in.Message.Text, At: n.Now(), Version: base.NewID(),
			Body: []byte("{}"), ReplyTo: in.Object,
		})
	})
}

// firstError returns err, or fallback if err is nil.
func firstError(err, fallback error) error {
	if err != nil {
		return err
	}
	return fallback
}

// listComments lists the comments on a post, newest first.
func (n *Network) listComments(r *http.Request) (any, error) {
	elements := []any{}
	err := n.asCaller(r, func(t store.Tx, c caller) error {
		p, found, err := t.Post(r.Context(), Name, r.PathValue("urn"))
		if err != nil || !found {
			return firstError(err, errNotFound)
		}
		if err := c.requireScope(p.Account, scopeReadMember, scopeReadCompany); err != nil {
			return err
		}
		comments, err := t.Posts(r.Context(), `where p.platform = ? and r.reply_to = ? order by p.seq desc limit ?`, Name,
			p.ID, maxPageSize)
		if err == nil {
			err = marker.WithholdAny(comments, n.Now())
		}
		for _, comment := range comments {
			elements = append(elements, commentView(comment))
		}
		return err
	})
	return newPage(elements, 0, maxPageSize), err
}

func commentView(c store.Post) map[string]any {
	id := strings.TrimSuffix(c.ID[strings.LastIndexByte(c.ID, ',')+1:], ")")
	return map[string]any{
		"id": id, "commentUrn": c.ID, "actor": c.Account, "object": c.ReplyTo, "message": map[string]string{"text": c.Text},
		"created": map[string]any{"actor": c.Account, "time": c.At.UnixMilli()},
	}
}
