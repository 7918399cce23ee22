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

// healthCmd reports whether a node is ready. Containers use it as their health check, because the image has no HTTP
// client.
type healthCmd struct {
	URL string `help:"URL of a node's /readyz. The /readyz at --metrics-addr lists every check." default:"http://127.0.0.1:8080/readyz" env:"PRESSROOM_HEALTH_URL"`
}

const (
	healthTimeout  = 5 * time.Second
	maxHealthBytes = 16 << 10 // maximum number of bytes of the response to print
)

// Run requests /readyz of a node and prints the response.
func (c healthCmd) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, nil)
	if err != nil {
		return errors.New("--url (PRESSROOM_HEALTH_URL) must be a URL such as http://127.0.0.1:8080/readyz")
	}
	// Do not verify the certificate, because the node is on this machine and its certificate is for another host name.
	insecure := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the request contains no secrets, and only a status is read
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: insecure}}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("checking whether the node is ready: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxHealthBytes))
	if err != nil {
		return fmt.Errorf("reading the node's response: %w", err)
	}
	fmt.Print(string(body))
	switch {
	case !isReadyz(resp, body):
		return fmt.Errorf("the response (%s) is not from a node; set --url (PRESSROOM_HEALTH_URL) to the /readyz of a node",
			resp.Status)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("the node is not ready: %s; to see the reason, request /readyz at its --metrics-addr (default "+
			"http://127.0.0.1:9464/readyz)", resp.Status)
	}
	return nil
}

// isReadyz reports whether a response is from a node's /readyz. The public listener responds with a status, and the
// metrics listener with all checks. The headers distinguish a node from other programs that respond with
// {"status":"ok"}.
func isReadyz(resp *http.Response, body []byte) bool {
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
