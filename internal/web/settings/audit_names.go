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
func (h *Handlers) addNames(r *http.Request, lines []auditLine) error {
	for _, add := range []func(*http.Request, []auditLine) error{h.namePosts, h.nameAccounts, h.nameKeys, h.nameItems} {
		if err := add(r, lines); err != nil {
			return err
		}
	}
	return nil
}

// namePosts adds the beginnings of the posts' texts, and the names that clients entered.
func (h *Handlers) namePosts(r *http.Request, lines []auditLine) error {
	var posts []string
	for _, l := range lines {
		if l.isAboutPost() {
			posts = append(posts, l.Subject)
		}
	}
	labels, err := postlist.Labels(r.Context(), h.DB, teamID(r), posts)
	if err != nil {
		return err
	}
	for i := range lines {
		l := &lines[i]
		label, ok := labels[l.Subject]
		if !ok || !l.isAboutPost() {
			continue
		}
		l.Post = cmp.Or(label.Excerpt, h.T(r, "Post without text"))
		round, _ := l.Detail["round"].(float64)
		if slices.Contains(clientKinds, l.Kind) && l.Person == "" { // signed-in clients have names
			l.Client = label.Clients[int64(round)]
		}
	}
	return nil
}

// nameAccounts adds the networks and usernames of the lines' accounts.
func (h *Handlers) nameAccounts(r *http.Request, lines []auditLine) error {
	var accounts []int64
	for _, l := range lines {
		if id := l.accountID(); id > 0 {
			accounts = append(accounts, id)
		}
	}
	if len(accounts) == 0 {
		return nil
	}
	accountsByID, err := h.Accounts.ByID(r.Context(), h.DB, teamID(r), accounts)
	if err != nil {
		return err
	}
	for i := range lines {
		l := &lines[i]
		a, ok := accountsByID[l.accountID()]
		switch {
		case !ok:
		case l.isAboutPost():
			l.Account = shell.NetworkName(a.Platform) + " (" + a.Username + ")"
		default:
			l.Account = shell.NetworkName(a.Platform) + ", " + a.Username
		}
	}
	return nil
}

// nameKeys adds the names of the lines' API keys and assistants.
func (h *Handlers) nameKeys(r *http.Request, lines []auditLine) error {
	if !slices.ContainsFunc(lines, auditLine.isAboutKey) {
		return nil
	}
	keys, err := h.Teams.Keys(r.Context(), teamID(r))
	if err != nil {
		return err
	}
	names := make(map[string]string, len(keys))
	for _, k := range keys {
		names[strconv.FormatInt(k.ID, 10)] = k.Name
	}
	for i := range lines {
		if lines[i].isAboutKey() {
			lines[i].Name = names[lines[i].Subject]
		}
	}
	return nil
}

// nameItems adds the names of the brand voices, hashtag lists, files, reports and members that the lines are about.
func (h *Handlers) nameItems(r *http.Request, lines []auditLine) error {
	ids := map[teamsearch.ItemKind][]string{}
	for _, l := range lines {
		if kind := l.itemKind(); kind != "" {
			ids[kind] = append(ids[kind], l.Subject)
		}
	}
	for kind, subjects := range ids {
		names, err := teamsearch.ItemNames(r.Context(), h.DB, teamID(r), kind, subjects)
		if err != nil {
			return err
		}
		for i := range lines {
			if lines[i].itemKind() == kind {
				lines[i].Name = names[lines[i].Subject]
			}
		}
	}
	return nil
}

// itemKind returns the kind of the line's subject for looking up its name, or "" if the subject has no name.
func (l auditLine) itemKind() teamsearch.ItemKind {
	subject, _, _ := strings.Cut(l.Kind, ".")
	switch item := teamsearch.ItemKind(subject); item {
	case teamsearch.BrandVoice, teamsearch.HashtagList, teamsearch.Media, teamsearch.Report, teamsearch.Member:
		return item
	}
	return ""
}

// isAboutKey reports whether an event is about an API key or assistant.
func (l auditLine) isAboutKey() bool {
	subject, _, _ := strings.Cut(l.Kind, ".")
	return subject == "key" || subject == "assistant"
}

// isAboutPost reports whether an event is about a post or a series.
func (l auditLine) isAboutPost() bool {
	subject, _, _ := strings.Cut(l.Kind, ".")
	return subject == "post" || subject == "series"
}

// accountID returns the ID of the event's account, or 0.
func (l auditLine) accountID() int64 {
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
