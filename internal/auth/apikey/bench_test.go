package apikey_test

import (
	"strings"
	"testing"

	"pressroom/internal/auth/apikey"
)

const mebibyte = 1 << 20

func BenchmarkIn(b *testing.B) {
	filled := func(pattern string) string { return strings.Repeat(pattern, mebibyte/len(pattern)) }
	prose := "The bridge opens again on Saturday: music from noon, cake for all who helped, and a walk along the river at dusk. "
	letters := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for _, c := range []struct{ name, text string }{
		{"a caption of 300 characters", (prose + prose + prose)[:300]},
		{"a caption with an emoji", (prose + prose + prose)[:296] + "🎉"},
		{"a caption with a percentage and names", ("50% off at Tom & Jerry's, 24 August 2026, Hall B: " + prose + prose + prose)[:300]},
		{"a caption of 10,000 characters", filled(prose)[:10_000]},
		{"1 MiB of prose", filled(prose)},
		{"1 MiB of Japanese", filled("橋は土曜日に再び開きます。")},
		{"1 MiB of full width letters", filled("ｐｒｋ＿")},
		{"1 MiB of the alphabet of base64", filled(letters + "+/")},
		{"1 MiB of the alphabet of base64 for URLs", filled(letters + "-_")},
		{"1 MiB of hex digits", filled("0123456789abcdef")},
		{"1 MiB of hex of text", filled("7072")},
		{"1 MiB of V", filled("V")},
		{"1 MiB of A", filled("A")},
		{"1 MiB of per cent signs", filled("%")},
		{"1 MiB of backslashes", filled(`\`)},
		{"1 MiB of ampersands", filled("&")},
		{"1 MiB of equals signs", filled("=")},
		{"1 MiB of references", filled("&#38;")},
		{"1 MiB of escaped per cent signs", filled("%25")},
		{"1 MiB of layers of escapes", "%" + filled("25")},
		{"1 MiB of layers of everything", filled("=" + "%25" + strings.Repeat("25", 8) + `\\\\\\\\` + "&amp;amp;amp;amp;" + "=3D3D3D3D3D")},
		{"1 MiB of prefixes", filled("prk_")},
		{"1 MiB of prefixes at the least distance", filled("prk_" + strings.Repeat("a", 38))},
		{"1 MiB of underscores", filled("_")},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				if apikey.In(c.text) {
					b.Fatal("found")
				}
			}
		})
	}
}
