package facebook

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

const (
	skew     = 5 * time.Minute // how far the network's clock may be behind ours
	pageSize = "100"
)

// Resolve asks for the video, or looks for the post among those of the Page. What is not found is not believed to be
// absent before a minute has passed since the last attempt.
func (n *Network) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, t network.Tried,
) (network.Verdict, network.Receipt, error) {
	p, err := drafts.Read(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	if p.isVideo() {
		return n.resolveVideo(ctx, g, p, t)
	}
	asked := n.opts.Now() // before the look: what it misses may be there by its end
	found, err := n.lookBack(ctx, g, p, p.Made.Add(-skew))
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	found = slices.DeleteFunc(found, func(l listed) bool { return t.Another(l.ID, l.Permalink) })
	if len(found) > 1 { // as far as the clocks agree, those before the Draft are others
		found = slices.DeleteFunc(found, func(l listed) bool {
			return graph.Time(l.Created).Before(p.Made.Truncate(time.Second))
		})
	}
	switch len(found) {
	case 0:
		return n.notFound(asked, t)
	case 1:
		receipt := found[0].receipt()
		receipt.Alike = true
		return network.Stands, receipt, nil
	}
	return network.Unknown, network.Receipt{}, &network.Error{
		Class: network.Uncertain, Status: http.StatusOK,
		Err: errors.New("looking back: several posts could be this one"),
	}
}

// notFound is what it means that a commit had left no trace when it was asked for.
func (n *Network) notFound(asked time.Time, t network.Tried) (network.Verdict, network.Receipt, error) {
	if asked.Sub(t.Last) < time.Duration(n.opts.Settled) {
		return network.Unknown, network.Receipt{}, n.undecided("")
	}
	return network.Absent, network.Receipt{}, nil
}

// resolveVideo asks for the video. Ending its upload once more shows it once, whatever still arrives. One that the
// network does not know proves nothing: it says the same of what the token may not see.
func (n *Network) resolveVideo(
	ctx context.Context, g network.Grant, p draft, t network.Tried,
) (network.Verdict, network.Receipt, error) {
	asked := n.opts.Now()
	now, err := n.state(ctx, g, p.Video)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	switch now.Status.Video {
	case uploading, uploaded:
		return n.notFound(asked, t)
	case failed:
		return network.Absent, network.Receipt{}, now.reason()
	case expired, unuploaded:
		return network.Absent, network.Receipt{}, gone(now.Status.Video)
	case processing, ready:
		if now.stands() {
			return network.Stands, n.shown(p, now), nil
		}
		return network.Unknown, network.Receipt{}, n.undecided(processing)
	}
	return network.Unknown, network.Receipt{},
		network.Unreadable(errors.New("asking for a video: the answer has no known status"))
}

// listed is a post as the network lists it.
type listed struct {
	ID          string `json:"id"`
	Message     string `json:"message"`
	Created     string `json:"created_time"`
	Permalink   string `json:"permalink_url"`
	Attachments struct {
		Data []struct {
			Type  string `json:"type"`
			Parts struct {
				Data []struct{} `json:"data"`
			} `json:"subattachments"`
		} `json:"data"`
	} `json:"attachments"`
}

// lookBack finds the posts since a time that could be this one.
func (n *Network) lookBack(ctx context.Context, g network.Grant, p draft, since time.Time) ([]listed, error) {
	var answer struct {
		Data []listed `json:"data"`
	}
	err := n.graph.Do(ctx, n.on(g, http.MethodGet, g.Account+"/published_posts", url.Values{
		"fields": {"id,message,created_time,permalink_url,attachments"}, "since": {strconv.FormatInt(since.Unix(), 10)},
		"limit": {pageSize},
	}, &answer))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(answer.Data, func(l listed) bool {
		return !graph.IsID(l.ID) || !l.is(p) || graph.Time(l.Created).Before(since)
	}), nil
}

// is compares the text, of which the network may change the spaces, and the number of photos.
func (l listed) is(p draft) bool {
	return slices.Equal(strings.Fields(l.Message), strings.Fields(p.Text)) && l.photos() == len(p.Photos)
}

// photos counts what a post shows. The preview of a link is none.
func (l listed) photos() int {
	count := 0
	for _, a := range l.Attachments.Data {
		if parts := len(a.Parts.Data); parts > 0 {
			count += parts
		} else if a.Type == "photo" {
			count++
		}
	}
	return count
}

func (l listed) receipt() network.Receipt {
	return network.Receipt{ID: l.ID, Permalink: network.WebAddress(l.Permalink), At: graph.Time(l.Created)}
}
