package mixture

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"

	"quorate/chaos/check/watchmodel"
	"quorate/chaos/client"
)

// habit determines how a watch begins, and how its streams end.
type habit int

const (
	steady  habit = iota // each stream lasts as long as it can
	cutting              // its client breaks streams off
	timed                // its streams end by timeoutSeconds
	rewound              // after each stream it begins anew, from an earlier version
	listing              // it begins with initial events
	habits  = iota
)

// shape contains everything that distinguishes a watch from others.
type shape struct {
	kind    *kind
	version version
	watchmodel.Selection
	view      watchmodel.View
	accept    string
	include   string // of a Table
	form      string // apiVersion and kind of what arrives
	legacy    bool   // the path begins with /watch/
	bookmarks bool
	user      string
	forbidden bool
	habit     habit
	slow      bool
}

// shaper chooses shapes at random.
type shaper struct {
	*rand.Rand
	*Mixture
}

// oneIn reports true once in n times.
func (s *shaper) oneIn(n int) bool { return s.IntN(n) == 0 }

func pick[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// shape returns the next shape. A few shapes are plain: JSON of a namespace, or of all namespaces,
// without a selector. Plain watches can share the most work. Watches of other shapes on the same
// connection delay them, so that several events wait to be sent at once. Most watches are of the
// favoured kind, so that many of them deliver the same events.
func (s *shaper) shape() *shape {
	k := s.favoured
	if s.oneIn(3) {
		k = &s.kinds[s.IntN(len(s.kinds))]
	}
	one := &shape{kind: k, version: pick(s.Rand, k.versions), legacy: s.oneIn(4), bookmarks: s.oneIn(2), habit: habit(s.IntN(habits))}
	plain := s.oneIn(12)
	s.scope(one, plain)
	s.represent(one, plain)
	if !plain {
		s.selectors(one)
	}
	s.authorize(one)
	one.slow = s.oneIn(12)
	one.bookmarks = one.bookmarks || one.habit == listing
	return one
}

// scope selects one object, one namespace, or all namespaces. Most watches select one object,
// because they deliver few events, so that clients can run hundreds of them. Fewer watches select
// all ConfigMaps, because other workloads write many of these.
func (s *shaper) scope(one *shape, plain bool) {
	if !plain && s.IntN(5) < 3 {
		one.Namespace, one.Name = pick(s.Rand, s.namespaces), s.nameOf(s.IntN(writers), s.IntN(slotsPerWriter), 0)
		return
	}
	switch roll := s.IntN(10); {
	case roll < 3 && (one.kind.resource != "configmaps" || s.oneIn(2)):
		return
	case roll < 7:
		one.Namespace = s.namespaces[0]
	default:
		one.Namespace = pick(s.Rand, s.namespaces)
	}
}

func (s *shaper) represent(one *shape, plain bool) {
	one.accept, one.form = client.JSON, one.version.apiVersion+" "+one.kind.name
	roll := s.IntN(10)
	switch {
	case plain || roll < 3:
	case roll < 5:
		one.accept = client.Protobuf
	case roll < 7:
		one.accept, one.view, one.form = client.Partial, watchmodel.Metadata, "meta.k8s.io/v1 PartialObjectMetadata"
	default:
		one.accept, one.form = client.Table, "meta.k8s.io/v1 Table"
		one.view = pick(s.Rand, []watchmodel.View{watchmodel.Whole, watchmodel.Metadata, watchmodel.Row})
		one.include = [...]string{watchmodel.Whole: "Object", watchmodel.Metadata: "Metadata", watchmodel.Row: "None"}[one.view]
	}
}

// selectors chooses conditions on labels, on fields, or on both.
func (s *shaper) selectors(one *shape) {
	roll := s.IntN(8)
	if roll < 4 {
		one.Labels = s.labelTerms()
	}
	if roll >= 3 && roll < 7 {
		one.Fields = s.fieldTerms(one)
	}
}

func (s *shaper) labelTerms() []watchmodel.Term {
	group := func() string { return pick(s.Rand, groups()) }
	terms := []watchmodel.Term{
		{Key: groupLabel, Operator: watchmodel.Equals, Values: []string{group()}},
		{Key: groupLabel, Operator: watchmodel.NotEquals, Values: []string{group()}},
		{Key: groupLabel, Operator: watchmodel.In, Values: []string{group(), group()}},
		{Key: groupLabel, Operator: watchmodel.NotIn, Values: []string{group(), group()}},
		{Key: tierLabel, Operator: watchmodel.Exists},
		{Key: tierLabel, Operator: watchmodel.NotExists},
		{Key: tierLabel, Operator: watchmodel.Equals, Values: []string{pick(s.Rand, tiers())}},
	}
	first := s.IntN(len(terms))
	if s.oneIn(3) && first < 4 {
		return []watchmodel.Term{terms[first], terms[4+s.IntN(3)]}
	}
	return terms[first : first+1]
}

func (s *shaper) fieldTerms(one *shape) []watchmodel.Term {
	operator := pick(s.Rand, []watchmodel.Operator{watchmodel.Equals, watchmodel.Equals, watchmodel.NotEquals})
	term := func(key, value string) []watchmodel.Term {
		return []watchmodel.Term{{Key: key, Operator: operator, Values: []string{value}}}
	}
	switch roll := s.IntN(4); {
	case one.kind.hasPhase && roll == 0:
		return term("spec.nodeName", pick(s.Rand, nodeNames()))
	case one.kind.hasPhase && roll < 3:
		return term("status.phase", pick(s.Rand, phases()))
	case roll%2 == 0 && one.Name == "":
		return term("metadata.name", s.nameOf(s.IntN(writers), s.IntN(slotsPerWriter), 0))
	default:
		return term("metadata.namespace", pick(s.Rand, s.namespaces))
	}
}

// authorize assigns some watches to users who may read only one namespace, and makes a few of those
// request something that they may not read.
func (s *shaper) authorize(one *shape) {
	switch {
	case one.Namespace == s.namespaces[0] && s.oneIn(2):
		one.user = s.users[0]
	case one.Namespace == s.namespaces[1] && s.oneIn(2):
		one.user = s.users[1]
	case s.oneIn(12):
		one.user = s.users[0]
		one.forbidden = one.Namespace != s.namespaces[0]
	}
}

// path returns the path of a stream that begins after a version. An initial stream begins with a
// state that is no older.
func (one *shape) path(after uint64, initial bool, seconds int) string {
	query := url.Values{}
	path := one.kind.path(one.version, one.Namespace, one.Name)
	switch {
	case one.legacy:
		path = one.version.prefix + "/watch" + path[len(one.version.prefix):]
	case one.Name != "": // by a field selector, as there is no such query on an object
		path = one.kind.path(one.version, one.Namespace, "")
		query.Set("watch", "true")
	default:
		query.Set("watch", "true")
	}
	fields := one.Fields
	if one.Name != "" && !one.legacy {
		fields = append(fields[:len(fields):len(fields)], watchmodel.Term{Key: "metadata.name", Values: []string{one.Name}})
	}
	if len(one.Labels) > 0 {
		query.Set("labelSelector", watchmodel.SelectorText(one.Labels))
	}
	if len(fields) > 0 {
		query.Set("fieldSelector", watchmodel.SelectorText(fields))
	}
	if one.include != "" {
		query.Set("includeObject", one.include)
	}
	if one.bookmarks {
		query.Set("allowWatchBookmarks", "true")
	}
	if initial {
		query.Set("sendInitialEvents", "true")
		query.Set("resourceVersionMatch", "NotOlderThan")
	}
	if after > 0 {
		query.Set("resourceVersion", strconv.FormatUint(after, 10))
	}
	if seconds > 0 {
		query.Set("timeoutSeconds", strconv.Itoa(seconds))
	}
	return path + "?" + query.Encode()
}

// String describes the shape in messages.
func (one *shape) String() string {
	path, err := url.QueryUnescape(one.path(0, false, 0))
	if err != nil {
		path = one.path(0, false, 0)
	}
	return fmt.Sprintf("%s (%s)", path, one.form)
}
