package server

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"pressroom/internal/domain/delivery"
	"pressroom/internal/network"
	"pressroom/internal/platform/loadshed"
	"pressroom/internal/platform/restoreguard"
)

// metrics is what the program tells Prometheus.
type metrics struct {
	registry *prometheus.Registry
	lines    *prometheus.CounterVec
	requests *prometheus.HistogramVec
	tools    *prometheus.HistogramVec
	networks *prometheus.CounterVec
	lateness prometheus.Histogram
}

func newMetrics(version string, role Role) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "pressroom_build_info",
		Help: "1 for the program that runs: its version, the Go it was built with, and what this node does.",
	}, []string{"version", "go_version", "role"})
	build.WithLabelValues(version, runtime.Version(), string(role)).Set(1)
	m.lines = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "pressroom_log_lines_total", Help: "Lines of the log that warn or tell of an error, by level.",
	}, []string{"level"})
	m.requests = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "pressroom_request_duration_seconds",
		Help:    "Time to answer a request of the API, by operation and status.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
	}, []string{"operation", "status"})
	m.tools = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "pressroom_tool_duration_seconds",
		Help:    "Time to answer a tool call, by tool and whether it was refused.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
	}, []string{"tool", "refused"})
	m.networks = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "pressroom_network_calls_total",
		Help: "Calls to networks: prepare, commit, resolve and permalink of a post, and collect of what became of an " +
			"account's posts; by ok, the class of the error, or failed for a fault of ours.",
	}, []string{"platform", "call", "result"})
	m.lateness = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "pressroom_delivery_lateness_seconds",
		Help:    "Time from when a post was due at an account to when it stood there.",
		Buckets: prometheus.ExponentialBuckets(0.125, 2, 16),
	})
	m.registry.MustRegister(build, m.lines, m.requests, m.tools, m.networks, m.lateness, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) answered(tool string, status int, took time.Duration) {
	m.requests.WithLabelValues(tool, strconv.Itoa(status)).Observe(took.Seconds())
}

func (m *metrics) called(tool string, refused bool, took time.Duration) {
	m.tools.WithLabelValues(tool, strconv.FormatBool(refused)).Observe(took.Seconds())
}

func (m *metrics) calledNetwork(platform, call, result string) {
	m.networks.WithLabelValues(platform, call, result).Inc()
}

func (m *metrics) stood(late time.Duration) { m.lateness.Observe(late.Seconds()) }

// tellHeld has the figures say whether all is held; nothing while the database does not.
func (m *metrics) tellHeld(s *restoreguard.Service) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "pressroom_held",
		Help: "1 while nothing is published or charged by itself, as the database was restored or copied, or the " +
			"operator holds it.",
	}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
		defer cancel()
		state, err := s.State(ctx)
		switch {
		case err != nil:
			return math.NaN()
		case state.Held():
			return 1
		}
		return 0
	}))
}

var (
	circuitMetric = prometheus.NewDesc("pressroom_network_circuit",
		"1 for how this node stands to a network: closed, half_open or open.", []string{"platform", "state"}, nil)
	inFlightMetric = prometheus.NewDesc("pressroom_deliveries_in_flight",
		"Deliveries that this node works on, by network.", []string{"platform"}, nil)
)

// deliveryState is what Prometheus reads of deliveries as it asks.
type deliveryState struct {
	delivery  *delivery.Service
	platforms []string
}

// Describe names what Collect tells.
func (*deliveryState) Describe(out chan<- *prometheus.Desc) {
	out <- circuitMetric
	out <- inFlightMetric
}

// Collect tells how each network stands and what is under way to it.
func (d *deliveryState) Collect(out chan<- prometheus.Metric) {
	under := d.delivery.InFlight()
	for _, platform := range d.platforms {
		out <- prometheus.MustNewConstMetric(inFlightMetric, prometheus.GaugeValue, float64(under[platform]), platform)
		now := d.delivery.Circuit(platform).State
		for _, state := range delivery.CircuitStates() {
			is := 0.0
			if state == now {
				is = 1
			}
			out <- prometheus.MustNewConstMetric(circuitMetric, prometheus.GaugeValue, is, platform, string(state))
		}
	}
}

// expect begins the counters of the calls to some networks at 0: what counts up from nowhere is no increase to
// Prometheus.
func (m *metrics) expect(platforms []string) {
	for _, platform := range platforms {
		for _, call := range []string{"prepare", "commit", "resolve", "permalink", "collect"} {
			for _, result := range []string{
				"ok", "failed", string(network.Transient), string(network.Uncertain), string(network.AuthDead),
			} {
				m.networks.WithLabelValues(platform, call, result)
			}
		}
	}
}

// counting is a log of whose lines those that warn, or tell of an error, are counted.
type counting struct {
	slog.Handler
	lines *prometheus.CounterVec
}

// counted has the lines of a log be counted.
func (m *metrics) counted(log *slog.Logger) *slog.Logger {
	m.lines.WithLabelValues("warn")
	m.lines.WithLabelValues("error")
	return slog.New(&counting{log.Handler(), m.lines})
}

// Handle counts a line and passes it on.
func (c *counting) Handle(ctx context.Context, record slog.Record) error {
	switch {
	case record.Level >= slog.LevelError:
		c.lines.WithLabelValues("error").Inc()
	case record.Level >= slog.LevelWarn:
		c.lines.WithLabelValues("warn").Inc()
	}
	return c.Handler.Handle(ctx, record) //nolint:wrapcheck // it is passed on as it is
}

// WithAttrs is the same with attributes.
func (c *counting) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &counting{c.Handler.WithAttrs(attrs), c.lines}
}

// WithGroup is the same within a group.
func (c *counting) WithGroup(name string) slog.Handler {
	return &counting{c.Handler.WithGroup(name), c.lines}
}

var (
	runningMetric = prometheus.NewDesc("pressroom_calls_running",
		"Places that are taken on this node, by calls, pages or uploads.", []string{"room"}, nil)
	waitingMetric = prometheus.NewDesc("pressroom_calls_waiting", "Who waits for a place on this node.",
		[]string{"room"}, nil)
	refusedMetric = prometheus.NewDesc("pressroom_calls_refused_total",
		"Who found no place on this node in time and was told to come again.", []string{"room"}, nil)
)

// roomState is what Prometheus reads of a node's rooms as it asks.
type roomState struct{ loadshed.Rooms }

// Describe names what Collect tells.
func (*roomState) Describe(out chan<- *prometheus.Desc) {
	out <- runningMetric
	out <- waitingMetric
	out <- refusedMetric
}

// Collect tells how each room stands.
func (r *roomState) Collect(out chan<- prometheus.Metric) {
	for name, room := range map[string]*loadshed.Room{"calls": r.Calls, "pages": r.Pages, "uploads": r.Uploads} {
		now := room.State()
		out <- prometheus.MustNewConstMetric(runningMetric, prometheus.GaugeValue, float64(now.Running), name)
		out <- prometheus.MustNewConstMetric(waitingMetric, prometheus.GaugeValue, float64(now.Waiting), name)
		out <- prometheus.MustNewConstMetric(refusedMetric, prometheus.CounterValue, float64(now.Refused), name)
	}
}

// MetricsHandler answers on the operator's own listener: the metrics, and what readiness depends on.
func (s *Server) MetricsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /readyz", s.readyDetails)
	return mux
}
