package osthread_test

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"quorate/chaos/osthread"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAllIsDoneOnOneThreadWhichIsNobodyElses(t *testing.T) {
	one, two := osthread.New(), osthread.New()
	defer one.Close()
	defer two.Close()
	id := func(thread *osthread.Thread) (id int) {
		if err := thread.Do(func() error { id = unix.Gettid(); return nil }); err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := id(one)
	if first == unix.Getpid() || first == id(two) {
		t.Errorf("thread %d is the main one, or that of both", first)
	}
	for range 100 {
		if again := id(one); again != first {
			t.Fatalf("was thread %d, is %d", first, again)
		}
	}
	wrong := errors.New("wrong")
	if err := one.Do(func() error { return wrong }); err != wrong {
		t.Errorf("got %v", err)
	}
}

func TestCloseEndsTheThreadAndItsChildren(t *testing.T) {
	thread := osthread.New()
	child := exec.Command("sleep", "1000")
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := thread.Do(child.Start); err != nil {
		t.Fatal(err)
	}
	thread.Close()
	if err := child.Wait(); child.ProcessState == nil || child.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the child ended with %v, %v", child.ProcessState, err)
	}
	if err := thread.Do(func() error { return nil }); !errors.Is(err, osthread.ErrClosed) {
		t.Errorf("a closed thread did something: %v", err)
	}
}
