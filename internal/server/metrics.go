package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics is what the program tells Prometheus.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	tools    *prometheus.HistogramVec
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
	m.registry.MustRegister(m.requests, m.tools, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) answered(tool string, status int, took time.Duration) {
	m.requests.WithLabelValues(tool, strconv.Itoa(status)).Observe(took.Seconds())
}

func (m *metrics) called(tool string, refused bool, took time.Duration) {
	m.tools.WithLabelValues(tool, strconv.FormatBool(refused)).Observe(took.Seconds())
}

func (m *metrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	return mux
}
