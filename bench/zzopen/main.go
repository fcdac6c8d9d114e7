// Command zzopen reads at a fixed rate; temporary.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"quorate/bench/servers"
)

func main() {
	bins := flag.String("bins", "", "a,b")
	rates := flag.String("rates", "1000,3000,6000,10000", "")
	rounds := flag.Int("rounds", 2, "")
	flag.Parse()
	ctx := context.Background()
	for r := 0; r < *rounds; r++ {
		for _, bin := range strings.Split(*bins, ",") {
			dir, _ := os.MkdirTemp("", "zz-")
			defer os.RemoveAll(dir)
			q, err := servers.StartQuorate(ctx, bin, dir, 3)
			if err != nil {
				panic(err)
			}
			tok, _ := os.ReadFile(q.TokenFile)
			token := strings.TrimSpace(string(tok))
			var clients [3][]*http.Client
			for i := range clients {
				for range 4 {
					clients[i] = append(clients[i], &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, MaxConnsPerHost: 1}})
				}
			}
			do := func(node, k int, method, path string, body []byte) {
				req, _ := http.NewRequest(method, q.Endpoints[node]+path, bytes.NewReader(body))
				req.Header.Set("Authorization", "Bearer "+token)
				resp, err := clients[node][k%4].Do(req)
				if err != nil {
					panic(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if resp.StatusCode > 299 {
					panic(resp.Status)
				}
			}
			for i := range 100 {
				do(0, i, "POST", "/api/v1/namespaces/default/configmaps", []byte(fmt.Sprintf(`{"metadata":{"name":"c%d"},"data":{"a":"%s"}}`, i, strings.Repeat("x", 1000))))
			}
			for _, rs := range strings.Split(*rates, ",") {
				var rate float64
				fmt.Sscan(rs, &rate)
				cpu0, _ := q.CPUTime()
				var mu sync.Mutex
				var lats []float64
				var wg sync.WaitGroup
				start := time.Now()
				next := start
				n := 0
				for time.Since(start) < 3*time.Second {
					next = next.Add(time.Duration(rand.ExpFloat64() / rate * 1e9))
					if d := time.Until(next); d > 0 {
						time.Sleep(d)
					}
					n++
					i := n
					wg.Go(func() {
						t := time.Now()
						do(i%3, rand.Intn(4), "GET", fmt.Sprintf("/api/v1/namespaces/default/configmaps/c%d", i%100), nil)
						l := time.Since(t).Seconds() * 1e3
						mu.Lock()
						lats = append(lats, l)
						mu.Unlock()
					})
				}
				wg.Wait()
				cpu1, _ := q.CPUTime()
				sort.Float64s(lats)
				fmt.Printf("%s rate %s: did %.0f/s p50 %.3f p90 %.3f p99 %.3f ms, cpu %.1f us\n", bin, rs, float64(n)/time.Since(start).Seconds(), lats[len(lats)/2], lats[len(lats)*9/10], lats[len(lats)*99/100], float64((cpu1-cpu0).Microseconds())/float64(n))
			}
			q.Stop()
		}
	}
}
