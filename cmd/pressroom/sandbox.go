package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/server"
)

type sandboxCmd struct {
	Data     string   `help:"Data directory." default:"pressroom-sandbox" type:"path"`
	Addr     string   `help:"Address to listen on." default:"127.0.0.1:8090"`
	Accounts []string `name:"bluesky-account" help:"Bluesky account to create. May be repeated." placeholder:"HANDLE:PASSWORD"`
	Settings bool     `help:"Print the settings of these networks for serve --networks, and exit."`
	Strict   bool     `help:"With --settings: use apps that have no audit, review or products, so that networks restrict them."`
}

// Run serves the sandbox networks until ctx is canceled.
func (c sandboxCmd) Run(ctx context.Context) error {
	switch {
	case c.Strict && !c.Settings:
		return errors.New("--strict requires --settings: the client IDs in the settings select the restricted apps")
	case c.Strict:
		_, err := fmt.Fprint(os.Stdout, server.StrictSandboxSettings("http://"+c.Addr))
		return err
	case c.Settings:
		_, err := fmt.Fprint(os.Stdout, server.SandboxSettings("http://"+c.Addr))
		return err
	}
	listener, err := listen(c.Addr)
	if err != nil {
		return err
	}
	url := "http://" + listener.Addr().String()
	box, err := sandbox.Open(c.Data, sandbox.Options{URL: url})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	for _, account := range c.Accounts {
		if err := addAccount(box, account); err != nil {
			return errors.Join(err, listener.Close(), box.Close())
		}
	}
	fmt.Fprintf(os.Stdout, "The sandbox networks run at %s. The Bluesky server is %s/bluesky.\n", url, url)
	s := &http.Server{Handler: box.Handler(), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(err, box.Close())
	}
	return box.Close()
}

func addAccount(box *sandbox.Server, text string) error {
	for i, r := range text {
		if r == ':' {
			return box.EnsureBlueskyAccount(text[:i], text[:i], text[i+1:])
		}
	}
	return errors.New("--bluesky-account must be HANDLE:PASSWORD")
}
