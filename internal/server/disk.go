package server

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/disk"
)

// diskReserve returns the reserve of free space on the volumes that this node writes to.
func (s *Server) diskReserve() (*disk.Reserve, error) {
	staging, err := blob.StagingDir(s.cfg.Blobs, blob.Options{Scratch: s.cfg.Scratch})
	if err != nil {
		return nil, fmt.Errorf("determining the directory for incoming files: %w", err)
	}
	volumes := []disk.Volume{{Name: "files", Dir: staging}}
	if path, isSQLite := strings.CutPrefix(s.cfg.Database, "sqlite:"); isSQLite {
		volumes = append(volumes, disk.Volume{Name: "database", Dir: filepath.Dir(path)})
	}
	reserve := disk.NewReserve(s.cfg.DiskReserve, volumes...)
	s.metrics.registry.MustRegister(diskCollector{reserve})
	return reserve, nil
}

var (
	diskFreeMetric = newDesc("disk_free_bytes",
		"Free space on the volumes that this node writes to: incoming files, and the SQLite database.", "volume")
	diskLowMetric = newDesc("disk_low",
		"1 while files are rejected because a volume has less free space than --disk-reserve.")
)

// diskCollector reports the free space of volumes.
type diskCollector struct{ *disk.Reserve }

// Describe sends the descriptions of the metrics.
func (diskCollector) Describe(out chan<- *prometheus.Desc) {
	out <- diskFreeMetric
	out <- diskLowMetric
}

// Collect sends the free space. It skips volumes that cannot be read.
func (d diskCollector) Collect(out chan<- prometheus.Metric) {
	for _, v := range d.Volumes() {
		if free, err := v.Free(); err == nil {
			out <- prometheus.MustNewConstMetric(diskFreeMetric, prometheus.GaugeValue, float64(free), v.Name)
		}
	}
	low := 0.0
	if d.Check(0) != nil {
		low = 1
	}
	out <- prometheus.MustNewConstMetric(diskLowMetric, prometheus.GaugeValue, low)
}
