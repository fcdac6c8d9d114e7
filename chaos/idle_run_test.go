package chaos_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"quorate/chaos"
	"quorate/chaos/nemesis"
)

// TestIdlePhase checks that on a cluster without writes every read is answered, during operator
// commands and leadership changes. Longer phases with all acts are part of quorate-chaos.
func TestIdlePhase(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills three servers")
	}
	fleet := newProcesses(t, buildServer(t))
	starting, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	credentials, err := fleet.StartAll(starting)
	if err != nil {
		t.Fatal(err)
	}
	var acts []nemesis.Fault
	for _, group := range nemesis.IdleGroups() {
		for _, act := range group.Acts {
			chosen := slices.Contains([]string{"remove-unknown", "checksum", "transfer-to-other", "kill-leader", "stop-all"}, act.Name)
			if chosen && !slices.ContainsFunc(acts, func(f nemesis.Fault) bool { return f.Name == act.Name }) {
				acts = append(acts, act)
			}
		}
	}
	groups := []nemesis.IdleGroup{{Name: "idle", Acts: acts}}
	mustHold(t, chaos.Config{Fleet: fleet, Credentials: credentials, Phases: chaos.Idle(groups, time.Second, seed)})
}
