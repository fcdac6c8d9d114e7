package main

import (
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The proxy passes everything on, counts one direction, and breaks connections once.
func TestProxy(t *testing.T) {
	p, err := newProxy("127.0.0.1", "127.0.0.2")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	target, err := net.Listen("tcp", p.target)
	if err != nil {
		t.Skip("this system has no second loopback address:", err)
	}
	echoing := make(chan struct{})
	go func() {
		defer close(echoing)
		for {
			c, err := target.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(c, c) // ends with the connection
			c.Close()
		}
	}()
	defer func() {
		target.Close()
		<-echoing
	}()
	exchange := func(text string) (string, error) {
		c, err := net.Dial("tcp", p.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, text); err != nil {
			return "", err
		}
		got := make([]byte, len(text))
		n, err := io.ReadFull(c, got)
		return string(got[:n]), err
	}
	if got, err := exchange("hello"); got != "hello" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for deadline := time.Now().Add(time.Minute); p.passed.Load() != 5; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes passed, want 5", p.passed.Load())
		}
	}
	p.breakAt.Store(1 << 20)
	if _, err := exchange(strings.Repeat("x", 2<<20)); err == nil || !p.broken.Load() {
		t.Errorf("the connection did not break: %v", err)
	}
	if got, err := exchange("again"); got != "again" || err != nil {
		t.Errorf("got %q, %v after the break", got, err)
	}
}
