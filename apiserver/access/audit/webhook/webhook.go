package webhook

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// attempts is how often a batch is sent at most, attemptTimeout the time for each.
	attempts       = 8
	attemptTimeout = 10 * time.Second
	// firstPause is the time before the second attempt; it doubles up to maxPause.
	firstPause = 500 * time.Millisecond
	maxPause   = 30 * time.Second
	// maxAnswerBytes is how much of an answer is read.
	maxAnswerBytes = 64 << 10
)

// Webhook is a server that takes audit events.
type Webhook struct {
	url    string
	client *http.Client
	user   user
	dir    string // of the configuration
}

// Open reads the configuration, a file in the form of a kubeconfig. It does not connect.
func Open(path string) (*Webhook, error) {
	c, u, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("audit webhook %s: %s", path, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	dir := filepath.Dir(path)
	config, err := c.tls(&u, dir)
	if err != nil {
		return nil, fmt.Errorf("audit webhook %s: %w", path, err)
	}
	return &Webhook{url: c.Server, user: u, dir: dir, client: &http.Client{
		Timeout:       attemptTimeout,
		Transport:     &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, MaxIdleConns: 1},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Deliver posts events, one JSON object per line, as one EventList. It repeats an attempt that
// could not be completed or that the server answered with 429 or 5xx, until one succeeds, ctx ends
// or the number of attempts is used up. The server may receive an event twice; the event's auditID
// and stage identify it.
func (w *Webhook) Deliver(ctx context.Context, events []byte) error {
	list := eventList(events)
	pause := firstPause
	for attempt := 1; ; attempt++ {
		repeat, err := w.post(ctx, list)
		if err == nil || !repeat || attempt == attempts {
			return err
		}
		wait := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			wait.Stop()
			return err
		case <-wait.C:
		}
		pause = min(2*pause, maxPause)
	}
}

// eventList returns the list of events that are on lines of their own.
func eventList(events []byte) []byte {
	list := make([]byte, 0, len(events)+100)
	list = append(list, `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[`...)
	list = append(list, bytes.ReplaceAll(bytes.TrimSuffix(events, []byte{'\n'}), []byte{'\n'}, []byte{','})...)
	return append(list, ']', '}')
}

// post makes one attempt. Repeat reports whether another one may succeed.
func (w *Webhook) post(ctx context.Context, list []byte) (repeat bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(list))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/json")
	if err := w.authenticate(req); err != nil {
		return true, err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return true, fmt.Errorf("post audit events: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // it is only read
	// The connection is used again only if the answer was read.
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswerBytes))
	if resp.StatusCode/100 == 2 {
		return false, nil
	}
	repeat = resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode == http.StatusTooManyRequests
	return repeat, fmt.Errorf("post audit events: the server answered %s", resp.Status)
}

// authenticate adds the credentials. A token file is read each time, because it may be replaced.
func (w *Webhook) authenticate(req *http.Request) error {
	token := w.user.Token
	if w.user.TokenFile != "" {
		content, err := os.ReadFile(within(w.dir, w.user.TokenFile))
		if err != nil {
			return fmt.Errorf("read the token for audit events: %w", err)
		}
		token = strings.TrimSpace(string(content))
	}
	switch {
	case token != "":
		req.Header.Set("Authorization", "Bearer "+token)
	case w.user.Username != "":
		req.SetBasicAuth(w.user.Username, w.user.Password)
	}
	return nil
}

// Close closes idle connections.
func (w *Webhook) Close() { w.client.CloseIdleConnections() }
