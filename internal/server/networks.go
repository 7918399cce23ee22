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

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/bluesky"
	"pressroom.example/pressroom/internal/network/facebook"
	"pressroom.example/pressroom/internal/network/instagram"
	"pressroom.example/pressroom/internal/network/linkedin"
	"pressroom.example/pressroom/internal/network/pinterest"
	"pressroom.example/pressroom/internal/network/threads"
	"pressroom.example/pressroom/internal/network/tiktok"
	"pressroom.example/pressroom/internal/network/x"
	"pressroom.example/pressroom/internal/network/youtube"
	"pressroom.example/pressroom/internal/platform/safehttp"
	"pressroom.example/pressroom/internal/platform/tracing"
)

// NetworkSettings are the operator's settings for networks. They override the defaults.
type NetworkSettings struct {
	// ByPlatform maps a platform to a JSON object with the options of that network's package.
	ByPlatform map[string]json.RawMessage
	// Secret returns the secret of the app with a name such as THREADS, or "" if the secret is not set.
	Secret func(name string) string
}

// networkBuilder contains the settings and clients that the constructors of networks need.
type networkBuilder struct {
	app      network.App
	settings json.RawMessage
	secret   func(name string) string
	readPage network.PageReader
	err      error

	missing []string // names of environment variables for secrets that are not set
}

// decode sets the fields of options that are in the operator's settings.
func (b *networkBuilder) decode(options any) {
	if len(b.settings) == 0 {
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(b.settings))
	decoder.DisallowUnknownFields()
	if b.err = decoder.Decode(options); b.err == nil {
		b.err = checkSettings("", b.settings)
	}
	if o, ok := options.(validator); ok && b.err == nil {
		b.err = o.Validate()
	}
}

// validator is implemented by options that need additional checks.
type validator interface {
	Validate() error
}

// namedHosts returns, for each network, the hosts (with ports) of all URLs in its settings.
func (n NetworkSettings) namedHosts() map[string][]string {
	out := map[string][]string{}
	for platform, raw := range n.ByPlatform {
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
	if address, err := url.Parse(network.WebURL(strings.Trim(string(raw), `"`))); err == nil && address.Host != "" {
		out = append(out, address.Host)
	}
	return out
}

// checkSettings returns an error if the settings contain a negative number, a negative duration or an invalid URL, at
// any depth.
func checkSettings(name string, raw json.RawMessage) error {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) == nil {
		for member, value := range members {
			if err := checkSettings(member, value); err != nil {
				return err
			}
		}
		return nil
	}
	text := strings.Trim(string(raw), `"`)
	switch {
	case strings.HasPrefix(text, "-"):
		return fmt.Errorf("%q must not be negative", name)
	case strings.HasSuffix(name, "_host") || strings.HasSuffix(name, "_url"):
		if u, err := url.Parse(text); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			return fmt.Errorf("%q must be a URL such as https://example.com", name)
		}
	}
	return nil
}

// constructors maps each network to the function that builds it. The function returns nil if the network's app is not
// configured.
var constructors = map[string]func(*networkBuilder) network.Network{
	"bluesky": func(b *networkBuilder) network.Network {
		opts := bluesky.Options{App: b.app, ReadPage: b.readPage}
		b.decode(&opts)
		return bluesky.New(opts)
	},
	"facebook": withApp("FACEBOOK", func(o facebook.Options) network.Network { return facebook.New(o) }),
	"instagram": func(b *networkBuilder) network.Network {
		opts := instagram.Options{App: b.app}
		b.decode(&opts)
		opts.ClientSecret, opts.Facebook.ClientSecret = b.secretFor("INSTAGRAM", opts.ClientID),
			b.secretFor("INSTAGRAM_FACEBOOK", opts.Facebook.ClientID)
		return ifConfigured(opts.ClientID+opts.Facebook.ClientID, instagram.New(opts))
	},
	"linkedin": func(b *networkBuilder) network.Network {
		opts := linkedin.Options{App: b.app, ReadPage: b.readPage}
		b.decode(&opts)
		opts.ClientSecret, opts.Company.ClientSecret = b.secretFor("LINKEDIN", opts.ClientID),
			b.secretFor("LINKEDIN_COMPANY", opts.Company.ClientID)
		return ifConfigured(opts.ClientID+opts.Company.ClientID, linkedin.New(opts))
	},
	"pinterest": withApp("PINTEREST", func(o pinterest.Options) network.Network { return pinterest.New(o) }),
	"threads":   withApp("THREADS", func(o threads.Options) network.Network { return threads.New(o) }),
	"tiktok": func(b *networkBuilder) network.Network {
		opts := tiktok.Options{App: b.app}
		b.decode(&opts)
		opts.ClientSecret, opts.Business.ClientSecret = b.secretFor("TIKTOK", opts.ClientID),
			b.secretFor("TIKTOK_BUSINESS", opts.Business.ClientID)
		return ifConfigured(opts.ClientID+opts.Business.ClientID, tiktok.New(opts))
	},
	"x": func(b *networkBuilder) network.Network {
		*b.app.Rules = x.Rules() // X counts characters differently
		return withApp("X", func(o x.Options) network.Network { return x.New(o) })(b)
	},
	"youtube": withApp("YOUTUBE", func(o youtube.Options) network.Network { return youtube.New(o) }),
}

// appOptions are options that contain an app.
type appOptions[O any] interface {
	*O
	Base() *network.App
}

// withApp returns the constructor of a network with one app. name is the name of the app's secret.
func withApp[O any, P appOptions[O]](
	secret string, build func(O) network.Network,
) func(*networkBuilder) network.Network {
	return func(b *networkBuilder) network.Network {
		var opts O
		app := P(&opts).Base()
		*app = b.app
		b.decode(&opts)
		app.ClientSecret = b.secretFor(secret, app.ClientID)
		return ifConfigured(app.ClientID, build(opts))
	}
}

// secretFor returns the secret of an app. If the secret is not set, secretFor records that it is missing. X's app does
// not need a secret, because it may be a public client.
func (b *networkBuilder) secretFor(name, clientID string) string {
	secret := b.secret(name)
	if secret == "" && clientID != "" && name != "X" {
		b.missing = append(b.missing, "PRESSROOM_"+name+"_CLIENT_SECRET")
	}
	return secret
}

// ifConfigured returns n if the operator has configured an app for the network, and nil otherwise.
func ifConfigured(clientID string, n network.Network) network.Network {
	if clientID == "" {
		return nil
	}
	return n
}

// networks returns the networks of this installation.
func (s *Server) networks() ([]network.Network, error) {
	for platform := range s.cfg.Networks.ByPlatform {
		if constructors[platform] == nil {
			return nil, fmt.Errorf("reading the network settings: unknown network %q", platform)
		}
	}
	s.transport = network.Transport()
	var out []network.Network
	var missing []string
	for _, platform := range slices.Sorted(maps.Keys(constructors)) {
		rules, _ := network.DefaultRules(platform)
		b := &networkBuilder{
			app:      network.App{HTTP: &http.Client{Transport: s.transport}, Now: s.cfg.Now, Rules: &rules},
			settings: s.cfg.Networks.ByPlatform[platform], secret: s.secret, readPage: s.readLinkedPage,
		}
		if platform == "bluesky" && !s.cfg.AllowAnyBlueskyServer {
			var err error
			if b.app.HTTP, err = s.guardedClient(); err != nil {
				return nil, err
			}
		}
		b.app.HTTP = s.withTracing(b.app.HTTP)
		n := constructors[platform](b)
		if b.err == nil && n == nil && len(b.settings) > 0 {
			b.err = errors.New("client_id is missing")
		}
		if b.err != nil {
			return nil, fmt.Errorf("reading the settings of the network %s: %w", platform, b.err)
		}
		if n != nil {
			out = append(out, n)
		}
		missing = append(missing, b.missing...)
	}
	if len(missing) > 0 {
		return nil, errors.New("secrets of network apps are missing: set " + strings.Join(missing, ", "))
	}
	return out, nil
}

func (s *Server) secret(name string) string {
	if s.cfg.Networks.Secret == nil {
		return ""
	}
	return s.cfg.Networks.Secret(name)
}

// withTracing returns a client that adds trace headers to requests, if tracing is on.
func (s *Server) withTracing(client *http.Client) *http.Client {
	if s.tracer == nil {
		return client
	}
	out := *client
	out.Transport = tracing.Transport(out.Transport)
	return &out
}

// guardedClient returns a client for servers that people choose. It connects only to public servers and to servers that
// the operator allows.
func (s *Server) guardedClient() (*http.Client, error) {
	var err error
	if s.blueskyClient, err = newBlueskyClient(s.cfg.BlueskyServers); err != nil {
		return nil, err
	}
	transport := &guardedTransport{next: s.blueskyClient.Transport(), log: s.cfg.Log, throttle: newThrottle(blockedInterval)}
	return &http.Client{Transport: transport}, nil
}

// newBlueskyClient returns a client that connects to public servers and to the given servers.
func newBlueskyClient(servers []string) (*safehttp.Client, error) {
	var allowed []string
	for _, server := range servers {
		u, err := url.Parse(server)
		if err != nil || u.Hostname() == "" {
			return nil, fmt.Errorf("%q is not the URL of a Bluesky server, such as https://pds.example.com", server)
		}
		allowed = append(allowed, u.Hostname())
	}
	guard, err := safehttp.New(safehttp.Options{Allow: allowed})
	if err != nil {
		return nil, fmt.Errorf("reading --bluesky-servers: %w", err)
	}
	return guard, nil
}

// buildConnector creates the Connector, which connects accounts.
func (s *Server) buildConnector(catalog plan.Catalog) {
	s.Connector = account.NewConnector(account.ConnectorOptions{
		Accounts: s.Accounts, Catalog: catalog, PublicURL: s.cfg.PublicURL, CheckServer: s.checkBlueskyServer,
	})
}

// officialBluesky is the URL of Bluesky's own servers.
const officialBluesky = "https://bsky.social"

// checkBlueskyServer returns an error for a server that is neither Bluesky's own nor allowed by the operator.
// Otherwise, people could make this node send requests to internal hosts.
func (s *Server) checkBlueskyServer(server string) error {
	if !slices.Contains(append(s.cfg.BlueskyServers, officialBluesky), strings.TrimRight(server, "/")) {
		return errors.New("accounts of this server cannot be connected here")
	}
	return nil
}
