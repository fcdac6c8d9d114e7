package mixture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"quorate/chaos/client"
)

const (
	// answerTimeout is the time limit of a request.
	answerTimeout = 15 * time.Second
	// prepareTimeout bounds the creation of namespaces and users.
	prepareTimeout = time.Minute
	// retryPause is the time between two attempts.
	retryPause = 100 * time.Millisecond
)

// prepare creates the namespaces and users, and lists the existing objects.
func (m *Mixture) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	for _, namespace := range m.namespaces {
		err := m.insist(ctx, func(ctx context.Context, n *node) error {
			outcome, err := n.own.EnsureNamespace(ctx, namespace)
			return unless(outcome, err)
		})
		if err != nil {
			return fmt.Errorf("create namespace %s: %w", namespace, err)
		}
	}
	for i, user := range m.users {
		if err := m.allow(ctx, user, m.namespaces[i]); err != nil {
			return err
		}
	}
	for i := range m.kinds {
		if err := m.list(ctx, &m.kinds[i]); err != nil {
			return err
		}
	}
	return nil
}

// unless returns the error of any outcome other than OK.
func unless(outcome client.Outcome, err error) error {
	if outcome == client.OK {
		return nil
	}
	return fmt.Errorf("%s: %w", outcome, err)
}

// insist sends a request to one node after the other until one succeeds or ctx is done.
func (m *Mixture) insist(ctx context.Context, request func(ctx context.Context, n *node) error) error {
	var last error
	for {
		for _, n := range m.connections.all() {
			asked, cancel := context.WithTimeout(ctx, answerTimeout)
			last = request(asked, n)
			cancel()
			if last == nil {
				return nil
			}
		}
		if wait(ctx, retryPause); ctx.Err() != nil {
			return errors.Join(ctx.Err(), last)
		}
	}
}

// allow permits a user to read the kinds of the mixture in one namespace, and waits until all nodes
// apply that.
func (m *Mixture) allow(ctx context.Context, user, namespace string) error {
	const group, prefix = "rbac.authorization.platform.io", "/apis/rbac.authorization.platform.io/v1/namespaces/"
	rules := []any{map[string]any{
		"apiGroups": []string{"", "apps"}, "resources": []string{"configmaps", "pods", "statefulsets"},
		"verbs": []string{"get", "list", "watch"},
	}}
	role := map[string]any{
		"apiVersion": group + "/v1", "kind": "Role", "metadata": map[string]string{"name": "mixture-reader"}, "rules": rules,
	}
	binding := map[string]any{
		"apiVersion": group + "/v1", "kind": "RoleBinding", "metadata": map[string]string{"name": "mixture-reader"},
		"roleRef":  map[string]string{"apiGroup": group, "kind": "Role", "name": "mixture-reader"},
		"subjects": []any{map[string]string{"apiGroup": group, "kind": "User", "name": user}},
	}
	for resource, object := range map[string]any{"roles": role, "rolebindings": binding} {
		body, err := json.Marshal(object)
		if err != nil {
			return err
		}
		err = m.insist(ctx, func(ctx context.Context, n *node) error {
			_, outcome, err := n.own.Do(ctx, client.Request{Method: "POST", Path: prefix + namespace + "/" + resource, Body: body})
			if outcome == client.Conflict { // an earlier attempt made it
				return nil
			}
			return unless(outcome, err)
		})
		if err != nil {
			return fmt.Errorf("create %s of %s: %w", resource, user, err)
		}
	}
	for _, n := range m.connections.all() {
		if err := m.awaitAllowed(ctx, n, user, namespace); err != nil {
			return err
		}
	}
	return nil
}

func (m *Mixture) awaitAllowed(ctx context.Context, n *node, user, namespace string) error {
	path := m.kinds[0].path(m.kinds[0].versions[0], namespace, "") + "?limit=1"
	for {
		_, outcome, err := n.own.Do(ctx, client.Request{Path: path, User: user})
		if outcome == client.OK {
			return nil
		}
		if wait(ctx, retryPause); ctx.Err() != nil {
			return fmt.Errorf("let %s read %s on %s: %w: %w", user, namespace, n.Name, ctx.Err(), err)
		}
	}
}

// list records all objects of a kind, at a version after which all changes are watched.
func (m *Mixture) list(ctx context.Context, k *kind) error {
	log := &changes{kind: k}
	err := m.insist(ctx, func(ctx context.Context, n *node) error {
		list, outcome, err := n.own.Do(ctx, client.Request{Path: k.path(k.versions[0], "", "")})
		if outcome != client.OK {
			return unless(outcome, err)
		}
		log.base, log.present = list.Version, nil
		for i := range list.Items {
			log.present = append(log.present, objectOf(&list.Items[i]))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list %s: %w", k.resource, err)
	}
	for i := range max(minReferences, len(m.connections.all())) {
		log.references = append(log.references, newReference(m, log, i))
	}
	m.logs[k.resource] = log
	return nil
}

// version returns the version of a list of the selected namespace, from which a watch can begin.
func (m *Mixture) version(ctx context.Context, k *kind, namespace, user string) (version uint64, err error) {
	err = m.insist(ctx, func(ctx context.Context, n *node) error {
		request := client.Request{Path: k.path(k.versions[0], namespace, "") + "?limit=1", User: user}
		list, outcome, err := n.own.Do(ctx, request)
		version = list.Version
		return unless(outcome, err)
	})
	return version, err
}
