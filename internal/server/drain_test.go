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
)

// Whoever ends a node gives it as long as it may take: for requests, for deliveries, and to give back what was lent.
func TestNodesAreGivenTimeToEnd(t *testing.T) {
	t.Parallel()
	ends := MaxShutdownDelay + 2*drain + giveBack + tracesWithin
	for file, c := range map[string]struct {
		said  string
		least time.Duration
	}{
		"systemd/pressroom.service":  {`(?m)^TimeoutStopSec=(\d+)$`, ends},
		"systemd/pressroom@.service": {`(?m)^TimeoutStopSec=(\d+)$`, ends},
		"compose/compose.yaml":       {`stop_grace_period: (\d+)s`, ends},
		"helm/pressroom/values.yaml": {`(?m)^terminationGracePeriodSeconds: (\d+)$`, ends},
	} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "deploy", file))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(c.said).FindAllSubmatch(raw, -1)
		if len(found) == 0 {
			t.Errorf("%s gives no time to end", file)
		}
		for _, said := range found {
			if seconds, err := strconv.Atoi(string(said[1])); err != nil || time.Duration(seconds)*time.Second < c.least {
				t.Errorf("%s gives %s seconds, and it takes up to %v (%v)", file, said[1], c.least, err)
			}
		}
	}
}

// What outlasts the end of a node is told and is no failure: a service manager would call the node failed.
func TestWhatIsCutOffIsTold(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := &Server{cfg: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	if err := s.cutOff("work", fmt.Errorf("stopping the queue: %w", context.DeadlineExceeded)); err != nil ||
		!strings.Contains(log.String(), "what=work") {
		t.Errorf("%v, and the log says %q", err, &log)
	}
	broken := errors.New("broken")
	if err := s.cutOff("work", broken); !errors.Is(err, broken) {
		t.Errorf("a failure became %v", err)
	}
}
