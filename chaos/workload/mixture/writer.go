package mixture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"quorate/chaos/check/watchmodel"
	"quorate/chaos/client"
)

// The values by which selectors select. Writers change the labels of objects between these values.
const (
	groupLabel = "group"
	tierLabel  = "tier" // some objects have none
)

func groups() []string    { return []string{"red", "green", "blue"} }
func tiers() []string     { return []string{"front", "back"} }
func nodeNames() []string { return []string{"", "node-1", "node-2"} }
func phases() []string    { return []string{"Pending", "Running", "Succeeded"} }

// slot holds an object that one writer writes.
type slot struct {
	kind       *kind
	namespace  string
	index      int
	generation int
	object     *watchmodel.Object // as it is, nil: it is not there
}

// writer creates, changes and deletes its own objects, one request after the other. After a write
// of unknown outcome it abandons the object and continues with another one.
type writer struct {
	*Mixture
	number int
	rand   *rand.Rand
	slots  map[*kind][]*slot
	writes int
}

func newWriter(m *Mixture, number int) *writer {
	w := &writer{Mixture: m, number: number, rand: m.random(uint64(100 + number)), slots: map[*kind][]*slot{}}
	for i := range m.kinds {
		k := &m.kinds[i]
		for n := range slotsPerWriter {
			namespace := m.namespaces[0] // of half of the objects, as most watches watch it
			if (number+n)%2 == 1 {
				namespace = pick(w.rand, m.namespaces)
			}
			w.slots[k] = append(w.slots[k], &slot{kind: k, namespace: namespace, index: n})
		}
	}
	return w
}

// run writes a few times in each round. All writers write at the same time, and objects of one
// kind, so that streams share several events at a time while further ones arrive.
func (w *writer) run(ctx context.Context, began time.Time) {
	for ctx.Err() == nil {
		k := w.favoured
		if round := int(time.Since(began) / w.round); round%2 == 1 {
			k = &w.kinds[round/2%len(w.kinds)]
		}
		for range writesPerRound {
			w.step(ctx, pick(w.rand, w.slots[k]))
		}
		wait(ctx, time.Until(began.Add((time.Since(began)/w.round+1)*w.round)))
	}
}

// step makes one write.
func (w *writer) step(ctx context.Context, s *slot) {
	nodes := w.connections.all()
	if len(nodes) == 0 {
		return
	}
	n := pick(w.rand, nodes)
	request, write, err := w.next(s)
	if err != nil {
		w.problem("make a request: %v", err)
		return
	}
	// A request in progress when the writers are stopped still gets its response.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
	defer cancel()
	write.Node, write.Invoked = n.Name, w.Now()
	answer, outcome, err := n.own.Do(ctx, request)
	write.Answered = w.Now()
	w.settle(s, write, &answer, outcome, err)
}

// settle records the outcome of a write.
func (w *writer) settle(s *slot, write watchmodel.Write, answer *client.Resource, outcome client.Outcome, err error) {
	log := w.logs[s.kind.resource]
	switch outcome {
	case client.OK:
		w.acknowledge(s, &write, answer)
		w.wrote(log, write)
		return
	case client.Unavailable:
		return
	case client.Unknown:
	default: // nobody else writes this object
		w.problem("%s of %s/%s on %s: %v", write.Kind, s.namespace, w.name(s), write.Node, err)
	}
	write.Outcome, write.Object, write.Removes = watchmodel.Unknown, watchmodel.Object{}, false
	w.wrote(log, write)
	s.object = nil
	s.generation++
}

// acknowledge records the response to a write.
func (w *writer) acknowledge(s *slot, write *watchmodel.Write, answer *client.Resource) {
	o := objectOf(answer)
	switch {
	case write.Deletes != "": // the answer is a Status, which has no version
		if answer.DeletedUID != write.Deletes {
			w.problem("deletion of uid %s was answered with uid %s", write.Deletes, answer.DeletedUID)
		}
		if write.Removes = s.object.Finalizers == ""; write.Removes {
			s.object = nil
			return
		}
		s.object.Deleting, s.object.Version = true, 0
	case o.Deleting && o.Finalizers == "":
		write.Removes, write.Object, s.object = true, o, nil
	default:
		write.Object, s.object = o, &o
	}
}

func (w *writer) name(s *slot) string { return w.nameOf(w.number, s.index, s.generation) }

// draft returns a content for the next write.
func (w *writer) draft() draft {
	w.writes++
	d := draft{
		labels: map[string]string{groupLabel: pick(w.rand, groups())}, marker: fmt.Sprintf("%d/%d", w.number, w.writes),
		value: fmt.Sprint(w.rand.IntN(1000)), replicas: 1 + w.rand.IntN(5), padding: w.rand.IntN(1500),
	}
	if w.rand.IntN(2) == 0 {
		d.labels[tierLabel] = pick(w.rand, tiers())
	}
	return d
}

// next chooses a write by the state of the object.
func (w *writer) next(s *slot) (client.Request, watchmodel.Write, error) {
	roll := w.rand.IntN(10)
	switch {
	case s.object == nil:
		return w.create(s)
	case s.object.Deleting && roll < 5:
		return w.release(s)
	case roll < 2 && !s.object.Deleting:
		return w.delete(s)
	case roll < 5 && s.kind.hasPhase:
		return w.phase(s)
	default:
		return w.change(s, s.object.Finalizers)
	}
}

func (w *writer) create(s *slot) (client.Request, watchmodel.Write, error) {
	d := w.draft()
	d.node = pick(w.rand, nodeNames())
	d.finalizers = [][]string{nil, {firstFinalizer}, {firstFinalizer, secondFinalizer}}[w.rand.IntN(3)]
	v := pick(w.rand, s.kind.versions)
	body, err := s.kind.body(v, s.namespace, w.name(s), d, nil)
	request := client.Request{Method: "POST", Path: s.kind.path(v, s.namespace, ""), Body: body}
	return request, watchmodel.Write{Kind: "create", Marker: d.marker}, err
}

func (w *writer) delete(s *slot) (client.Request, watchmodel.Write, error) {
	body := fmt.Sprintf(`{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":%q}}`, s.object.UID)
	v := pick(w.rand, s.kind.versions)
	request := client.Request{Method: "DELETE", Path: s.kind.path(v, s.namespace, s.object.Name), Body: []byte(body)}
	return request, watchmodel.Write{Kind: "delete", Deletes: s.object.UID}, nil
}

func (w *writer) phase(s *slot) (client.Request, watchmodel.Write, error) {
	d := w.draft()
	body := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}},"status":{"phase":%q}}`, markerKey, d.marker, pick(w.rand, phases()))
	request := client.Request{
		Method: "PATCH", Path: s.kind.path(s.kind.versions[0], s.namespace, s.object.Name) + "/status", Body: []byte(body),
		ContentType: "application/merge-patch+json",
	}
	return request, watchmodel.Write{Kind: "status patch", Marker: d.marker}, nil
}
