package server

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"pressroom/internal/platform/blob"
	"pressroom/internal/platform/disk"
)

// diskReserve is the reserve of free space on the volumes that this node writes to.
func (s *Server) diskReserve() (*disk.Reserve, error) {
	staging, err := blob.StagingFolder(s.cfg.Blobs, blob.Options{Scratch: s.cfg.Scratch})
	if err != nil {
		return nil, fmt.Errorf("looking for the folder in which files are received: %w", err)
	}
	volumes := []disk.Volume{{Name: "files", Folder: staging}}
	if path, isSQLite := strings.CutPrefix(s.cfg.Database, "sqlite:"); isSQLite {
		volumes = append(volumes, disk.Volume{Name: "database", Folder: filepath.Dir(path)})
	}
	reserve := disk.NewReserve(s.cfg.DiskReserve, volumes...)
	s.metrics.registry.MustRegister(diskState{reserve})
	return reserve, nil
}

var (
	diskFreeMetric = prometheus.NewDesc("pressroom_disk_free_bytes",
		"Free space on the volumes that this node writes to: files as they arrive, and the SQLite database.",
		[]string{"volume"}, nil)
	diskLowMetric = prometheus.NewDesc("pressroom_disk_low",
		"1 while files are refused because a volume has less free space than --disk-reserve.", nil, nil)
)

// diskState is what Prometheus reads of the volumes as it asks.
type diskState struct{ *disk.Reserve }

// Describe names what Collect tells.
func (diskState) Describe(out chan<- *prometheus.Desc) {
	out <- diskFreeMetric
	out <- diskLowMetric
}

// Collect tells how much is free. A volume whose space cannot be read is left out.
func (d diskState) Collect(out chan<- prometheus.Metric) {
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
