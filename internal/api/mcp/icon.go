package mcp

import (
	_ "embed"
	"encoding/base64"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

//go:embed icon.svg
var icon []byte

// icons returns the icon that clients show beside the server's name. It is the app's, and part of the response, because clients
// may not be able to fetch it from a private network.
func icons() []sdk.Icon {
	return []sdk.Icon{{
		Source: "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(icon), MIMEType: "image/svg+xml", Sizes: []string{"any"},
	}}
}
