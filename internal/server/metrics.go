package server

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"pressroom/internal/delivery"
	"pressroom/internal/hold"
)

// metrics is what the program tells Prometheus.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	tools    *prometheus.HistogramVec
	networks *prometheus.CounterVec
	lateness prometheus.Histogram
}

func newMetrics() *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	m.requests = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "pressroom_request_duration_seconds", Help: "Time to answer a request of the API, by operation and status.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
	}, []string{"operation", "status"})
	m.tools = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "pressroom_tool_duration_seconds", Help: "Time to answer a tool call, by tool and whether it was refused.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
	}, []string{"tool", "refused"})
	m.networks = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "pressroom_network_calls_total", Help: "Calls to networks: prepare, commit, resolve and permalink of a post, and collect of what became of an account's posts; by ok, the class of the error, or failed for a fault of ours.",
	}, []string{"platform", "call", "result"})
	m.lateness = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "pressroom_delivery_lateness_seconds", Help: "Time from when a post was due at an account to when it stood there.",
		Buckets: prometheus.ExponentialBuckets(0.125, 2, 16),
	})
	m.registry.MustRegister(m.requests, m.tools, m.networks, m.lateness, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
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
func (m *metrics) tellHeld(s *hold.Service) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "pressroom_held", Help: "1 while nothing is published or charged by itself, as the database was restored or copied, or the operator holds it.",
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
	circuitMetric  = prometheus.NewDesc("pressroom_network_circuit", "1 for how this node stands to a network: closed, half_open or open.", []string{"platform", "state"}, nil)
	inFlightMetric = prometheus.NewDesc("pressroom_deliveries_in_flight", "Deliveries that this node works on, by network.", []string{"platform"}, nil)
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

func (m *metrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	return mux
}
