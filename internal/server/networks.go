package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom/internal/core/plan"
	"pressroom/internal/domain/account"
	"pressroom/internal/network"
	"pressroom/internal/network/bluesky"
	"pressroom/internal/network/facebook"
	"pressroom/internal/network/instagram"
	"pressroom/internal/network/linkedin"
	"pressroom/internal/network/pinterest"
	"pressroom/internal/network/threads"
	"pressroom/internal/network/tiktok"
	"pressroom/internal/network/x"
	"pressroom/internal/network/youtube"
	"pressroom/internal/platform/safehttp"
	"pressroom/internal/platform/tracing"
)

// NetworkSettings are what an operator says of the networks, laid over today's values.
type NetworkSettings struct {
	// Of holds a JSON object by platform, of the options of that network's package.
	Of map[string]json.RawMessage
	// Secret gives the secret of an app by its name, such as THREADS; empty where there is none.
	Secret func(name string) string
}

// opening is one network as it is made.
type opening struct {
	app    network.App
	given  json.RawMessage
	secret func(name string) string
	err    error

	missing []string // variables of secrets that are not given
}

// read lays what the operator says over a network's options, in which app stands already.
func (o *opening) read(options any) {
	if len(o.given) == 0 {
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(o.given))
	decoder.DisallowUnknownFields()
	if o.err = decoder.Decode(options); o.err == nil {
		o.err = sensible("", o.given)
	}
}

// namedHosts are the hosts, with their ports, of the addresses that an operator names in the settings of each network.
func (n NetworkSettings) namedHosts() map[string][]string {
	out := map[string][]string{}
	for platform, raw := range n.Of {
		out[platform] = hostsIn(raw)
	}
	return out
}

func hostsIn(raw json.RawMessage) []string {
	var out []string
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) == nil {
		for _, value := range members {
			out = append(out, hostsIn(value)...)
		}
		return out
	}
	if address, err := url.Parse(network.WebAddress(strings.Trim(string(raw), `"`))); err == nil && address.Host != "" {
		out = append(out, address.Host)
	}
	return out
}

// sensible refuses numbers and times below zero, and addresses that are none, wherever they stand.
func sensible(name string, raw json.RawMessage) error {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) == nil {
		for member, value := range members {
			if err := sensible(member, value); err != nil {
				return err
			}
		}
		return nil
	}
	text := strings.Trim(string(raw), `"`)
	switch {
	case strings.HasPrefix(text, "-"):
		return fmt.Errorf("%q may not be below zero", name)
	case strings.HasSuffix(name, "_host") || strings.HasSuffix(name, "_url"):
		if u, err := url.Parse(text); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			return fmt.Errorf("%q has to be an address such as https://example.com", name)
		}
	}
	return nil
}

// makers make every network. Those to which accounts are connected through an app are left out without one.
var makers = map[string]func(*opening) network.Network{
	"bluesky": func(o *opening) network.Network {
		opts := bluesky.Options{App: o.app}
		o.read(&opts)
		return bluesky.New(opts)
	},
	"facebook": maker("FACEBOOK", func(o facebook.Options) network.Network { return facebook.New(o) }),
	"instagram": func(o *opening) network.Network {
		opts := instagram.Options{App: o.app}
		o.read(&opts)
		opts.ClientSecret, opts.Facebook.ClientSecret = o.secretOf("INSTAGRAM", opts.ClientID),
			o.secretOf("INSTAGRAM_FACEBOOK", opts.Facebook.ClientID)
		return ifJoined(opts.ClientID+opts.Facebook.ClientID, instagram.New(opts))
	},
	"linkedin":  maker("LINKEDIN", func(o linkedin.Options) network.Network { return linkedin.New(o) }),
	"pinterest": maker("PINTEREST", func(o pinterest.Options) network.Network { return pinterest.New(o) }),
	"threads":   maker("THREADS", func(o threads.Options) network.Network { return threads.New(o) }),
	"tiktok": func(o *opening) network.Network {
		opts := tiktok.Options{App: o.app}
		o.read(&opts)
		opts.ClientSecret, opts.Business.ClientSecret = o.secretOf("TIKTOK", opts.ClientID),
			o.secretOf("TIKTOK_BUSINESS", opts.Business.ClientID)
		return ifJoined(opts.ClientID+opts.Business.ClientID, tiktok.New(opts))
	},
	"x": func(o *opening) network.Network {
		*o.app.Rules = x.Rules() // it counts texts in a way of its own
		return maker("X", func(o x.Options) network.Network { return x.New(o) })(o)
	},
	"youtube": maker("YOUTUBE", func(o youtube.Options) network.Network { return youtube.New(o) }),
}

// holding are options that begin with an app.
type holding[O any] interface {
	*O
	Own() *network.App
}

// maker is for a network with one app, by the name of its secret.
func maker[O any, P holding[O]](secret string, made func(O) network.Network) func(*opening) network.Network {
	return func(o *opening) network.Network {
		var opts O
		app := P(&opts).Own()
		*app = o.app
		o.read(&opts)
		app.ClientSecret = o.secretOf(secret, app.ClientID)
		return ifJoined(app.ClientID, made(opts))
	}
}

// secretOf is the secret of an app. That of X alone may have none, as a public client.
func (o *opening) secretOf(name, clientID string) string {
	secret := o.secret(name)
	if secret == "" && clientID != "" && name != "X" {
		o.missing = append(o.missing, "PRESSROOM_"+name+"_CLIENT_SECRET")
	}
	return secret
}

// ifJoined is a network that the operator has an app at, else nothing.
func ifJoined(clientID string, n network.Network) network.Network {
	if clientID == "" {
		return nil
	}
	return n
}

// networks are those that this installation speaks with.
func (s *Server) networks() ([]network.Network, error) {
	for platform := range s.cfg.Networks.Of {
		if makers[platform] == nil {
			return nil, fmt.Errorf("reading the networks' settings: there is no network %q", platform)
		}
	}
	s.reach = network.Transport()
	var out []network.Network
	var missing []string // all are told at once
	for _, platform := range slices.Sorted(maps.Keys(makers)) {
		rules, _ := network.Today(platform)
		o := &opening{
			app:   network.App{HTTP: &http.Client{Transport: s.reach}, Now: s.cfg.Now, Rules: &rules},
			given: s.cfg.Networks.Of[platform], secret: s.secret,
		}
		if platform == "bluesky" && !s.cfg.AnyServer {
			var err error
			if o.app.HTTP, err = s.strangers(); err != nil {
				return nil, err
			}
		}
		o.app.HTTP = s.traced(o.app.HTTP)
		n := makers[platform](o)
		if o.err == nil && n == nil && len(o.given) > 0 {
			o.err = errors.New("client_id is missing")
		}
		if o.err != nil {
			return nil, fmt.Errorf("reading the settings of the network %s: %w", platform, o.err)
		}
		if n != nil {
			out = append(out, n)
		}
		missing = append(missing, o.missing...)
	}
	if len(missing) > 0 {
		return nil, errors.New("secrets of your apps at the networks are missing: set " + strings.Join(missing, ", "))
	}
	return out, nil
}

func (s *Server) secret(name string) string {
	if s.cfg.Networks.Secret == nil {
		return ""
	}
	return s.cfg.Networks.Secret(name)
}

// traced is a client that gives the way of a request on, where there are ways.
func (s *Server) traced(client *http.Client) *http.Client {
	if s.tracer == nil {
		return client
	}
	out := *client
	out.Transport = tracing.Transport(out.Transport)
	return &out
}

// strangers calls servers that an account names: public ones, and those that the operator names.
func (s *Server) strangers() (*http.Client, error) {
	var err error
	if s.guard, err = guardOf(s.cfg.BlueskyServers); err != nil {
		return nil, err
	}
	return &http.Client{Transport: &barring{next: s.guard.Transport(), log: s.cfg.Log, told: newSparing(barredEvery)}},
		nil
}

// guardOf calls public servers, and those of these addresses.
func guardOf(servers []string) (*safehttp.Client, error) {
	var allowed []string
	for _, server := range servers {
		u, err := url.Parse(server)
		if err != nil || u.Hostname() == "" {
			return nil, fmt.Errorf("the Bluesky server %q is not an address such as https://pds.example.com", server)
		}
		allowed = append(allowed, u.Hostname())
	}
	guard, err := safehttp.New(safehttp.Options{Allow: allowed})
	if err != nil {
		return nil, fmt.Errorf("reading the Bluesky servers: %w", err)
	}
	return guard, nil
}

// buildConnects makes what people connect accounts by.
func (s *Server) buildConnects(offered plan.Terms) {
	s.Connects = account.NewConnector(account.ConnectorOptions{
		Accounts: s.Accounts, Terms: offered, PublicURL: s.cfg.PublicURL, CheckServer: s.mayConnectTo,
	})
}

// blueskysOwn is the entry to the network's own servers.
const blueskysOwn = "https://bsky.social"

// mayConnectTo refuses a server that neither the network nor the operator runs: whoever named it could have us call
// whatever lies around us.
func (s *Server) mayConnectTo(address string) error {
	if !slices.Contains(append(s.cfg.BlueskyServers, blueskysOwn), strings.TrimRight(address, "/")) {
		return errors.New("accounts of this server are not connected here")
	}
	return nil
}
