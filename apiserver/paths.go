package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"runtime"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"quorate/apiserver/console"
	"quorate/apiserver/describe/protofile"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
)

// version is the document at /version (semantics L12). major and minor are those of the API that
// clients compare with.
type version struct {
	Major        string `json:"major"`
	Minor        string `json:"minor"`
	GitVersion   string `json:"gitVersion"`
	GitCommit    string `json:"gitCommit"`
	GitTreeState string `json:"gitTreeState"`
	BuildDate    string `json:"buildDate"`
	GoVersion    string `json:"goVersion"`
	Compiler     string `json:"compiler"`
	Platform     string `json:"platform"`
}

// defaultReportedVersion is the release of Kubernetes whose tests of API machinery and of kubectl run
// against this server (chaos/upstream).
const defaultReportedVersion = "1.36.0"

// reportedPattern matches the versions that may be reported: MAJOR.MINOR.PATCH.
var reportedPattern = regexp.MustCompile(`^(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})$`)

// CheckReportedVersion returns an error unless a version may be reported to clients.
func CheckReportedVersion(text string) error {
	if !reportedPattern.MatchString(text) {
		return fmt.Errorf("%q is not a version of the form MAJOR.MINOR.PATCH, such as %s", text, defaultReportedVersion)
	}
	return nil
}

// versionDocument returns the document of a build that reports a version of the API.
func versionDocument(b Build, reported string) ([]byte, error) {
	parts := reportedPattern.FindStringSubmatch(reported)
	if parts == nil {
		return nil, CheckReportedVersion(reported)
	}
	v := version{
		Major: parts[1], Minor: parts[2], GitVersion: "v" + reported, GitCommit: b.Commit, GitTreeState: b.TreeState,
		BuildDate: b.Date, GoVersion: runtime.Version(), Compiler: runtime.Compiler,
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if b.Version != "" {
		v.GitVersion += "+quorate." + semverText(b.Version)
	}
	return json.Marshal(v)
}

// semverText makes a version fit to be build metadata of another: letters, digits, hyphens and
// dots.
func semverText(s string) string {
	out := []byte(s)
	for i, c := range out {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '.', c == '-':
		default:
			out[i] = '-'
		}
	}
	return string(out)
}

// protoPath is where the protobuf definitions of all kinds are (B20).
const protoPath = "/openapi/proto"

// ownPaths are those of the server itself, for the index of all paths.
func ownPaths() []string {
	return []string{"/healthz", "/livez", "/metrics", protoPath, "/readyz", "/version"}
}

// registerOpen adds the paths that need no credentials.
func registerOpen(add func(method, path string, e *route.Endpoint), h *health, build Build, reported string) error {
	document, err := versionDocument(build, reported)
	if err != nil {
		return fmt.Errorf("make version document: %w", err)
	}
	h.register(add)
	add(http.MethodGet, "/version", documentEndpoint(document))
	return console.Register(add)
}

// registerPaths adds the paths of the server itself that need credentials.
func registerPaths(add func(method, path string, e *route.Endpoint), g prometheus.Gatherer, catalog *schema.Catalog) {
	metrics := promhttp.HandlerFor(observed(g), promhttp.HandlerOpts{})
	add(http.MethodGet, "/metrics", &route.Endpoint{
		Verb: route.VerbGet, Class: route.ClassRead,
		Serve: func(c *route.Call) error {
			metrics.ServeHTTP(c.W, c.R)
			return nil
		},
	})
	// Few ask for it, so it is written when the first one does.
	bundle := sync.OnceValues(func() ([]byte, error) { return protofile.Bundle(catalog) })
	add(http.MethodGet, protoPath, &route.Endpoint{
		Verb: route.VerbGet, Class: route.ClassRead, Authenticated: true,
		Serve: func(c *route.Call) error {
			text, err := bundle()
			if err != nil {
				return err
			}
			return c.Text(text)
		},
	})
	registerProfiles(add)
}

// documentEndpoint answers with a fixed document, to every authenticated user.
func documentEndpoint(document []byte) *route.Endpoint {
	return &route.Endpoint{
		Verb: route.VerbGet, Class: route.ClassRead, Authenticated: true,
		Serve: func(c *route.Call) error {
			form, err := c.Form()
			if err != nil {
				return err
			}
			return c.Document(http.StatusOK, document, form)
		},
	}
}
