package operator

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// serviceNames are the names of the services that receive notices, in the order of the form.
var serviceNames = map[notification.ChannelService]locale.Key{
	notification.Slack: "Slack", notification.Discord: "Discord", notification.Teams: "Microsoft Teams", notification.Ntfy: "ntfy",
	notification.Webhook: "Signed webhook",
}

// channelsView lists the channels and has the form for another.
type channelsView struct {
	Channels []notification.Channel
	Names    teamsearch.Names // of the channels' teams
	Services []notification.ChannelService
	Kinds    []notification.KindInfo
	Secret   string // that signs the messages of a new webhook
	Wrong    string
	Form     url.Values
}

// Chosen reports whether a value of a field is selected in the form.
func (v channelsView) Chosen(field, value string) bool {
	for _, given := range v.Form[field] {
		if given == value {
			return true
		}
	}
	return false
}

func (p *Handlers) channelsPage(w http.ResponseWriter, r *http.Request) {
	p.showChannels(w, r, http.StatusOK, channelsView{Form: url.Values{"service": {string(notification.Slack)}}})
}

func (p *Handlers) showChannels(w http.ResponseWriter, r *http.Request, status int, view channelsView) {
	if err := p.fillChannels(r.Context(), &view); err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Show(w, r, status, pages["channels"], "Notification channels", view)
}

func (p *Handlers) fillChannels(ctx context.Context, view *channelsView) error {
	var err error
	if view.Channels, err = p.Notifications.Channels(ctx); err != nil {
		return err
	}
	var teams []int64
	for _, c := range view.Channels {
		if c.Team != 0 {
			teams = append(teams, c.Team)
		}
	}
	view.Services, view.Kinds = notification.ChannelServices, notification.Kinds
	view.Names, err = teamsearch.TeamNames(ctx, p.DB, teams)
	return err
}

func (p *Handlers) addChannel(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	f := r.PostForm
	n := notification.NewChannel{
		Service: notification.ChannelService(f.Get("service")), Name: f.Get("name"), URL: f.Get("url"), Token: f.Get("token"),
	}
	for _, kind := range f["kind"] {
		n.Kinds = append(n.Kinds, notification.Kind(kind))
	}
	var err error
	if f.Get("team") != "" {
		if n.Team, err = strconv.ParseInt(f.Get("team"), 10, 64); err != nil || n.Team < 1 {
			err = apierr.OperatorError("there is no such team")
		}
	}
	var added notification.Channel
	if err == nil {
		added, err = p.Notifications.AddChannel(r.Context(), n)
	}
	if err != nil {
		if text, status, ok := p.formError(w, r, err); ok {
			p.showChannels(w, r, status, channelsView{Wrong: text, Form: f})
		}
		return
	}
	if added.SigningSecret != "" { // It is shown once, so the page is the answer.
		p.showChannels(w, r, http.StatusOK, channelsView{Secret: added.SigningSecret, Form: url.Values{}})
		return
	}
	p.finish(w, r, p.T(r, "The channel was added. Send a test message to check it."), "/operator/channels")
}

// changeChannel returns a handler that does something with a channel.
func (p *Handlers) changeChannel(do func(context.Context, int64) error, said locale.Key) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(r.PathValue("channel"), 10, 64)
		if err != nil {
			p.ShowError(w, r, apierr.Missing())
			return
		}
		if err := do(r.Context(), id); err != nil {
			if text, status, ok := p.formError(w, r, err); ok {
				p.showChannels(w, r, status, channelsView{Wrong: text, Form: url.Values{}})
			}
			return
		}
		p.finish(w, r, p.T(r, said), "/operator/channels")
	}
}

// channelRoutes returns the routes of the page of channels.
func (p *Handlers) channelRoutes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /operator/channels", Do: p.channelsPage},
		{Pattern: "POST /operator/channels", Do: p.addChannel, Recent: true},
		{Pattern: "POST /operator/channels/{channel}/test",
			Do: p.changeChannel(p.Notifications.TestChannel, "The test message was sent.")},
		{Pattern: "POST /operator/channels/{channel}/remove",
			Do: p.changeChannel(p.Notifications.RemoveChannel, "The channel was removed.")},
	}
}
