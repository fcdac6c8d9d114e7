package rbac

import (
	"context"
	"fmt"
	"slices"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/schema"
)

const (
	// group is the API group of roles and bindings as they are stored.
	group = "rbac.authorization.platform.io"

	// The verbs that allow a user to grant permissions that the user does not have (J28, J29).
	verbEscalate = "escalate"
	verbBind     = "bind"
)

// Escalation returns why a user may not store o in place of old, which is nil for a create. It
// returns "" if the user may store it: o is neither a role nor a binding, or grants what old
// grants, or grants only permissions that the user has, or the user holds the verb escalate or bind
// for the role or is in system:masters (J28–J31). The objects may be in the form of a view. The
// decision is based on a state that includes all writes acknowledged before the call.
func (e *Evaluator) Escalation(ctx context.Context, u *auth.User, o, old *schema.Object) (why string, err error) {
	if e.kinds[o.Kind.Resource] == nil || u.In(auth.MastersGroup) {
		return "", nil
	}
	in := o.Kind.Group
	if in == "" { // the legacy form of a binding has no group
		in = group
	}
	o = o.Kind.ToStorage(o)
	if old != nil {
		old = old.Kind.ToStorage(old)
	}
	same := old != nil && grantsTheSame(o, old)
	if same && sameLabels(o, old) {
		return "", nil
	}
	if err := e.Confirm(ctx); err != nil {
		return "", err
	}
	x := e.current.Load()
	if same && x.aggregating == 0 {
		return "", nil
	}
	why, tooMany := x.escalation(u, o, aggregates(o) || old != nil && aggregates(old), in)
	if why != "" {
		e.metrics.escalations.Inc()
	}
	if tooMany {
		e.metrics.uncompared.Inc()
	}
	return why, nil
}

// aggregates reports whether the rules of an object are those of other roles. It could gather any
// rules, so that only those who hold all permissions may set what it gathers.
func aggregates(o *schema.Object) bool { return o.Field("aggregationRule").IsSet() }

// sameLabels reports whether no label of a cluster role changes. While some role aggregates others,
// labels of cluster roles grant permissions.
func sameLabels(o, old *schema.Object) bool {
	return o.Kind.Kind != kindClusterRole || schema.Equal(o.Labels(), old.Labels())
}

// grantsTheSame reports whether o grants the same permissions as old. Changes of other fields do
// not require permission to grant (J31), but see sameLabels.
func grantsTheSame(o, old *schema.Object) bool {
	for _, field := range [...]string{"rules", "aggregationRule", "subjects", "roleRef"} {
		if !schema.Equal(o.Field(field), old.Field(field)) {
			return false
		}
	}
	return true
}

// escalation decides on the basis of the index. o is in stored form. in is the group by which the
// user writes it: the verbs escalate and bind on roles of that group count, as any other verb does.
// all means that the write needs all permissions. tooMany says that missing reached its limits.
func (x *index) escalation(u *auth.User, o *schema.Object, all bool, in string) (why string, tooMany bool) {
	verb, role, rules := verbEscalate, roleName{o.Namespace(), o.Name()}, []rule(nil)
	switch o.Kind.Kind {
	case kindRole, kindClusterRole:
		rules = readRules(o)
		if all {
			rules = append(rules, everyRule()...)
		}
	default:
		verb, role = verbBind, referenced(o)
		rules = x.roles.get(role)
	}
	// To bind a cluster role in a namespace, the verb in that namespace suffices.
	exempt := &auth.Attributes{Verb: verb, Group: in, Resource: role.plural(), Namespace: o.Namespace(), Name: role.name}
	if _, b := x.granting(u, exempt); b != nil {
		return "", false
	}
	if rules == nil { // the role does not exist, so the rules that it will have are unknown (J25)
		return fmt.Sprintf("user %q (groups=%q) is attempting to bind %s %q, which is not there: this needs the verb %q on it",
			u.Name, u.Groups, role.plural(), role.name, verbBind), false
	}
	if o.Namespace() != "" { // only cluster-wide bindings grant paths (J19)
		rules = slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return len(r.paths) > 0 })
	}
	var held []rule
	for r := range x.rulesOf(u, o.Namespace()) {
		held = append(held, *r)
	}
	atoms, tooMany := missing(held, rules)
	switch {
	case tooMany:
		return fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions of too many combinations to compare with those held",
			u.Name, u.Groups), true
	case len(atoms) > 0:
		return fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
			u.Name, u.Groups, describe(atoms)), false
	}
	return "", false
}

// everyRule returns rules that allow everything.
func everyRule() []rule {
	all := []string{everything}
	return []rule{{verbs: all, groups: all, resources: all}, {verbs: all, paths: all}}
}

func (r *roleName) plural() string {
	if r.namespace != "" {
		return "roles"
	}
	return "clusterroles"
}
