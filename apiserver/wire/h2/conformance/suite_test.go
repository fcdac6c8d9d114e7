package conformance

import (
	"fmt"
	"net/url"
	"os"
	"strconv"
	"testing"

	"github.com/summerwind/h2spec/config"
	"github.com/summerwind/h2spec/generic"
	"github.com/summerwind/h2spec/hpack"
	"github.com/summerwind/h2spec/http2"
	"github.com/summerwind/h2spec/spec"
)

// outcome is the result of one case.
type outcome struct {
	desc    string
	failed  bool
	skipped bool
	why     string // when it failed: the expected events and the received one
}

// run runs every case of the suite once, including the strict ones, and returns the outcomes by
// case id, such as "http2/6.5.3/1". serverOf returns the URL of the server against which the case
// with an id runs.
func run(t *testing.T, serverOf func(id string) string) map[string]outcome {
	t.Helper()
	outcomes := make(map[string]outcome)
	var group func(g *spec.TestGroup)
	group = func(g *spec.TestGroup) {
		for i, c := range append(g.Tests, g.StrictTests...) {
			id := fmt.Sprintf("%s/%d", g.ID(), i+1)
			outcomes[id] = runCase(t, serverOf(id), c, i+1)
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

// runCase runs one case, which has the given number in its group, against a server.
func runCase(t *testing.T, server string, c *spec.TestCase, number int) outcome {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	err = quietly(func() error {
		return c.Test(&config.Config{
			Host: u.Hostname(), Port: port, Path: "/", Timeout: caseTimeout, MaxHeaderLen: 4000,
			TLS: true, Insecure: true, Strict: true,
		}, number)
	})
	if err != nil {
		t.Fatalf("connect for %q: %v", c.Desc, err)
	}
	o := outcome{desc: c.Desc, failed: c.Result.Failed, skipped: c.Result.Skipped}
	if o.failed {
		o.why = c.Result.Error.Error()
	}
	return o
}

// quietly calls f with standard output discarded, to which the suite prints its progress. Calls
// must not overlap, because os.Stdout is global and the suite keeps its output and its indentation
// in package variables.
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
