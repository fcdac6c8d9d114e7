package rbac

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/selector"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// aggregate keeps the rules of cluster roles that aggregate others up to date, until ctx ends or a
// read or write fails. Only the leader runs it.
func (e *Evaluator) aggregate(ctx context.Context) error {
	k := e.kinds[group+"/clusterroles"]
	root, err := e.store.View(ctx, raftstore.Quorum())
	if err != nil {
		return err
	}
	changes, err := e.store.Watch(stored.Prefix(k, ""), root.Index())
	if err != nil {
		return err
	}
	for {
		if err := e.aggregateAll(ctx, k, root); err != nil {
			return err
		}
		events, err := changes.Next(ctx)
		if err != nil {
			return err
		}
		if root, err = e.store.View(ctx, raftstore.AtLeast(events[len(events)-1].Index)); err != nil {
			return err
		}
	}
}

// aggregationKey precedes the rule in the stored bytes of each role that has one. Quotes within
// texts are escaped, so that it occurs nowhere else but in another object's fields.
var aggregationKey = []byte(`"aggregationRule":{`)

// aggregateAll writes the rules that the roles of a state should have. A role that changes at the
// same time is left to the next state, which contains the change.
func (e *Evaluator) aggregateAll(ctx context.Context, k *schema.Kind, root *state.Root) error {
	var aggregating []*state.Object
	root.Ascend(stored.Prefix(k, ""), "", func(o *state.Object) bool {
		if bytes.Contains(o.Value, aggregationKey) {
			aggregating = append(aggregating, o)
		}
		return true
	})
	for _, o := range aggregating {
		if err := e.aggregateRole(ctx, k, root, o); err != nil && !moved(err) {
			return fmt.Errorf("aggregate the rules of the cluster role %s: %w", nameOf(o.Key).name, err)
		}
	}
	return nil
}

// aggregateRole writes the rules of one role, if they differ from those that it has.
func (e *Evaluator) aggregateRole(ctx context.Context, k *schema.Kind, root *state.Root, previous *state.Object) error {
	old, err := stored.Decode(k, previous)
	if err != nil || !aggregates(old) {
		return err
	}
	rules, err := e.gather(k, root, old)
	if err != nil {
		return err
	}
	if sameRules(rules, old.Field("rules")) {
		return nil
	}
	o := old.Copy()
	o.Root().Make("rules").SetItems(nil)
	for _, rule := range rules {
		o.Root().Make("rules").AppendValue(rule.Copy())
	}
	if size := len(o.AppendJSON(nil)); size > status.MaxObjectBytes {
		e.log.Error("the rules that a cluster role aggregates are too large together, and it keeps those it has",
			"role", old.Name(), "bytes", size)
		e.metrics.errors.Inc()
		return nil
	}
	return e.replace(ctx, k, previous, old, o)
}

// gather returns the rules of the roles that a role selects, each once: selector by selector, and
// by the names of the roles.
func (e *Evaluator) gather(k *schema.Kind, root *state.Root, role *schema.Object) ([]*schema.Value, error) {
	var rules []*schema.Value
	seen := map[string]bool{}
	for _, labels := range role.Field("aggregationRule").Field("clusterRoleSelectors").Items() {
		chosen, err := selector.Parse(schema.SelectorText(labels), "", &selector.Fields{})
		if err != nil {
			return nil, err
		}
		root.Ascend(stored.Prefix(k, ""), "", func(o *state.Object) bool {
			if nameOf(o.Key).name == role.Name() || !chosen.Matches(o) {
				return true
			}
			var from *schema.Object
			if from, err = stored.Decode(k, o); err != nil {
				return false
			}
			for _, rule := range from.Field("rules").Items() {
				if text := string(rule.AppendJSON(nil)); !seen[text] {
					seen[text], rules = true, append(rules, rule)
				}
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// sameRules reports whether a list has exactly these rules, in any order. Roles that aggregate each
// other could otherwise reorder their rules for ever.
func sameRules(rules []*schema.Value, list *schema.Value) bool {
	if len(rules) != list.Len() {
		return false
	}
	texts := func(values []*schema.Value) []string {
		var all []string
		for _, v := range values {
			all = append(all, string(v.AppendJSON(nil)))
		}
		slices.Sort(all)
		return all
	}
	var present []*schema.Value
	for _, v := range list.Items() {
		present = append(present, v)
	}
	return slices.Equal(texts(rules), texts(present))
}
