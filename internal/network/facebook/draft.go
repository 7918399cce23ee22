package facebook

import (
	"errors"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

// draft is the stored state of a publication.
type draft struct {
	IsFacebook bool            `json:"facebook"` // distinguishes drafts of different networks
	Text       string          `json:"text"`
	Link       string          `json:"link,omitempty"` // link that Facebook shows with a preview
	Media      []network.Media `json:"media,omitempty"`
	Photos     []string        `json:"photos,omitempty"`  // IDs of the unpublished photos, in order
	Video      string          `json:"video,omitempty"`   // ID of the uploaded video
	Session    string          `json:"session,omitempty"` // upload session, which Commit finishes
	Reel       bool            `json:"reel,omitempty"`    // whether the video is uploaded like a reel, also for a story
	Format     string          `json:"format,omitempty"`  // chosen in the options
	Place      string          `json:"place,omitempty"`   // ID of the place
	Title      string          `json:"title,omitempty"`   // title of a video
	Uploads    int             `json:"uploads,omitempty"` // number of uploads of the video
	PhotoUsed  bool            `json:"used,omitempty"`    // whether Facebook already published the photo as a story
	PreparedAt time.Time       `json:"made,omitzero"`     // when the draft became ready; the post cannot be older
	// Finished is true once the network has confirmed the end of the upload.
	Finished bool `json:"finished,omitempty"`
}

var drafts = network.DraftCodec[draft]{Kind: "a Facebook post", Validate: draft.validate, IsPrepared: draft.isReady}

// Plan fixes the text, the link to preview, the media and the options of a post, or the text of a first comment. A
// story has no text. Facebook does not let clients choose keys.
func (n *Network) Plan(i network.Submission) (network.Draft, error) {
	if i.Reply != nil {
		return network.PlanFirstComment(i)
	}
	o := i.Content.Options
	d := draft{
		IsFacebook: true, Text: strings.ToValidUTF8(i.Content.Text, "\uFFFD"), Media: i.Content.Media,
		Format: postOptions(o).Format, Place: postOptions(o).Place,
		Title: strings.ToValidUTF8(i.Content.TitleOn(platform), "\uFFFD"),
	}
	if d.isStory() {
		d.Text, d.Reel = "", d.isVideo()
		return drafts.Plan(d)
	}
	d.Reel = isReel(d.Media)
	d.Link = previewLink(d.Text, o, d.Media)
	return drafts.Plan(d)
}

// content returns the planned content with the options that decide whether it can be published.
func (d draft) content() network.Content {
	c := network.Content{Text: d.Text, Media: d.Media}
	if d.Format != "" {
		c.Options.Facebook = &network.FacebookOptions{Format: d.Format}
	}
	return c
}

func (d draft) isStory() bool { return d.Format == network.FormatStory }

func (d draft) validate() error {
	if !d.IsFacebook {
		return errors.New("the draft does not belong to Facebook")
	}
	return nil
}

func (d draft) isReady() bool {
	if d.PreparedAt.IsZero() {
		return false
	}
	if d.isVideo() {
		return graph.IsID(d.Video) && (d.Session != "" || d.Reel)
	}
	return len(d.Photos) == len(d.Media) && (!d.isStory() || len(d.Photos) == 1)
}

func (d draft) isVideo() bool { return len(d.Media) == 1 && d.Media[0].Kind == network.Video }
