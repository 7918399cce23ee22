package main

import (
	"context"
	"errors"
	"log/slog"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/server"
)

type (
	adminPosts struct {
		Unconfirmed adminPostsUnconfirmed `cmd:"" help:"List deliveries whose outcome is unknown."`
		Decide      adminPostsDecide      `cmd:"" help:"Record whether a delivery was published."`
	}
	adminPostsUnconfirmed struct {
		storeFlags
		Team int64 `help:"Team ID; all teams if omitted."`
	}
	adminPostsDecide struct {
		storeFlags
		Post         string `arg:"" help:"Post ID."`
		Account      int64  `arg:"" help:"Account ID."`
		Published    bool   `help:"The network has the post. It is never sent again." xor:"found" required:""`
		NotPublished bool   `help:"The network does not have the post. It counts as failed and can be retried." xor:"found" required:""`
		Permalink    string `help:"With --published: URL of the post."`
	}
)

// Run lists unconfirmed deliveries.
func (c adminPostsUnconfirmed) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) ([]delivery.UnconfirmedDelivery, error) {
		return s.Delivery.ListUnconfirmed(ctx, c.Team)
	})
}

// Run records the outcome of a delivery.
func (c adminPostsDecide) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		err := s.Delivery.Decide(ctx, 0, 0, c.Post, c.Account,
			delivery.Decision{Published: c.Published, Permalink: c.Permalink})
		if err != nil && apierr.FromError(err).Code == apierr.NotFound {
			return errors.New("no post with this ID was sent to an account with this ID; to list the IDs, run: " +
				"pressroom admin posts unconfirmed")
		}
		return err
	})
}
