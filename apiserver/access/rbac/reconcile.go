package rbac

import (
	"context"
	"errors"
	"slices"
	"time"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

const (
	// bootstrapLabel marks the built-in roles and bindings (J33).
	bootstrapLabel, bootstrapValue = "platform.io/bootstrapping", "rbac-defaults"
	// autoupdate is the annotation that, set to "false", prevents reconciling a built-in object
	// (J35).
	autoupdate = group + "/autoupdate"
)

// reconcile creates the built-in roles and bindings, and restores the rules and subjects that were
// removed from them, unless the annotation autoupdate of the object is "false" (J33–J36). It keeps
// what clients have added.
func (e *Evaluator) reconcile(ctx context.Context) error {
	for _, role := range builtinRoles(e.catalog) {
		err := e.ensure(ctx, e.kinds[group+"/clusterroles"], role.name, func(o *schema.Object) {
			held := readRules(o)
			for i := range role.rules {
				if atoms, _ := missing(held, role.rules[i:i+1]); len(atoms) > 0 {
					lost := role.rules[i].about(atoms)
					lost.write(o)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	for _, b := range builtinBindings() {
		err := e.ensure(ctx, e.kinds[group+"/clusterrolebindings"], b.role, func(o *schema.Object) {
			if referenced(o).name == "" {
				ref := o.Root().Make("roleRef")
				ref.Make("apiGroup").SetStr(group)
				ref.Make("kind").SetStr(kindClusterRole)
				ref.Make("name").SetStr(b.role)
			}
			bound := readBinding(o)
			if bound.role.name != b.role || slices.Contains(bound.subjects, subject{group: true, name: b.group}) {
				return // a client has created a binding with this name to another role
			}
			s := o.Root().Make("subjects").Append()
			s.Make("kind").SetStr(kindGroup)
			s.Make("apiGroup").SetStr(group)
			s.Make("name").SetStr(b.group)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ensure creates an object, or completes the existing one. complete adds what is missing to it. If
// another write changes the object at the same time, ensure retries.
func (e *Evaluator) ensure(ctx context.Context, k *schema.Kind, name string, complete func(*schema.Object)) error {
	key := stored.Key(k, "", name)
	for {
		root, err := e.store.View(ctx, raftstore.Quorum())
		if err != nil {
			return err
		}
		if previous := root.Get(key); previous != nil {
			err = e.complete(ctx, k, previous, complete)
		} else {
			err = e.make(ctx, k, name, complete)
		}
		if !moved(err) {
			return err
		}
	}
}

// moved reports whether a write failed because of a concurrent write of the object.
func moved(err error) bool {
	_, exists := errors.AsType[*state.Exists](err)
	_, changed := errors.AsType[*state.Conflict](err)
	_, gone := errors.AsType[*state.NotFound](err)
	_, recreated := errors.AsType[*state.UIDMismatch](err)
	return exists || changed || gone || recreated
}

func (e *Evaluator) make(ctx context.Context, k *schema.Kind, name string, complete func(*schema.Object)) error {
	o := k.New()
	o.SetName(name)
	mark(o)
	complete(o)
	stored.Begin(o, time.Now())
	if errs := k.ValidateCreate(o); len(errs) > 0 {
		return errs.ToAggregate()
	}
	k.Canonicalize(schema.Create, o, nil)
	object, _ := stored.Encode(o)
	_, err := e.store.Create(ctx, raftstore.Create{Key: stored.Key(k, "", name), Object: object})
	return err
}

func (e *Evaluator) complete(ctx context.Context, k *schema.Kind, previous *state.Object, complete func(*schema.Object)) error {
	old, err := stored.Decode(k, previous)
	if err != nil {
		return err
	}
	if old.Annotations().Get(autoupdate).Str() == "false" {
		return nil
	}
	o := old.Copy()
	mark(o)
	complete(o)
	return e.replace(ctx, k, previous, old, o)
}

// replace stores o in place of previous, which decodes to old, unless nothing changes.
func (e *Evaluator) replace(ctx context.Context, k *schema.Kind, previous *state.Object, old, o *schema.Object) error {
	k.PrepareUpdate(schema.Update, o, old)
	if errs := k.ValidateUpdate(schema.Update, o, old); len(errs) > 0 {
		return errs.ToAggregate()
	}
	k.Canonicalize(schema.Update, o, old)
	object, encoded := stored.Encode(o)
	if encoded.SameAs(previous) {
		return nil
	}
	_, err := e.store.Update(ctx, raftstore.Update{Key: previous.Key, Previous: previous, UID: previous.UID, Object: object})
	return err
}

// mark adds the label and the annotation of built-in objects if they are not set.
func mark(o *schema.Object) {
	meta := o.Root().Make("metadata")
	if o.Labels().Get(bootstrapLabel) == nil {
		meta.Make("labels").Put(bootstrapLabel).SetStr(bootstrapValue)
	}
	if o.Annotations().Get(autoupdate) == nil {
		meta.Make("annotations").Put(autoupdate).SetStr("true")
	}
}
