package deploy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

// program returns the path of a program of Debian's package prometheus. Where it is missing, the
// test is skipped; .ci/run installs it.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed: apt-get install prometheus", name)
	}
	return path
}

// prometheus is a running server that scrapes nodes and evaluates rules.
type prometheus struct {
	t   *testing.T
	ctx context.Context
	api string // http://HOST:PORT/api/v1
}

// prometheusConfig says what a Prometheus does.
type prometheusConfig struct {
	nodes []nodes.Node
	// credentials are those of a user who may read /metrics. Without a CA, any certificate is
	// accepted.
	credentials client.Credentials
	rules       rules
	// interval is the time between scrapes and between evaluations.
	interval time.Duration
}

// startPrometheus starts a server, which ends with the test.
func startPrometheus(ctx context.Context, t *testing.T, c prometheusConfig) *prometheus {
	t.Helper()
	dir := t.TempDir()
	config := write(t, filepath.Join(dir, "prometheus.yml"), c.text(t, dir))
	cmd := exec.Command(program(t, "prometheus"), "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address=127.0.0.1:0", "--log.level=info")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	ended := make(chan error, 1)
	go func() { // ends with the process
		readAddress(t.Output(), stderr, address)
		ended <- cmd.Wait()
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		<-ended
	})
	select {
	case found, ok := <-address:
		if !ok {
			t.Fatal("Prometheus ended before it served")
		}
		return &prometheus{t: t, ctx: ctx, api: "http://" + found + "/api/v1"}
	case <-ctx.Done():
		t.Fatal("Prometheus does not serve")
	}
	return nil
}

// listening is the line in which Prometheus says where it listens.
var listening = regexp.MustCompile(`msg="Listening on" address=(\S+)`)

// readAddress copies the lines of a Prometheus to w, sends the address at which it listens, and
// closes the channel after the last line.
func readAddress(w io.Writer, lines io.Reader, address chan<- string) {
	defer close(address)
	found := false
	for scanner := bufio.NewScanner(lines); scanner.Scan(); {
		fmt.Fprintln(w, scanner.Text())
		if m := listening.FindStringSubmatch(scanner.Text()); m != nil && !found {
			address <- m[1]
			found = true
		}
	}
}

// text returns the configuration file. It writes the files that it names to dir.
func (c prometheusConfig) text(t *testing.T, dir string) string {
	t.Helper()
	alerts, err := yaml.Marshal(c.rules)
	if err != nil {
		t.Fatal(err)
	}
	tls := map[string]any{"insecure_skip_verify": true}
	if len(c.credentials.CA) > 0 {
		tls = map[string]any{"ca_file": write(t, filepath.Join(dir, "ca.crt"), string(c.credentials.CA))}
	}
	var targets []string
	for _, node := range c.nodes {
		targets = append(targets, strings.TrimPrefix(node.API, "https://"))
	}
	text, err := yaml.Marshal(map[string]any{
		"global":     map[string]any{"scrape_interval": c.interval.String(), "scrape_timeout": c.interval.String(), "evaluation_interval": c.interval.String()},
		"rule_files": []string{write(t, filepath.Join(dir, "alerts.yaml"), string(alerts))},
		"scrape_configs": []any{map[string]any{
			"job_name": "quorate", "scheme": "https", "tls_config": tls,
			"authorization": map[string]any{"credentials": c.credentials.Token}, "static_configs": []any{map[string]any{"targets": targets}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sample is one series of the result of a query.
type sample struct {
	Metric map[string]string
	Value  [2]any // time, and the value as text
}

// query evaluates an expression now. An error says what Prometheus refuses.
func (p *prometheus) query(expr string) ([]sample, error) {
	var data struct {
		ResultType string
		Result     json.RawMessage
	}
	if err := p.get("/query?query="+url.QueryEscape(expr), &data); err != nil {
		return nil, fmt.Errorf("query %s: %w", expr, err)
	}
	if data.ResultType != "vector" {
		return nil, fmt.Errorf("query %s: the result is a %s", expr, data.ResultType)
	}
	var samples []sample
	return samples, json.Unmarshal(data.Result, &samples)
}

// alert is an alert that Prometheus holds as pending or firing.
type alert struct {
	Labels, Annotations map[string]string
	State               string
}

// firing returns the alerts that fire.
func (p *prometheus) firing() (firing []alert, err error) {
	var data struct{ Alerts []alert }
	if err := p.get("/alerts", &data); err != nil {
		return nil, err
	}
	for _, a := range data.Alerts {
		if a.State == "firing" {
			firing = append(firing, a)
		}
	}
	return firing, nil
}

// get reads the data of a response of the API.
func (p *prometheus) get(path string, data any) error {
	req, err := http.NewRequestWithContext(p.ctx, http.MethodGet, p.api+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	response := struct {
		Error string
		Data  any
	}{Data: data}
	if err := json.NewDecoder(resp.Body).Decode(&response); err != nil {
		return err
	}
	if response.Error != "" {
		return errors.New(response.Error)
	}
	return nil
}

// await waits for a condition, which what describes.
func (p *prometheus) await(what string, condition func() bool) {
	p.t.Helper()
	if err := nodes.Await(p.ctx, condition); err != nil {
		firing, _ := p.firing() // whatever fires helps to understand the failure
		p.t.Fatalf("waited until %s: %v; firing: %v", what, err, firing)
	}
}

// awaitScrapes waits until the last scrapes of n nodes have succeeded.
func (p *prometheus) awaitScrapes(n int) {
	p.t.Helper()
	p.await(fmt.Sprintf("%d nodes are scraped", n), func() bool {
		up, err := p.query("up == 1")
		return err == nil && len(up) == n
	})
}

// awaitFiring waits until an alert fires with these labels, and returns it.
func (p *prometheus) awaitFiring(name string, labels map[string]string) (found alert) {
	p.t.Helper()
	begin := time.Now()
	p.await(fmt.Sprintf("%s fires with %v", name, labels), func() bool {
		firing, err := p.firing()
		for _, a := range firing {
			if a.is(name, labels) {
				found = a
				return err == nil
			}
		}
		return false
	})
	p.t.Logf("%s %v fires after %.1f s: %s", name, labels, time.Since(begin).Seconds(), found.Annotations["summary"])
	return found
}

// awaitCleared waits until no alert of a name fires with these labels.
func (p *prometheus) awaitCleared(name string, labels map[string]string) {
	p.t.Helper()
	begin := time.Now()
	p.await(fmt.Sprintf("%s with %v has cleared", name, labels), func() bool {
		firing, err := p.firing()
		for _, a := range firing {
			if a.is(name, labels) {
				return false
			}
		}
		return err == nil
	})
	p.t.Logf("%s %v cleared after %.1f s", name, labels, time.Since(begin).Seconds())
}

// is reports whether the alert has a name and, among others, these labels.
func (a alert) is(name string, labels map[string]string) bool {
	for label, value := range labels {
		if a.Labels[label] != value {
			return false
		}
	}
	return a.Labels["alertname"] == name
}
