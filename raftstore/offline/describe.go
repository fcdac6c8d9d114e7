package offline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/fsm"
)

// describe says what an entry does: to which object, never with what content.
func describe(entry *raft.Log) Entry {
	e := Entry{Index: entry.Index, Term: entry.Term, Time: entry.AppendedAt, Bytes: len(entry.Data)}
	switch entry.Type {
	case raft.LogCommand:
		e.What = command(entry.Data)
	case raft.LogConfiguration:
		e.What = configuration(entry.Data)
	default:
		e.What = strings.ToLower(strings.TrimPrefix(entry.Type.String(), "Log"))
	}
	return e
}

func configuration(data []byte) string {
	members, err := decodeMembers(data)
	if err != nil {
		return "unknown: " + err.Error()
	}
	var names []string
	for _, s := range members.Servers {
		names = append(names, fmt.Sprintf("%s (%s)", s.ID, strings.ToLower(s.Suffrage.String())))
	}
	return "members " + strings.Join(names, ", ")
}

func command(data []byte) string {
	var entry logpb.Entry
	if err := errors.Join(fsm.Check(data), proto.Unmarshal(data, &entry)); err != nil { // of another format it may say something else
		return "not known to this build: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	switch op := entry.GetOp().(type) {
	case *logpb.Entry_Create:
		return "create " + keyOf(op.Create.GetKey())
	case *logpb.Entry_Update:
		return fmt.Sprintf("update %s at version %d", keyOf(op.Update.GetKey()), op.Update.GetPreviousVersion())
	case *logpb.Entry_Delete:
		return fmt.Sprintf("delete %s at version %d", keyOf(op.Delete.GetKey()), op.Delete.GetPreviousVersion())
	case *logpb.Entry_Init:
		return "init cluster " + op.Init.GetClusterId()
	case *logpb.Entry_Pin:
		return "pin"
	}
	return "unknown"
}

func keyOf(k *logpb.Key) string {
	if k.GetNamespace() == "" {
		return k.GetResource() + " " + k.GetName()
	}
	return k.GetResource() + " " + k.GetNamespace() + "/" + k.GetName()
}
