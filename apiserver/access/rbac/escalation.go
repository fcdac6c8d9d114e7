package rbac

import (
	"context"
	"fmt"
	"slices"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/schema"
)

const (
	// group is the API group of roles and bindings.
	group = "rbac.authorization.platform.io"

	// The verbs that allow a user to grant permissions that the user does not have (J28, J29).
	verbEscalate = "escalate"
	verbBind     = "bind"
)

// Escalation returns why a user may not store o in place of old, which is nil for a create: because
// o would grant permissions that the user does not have (J28, J29). It returns "" if the user may
// store it. The objects may be of any kind, and in the form of a view. The decision is based on a
// state that includes all writes committed before the call.
func (e *Evaluator) Escalation(ctx context.Context, u *auth.User, o, old *schema.Object) (why string, err error) {
	if e.kinds[o.Kind.Resource] == nil || u.In(auth.MastersGroup) {
		return "", nil
	}
	o = o.Kind.ToStorage(o)
	if old != nil && grantsTheSame(o, old.Kind.ToStorage(old)) {
		return "", nil
	}
	if err := e.Confirm(ctx); err != nil {
		return "", err
	}
	why = e.current.Load().escalation(u, o)
	if why != "" {
		e.metrics.escalations.Inc()
	}
	return why, nil
}

// grantsTheSame reports whether o grants the same permissions as old. Changes of other fields do
// not require permission to grant (J31).
func grantsTheSame(o, old *schema.Object) bool {
	for _, field := range [...]string{"rules", "subjects", "roleRef"} {
		if !schema.Equal(o.Field(field), old.Field(field)) {
			return false
		}
	}
	return true
}

// escalation decides on the basis of the index.
func (x *index) escalation(u *auth.User, o *schema.Object) string {
	verb, role, rules := verbEscalate, roleName{o.Namespace(), o.Name()}, []rule(nil)
	switch o.Kind.Kind {
	case kindRole, kindClusterRole:
		rules = readRules(o)
	default:
		verb, role = verbBind, referenced(o)
		rules = x.roles.get(role)
	}
	// To bind a cluster role in a namespace, the verb in that namespace suffices.
	exempt := &auth.Attributes{Verb: verb, Group: group, Resource: role.plural(), Namespace: o.Namespace(), Name: role.name}
	if _, b := x.granting(u, exempt); b != nil {
		return ""
	}
	if rules == nil { // the role does not exist, so the rules that it will have are unknown (J25)
		return fmt.Sprintf("user %q (groups=%q) is attempting to bind %s %q, which is not there: this needs the verb %q on it",
			u.Name, u.Groups, role.plural(), role.name, verbBind)
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
			u.Name, u.Groups)
	case len(atoms) > 0:
		return fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
			u.Name, u.Groups, describe(atoms))
	}
	return ""
}

func (r *roleName) plural() string {
	if r.namespace != "" {
		return "roles"
	}
	return "clusterroles"
}
