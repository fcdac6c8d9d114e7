package raftstore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

// The number of entries stays far below the one that makes a snapshot due.
func TestLogOfLargeEntriesIsTrimmedToBound(t *testing.T) {
	t.Parallel()
	const bound = 4 << 20
	registry := prometheus.NewRegistry()
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) { cfg.LogBytes, cfg.Registerer = bound, registry })
	n := c.Leader()
	data := strings.Repeat("x", 20_000)
	for i := range 600 {
		mustCreate(t, n.Store, fmt.Sprintf("o%d", i), data)
	}
	testcluster.Eventually(t, "the log is trimmed to its bound", func() bool {
		return metric(t, registry, "quorate_raftstore_log_bytes", "") <= bound
	})
	if last := metric(t, registry, "quorate_raftstore_log_last_index", ""); last < 600 {
		t.Errorf("the log ends at %v", last)
	}
}
