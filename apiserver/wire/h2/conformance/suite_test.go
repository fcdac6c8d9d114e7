package conformance

import (
	"fmt"
	"net/url"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/summerwind/h2spec/config"
	"github.com/summerwind/h2spec/generic"
	"github.com/summerwind/h2spec/hpack"
	"github.com/summerwind/h2spec/http2"
	"github.com/summerwind/h2spec/spec"
)

// outcome is what became of one case.
type outcome struct {
	desc    string
	failed  bool
	skipped bool
	why     string // it failed: what was expected, and what came
}

// run runs every case of the suite, the strict ones included, against a server. A case waits up to the first timeout for a frame,
// and runs again with the next one if it failed. Outcomes are by case id, such as "http2/6.5.3/1".
func run(t *testing.T, server string, timeouts ...time.Duration) map[string]outcome {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	outcomes := make(map[string]outcome)
	var group func(g *spec.TestGroup)
	group = func(g *spec.TestGroup) {
		for i, c := range append(g.Tests, g.StrictTests...) {
			outcomes[fmt.Sprintf("%s/%d", g.ID(), i+1)] = runCase(t, u.Hostname(), port, c, i+1, timeouts)
		}
		for _, below := range g.Groups {
			group(below)
		}
	}
	for _, g := range []*spec.TestGroup{generic.Spec(), http2.Spec(), hpack.Spec()} {
		group(g)
	}
	return outcomes
}

// runCase runs a case until it holds or the timeouts are used up.
func runCase(t *testing.T, host string, port int, c *spec.TestCase, number int, timeouts []time.Duration) outcome {
	t.Helper()
	for i, timeout := range timeouts {
		err := quietly(func() error {
			return c.Test(&config.Config{
				Host: host, Port: port, Path: "/", Timeout: timeout, MaxHeaderLen: 4000, TLS: true, Insecure: true, Strict: true,
			}, number)
		})
		switch {
		case err != nil && i == len(timeouts)-1:
			t.Fatalf("connect for %q: %v", c.Desc, err)
		case err == nil && !c.Result.Failed:
			return outcome{desc: c.Desc, skipped: c.Result.Skipped}
		}
	}
	return outcome{desc: c.Desc, failed: true, why: c.Result.Error.Error()}
}

// quietly keeps what the suite prints off standard output. Its output and its indentation are global, so one case runs at a time.
func quietly(f func() error) error {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	stdout := os.Stdout
	os.Stdout = null
	defer func() { os.Stdout = stdout }()
	return f()
}
