package main

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"time"
)

const (
	bundleFolder = "integrations/mcpb"
	bundled      = "server/pressroom" // the program in a bundle
)

// platforms are the names of systems in manifests of bundles.
var platforms = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}

var bundleName = regexp.MustCompile(`^pressroom_(.+)_(linux|darwin|windows)_[a-z0-9]+\.mcpb$`)

// bundle writes an MCP bundle (https://github.com/modelcontextprotocol/mcpb) of a program to a file. The file name
// contains the version and the system. Equal input results in equal bytes.
func bundle(root, program, file string) error {
	name := bundleName.FindStringSubmatch(filepath.Base(file))
	if name == nil {
		return fmt.Errorf("%s is not named like pressroom_1.2.3_linux_amd64.mcpb", file)
	}
	manifest, err := bundleManifest(filepath.Join(root, bundleFolder, "manifest.json"), name[1], name[2])
	if err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("creating the bundle: %w", err)
	}
	defer out.Close()
	archive := zip.NewWriter(out)
	executable := bundled
	if name[2] == "windows" {
		executable += ".exe"
	}
	files := []struct {
		name, source string
		mode         os.FileMode
	}{
		{"icon.png", filepath.Join(root, bundleFolder, "icon.png"), 0o644},
		{"LICENSE", filepath.Join(root, "LICENSE"), 0o644},
		{executable, program, 0o755},
	}
	if err := addFile(archive, "manifest.json", 0o644, func(w io.Writer) error { _, err := w.Write(manifest); return err }); err != nil {
		return err
	}
	for _, f := range files {
		if err := addFile(archive, f.name, f.mode, func(w io.Writer) error { return copyFile(w, f.source) }); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("writing the bundle: %w", err)
	}
	return out.Close()
}

// bundleManifest returns the manifest with a version, for one system.
func bundleManifest(file, version, system string) ([]byte, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	var manifest map[string]any
	if err := json.Unmarshal(raw, &manifest); err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	manifest["version"] = version
	manifest["compatibility"] = map[string]any{"platforms": []string{platforms[system]}}
	if server, ok := manifest["server"].(map[string]any); ok && system == "windows" {
		server["entry_point"] = bundled + ".exe"
		if config, ok := server["mcp_config"].(map[string]any); ok {
			config["command"] = "${__dirname}/" + path.Base(path.Dir(bundled)) + "/pressroom.exe"
		}
	}
	return json.MarshalIndent(manifest, "", "  ")
}

func addFile(archive *zip.Writer, name string, mode os.FileMode, write func(io.Writer) error) error {
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	header.SetMode(mode)
	w, err := archive.CreateHeader(header)
	if err != nil {
		return fmt.Errorf("writing the bundle: %w", err)
	}
	return write(w)
}

func copyFile(w io.Writer, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("reading a file of the bundle: %w", err)
	}
	defer in.Close()
	if _, err := io.Copy(w, in); err != nil {
		return fmt.Errorf("reading a file of the bundle: %w", err)
	}
	return nil
}
