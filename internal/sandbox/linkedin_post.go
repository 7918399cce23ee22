package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf16"
)

const (
	maxLinkedinText   = 3000 // UTF-16 code units, of the text as people see it
	maxLinkedinImages = 20
	linkedinSame      = 24 * time.Hour // how long the same text is refused
	usualLinkedinPage = 10
	mostLinkedinPage  = 100
)

// linkedinMedium is an image or a video as a post names it.
type linkedinMedium struct {
	ID    string `json:"id"`
	Alt   string `json:"altText,omitempty"`
	Title string `json:"title,omitempty"`
}

type linkedinImageSet struct {
	Images []linkedinMedium `json:"images"`
}

type linkedinContent struct {
	Media   *linkedinMedium   `json:"media,omitempty"`
	Several *linkedinImageSet `json:"multiImage,omitempty"`
}

// linkedinPost is a post in the API's own form.
type linkedinPost struct {
	Author       string `json:"author"`
	Commentary   string `json:"commentary"` // little text
	Visibility   string `json:"visibility"`
	Distribution struct {
		Feed     string   `json:"feedDistribution"`
		Targets  []any    `json:"targetEntities"`
		Channels []string `json:"thirdPartyDistributionChannels"`
	} `json:"distribution"`
	Content   *linkedinContent `json:"content,omitempty"`
	Lifecycle string           `json:"lifecycleState"`
	NoReshare bool             `json:"isReshareDisabledByAuthor"`
}

// media are what the post shows.
func (p linkedinPost) media() []linkedinMedium {
	switch {
	case p.Content == nil:
		return nil
	case p.Content.Media != nil:
		return []linkedinMedium{*p.Content.Media}
	case p.Content.Several != nil:
		return p.Content.Several.Images
	}
	return nil
}

// good tells whether the content is of one form, and complete.
func (c linkedinContent) good() bool {
	if c.Several == nil {
		return c.Media != nil
	}
	images := len(c.Several.Images)
	return c.Media == nil && images >= 2 && images <= maxLinkedinImages
}

// check refuses what does not depend on what the network holds.
func (p linkedinPost) check(text string) error {
	switch {
	case p.Visibility != "PUBLIC" || p.Lifecycle != "PUBLISHED" || p.Distribution.Feed != "MAIN_FEED":
		return linkedinInvalid("visibility, lifecycleState or feedDistribution has a value that the sandbox " +
			"does not know")
	case p.Content != nil && !p.Content.good():
		return linkedinInvalid("content has to have one member, and multiImage 2 to 20 images")
	case p.Content == nil && text == "":
		return refuseLinkedinInput("MISSING_FIELD", "commentary or content is required",
			"A post needs a text or content")
	case len(utf16.Encode([]rune(text))) > maxLinkedinText:
		return refuseLinkedinInput("FIELD_LENGTH_TOO_LONG", "commentary is too long",
			"commentary exceeds the maximum length of 3000 characters")
	}
	return nil
}

// publish shows a post to everybody, on disk when it returns.
func (n *linkedin) publish(r *http.Request) (any, error) {
	var in linkedinPost
	if err := readLinkedin(r, &in); err != nil {
		return nil, err
	}
	for waited := false; ; waited = true {
		var out launch
		err := n.caller(r, func(t tx, c linkedinCaller) error {
			var err error
			out, err = n.tryPublish(r.Context(), t, c, in, waited)
			return err
		})
		if err == nil {
			err = out.refused
		}
		if err != nil {
			return nil, err
		}
		if out.wait == 0 {
			return linkedinMade(out.post), nil
		}
		if !n.pause(out.wait) {
			return nil, errLinkedinInternal
		}
	}
}

// linkedinMade answers that a post was made: its URN is in the header alone.
func linkedinMade(urn string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Restli-Id", urn)
		w.Header().Set("X-LinkedIn-Id", urn)
		w.WriteHeader(http.StatusCreated)
	})
}

// tryPublish checks a post, lets the markers act, then keeps it.
func (n *linkedin) tryPublish(
	ctx context.Context, t tx, c linkedinCaller, in linkedinPost, waited bool,
) (launch, error) {
	if err := c.writesAs(in.Author); err != nil {
		return launch{}, err
	}
	text := readLittleText(in.Commentary)
	if err := in.check(text); err != nil {
		return launch{}, err
	}
	media, err := n.gather(ctx, t, in)
	if err != nil {
		return launch{}, err
	}
	marks := readMarkers(text, linkedinName)
	key := in.Author + " " + contentID([]byte(text)) // media are new each time
	if out, acted, err := n.actBefore(ctx, t, marks, key, c.session); err != nil || acted {
		return out, err
	}
	if marks.slow > 0 && !waited {
		return launch{wait: marks.slow}, nil
	}
	if err := n.refuseTwin(ctx, t, in.Author, text); err != nil {
		return launch{}, err
	}
	urn, err := n.keep(ctx, t, in, text, media)
	if err != nil {
		return launch{}, err
	}
	out := launch{post: urn}
	lost, err := loses(ctx, t, linkedinName, marks, key)
	if lost {
		out.refused = errCut
	}
	return out, err
}

// asset is an image or a video that the caller may show.
func (c linkedinCaller) asset(ctx context.Context, t tx, urn string) (linkedinAsset, error) {
	a, found, err := t.linkedinAsset(ctx, urn)
	switch {
	case err != nil:
		return linkedinAsset{}, err
	case !found:
		return linkedinAsset{}, errLinkedinMissing
	}
	return a, c.writesAs(a.owner)
}

// gather finds what the post shows: its author's, and ready.
func (n *linkedin) gather(ctx context.Context, t tx, in linkedinPost) ([]medium, error) {
	var media []medium
	for _, m := range in.media() {
		a, found, err := t.linkedinAsset(ctx, m.ID)
		switch {
		case err != nil:
			return nil, err
		case !found || a.owner != in.Author || a.video && in.Content.Media == nil:
			return nil, linkedinInvalid("The post names media that the author cannot show in this way")
		case a.status(n.now(), n.ready) != "AVAILABLE":
			return nil, linkedinInvalid("The media are not ready to be shown")
		}
		media = append(media,
			medium{Path: linkedinName + "/media/" + a.owner + "/" + a.blob.cid, Type: a.blob.mime, Alt: m.Alt})
	}
	return media, nil
}

// actBefore lets the markers act that keep a post from being published. It is true where one did.
func (n *linkedin) actBefore(ctx context.Context, t tx, marks markers, key, session string) (launch, bool, error) {
	if marks.has(markReject) {
		return launch{
			refused: refuseLinkedinInput("INVALID_CONTENT", "This content cannot be posted",
				"This content cannot be posted (asked for by a sandbox marker)"),
		}, true, nil
	}
	if dead, err := once(ctx, t, linkedinName, marks, key, markExpiredToken); err != nil || dead {
		if err == nil {
			err = t.killSession(ctx, linkedinName, session)
		}
		return launch{refused: errLinkedinRevoked}, true, err
	}
	if marks.has(markRateLimit) {
		return launch{refused: errLinkedinRate}, true, nil
	}
	failing, err := once(ctx, t, linkedinName, marks, key, markError)
	return launch{refused: errLinkedinInternal}, failing, err
}

// refuseTwin refuses a text that the author has published within a day.
func (n *linkedin) refuseTwin(ctx context.Context, t tx, author, text string) error {
	if text == "" {
		return nil
	}
	twins, err := t.posts(ctx, `where p.platform = ? and p.account = ? and p.text = ? and p.at > ?`,
		linkedinName, author, text, n.now().Add(-linkedinSame).UnixMilli())
	if err == nil && len(twins) > 0 {
		err = refuseLinkedinInput("DUPLICATE_POST", "Duplicate post is detected",
			"Content is a duplicate of "+twins[0].id)
	}
	return err
}

// keep keeps the post under a new URN.
func (n *linkedin) keep(ctx context.Context, t tx, in linkedinPost, text string, media []medium) (string, error) {
	var count int64
	if err := t.QueryRowContext(ctx, `select coalesce(max(seq), 0) from posts`).Scan(&count); err != nil {
		return "", fmt.Errorf("counting posts: %w", err)
	}
	body, err := json.Marshal(map[string]any{"post": in, "media": media})
	if err != nil {
		return "", fmt.Errorf("writing a post: %w", err)
	}
	urn := fmt.Sprintf("urn:li:share:7%018d", count+1)
	return urn, t.keepPost(ctx,
		post{
			platform: linkedinName, account: in.Author, id: urn, text: text, media: media, at: n.now(),
			version: newID(), body: body,
		})
}

// listPosts lists an author's posts, the newest first.
func (n *linkedin) listPosts(r *http.Request) (any, error) {
	query := r.URL.Query()
	count := usualLinkedinPage
	var err error
	if text := query.Get("count"); text != "" {
		count, err = strconv.Atoi(text)
	}
	if err != nil || count < 1 || count > mostLinkedinPage || query.Get("q") != "author" ||
		!slices.Contains([]string{"", "CREATED", "LAST_MODIFIED"}, query.Get("sortBy")) {
		return nil, linkedinInvalid("q has to be author, count a number from 1 to 100, sortBy CREATED or LAST_MODIFIED")
	}
	start, err := strconv.Atoi(cmp.Or(query.Get("start"), "0"))
	if err != nil || start < 0 {
		return nil, linkedinInvalid("start has to be a number of posts")
	}
	elements := []any{}
	err = n.caller(r, func(t tx, c linkedinCaller) error {
		author := query.Get("author")
		if err := c.speaksFor(author, linkedinReadMember, linkedinReadCompany); err != nil {
			return err
		}
		held, err := t.posts(r.Context(),
			`where p.platform = ? and p.account = ? order by p.at desc, p.seq desc limit ? offset ?`, linkedinName,
			author, count, start)
		if err == nil {
			err = untoldAmong(held, n.now())
		}
		for _, p := range held {
			elements = append(elements, p.toldByLinkedin())
		}
		return err
	})
	return map[string]any{
		"elements": elements, "paging": map[string]any{"start": start, "count": count, "links": []any{}},
	}, err
}

func (p post) toldByLinkedin() map[string]any {
	var kept struct {
		Post linkedinPost `json:"post"`
	}
	_ = json.Unmarshal(p.body, &kept) // it was written by keep
	told := map[string]any{
		"id": p.id, "author": kept.Post.Author, "commentary": kept.Post.Commentary, "visibility": kept.Post.Visibility,
		"distribution": kept.Post.Distribution, "lifecycleState": kept.Post.Lifecycle,
		"isReshareDisabledByAuthor": kept.Post.NoReshare,
		"createdAt":                 p.at.UnixMilli(), "publishedAt": p.at.UnixMilli(),
		"lastModifiedAt": p.at.UnixMilli(),
	}
	if kept.Post.Content != nil {
		told["content"] = kept.Post.Content
	}
	return told
}

// describeAsset tells how far an image or a video is. Those who may only write for members may not ask.
func (n *linkedin) describeAsset(r *http.Request) (any, error) {
	var answer map[string]any
	err := n.caller(r, func(t tx, c linkedinCaller) error {
		if !slices.Contains(c.scopes, linkedinReadCompany) {
			return errLinkedinDenied
		}
		a, err := c.asset(r.Context(), t, r.PathValue("urn"))
		answer = map[string]any{"id": a.id, "owner": a.owner, "status": a.status(n.now(), n.ready)}
		if answer["status"] == "PROCESSING_FAILED" {
			answer["processingFailureReason"] = "The file is none that can be shown"
		}
		return err
	})
	return answer, err
}

// mediaFile gives out a file that a post shows.
func (n *linkedin) mediaFile(r *http.Request) (any, error) {
	var blob blobRef
	err := n.store.in(r.Context(), func(t tx) error {
		var found bool
		var err error
		blob, found, err = t.namedBlob(r.Context(), linkedinName, r.PathValue("account"), r.PathValue("cid"))
		if err == nil && !found {
			err = errLinkedinMissing
		}
		return err
	})
	return n.blobAnswer(blob), err
}
