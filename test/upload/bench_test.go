package upload

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
)

// floorVariable is the environment variable with the folder of the floor. If it is set, the test binary serves the
// floor.
const floorVariable = "PRESSROOM_UPLOAD_FLOOR"

// serveFloor is the simplest server that stores files as safely as the program: it hashes, syncs and renames each
// file before responding. The benchmark compares the program with it.
func serveFloor(dir string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(listener.Addr().String() + "\n")
	panic(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := store(dir, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "{}")
	})))
}

func store(dir string, body io.Reader) error {
	f, err := os.CreateTemp(dir, "arriving-*")
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(f, sum), body); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, fmt.Sprintf("%x", sum.Sum(nil)))); err != nil {
		return err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}

// startFloor runs the floor in a separate process. Its files are on the same disk as those of the site.
func startFloor(b *testing.B, s site) string {
	b.Helper()
	dir := filepath.Join(s.dir, "floor")
	must.NoError(b, os.Mkdir(dir, 0o700))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), floorVariable+"="+dir)
	out := must.Get(cmd.StdoutPipe())(b)
	must.NoError(b, cmd.Start())
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line := must.Get(bufio.NewReader(out).ReadString('\n'))(b)
	return "http://" + strings.TrimSpace(line)
}

// round is the speed of uploading one file to the program and to the floor, in bytes per second.
type round struct{ ours, floor float64 }

// BenchmarkUpload uploads files of 256 MiB alternately to the program and to the floor. It reports the medians and
// the minimum and maximum ratio.
func BenchmarkUpload(b *testing.B) {
	s := newSite(b, program.Build(b, program.Pressroom, ""))
	p, floor := s.start(b, "", ""), startFloor(b, s)
	floorProcess := &process{base: floor}
	var rounds []round
	for n := 0; b.Loop(); n++ {
		f := newVideo(uint64(n), 256<<20)
		l := p.mustOpen(b, f).Data.Upload.Uploads[0]
		var r round
		sends := []func(){
			func() { r.ours = speed(b, p, l, f) },
			func() { r.floor = speed(b, floorProcess, link{URL: "/uploads/x"}, f) },
		}
		sends[n%2]()
		sends[1-n%2]()
		rounds = append(rounds, r)
	}
	ratio := func(r round) float64 { return r.ours / r.floor }
	b.ReportMetric(median(rounds, func(r round) float64 { return r.ours / 1e6 }), "MB/s")
	b.ReportMetric(median(rounds, func(r round) float64 { return r.floor / 1e6 }), "floor-MB/s")
	b.ReportMetric(median(rounds, ratio), "ratio")
	compareRatio := func(a, b round) int { return cmp.Compare(ratio(a), ratio(b)) }
	b.ReportMetric(ratio(slices.MinFunc(rounds, compareRatio)), "ratio-least")
	b.ReportMetric(ratio(slices.MaxFunc(rounds, compareRatio)), "ratio-greatest")
}

func speed(b *testing.B, p *process, l link, f file) float64 {
	b.Helper()
	start := time.Now()
	if status, err := p.put(b.Context(), l, f.reader(), f.size); status != http.StatusCreated {
		b.Fatalf("%d, %v", status, err)
	}
	return float64(f.size) / time.Since(start).Seconds()
}

func median(rounds []round, value func(round) float64) float64 {
	var all []float64
	for _, r := range rounds {
		all = append(all, value(r))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
