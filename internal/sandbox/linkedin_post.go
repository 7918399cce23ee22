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
	maxLinkedinText   = 3000 // UTF-16 code units of the visible text
	maxLinkedinImages = 20
	linkedinSame      = 24 * time.Hour // for which a repeated text is refused
	usualLinkedinPage = 10
	mostLinkedinPage  = 100
)

// linkedinMedium is a post's reference to an image or a video.
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

// linkedinPost is a post in the API's form.
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

// media returns the media of the post.
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

// good reports whether the content is complete and of one form.
func (c linkedinContent) good() bool {
	if c.Several == nil {
		return c.Media != nil
	}
	images := len(c.Several.Images)
	return c.Media == nil && images >= 2 && images <= maxLinkedinImages
}

// check refuses an invalid post.
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

// publish publishes a post, on disk when it returns.
func (n *linkedin) publish(r *http.Request) (any, error) {
	var in linkedinPost
	if err := readLinkedin(r, &in); err != nil {
		return nil, err
	}
	urn, err := n.shared.publish(errLinkedinInternal, func(waited bool) (outcome, error) {
		var out outcome
		err := n.caller(r, func(t tx, c linkedinCaller) error {
			var err error
			out, err = n.tryPublish(r.Context(), t, c, in, waited)
			return err
		})
		return out, err
	})
	return linkedinMade(urn), err
}

// linkedinRefusals are the refusals that markers ask for.
var linkedinRefusals = refusals{
	rejected: refuseLinkedinInput("INVALID_CONTENT", "This content cannot be posted",
		"This content cannot be posted (asked for by a sandbox marker)"),
	expired: errLinkedinRevoked, rateLimited: errLinkedinRate, failed: errLinkedinInternal,
}

func (n *linkedin) tryPublish(
	ctx context.Context, t tx, c linkedinCaller, in linkedinPost, waited bool,
) (outcome, error) {
	if err := c.writesAs(in.Author); err != nil {
		return outcome{}, err
	}
	text := readLittleText(in.Commentary)
	if err := in.check(text); err != nil {
		return outcome{}, err
	}
	media, err := n.gather(ctx, t, in)
	if err != nil {
		return outcome{}, err
	}
	publication := attempt{
		platform: linkedinName, account: in.Author, text: text, session: c.session, waited: waited,
	}
	return publication.publish(ctx, t, linkedinRefusals, func() (string, error) {
		if err := n.refuseTwin(ctx, t, in.Author, text); err != nil {
			return "", err
		}
		return n.keep(ctx, t, in, text, media)
	})
}

// linkedinMade returns the answer for a new post, whose URN is only in the header.
func linkedinMade(urn string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Restli-Id", urn)
		w.Header().Set("X-LinkedIn-Id", urn)
		w.WriteHeader(http.StatusCreated)
	})
}

// asset returns an image or a video that the caller may use.
func (c linkedinCaller) asset(ctx context.Context, t tx, urn string) (linkedinAsset, error) {
	a, found, err := findLinkedinAsset(ctx, t, urn)
	switch {
	case err != nil:
		return linkedinAsset{}, err
	case !found:
		return linkedinAsset{}, errLinkedinMissing
	}
	return a, c.writesAs(a.owner)
}

// gather returns the media of a post, which must be its author's and ready.
func (n *linkedin) gather(ctx context.Context, t tx, in linkedinPost) ([]medium, error) {
	var media []medium
	for _, m := range in.media() {
		a, found, err := findLinkedinAsset(ctx, t, m.ID)
		switch {
		case err != nil:
			return nil, err
		case !found || a.owner != in.Author || a.video && in.Content.Media == nil:
			return nil, linkedinInvalid("The post names media that the author cannot show in this way")
		case a.status(n.now(), n.ready) != "AVAILABLE":
			return nil, linkedinInvalid("The media are not ready to be shown")
		}
		media = append(media, newMedium(linkedinName, a.owner, a.blob, m.Alt))
	}
	return media, nil
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

// keep stores the post under a new URN.
func (n *linkedin) keep(ctx context.Context, t tx, in linkedinPost, text string, media []medium) (string, error) {
	next, err := t.nextPost(ctx)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(map[string]any{"post": in, "media": media})
	if err != nil {
		return "", fmt.Errorf("writing a post: %w", err)
	}
	urn := fmt.Sprintf("urn:li:share:7%018d", next)
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
		posts, err := t.posts(r.Context(),
			`where p.platform = ? and p.account = ? order by p.at desc, p.seq desc limit ? offset ?`, linkedinName,
			author, count, start)
		if err == nil {
			err = untoldAmong(posts, n.now())
		}
		for _, p := range posts {
			elements = append(elements, linkedinView(p))
		}
		return err
	})
	return map[string]any{
		"elements": elements, "paging": map[string]any{"start": start, "count": count, "links": []any{}},
	}, err
}

func linkedinView(p post) map[string]any {
	var body struct {
		Post linkedinPost `json:"post"`
	}
	_ = json.Unmarshal(p.body, &body) // keep wrote it
	answer := map[string]any{
		"id": p.id, "author": body.Post.Author, "commentary": body.Post.Commentary, "visibility": body.Post.Visibility,
		"distribution": body.Post.Distribution, "lifecycleState": body.Post.Lifecycle,
		"isReshareDisabledByAuthor": body.Post.NoReshare,
		"createdAt":                 p.at.UnixMilli(), "publishedAt": p.at.UnixMilli(),
		"lastModifiedAt": p.at.UnixMilli(),
	}
	if body.Post.Content != nil {
		answer["content"] = body.Post.Content
	}
	return answer
}

// describeAsset returns the status of an image or a video. It needs a scope that may read.
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
