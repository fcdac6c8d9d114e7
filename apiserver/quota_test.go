package apiserver_test

import (
	"fmt"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

// TestQuotas: clients of every node learn of a quota that the leader enforces.
func TestQuotas(t *testing.T) {
	t.Parallel()
	cluster := testcluster.New(t, 3, func(cfg *raftstore.Config) {
		cfg.RaftMultiplier = 1
		cfg.Quota = raftstore.Quota{StateBytes: 3 << 19, Objects: map[string]int{"configmaps": 3}}
	})
	servers := testserver.StartOnNodes(t, cluster.Nodes, nil)
	const path = "/api/v1/namespaces/default/configmaps"
	for i, s := range servers {
		check(t, s.Do("POST", path, configMap(fmt.Sprint("c", i))), want{code: 200})
	}
	for _, s := range servers {
		check(t, s.Do("POST", path, configMap("more")), want{403, "Forbidden",
			`configmaps "more" is forbidden: exceeded quota: object-quota, requested: count/configmaps=1, used: count/configmaps=3, limited: count/configmaps=3`, nil})
		check(t, s.Do("POST", path, configMap("c0")), want{code: 409})
	}
	check(t, servers[1].Do("DELETE", path+"/c0", ""), want{code: 200})
	check(t, servers[2].Do("POST", path, configMap("more")), want{code: 200})

	secret := func(name string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q},"stringData":{"a":%q}}`, name, strings.Repeat("x", 700<<10))
	}
	const secrets = "/api/v1/namespaces/default/secrets"
	check(t, servers[0].Do("POST", secrets, secret("s0")), want{code: 200})
	for _, s := range servers {
		check(t, s.Do("POST", secrets, secret("s1")), want{507, "InsufficientStorage", "the state is too large", nil})
	}
	check(t, servers[1].Do("DELETE", secrets+"/s0", ""), want{code: 200})
	check(t, servers[2].Do("POST", secrets, secret("s1")), want{code: 200})
}
