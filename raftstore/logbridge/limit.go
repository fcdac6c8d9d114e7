package logbridge

import (
	"fmt"
	"sync"
	"time"
)

const (
	// quietTime is how long a warning or error about the same thing is held back after it was
	// written: the libraries repeat theirs many times a second while a peer is away.
	quietTime = 10 * time.Second
	// maxRemembered bounds what is remembered; beyond it all is forgotten and lines are written
	// once more.
	maxRemembered = 512
)

// limiter holds back repeated lines. Loggers derived from one share it.
type limiter struct {
	mu   sync.Mutex
	last map[string]*repeated
}

type repeated struct {
	written time.Time
	held    int
}

// allow says whether a line may be written now, and how many like it were held back since the last
// one.
func (l *limiter) allow(key string, now time.Time) (held int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.last[key]
	if r != nil && now.Sub(r.written) < quietTime {
		r.held++
		return 0, false
	}
	if r != nil {
		held = r.held
	}
	if l.last == nil || len(l.last) >= maxRemembered {
		l.last = make(map[string]*repeated)
	}
	l.last[key] = &repeated{written: now}
	return held, true
}

// subject is what tells lines of one message apart: the peer that it is about.
func subject(msg string, args []any) string {
	for i := 0; i+1 < len(args); i += 2 {
		switch args[i] {
		case "peer", "target", "server-id", "from":
			return msg + "\x00" + fmt.Sprint(args[i+1])
		}
	}
	return msg
}
