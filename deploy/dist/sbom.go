package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// sbom returns the software bill of materials of a binary, as CycloneDX JSON: the modules that the
// linker recorded in it, with their versions and checksums, and the version of Go, whose standard
// library is in it as well. Modules that the repository uses for tests or tools alone are not in
// the binary and so not in the list.
func (r release) sbom(binary, _ string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	product := cyclonedx.Component{
		BOMRef: "quorate", Type: cyclonedx.ComponentTypeApplication, Name: "quorate", Version: r.version,
		Hashes: &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		Properties: &[]cyclonedx.Property{
			{Name: "quorate:commit", Value: r.commit},
			{Name: "quorate:platform", Value: setting(info, "GOOS") + "/" + setting(info, "GOARCH")},
		},
	}
	components := []cyclonedx.Component{component("std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		components = append(components, component(dep.Path, dep.Version, dep.Sum))
	}
	slices.SortFunc(components, func(a, b cyclonedx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) })
	var refs []string
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}

	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.date.Format(time.RFC3339), Component: &product}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: product.BOMRef, Dependencies: &refs}}
	var out bytes.Buffer
	err = cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return out.Bytes(), err
}

// component describes a module. sum is its checksum as go.sum has it, which is the SHA-256 of the
// list of its files' hashes.
func component(path, version, sum string) cyclonedx.Component {
	purl := fmt.Sprintf("pkg:golang/%s@%s", path, version)
	c := cyclonedx.Component{
		BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: purl,
	}
	if encoded, ok := strings.CutPrefix(sum, "h1:"); ok {
		if raw, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
		}
	}
	return c
}

// setting returns a setting of the build, such as GOARCH.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
