package logbridge_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"quorate/raftstore/logbridge"
)

func logger(out *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

func TestHclog(t *testing.T) {
	var out bytes.Buffer
	l := logbridge.Hclog(logger(&out), true).Named("raft").With("id", "n1")
	l.Trace("dropped")
	l.Info("quiet", "servers", hclog.Fmt("%d of %d", 2, 3))
	l.Warn("loud", "index", 7)
	want := "level=DEBUG msg=quiet id=n1 servers=\"2 of 3\"\nlevel=WARN msg=loud id=n1 index=7\n"
	if out.String() != want {
		t.Errorf("got %s want %s", out.String(), want)
	}
	if l.IsTrace() || !l.IsDebug() || l.GetLevel() != hclog.Debug {
		t.Error("levels are not the handler's")
	}
}

func TestHclogSuppressesRepeatedLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := logbridge.Hclog(logger(&out), true)
		for range 100 {
			l.Named("raft").Error("failed to heartbeat to", "peer", "n2")
		}
		l.Error("failed to heartbeat to", "peer", "n3")
		time.Sleep(11 * time.Second) // on the synctest clock
		l.Error("failed to heartbeat to", "peer", "n2")
		want := `level=ERROR msg="failed to heartbeat to" peer=n2
level=ERROR msg="failed to heartbeat to" peer=n3
level=ERROR msg="failed to heartbeat to" peer=n2 repeated=99
`
		if out.String() != want {
			t.Errorf("got %s want %s", out.String(), want)
		}
	})
}

func TestWriter(t *testing.T) {
	for line, want := range map[string]string{
		"[WARN] memberlist: slow\n":   `level=WARN msg="memberlist: slow"`,
		"[INFO] joined":               `level=DEBUG msg=joined`,
		"[ERR] gone [x]":              `level=ERROR msg="gone [x]"`,
		"no level [here]":             `level=DEBUG msg="no level [here]"`,
		"2006/01/02 [DEBUG] prefixed": `level=DEBUG msg=prefixed`,
	} {
		var out bytes.Buffer
		w := logbridge.Writer(logger(&out), true)
		if n, err := w.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("%q: wrote %d, %v", line, n, err)
		}
		if got := strings.TrimSpace(out.String()); got != want {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
}
