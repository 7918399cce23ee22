package shell

import (
	"testing"

	"pressroom.example/pressroom/internal/locale"
)

func TestBrowserNames(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 " +
			"Firefox/130.0": "Firefox on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 " +
			"Safari/605.1.15": "Safari on macOS",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 " +
			"Safari/537.36": "Chrome on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 " +
			"Safari/537.36 Edg/130.0.0.0": "Edge on Windows",
		"Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile " +
			"Safari/537.36": "Chrome on Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 " +
			"Mobile/15E148 Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/130.0.0.0 " +
			"Mobile/15E148 Safari/604.1": "Chrome on iPad",
		"curl/8.10.1": "curl", "Windows Phone of the future": "Browser on Windows",
		"Go-http-client/1.1": "Unknown browser", "": "Unknown browser",
	} {
		if got := browserName(locale.English, agent); got != want {
			t.Errorf("%s: %s, want %s", agent, got, want)
		}
	}
}
