package logbridge

import (
	"fmt"
	"sync"
	"time"
)

const (
	// quietTime is the time for which further warnings or errors about the same subject are
	// suppressed. The libraries repeat theirs many times a second while a peer is unreachable.
	quietTime = 10 * time.Second
	// maxRemembered bounds the remembered lines. At the bound the limiter forgets all of them, and
	// writes each once more.
	maxRemembered = 512
)

// limiter suppresses repeated lines. Loggers derived from one another share it.
type limiter struct {
	mu   sync.Mutex
	last map[string]*repeated
}

type repeated struct {
	written time.Time
	held    int
}

// allow reports whether a line may be written now. If so, held is the number of lines suppressed
// since the last one was written.
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

// subject returns the key by which lines are compared: the message and the peer that it is about.
func subject(msg string, args []any) string {
	for i := 0; i+1 < len(args); i += 2 {
		switch args[i] {
		case "peer", "target", "server-id", "from":
			return msg + "\x00" + fmt.Sprint(args[i+1])
		}
	}
	return msg
}
