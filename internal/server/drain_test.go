package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// The files in deploy give a node enough time to shut down.
func TestDeploymentGracePeriods(t *testing.T) {
	t.Parallel()
	needed := MaxShutdownDelay + 2*drainTimeout + returnCallsTimeout + traceFlushTimeout
	for file, c := range map[string]struct {
		pattern string
		least   time.Duration
	}{
		"systemd/pressroom.service":  {`(?m)^TimeoutStopSec=(\d+)$`, needed},
		"systemd/pressroom@.service": {`(?m)^TimeoutStopSec=(\d+)$`, needed},
		"compose/compose.yaml":       {`stop_grace_period: (\d+)s`, needed},
		"helm/pressroom/values.yaml": {`(?m)^terminationGracePeriodSeconds: (\d+)$`, needed},
	} {
		raw := must.Get(os.ReadFile(filepath.Join("..", "..", "deploy", file)))(t)
		found := regexp.MustCompile(c.pattern).FindAllSubmatch(raw, -1)
		if len(found) == 0 {
			t.Errorf("%s has no stop timeout", file)
		}
		for _, match := range found {
			if seconds, err := strconv.Atoi(string(match[1])); err != nil || time.Duration(seconds)*time.Second < c.least {
				t.Errorf("%s waits %s seconds, but a node needs up to %v (%v)", file, match[1], c.least, err)
			}
		}
	}
}

// A timeout is logged but not returned as an error, because a service manager would report the node as failed.
func TestIgnoreTimeout(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := &Server{cfg: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	if err := s.ignoreTimeout("work", fmt.Errorf("stopping the queue: %w", context.DeadlineExceeded)); err != nil ||
		!strings.Contains(log.String(), "what=work") {
		t.Errorf("%v, and the log says %q", err, &log)
	}
	broken := errors.New("broken")
	if err := s.ignoreTimeout("work", broken); !errors.Is(err, broken) {
		t.Errorf("an error became %v", err)
	}
}
