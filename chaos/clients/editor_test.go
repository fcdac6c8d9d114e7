package clients_test

import (
	"fmt"
	"os"
	"strings"
)

// substitute is the editor that tests configure for kubectl edit. It replaces every OLD in the file
// by NEW, and exits with 1 if the file does not contain OLD.
//
//	substitute OLD NEW FILE
func substitute() {
	if err := substituteIn(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "substitute:", err)
		os.Exit(1)
	}
}

func substituteIn(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: substitute OLD NEW FILE")
	}
	text, err := os.ReadFile(args[2])
	if err != nil {
		return err
	}
	if !strings.Contains(string(text), args[0]) {
		return fmt.Errorf("no %q in:\n%s", args[0], text)
	}
	return os.WriteFile(args[2], []byte(strings.ReplaceAll(string(text), args[0], args[1])), 0o600)
}
