package rbac

import (
	"iter"
	"slices"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/schema"
	"quorate/raftstore/state"
)

const (
	kindRole               = "Role"
	kindClusterRole        = "ClusterRole"
	kindRoleBinding        = "RoleBinding"
	kindClusterRoleBinding = "ClusterRoleBinding"

	kindGroup          = "Group"
	kindServiceAccount = "ServiceAccount"
)

// roleName identifies a role. Cluster roles have no namespace.
type roleName struct{ namespace, name string }

// subject is a user or group in the bindings of a namespace, in cluster-wide bindings if namespace
// is "", or in those of all namespaces if it is anyNamespace. Service accounts are users (J10).
type subject struct {
	namespace string
	group     bool
	name      string
}

// anyNamespace is the namespace of a subject under which its bindings of all namespaces are. No
// namespace has this name.
const anyNamespace = "*"

// elsewhere returns the subject under which a binding is found without its namespace; ok is false
// for bindings of the cluster, which apply everywhere.
func (s subject) elsewhere() (of subject, ok bool) {
	if s.namespace == "" {
		return subject{}, false
	}
	s.namespace = anyNamespace
	return s, true
}

// binding grants the rules of a role to subjects.
type binding struct {
	namespace, name string // those of the object
	role            roleName
	subjects        []subject
}

// index holds the compiled roles and bindings of a state. It is immutable.
type index struct {
	position uint64 // log index of the state
	bindings *immutableMap[subject, []*binding]
	roles    *immutableMap[roleName, []rule]
	// numbers of entries
	roleCount, bindingCount int
	aggregating             int // roles that aggregate others
}

// bindingsOf yields the bindings that apply to a user in a namespace: cluster-wide bindings first,
// then those of the namespace.
func (x *index) bindingsOf(u *auth.User, namespace string) iter.Seq2[subject, *binding] {
	return func(yield func(s subject, b *binding) bool) {
		scopes := [...]string{"", namespace}
		for _, scope := range scopes[:min(len(namespace), 1)+1] {
			for _, b := range x.bindings.get(subject{scope, false, u.Name}) {
				if !yield(subject{scope, false, u.Name}, b) {
					return
				}
			}
			for _, group := range u.Groups {
				for _, b := range x.bindings.get(subject{scope, true, group}) {
					if !yield(subject{scope, true, group}, b) {
						return
					}
				}
			}
		}
	}
}

// granting returns the first binding that allows the request, and the subject in it that matches
// the user. It returns nil if no binding does (J21–J23).
func (x *index) granting(u *auth.User, a *auth.Attributes) (subject, *binding) {
	namespace := a.Namespace
	if a.Path != "" {
		namespace = "" // paths have no namespace (J19)
	}
	for s, b := range x.bindingsOf(u, namespace) {
		rules := x.roles.get(b.role)
		for i := range rules {
			if rules[i].allows(a) {
				return s, b
			}
		}
	}
	return subject{}, nil
}

// allowsSomewhere reports whether a binding of the cluster or of any namespace allows the request.
func (x *index) allowsSomewhere(u *auth.User, a *auth.Attributes) bool {
	grants := func(s subject) bool {
		for _, b := range x.bindings.get(s) {
			rules := x.roles.get(b.role)
			for i := range rules {
				if rules[i].allows(a) {
					return true
				}
			}
		}
		return false
	}
	for _, scope := range [...]string{"", anyNamespace} {
		if grants(subject{scope, false, u.Name}) {
			return true
		}
		for _, group := range u.Groups {
			if grants(subject{scope, true, group}) {
				return true
			}
		}
	}
	return false
}

// rulesOf yields the rules that a user has in a namespace.
func (x *index) rulesOf(u *auth.User, namespace string) iter.Seq[*rule] {
	return func(yield func(r *rule) bool) {
		for _, b := range x.bindingsOf(u, namespace) {
			rules := x.roles.get(b.role)
			for i := range rules {
				r := &rules[i]
				if b.namespace != "" && len(r.paths) > 0 {
					continue // only cluster-wide bindings grant paths (J19)
				}
				if !yield(r) {
					return
				}
			}
		}
	}
}

// drafts is an index under construction. Only one goroutine uses it.
type drafts struct {
	bindings *draft[subject, []*binding]
	roles    *draft[roleName, []rule]
	known    map[state.Key]*binding // all bindings in it
	count    int                    // of roles

	aggregating map[roleName]bool // roles that aggregate others
}

func newDrafts() *drafts {
	return &drafts{
		bindings: newDraft[subject, []*binding](), roles: newDraft[roleName, []rule](), known: map[state.Key]*binding{},
		aggregating: map[roleName]bool{},
	}
}

// publish returns the index of the objects put so far. position is the log index of their state.
func (d *drafts) publish(position uint64) *index {
	return &index{
		position: position, bindings: d.bindings.publish(), roles: d.roles.publish(),
		roleCount: d.count, bindingCount: len(d.known), aggregating: len(d.aggregating),
	}
}

// put adds an object that was created or changed.
func (d *drafts) put(key state.Key, o *schema.Object) {
	d.drop(o.Kind, key)
	if o.Initializers().IsSet() {
		return // an object that is not initialized grants no permissions (A30)
	}
	switch o.Kind.Kind {
	case kindRole, kindClusterRole:
		d.roles.set(nameOf(key), readRules(o))
		d.count++
		if aggregates(o) {
			d.aggregating[nameOf(key)] = true
		}
	default:
		b := readBinding(o)
		d.known[key] = b
		for _, s := range b.subjects {
			// Appending in place is safe, because published indexes do not read beyond their own
			// lengths.
			d.bindings.set(s, append(d.bindings.get(s), b))
			if s, ok := s.elsewhere(); ok {
				d.bindings.set(s, append(d.bindings.get(s), b))
			}
		}
	}
}

// drop removes an object of a kind if the index contains it.
func (d *drafts) drop(k *schema.Kind, key state.Key) {
	switch k.Kind {
	case kindRole, kindClusterRole:
		if d.roles.get(nameOf(key)) != nil {
			d.roles.delete(nameOf(key))
			delete(d.aggregating, nameOf(key))
			d.count--
		}
	default:
		b := d.known[key]
		if b == nil {
			return
		}
		delete(d.known, key)
		for _, s := range b.subjects {
			d.unbind(s, b)
			if s, ok := s.elsewhere(); ok {
				d.unbind(s, b)
			}
		}
	}
}

// unbind removes a binding from a subject. It copies the list of bindings, because published
// indexes share it.
func (d *drafts) unbind(s subject, b *binding) {
	former := d.bindings.get(s)
	if len(former) == 1 {
		d.bindings.delete(s)
		return
	}
	i := slices.Index(former, b)
	d.bindings.set(s, slices.Concat(former[:i], former[i+1:]))
}

func nameOf(key state.Key) roleName {
	_, namespace, name := key.Split()
	return roleName{namespace, name}
}

// readBinding compiles a binding. A role reference without a namespace means a cluster role.
func readBinding(o *schema.Object) *binding {
	b := &binding{namespace: o.Namespace(), name: o.Name(), role: referenced(o)}
	list := o.Field("subjects")
	b.subjects = make([]subject, 0, list.Len())
	seen := make(map[subject]bool, list.Len())
	for _, v := range list.Items() {
		s := subject{namespace: b.namespace, name: v.Field("name").Str()}
		switch v.Field("kind").Str() {
		case kindGroup:
			s.group = true
		case kindServiceAccount:
			namespace := v.Field("namespace").Str()
			if namespace == "" {
				namespace = b.namespace
			}
			s.name = auth.ServiceAccountName(namespace, s.name)
		}
		if !seen[s] {
			seen[s] = true
			b.subjects = append(b.subjects, s)
		}
	}
	return b
}

// referenced returns the name of the role that a binding refers to.
func referenced(binding *schema.Object) roleName {
	ref := binding.Field("roleRef")
	role := roleName{name: ref.Field("name").Str()}
	if ref.Field("kind").Str() == kindRole {
		role.namespace = binding.Namespace()
	}
	return role
}
