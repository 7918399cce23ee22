package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// healthCmd is what a container's own check runs: an image with nothing but the program has no other to ask with.
type healthCmd struct {
	URL string `help:"The node's /readyz: the status at its own address, or with every check at its --metrics-addr." default:"http://127.0.0.1:8080/readyz" env:"PRESSROOM_HEALTH_URL"`
}

const (
	healthWithin = 5 * time.Second
	maxHealth    = 16 << 10 // bytes of the answer that are shown
)

// Run asks a node whether it is ready, and prints what it says.
func (c healthCmd) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, nil)
	if err != nil {
		return errors.New("--url (PRESSROOM_HEALTH_URL) has to be an address such as http://127.0.0.1:8080/readyz")
	}
	// It is asked at its own machine, by an address that its certificate is not for.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // nothing is sent, and nothing is believed but a status
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("asking whether the node is ready: %w", err)
	}
	defer resp.Body.Close()
	told, err := io.ReadAll(io.LimitReader(resp.Body, maxHealth))
	if err != nil {
		return fmt.Errorf("reading whether the node is ready: %w", err)
	}
	fmt.Print(string(told))
	switch {
	case !ofNode(resp, told):
		return fmt.Errorf("no node answers there (%s): --url (PRESSROOM_HEALTH_URL) has to lead to its /readyz", resp.Status)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("the node is not ready: %s; GET /readyz at its --metrics-addr (http://127.0.0.1:9464/readyz by default) says why", resp.Status)
	}
	return nil
}

// ofNode reports whether an answer is one of a node's /readyz: the status alone as its public listener says it, or the checks
// as its metrics listener lists them. Other programs answer {"status":"ok"} too, but not like this.
func ofNode(resp *http.Response, body []byte) bool {
	if resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("Cache-Control") != "no-store" {
		return false
	}
	var checks map[string]string
	if json.Unmarshal(body, &checks) != nil {
		return false
	}
	want, known := map[int]string{http.StatusOK: "ok", http.StatusServiceUnavailable: "unavailable"}[resp.StatusCode]
	return known && (checks["database"] != "" || len(checks) == 1 && checks["status"] == want)
}
