package network

import "testing"

func TestIsPostURL(t *testing.T) {
	t.Parallel()
	extra := []string{"127.0.0.1:8099"}
	for address, platform := range map[string]string{
		"https://bsky.app/profile/a.test/post/1": "bluesky", "https://m.facebook.com/a/posts/1": "facebook",
		"https://WWW.Instagram.com/p/1/": "instagram", "https://www.linkedin.com/feed/update/urn:li:share:1": "linkedin",
		"https://www.pinterest.co.uk/pin/1": "pinterest", "https://www.threads.com/@a/post/1": "threads",
		"https://vm.tiktok.com/1": "tiktok", "https://twitter.com/a/status/1": "x", "https://youtu.be/1": "youtube",
		"http://127.0.0.1:8099/x/web/a/status/1": "x",
	} {
		if !IsPostURL(platform, address, extra) {
			t.Errorf("%s is not accepted for %s", address, platform)
		}
	}
	for _, address := range []string{
		"", "javascript:alert(1)", "https://", "http://x.com/a/status/1", "https://x.com.example/1",
		"https://notx.com/1", "https://x.com@example.test/1", "https://example.test@x.com/1", "https://x.com:8443/1",
		"https://bsky.app/profile/a.test/post/1", "http://127.0.0.1:8098/x", "http://127.0.0.1/x", "/a/status/1", "//x.com/a",
	} {
		if IsPostURL("x", address, extra) {
			t.Errorf("%q is accepted for x", address)
		}
	}
	for platform := range defaultRules {
		if Host(platform) == "" {
			t.Errorf("no host for posts on %s", platform)
		}
	}
}
