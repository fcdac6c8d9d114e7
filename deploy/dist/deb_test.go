package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// checkPackage reads the package by dpkg-deb: its control file, its files with their owners and
// modes, its conffile, and its unit.
func checkPackage(t *testing.T, r release) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is not installed")
	}
	pkg := filepath.Join(r.out, "quorate_"+debianVersion(r.version)+"_"+runtime.GOARCH+".deb")

	control := output(t, "dpkg-deb", "--field", pkg)
	for _, line := range []string{
		"Package: quorate", "Version: 1.2.3~rc.1", "Architecture: " + runtime.GOARCH, "Depends: adduser",
		"Maintainer: " + maintainer, "Section: database", "Priority: optional",
	} {
		if !slices.Contains(strings.Split(control, "\n"), line) {
			t.Errorf("the control file lacks %q:\n%s", line, control)
		}
	}
	if got := output(t, "dpkg-deb", "--info", pkg, "conffiles"); strings.TrimSpace(got) != "/etc/quorate/quorate.yaml" {
		t.Errorf("the conffiles are %q", got)
	}

	var listing []string
	for line := range strings.Lines(output(t, "dpkg-deb", "--contents", pkg)) {
		fields := strings.Fields(line)
		if fields[1] != "root/root" {
			t.Errorf("the owner of a file is not root: %s", line)
		}
		if mode := fields[0]; mode[0] != 'd' {
			listing = append(listing, mode+" "+fields[len(fields)-1])
		} else if mode != "drwxr-xr-x" {
			t.Errorf("the mode of a directory is not 0755: %s", line)
		}
	}
	want := []string{
		"-rw-r--r-- ./etc/quorate/quorate.yaml",
		"-rwxr-xr-x ./usr/bin/quorate",
		"-rw-r--r-- ./usr/lib/systemd/system/quorate.service",
		"-rw-r--r-- ./usr/share/doc/quorate/CHANGELOG.md.gz",
		"-rw-r--r-- ./usr/share/doc/quorate/changelog.gz",
		"-rw-r--r-- ./usr/share/doc/quorate/copyright",
		"-rw-r--r-- ./usr/share/doc/quorate/examples/alerts.yaml",
		"-rw-r--r-- ./usr/share/lintian/overrides/quorate",
		"-rw-r--r-- ./usr/share/man/man1/quorate-serve.1.gz",
	}
	if !slices.Equal(listing, want) {
		t.Errorf("the package holds\n%s\nwant\n%s", strings.Join(listing, "\n"), strings.Join(want, "\n"))
	}

	dir := t.TempDir()
	output(t, "dpkg-deb", "--extract", pkg, dir)
	unit, err := os.ReadFile(filepath.Join(dir, "usr/lib/systemd/system/quorate.service"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"ExecStart=/usr/bin/quorate serve --config /etc/quorate/quorate.yaml", "User=quorate", "Group=quorate", "StateDirectory=quorate",
	} {
		if !slices.Contains(strings.Split(string(unit), "\n"), line) {
			t.Errorf("the unit lacks %q", line)
		}
	}
	if strings.Contains(string(unit), "DynamicUser") {
		t.Error("the unit has DynamicUser although the package makes the user")
	}
}

// TestMaintainerScripts runs the scripts with commands that only record how they are called.
func TestMaintainerScripts(t *testing.T) {
	const adduser = "adduser --quiet --system --group --no-create-home --home /var/lib/quorate --gecos Quorate quorate"
	for _, tc := range []struct {
		script, action string
		want           []string // Calls that must be there; no other may change the service.
	}{
		{"postinst", "configure", []string{adduser, "deb-systemd-helper update-state quorate.service"}},
		{"postinst", "abort-upgrade", nil},
		{"prerm", "upgrade", nil},
		{"prerm", "remove", nil},
		{"postrm", "remove", nil},
		{"postrm", "purge", []string{"deb-systemd-helper purge quorate.service"}},
	} {
		t.Run(tc.script+"_"+tc.action, func(t *testing.T) {
			dir := t.TempDir()
			record := filepath.Join(dir, "calls")
			for _, name := range []string{"adduser", "deb-systemd-helper", "deb-systemd-invoke", "systemctl"} {
				stub := "#!/bin/sh\necho \"" + name + " $*\" >>" + record + "\n"
				if err := os.WriteFile(filepath.Join(dir, name), []byte(stub), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("sh", filepath.Join("debian", tc.script), tc.action)
			cmd.Env = []string{"PATH=" + dir + ":/bin:/usr/bin"}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			calls, err := os.ReadFile(record)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			got := strings.Split(strings.TrimSpace(string(calls)), "\n")
			for _, want := range tc.want {
				if !slices.Contains(got, want) {
					t.Errorf("the script does not call %q, but %q", want, got)
				}
			}
			// With systemd running, it also reloads units, and stops the service before it is removed.
			for _, call := range got {
				stop := tc.script == "prerm" && tc.action == "remove" && call == "deb-systemd-invoke stop quorate.service"
				if call != "" && call != "systemctl --system daemon-reload" && !stop && !slices.Contains(tc.want, call) {
					t.Errorf("the script calls %q", call)
				}
			}
		})
	}
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
