package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/server"
)

type (
	adminChannels struct {
		Add    adminChannelsAdd    `cmd:"" help:"Add a chat or a webhook that receives notifications. Reads its URL from standard input."`
		List   adminChannelsList   `cmd:"" help:"List channels, with the result of the last message to each channel."`
		Test   adminChannelsTest   `cmd:"" help:"Send a test message to a channel."`
		Remove adminChannelsRemove `cmd:"" help:"Remove a channel."`
	}
	adminChannelsAdd struct {
		storeFlags
		notificationFlags
		Service string   `enum:"slack,discord,teams,ntfy,webhook" required:"" help:"slack, discord, teams, ntfy or webhook."`
		Name    string   `required:"" help:"Name of the channel, shown to operators."`
		Team    int64    `help:"Send only notifications for this team. All teams if omitted."`
		Kinds   []string `help:"Send only these kinds of notifications, such as post_failed. All kinds if omitted."`
	}
	adminChannelsList struct{ storeFlags }
	adminChannelsTest struct {
		storeFlags
		notificationFlags
		ID int64 `arg:"" help:"ID of the channel."`
	}
	adminChannelsRemove struct {
		storeFlags
		ID int64 `arg:"" help:"ID of the channel."`
	}
	notificationFlags struct {
		NotificationAllow []string `aliases:"notice-allow" help:"Private hosts and IP ranges that notifications may be sent to." env:"PRESSROOM_NOTIFICATION_ALLOW,PRESSROOM_NOTICE_ALLOW"`
	}
)

// Help returns the details of `pressroom admin channels add --help`.
func (adminChannelsAdd) Help() string {
	return `The first line of standard input is the URL that the chat or webhook service gave you. For an ntfy topic with
access control, the second line is an access token. For a webhook, the command prints a secret, with which pressroom
signs its messages. The secret is shown only once.`
}

// Run adds a channel.
func (c adminChannelsAdd) Run(ctx context.Context, p *program, log *slog.Logger) error {
	n := notification.NewChannel{Team: c.Team, Service: notification.ChannelService(c.Service), Name: c.Name}
	for _, kind := range c.Kinds {
		n.Kinds = append(n.Kinds, notification.Kind(kind))
	}
	var err error
	if n.URL, n.Token, err = readURLAndToken(os.Stdin); err != nil {
		return err
	}
	return runWithAllowedHosts(ctx, c.storeFlags, c.notificationFlags, p, log, func(s *server.Server) (notification.Channel, error) {
		return s.Notifications.AddChannel(ctx, n)
	})
}

// readURLAndToken reads a URL and an optional access token, one per line.
func readURLAndToken(in io.Reader) (string, string, error) {
	var lines [2]string
	scanner := bufio.NewScanner(in)
	for i := range lines {
		if scanner.Scan() {
			lines[i] = strings.TrimSpace(scanner.Text())
		}
	}
	if err := scanner.Err(); err != nil {
		return "", "", fmt.Errorf("reading the URL: %w", err)
	}
	if lines[0] == "" {
		return "", "", errors.New("the URL is missing: write it to standard input")
	}
	return lines[0], lines[1], nil
}

// runWithAllowedHosts is like run, but also sets the private hosts that may receive notifications.
func runWithAllowedHosts[T any](
	ctx context.Context, f storeFlags, n notificationFlags, p *program, log *slog.Logger, work func(*server.Server) (T, error),
) error {
	if err := f.checkExists(); err != nil {
		return err
	}
	cfg, err := f.config(log)
	if err != nil {
		return err
	}
	cfg.NotificationAllow = n.NotificationAllow
	return runWithConfig(ctx, cfg, p, work)
}

// Run lists channels.
func (c adminChannelsList) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) ([]notification.Channel, error) {
		return s.Notifications.Channels(ctx)
	})
}

// Run sends a test message.
func (c adminChannelsTest) Run(ctx context.Context, p *program, log *slog.Logger) error {
	type testResult struct {
		Sent bool `json:"sent"`
	}
	return runWithAllowedHosts(ctx, c.storeFlags, c.notificationFlags, p, log, func(s *server.Server) (testResult, error) {
		return testResult{true}, s.Notifications.TestChannel(ctx, c.ID)
	})
}

// Run removes a channel.
func (c adminChannelsRemove) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Notifications.RemoveChannel(ctx, c.ID) })
}
