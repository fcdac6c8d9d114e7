package garbage

import (
	"reflect"
	"testing"

	"quorate/apiserver/objects/deletion"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	forget := func(drop ...int) Decision { return Decision{Action: Forget, Drop: drop} }
	remove := func(p deletion.Policy) Decision { return Decision{Action: Delete, Policy: p} }
	release := func(f string) Decision { return Decision{Action: Release, Finalizer: f} }
	owners := func(s ...OwnerState) []OwnerState { return s }
	for _, tc := range []struct {
		name string
		have Object
		want Decision
	}{
		{"no owners", Object{}, Decision{}},
		{"an owner lives", Object{Owners: owners(Alive)}, Decision{}},
		{"G43 the owner is gone", Object{Owners: owners(Absent)}, remove(deletion.Background)},
		{"G43 all owners are gone", Object{Owners: owners(Absent, Absent)}, remove(deletion.Background)},
		{"G43 some owners are gone", Object{Owners: owners(Absent, Alive, Absent)}, forget(0, 2)},
		{"G46 G48 an owner that can't be judged keeps it", Object{Owners: owners(Unknown)}, Decision{}},
		{"G46 G48 it keeps it beside one that is gone", Object{Owners: owners(Absent, Unknown)}, forget(0)},
		{"G24 its own finalizer orphans", Object{Owners: owners(Absent), Orphans: true, Dependents: true}, remove(deletion.Orphan)},
		{"G24 its own finalizer deletes first", Object{Owners: owners(Absent), Foreground: true}, remove(deletion.Foreground)},
		{"G22 the owner waits, and so does who depends on this", Object{Owners: owners(Waiting), Dependents: true}, remove(deletion.Foreground)},
		{"G22 the owner waits, nobody depends on this", Object{Owners: owners(Waiting)}, remove(deletion.Background)},
		{"G22 one owner waits, one lives", Object{Owners: owners(Waiting, Alive), Dependents: true}, forget(0)},
		{"G22 one owner waits, one is gone", Object{Owners: owners(Absent, Waiting), Dependents: true}, remove(deletion.Foreground)},
		{"G24 its own finalizer orphans, though the owner waits", Object{Owners: owners(Waiting), Dependents: true, Orphans: true}, remove(deletion.Orphan)},
		{"G22 a cycle is broken where it closes", Object{Owners: owners(Waiting), Dependents: true, Blocked: true, Blocks: true, Cycle: true},
			Decision{Action: Delete, Policy: deletion.Foreground, Unblock: true}},
		{"G21 the owner is forgotten", Object{Owners: owners(Orphaning)}, forget(0)},
		{"G21 all that are dead are forgotten with it", Object{Owners: owners(Absent, Orphaning, Waiting)}, forget(0, 1, 2)},
		{"G21 an object that is going forgets too", Object{Owners: owners(Absent, Orphaning), Going: true}, forget(1)},
		{"G21 forgetting comes before what is asked of it", Object{Owners: owners(Orphaning), Going: true, Orphans: true}, forget(0)},
		{"going, nothing asked", Object{Owners: owners(Absent), Going: true}, Decision{}},
		{"G21 all have forgotten it", Object{Going: true, Orphans: true}, release(deletion.OrphanFinalizer)},
		{"G21 some have not", Object{Going: true, Orphans: true, Dependents: true}, Decision{}},
		{"G22 no dependent blocks", Object{Going: true, Foreground: true, Dependents: true}, release(deletion.ForegroundFinalizer)},
		{"G22 a dependent blocks", Object{Going: true, Foreground: true, Dependents: true, Blocked: true}, Decision{}},
		{"G22 a cycle of those that are going", Object{Owners: owners(Waiting), Going: true, Foreground: true, Dependents: true, Blocked: true, Blocks: true, Cycle: true},
			Decision{Action: Unblock}},
		{"G22 a cycle that another breaks", Object{Owners: owners(Waiting), Going: true, Foreground: true, Dependents: true, Blocked: true, Cycle: true}, Decision{}},
		{"not asked for while it stays", Object{Orphans: true, Foreground: true, Dependents: true}, Decision{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := Decide(tc.have); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}
