package mixture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quorate/chaos/check/watchmodel"
	"quorate/chaos/client"
)

const (
	// arriveTimeout is the time limit for watches to deliver the last write.
	arriveTimeout = time.Minute
	// arrivePoll is the interval at which they are checked.
	arrivePoll = 50 * time.Millisecond
)

// Settle writes a last object of each kind, and waits for at most a minute until every watch has
// delivered all events that it selects. The model judges watches that have not. Settle must follow
// Stop. It returns an error if the cluster accepts no write until ctx is done.
func (m *Mixture) Settle(ctx context.Context) error {
	m.settling.Store(true)
	for i := range m.kinds {
		if err := m.last(ctx, &m.kinds[i]); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, arriveTimeout)
	defer cancel()
	logs := map[string]*watchmodel.Log{}
	for _, k := range m.kinds {
		log := m.logs[k.resource]
		for _, r := range log.references {
			for ctx.Err() == nil && r.position() < log.end {
				wait(ctx, arrivePoll)
			}
		}
		logs[k.resource] = watchmodel.NewLog(m.resource(log))
	}
	for _, w := range m.watches {
		for ctx.Err() == nil && !w.arrived(logs[w.shape.kind.resource]) {
			wait(ctx, arrivePoll)
		}
		if !w.shape.forbidden && !w.arrived(logs[w.shape.kind.resource]) {
			m.Log.Warn("a watch did not get to the last write", "watch", w.number, "path", w.shape.String(), "position", w.position())
		}
	}
	return nil
}

// arrived reports whether the watch has delivered everything in the log that it selects.
func (w *watcher) arrived(l *watchmodel.Log) bool {
	if w.shape.forbidden {
		return true
	}
	position := w.position()
	return position != 0 && l.Last(&w.shape.Selection, position) == 0
}

// last creates an object, whose version is the end of the log of its resource.
func (m *Mixture) last(ctx context.Context, k *kind) error {
	log := m.logs[k.resource]
	attempt := 0
	return m.insist(ctx, func(ctx context.Context, n *node) error {
		attempt++
		d := draft{labels: map[string]string{groupLabel: "end"}, marker: fmt.Sprintf("end/%d", attempt), value: "end", replicas: 1}
		body, err := k.body(k.versions[0], m.namespaces[0], fmt.Sprintf("end-%d", attempt), d, nil)
		if err != nil {
			return err
		}
		write := watchmodel.Write{Kind: "create", Marker: d.marker, Node: n.Name, Invoked: m.Now()}
		answer, outcome, err := n.own.Do(ctx, client.Request{Method: "POST", Path: k.path(k.versions[0], m.namespaces[0], ""), Body: body})
		write.Answered = m.Now()
		switch outcome {
		case client.OK:
			write.Object = objectOf(&answer)
			log.mu.Lock()
			log.end = answer.Version
			log.mu.Unlock()
		case client.Unavailable:
			return unless(outcome, err)
		default:
			write.Outcome = watchmodel.Unknown
		}
		m.wrote(log, write)
		return unless(outcome, err)
	})
}

// Tidy removes the finalizers of what the mixture wrote, and then its namespaces. It must follow
// Record.
func (m *Mixture) Tidy(ctx context.Context) error {
	var errs []error
	for i := range m.kinds {
		for _, namespace := range m.namespaces {
			errs = append(errs, m.insist(ctx, func(ctx context.Context, n *node) error {
				return m.release(ctx, n, &m.kinds[i], namespace)
			}))
		}
	}
	for _, namespace := range m.namespaces {
		errs = append(errs, m.insist(ctx, func(ctx context.Context, n *node) error {
			outcome, err := n.own.DeleteNamespace(ctx, namespace)
			return unless(outcome, err)
		}))
	}
	return errors.Join(errs...)
}

// release removes all finalizers of a kind in a namespace.
func (m *Mixture) release(ctx context.Context, n *node, k *kind, namespace string) error {
	list, outcome, err := n.own.Do(ctx, client.Request{Path: k.path(k.versions[0], namespace, "")})
	if outcome != client.OK {
		return unless(outcome, err)
	}
	for _, o := range list.Items {
		if len(o.Finalizers) == 0 {
			continue
		}
		_, outcome, err := n.own.Do(ctx, client.Request{
			Method: "PATCH", Path: k.path(k.versions[0], namespace, o.Name), ContentType: "application/merge-patch+json",
			Body: []byte(`{"metadata":{"finalizers":null}}`),
		})
		if outcome != client.OK && outcome != client.NotFound {
			return unless(outcome, err)
		}
	}
	return nil
}
