// Command e2e runs the end-to-end tests of API machinery of Kubernetes against a server. It takes
// the flags of Kubernetes' own test binary, and leaves out its set-up, which waits for nodes and
// pods. The result of each test that ran is a line of JSON in the file -results.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
	"k8s.io/kubernetes/test/e2e/framework/testfiles"
	manifests "k8s.io/kubernetes/test/e2e/testing-manifests"
	"k8s.io/kubernetes/test/fixtures"

	_ "k8s.io/kubernetes/test/e2e/apimachinery"
	_ "k8s.io/kubernetes/test/e2e/feature"
	_ "k8s.io/kubernetes/test/utils/format"
)

// folder holds the tests that run. The package imports those of workloads, for their helpers.
const folder = "/test/e2e/apimachinery/"

// result is what is known of one test. Package upstream reads it.
type result struct {
	File    string  `json:"file"`
	Name    string  `json:"name"`
	State   string  `json:"state"`
	Seconds float64 `json:"seconds"`
	Message string  `json:"message,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}

func run() error {
	path := flag.String("results", "", "file to which the result of each test is appended")
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	testfiles.AddFileSource(manifests.GetE2ETestingManifestsFS())
	testfiles.AddFileSource(fixtures.GetTestFixturesFS())
	framework.AfterReadingAllFlags(&framework.TestContext)
	out, err := os.OpenFile(*path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open -results: %w", err)
	}
	var written error
	ginkgo.ReportAfterEach(func(r ginkgo.SpecReport) {
		if line, ok := judge(r); ok {
			written = errors.Join(written, json.NewEncoder(out).Encode(line))
		}
	})
	gomega.RegisterFailHandler(framework.Fail)
	suite, reporter := framework.CreateGinkgoConfig()
	ginkgo.RunSpecs(outcome{}, "API machinery", suite, reporter)
	return errors.Join(written, out.Close())
}

// judge returns the result of a test. It reports false for tests that were not chosen.
func judge(r ginkgo.SpecReport) (result, bool) {
	at := strings.Index(r.LeafNodeLocation.FileName, folder)
	filtered := r.State == types.SpecStateSkipped && r.Failure.Message == ""
	if at < 0 || filtered {
		return result{}, false
	}
	return result{
		File: r.LeafNodeLocation.FileName[at+len(folder):], Name: r.FullText(), State: r.State.String(),
		Seconds: r.RunTime.Seconds(), Message: r.Failure.Message,
	}, true
}

// outcome ignores that tests failed, which their results say.
type outcome struct{}

// Fail implements ginkgo.GinkgoTestingT.
func (outcome) Fail() {}
