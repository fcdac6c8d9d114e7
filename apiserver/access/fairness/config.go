package fairness

import (
	"strings"
	"time"
)

const (
	// DefaultQueueLength is the number of requests that may wait in one queue of a level that sets
	// no other. A flow has 6 queues.
	DefaultQueueLength = 256
	// DefaultMaxWait is how long a request may wait in a level that sets no other time.
	DefaultMaxWait = 10 * time.Second
)

// Level is a class of requests with seats of its own.
type Level struct {
	// Name is the value of the label "level" of the metrics.
	Name string
	// Share is the level's part of the seats, in relation to the shares of the others.
	Share int
	// QueueLength bounds the requests that wait in one queue; 0 refuses requests at once.
	QueueLength int
	// MaxWait bounds how long a request waits.
	MaxWait time.Duration
	// Match lists the requests of the level: those that any of the rules matches. The last level
	// has all that no level before it has, and needs no rules.
	Match []Match
}

// Match matches requests by all of its fields that are not empty.
type Match struct {
	// Users and Groups hold names of users and groups; a * at the end matches any rest.
	Users  []string `yaml:"users"`
	Groups []string `yaml:"groups"`
	// Verbs holds verbs as in roles.
	Verbs []string `yaml:"verbs"`
	// Resources holds plurals, in the form leases or leases.coordination.k8s.io.
	Resources []string `yaml:"resources"`
	// Namespaces holds namespaces of the objects.
	Namespaces []string `yaml:"namespaces"`
}

// DefaultLevels returns the levels of a node without a file: one for nodes, administrators and
// leader elections, one for service accounts, and one for all others.
func DefaultLevels() []Level {
	level := func(name string, share int, match ...Match) Level {
		return Level{Name: name, Share: share, QueueLength: DefaultQueueLength, MaxWait: DefaultMaxWait, Match: match}
	}
	return []Level{
		level("system", 30,
			Match{Groups: []string{"system:masters", "system:nodes"}},
			Match{
				Verbs:     []string{"get", "create", "update", "patch"},
				Resources: []string{"leases.coordination.k8s.io"},
			}),
		level("workload", 40, Match{Groups: []string{"system:serviceaccounts"}}),
		level("others", 30),
	}
}

// Request is what the choice of a level and of a flow depends on.
type Request struct {
	// User is empty for a request without one.
	User   string
	Groups []string
	// Address is the client's, without the port. It is the flow of a request without a user.
	Address string

	Verb      string
	Group     string // API group of the resource
	Resource  string // plural; empty for other paths
	Namespace string
	// Cost is the number of seats; 0 counts as 1.
	Cost int
}

func (l *Level) matches(r *Request) bool {
	for i := range l.Match {
		if l.Match[i].matches(r) {
			return true
		}
	}
	return false
}

func (m *Match) matches(r *Request) bool {
	return (len(m.Users) == 0 || named(m.Users, r.User)) &&
		(len(m.Groups) == 0 || anyNamed(m.Groups, r.Groups)) &&
		(len(m.Verbs) == 0 || named(m.Verbs, r.Verb)) &&
		(len(m.Resources) == 0 || resourceNamed(m.Resources, r)) &&
		(len(m.Namespaces) == 0 || named(m.Namespaces, r.Namespace))
}

// named reports whether one of the patterns matches a name.
func named(patterns []string, name string) bool {
	for _, p := range patterns {
		if prefix, open := strings.CutSuffix(p, "*"); p == name || open && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func anyNamed(patterns, names []string) bool {
	for _, name := range names {
		if named(patterns, name) {
			return true
		}
	}
	return false
}

func resourceNamed(patterns []string, r *Request) bool {
	for _, p := range patterns {
		plural, group, qualified := strings.Cut(p, ".")
		if plural == r.Resource && r.Resource != "" && (!qualified || group == r.Group) {
			return true
		}
	}
	return false
}

// serviceAccounts begins the names of all service accounts, followed by NAMESPACE:NAME.
const serviceAccounts = "system:serviceaccount:"

// flow returns the key of the flow of a request.
func (r *Request) flow() string {
	if r.User == "" {
		return r.Address
	}
	if rest, is := strings.CutPrefix(r.User, serviceAccounts); is {
		if namespace, _, ok := strings.Cut(rest, ":"); ok {
			return r.User[:len(serviceAccounts)+len(namespace)]
		}
	}
	return r.User
}
