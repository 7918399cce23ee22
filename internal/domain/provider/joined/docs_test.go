package joined

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"pressroom.example/pressroom/internal/domain/provider/instagramgraph"
	"pressroom.example/pressroom/internal/domain/provider/tiktokresearch"
	"pressroom.example/pressroom/internal/testkit/must"
)

var example = regexp.MustCompile("(?s)```json\\n(.*?)```")

// The settings in the guide are valid.
func TestGuideSettings(t *testing.T) {
	t.Parallel()
	guide := must.Get(os.ReadFile("../../../../docs/sources.md"))(t)
	var all struct {
		Instagram instagramgraph.Options `json:"instagram_graph"`
		TikTok    tiktokresearch.Options `json:"tiktok_research"`
	}
	for _, found := range example.FindAllSubmatch(guide, -1) {
		decoder := json.NewDecoder(bytes.NewReader(found[1]))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&all); err != nil {
			t.Errorf("%s: %v", found[1], err)
		}
	}
	accounts := all.Instagram.Accounts
	if len(accounts) != 2 || accounts[1].ID == "" || accounts[1].TokenEnv == "" || !all.Instagram.Hashtags {
		t.Errorf("%+v", accounts)
	}
	if !all.TikTok.Eligible || all.TikTok.ClientKey == "" || all.TikTok.ClientSecretEnv == "" {
		t.Error("settings of the guide were rejected")
	}
}
