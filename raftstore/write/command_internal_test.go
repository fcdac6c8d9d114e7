package write

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/failure"
	"quorate/raftstore/fsm"
	"quorate/raftstore/state"
)

// A leader decodes a forwarded entry to the same command that the sender has encoded.
func TestDecode(t *testing.T) {
	k, guard := state.NewKey("pods", "a", "x"), state.NewKey("namespaces", "", "a")
	o := &state.Object{Value: []byte("{}"), UID: "u"}
	previous := &state.Object{Value: []byte(`{"v":"7"}`), VersionOffset: 6, Version: 7, UID: "u", Labels: "l\x00m\x00"}
	for name, c := range map[string]struct {
		write interface{ command() (*command, error) }
		want  state.Precondition
	}{
		"create":  {Create{Key: k, Object: o}, state.Precondition{Key: k, Creates: true}},
		"guarded": {Create{Key: k, Object: o, Guard: guard}, state.Precondition{Key: k, Creates: true, Guard: guard}},
		"update":  {Update{Key: k, Object: o, Previous: previous}, state.Precondition{Key: k, Version: 7}},
		"delete":  {Delete{Key: k, Previous: previous, UID: "u"}, state.Precondition{Key: k, Version: 7, UID: "u"}},
	} {
		t.Run(name, func(t *testing.T) {
			encoded, err := c.write.command()
			if err != nil {
				t.Fatal(err)
			}
			decoded, err := decode(encoded.data)
			if err != nil {
				t.Fatal(err)
			}
			clear(encoded.data) // refusals must not share memory with the entry's bytes
			if encoded.Precondition != c.want || decoded.Precondition != c.want || decoded.pins {
				t.Errorf("encoded %+v, decoded %+v, want %+v", encoded.Precondition, decoded.Precondition, c.want)
			}
		})
	}
	t.Run("pin", func(t *testing.T) {
		encoded, err := pinCommand()
		if err != nil || !encoded.pins {
			t.Fatal(encoded, err)
		}
		if decoded, err := decode(encoded.data); err != nil || !decoded.pins {
			t.Errorf("got %+v, %v", decoded, err)
		}
	})
}

// decode refuses entries that no node forwards.
func TestDecodeRefuses(t *testing.T) {
	c, err := Create{Key: state.NewKey("pods", "a", "x"), Object: &state.Object{Labels: "app\x00web\x00"}}.command()
	if err != nil {
		t.Fatal(err)
	}
	init, err := proto.Marshal(&logpb.Entry{Format: entryFormat, Op: &logpb.Entry_Init{Init: &logpb.Init{ClusterId: "c"}}})
	if err != nil {
		t.Fatal(err)
	}
	notUTF8 := []byte(strings.Replace(string(c.data), "web", "w\xffb", 1))
	if _, err := fsm.Decode(notUTF8); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "init": init, "text not UTF-8": notUTF8, "cut": c.data[:len(c.data)-1],
	} {
		if c, err := decode(data); err == nil {
			t.Errorf("%s: got %+v", name, c)
		}
	}
	if _, err := decode(make([]byte, MaxEntryBytes+1)); !errors.Is(err, failure.ErrTooLarge) {
		t.Errorf("a large entry: %v", err)
	}
}
