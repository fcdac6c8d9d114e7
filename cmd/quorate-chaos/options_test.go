package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"quorate/chaos"
)

// TestCommandLine checks that options which contradict each other, or under which a run could blame
// a correct cluster, are refused before anything begins.
func TestCommandLine(t *testing.T) {
	members := []string{"--members", "a=https://10.0.0.1:6443", "--kubeconfig", "f", "--kill-command", "k", "--start-command", "s"}
	for name, c := range map[string]struct {
		args []string
		want string // in the error; "" for none
	}{
		"nothing":                         {nil, ""},
		"a mix":                           {[]string{"--duration", "1h", "--phase", "1m", "--nodes", "5"}, ""},
		"a running cluster":               {members, ""},
		"many clients":                    {[]string{"--clients", "1000"}, ""},
		"the mixture alone":               {[]string{"--workload", "mixture", "--mixture-watches", "300"}, ""},
		"nothing but the keys":            {[]string{"--workload", "keys"}, ""},
		"no faults":                       {[]string{"--faults", "none", "--duration", "3m"}, ""},
		"no faults, and no time":          {[]string{"--faults", "none"}, "--faults none needs --duration"},
		"an unknown workload":             {[]string{"--workload", "watches"}, `--workload "watches": want all, keys or mixture`},
		"a mixture of nothing":            {[]string{"--mixture-watches", "0"}, "--mixture-watches and --mixture-rate must be positive"},
		"a mixture that is left out":      {[]string{"--workload", "keys", "--mixture-rate", "5"}, "--mixture-rate is only for the mixture of watches"},
		"clients that are left out":       {[]string{"--workload", "mixture", "--clients", "5"}, "--clients is only for the clients that"},
		"no flag":                         {[]string{"kill-leader"}, `"kill-leader" is no flag`},
		"an unknown flag":                 {[]string{"--node", "3"}, "--help lists the flags"},
		"a fault that isn't there":        {[]string{"--faults", "kill-leader,kil-all"}, `"kil-all"`},
		"no watchers":                     {[]string{"--watchers", "0"}, "--watchers"},
		"fewer keys than none":            {[]string{"--keys", "-1"}, "--keys"},
		"calm that answers on the way do": {[]string{"--calm", "240"}, "--calm"},
		"phases without writes":           {[]string{"--faults", "idle"}, ""},
		"one of them and a fault":         {[]string{"--faults", "idle-operator,kill-all", "--idle", "5s"}, ""},
		"idle for less than nothing":      {[]string{"--idle", "-1s"}, "--idle"},
		"bounds of nothing":               {[]string{"--bound-scale", "0"}, "--bound-scale"},
		"commands without members":        {[]string{"--kill-command", "k", "--start-command", "s"}, "--kill-command is only for"},
		"members without commands":        {members[:4], "--members needs"},
		"members and a binary":            {append(members, "--binary", "quorate"), ""},
		"containers and a binary":         {[]string{"--containers", "--binary", "quorate"}, "--binary is only for"},
		"containers and members":          {append(members, "--containers"), "both select"},
		"rounds of a mix":                 {[]string{"--duration", "1h", "--rounds", "2"}, "--rounds is only for"},
		"phases of what isn't mixed":      {[]string{"--phase", "1m"}, "--phase is only for"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := parse(c.args, io.Discard)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Fatalf("the error is %v, want %q in it", err, c.want)
			}
			if err == nil && o.calm <= o.load.Clients {
				t.Errorf("calm is %d for %d clients", o.calm, o.load.Clients)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var help strings.Builder
	if _, err := parse([]string{"--help"}, &help); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("the error is %v", err)
	}
	for _, want := range []string{"--members NAME=", "-kill-command", "Exit code 0"} {
		if !strings.Contains(help.String(), want) {
			t.Errorf("the help has no %q:\n%s", want, help.String())
		}
	}
}

func TestMembers(t *testing.T) {
	for text, valid := range map[string]bool{
		"a=https://h:1,b=https://h:2": true, "a=https://h:1, b=https://h:2": true, "": false, "a": false, "a=http://h:1": false, "=https://h:1": false,
		"a=https://h:1,a=https://h:2": false, "a=https://h:1,b=https://h:1": false, "a=https://h:1,": false,
	} {
		if _, err := parseMembers(text); (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRunThatIsNotMade says so, and leaves nothing behind.
func TestRunThatIsNotMade(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	outcome, err := run(t.Context(), func() {}, []string{"--quiet", "--plain", "--binary", "/no/such/file"})
	if outcome != chaos.NotInjected || err == nil || !strings.Contains(err.Error(), "--binary") {
		t.Errorf("%s, %v", outcome, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if outcome, err := run(ended, func() {}, []string{"--quiet", "--members", "a=https://127.0.0.1:1", "--kubeconfig", "/no/such/file",
		"--kill-command", "true", "--start-command", "true"}); outcome != chaos.NotInjected || err == nil {
		t.Errorf("%s, %v", outcome, err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
