package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"pressroom.example/pressroom/internal/domain/account/appcheck"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/server"
)

type (
	adminNetworks struct {
		Check adminNetworksCheck `cmd:"" help:"Check your apps' permissions on each network. Exits with status 1 if a check fails."`
	}
	adminNetworksCheck struct {
		storeFlags

		Networks string `help:"JSON file of network settings, as in serve --networks." type:"path" env:"PRESSROOM_NETWORKS"`
	}
)

// Run checks the permissions of the operator's apps on each network.
func (c adminNetworksCheck) Run(ctx context.Context, p *program, log *slog.Logger) error {
	if err := c.checkExists(); err != nil {
		return err
	}
	cfg, err := c.config(log)
	if err != nil {
		return err
	}
	if cfg.Networks, err = networkSettings(c.Networks); err != nil {
		return err
	}
	if c.Networks == "" {
		log.WarnContext(ctx, "only Bluesky is checked: to check all networks, set --networks to the file that pressroom serve uses")
	}
	cfg.ReadOnlyFiles = true
	s, err := server.Open(ctx, cfg)
	if err != nil {
		return err
	}
	findings, err := s.Apps.Check(ctx)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	if p.Admin.JSON {
		err = printResult(os.Stdout, true, findings)
	} else {
		err = printFindings(os.Stdout, findings)
	}
	if n := appcheck.CountFailures(findings); err == nil && n > 0 {
		return fmt.Errorf("%d of %d checks failed; follow the instructions after \"Next:\", and see docs/networks", n,
			len(findings))
	}
	return err
}

// printFindings prints the findings, grouped by network and account.
func printFindings(w io.Writer, findings []appcheck.Finding) error {
	var text strings.Builder
	last := ""
	for _, f := range findings {
		if heading := strings.TrimSpace(f.Network + " " + f.Account); heading != last {
			fmt.Fprintf(&text, "%s\n", heading)
			last = heading
		}
		fmt.Fprintf(&text, "  %-8s %s", f.Result, f.Subject)
		if f.Detail != "" {
			fmt.Fprintf(&text, ": %s", f.Detail)
		}
		text.WriteByte('\n')
		if f.NextStep != "" && f.Result != network.CheckPassed {
			fmt.Fprintf(&text, "           Next: %s\n", f.NextStep)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}
