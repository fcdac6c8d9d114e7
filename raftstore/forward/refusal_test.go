package forward_test

import (
	"errors"
	"reflect"
	"testing"

	"quorate/proto/peerpb"
	"quorate/raftstore/forward"
	"quorate/raftstore/state"
)

func TestRefusals(t *testing.T) {
	s := &state.Precondition{Key: "pods\x00ns\x00p", Guard: "namespaces\x00\x00ns", Version: 5, UID: "u"}
	for _, refusal := range []error{
		&state.Exists{Key: s.Key},
		&state.NotFound{Key: s.Key},
		&state.Conflict{Key: s.Key, Want: 5, Have: 9},
		&state.UIDMismatch{Key: s.Key, Want: "u", Have: "v"},
		&state.GuardFailed{Guard: s.Guard},
		&state.GuardFailed{Guard: s.Guard, Sealed: true},
	} {
		if got := forward.Decode(forward.Encode(refusal), s); !reflect.DeepEqual(got, refusal) {
			t.Errorf("%T came back as %#v", refusal, got)
		}
	}
	if forward.Encode(errors.New("other")) != nil || forward.Decode(&peerpb.Refusal{}, s) != nil {
		t.Error("an error that is no refusal was encoded")
	}
}
