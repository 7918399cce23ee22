package operator

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// channelService describes a channel service for the pages.
type channelService struct {
	Name locale.Key
	Icon string
	Hint locale.Key
}

// channelServices describes the services to which notifications can be sent. Hint says where to find the address.
var channelServices = map[notification.ChannelService]channelService{
	notification.Slack: {"Slack", "hashtag",
		"In Slack: the address of an incoming webhook. It also works with Mattermost and Rocket.Chat."},
	notification.Discord: {"Discord", "chat-3-line", "In Discord: channel settings, Integrations, Webhooks, Copy webhook URL."},
	notification.Teams: {"Microsoft Teams", "team-line",
		"In Teams: the address of a workflow that posts to a channel when it receives a webhook request."},
	notification.Ntfy: {"ntfy", "notification-3-line", "The address of the topic, such as https://ntfy.sh/my-topic."},
	notification.Webhook: {"Signed webhook", "link",
		"The address of your own program. Messages are JSON and signed according to Standard Webhooks."},
}

// channelsView is the page that lists the channels.
type channelsView struct {
	Channels []notification.Channel
	Names    teamsearch.Names // names of the channels' teams
	Error    string
}

// channelView is the form of a new or an existing channel, and the page that removes a channel or shows its secret.
type channelView struct {
	notification.Channel

	Services []notification.ChannelService
	Offered  []notification.KindInfo
	Teams    []team.Team
	Form     url.Values
	Error    string
	Secret   string // key that signs the messages of a webhook
}

// Chosen reports whether a value of a field is selected in the form.
func (v channelView) Chosen(field, value string) bool { return slices.Contains(v.Form[field], value) }

func (h *Handlers) channelsPage(w http.ResponseWriter, r *http.Request) {
	h.showChannels(w, r, http.StatusOK, "")
}

func (h *Handlers) showChannels(w http.ResponseWriter, r *http.Request, status int, formErr string) {
	view := channelsView{Error: formErr}
	if err := h.fillChannels(r.Context(), &view); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, status, pages["channels"], "Notification channels", view)
}

func (h *Handlers) fillChannels(ctx context.Context, view *channelsView) error {
	var err error
	if view.Channels, err = h.Notifications.Channels(ctx); err != nil {
		return err
	}
	var teams []int64
	for _, c := range view.Channels {
		if c.Team != 0 {
			teams = append(teams, c.Team)
		}
	}
	view.Names, err = teamsearch.TeamNames(ctx, h.DB, teams)
	return err
}

func (h *Handlers) newChannelPage(w http.ResponseWriter, r *http.Request) {
	h.showChannel(w, r, http.StatusOK, channelView{Form: url.Values{
		"service": {string(notification.Slack)}, "scope": {"all"}, "choice": {"all"},
	}})
}

// showChannel shows the form for a channel. A channel without an ID is new.
func (h *Handlers) showChannel(w http.ResponseWriter, r *http.Request, status int, view channelView) {
	teams, err := teamsearch.Teams(r.Context(), h.DB, teamsearch.Query{Limit: maxOfferedTeams})
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	view.Teams, view.Services, view.Offered = teams.Items, notification.ChannelServices, notification.Kinds
	title := locale.Key("Add a channel")
	if view.ID != 0 {
		title = "Notification channel"
	}
	h.Show(w, r, status, pages["channel"], title, view)
}

// parseChannelForm returns the values that the forms for new and existing channels have in common.
func (h *Handlers) parseChannelForm(r *http.Request, service notification.ChannelService) (notification.ChannelChange, error) {
	f := r.PostForm
	out := notification.ChannelChange{Name: f.Get("name"), URL: f.Get("url")}
	if service == notification.Ntfy { // for other services, the field is hidden, but a password manager may fill it
		out.Token = f.Get("token")
	}
	if f.Get("choice") == "some" {
		for _, kind := range f["kind"] {
			out.Kinds = append(out.Kinds, notification.Kind(kind))
		}
		if len(out.Kinds) == 0 {
			return out, apierr.OperatorError("choose at least one kind of notification")
		}
	}
	entered := strings.TrimSpace(f.Get("team"))
	if f.Get("scope") != "one" {
		return out, nil
	}
	if entered == "" {
		return out, apierr.OperatorError("choose a team")
	}
	var err error
	out.Team, err = h.findTarget(r, team.ForTeam, entered)
	return out, err
}

func (h *Handlers) addChannel(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	f := r.PostForm
	service := notification.ChannelService(f.Get("service"))
	change, err := h.parseChannelForm(r, service)
	n := notification.NewChannel{
		Service: service, Team: change.Team, Name: change.Name, URL: change.URL, Token: change.Token, Kinds: change.Kinds,
	}
	var added notification.Channel
	if err == nil {
		added, err = h.Notifications.AddChannel(r.Context(), n)
	}
	if err != nil {
		if text, status, ok := h.formError(w, r, err); ok {
			h.showChannel(w, r, status, channelView{Error: text, Form: f})
		}
		return
	}
	next := "/operator/channels"
	if n.Service == notification.Webhook {
		next += "/" + strconv.FormatInt(added.ID, 10) + "/secret"
	}
	h.finish(w, r, h.T(r, "The channel was added. Send a test message to check it."), next)
}

// channelOf returns the channel whose ID is in the path.
func (h *Handlers) channelOf(r *http.Request) (notification.Channel, error) {
	id, err := shell.PathID(r, "channel")
	if err != nil {
		return notification.Channel{}, err
	}
	channels, err := h.Notifications.Channels(r.Context())
	if err != nil {
		return notification.Channel{}, err
	}
	i := slices.IndexFunc(channels, func(c notification.Channel) bool { return c.ID == id })
	if i < 0 {
		return notification.Channel{}, apierr.ItemNotFound()
	}
	return channels[i], nil
}

// withChannel returns a handler that calls next with the channel whose ID is in the path.
func (h *Handlers) withChannel(next func(http.ResponseWriter, *http.Request, notification.Channel)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, err := h.channelOf(r)
		if err != nil {
			h.ShowError(w, r, err)
			return
		}
		next(w, r, c)
	}
}

func (h *Handlers) channelPage(w http.ResponseWriter, r *http.Request, c notification.Channel) {
	form := url.Values{"name": {c.Name}, "scope": {"all"}, "choice": {"all"}, "service": {string(c.Service)}}
	if c.Team != 0 {
		names, err := teamsearch.TeamNames(r.Context(), h.DB, []int64{c.Team})
		if err != nil {
			h.ShowError(w, r, err)
			return
		}
		form.Set("scope", "one")
		form.Set("team", strings.TrimSpace(strconv.FormatInt(c.Team, 10)+" "+names[c.Team]))
	}
	for _, kind := range c.Kinds {
		form.Set("choice", "some")
		form.Add("kind", string(kind))
	}
	h.showChannel(w, r, http.StatusOK, channelView{Channel: c, Form: form})
}

func (h *Handlers) changeChannel(w http.ResponseWriter, r *http.Request, c notification.Channel) {
	if !h.ReadForm(w, r) {
		return
	}
	change, err := h.parseChannelForm(r, c.Service)
	if err == nil {
		err = h.Notifications.ChangeChannel(r.Context(), c.ID, change)
	}
	if err != nil {
		if text, status, ok := h.formError(w, r, err); ok {
			form := r.PostForm
			form.Set("service", string(c.Service))
			h.showChannel(w, r, status, channelView{Channel: c, Error: text, Form: form})
		}
		return
	}
	h.finish(w, r, h.T(r, "The channel was saved."), "/operator/channels")
}

// channelSecretPage shows the secret that signs the messages of a webhook.
func (h *Handlers) channelSecretPage(w http.ResponseWriter, r *http.Request, c notification.Channel) {
	if c.Service != notification.Webhook {
		h.ShowError(w, r, apierr.ItemNotFound())
		return
	}
	secret, err := h.Notifications.ShowSigningSecret(r.Context(), c.ID)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["channelsecret"], "Signing secret", channelView{Channel: c, Secret: secret})
}

func (h *Handlers) removeChannelPage(w http.ResponseWriter, r *http.Request, c notification.Channel) {
	h.ShowTitled(w, r, http.StatusOK, pages["channelremove"], h.T(r, "Remove the channel %s", c.Name), channelView{Channel: c})
}

// channelAction returns a handler that calls fn with the ID of the channel in the path, and then shows message.
func (h *Handlers) channelAction(fn func(context.Context, int64) error, message locale.Key) http.HandlerFunc {
	return h.withChannel(func(w http.ResponseWriter, r *http.Request, c notification.Channel) {
		if err := fn(r.Context(), c.ID); err != nil {
			if text, status, ok := h.formError(w, r, err); ok {
				h.showChannels(w, r, status, text)
			}
			return
		}
		h.finish(w, r, h.T(r, message), "/operator/channels")
	})
}

// channelRoutes returns the routes of the pages about channels. Their forms are not restored after step-up, because
// they contain secrets, which must not be stored in a session.
func (h *Handlers) channelRoutes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /operator/channels", Handler: h.channelsPage},
		{Pattern: "GET /operator/channels/new", Handler: h.newChannelPage, RequiresRecentAuth: true},
		{Pattern: "POST /operator/channels", Handler: h.addChannel, RequiresRecentAuth: true},
		{Pattern: "GET /operator/channels/{channel}", Handler: h.withChannel(h.channelPage), RequiresRecentAuth: true},
		{Pattern: "POST /operator/channels/{channel}", Handler: h.withChannel(h.changeChannel), RequiresRecentAuth: true},
		{Pattern: "GET /operator/channels/{channel}/secret", Handler: h.withChannel(h.channelSecretPage),
			RequiresRecentAuth: true},
		{Pattern: "POST /operator/channels/{channel}/test", Handler: h.channelAction(h.Notifications.TestChannel,
			"The test message was sent.")},
		{Pattern: "GET /operator/channels/{channel}/remove", Handler: h.withChannel(h.removeChannelPage)},
		{Pattern: "POST /operator/channels/{channel}/remove", RequiresRecentAuth: true,
			Handler: h.channelAction(h.Notifications.RemoveChannel, "The channel was removed.")},
	}
}
