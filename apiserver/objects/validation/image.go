package validation

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"strings"

	"quorate/apiserver/objects/schema"
)

func imageHooks() schema.Hooks {
	return schema.Hooks{
		Steps: map[string]schema.Step{
			"fillImageFromManifest": fillImageFromManifest,
			"keepImageContent":      keepImageContent,
		},
		Defaulters: map[string]schema.Defaulter{
			"imageMetadataVersion": imageMetadataVersion,
		},
	}
}

func imageMetadataVersion(_ *schema.Context, m *schema.Value) {
	if hasRaw(m, "containerImageMetadata") {
		m.Make("containerImageMetadataVersion").SetStr("1.0")
	}
}

// hasRaw reports whether a rawExtension field is set to something other than null.
func hasRaw(m *schema.Value, name string) bool {
	raw := m.Field(name).Str()
	return raw != "" && raw != "null"
}

// keepImageContent restores an image's content on updates (E28). A client may add the manifest and
// the config if their digests match the image, and may remove them.
func keepImageContent(c *schema.Context) {
	for _, name := range [...]string{
		"containerImageReference", "containerImageMetadata", "containerImageMetadataVersion", "containerImageLayers",
	} {
		keep(c, name)
	}
	root, old := c.Object.Root(), c.Old.Root()
	const manifestField, configField = "containerImageManifest", "containerImageConfig"
	text := root.Field(manifestField).Str()
	if text != "" && text != old.Field(manifestField).Str() && !isDigestOf(c.Object.Name(), text) {
		keep(c, manifestField)
	}
	config := root.Field(configField).Str()
	if config == "" || config == old.Field(configField).Str() {
		return
	}
	parsed, _ := parseManifest(root.Field(manifestField).Str())
	if !isDigestOf(parsed.Config.Digest, config) && !isDigestOf(c.Object.Name(), config) {
		keep(c, configField)
	}
}

// isDigestOf reports whether digest, "sha256:<hex>", is the digest of the content.
func isDigestOf(digest, content string) bool {
	algorithm, want, ok := strings.Cut(digest, ":")
	if !ok {
		return false
	}
	switch algorithm {
	case "sha256":
		sum := sha256.Sum256([]byte(content))
		return hex.EncodeToString(sum[:]) == want
	case "sha384":
		sum := sha512.Sum384([]byte(content))
		return hex.EncodeToString(sum[:]) == want
	case "sha512":
		sum := sha512.Sum512([]byte(content))
		return hex.EncodeToString(sum[:]) == want
	}
	return false
}

// manifest contains the fields of a registry's manifest, of either schema version, that images use.
type manifest struct {
	MediaType string       `json:"mediaType"`
	Config    descriptor   `json:"config"`
	Layers    []descriptor `json:"layers"`   // version 2: base layer first
	FSLayers  []fsLayer    `json:"fsLayers"` // version 1: base layer last
}

type descriptor struct {
	MediaType string `json:"mediaType"`
	Size      int64  `json:"size"`
	Digest    string `json:"digest"`
}

type fsLayer struct {
	BlobSum string `json:"blobSum"`
}

// parseManifest parses a manifest. ok is false for other texts, which images may contain as well.
func parseManifest(text string) (manifest, bool) {
	var m manifest
	if text == "" || json.Unmarshal([]byte(text), &m) != nil {
		return manifest{}, false
	}
	return m, true
}

// fillImageFromManifest sets the layers, metadata and media type of a new image from its manifest
// where the client left them out.
func fillImageFromManifest(c *schema.Context) {
	root := c.Object.Root()
	m, ok := parseManifest(root.Field("containerImageManifest").Str())
	if !ok {
		return
	}
	if mediaType := root.Field("containerImageManifestMediaType"); mediaType.Str() == "" && m.MediaType != "" {
		root.Make("containerImageManifestMediaType").SetStr(m.MediaType)
	}
	if root.Field("containerImageLayers").Len() == 0 {
		m.writeLayers(root)
	}
	if !hasRaw(root, "containerImageMetadata") {
		m.writeMetadata(root)
	}
}

func (m *manifest) writeLayers(root *schema.Value) {
	add := func(name, mediaType string, size int64) {
		layer := root.Make("containerImageLayers").Append()
		layer.Make("name").SetStr(name)
		layer.Make("mediaType").SetStr(mediaType)
		layer.Make("size").SetInt(size)
	}
	for _, layer := range m.Layers {
		add(layer.Digest, layer.MediaType, layer.Size)
	}
	for i := len(m.FSLayers) - 1; i >= 0; i-- {
		add(m.FSLayers[i].BlobSum, "", 0)
	}
}

// imageMetadata contains the fields of an image's config that images show.
type imageMetadata struct {
	ID           string          `json:"Id,omitempty"`
	Created      string          `json:"Created,omitempty"`
	Author       string          `json:"Author,omitempty"`
	Architecture string          `json:"Architecture,omitempty"`
	Config       json.RawMessage `json:"Config,omitempty"`
	Size         int64           `json:"Size,omitempty"`
}

// writeMetadata writes the config and the total size of the layers. If the config cannot be parsed,
// it writes what the manifest contains.
func (m *manifest) writeMetadata(root *schema.Value) {
	var config struct {
		Created      string          `json:"created"`
		Author       string          `json:"author"`
		Architecture string          `json:"architecture"`
		Config       json.RawMessage `json:"config"`
	}
	text := root.Field("containerImageConfig").Str()
	if text == "" || json.Unmarshal([]byte(text), &config) != nil {
		return
	}
	out := imageMetadata{
		ID: m.Config.Digest, Created: config.Created, Author: config.Author, Architecture: config.Architecture,
		Config: config.Config, Size: int64(len(text)),
	}
	for _, layer := range m.Layers {
		out.Size += layer.Size
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return
	}
	root.Make("containerImageMetadata").SetStr(string(raw))
}
