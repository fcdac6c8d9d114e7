package validation

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"quorate/apiserver/objects/schema"
)

func digestOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func image(name, parts string) string {
	return `{"metadata":{"name":"` + name + `"},` + members(`"containerImageReference":"h:5000/r/i:1"`, parts) + `}`
}

func imageRows() []row {
	const config = `{"architecture":"a","config":{"Env":["A=B"]},"created":"2020-01-01T00:00:00Z"}`
	manifest2 := `{"schemaVersion":2,"mediaType":"m/m","config":{"digest":"` + digestOf(config) + `","size":1},"layers":[{"mediaType":"m/l","size":7,"digest":"sha256:l1"},{"mediaType":"m/l","size":8,"digest":"sha256:l2"}]}`
	const manifest1 = `{"schemaVersion":1,"fsLayers":[{"blobSum":"top"},{"blobSum":"base"}]}`
	name := digestOf(manifest2)
	text := func(field, content string) string { return `"` + field + `":` + strconv.Quote(content) }
	const content = `"containerImageMetadata":{"a":1},"containerImageLayers":[{"name":"l","size":1,"mediaType":"m"}]`
	withManifest := text("containerImageManifest", manifest2)
	return []row{
		{name: "metadata has a version M28", kind: "images", body: image("x", content), want: map[string]string{
			"containerImageMetadataVersion": `"1.0"`, "containerImageMetadata": `{"a":1}`}},
		{name: "no metadata has no version M28", kind: "images", body: image("x", `"containerImageMetadata":null`), want: map[string]string{
			"containerImageMetadataVersion": "", "containerImageLayers": "null"}},
		{name: "filled from its manifest", kind: "images", body: image(name, withManifest+","+text("containerImageConfig", config)), want: map[string]string{
			"containerImageManifestMediaType": `"m/m"`,
			"containerImageLayers":            `[{"mediaType":"m/l","name":"sha256:l1","size":7},{"mediaType":"m/l","name":"sha256:l2","size":8}]`,
			"containerImageMetadata": `{"Architecture":"a","Config":{"Env":["A=B"]},"Created":"2020-01-01T00:00:00Z","Id":"` + digestOf(config) +
				`","Size":` + strconv.Itoa(15+len(config)) + `}`,
			"containerImageMetadataVersion": `"1.0"`,
		}},
		{name: "layers of the first schema", kind: "images", body: image("x", text("containerImageManifest", manifest1)),
			want: map[string]string{"containerImageLayers[0].name": `"base"`, "containerImageLayers[1].name": `"top"`}},
		{name: "content of its own stays", kind: "images", body: image(name, withManifest+","+content),
			want: map[string]string{"containerImageLayers[0].name": `"l"`, "containerImageMetadata": `{"a":1}`}},
		{name: "a manifest that is none", kind: "images", body: image("x", text("containerImageManifest", "[")),
			want: map[string]string{"containerImageManifest": `"["`, "containerImageLayers": "null"}},
		{name: "content is kept E28", kind: "images", op: schema.Update, old: image("x", content),
			body: `{"metadata":{"name":"x","labels":{"a":"b"}},"containerImageReference":"other","containerImageMetadata":{"b":2},"containerImageMetadataVersion":"2","containerImageLayers":[]}`,
			want: map[string]string{
				"containerImageReference": `"h:5000/r/i:1"`, "containerImageMetadata": `{"a":1}`, "containerImageMetadataVersion": `"1.0"`,
				"containerImageLayers[0].name": `"l"`, "metadata.labels": `{"a":"b"}`,
			}},
		{name: "the image's manifest and config come E28", kind: "images", op: schema.Update, old: image(name, ""),
			body: image(name, withManifest+","+text("containerImageConfig", config)),
			want: map[string]string{"containerImageManifest": strconv.Quote(manifest2), "containerImageConfig": strconv.Quote(config)}},
		{name: "other manifests and configs don't E28", kind: "images", op: schema.Update, old: image(name, withManifest),
			body: image(name, text("containerImageManifest", manifest1)+","+text("containerImageConfig", "{}")),
			want: map[string]string{"containerImageManifest": strconv.Quote(manifest2), "containerImageConfig": ""}},
		{name: "the manifest goes E28", kind: "images", op: schema.Update, old: image(name, withManifest), body: image(name, ""),
			want: map[string]string{"containerImageManifest": ""}},
	}
}
