package check

import (
	"fmt"

	"quorate/chaos/history"
)

func describeEvent(e *history.Event) string {
	return fmt.Sprintf("%s %s version %d uid %s value %q", e.Type, e.Item.Key, e.Item.Version, e.Item.UID, e.Item.Value)
}

func describeItem(i history.Item) string {
	if i == (history.Item{}) {
		return "nothing"
	}
	return fmt.Sprintf("version %d uid %s value %q", i.Version, i.UID, i.Value)
}

func describeOp(op *history.Op) string {
	text := fmt.Sprintf("%s by client %d on %s at %v–%v", op.Kind, op.Client, op.Node, op.Invoked, op.Answered)
	if op.Key != "" {
		text = op.Key + ": " + text
	}
	return text
}
