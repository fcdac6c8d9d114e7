package failpoint_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quorate/chaos/client"
)

func TestWallClockJumpsAndTheNodeGoesOn(t *testing.T) {
	s, l := newServer(t, "n1"), newLedger(t)
	s.run()
	l.some(handful, s.client)
	for i, offset := range []time.Duration{0, 26 * time.Hour, -3 * time.Hour, 0} {
		s.moveClock(offset)
		s.awaitClock(fmt.Sprintf("jump-%d", i), offset)
		l.some(handful, s.client)
	}
	s.moveClock(-time.Hour)
	s.kill()
	s.run() // the offset counts from the beginning
	if got := time.Until(s.createdAt("restarted")); (got + time.Hour).Abs() > time.Minute {
		t.Errorf("after a restart the clock is off by %s, want -1h", got)
	}
	l.verify(s.client)
}

// awaitClock creates objects until one bears a time of that offset. The signal arrives when it
// arrives.
func (s *server) awaitClock(name string, offset time.Duration) {
	s.t.Helper()
	n := 0
	await(s.t, "the clock to jump by "+offset.String(), func() bool {
		n++
		got := time.Until(s.createdAt(fmt.Sprintf("%s-%d", name, n)))
		return (got - offset).Abs() < time.Minute
	})
}

// createdAt creates an object and returns its creationTimestamp.
func (s *server) createdAt(name string) time.Time {
	s.t.Helper()
	credentials, err := client.ReadKubeconfig(filepath.Join(s.dir, "admin.kubeconfig"))
	if err != nil {
		s.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(credentials.CA)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"}}`
	url := "https://" + s.api() + "/api/v1/namespaces/default/configmaps"
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := transport.RoundTrip(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	var created struct {
		Metadata struct{ CreationTimestamp time.Time }
	}
	if err := json.NewDecoder(response.Body).Decode(&created); err != nil || response.StatusCode != http.StatusOK {
		s.t.Fatal(response.Status, err)
	}
	return created.Metadata.CreationTimestamp
}
