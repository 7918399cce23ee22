package shell

import "testing"

func TestBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 bytes", 999: "999 bytes", 1000: "1 KB", 1536: "1.5 KB", 14_029: "14 KB", 999_400: "999 KB", 999_600: "1 MB",
		50 << 20: "52 MB", 4 << 30: "4.3 GB", 1000 << 30: "1.1 TB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
