package watch

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/selector"
	"quorate/apiserver/objects/validation"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// stamp is an Encoder that encodes an object as the name of the stamp, the time if ages is set, and
// the object's bytes after its kind and version.
type stamp struct {
	name  string
	table bool
	ages  bool
}

func (s stamp) Append(dst, value []byte, now time.Time) ([]byte, error) {
	if !s.table {
		dst = append(dst, '{')
	}
	dst = fmt.Appendf(dst, `"by":%q,`, s.name)
	if s.ages {
		dst = fmt.Appendf(dst, `"at":%d,`, now.Unix())
	}
	return append(dst, rest(value)...), nil
}

func (s stamp) Ages() bool { return s.ages }

// rest returns the bytes of a stored object after its kind and version.
func rest(value []byte) []byte {
	_, after, _ := bytes.Cut(value, []byte(`"apiVersion":"rbac.authorization.platform.io/v1",`))
	return after
}

// mixed is one stream of a mixture, with the bytes that it must send.
type mixed struct {
	*client
	projection Projection
	namespace  string
	selects    func(o *state.Object) bool
	after      uint64
	leave      context.CancelFunc
	ended      bool // its client has disconnected, so it may have sent less
	want       strings.Builder
	sent       int
}

// expect adds a change to the bytes that the stream must send, following a model of D19 and B29.
func (m *mixed) expect(c modelChange, now time.Time) {
	if c.index <= m.after || m.namespace != "" && c.namespace != m.namespace {
		return
	}
	was, is := c.before != nil && m.selects(c.before), c.after != nil && m.selects(c.after)
	word, value := "", []byte(nil)
	switch {
	case was && is:
		word, value = "MODIFIED", c.after.Value
	case is:
		word, value = "ADDED", c.after.Value
	case was && c.final != nil && m.selects(c.final):
		word, value = "DELETED", c.final.Value
	case was:
		word, value = "DELETED", c.before.WithVersion(c.index)
	default:
		return
	}
	p := &m.projection
	object := `{"kind":"Role","apiVersion":"` + p.Kind.APIVersion + `",` + string(rest(value))
	if s, ok := p.Encoder.(stamp); ok {
		object = fmt.Sprintf(`"by":%q,`, s.name)
		if s.ages {
			object += fmt.Sprintf(`"at":%d,`, now.Unix())
		}
		object += string(rest(value))
		switch {
		case !s.table:
			object = "{" + object
		case m.sent == 0:
			object = p.Table.First + object
		default:
			object = p.Table.Later + object
		}
	}
	m.sent++
	fmt.Fprintf(&m.want, `{"type":%q,"object":%s}`+"\n", word, object)
}

// modelChange is a change in history: the object before and after it, and the final object of a
// deletion.
type modelChange struct {
	index                uint64
	namespace            string
	before, after, final *state.Object
}

// TestMixtureOfProjections checks that each of many streams on two connections, equal ones and ones
// that differ little, sends exactly the events that it should, however many events arrive at once
// and whether batches are shared, refused, or sent by the streams' handlers (D1, D8, D9, D19, B29).
func TestMixtureOfProjections(t *testing.T) {
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			w := &world{harness: newHarness(t), t: t, random: rand.New(rand.NewPCG(seed, 1)), objects: make(map[state.Key]*state.Object)}
			for _, version := range []string{"v1", "v1beta1"} {
				w.kinds = append(w.kinds, catalog.Kind("/apis/rbac.authorization.platform.io/"+version, "roles"))
			}
			w.run()
			for i, m := range w.streams {
				if got := m.text(); got != m.want.String() && !m.ended || !strings.HasPrefix(m.want.String(), got) {
					t.Errorf("seed %d: stream %d of %q with %+v after %d sent\n%s\nwant\n%s", seed, i, m.namespace, m.projection, m.after, got, m.want.String())
				}
			}
		})
		if t.Failed() {
			return
		}
	}
}

// text returns the bytes received.
func (p *client) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got.String()
}

// world is one run of a mixture.
type world struct {
	*harness
	t       *testing.T
	random  *rand.Rand
	kinds   []*schema.Kind
	objects map[state.Key]*state.Object
	log     []modelChange
	streams []*mixed

	mu   sync.Mutex // guards the fields above while streams run
	more int        // changes to make during the current pass over the streams
}

// changeDuringPass makes changes in the middle of a pass over the streams, so that later streams in
// the pass find more events than earlier ones.
func (w *world) changeDuringPass() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.more > 0 && w.random.IntN(4) == 0 {
		w.more--
		w.changes(1 + w.random.IntN(2))
	}
}

// run starts and ends streams and makes changes, 40 times.
func (w *world) run() {
	defer w.end()
	for range 40 {
		for range w.random.IntN(4) {
			w.join()
		}
		if w.random.IntN(3) == 0 {
			synctest.Wait()
		}
		if m := w.some(); m != nil && w.random.IntN(12) == 0 {
			m.ended = true
			m.leave()
		}
		if m := w.some(); m != nil {
			m.refuse(w.random.IntN(4) == 0)
		}
		w.mu.Lock()
		w.more = 6
		w.changes(1 + w.random.IntN(5))
		w.mu.Unlock()
		synctest.Wait()
		w.more = 0
		time.Sleep(time.Duration(w.random.IntN(700)) * time.Millisecond)
	}
}

// some returns a random stream, or nil if there is none.
func (w *world) some() *mixed {
	if len(w.streams) == 0 {
		return nil
	}
	return w.streams[w.random.IntN(len(w.streams))]
}

// tables are two forms of Tables whose rows are equal.
var tables = [2]Table{{First: `{"columns":0,`, Later: `{"table":0,`}, {First: `{"columns":1,`, Later: `{"table":1,`}}

// join begins a stream with one of a few projections, so that some streams are equal and others
// differ in one respect.
func (w *world) join() {
	m := &mixed{client: newClient(w.random.IntN(2)), after: w.harness.index, selects: func(*state.Object) bool { return true }}
	if back := uint64(w.random.IntN(4)); back < m.after {
		m.after -= back
	}
	prefix := all()
	if m.namespace = []string{"", "a", "b"}[w.random.IntN(3)]; m.namespace != "" {
		prefix = state.NamespacePrefix("pods", m.namespace)
	}
	m.projection.Kind = w.kinds[w.random.IntN(2)]
	switch w.random.IntN(6) {
	case 0, 1:
		m.projection.Encoder = stamp{name: fmt.Sprint("e", w.random.IntN(2))}
	case 2:
		m.projection.Encoder = stamp{name: "table", table: true, ages: w.random.IntN(2) == 0}
		m.projection.Table = tables[w.random.IntN(2)]
	}
	w.selectSome(m)
	for _, c := range w.log {
		m.expect(c, time.Now())
	}
	now := w.harness.index
	w.harness.index = m.after
	m.onEnqueue = w.changeDuringPass
	m.leave = w.open(m, prefix, Options{Projection: m.projection})
	w.harness.index = now
	w.streams = append(w.streams, m)
	if m.projection.Encoder != nil && m.projection.Encoder.Ages() {
		synctest.Wait() // so that the stream sends past changes at the current time
	}
}

// selectSome gives about half of the streams a selector: by a label, by a field, or by name, or by
// terms that require nothing of every object.
func (w *world) selectSome(m *mixed) {
	value := "xy"[w.random.IntN(2):][:1]
	name := fmt.Sprint("n", w.random.IntN(3))
	var labels, fields string
	has := func(text string) func(*state.Object) bool {
		return func(o *state.Object) bool { return strings.Contains(string(o.Value), text) }
	}
	switch w.random.IntN(10) {
	case 0:
		labels, m.selects = "l="+value, has(`"l":"`+value+`"`)
	case 1:
		fields, m.selects = "spec.f="+value, has(`"f":"`+value+`"`)
	case 2:
		fields, m.selects = "metadata.name="+name, has("/"+name+`"`)
	case 3:
		labels, m.selects = "l!="+value, func(o *state.Object) bool { return !has(`"l":"` + value + `"`)(o) }
	case 4:
		fields, m.selects = "spec.f=", has(`"f":""`)
	default:
		return
	}
	sel, err := selector.Parse(labels, fields, &selector.Fields{Supported: map[string]bool{"spec.f": true, "metadata.name": true}})
	if err != nil {
		w.t.Fatal(err)
	}
	m.projection.Selector = sel
}

// changes appends the given number of changes to history at once.
func (w *world) changes(count int) {
	var events []*history.Event
	for range count {
		w.harness.index++
		namespace := "ab"[w.random.IntN(2):][:1]
		key := state.NewKey("pods", namespace, fmt.Sprint("n", w.random.IntN(3)))
		label, field := "xy"[w.random.IntN(2):][:1], []string{"x", "y", ""}[w.random.IntN(3)]
		head := `{"kind":"Role","apiVersion":"rbac.authorization.platform.io/v1","metadata":{"resourceVersion":"`
		o := &state.Object{
			Key: key, Version: w.harness.index, VersionOffset: uint32(len(head)), Labels: state.NewAttributes(map[string]string{"l": label}),
			Value: fmt.Appendf(nil, `%s%d","labels":{"l":"%s"},"name":"%s"},"f":"%s"}`, head, w.harness.index, label, strings.ReplaceAll(string(key), "\x00", "/"), field),
		}
		if field != "" {
			o.Fields = state.NewAttributes(map[string]string{"spec.f": field})
		}
		e := &history.Event{Index: w.harness.index, Type: history.Added, Object: o}
		c := modelChange{index: w.harness.index, namespace: namespace, before: w.objects[key], after: o}
		if c.before != nil {
			e.Type = history.Modified
			if w.random.IntN(3) == 0 {
				e.Type, c.after, c.final = history.Deleted, nil, o
			}
			if c.before.Labels != o.Labels || c.before.Fields != o.Fields {
				e.Previous = c.before
			}
		}
		if w.objects[key] = c.after; c.after == nil {
			delete(w.objects, key)
		}
		events = append(events, e)
		w.log = append(w.log, c)
		for _, m := range w.streams {
			m.expect(c, time.Now())
		}
	}
	w.hub.Append(w.harness.index, events)
}
