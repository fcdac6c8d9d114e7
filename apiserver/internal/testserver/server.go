package testserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"quorate/apiserver"
	"quorate/apiserver/access/auth"
	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

// requestTime bounds one request, all of a watch included.
const requestTime = time.Minute

// wait bounds everything that tests wait for.
const wait = 45 * time.Second

// Server is a server under test.
type Server struct {
	URL      string
	Store    *raftstore.Store
	Registry *prometheus.Registry
	Log      *bytes.Buffer // what it logs; read it after Stop
	Token    string        // of a member of system:masters
	Client   *http.Client
	Server   *apiserver.Server

	t       testing.TB
	tls     *tls.Config
	key     []byte
	cancel  context.CancelFunc
	done    chan error
	stopped bool
}

// Start runs a server that stops with the test. configure may change its configuration.
func Start(t testing.TB, configure func(cfg *apiserver.Config)) *Server {
	t.Helper()
	store, stopStore := OpenStore(t, t.TempDir(), true)
	t.Cleanup(stopStore)
	return StartOn(t, store, configure)
}

// StartReplicas runs the servers of a cluster of so many nodes. It elects as slowly as in
// production, so that no election comes between on a machine that has much else to do.
func StartReplicas(t testing.TB, count int, configure func(cfg *apiserver.Config)) []*Server {
	t.Helper()
	unhurried := func(cfg *raftstore.Config) { cfg.RaftMultiplier = 1 }
	return StartOnNodes(t, testcluster.New(t, count, unhurried).Nodes, configure)
}

// StartOnNodes runs the servers of all nodes of a cluster.
func StartOnNodes(t testing.TB, nodes []*testcluster.Node, configure func(cfg *apiserver.Config)) []*Server {
	t.Helper()
	servers := make([]*Server, len(nodes))
	for i, n := range nodes {
		servers[i] = start(t, n.Store, configure)
	}
	for _, s := range servers { // the leader's makes what all wait for
		s.ready()
	}
	return servers
}

// StartOn is Start on a store that is there already, and goes on after the server.
func StartOn(t testing.TB, store *raftstore.Store, configure func(cfg *apiserver.Config)) *Server {
	t.Helper()
	s := start(t, store, configure)
	s.ready()
	return s
}

// StartEarly is StartOn without waiting: the node may know no leader, and be behind.
func StartEarly(t testing.TB, store *raftstore.Store) *Server {
	t.Helper()
	return start(t, store, nil)
}

func start(t testing.TB, store *raftstore.Store, configure func(cfg *apiserver.Config)) *Server {
	t.Helper()
	s := &Server{Store: store, Registry: prometheus.NewRegistry(), t: t, key: []byte(strings.Repeat("k", 32)),
		Log: &bytes.Buffer{}, tls: certificate(t)}
	logger := slog.New(slog.NewTextHandler(s.Log, nil))
	cfg := apiserver.Config{
		Addr: "127.0.0.1:0", TLS: s.tls, Store: store, SigningKey: s.key, QuorumRead: true,
		Logger: logger, RequestLogger: slog.New(slog.DiscardHandler), Registerer: s.Registry, Gatherer: s.Registry,
	}
	if configure != nil {
		configure(&cfg)
	}
	server, err := apiserver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.Server = server
	addr, err := server.Listen()
	if err != nil {
		t.Fatal(err)
	}
	s.URL = "https://" + addr.String()
	s.Token = s.IssueToken("admin", auth.MastersGroup)
	s.Client = s.NewClient()
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.done = cancel, make(chan error, 1)
	go func() { s.done <- server.Run(ctx) }()
	t.Cleanup(s.Stop)
	return s
}

// IssueToken makes a token that the server accepts.
func (s *Server) IssueToken(user string, groups ...string) string {
	s.t.Helper()
	return s.IssueTokenFor(time.Hour, user, groups...)
}

// IssueTokenFor is IssueToken for a token that expires after ttl, to the second.
func (s *Server) IssueTokenFor(ttl time.Duration, user string, groups ...string) string {
	s.t.Helper()
	token, err := auth.NewIssuer(s.key).Issue(auth.Identity{Name: user, Groups: groups}, ttl)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// NewClient returns a client with connections of its own, HTTP/2.
func (s *Server) NewClient() *http.Client {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: s.tls.RootCAs}, ForceAttemptHTTP2: true, DisableCompression: true,
	}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// NewHTTP1Client is NewClient for HTTP/1.1.
func (s *Server) NewHTTP1Client() *http.Client {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: s.tls.RootCAs}, DisableCompression: true,
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// ready waits until the server serves, and the first namespaces and the last of the built-in
// bindings are there.
func (s *Server) ready() {
	s.t.Helper()
	s.Eventually("the server is ready", func() bool {
		return s.Do("GET", "/readyz", "").Code == http.StatusOK &&
			s.Do("GET", "/api/v1/namespaces/platform-public", "").Code == http.StatusOK &&
			s.Do("GET", "/apis/rbac.authorization.platform.io/v1/clusterrolebindings/system:basic-user", "").Code == http.StatusOK
	})
}

// Eventually waits for a condition.
func (s *Server) Eventually(what string, condition func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(wait)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		if time.Now().After(deadline) {
			s.t.Fatalf("waited for: %s", what)
		}
		<-tick.C
	}
}

// Summed returns the sum of a gauge or counter over its labels; 0 if it has no values yet.
func (s *Server) Summed(metric string) (sum float64) {
	s.t.Helper()
	families, err := s.Registry.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != metric {
			continue
		}
		if f.GetType() != dto.MetricType_GAUGE && f.GetType() != dto.MetricType_COUNTER {
			s.t.Fatalf("%s is a %s", metric, f.GetType())
		}
		for _, m := range f.GetMetric() {
			sum += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return sum
}

// Stop stops the server and waits for it. It may be called before the test ends.
func (s *Server) Stop() {
	s.t.Helper()
	if s.stopped {
		return
	}
	s.stopped = true
	s.Client.CloseIdleConnections()
	s.cancel()
	if err := <-s.done; err != nil {
		s.t.Errorf("server ended: %v", err)
	}
	if log := s.Log.String(); strings.Contains(log, "level=ERROR") && os.Getenv("QUORATE_TEST_ERRORS") == "" {
		s.t.Errorf("the server logged errors:\n%s", log)
	}
}

// Answer is a response with its body.
type Answer struct {
	Code   int
	Header http.Header
	Body   string
}

// Do sends a request as the administrator. Headers are given as "Name: value".
func (s *Server) Do(method, path, body string, headers ...string) Answer {
	s.t.Helper()
	answer, err := s.Try(s.Client, method, path, body, headers...)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer
}

// Try is Do with another client, for requests that may fail.
func (s *Server) Try(client *http.Client, method, path, body string, headers ...string) (Answer, error) {
	req := s.Request(method, path, body, headers...)
	resp, err := client.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return Answer{Code: resp.StatusCode, Header: resp.Header, Body: string(text)}, err
}

// Request makes a request as the administrator.
func (s *Server) Request(method, path, body string, headers ...string) *http.Request {
	s.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	s.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, reader)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Token)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if value == "" {
			req.Header.Del(name)
			continue
		}
		req.Header.Set(name, value)
	}
	return req
}
