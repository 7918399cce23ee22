package server

import (
	"encoding/json"
	"strings"
)

// sandboxSettings contains network settings for the sandbox, in the form that an operator would write. SANDBOX stands
// for the sandbox's address. The durations named "settled" are short, because the sandbox lists new posts immediately.
const sandboxSettings = `{
  "bluesky": {"web_url": "SANDBOX/bluesky", "video_url": "SANDBOX/bluesky/video"},
  "facebook": {
    "client_id": "sandbox", "settled": "30s",
    "authorize_host": "SANDBOX/facebook/www", "graph_host": "SANDBOX/facebook/graph", "video_host": "SANDBOX/facebook/video",
    "upload_host": "SANDBOX/facebook/upload"
  },
  "instagram": {
    "client_id": "sandbox", "settled": "30s",
    "authorize_host": "SANDBOX/instagram/www", "token_host": "SANDBOX/instagram/api", "graph_host": "SANDBOX/instagram/graph",
    "facebook": {"client_id": "sandbox", "dialog_host": "SANDBOX/instagram/facebook", "graph_host": "SANDBOX/instagram/facebook"}
  },
  "linkedin": {
    "client_id": "sandbox", "settled": "30s", "organizations": true,
    "authorize_host": "SANDBOX/linkedin", "api_host": "SANDBOX/linkedin", "web_url": "SANDBOX/linkedin/web"
  },
  "pinterest": {
    "client_id": "sandbox", "settled": "30s",
    "authorize_host": "SANDBOX/pinterest", "api_host": "SANDBOX/pinterest", "web_url": "SANDBOX/pinterest/web"
  },
  "threads": {
    "client_id": "sandbox", "settled": "30s",
    "authorize_host": "SANDBOX/threads", "graph_host": "SANDBOX/threads"
  },
  "tiktok": {
    "client_id": "sandbox", "settled": "30s", "business": {"client_id": "sandbox-business"},
    "authorize_host": "SANDBOX/tiktok", "api_host": "SANDBOX/tiktok", "web_host": "SANDBOX/tiktok/web"
  },
  "x": {
    "client_id": "sandbox", "settled": "30s",
    "authorize_host": "SANDBOX/x", "api_host": "SANDBOX/x", "web_url": "SANDBOX/x/web"
  },
  "youtube": {
    "client_id": "sandbox", "settled": "30s",
    "authorize_host": "SANDBOX/youtube", "token_host": "SANDBOX/youtube", "api_host": "SANDBOX/youtube", "web_url": "SANDBOX/youtube/web"
  }
}
`

// SandboxSettings returns network settings for the sandbox at an address, as JSON.
func SandboxSettings(address string) string {
	return strings.ReplaceAll(sandboxSettings, "SANDBOX", address)
}

// StrictSandboxSettings is like SandboxSettings, but the apps have no audit, review or products. The X app is
// unchanged, because an app without credits cannot connect accounts.
func StrictSandboxSettings(address string) string {
	var apps map[string]map[string]any
	if err := json.Unmarshal([]byte(SandboxSettings(address)), &apps); err != nil {
		panic(err) // the text above is invalid
	}
	apps["facebook"]["client_id"] = "sandbox-unreviewed-require-app-secret"
	if login, ok := apps["instagram"]["facebook"].(map[string]any); ok {
		login["client_id"] = "sandbox-unreviewed-require-app-secret"
	}
	apps["instagram"]["client_id"] = "sandbox-unreviewed"
	apps["threads"]["client_id"] = "sandbox-unreviewed"
	apps["linkedin"]["client_id"] = "sandbox-self-service"
	apps["linkedin"]["company"] = map[string]any{"client_id": "sandbox-community-management"}
	delete(apps["linkedin"], "organizations")
	apps["pinterest"]["client_id"] = "sandbox-trial"
	apps["tiktok"]["client_id"] = "sandbox-unaudited"
	apps["tiktok"]["business"] = map[string]any{"client_id": "sandbox-business-unaudited"}
	apps["youtube"]["client_id"] = "sandbox-testing-unaudited"
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	if err := e.Encode(apps); err != nil {
		panic(err) // cannot fail, because apps contains only strings and objects
	}
	return out.String()
}

// SandboxNetworks returns the same settings as SandboxSettings, with secrets. The sandbox ignores the secrets.
func SandboxNetworks(address string) NetworkSettings {
	out := NetworkSettings{Secret: func(string) string { return "sandbox" }}
	if err := json.Unmarshal([]byte(SandboxSettings(address)), &out.ByPlatform); err != nil {
		panic(err) // the text above is invalid
	}
	return out
}
