package rbac

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/controllers/derived"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// maxRules limits the rules that a rules review lists.
const maxRules = 10_000

// Store reads and writes roles and bindings.
type Store interface {
	View(ctx context.Context, r raftstore.Read) (*state.Root, error)
	Create(ctx context.Context, c raftstore.Create) (*state.Object, error)
	Update(ctx context.Context, u raftstore.Update) (*state.Object, error)
	Watch(p state.Prefix, after uint64) (*history.Cursor, error)
	WhileLeader(ctx context.Context, fn func(ctx context.Context) error) error
}

// Config configures an Evaluator.
type Config struct {
	Store Store
	// Catalog contains the kinds that have files.
	Catalog    *schema.Catalog
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Evaluator authorizes requests with roles and bindings. It implements auth.Reviewer.
type Evaluator struct {
	*derived.Refresher // keeps current up to date
	store              Store
	catalog            *schema.Catalog
	kinds              map[string]*schema.Kind // of roles and bindings in stored form, by resource
	log                *slog.Logger
	metrics            *metrics
	current            atomic.Pointer[index] // nil until the first index is complete
}

// New returns an evaluator. Until Run has built the first index, it only allows system:masters.
func New(cfg Config) (*Evaluator, error) {
	e := &Evaluator{
		store:   cfg.Store,
		catalog: cfg.Catalog,
		kinds:   map[string]*schema.Kind{},
		log:     cfg.Logger.With("component", "rbac"),
	}
	e.Refresher = derived.New(cfg.Store, e.log, e.covers)
	for _, plural := range []string{"roles", "clusterroles", "rolebindings", "clusterrolebindings"} {
		k := cfg.Catalog.Stored(group + "/" + plural)
		if k == nil {
			return nil, fmt.Errorf("rbac: the catalog has no %s", plural)
		}
		e.kinds[k.Resource] = k
	}
	e.metrics = newMetrics(cfg.Registerer, e)
	return e, nil
}

func (e *Evaluator) covers(root *state.Root) bool {
	x := e.current.Load()
	return x != nil && root.Index() <= x.position
}

// StoreOf returns the store that the handlers of a kind use. For roles and bindings, its writes
// return after this node has included them in its index. For other kinds it is store itself.
func (e *Evaluator) StoreOf(k *schema.Kind, store rest.Store) rest.Store {
	if e.kinds[k.Resource] == nil {
		return store
	}
	return e.Refresher.Writes(store)
}

// Ready returns an error until the first index is complete.
func (e *Evaluator) Ready() error {
	if e.current.Load() == nil {
		return errors.New("roles and bindings are not known yet")
	}
	return nil
}

// Allows implements auth.Authorizer.
func (e *Evaluator) Allows(u *auth.User, a *auth.Attributes) bool {
	if u.In(auth.MastersGroup) {
		return true
	}
	x := e.current.Load()
	if x == nil {
		return false
	}
	_, b := x.granting(u, a)
	return b != nil
}

// AllowsSomewhere implements auth.Authorizer.
func (e *Evaluator) AllowsSomewhere(u *auth.User, a *auth.Attributes) bool {
	if u.In(auth.MastersGroup) {
		return true
	}
	x := e.current.Load()
	return x != nil && x.allowsSomewhere(u, a)
}

// Explain implements auth.Reviewer.
func (e *Evaluator) Explain(u *auth.User, a *auth.Attributes) (allowed bool, reason string) {
	if u.In(auth.MastersGroup) {
		return true, fmt.Sprintf("members of %q may do everything", auth.MastersGroup)
	}
	x := e.current.Load()
	if x == nil {
		return false, ""
	}
	s, b := x.granting(u, a)
	if b == nil {
		return false, ""
	}
	return true, "RBAC: allowed by " + b.describe(s)
}

// describe returns the binding, its role and the subject as text, for the reason of a decision.
func (b *binding) describe(s subject) string {
	kind, name := kindClusterRoleBinding, b.name
	if b.namespace != "" {
		kind, name = kindRoleBinding, b.name+"/"+b.namespace
	}
	return fmt.Sprintf("%s %q of %s %q to %s", kind, name, b.role.kind(), b.role.name, s.describe())
}

func (s *subject) describe() string {
	if s.group {
		return fmt.Sprintf("Group %q", s.name)
	}
	if namespace, name, ok := auth.ServiceAccount(s.name); ok {
		return fmt.Sprintf("ServiceAccount %q", name+"/"+namespace)
	}
	return fmt.Sprintf("User %q", s.name)
}

func (r *roleName) kind() string {
	if r.namespace != "" {
		return kindRole
	}
	return kindClusterRole
}

// Rules implements auth.Reviewer.
func (e *Evaluator) Rules(u *auth.User, namespace string) auth.Rules {
	all := []string{everything}
	if u.In(auth.MastersGroup) {
		return auth.Rules{
			Resource:    []auth.ResourceRule{{Verbs: all, Groups: all, Resources: all}},
			NonResource: []auth.NonResourceRule{{Verbs: all, Paths: all}},
		}
	}
	var rules auth.Rules
	x := e.current.Load()
	if x == nil {
		rules.Incomplete = e.Ready().Error()
		return rules
	}
	for r := range x.rulesOf(u, namespace) {
		if len(rules.Resource)+len(rules.NonResource) == maxRules {
			e.metrics.cutRules.Inc()
			rules.Incomplete = fmt.Sprintf("there are more than %d rules", maxRules)
			break
		}
		if len(r.paths) > 0 {
			rules.NonResource = append(rules.NonResource, auth.NonResourceRule{Verbs: r.verbs, Paths: r.paths})
		} else {
			rules.Resource = append(rules.Resource, auth.ResourceRule{
				Verbs: r.verbs, Groups: r.groups, Resources: r.resources, Names: r.names,
			})
		}
	}
	return rules
}
