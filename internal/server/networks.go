package server

import (
	"errors"
	"slices"
	"strings"

	"pressroom/internal/network"
	"pressroom/internal/network/bluesky"
	"pressroom/internal/network/threads"
	"pressroom/internal/social"
	"pressroom/internal/terms"
)

// networks are those that this installation speaks with: Bluesky, and those that the operator has an app at.
func (s *Server) networks() []network.Network {
	out := []network.Network{bluesky.New(bluesky.Options{App: network.App{Now: s.cfg.Now}, WebURL: s.cfg.BlueskyWeb})}
	if s.cfg.Threads.ClientID != "" {
		opts := s.cfg.Threads
		opts.Now = s.cfg.Now
		out = append(out, threads.New(opts))
	}
	return out
}

// buildConnects makes what people connect accounts by.
func (s *Server) buildConnects(offered terms.Terms) {
	s.Connects = social.NewConnector(social.ConnectorOptions{Accounts: s.Accounts, Terms: offered, PublicURL: s.cfg.PublicURL, CheckServer: s.mayConnectTo})
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
