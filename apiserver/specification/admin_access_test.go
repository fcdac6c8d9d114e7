package specification

import (
	"context"
	"io"
	"testing"

	"quorate/apiserver"
	"quorate/apiserver/admin"
	"quorate/apiserver/internal/testserver"
)

// TestOperationsAreNoPaths: a role for all non-resource paths, as monitoring has, gives none of the
// operations that read or change everything; a role for one of them gives that one.
func TestOperationsAreNoPaths(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.Cluster = quietCluster{} })
	operations := [][2]string{
		{"GET", "/cluster/v1/backup"}, {"POST", "/cluster/v1/snapshot"}, {"POST", "/cluster/v1/checksum"},
		{"POST", "/cluster/v1/transfer-leader"}, {"POST", "/cluster/v1/remove?name=x"}, {"POST", "/cluster/v1/leave"},
		{"GET", "/cluster/v1/log/entries"}, {"GET", "/cluster/v1/log/entries/1"},
		{"GET", "/debug/pprof/goroutine"}, {"GET", "/debug/pprof/heap"},
	}
	monitor := newSomebody(t, s)
	monitor.everywhere("paths", `[{"nonResourceURLs":["*"],"verbs":["*"]},{"apiGroups":["*"],"resources":["*"],"verbs":["get","list","watch"]}]`)
	for _, path := range []string{"/metrics", "/cluster/v1/members", "/cluster/v1/log", "/cluster/v1/rates"} {
		s.Eventually("the monitor may read "+path, func() bool { return monitor.may("GET", path) })
	}
	for _, o := range operations {
		if a := monitor.do(o[0], o[1], ""); a.Code != 403 {
			t.Errorf("%v as one who may read all: %d", o, a.Code)
		}
		if a := s.Do(o[0], o[1], ""); a.Code != 200 {
			t.Errorf("%v as an administrator: %d", o, a.Code)
		}
	}
	keeper := newSomebody(t, s)
	keeper.everywhere("backup", `[{"apiGroups":["`+admin.Group+`"],"resources":["`+admin.Operations+`"],"verbs":["backup"]}]`)
	s.Eventually("the keeper may take backups", func() bool { return keeper.may("GET", "/cluster/v1/backup") })
	for _, o := range operations[1:] {
		if keeper.may(o[0], o[1]) {
			t.Errorf("%v as one who may take backups", o)
		}
	}
	expect(t, keeper.do("POST", "/cluster/v1/remove?name=x", ""), 403, "Forbidden",
		`cannot remove resource \"operations\" in API group \"cluster.platform.io\" at the cluster scope`)
}

// quietCluster is a cluster whose operations do nothing.
type quietCluster struct{}

func (quietCluster) Members(context.Context) ([]admin.Member, error) { return nil, nil }
func (quietCluster) Leave(context.Context) error                     { return nil }
func (quietCluster) TransferLeadership(context.Context, string) (string, error) {
	return "", nil
}
func (quietCluster) Remove(context.Context, string, bool) error       { return nil }
func (quietCluster) Snapshot(context.Context) (admin.Snapshot, error) { return admin.Snapshot{}, nil }
func (quietCluster) Checksums(context.Context) (admin.Checksums, error) {
	return admin.Checksums{}, nil
}
func (quietCluster) Backup(context.Context) (func(w io.Writer) error, error) {
	return func(io.Writer) error { return nil }, nil
}
