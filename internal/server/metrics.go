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

	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/loadshed"
	"pressroom.example/pressroom/internal/platform/restoreguard"
)

// metrics contains the program's metrics for Prometheus.
type metrics struct {
	registry     *prometheus.Registry
	logLines     *prometheus.CounterVec
	requests     *prometheus.HistogramVec
	toolCalls    *prometheus.HistogramVec
	networkCalls *prometheus.CounterVec
	lateness     prometheus.Histogram
}

func newMetrics(version string, role Role) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "pressroom_build_info",
		Help: "1, labeled with the version, the Go version and the role of this node.",
	}, []string{"version", "go_version", "role"})
	build.WithLabelValues(version, runtime.Version(), string(role)).Set(1)
	m.logLines = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "pressroom_log_lines_total", Help: "Log lines with a warning or an error, by level.",
	}, []string{"level"})
	m.requests = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "pressroom_request_duration_seconds",
		Help:    "Duration of API requests by operation and status.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
	}, []string{"operation", "status"})
	m.toolCalls = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "pressroom_tool_duration_seconds",
		Help:    "Duration of tool calls by tool and whether they returned an error.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
	}, []string{"tool", "refused"})
	m.networkCalls = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "pressroom_network_calls_total",
		Help: "Calls to networks: prepare, commit, resolve and permalink for a post, collect for an account's " +
			"metrics. " +
			"result is ok, the error class, or failed for an internal error.",
	}, []string{"platform", "call", "result"})
	m.lateness = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "pressroom_delivery_lateness_seconds",
		Help:    "Time from when a post was due to when it was published.",
		Buckets: prometheus.ExponentialBuckets(0.125, 2, 16),
	})
	m.registry.MustRegister(build, m.logLines, m.requests, m.toolCalls, m.networkCalls, m.lateness, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) observeRequest(tool string, status int, took time.Duration) {
	m.requests.WithLabelValues(tool, strconv.Itoa(status)).Observe(took.Seconds())
}

func (m *metrics) observeTool(tool string, rejected bool, took time.Duration) {
	m.toolCalls.WithLabelValues(tool, strconv.FormatBool(rejected)).Observe(took.Seconds())
}

func (m *metrics) countNetworkCall(platform, call, result string) {
	m.networkCalls.WithLabelValues(platform, call, result).Inc()
}

func (m *metrics) observeLateness(late time.Duration) { m.lateness.Observe(late.Seconds()) }

// registerHold adds the metric that reports whether publishing is on hold. The metric is NaN while the database is
// unreachable.
func (m *metrics) registerHold(s *restoreguard.Service) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "pressroom_held",
		Help: "1 while publishing and charging are on hold, because the database was restored or copied or the " +
			"operator " +
			"put them on hold.",
	}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
		defer cancel()
		state, err := s.State(ctx)
		switch {
		case err != nil:
			return math.NaN()
		case state.IsHeld():
			return 1
		}
		return 0
	}))
}

var (
	circuitMetric = newDesc("network_circuit",
		"1 for the state of this node's circuit breaker for a network: closed, half_open or open.", "platform", "state")
	inFlightMetric = newDesc("deliveries_in_flight", "Deliveries in progress on this node, by network.", "platform")
)

// deliveryCollector reports the state of networks and deliveries.
type deliveryCollector struct {
	delivery  *delivery.Service
	platforms []string
}

// Describe sends the descriptions of the metrics.
func (*deliveryCollector) Describe(out chan<- *prometheus.Desc) {
	out <- circuitMetric
	out <- inFlightMetric
}

// Collect sends the state of each network and its deliveries.
func (d *deliveryCollector) Collect(out chan<- prometheus.Metric) {
	inFlight := d.delivery.InFlight()
	for _, platform := range d.platforms {
		out <- prometheus.MustNewConstMetric(inFlightMetric, prometheus.GaugeValue, float64(inFlight[platform]), platform)
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

// initNetworkCalls sets the counters of network calls to 0. If a counter first appeared with a higher value, Prometheus
// would not notice the increase.
func (m *metrics) initNetworkCalls(platforms []string) {
	for _, platform := range platforms {
		for _, call := range []string{"prepare", "commit", "resolve", "permalink", "collect"} {
			for _, result := range []string{
				"ok", "failed", string(network.Transient), string(network.OutcomeUnknown),
				string(network.ReconnectRequired),
			} {
				m.networkCalls.WithLabelValues(platform, call, result)
			}
		}
	}
}

// countingHandler is a log handler that counts warnings and errors.
type countingHandler struct {
	slog.Handler
	lines *prometheus.CounterVec
}

// countLines returns a logger that counts warnings and errors before it logs them.
func (m *metrics) countLines(log *slog.Logger) *slog.Logger {
	m.logLines.WithLabelValues("warn")
	m.logLines.WithLabelValues("error")
	return slog.New(&countingHandler{log.Handler(), m.logLines})
}

// Handle counts and logs a record.
func (c *countingHandler) Handle(ctx context.Context, record slog.Record) error {
	switch {
	case record.Level >= slog.LevelError:
		c.lines.WithLabelValues("error").Inc()
	case record.Level >= slog.LevelWarn:
		c.lines.WithLabelValues("warn").Inc()
	}
	return c.Handler.Handle(ctx, record) //nolint:wrapcheck // the handler's own error
}

// WithAttrs returns a handler with attributes.
func (c *countingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &countingHandler{c.Handler.WithAttrs(attrs), c.lines}
}

// WithGroup returns a handler with a group.
func (c *countingHandler) WithGroup(name string) slog.Handler {
	return &countingHandler{c.Handler.WithGroup(name), c.lines}
}

var (
	runningMetric  = newDesc("calls_running", "Slots in use on this node, by pool: calls, pages or uploads.", "pool")
	waitingMetric  = newDesc("calls_waiting", "Requests that are waiting for a slot on this node.", "pool")
	rejectedMetric = newDesc("calls_refused_total",
		"Requests rejected because no slot became free in time.", "pool")
)

// slotCollector reports the node's slots.
type slotCollector struct{ loadshed.Limiters }

// Describe sends the descriptions of the metrics.
func (*slotCollector) Describe(out chan<- *prometheus.Desc) {
	out <- runningMetric
	out <- waitingMetric
	out <- rejectedMetric
}

// Collect sends the state of all slots.
func (c *slotCollector) Collect(out chan<- prometheus.Metric) {
	for pool, limiter := range map[string]*loadshed.Limiter{"calls": c.Calls, "pages": c.Pages, "uploads": c.Uploads} {
		now := limiter.State()
		out <- prometheus.MustNewConstMetric(runningMetric, prometheus.GaugeValue, float64(now.Running), pool)
		out <- prometheus.MustNewConstMetric(waitingMetric, prometheus.GaugeValue, float64(now.Waiting), pool)
		out <- prometheus.MustNewConstMetric(rejectedMetric, prometheus.CounterValue, float64(now.Rejected), pool)
	}
}

// MetricsHandler returns the handler of the operator's listener. It serves the metrics and the details of readiness.
func (s *Server) MetricsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /readyz", s.serveReadyDetails)
	return mux
}
