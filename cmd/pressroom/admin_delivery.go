package main

import (
	"context"
	"errors"
	"log/slog"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/delivery"
	"pressroom/internal/server"
)

type (
	adminPosts struct {
		Unconfirmed adminPostsUnconfirmed `cmd:"" help:"List accounts of posts that the network may hold and cannot say: what was tried, and what it said."`
		Decide      adminPostsDecide      `cmd:"" help:"Say what you found at the network for an unconfirmed account."`
	}
	adminPostsUnconfirmed struct {
		storeFlags
		Team int64 `help:"Id of the team; every team's where left out."`
	}
	adminPostsDecide struct {
		storeFlags
		Post         string `arg:"" help:"Id of the post."`
		Account      int64  `arg:"" help:"Id of the account."`
		Published    bool   `help:"It stands there: it counts as published and is never sent again." xor:"found" required:""`
		NotPublished bool   `help:"It does not stand there: it counts as failed, and may be retried." xor:"found" required:""`
		Permalink    string `help:"Where it stands, with --published."`
	}
)

// Run lists what a person may decide.
func (c adminPostsUnconfirmed) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) ([]delivery.UnconfirmedDelivery, error) {
		return s.Delivery.ListUnconfirmed(ctx, c.Team)
	})
}

// Run decides what became of a post at an account.
func (c adminPostsDecide) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		err := s.Delivery.Decide(ctx, 0, 0, c.Post, c.Account, delivery.Decision{Published: c.Published, Permalink: c.Permalink})
		if err != nil && apierr.Of(err).Code == apierr.NotFound {
			return errors.New("no post of this id was sent to an account of this id: pressroom admin posts unconfirmed lists both")
		}
		return err
	})
}
