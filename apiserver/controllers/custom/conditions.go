package custom

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// The types of the conditions of a CustomResourceDefinition.
const (
	conditionNames       = "NamesAccepted"
	conditionEstablished = "Established"
	conditionApproval    = "KubernetesAPIApprovalPolicyConformant"
	conditionTerminating = "Terminating"

	isTrue, isFalse = "True", "False"
)

// condition is a condition of a CustomResourceDefinition, without its time.
type condition struct{ kind, status, reason, message string }

func conditionsOf(root *schema.Value) []condition {
	var all []condition
	for _, v := range root.Lookup("status", "conditions").Items() {
		all = append(all, condition{text(v, "type"), text(v, "status"), text(v, "reason"), text(v, "message")})
	}
	return all
}

// wanted returns the conditions that the verdict on a definition implies.
func (d *definition) wanted() []condition {
	v := &d.verdict
	accepted := condition{conditionNames, isTrue, "NoConflicts", "no conflicts found"}
	if v.conflict != (conflict{}) {
		accepted.status, accepted.reason, accepted.message = isFalse, v.conflict.reason, v.conflict.message
	}
	established := condition{conditionEstablished, isFalse, "NotAccepted", "not all names are accepted"}
	switch {
	case v.owner != nil:
		established = condition{conditionEstablished, isTrue, "InitialNamesAccepted", "the initial names have been accepted"}
	case v.refusal != (conflict{}):
		established.reason, established.message = v.refusal.reason, v.refusal.message
	}
	all := []condition{accepted, established}
	if d.approval != (condition{}) {
		all = append(all, d.approval)
	}
	if d.terminating {
		all = append(all, condition{conditionTerminating, isTrue, "InstanceDeletionInProgress", "CustomResource deletion is in progress"})
	}
	return all
}

// settled reports whether the status of a definition agrees with the verdict on it.
func (d *definition) settled() bool {
	return d.accepted.equal(&d.verdict.accepted) &&
		!slices.ContainsFunc(d.wanted(), func(c condition) bool { return !slices.Contains(d.conditions, c) })
}

// attend writes the status of CustomResourceDefinitions and deletes the instances of those that are
// being deleted. It returns an error when it fails or ctx ends. It runs on the leader only and
// keeps no state, so that the next leader continues where the last one stopped. No request waits
// for it: a node serves a kind as soon as it has computed that the names are accepted, before the
// status says so.
func (s *Served) attend(ctx context.Context) error {
	return s.reconcile(ctx, s.factory.prefixes[1], func(root *state.Root) (time.Duration, error) {
		ending, err := s.attendAll(ctx, root)
		if ending { // their progress depends on changes of their instances
			return cleanupPause, err
		}
		return sweepEvery, err
	})
}

// attendAll brings the status of all definitions up to date and continues the deletion of those
// that are being deleted. ending reports that there are such.
func (s *Served) attendAll(ctx context.Context, root *state.Root) (ending bool, err error) {
	if err := s.Refresh(ctx, root); err != nil {
		return false, err
	}
	writes, ctx := errgroup.WithContext(ctx)
	writes.SetLimit(parallel)
	for _, d := range s.current.Load().definitions {
		if !d.settled() {
			writes.Go(func() error { return s.writeStatus(ctx, d) })
			continue
		}
		if d.terminating && d.cleans {
			ending = true
			writes.Go(func() error { return s.cleanUp(ctx, root, d) })
		}
	}
	return ending, writes.Wait()
}

// writeStatus writes the status that a verdict implies. If the definition was changed in the
// meantime, the next round follows that change.
func (s *Served) writeStatus(ctx context.Context, d *definition) error {
	o, err := s.factory.definition.DecodeStored(d.object.Value)
	if err != nil {
		return err
	}
	now := time.Now()
	status := o.Root().Make("status")
	writeNames(status.Make("acceptedNames"), &d.verdict.accepted)
	for _, c := range d.wanted() {
		setCondition(status.Make("conditions"), c, now)
	}
	next, _ := stored.Encode(o)
	_, err = s.store.Update(ctx, raftstore.Update{Key: d.object.Key, Previous: d.object, UID: d.uid, Object: next})
	if err == nil || deletion.Lost(err) {
		return nil
	}
	return err
}

func writeNames(v *schema.Value, n *names) {
	for name, text := range map[string]string{"plural": n.plural, "singular": n.singular, "kind": n.kind, "listKind": n.listKind} {
		v.Make(name).SetStr(text)
	}
	for name, texts := range map[string][]string{"shortNames": n.shortNames, "categories": n.categories} {
		v.Clear(name)
		for _, text := range texts {
			v.Make(name).Append().SetStr(text)
		}
	}
}

// setCondition sets a condition in a list. Its time changes with its status only.
func setCondition(list *schema.Value, c condition, now time.Time) {
	var v *schema.Value
	for _, item := range list.Items() {
		if item.Field("type").Str() == c.kind {
			v = item
		}
	}
	if v == nil {
		v = list.Append()
		v.Make("type").SetStr(c.kind)
	}
	if v.Field("status").Str() != c.status {
		v.Make("lastTransitionTime").SetTime(now)
	}
	v.Make("status").SetStr(c.status)
	v.Make("reason").SetStr(c.reason)
	v.Make("message").SetStr(c.message)
}
