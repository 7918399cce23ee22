package apikey_test

import (
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/auth/apikey"
)

func BenchmarkContainsSecret(b *testing.B) {
	mebibyte := func(pattern string) string { return strings.Repeat(pattern, (1<<20)/len(pattern)) }
	prose := "The bridge opens again on Saturday: music from noon, cake for all who helped, and a walk along " +
		"the river. "
	for _, c := range []struct{ name, text string }{
		{"a caption of 300 characters", (prose + prose + prose)[:300]},
		{"prose", mebibyte(prose)},
		{"Japanese", mebibyte("橋は土曜日に再び開きます。")},
		{"base64", mebibyte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")},
		{"hex", mebibyte("0123456789abcdef")},
		{"percent signs", mebibyte("%")},
		{"escaped percent signs", mebibyte("%25")},
		{"ampersands", mebibyte("&")},
		{"character references", mebibyte("&#38;")},
		{"prefixes", mebibyte("prk_")},
		{"prefixes with bodies", mebibyte("prk_" + strings.Repeat("a", 38))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				if apikey.ContainsSecret(c.text) {
					b.Fatal("found")
				}
			}
		})
	}
}
