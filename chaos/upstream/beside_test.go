package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quorate/chaos/capability"
)

// The server has a table of hosts of its own, which changes while it runs, and gets its arguments as
// they are.
func TestServerWithHosts(t *testing.T) {
	var err error
	if os.Geteuid() != 0 {
		err = errors.New("a table of hosts of its own takes root")
	}
	capability.Require(t, err)
	work := t.TempDir()
	const printsHosts = "#!/bin/sh\necho \"$2\"; cat /etc/hosts; echo 127.0.0.2 later >\"$1\"; cat /etc/hosts\n"
	program := filepath.Join(work, "a program")
	if err := os.WriteFile(program, []byte(printsHosts), 0o755); err != nil {
		t.Fatal(err)
	}
	r := runner{programs: programs{server: program}}
	server, hosts, err := r.serverWithHosts(work)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile("/etc/hosts")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), server, hosts, "two words").CombinedOutput()
	if want := "two words\n127.0.0.1 localhost\n127.0.0.2 later\n"; err != nil || string(out) != want {
		t.Errorf("%v, %q, want %q", err, out, want)
	}
	if after, err := os.ReadFile("/etc/hosts"); err != nil || string(after) != string(before) {
		t.Errorf("this process's own table of hosts is %q, %v, and was %q", after, err, before)
	}
}

// A program beside the tests that ends before they do is an error; one that runs until end is none.
func TestBeside(t *testing.T) {
	for script, want := range map[string]string{
		"#!/bin/sh\nexec sleep 1000\n": "",
		"#!/bin/sh\nexit 3\n":          "program ended while tests ran: program: exit status 3",
	} {
		work := t.TempDir()
		if err := os.WriteFile(filepath.Join(work, "program"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		b := runner{programs: programs{bin: work}}.beside(t.Context(), work)
		b.start("program")
		if want != "" { // it ends by itself
			if err := b.group.Wait(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
		if err := b.end(); want == "" && err != nil {
			t.Error(err)
		}
	}
}
