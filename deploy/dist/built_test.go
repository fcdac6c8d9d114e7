//go:build dist

package main

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// builtRelease returns what `make dist` has built; `make dist-test` says what that was.
func builtRelease(t *testing.T) release {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	r := release{version: os.Getenv("DIST_VERSION"), root: root, out: filepath.Join(root, "bin", "dist")}
	if r.version == "" {
		t.Fatal("DIST_VERSION is not set: run make dist-test")
	}
	return r
}

// TestBuiltAgainIsTheSame builds the release in another folder, with an empty build cache and in
// another time zone, and compares every artifact.
func TestBuiltAgainIsTheSame(t *testing.T) {
	r := builtRelease(t)
	copied := filepath.Join(t.TempDir(), "another", "place")
	if err := os.MkdirAll(copied, 0o755); err != nil {
		t.Fatal(err)
	}
	shell(t, r.root, "git ls-files -co --exclude-standard | tar cf - -T - | tar xf - -C "+copied)
	cmd := exec.Command("make", "dist", "VERSION="+r.version, "COMMIT="+os.Getenv("DIST_COMMIT"),
		"DATE="+os.Getenv("DIST_DATE"), "TREE="+os.Getenv("DIST_TREE"))
	cmd.Dir = copied
	cmd.Env = append(os.Environ(), "GOCACHE="+t.TempDir(), "TZ=Asia/Tokyo", "GOAMD64=v3", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	first, second := contents(t, r.out), contents(t, filepath.Join(copied, "bin", "dist"))
	if len(first) != 9 || len(second) != len(first) {
		t.Errorf("%d and %d artifacts, want 9", len(first), len(second))
	}
	for name, content := range first {
		if !bytes.Equal(content, second[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

// TestBuiltBinariesAreStatic checks that each binary is of its architecture and needs no loader, and
// that the one of this machine runs.
func TestBuiltBinariesAreStatic(t *testing.T) {
	r := builtRelease(t)
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		path := filepath.Join(r.out, r.name(arch))
		file, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if file.Machine != machine {
			t.Errorf("%s is for %v, want %v", path, file.Machine, machine)
		}
		for _, segment := range file.Progs {
			if segment.Type == elf.PT_INTERP || segment.Type == elf.PT_DYNAMIC {
				t.Errorf("%s is linked dynamically", path)
			}
		}
	}
	checkVersion(t, r, filepath.Join(r.out, r.name(runtime.GOARCH)))
}

// TestBuiltPackageUnpacks unpacks the package of this machine by dpkg into an empty root, runs what
// is there, and lets lintian judge the package.
func TestBuiltPackageUnpacks(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("dpkg needs root")
	}
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("dpkg is not installed")
	}
	r := builtRelease(t)
	pkg := filepath.Join(r.out, "quorate_"+debianVersion(r.version)+"_"+runtime.GOARCH+".deb")
	dir := t.TempDir()
	for _, name := range []string{"info", "updates"} {
		if err := os.MkdirAll(filepath.Join(dir, "var/lib/dpkg", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	output(t, "dpkg", "--root", dir, "--force-depends", "--force-architecture", "--unpack", pkg)
	// The settings get their name when the package is configured.
	const settings = "missing   c /etc/quorate/quorate.yaml"
	if changed := strings.TrimSpace(output(t, "dpkg", "--root", dir, "--verify", "quorate")); changed != settings {
		t.Errorf("dpkg --verify reports %q, want %q", changed, settings)
	}
	checkVersion(t, r, filepath.Join(dir, "usr/bin/quorate"))
	if _, err := exec.LookPath("lintian"); err == nil {
		t.Log(output(t, "lintian", "--allow-root", "--fail-on", "error", pkg))
	}
}

// TestBuiltPackageInstalls installs the package of this machine on a minimal Debian, uses what it
// brings, and purges it.
func TestBuiltPackageInstalls(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("debootstrap needs root")
	}
	if _, err := exec.LookPath("debootstrap"); err != nil {
		t.Skip("debootstrap is not installed")
	}
	r := builtRelease(t)
	dir := t.TempDir()
	output(t, "debootstrap", "--variant=minbase", "--include=adduser,man-db", "bookworm", dir)
	name := "quorate_" + debianVersion(r.version) + "_" + runtime.GOARCH + ".deb"
	if err := os.WriteFile(filepath.Join(dir, name), contents(t, r.out)[name], 0o644); err != nil {
		t.Fatal(err)
	}
	inside := func(command ...string) string { return output(t, "chroot", append([]string{dir}, command...)...) }
	inside("dpkg", "--install", "/"+name)
	for _, c := range []struct{ command, want string }{
		{"dpkg --verify quorate", ""},
		{"id --user --name quorate", "quorate"},
		{"quorate version", "quorate " + r.version + " "},
		{"man --where quorate quorate-serve", "/usr/share/man/man1/quorate.1.gz\n/usr/share/man/man1/quorate-serve.1.gz"},
		{"cat /etc/quorate/quorate.yaml", "# Settings of this node."},
	} {
		if got := inside(strings.Fields(c.command)...); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s prints %q, want %q", c.command, got, c.want)
		}
	}

	for _, command := range []string{"mkdir /var/lib/quorate", "touch /etc/quorate/cluster.env", "dpkg --purge quorate"} {
		inside(strings.Fields(command)...)
	}
	for path, kept := range map[string]bool{
		"var/lib/quorate": true, "etc/quorate/cluster.env": true, "etc/quorate/quorate.yaml": false, "usr/bin/quorate": false,
	} {
		if _, err := os.Stat(filepath.Join(dir, path)); (err == nil) != kept {
			t.Errorf("after the purge, %s: kept %v, want %v", path, err == nil, kept)
		}
	}
}

// TestBuiltImageRuns loads the image of this machine into Docker and starts a node of it, without a
// network.
func TestBuiltImageRuns(t *testing.T) {
	if err := exec.Command("docker", "info").Run(); err != nil {
		t.Skip("no Docker engine answers")
	}
	r := builtRelease(t)
	loaded := output(t, "docker", "load", "--quiet", "--input", filepath.Join(r.out, r.name(runtime.GOARCH)+".oci.tar"))
	image := strings.TrimSpace(strings.TrimPrefix(loaded, "Loaded image: "))
	t.Cleanup(func() { output(t, "docker", "rmi", image) })
	id := strings.TrimSpace(output(t, "docker", "run", "--detach", "--network", "none", "--env", "QUORATE_ADVERTISE_HOST=localhost", image))
	t.Cleanup(func() { output(t, "docker", "rm", "--force", "--volumes", id) })
	output(t, "docker", "exec", id, "/quorate", "healthcheck", "--wait", "60s")
}

// checkVersion runs the binary and compares the version that it prints.
func checkVersion(t *testing.T, r release, binary string) {
	t.Helper()
	if got := output(t, binary, "version"); !strings.HasPrefix(got, "quorate "+r.version+" ") {
		t.Errorf("%s prints %q, want version %s", binary, got, r.version)
	}
}

func shell(t *testing.T, dir, command string) {
	t.Helper()
	cmd := exec.Command("bash", "-o", "pipefail", "-c", command)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
}
