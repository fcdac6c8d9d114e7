package rest

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
)

const deleteOptionsKind = "DeleteOptions"

// The values of propagationPolicy.
const (
	propagateOrphan     = "Orphan"
	propagateBackground = "Background"
	propagateForeground = "Foreground"
)

// deleteOptions are the options of a delete.
type deleteOptions struct {
	deletion.Options
	uid, version *string // preconditions
	dryRun       bool
	validation   string // what becomes of unknown fields of the body

	orphan *bool
	policy string
}

// readDeleteOptions reads the options from the body, and those that it omits from the query
// (G4–G8).
func (r *resource) readDeleteOptions(c *route.Call) (*deleteOptions, error) {
	body, err := readDeleteBody(c)
	if err != nil {
		return nil, err
	}
	opts := &deleteOptions{}
	if opts.validation, err = readValidation(c.Query(), deleteOptionsKind); err != nil {
		return nil, err
	}
	if !body.Empty() {
		if err := r.readBodyOptions(c, opts, body); err != nil {
			return nil, err
		}
	}
	if c.R.URL.RawQuery != "" {
		if err := opts.fill(c.Query()); err != nil {
			return nil, err
		}
	}
	if opts.Grace != nil && *opts.Grace < 0 { // Z18
		return nil, status.NewInvalidOption(deleteOptionsKind, field.Invalid(
			field.NewPath("gracePeriodSeconds"), *opts.Grace, "must be greater than or equal to 0"))
	}
	return opts, r.checkPropagation(opts)
}

func (r *resource) readBodyOptions(c *route.Call, opts *deleteOptions, body negotiate.Body) error {
	v, problems, err := body.DecodeMessage(r.Handlers.deleteOptions)
	if err != nil {
		return err
	}
	if err := r.reportDropped(c, problems, opts.validation); err != nil {
		return err
	}
	if c.Recording != nil {
		c.Recording.KeepRequest(v.AppendJSON(nil))
	}
	if kind := v.Field("kind").Str(); kind != "" && kind != deleteOptionsKind {
		return status.NewBadRequest(fmt.Sprintf("%s cannot be handled as %s", strconv.Quote(kind), deleteOptionsKind))
	}
	switch version := v.Field("apiVersion").Str(); version {
	case "", "v1", "meta.k8s.io/v1", r.kind.APIVersion:
	default:
		return status.NewBadRequest(fmt.Sprintf("no kind %q is registered for version %q", deleteOptionsKind, version))
	}
	if grace := v.Field("gracePeriodSeconds"); grace.IsSet() {
		n := grace.Int()
		opts.Grace = &n
	}
	if orphan := v.Field("orphanDependents"); orphan.IsSet() {
		b := orphan.Bool()
		opts.orphan = &b
	}
	opts.policy = v.Field("propagationPolicy").Str()
	opts.uid = textOf(v.Lookup("preconditions", "uid"))
	opts.version = textOf(v.Lookup("preconditions", "resourceVersion"))
	opts.dryRun, err = readDryRun(textsOf(v.Field("dryRun")), deleteOptionsKind)
	return err
}

// reportDropped treats the fields that DeleteOptions lack as those that a kind lacks (A46-A49).
// Kubernetes drops them in silence, and a misspelt precondition with them.
func (r *resource) reportDropped(c *route.Call, problems schema.Problems, validation string) error {
	dropped := problems.List()
	if len(dropped) == 0 {
		return nil
	}
	c.Endpoint.Series.ObserveDropped(len(dropped), validation)
	switch validation {
	case validateStrict:
		return r.Handlers.deleteOptions.StrictError(problems)
	case validateWarn:
		for _, problem := range dropped {
			Warn(c, problem)
		}
	}
	return nil
}

func textOf(v *schema.Value) *string {
	if !v.IsSet() {
		return nil
	}
	s := v.Str()
	return &s
}

func textsOf(list *schema.Value) []string {
	var texts []string
	for _, item := range list.Items() {
		texts = append(texts, item.Str())
	}
	return texts
}

// fill reads the options that the body omits from the query.
func (o *deleteOptions) fill(q route.Query) error {
	if o.Grace == nil {
		n, ok, err := q.Integer("gracePeriodSeconds")
		if err != nil {
			return err
		}
		if ok {
			o.Grace = &n
		}
	}
	if q.Has("orphanDependents") && o.orphan == nil {
		orphan, err := q.Bool("orphanDependents")
		if err != nil {
			return err
		}
		o.orphan = &orphan
	}
	if o.policy == "" {
		o.policy = q.Get("propagationPolicy")
	}
	if !o.dryRun {
		var err error
		if o.dryRun, err = readDryRun(q.All("dryRun"), deleteOptionsKind); err != nil {
			return err
		}
	}
	return nil
}

// checkPropagation determines the policy for the dependents (G21–G27). Kinds that are not
// garbage-collected ignore it, but it must be valid (G24).
func (r *resource) checkPropagation(o *deleteOptions) error {
	if o.orphan != nil && o.policy != "" {
		return status.NewInvalidOption(deleteOptionsKind,
			field.Invalid(field.NewPath("propagationPolicy"), o.policy, "orphanDependents and deletionPropagation cannot be both set"))
	}
	switch o.policy {
	case "":
	case propagateBackground:
		o.Policy = deletion.Background
	case propagateForeground:
		o.Policy = deletion.Foreground
	case propagateOrphan:
		o.Policy = deletion.Orphan
	default:
		return route.CheckChoice("propagationPolicy", o.policy, deleteOptionsKind)
	}
	switch {
	case o.orphan != nil && *o.orphan:
		o.Policy = deletion.Orphan
	case o.orphan != nil:
		o.Policy = deletion.Background
	}
	if !deletion.Collected(r.kind) {
		o.Policy = deletion.Background
	}
	return nil
}
