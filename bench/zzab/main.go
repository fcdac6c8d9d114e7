// Command zzab is scratch.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"quorate/bench/servers"
)

type m struct {
	Ops    int
	Rate   float64 `json:"ops_per_s"`
	CPU    float64 `json:"server_cpu_us_per_op"`
	Self   float64 `json:"self_cpu_s"`
	Errors map[string]int
	Lat    struct{ P50, P99 float64 } `json:"lat_ms"`
}

func rss(c *servers.Cluster) (t float64) {
	for _, p := range c.Processes {
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(p.PID()) + "/status")
		for _, l := range strings.Split(string(b), "\n") {
			if strings.HasPrefix(l, "VmRSS:") {
				f := strings.Fields(l)
				k, _ := strconv.Atoi(f[1])
				t += float64(k) / 1024
			}
		}
	}
	return
}

func main() {
	gen := flag.String("gen", "/tmp/b/loadgen-new", "")
	bins := flag.String("bins", "", "")
	nodes := flag.Int("nodes", 3, "")
	rounds := flag.Int("rounds", 6, "")
	list := flag.Bool("list", false, "")
	scen := flag.String("scen", "create:32", "")
	n := flag.String("n", "4000", "")
	flag.Parse()
	var cls []*servers.Quorate
	bs := strings.Split(*bins, ",")
	for _, b := range bs {
		dir, _ := os.MkdirTemp("", "zzab")
		defer os.RemoveAll(dir)
		cl, err := servers.StartQuorate(context.Background(), b, dir, *nodes)
		if err != nil {
			panic(err)
		}
		defer cl.Stop()
		cls = append(cls, cl)
	}
	for _, s := range strings.Split(*scen, ",") {
		name, c, _ := strings.Cut(s, ":")
		cpu := make([][]float64, len(bs))
		rate := make([][]float64, len(bs))
		lat := make([][]float64, len(bs))
		lat9 := make([][]float64, len(bs))
		for r := range *rounds + 1 {
			for k := range cls {
				i := (k + r) % len(cls)
				cl := cls[i]
				args := []string{"-label", "x", "-ca", cl.CAFile, "-token-file", cl.TokenFile, "-scenario", name, "-c", c, "-n", *n, "-objects", "1000", "-max-time", "60s", "-keep"}
				for _, u := range cl.Endpoints {
					args = append(args, "-server", u)
				}
				for _, p := range cl.Processes {
					args = append(args, "-pid", p.Name+"="+strconv.Itoa(p.PID()))
				}
				stop := make(chan struct{})
				if *list {
					go func() {
						tok, _ := os.ReadFile(cl.TokenFile)
						for {
							select {
							case <-stop:
								return
							case <-time.After(200 * time.Millisecond):
							}
							exec.Command("curl", "-s", "-o", "/dev/null", "--cacert", cl.CAFile, "-H", "Authorization: Bearer "+strings.TrimSpace(string(tok)), cl.Endpoints[0]+"/api/v1/configmaps?limit=10000").Run()
						}
					}()
				}
				out, err := exec.Command(*gen, args...).Output()
				close(stop)
				if err != nil {
					fmt.Println(err)
					continue
				}
				var x m
				json.Unmarshal(out, &x)
				if r > 0 {
					cpu[i] = append(cpu[i], x.CPU)
					rate[i] = append(rate[i], x.Rate)
					lat[i] = append(lat[i], x.Lat.P50)
					lat9[i] = append(lat9[i], x.Lat.P99)
				}
			}
		}
		for i := range bs {
			rm, _ := stat(rate[i], rate[0])
			_ = rm
			mc, _ := stat(cpu[i], nil)
			mr, _ := stat(rate[i], nil)
			m9, _ := stat(lat9[i], nil)
			ml, _ := stat(lat[i], nil)
			qc, se := stat(cpu[i], cpu[0])
			qr, ser := stat(rate[i], rate[0])
			a, e, y := metrics(&cls[i].Cluster)
			fmt.Printf("entries per append %.2f early %.0f of %.0f  ", e/a, y, a)
			fmt.Printf("%-10s %4s %-24s %8.0f/s %7.1f us p50 %.3f p99 %.2f cpu ratio %.3f±%.3f rate ratio %.3f±%.3f rss %.0f MiB\n", name, c, bs[i], mr, mc, ml, m9, qc, se, qr, ser, rss(&cls[i].Cluster))
		}
	}
}

func metrics(c *servers.Cluster) (appends, entries, early float64) {
	for _, u := range c.Endpoints {
		tok, _ := os.ReadFile(c.TokenFile)
		out, _ := exec.Command("curl", "-s", "--cacert", c.CAFile, "-H", "Authorization: Bearer "+strings.TrimSpace(string(tok)), u+"/metrics").Output()
		for _, l := range strings.Split(string(out), "\n") {
			f := strings.Fields(l)
			if len(f) != 2 { continue }
			v, _ := strconv.ParseFloat(f[1], 64)
			switch f[0] {
			case "quorate_raftstore_log_append_seconds_count": appends += v
			case "quorate_raftstore_log_appended_entries_total": entries += v
			case "quorate_raftstore_early_appends_total": early += v
			}
		}
	}
	return
}

// stat: mean of a, or geometric mean ratio a/b with its standard error.
func stat(a, b []float64) (float64, float64) {
	var s, q float64
	for i := range a {
		v := a[i]
		if b != nil {
			v = math.Log(a[i] / b[i])
		}
		s += v
		q += v * v
	}
	n := float64(len(a))
	mean := s / n
	se := math.Sqrt(max(0, q/n-mean*mean) / max(1, n-1))
	if b != nil {
		return math.Exp(mean), math.Exp(mean) * se
	}
	return mean, se
}
