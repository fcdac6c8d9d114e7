package history

import (
	"sync"
	"time"

	"quorate/chaos/client"
)

// Kind is the kind of an operation.
type Kind uint8

// The operations. Reads are by quorum unless they say otherwise.
const (
	Create     Kind = iota
	Replace         // compare-and-set: only over Expect
	Delete          // only of Expect
	Get             // of one key
	CachedGet       // of one key, from the node's own state
	List            // of all keys, in one answer
	PagedList       // of all keys, in pages of one state
	CachedList      // of all keys, from the node's own state
)

var kindNames = [...]string{"create", "replace", "delete", "get", "cached get", "list", "paged list", "cached list"}

func (k Kind) String() string { return kindNames[k] }

// IsWrite reports whether the operation may change something.
func (k Kind) IsWrite() bool { return k <= Delete }

// Item is an object as a client saw it. The zero Item is no object.
type Item struct {
	Key     string
	UID     string
	Version uint64
	Value   string
}

// Op is one operation of one client. Times are durations since the beginning of the history, on a
// monotonic clock.
type Op struct {
	Kind   Kind
	Client int
	Node   string // that was asked
	// Connection numbers the connection that served a cached read, for one Client and Node. A
	// restarted node may serve an older state than before, but only on another connection.
	Connection        int
	Key               string // empty for lists
	Expect            Item   // what a Replace or Delete is conditional on: UID and Version
	Value             string // that a write sent; no two writes of a history send the same
	Invoked, Answered time.Duration
	// Outcome is OK, NotFound, Conflict or Unknown. Operations that certainly had no effect
	// (Unavailable) are only counted.
	Outcome client.Outcome
	Got     Item   // what a read or write returned; of a Delete only Key and UID
	Items   []Item // what a list found
	Version uint64 // of a list
}

// Event is one change as a watcher received it.
type Event struct {
	Type    string // ADDED, MODIFIED, DELETED
	Item    Item   // after the change; the version of a deletion is its own
	Node    string
	Arrived time.Duration
}

// Watch contains all events that one watcher received, across all its streams. A watch whose
// position was refused as too old ends there: its client lists and begins another one.
type Watch struct {
	Client  int
	After   uint64 // the version from which it watched
	Events  []Event
	Streams int
	Expired *Expiry // nil: its position was never said to be too old
	Reached uint64  // its last position, of an event or a bookmark
}

// Expiry is a response that a position or state is too old.
type Expiry struct {
	Node string
	At   time.Duration
	Text string // the answer
}

// Failure is an operation that certainly had no effect, or a read without a usable response.
type Failure struct {
	Kind              Kind
	Node              string // that was asked
	Invoked, Answered time.Duration
}

// Final is the state of one node after all clients have stopped, no older than the last write.
type Final struct {
	Node    string
	Version uint64
	Items   []Item
}

// Record is the history of one phase of a run: all operations in one namespace.
type Record struct {
	Start, End  uint64 // the versions before the first write and after the last
	Ops         []Op
	Watches     []Watch
	Finals      []Final
	Checksums   client.Checksums // of all nodes, after the last write
	Unavailable map[Kind]int     // requests that were surely not carried out
	Unanswered  map[Kind]int     // reads that got no answer, or none that helps
	Failures    []Failure        // what Unavailable and Unanswered count
	Expired     []Expiry         // paged lists that were broken off because the state they read was said to be gone
	Refused     []string         // answers that no correct server gives in such a run
}

// maxRefused bounds the samples of responses that no correct server sends.
const maxRefused = 20

// Recorder records a history while it happens.
type Recorder struct {
	began time.Time

	mu     sync.Mutex
	record Record // guarded by mu
	acked  int    // writes acknowledged; guarded by mu
}

// NewRecorder begins a history.
func NewRecorder() *Recorder {
	return &Recorder{began: time.Now(), record: Record{Unavailable: map[Kind]int{}, Unanswered: map[Kind]int{}}}
}

// Now returns the time since the history began.
func (r *Recorder) Now() time.Duration { return time.Since(r.began) }

// Add records an operation that has ended.
func (r *Recorder) Add(op Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record.Ops = append(r.record.Ops, op)
	if op.Kind.IsWrite() && op.Outcome == client.OK {
		r.acked++
	}
}

// Offset converts a time to one of the history.
func (r *Recorder) Offset(at time.Time) time.Duration { return at.Sub(r.began) }

// Unavailable counts an operation that certainly had no effect.
func (r *Recorder) Unavailable(op Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record.Unavailable[op.Kind]++
	r.record.Failures = append(r.record.Failures, failureOf(op))
}

// Unanswered counts a read without a usable response.
func (r *Recorder) Unanswered(op Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record.Unanswered[op.Kind]++
	r.record.Failures = append(r.record.Failures, failureOf(op))
}

func failureOf(op Op) Failure {
	return Failure{Kind: op.Kind, Node: op.Node, Invoked: op.Invoked, Answered: op.Answered}
}

// Expired records that a node refused the state of a paged list as too old.
func (r *Recorder) Expired(e Expiry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record.Expired = append(r.record.Expired, e)
}

// Refused records a response that no correct server sends.
func (r *Recorder) Refused(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.record.Refused) < maxRefused {
		r.record.Refused = append(r.record.Refused, text)
	}
}

// Acknowledged returns the number of writes acknowledged so far.
func (r *Recorder) Acknowledged() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.acked
}

// Take returns the history. Nothing may be recorded afterwards.
func (r *Recorder) Take() Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.record
	r.record = Record{}
	return taken
}
