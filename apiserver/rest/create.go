package rest

import (
	"context"
	"crypto/rand"
	"errors"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

const (
	// defaultNamespace is the namespace of objects whose request and body name none (A5).
	defaultNamespace = deletion.DefaultNamespace
	// nameAttempts is the maximum number of generated names to try (A12).
	nameAttempts = 8
	// maxGeneratedPrefix is the maximum number of bytes of generateName in a generated name (A11).
	maxGeneratedPrefix = 58
	// generatedLetters are the letters of the random suffix, which has generatedCount letters.
	generatedLetters = "bcdfghjklmnpqrstvwxz2456789"
	generatedCount   = 5
)

// create validates and stores a new object, in the order that A61 prescribes, and responds with the
// object (A1).
func (r *resource) create(c *route.Call) error {
	w, err := r.begin(c, "CreateOptions")
	if err != nil {
		return err
	}
	o, err := r.decode(c, w)
	if err != nil {
		return err
	}
	if v := o.ResourceVersion(); v != "" && v != "0" { // a new object cannot have a version (A29)
		return status.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	if c.Namespace, err = r.namespace(c, o); err != nil {
		return err
	}
	if c.Endpoint.LateAuthorization { // in the namespace of the body (A6), and without a name (J15)
		if err := c.Authorize(c.Namespace, ""); err != nil {
			return err
		}
	}
	c.Name = o.Name()
	ctx, err := c.Timeout(writeDeadline)
	if err != nil {
		return err
	}
	defer ctx.Stop()
	if err := r.acceptsCreates(ctx, c); err != nil {
		return err
	}
	return r.insert(ctx, c, w, o)
}

// acceptsCreates returns an error for a create of a kind whose definition is being deleted, or in a
// missing or terminating namespace, before the object is validated (A61). The store checks the
// namespace again when it applies the create (A33).
func (r *resource) acceptsCreates(ctx context.Context, c *route.Call) error {
	if r.kind.Terminating() {
		return status.NewForbidden(c.Subject(), "create not allowed while custom resource definition is terminating")
	}
	if !r.kind.Namespaced {
		return nil
	}
	key := stored.NamespaceKey(c.Namespace)
	refusal := &state.GuardFailed{Guard: key}
	for _, freshness := range []raftstore.Read{raftstore.Cached(), raftstore.Quorum()} {
		root, err := r.store.View(ctx, freshness)
		if err != nil {
			return err
		}
		namespace := root.Get(key)
		if namespace != nil && !namespace.Sealed {
			return nil
		}
		refusal.Sealed = namespace != nil
	}
	return refusal
}

// insert stores the object under its name, or under a name generated from generateName.
func (r *resource) insert(ctx context.Context, c *route.Call, w *write, o *schema.Object) error {
	o, err := r.admitCreate(ctx, c, w, o)
	if err != nil {
		return err
	}
	c.Name = o.Name()
	if o.Name() != "" || o.GenerateName() == "" {
		return r.insertNamed(ctx, c, w, o)
	}
	for range nameAttempts {
		attempt := o.Copy()
		attempt.SetName(generateName(o.GenerateName()))
		c.Name = attempt.Name()
		err := r.insertNamed(ctx, c, w, attempt)
		if _, taken := errors.AsType[*nameTaken](err); !taken {
			return err
		}
	}
	return status.NewNameNotGenerated(c.Subject())
}

// nameTaken is the error of a create whose name exists.
type nameTaken struct{ refusal *status.Error }

func (e *nameTaken) Error() string { return e.refusal.Error() }
func (e *nameTaken) Unwrap() error { return e.refusal }

// generateName truncates the prefix and appends random letters (A11).
func generateName(prefix string) string {
	if len(prefix) > maxGeneratedPrefix {
		prefix = prefix[:maxGeneratedPrefix]
	}
	// With two random bytes per letter, the bias of the modulo is negligible.
	var random [2 * generatedCount]byte
	_, _ = rand.Read(random[:]) // never fails
	name := []byte(prefix)
	for i := range generatedCount {
		n := int(random[2*i])<<8 | int(random[2*i+1])
		name = append(name, generatedLetters[n%len(generatedLetters)])
	}
	return string(name)
}

func (r *resource) insertNamed(ctx context.Context, c *route.Call, w *write, o *schema.Object) error {
	stored.Begin(o, c.Now)
	if errs := r.kind.ValidateCreate(o); len(errs) > 0 {
		return status.NewInvalid(c.Subject(), errs)
	}
	r.kind.Canonicalize(schema.Create, o, nil)
	if err := w.attribute(r.owners.main, c, o, nil); err != nil {
		return err
	}
	form, err := o.Storable(ctx)
	if err != nil {
		return err
	}
	object, _ := stored.Encode(form)
	if err := checkSize(object); err != nil {
		return err
	}
	if err := r.checkGrants(ctx, c, o, nil); err != nil {
		return err
	}
	if err := w.creation.validate(ctx, o, nil); err != nil {
		return err
	}
	key := stored.Key(r.kind, c.Namespace, o.Name())
	if w.dryRun {
		if err := r.checkFree(ctx, c, key); err != nil {
			return err
		}
		w.created = true
		return r.respondDry(c, w, o)
	}
	created, err := r.store.Create(ctx, raftstore.Create{
		Key: key, Object: object, Guard: stored.Guard(r.kind, c.Namespace),
	})
	if _, exists := errors.AsType[*state.Exists](err); exists {
		return r.taken(ctx, c, key)
	}
	if err != nil {
		return err
	}
	w.created = true
	return r.respond(c, w, created)
}

// checkFree returns the error that a create of the key would return.
func (r *resource) checkFree(ctx context.Context, c *route.Call, key state.Key) error {
	root, err := r.store.View(ctx, raftstore.Quorum())
	if err != nil {
		return err
	}
	if root.Get(key) == nil {
		return nil
	}
	return r.taken(ctx, c, key)
}

// taken returns the error for a name that exists. Its message tells whether that object is being
// deleted (A10).
func (r *resource) taken(ctx context.Context, c *route.Call, key state.Key) error {
	terminating := false
	if root, err := r.store.View(ctx, raftstore.Cached()); err == nil {
		if o := root.Get(key); o != nil {
			decoded, err := r.kind.Storage().DecodeStored(o.Value) // in any form it has its metadata
			if err != nil {
				return err
			}
			_, terminating = decoded.DeletionTimestamp()
		}
	}
	return &nameTaken{status.NewAlreadyExists(c.Subject(), terminating)}
}
