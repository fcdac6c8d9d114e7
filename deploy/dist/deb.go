package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

// maintainer is who the package names; nobody receives mail there.
const maintainer = "Quorate maintainers <maintainers@quorate.invalid>"

const description = `typed resource API replicated by Raft
 Quorate stores and serves typed objects with the API of Kubernetes, in one
 process without a separate database. Any minority of a cluster's nodes can
 fail without the loss of an acknowledged write.`

// debian holds the files that only the package has.
//
//go:embed debian
var debian embed.FS

// unitChanges are the lines of deploy/quorate.service that the package changes: where its binary
// is, and whom the service runs as. A user that exists before the first start can own certificates,
// which one that systemd makes up at each start can't.
var unitChanges = [][2]string{
	{"ExecStart=/usr/local/bin/quorate ", "ExecStart=/usr/bin/quorate "},
	{"DynamicUser=yes\n", "User=quorate\nGroup=quorate\nRemoveIPC=yes\n"},
}

// deb returns the Debian package of a binary.
func (r release) deb(binary, arch string) ([]byte, error) {
	// nfpm reads files and scripts from paths.
	work, err := os.MkdirTemp("", "quorate-deb-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)

	unit, err := r.unit()
	if err != nil {
		return nil, err
	}
	news, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	generated := map[string][]byte{
		"quorate.service": unit,
		"CHANGELOG.md.gz": compress(news),
		"changelog.gz": compress(fmt.Appendf(nil, "quorate (%s) unstable; urgency=medium\n\n  * CHANGELOG.md beside this file says what changed.\n\n -- %s  %s\n",
			debianVersion(r.version), maintainer, r.date.Format(time.RFC1123Z))),
	}
	for _, name := range []string{"quorate.yaml", "copyright", "lintian-overrides", "postinst", "prerm", "postrm"} {
		if generated[name], err = debian.ReadFile("debian/" + name); err != nil {
			return nil, err
		}
	}
	for name, content := range generated {
		if err := os.WriteFile(filepath.Join(work, name), content, 0o600); err != nil {
			return nil, err
		}
	}

	file := func(source, destination string, mode os.FileMode) *files.Content {
		if !filepath.IsAbs(source) {
			source = filepath.Join(work, source)
		}
		return &files.Content{
			Source: source, Destination: destination,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.date},
		}
	}
	binary, err = filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	alerts, err := filepath.Abs(filepath.Join(r.root, "deploy", "alerts.yaml"))
	if err != nil {
		return nil, err
	}
	settings := file("quorate.yaml", "/etc/quorate/quorate.yaml", 0o644)
	settings.Type = files.TypeConfig
	pages, err := filepath.Glob(filepath.Join(r.man, "*.1"))
	if err != nil {
		return nil, err
	}
	if len(pages) == 0 {
		return nil, fmt.Errorf("%s has no manual pages", r.man)
	}
	var manual files.Contents
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		name := filepath.Base(page) + ".gz"
		if err := os.WriteFile(filepath.Join(work, name), compress(content), 0o600); err != nil {
			return nil, err
		}
		manual = append(manual, file(name, "/usr/share/man/man1/"+name, 0o644))
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "quorate", Arch: arch, Platform: "linux", Version: debianVersion(r.version), VersionSchema: "none",
		Section: "database", Priority: "optional", Maintainer: maintainer, Description: description,
		MTime: r.date, DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Depends: []string{"adduser"},
			Umask:   0o022,
			Contents: append(manual,
				file(binary, "/usr/bin/quorate", 0o755),
				file("quorate.service", "/usr/lib/systemd/system/quorate.service", 0o644),
				settings,
				file("copyright", "/usr/share/doc/quorate/copyright", 0o644),
				file("changelog.gz", "/usr/share/doc/quorate/changelog.gz", 0o644),
				file("CHANGELOG.md.gz", "/usr/share/doc/quorate/CHANGELOG.md.gz", 0o644),
				file(alerts, "/usr/share/doc/quorate/examples/alerts.yaml", 0o644),
				file("lintian-overrides", "/usr/share/lintian/overrides/quorate", 0o644),
			),
			Scripts: nfpm.Scripts{
				PostInstall: filepath.Join(work, "postinst"),
				PreRemove:   filepath.Join(work, "prerm"),
				PostRemove:  filepath.Join(work, "postrm"),
			},
		},
	})
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = deb.Default.Package(info, &out)
	return out.Bytes(), err
}

// unit returns the systemd unit of the package.
func (r release) unit() ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(r.root, "deploy", "quorate.service"))
	if err != nil {
		return nil, err
	}
	unit := string(content)
	for _, change := range unitChanges {
		if strings.Count(unit, change[0]) != 1 {
			return nil, fmt.Errorf("deploy/quorate.service does not have %q exactly once, which the package replaces", change[0])
		}
		unit = strings.Replace(unit, change[0], change[1], 1)
	}
	return []byte(unit), nil
}

var (
	sinceTag   = regexp.MustCompile(`-(\d+)-g([0-9a-f]+)`)
	prerelease = regexp.MustCompile(`^(\d+\.\d+\.\d+)-`)
)

// debianVersion returns a version of the binaries in the form that dpkg sorts rightly: a
// pre-release before its release (~), and commits after a tag, as git describe counts them, after
// it (+).
func debianVersion(version string) string {
	version = strings.TrimPrefix(version, "v")
	version, dirty := strings.CutSuffix(version, "-dirty")
	version = sinceTag.ReplaceAllString(version, "+$1.g$2")
	version = prerelease.ReplaceAllString(version, "$1~")
	version = strings.ReplaceAll(version, "-", ".")
	if dirty {
		version += "+dirty"
	}
	return version
}

// compress returns the content as gzip without a name or a time.
func compress(content []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic(err) // The level is a valid one.
	}
	if _, err := w.Write(content); err != nil {
		panic(err) // Writes to a bytes.Buffer succeed.
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}
