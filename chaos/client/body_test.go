package client

import (
	"io"
	"testing"
)

func TestBodyKnowsWhetherItWasTaken(t *testing.T) {
	taken := newBody([]byte("content"))
	if got, err := io.ReadAll(taken); err != nil || string(got) != "content" {
		t.Fatalf("read %q: %v", got, err)
	}
	if taken.untouched() {
		t.Error("a body that was read is called untouched")
	}
	left := newBody([]byte("content"))
	if !left.untouched() {
		t.Error("a body that nobody read is called taken")
	}
	if n, err := left.Read(make([]byte, 9)); n != 0 || err == nil {
		t.Errorf("%d bytes were taken after it was called untouched: %v", n, err)
	}
	if !left.untouched() {
		t.Error("an attempt to read changed what was said of the body")
	}
}
