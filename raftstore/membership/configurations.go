package membership

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// maxConfigurations bounds the queue of configurations; the oldest are dropped first.
const maxConfigurations = 256

// Configuration is a committed configuration of Raft.
type Configuration struct {
	// Appended is the time at which a leader appended the configuration's entry, by that leader's
	// clock. For a snapshot from another node it is the time of the last entry that this node had
	// applied before.
	Appended time.Time
	Servers  []raft.Server
}

// Configurations queues the committed configurations that this node has applied, for one consumer.
type Configurations struct {
	mu    sync.Mutex
	queue []Configuration // guarded by mu; oldest first
	more  chan struct{}   // guarded by mu; closed and replaced when one is added
}

// NewConfigurations returns an empty queue.
func NewConfigurations() *Configurations { return &Configurations{more: make(chan struct{})} }

// Add appends a configuration. The goroutine that applies entries calls it.
func (c *Configurations) Add(appended time.Time, servers []raft.Server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, Configuration{Appended: appended, Servers: servers})
	c.queue = c.queue[max(0, len(c.queue)-maxConfigurations):]
	close(c.more)
	c.more = make(chan struct{})
}

// Take empties the queue and returns its content, oldest first, and a channel that the next Add
// closes.
func (c *Configurations) Take() (taken []Configuration, more <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken, c.queue = c.queue, nil
	return taken, c.more
}
