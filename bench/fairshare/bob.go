package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"quorate/bench/solo"
)

const (
	bobRole = "bob"
	// tokenVariable passes bob's token to his process.
	tokenVariable = "FAIRSHARE_TOKEN"
	collection    = "/api/v1/namespaces/default/configmaps"
	watchTime     = 3 * time.Second
)

func objectPath(i int) string { return fmt.Sprintf("%s/object-%d", collection, i) }

// startBob runs bob in a process of his own. The function that it returns ends it.
func startBob(ctx context.Context, o *options, server string) (pid int, stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, nil, err
	}
	args := []string{self, "-role", bobRole, "-server", server, "-conns", fmt.Sprint(o.conns), fmt.Sprint("-reconnect=", o.reconnect)}
	if o.nice > 0 {
		args = append([]string{"nice", "-n", fmt.Sprint(o.nice)}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), tokenVariable+"="+solo.Token("bob"))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	return cmd.Process.Pid, func() error {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			return err
		}
		return cmd.Wait()
	}, nil
}

// bob sends all he can until the context ends, and prints what he got.
func bob(ctx context.Context, o *options) error {
	var mu sync.Mutex
	got := map[string]int{}
	var all sync.WaitGroup
	for i := range o.conns {
		all.Go(func() {
			c := solo.NewClient(o.server, o.token)
			defer c.Close()
			for ctx.Err() == nil {
				what, code, err := attack(ctx, c, i)
				if o.reconnect {
					c.Close()
				}
				if err != nil {
					code = 0
				}
				mu.Lock()
				got[fmt.Sprintf("%s %d", what, code)]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	fmt.Println("bob got (0 is an error):", solo.Listed(got))
	return nil
}

// attack sends one request of the kind of a connection.
func attack(ctx context.Context, c *solo.Client, conn int) (what string, code int, err error) {
	switch conn % 4 {
	case 0:
		code, err = c.Do(ctx, http.MethodGet, collection, "")
		return "list", code, err
	case 1:
		name := fmt.Sprintf("bob-%d", conn)
		code, err = c.Do(ctx, http.MethodPost, collection, configMap(name))
		if err == nil && code < 300 {
			code, err = c.Do(ctx, http.MethodDelete, collection+"/"+name, "")
		}
		return "write", code, err
	case 2:
		ctx, cancel := context.WithTimeout(ctx, watchTime)
		defer cancel()
		code, err = c.Do(ctx, http.MethodGet, collection+"?watch=1&resourceVersion=0&timeoutSeconds=1", "")
		return "watch", code, err
	default:
		code, err = c.Do(ctx, http.MethodGet, objectPath(1), "")
		return "get", code, err
	}
}
