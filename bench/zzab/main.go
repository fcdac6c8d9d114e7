// Command zzab compares binaries; temporary.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"quorate/bench/generator"
	"quorate/bench/servers"
)

func main() {
	bins := flag.String("bins", "", "a,b")
	scen := flag.String("s", "get:32", "scenario:clients,...")
	rounds := flag.Int("rounds", 3, "")
	slices := flag.Int("slices", 3, "")
	length := flag.String("length", "1.2s", "")
	metrics := flag.String("m", "", "metric prefix to print deltas of")
	flag.Parse()
	b := strings.Split(*bins, ",")
	ctx := context.Background()
	type key struct{ s string }
	cpu, rate := map[string][]float64{}, map[string][]float64{}
	absC, absR := map[string][2][]float64{}, map[string][2][]float64{}
	for r := 0; r < *rounds; r++ {
		var cl []*servers.Quorate
		for _, bin := range b {
			dir, _ := os.MkdirTemp("", "zz-")
			defer os.RemoveAll(dir)
			q, err := servers.StartQuorate(ctx, bin, dir, 3)
			if err != nil {
				panic(err)
			}
			cl = append(cl, q)
		}
		for _, sc := range strings.Split(*scen, ",") {
			name, n, _ := strings.Cut(sc, ":")
			c, rt := make([]float64, len(b)), make([]float64, len(b))
			for s := 0; s < *slices; s++ {
				for i := range b {
					j := i
					if (s+r)%2 == 1 {
						j = len(b) - 1 - i
					}
					var before []map[string]float64
					for k := 0; k < 3 && *metrics != ""; k++ {
						x, _ := cl[j].Metrics(ctx, k)
						before = append(before, x)
					}
					_, m, err := generator.Run(ctx, &cl[j].Cluster, "three", "-scenario", name, "-c", n, "-n", "10000000", "-objects", "500", "-max-time", *length)
					if err != nil {
						panic(err)
					}
					for k := 0; k < 3 && *metrics != "" && s == 1; k++ {
						x, _ := cl[j].Metrics(ctx, k)
						for mm, v := range x {
							for _, p := range strings.Split(*metrics, "+") {
								if strings.HasPrefix(mm, p) && v != before[k][mm] {
									fmt.Printf("   %s n%d %s %.4g\n", b[j], k+1, mm, v-before[k][mm])
								}
							}
						}
					}
					if s > 0 {
						c[j] += m[0].CPU
						rt[j] += m[0].Rate
					}
				}
			}
			for j := range b {
				a, d := absC[sc], absR[sc]
				if j < 2 {
					a[j] = append(a[j], c[j]/float64(*slices-1))
					d[j] = append(d[j], rt[j]/float64(*slices-1))
				}
				absC[sc], absR[sc] = a, d
			}
			for z := 1; z < len(b); z++ {
				k := sc + "/" + b[z]; cpu[k] = append(cpu[k], math.Log(c[z]/c[0]))
				rate[k] = append(rate[k], math.Log(rt[z]/rt[0]))
			}
			fmt.Printf("round %d %s cpu %v rate %v\n", r, sc, absCat(c, *slices-1), absCat(rt, *slices-1))
		}
		for _, q := range cl {
			q.Stop()
		}
	}
	time.Sleep(0)
	for _, sc := range strings.Split(*scen, ",") {
		for _, x := range b[1:] { k := sc + "/" + x; fmt.Printf("%-14s cpu %s rate %s\n", k, stat(cpu[k]), stat(rate[k])) }
	}
}

func absCat(x []float64, n int) (s []string) {
	for _, v := range x {
		s = append(s, fmt.Sprintf("%.1f", v/float64(n)))
	}
	return
}

func stat(x []float64) string {
	if len(x) == 0 {
		return ""
	}
	m, v := 0.0, 0.0
	for _, a := range x {
		m += a
	}
	m /= float64(len(x))
	for _, a := range x {
		v += (a - m) * (a - m)
	}
	se := 0.0
	if len(x) > 1 {
		se = math.Sqrt(v / float64(len(x)-1) / float64(len(x)))
	}
	return fmt.Sprintf("%.3f±%.3f", math.Exp(m), se)
}
