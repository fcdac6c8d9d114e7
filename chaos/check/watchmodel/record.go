package watchmodel

import "time"

// Record contains the responses and events that the clients of a mixture of watches received.
type Record struct {
	Resources map[string]*Resource // by name, such as "configmaps"
	Chains    []Chain
}

// Resource is all that is known of the changes of one resource.
type Resource struct {
	// Base is the version of a list of all objects, and Present is that list.
	Base    uint64
	Present []Object
	// End is the version of the last write.
	End        uint64
	References []Reference
	Writes     []Write
	// Namespaces are those in which only the writers of the run write.
	Namespaces []string
}

// Reference is a watch of all objects of a resource. Together the references form the log.
type Reference struct {
	Watcher        int
	After, Reached uint64 // it has received all changes between, as far as it knows
	Events         []Event
	Nodes          []string // that were asked, one for each stream
	// Refusals are the responses that its position is too old, each from the node of one stream.
	Refusals []Refusal
	// Ended is set when every node had refused its position, so that another reference follows.
	Ended bool
}

// Refusal is a response that a position is too old.
type Refusal struct {
	Node     string
	Position uint64
	At       time.Duration
}

// Outcome is the outcome of a write, as far as its writer knows it.
type Outcome int

// The outcomes. Writes that were surely not done are not recorded.
const (
	Acknowledged Outcome = iota
	Unknown
)

// Write is one write.
type Write struct {
	Kind    string // for messages: "create", "merge patch"
	Node    string // that was asked
	Marker  string // that it puts into the object; empty for a deletion
	Deletes string // the uid of the object that it asks to delete; empty for other writes
	// Removes is set when the answer says that the object is gone after the write.
	Removes           bool
	Outcome           Outcome
	Object            Object // as answered; without version and uid where the answer does not tell
	Invoked, Answered time.Duration
}

// Chain is a watch across all its streams: each begins at the last position of the one before.
type Chain struct {
	Watcher  int
	Resource string
	Path     string // with the query, for messages
	User     string
	Selection
	View View
	Form string // apiVersion and kind of what must arrive
	// Bookmarks is set when bookmarks were asked for.
	Bookmarks bool
	// Forbidden is set when the user must not be served at all.
	Forbidden bool
	// Complete is set when the chain ended with the run, so that it must have reached the last
	// write.
	Complete bool
	Position uint64 // the version of its last event or bookmark, or where it began
	Streams  []Stream
}

// Stream is one answer to a watch.
type Stream struct {
	Node           string
	Connection     int // numbers the connections to one node
	After          uint64
	Initial        bool // it began with initial events
	Opened, Closed time.Duration
	Events         []Event
	Expired        bool // the position After, or a later one, was refused as too old
}
