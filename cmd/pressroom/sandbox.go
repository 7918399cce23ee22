package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"pressroom/internal/sandbox"
	"pressroom/internal/server"
)

type sandboxCmd struct {
	Data     string   `help:"Directory that keeps what the networks hold." default:"pressroom-sandbox" type:"path"`
	Addr     string   `help:"Address to listen at." default:"127.0.0.1:8090"`
	Accounts []string `name:"bluesky-account" help:"Make a Bluesky account, as HANDLE:PASSWORD with a handle such as shop.test; may be repeated." placeholder:"HANDLE:PASSWORD"`
	Settings bool     `help:"Print the settings for serve --networks by which it speaks with these networks, and do nothing else."`
}

// Run serves the sandbox networks until it is told to stop.
func (c sandboxCmd) Run(ctx context.Context) error {
	if c.Settings {
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
		if err := makeAccount(box, account); err != nil {
			return errors.Join(err, listener.Close(), box.Close())
		}
	}
	fmt.Fprintf(os.Stdout, "The sandbox networks run at %s; Bluesky's server is %s/bluesky.\n", url, url)
	s := &http.Server{Handler: box.Handler(), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(err, box.Close())
	}
	return box.Close()
}

func makeAccount(box *sandbox.Server, text string) error {
	for i, r := range text {
		if r == ':' {
			return box.EnsureBlueskyAccount(text[:i], text[:i], text[i+1:])
		}
	}
	return errors.New("--bluesky-account has to be HANDLE:PASSWORD")
}
