package x

import (
	"context"
	"net/http"
	"slices"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/rest"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// postOptions are the optional members of a post.
type postOptions struct {
	ReplySettings   string `json:"reply_settings,omitempty"`
	Quote           string `json:"quote_tweet_id,omitempty"`
	Poll            *poll  `json:"poll,omitempty"`
	MadeWithAI      bool   `json:"made_with_ai,omitempty"`
	PaidPartnership bool   `json:"paid_partnership,omitempty"`
}

type poll struct {
	Options         []string `json:"options"`
	DurationMinutes int      `json:"duration_minutes"`
}

var replySettings = []string{"", "following", "mentionedUsers", "subscribers", "verified"}

// addOptions checks the optional members of a request, and adds them to the body of its post. If the post quotes
// another post, addOptions appends a link to that post to the text, as X does.
func (n *Network) addOptions(ctx context.Context, t store.Tx, in postRequest, body *postBody) error {
	o := in.postOptions
	switch {
	case !slices.Contains(replySettings, o.ReplySettings):
		return invalidRequest("reply_settings must be one of following, mentionedUsers, subscribers, verified.")
	case o.ReplySettings != "" && in.Reply.To != "":
		return invalidRequest("Reply settings can only be set on a Post that is not a reply.")
	case o.Poll != nil && !o.Poll.isValid():
		return invalidRequest("The poll is invalid.")
	case len(in.Media.IDs) > 0 && (o.Quote != "" || o.Poll != nil), o.Quote != "" && o.Poll != nil:
		return invalidRequest("Only one of media, quote_tweet_id and poll is allowed.")
	}
	body.postOptions = o
	if o.Quote == "" {
		return nil
	}
	quoted, found, err := t.Post(ctx, Name, o.Quote)
	if err == nil && !found {
		err = &rest.Error{
			Status: http.StatusForbidden, Message: "You attempted to quote a Post that is deleted or not visible to you.",
		}
	}
	if err != nil {
		return err
	}
	short := "https://t.co/" + base.NewID()[:10]
	start := utf8.RuneCountInString(body.Text) + 1
	body.Text += " " + short
	body.Links = append(body.Links, postLink{
		Start: start, End: start + len(short), Short: short, Full: "https://x.com/" + quoted.Handle + "/status/" + o.Quote,
	})
	return nil
}

func (p poll) isValid() bool {
	if len(p.Options) < 2 || len(p.Options) > 4 || p.DurationMinutes < 5 || p.DurationMinutes > 10080 {
		return false
	}
	return !slices.ContainsFunc(p.Options, func(choice string) bool {
		length := utf8.RuneCountInString(choice)
		return length < 1 || length > 25
	})
}
