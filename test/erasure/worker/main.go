// Command worker deletes a team as a server does and ends when the deletion is complete. Tests build it with failpoints
// and kill it at one of them.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/server"
)

func main() {
	if err := work(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func work(ctx context.Context) error {
	database, blobs, key := flag.String("database", "", ""), flag.String("blobs", "", ""), flag.String("key", "", "")
	box, ahead := flag.String("sandbox", "", ""), flag.Duration("ahead", 0, "")
	team, person, name := flag.Int64("team", 0, ""), flag.Int64("person", 0, ""), flag.String("name", "", "")
	flag.Parse()
	s, err := server.Open(ctx, server.Config{
		Version: "test", PublicURL: "http://press.example", Database: *database, Blobs: *blobs, SealingKey: *key,
		Role: server.RoleAll, Workers: 1,
		Now: func() time.Time {
			return time.Now().Add(*ahead)
		}, BlueskyServers: []string{*box + "/bluesky"}, Networks: server.SandboxNetworks(*box), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	if err := s.Erasure.RequestDeletion(ctx, *person, *team, *name, true); err != nil && apierr.FromError(err).Code == apierr.Internal {
		return err // otherwise the deletion was requested before
	}
	if err := s.Erasure.DeletePendingTeams(ctx); err != nil {
		return err
	}
	if err := s.Accounts.Renew(ctx); err != nil {
		return err
	}
	for {
		if n, err := s.Media.Sweep(ctx); n == 0 || err != nil {
			return err
		}
	}
}
