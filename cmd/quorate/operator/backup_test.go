package operator

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const patience = time.Minute

// transport answers requests without a network.
type transport func(*http.Request) *http.Response

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r), nil }

// parts is a response that arrives in parts, and then stays incomplete until its request ends.
type parts struct {
	ctx  context.Context
	left []string
}

func (p *parts) Read(into []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	if len(p.left) == 0 {
		<-p.ctx.Done()
		return 0, p.ctx.Err()
	}
	n := copy(into, p.left[0])
	p.left = p.left[1:]
	return n, nil
}

func (p *parts) Close() error { return nil }

// backupOf calls Backup with a response that never ends.
func backupOf(t *testing.T, content []string, read func(io.Reader) error) error {
	t.Helper()
	respond := transport(func(r *http.Request) *http.Response {
		return &http.Response{StatusCode: http.StatusOK, Request: r, Body: &parts{r.Context(), content}}
	})
	c := &Client{nodes: []node{{&http.Client{Transport: respond}, "https://node"}}}
	return c.Backup(t.Context(), patience, read)
}

// TestBackupToASlowDisk: only the time that Backup waits for the node counts as silence.
func TestBackupToASlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		content := []string{"one", "two", "three"}
		err := backupOf(t, content, func(from io.Reader) error {
			for _, want := range content {
				time.Sleep(2 * patience)
				got := make([]byte, 10)
				n, err := from.Read(got)
				if err != nil || string(got[:n]) != want {
					t.Errorf("got %q, %v, want %q", got[:n], err, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestBackupFromASilentNode: a node that sends nothing for too long is reported as such.
func TestBackupFromASilentNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		err := backupOf(t, []string{"one"}, func(from io.Reader) error {
			_, err := io.ReadAll(from)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "does not answer in time") {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(begun); waited != patience {
			t.Errorf("waited %v, want %v", waited, patience)
		}
	})
}
