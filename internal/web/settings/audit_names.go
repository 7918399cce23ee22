package settings

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
	"pressroom.example/pressroom/internal/web/shell"
)

// addNames adds the names of the lines' subjects, if these still exist.
func (p *Handlers) addNames(r *http.Request, lines []line) error {
	for _, add := range []func(*http.Request, []line) error{p.namePosts, p.nameAccounts, p.nameKeys, p.nameItems} {
		if err := add(r, lines); err != nil {
			return err
		}
	}
	return nil
}

// namePosts adds the beginnings of the posts' texts, and the names that clients entered.
func (p *Handlers) namePosts(r *http.Request, lines []line) error {
	var posts []string
	for _, l := range lines {
		if l.ofPost() {
			posts = append(posts, l.Subject)
		}
	}
	labels, err := postlist.Labels(r.Context(), p.DB, teamID(r), posts)
	if err != nil {
		return err
	}
	for i := range lines {
		l := &lines[i]
		n, ok := labels[l.Subject]
		if !ok || !l.ofPost() {
			continue
		}
		l.Post = cmp.Or(n.Excerpt, p.T(r, "Post without text"))
		round, _ := l.Detail["round"].(float64)
		if slices.Contains(clientKinds, l.Kind) && l.Person == "" { // signed-in clients have names
			l.Client = n.Clients[int64(round)]
		}
	}
	return nil
}

// nameAccounts adds the networks and usernames of the lines' accounts.
func (p *Handlers) nameAccounts(r *http.Request, lines []line) error {
	var accounts []int64
	for _, l := range lines {
		if id := l.account(); id > 0 {
			accounts = append(accounts, id)
		}
	}
	if len(accounts) == 0 {
		return nil
	}
	accountsByID, err := p.Accounts.ByID(r.Context(), p.DB, teamID(r), accounts)
	if err != nil {
		return err
	}
	for i := range lines {
		l := &lines[i]
		a, ok := accountsByID[l.account()]
		switch {
		case !ok:
		case l.ofPost():
			l.Account = shell.NetworkName(a.Platform) + " (" + a.Username + ")"
		default:
			l.Account = shell.NetworkName(a.Platform) + ", " + a.Username
		}
	}
	return nil
}

// nameKeys adds the names of the lines' API keys and assistants.
func (p *Handlers) nameKeys(r *http.Request, lines []line) error {
	if !slices.ContainsFunc(lines, line.ofKey) {
		return nil
	}
	keys, err := p.Teams.Keys(r.Context(), teamID(r))
	if err != nil {
		return err
	}
	names := make(map[string]string, len(keys))
	for _, k := range keys {
		names[strconv.FormatInt(k.ID, 10)] = k.Name
	}
	for i := range lines {
		if lines[i].ofKey() {
			lines[i].Name = names[lines[i].Subject]
		}
	}
	return nil
}

// nameItems adds the names of the brand voices, hashtag lists, files, reports and members that the lines are about.
func (p *Handlers) nameItems(r *http.Request, lines []line) error {
	ids := map[teamsearch.ItemKind][]string{}
	for _, l := range lines {
		if kind := l.item(); kind != "" {
			ids[kind] = append(ids[kind], l.Subject)
		}
	}
	for kind, of := range ids {
		names, err := teamsearch.ItemNames(r.Context(), p.DB, teamID(r), kind, of)
		if err != nil {
			return err
		}
		for i := range lines {
			if lines[i].item() == kind {
				lines[i].Name = names[lines[i].Subject]
			}
		}
	}
	return nil
}

// item returns the kind of the line's subject for looking up its name, or "" if the subject has no name.
func (l line) item() teamsearch.ItemKind {
	subject, _, _ := strings.Cut(l.Kind, ".")
	switch item := teamsearch.ItemKind(subject); item {
	case teamsearch.BrandVoice, teamsearch.HashtagList, teamsearch.Media, teamsearch.Report, teamsearch.Member:
		return item
	}
	return ""
}

// ofKey reports whether an event is about an API key or assistant.
func (l line) ofKey() bool {
	subject, _, _ := strings.Cut(l.Kind, ".")
	return subject == "key" || subject == "assistant"
}

// ofPost reports whether an event is about a post or a series.
func (l line) ofPost() bool {
	subject, _, _ := strings.Cut(l.Kind, ".")
	return subject == "post" || subject == "series"
}

// account returns the ID of the event's account, or 0.
func (l line) account() int64 {
	if strings.HasPrefix(l.Kind, "social_account.") {
		id, err := strconv.ParseInt(l.Subject, 10, 64)
		if err != nil {
			return 0
		}
		return id
	}
	id, _ := l.Detail["account"].(float64) // JSON number
	return int64(id)
}
