package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"quorate/bench/measure"
	"quorate/bench/servers"
)

func sw(pid int) (v, n int) {
	ts, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	for _, t := range ts {
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + t.Name() + "/status")
		for _, l := range strings.Split(string(b), "\n") {
			f := strings.Fields(l)
			if len(f) == 2 && f[0] == "voluntary_ctxt_switches:" {
				k, _ := strconv.Atoi(f[1])
				v += k
			}
			if len(f) == 2 && f[0] == "nonvoluntary_ctxt_switches:" {
				k, _ := strconv.Atoi(f[1])
				n += k
			}
		}
	}
	return
}

func main() {
	bin := flag.String("bin", "bin/quorate", "")
	trace := flag.String("trace", "", "")
	length := flag.Duration("length", 40*time.Second, "")
	flag.Parse()
	dir, _ := os.MkdirTemp("", "zzidle")
	defer os.RemoveAll(dir)
	cl, err := servers.StartQuorate(context.Background(), *bin, dir, 3)
	if err != nil {
		panic(err)
	}
	defer cl.Stop()
	time.Sleep(15 * time.Second)
	var pids []int
	for _, p := range cl.Processes {
		pids = append(pids, p.PID())
	}
	if *trace != "" {
		tok, _ := os.ReadFile(cl.TokenFile)
		var wg sync.WaitGroup
		for i, u := range cl.Endpoints {
			wg.Go(func() {
				exec.Command("curl", "-s", "--cacert", cl.CAFile, "-H", "Authorization: Bearer "+strings.TrimSpace(string(tok)), "-o", fmt.Sprintf("%s-%d", *trace, i+1), u+"/debug/pprof/profile?seconds=300").Run()
			})
		}
		wg.Wait()
		return
	}
	for range 3 {
		type s struct{ cpu time.Duration; v, n int }
		get := func(p int) s {
			c, _ := measure.CPUTime([]int{p})
			v, n := sw(p)
			return s{time.Duration(c), v, n}
		}
		var before []s
		for _, p := range pids {
			before = append(before, get(p))
		}
		time.Sleep(*length)
		var tot float64
		for i, p := range pids {
			a := get(p)
			d := (a.cpu - before[i].cpu).Seconds() / length.Seconds() * 100
			tot += d
			fmt.Printf("n%d %.3f %% switches %.1f/s nonvol %.1f/s; ", i+1, d, float64(a.v-before[i].v)/length.Seconds(), float64(a.n-before[i].n)/length.Seconds())
		}
		fmt.Printf("all %.3f %%\n", tot)
	}
}
