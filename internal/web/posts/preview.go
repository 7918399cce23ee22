package posts

import (
	"cmp"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/preview"
)

// titleWords are the titles of posts by their state.
var titleWords = map[post.Status]locale.Key{
	post.Draft: "Draft post", post.Scheduled: "Scheduled post", post.Processing: "Post", post.Published: "Published post",
	post.PartiallyPublished: "Partly published post", post.Failed: "Failed post",
}

// Planned reports whether the post is not published yet. The page of such a post begins with the content.
func (v *view) Planned() bool { return v.Status == post.Draft || v.Status == post.Scheduled }

// Title returns the post's state and time.
func (v *view) Title() string {
	if v.Stored.IsTemplate {
		return v.lang.T("Post of a series")
	}
	title := titleWords[v.Status]
	if v.Doubtful {
		title = "Unconfirmed post"
	}
	switch at := cmp.Or(v.Stored.PublishedAt, v.Stored.ScheduledAt); {
	case at.IsZero():
		return v.lang.T(title)
	case v.Status == post.Draft:
		return v.lang.T("Draft post, planned for %s", v.lang.Format(at.In(v.zone), locale.DateTime))
	default:
		return v.lang.T(title) + " – " + v.lang.Format(at.In(v.zone), locale.DateTime)
	}
}

// Looks returns the preview for each account. Without accounts, it returns the shared content.
func (v *view) Looks() []preview.Post {
	var out []preview.Post
	for i, a := range v.Accounts {
		author := preview.Author{ID: a.ID, Platform: a.Platform, Username: a.Username, Name: v.Names[a.ID]}
		out = append(out, preview.New(author, v.Stored.Content(v.Stored.Targets[i], "")))
	}
	if len(out) == 0 {
		out = append(out, preview.New(preview.Author{}, network.Content{Text: v.Caption, Media: v.Stored.Media}))
	}
	for i := range out {
		out[i].Lang = v.lang
		out[i].Play = v.Client // it is all that clients see of the media
	}
	return out
}
