package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// packaged writes a release whose binary is that of this test, so that nothing has to be compiled.
func packaged(t *testing.T) (release, string) {
	t.Helper()
	r := release{
		version: "v1.2.3-rc.1", commit: "0123456789ab", date: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC),
		root: filepath.Join("..", ".."), out: t.TempDir(), man: t.TempDir(),
	}
	if err := os.WriteFile(filepath.Join(r.man, "quorate-serve.1"), []byte(".TH QUORATE 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(r.out, r.name(runtime.GOARCH))
	if err := os.WriteFile(binary, content, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.write([]string{runtime.GOARCH}); err != nil {
		t.Fatal(err)
	}
	return r, binary
}

// contents returns the files of a directory by name.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string][]byte)
	for _, entry := range entries {
		if found[entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestRelease writes one release and checks each of its artifacts.
func TestRelease(t *testing.T) {
	r, binary := packaged(t)
	t.Run("is reproducible", func(t *testing.T) { checkReproducible(t, r) })
	t.Run("has sums of every artifact", func(t *testing.T) { checkSums(t, r) })
	t.Run("has an SBOM of the binary's modules", func(t *testing.T) { checkSBOM(t, r, binary) })
	t.Run("has an image that reads back", func(t *testing.T) { checkArchive(t, r, binary) })
	t.Run("has a Debian package", func(t *testing.T) { checkPackage(t, r) })
}

// checkReproducible checks that the same inputs give the same bytes at another time, in another
// directory, time zone and umask.
func checkReproducible(t *testing.T, first release) {
	t.Setenv("TZ", "Asia/Tokyo")
	t.Setenv("SOURCE_DATE_EPOCH", "1")
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	second, _ := packaged(t)

	a, b := contents(t, first.out), contents(t, second.out)
	if len(a) != 5 || len(b) != len(a) {
		t.Fatalf("%d and %d artifacts, want 5", len(a), len(b))
	}
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s differs between two runs", name)
		}
	}
}

// checkSums checks SHA256SUMS against the files.
func checkSums(t *testing.T, r release) {
	found := contents(t, r.out)
	for line := range strings.Lines(string(found["SHA256SUMS"])) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got := fmt.Sprintf("%x", sha256.Sum256(found[name])); got != sum {
			t.Errorf("SHA256SUMS has %s for %s, its SHA-256 is %s", sum, name, got)
		}
		delete(found, name)
	}
	delete(found, "SHA256SUMS")
	for name := range found {
		t.Errorf("SHA256SUMS leaves out %s", name)
	}
}

// checkSBOM compares the SBOM with what the linker recorded.
func checkSBOM(t *testing.T, r release, binary string) {
	file, err := os.Open(binary + ".cdx.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(file, cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if got := bom.Metadata.Component.Version; got != r.version {
		t.Errorf("the SBOM is of version %s, want %s", got, r.version)
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}
	for _, dep := range info.Deps {
		want = append(want, "pkg:golang/"+dep.Path+"@"+dep.Version)
	}
	var got []string
	for _, c := range *bom.Components {
		got = append(got, c.PackageURL)
		if c.Name != "std" && c.Hashes == nil {
			t.Errorf("%s has no checksum", c.PackageURL)
		}
	}
	slices.Sort(want)
	if len(want) < 10 || !slices.Equal(got, want) {
		t.Errorf("the SBOM lists %v, want %v", got, want)
	}
}

// checkArchive reads the archive as an OCI layout and as docker load does, and compares its files
// and configuration with what deploy/Dockerfile says.
func checkArchive(t *testing.T, r release, binary string) {
	archive := binary + ".oci.tar"
	dir := t.TempDir()
	extract(t, archive, dir)

	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Errorf("the OCI layout is not valid: %v", err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 {
		t.Fatalf("the index has %d images, want 1", len(manifest.Manifests))
	}
	oci, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	docker, err := tarball.ImageFromPath(archive, nil)
	if err != nil {
		t.Fatalf("read as the archive of docker save: %v", err)
	}
	for kind, img := range map[string]v1.Image{"oci": oci, "docker": docker} {
		checkImage(t, kind, img, r, binary)
	}
}

func checkImage(t *testing.T, kind string, img v1.Image, r release, binary string) {
	t.Helper()
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(file.Config)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"Cmd":["serve"],"Healthcheck":{"Test":["CMD","/quorate","healthcheck"],"Interval":5000000000,"Timeout":4000000000,` +
		`"StartPeriod":60000000000,"Retries":3},"Entrypoint":["/quorate"],"Env":["QUORATE_DATA_DIR=/data",` +
		`"QUORATE_API_ADDR=0.0.0.0:6443","QUORATE_PEER_ADDR=0.0.0.0:7443","QUORATE_GOSSIP_ADDR=0.0.0.0:7946"],` +
		`"Labels":{"org.opencontainers.image.created":"2026-11-23T12:00:00Z","org.opencontainers.image.revision":"0123456789ab",` +
		`"org.opencontainers.image.title":"quorate","org.opencontainers.image.version":"v1.2.3-rc.1"},"User":"65532:65532",` +
		`"Volumes":{"/data":{}},"WorkingDir":"/","ExposedPorts":{"6443/tcp":{},"7443/tcp":{},"7946/tcp":{},"7946/udp":{}}}`
	if string(config) != want {
		t.Errorf("%s: the configuration is\n%s\nwant\n%s", kind, config, want)
	}
	if file.OS != "linux" || file.Architecture != runtime.GOARCH || !file.Created.Equal(r.date) {
		t.Errorf("%s: the image is of %s/%s and %s", kind, file.OS, file.Architecture, file.Created)
	}
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	if len(layers) != 1 {
		t.Fatalf("%s: %d layers, want 1", kind, len(layers))
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	var listing []string
	for in := tar.NewReader(content); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		listing = append(listing, fmt.Sprintf("%s %d:%d %o", header.Name, header.Uid, header.Gid, header.Mode))
		if stored, err := io.ReadAll(in); err != nil || header.Name == "quorate" && !bytes.Equal(stored, program) {
			t.Errorf("%s: the image has another binary (%v)", kind, err)
		}
	}
	if want := []string{"data/ 65532:65532 700", "quorate 65532:65532 755"}; !slices.Equal(listing, want) {
		t.Errorf("%s: the image holds %q, want %q", kind, listing, want)
	}
}

// extract unpacks an archive that this program wrote.
func extract(t *testing.T, archive, dir string) {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for in := tar.NewReader(file); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			var content []byte
			if content, err = io.ReadAll(in); err == nil {
				err = os.WriteFile(path, content, 0o644)
			}
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
	}
}

// TestDockerfileWithAnotherInstructionIsRefused checks that what the release's image would lack is
// an error.
func TestDockerfileWithAnotherInstructionIsRefused(t *testing.T) {
	for _, dockerfile := range []string{
		"FROM scratch\nRUN true\n",
		"FROM debian\n",
		"FROM scratch\nCOPY bin/image/ /\n",
		"FROM scratch\nHEALTHCHECK --start-interval=1s CMD [\"/quorate\"]\n",
		"FROM scratch\nHEALTHCHECK NONE\n",
		"FROM scratch\nCMD serve\n",
	} {
		if config, err := imageConfig(dockerfile); err == nil {
			t.Errorf("%q gives %+v, want an error", dockerfile, config)
		}
	}
}

// TestVersionsSortAsReleasesFollowEachOther checks Debian's form of versions, and by dpkg their
// order.
func TestVersionsSortAsReleasesFollowEachOther(t *testing.T) {
	ascending := [][2]string{
		{"v0.0.0-5004d4c0deb1", "0.0.0~5004d4c0deb1"},
		{"v0.0.0-5004d4c0deb1-dirty", "0.0.0~5004d4c0deb1+dirty"},
		{"v1.0.0-rc.1", "1.0.0~rc.1"},
		{"v1.0.0-rc.1-4-g5004d4c0", "1.0.0~rc.1+4.g5004d4c0"},
		{"v1.0.0", "1.0.0"},
		{"v1.0.0-7-g5004d4c0", "1.0.0+7.g5004d4c0"},
		{"v1.0.1", "1.0.1"},
	}
	dpkg, lookErr := exec.LookPath("dpkg")
	for i, tc := range ascending {
		if got := debianVersion(tc[0]); got != tc[1] {
			t.Errorf("%s becomes %s, want %s", tc[0], got, tc[1])
		}
		if i > 0 && lookErr == nil {
			if err := exec.Command(dpkg, "--compare-versions", ascending[i-1][1], "lt", tc[1]).Run(); err != nil {
				t.Errorf("dpkg does not sort %s before %s: %v", ascending[i-1][1], tc[1], err)
			}
		}
	}
}
