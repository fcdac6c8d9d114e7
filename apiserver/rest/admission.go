package rest

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"quorate/apiserver/access/admission"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/rest/route"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// maxWarningBytes bounds the warnings of webhooks in one response.
const maxWarningBytes = 4 << 10

// admitted calls the webhooks whose rules match a write. A nil *admitted calls none: its methods
// accept everything. It implements admission.Request.
type admitted struct {
	calls    *admission.Calls
	resource *resource
	c        *route.Call
	write    admission.Write // without the objects
	// parallel means that the request is about several objects at the same time, so that it keeps
	// its seat while it waits for webhooks.
	parallel bool

	mu     sync.Mutex // of the response and the audit event
	warned int        // bytes
}

// admit returns the webhooks for a create or an update, or nil.
func (r *resource) admit(ctx context.Context, c *route.Call, w *write, op admission.Operation) (*admitted, error) {
	calls, err := r.webhooks(ctx, c, op)
	if calls == nil || err != nil {
		return nil, err
	}
	kind := "UpdateOptions"
	if op == admission.Create {
		kind = "CreateOptions"
	}
	options := writeOptions{optionsHead: headOf(kind, w.dryRun), FieldManager: w.manager}
	if w.validation != validateWarn {
		options.FieldValidation = w.validation
	}
	return r.admitted(c, calls, w.dryRun, options)
}

// admitDelete returns the webhooks for a delete, or nil.
func (r *resource) admitDelete(ctx context.Context, c *route.Call, o *deleteOptions) (*admitted, error) {
	calls, err := r.webhooks(ctx, c, admission.Delete)
	if calls == nil || err != nil {
		return nil, err
	}
	options := deleteRequest{
		optionsHead: headOf(deleteOptionsKind, o.dryRun), GracePeriodSeconds: o.Grace, OrphanDependents: o.orphan, PropagationPolicy: o.policy,
	}
	if o.uid != nil || o.version != nil {
		options.Preconditions = &preconditions{o.uid, o.version}
	}
	a, err := r.admitted(c, calls, o.dryRun, options)
	if err == nil {
		a.parallel = c.Endpoint.Verb == route.VerbDeleteCollection
	}
	return a, err
}

// webhooks returns the webhooks whose rules match a request, or nil. Most writes have none, and pay
// for no more than this.
func (r *resource) webhooks(ctx context.Context, c *route.Call, op admission.Operation) (*admission.Calls, error) {
	if r.admission == nil {
		return nil, nil
	}
	return r.admission.Select(ctx, admission.Target{Kind: r.kind, Subresource: c.Endpoint.Subresource, Operation: op})
}

// admitted returns the webhooks as they are called about a request with these options.
func (r *resource) admitted(c *route.Call, calls *admission.Calls, dryRun bool, options any) (*admitted, error) {
	text, err := json.Marshal(options)
	if err != nil {
		return nil, err
	}
	a := &admitted{calls: calls, resource: r, c: c}
	a.write = admission.Write{Namespace: c.Namespace, Name: c.Name, User: c.User, DryRun: dryRun, Options: text, Request: a}
	return a, nil
}

// in sets the state that contains the namespace of the object. It begins an attempt.
func (a *admitted) in(root *state.Root) {
	if a != nil {
		a.write.Root, a.warned = root, 0
	}
}

// mutate returns an object as the mutating webhooks leave it. They see it with its defaults.
func (a *admitted) mutate(ctx context.Context, o, old *schema.Object) (*schema.Object, error) {
	if a == nil {
		return o, nil
	}
	if o != nil {
		o.Kind.Default(o)
	}
	w := a.write
	w.Object, w.Old = o, old
	return a.calls.Mutate(ctx, w)
}

// validate calls the validating webhooks about an object that is complete.
func (a *admitted) validate(ctx context.Context, o, old *schema.Object) error {
	if a == nil {
		return nil
	}
	w := a.write
	w.Object, w.Old = o, old
	return a.calls.Validate(ctx, w)
}

// delete calls all webhooks about the delete of a stored object.
func (a *admitted) delete(ctx context.Context, k *schema.Kind, previous *state.Object) error {
	if a == nil {
		return nil
	}
	old, err := stored.Decode(k, previous)
	if err != nil {
		return err
	}
	if _, err := a.mutate(ctx, nil, old); err != nil {
		return err
	}
	return a.validate(ctx, nil, old)
}

// Warn implements admission.Request.
func (a *admitted) Warn(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.warned += len(text); a.warned <= maxWarningBytes {
		Warn(a.c, text)
	}
}

// Annotate implements admission.Request.
func (a *admitted) Annotate(key, value string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.c.Annotate(key, value)
}

// AuditsBodies implements admission.Request.
func (a *admitted) AuditsBodies() bool { return a.c.Recording != nil }

// Reserve implements admission.Request.
func (a *admitted) Reserve(bytes int64) error {
	return a.c.Expand(a.resource.storedObject(a.c).replaced(bytes))
}

// Wait implements admission.Request. Others get the seat of a request that waits long.
func (a *admitted) Wait(call func()) error {
	if a.parallel {
		call()
		return nil
	}
	a.c.Seat.BeginWait()
	call()
	return a.c.Seat.EndWait(a.c.R.Context(), 0)
}

// admitCreate returns a new object as the mutating webhooks leave it, before it has a generated
// name, and keeps the validating webhooks for insertNamed.
func (r *resource) admitCreate(ctx context.Context, c *route.Call, w *write, o *schema.Object) (*schema.Object, error) {
	var err error
	if w.creation, err = r.admit(ctx, c, w, admission.Create); w.creation == nil || err != nil {
		return o, err
	}
	root, err := r.store.View(ctx, raftstore.Cached())
	if err != nil {
		return nil, err
	}
	w.creation.in(root)
	return w.creation.mutate(ctx, o, nil)
}

// mutateScale returns a scale as the mutating webhooks leave it.
func (u *update) mutateScale(ctx context.Context, scale *schema.Object, previous *state.Object) (*schema.Object, error) {
	if u.admitted == nil {
		return scale, nil
	}
	old, err := stored.Decode(u.answers.kind, previous)
	if err != nil {
		return nil, err
	}
	return u.admitted.mutate(ctx, scale.Copy(), old)
}

// mutateApplied returns an object to which a scale was applied, with the scale that the mutating
// webhooks leave.
func (u *update) mutateApplied(ctx context.Context, o *schema.Object, previous *state.Object) (*schema.Object, error) {
	if u.admitted == nil {
		return o, nil
	}
	form, err := o.StorageForm(ctx)
	if err != nil {
		return nil, err
	}
	next, _ := stored.Encode(form)
	scale, err := stored.Decode(u.answers.kind, next)
	if err != nil {
		return nil, err
	}
	scale.SetResourceVersion(o.ResourceVersion())
	if scale, err = u.mutateScale(ctx, scale, previous); err != nil {
		return nil, err
	}
	u.kind.Rescale(o, scale)
	return o, nil
}

// validateAdmitted calls the validating webhooks about an update: with the object, or with its
// scale.
func (u *update) validateAdmitted(ctx context.Context, o, old *schema.Object, next, previous *state.Object) error {
	if u.admitted == nil {
		return nil
	}
	if u.answers != u.resource {
		var err error
		if o, err = stored.Decode(u.answers.kind, next); err != nil {
			return err
		}
		if old, err = stored.Decode(u.answers.kind, previous); err != nil {
			return err
		}
	}
	o.SetResourceVersion(strconv.FormatUint(previous.Version, 10))
	return u.admitted.validate(ctx, o, old)
}

// optionsHead begins the options of a request as webhooks get them.
type optionsHead struct {
	Kind       string   `json:"kind"`
	APIVersion string   `json:"apiVersion"`
	DryRun     []string `json:"dryRun,omitempty"`
}

func headOf(kind string, dryRun bool) optionsHead {
	head := optionsHead{Kind: kind, APIVersion: "meta.k8s.io/v1"}
	if dryRun {
		head.DryRun = []string{"All"}
	}
	return head
}

// writeOptions are CreateOptions or UpdateOptions. A patch has UpdateOptions, too.
type writeOptions struct {
	optionsHead
	FieldManager    string `json:"fieldManager,omitempty"`
	FieldValidation string `json:"fieldValidation,omitempty"`
}

// deleteRequest are DeleteOptions.
type deleteRequest struct {
	optionsHead
	GracePeriodSeconds *int64         `json:"gracePeriodSeconds,omitempty"`
	Preconditions      *preconditions `json:"preconditions,omitempty"`
	OrphanDependents   *bool          `json:"orphanDependents,omitempty"`
	PropagationPolicy  string         `json:"propagationPolicy,omitempty"`
}

type preconditions struct {
	UID             *string `json:"uid,omitempty"`
	ResourceVersion *string `json:"resourceVersion,omitempty"`
}
