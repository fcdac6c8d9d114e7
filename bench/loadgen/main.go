// Command loadgen puts a bounded load on any server that speaks the
// Kubernetes REST API and prints one JSON line per measurement.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"time"
)

type strList []string

func (s *strList) String() string     { return strings.Join(*s, ",") }
func (s *strList) Set(v string) error { *s = append(*s, v); return nil }

func ints(s string) []int {
	var out []int
	for _, f := range strings.Split(s, ",") {
		f = strings.TrimSpace(f)
		if f == "" {
			continue
		}
		n, err := strconv.Atoi(f)
		if err != nil || n < 0 {
			die("not a list of numbers: %q", s)
		}
		out = append(out, n)
	}
	return out
}

func die(f string, a ...any) {
	fmt.Fprintf(os.Stderr, "loadgen: "+f+"\n", a...)
	os.Exit(2)
}

// Report is one printed measurement.
type Report struct {
	Label    string           `json:"label,omitempty"`
	Scenario string           `json:"scenario"`
	Variant  string           `json:"variant,omitempty"`
	Kind     string           `json:"kind"`
	Size     int              `json:"size,omitempty"`
	Objects  int              `json:"objects,omitempty"`
	Conc     int              `json:"conc"`
	Proto    string           `json:"proto"`
	Conns    int              `json:"conns"`
	Servers  int              `json:"servers"`
	Run      int              `json:"run"`
	Seconds  float64          `json:"seconds"`
	Ops      int              `json:"ops"`
	OpsPerS  float64          `json:"ops_per_s"`
	RxMBPerS float64          `json:"rx_mb_per_s"`
	TxMBPerS float64          `json:"tx_mb_per_s"`
	Lat      LatMS            `json:"lat_ms"`
	Sub      map[string]LatMS `json:"sub_ms,omitempty"`
	Errors   map[string]int   `json:"errors,omitempty"`
	ErrSamp  string           `json:"error_sample,omitempty"`
	Extra    map[string]any   `json:"extra,omitempty"`
	Nodes    []NodeShare      `json:"nodes,omitempty"`
	Procs    []ProcStat       `json:"procs,omitempty"`
	ServerUS float64          `json:"server_cpu_us_per_op,omitempty"`
	SelfCPU  float64          `json:"self_cpu_s"`
	Load1    float64          `json:"load1"`
	Time     string           `json:"time"`
}

func (r *Report) key() string {
	return fmt.Sprintf("%s|%s|%s|%d|%d|%d|%s", r.Scenario, r.Variant, r.Kind, r.Size, r.Objects, r.Conc, r.Proto)
}

type env struct {
	ctx   context.Context
	c     *Client
	o     opts
	pids  procList
	run   int
	nonce string
	out   *bufio.Writer
	nsOK  map[string]bool
}

type opts struct {
	prefix, kindPrefix, ns, kind, label string
	n, size, objects, conns, proto      int
	sizes, conc                         []int
	maxTime, duration                   time.Duration
	watchers, rates                     []int
	watchStyle, framing                 string
	perConn, fanObjects, behind         int
	target, steps                       int
	limit                               int
	createNS, keep                      bool
	servers                             int
}

func load1() float64 {
	b, _ := os.ReadFile("/proc/loadavg")
	f := strings.Fields(string(b))
	if len(f) == 0 {
		return 0
	}
	v, _ := strconv.ParseFloat(f[0], 64)
	return v
}

var header bool

func (e *env) emit(r *Report) {
	r.Label, r.Run = e.o.label, e.run
	r.Proto, r.Conns, r.Servers = "h"+strconv.Itoa(e.o.proto), e.o.conns, e.o.servers
	r.Time = time.Now().UTC().Format(time.RFC3339)
	if r.Kind == "" {
		r.Kind = e.o.kind
	}
	b, err := json.Marshal(r)
	if err != nil {
		die("%v", err)
	}
	e.out.Write(b)
	e.out.WriteByte('\n')
	e.out.Flush()
	if !header {
		header = true
		fmt.Fprintf(os.Stderr, "%-16s %-14s %-10s %6s %5s %8s %10s %8s %8s %8s %8s %8s  %s\n",
			"scenario", "variant", "kind", "size", "conc", "ops", "ops/s", "rxMB/s", "p50ms", "p99ms", "p99.9ms", "maxms", "srv-us/op errors extra")
	}
	ex := ""
	if len(r.Errors) > 0 {
		ex += fmt.Sprint(r.Errors) + " "
	}
	if len(r.Extra) > 0 {
		var ks []string
		for k := range r.Extra {
			ks = append(ks, k)
		}
		sort.Strings(ks)
		for _, k := range ks {
			if k == "steps" {
				continue
			}
			if f, ok := r.Extra[k].(float64); ok {
				ex += fmt.Sprintf("%s=%.4g ", k, f)
			} else {
				ex += fmt.Sprintf("%s=%v ", k, r.Extra[k])
			}
		}
	}
	fmt.Fprintf(os.Stderr, "%-16s %-14s %-10s %6d %5d %8d %10.1f %8.2f %8.3f %8.3f %8.3f %8.1f  %.0f %s\n",
		r.Scenario, r.Variant, r.Kind, r.Size, r.Conc, r.Ops, r.OpsPerS, r.RxMBPerS, r.Lat.P50, r.Lat.P99, r.Lat.P999, r.Lat.Max, r.ServerUS, ex)
}

func main() {
	var (
		servers                           strList
		pids                              procList
		token, tokenFile, ca, writeServer string
		insecure, gzip                    bool
		scen, sizes, conc, watchers       string
		rates, accept, summarize, comp    string
		repeat                            int
		total                             time.Duration
		o                                 opts
	)
	flag.Var(&servers, "server", "base URL, loopback only (repeatable: one per node)")
	flag.StringVar(&writeServer, "write-server", "", "send every write to this server only")
	flag.StringVar(&token, "token", "", "bearer token")
	flag.StringVar(&tokenFile, "token-file", "", "file holding the bearer token")
	flag.StringVar(&ca, "ca", "", "CA certificate (PEM)")
	flag.BoolVar(&insecure, "insecure", false, "do not check the server's certificate")
	flag.BoolVar(&gzip, "gzip", false, "accept gzip bodies")
	flag.StringVar(&accept, "accept", "application/json", "Accept header")
	flag.StringVar(&o.prefix, "prefix", "/api/v1", "API path prefix")
	flag.StringVar(&o.kindPrefix, "kind-prefix", "namespaces/{ns}", "path between prefix and the plural; empty: cluster-wide collections")
	flag.StringVar(&o.ns, "ns", "loadgen", "namespace name (scenarios add a suffix)")
	flag.BoolVar(&o.createNS, "create-ns", true, "create the namespaces used")
	flag.StringVar(&o.kind, "kind", "configmaps", "configmaps or pods")
	flag.StringVar(&scen, "scenario", "all-small", "comma list: "+strings.Join(names(), ", ")+", all-small, all")
	flag.IntVar(&o.n, "n", 10000, "operations per measurement")
	flag.StringVar(&sizes, "sizes", "1024", "value sizes of the create scenario (ConfigMaps)")
	flag.IntVar(&o.size, "size", 1024, "value size elsewhere")
	flag.StringVar(&conc, "c", "32", "concurrency (list: one measurement each)")
	flag.IntVar(&o.objects, "objects", 10000, "objects in the collection of the list scenarios, and distinct objects read or written")
	flag.IntVar(&o.conns, "conns", 4, "HTTP/2 connections per server")
	flag.IntVar(&o.proto, "http", 2, "1: HTTP/1.1 keep-alive, 2: HTTP/2")
	flag.DurationVar(&o.maxTime, "max-time", 60*time.Second, "longest time of one measurement")
	flag.DurationVar(&o.duration, "t", 10*time.Second, "duration of mixed and watch-fanout")
	flag.StringVar(&watchers, "watchers", "100,1000,5000", "watch-fanout: watchers (list)")
	flag.StringVar(&rates, "rates", "100,50,10", "watch-fanout: writes/s (list, paired)")
	flag.StringVar(&o.watchStyle, "watch-style", "param", "param: ?watch=true, path: {prefix}/watch/…")
	flag.StringVar(&o.framing, "framing", "line", "watch stream framing: line or json (any JSON sequence)")
	flag.IntVar(&o.perConn, "watches-per-conn", 50, "watches on one HTTP/2 connection")
	flag.IntVar(&o.fanObjects, "fan-objects", 100, "watch-fanout: objects written to")
	flag.IntVar(&o.behind, "behind", 10000, "watch-resume: events to catch up on")
	flag.IntVar(&o.target, "target", 100000, "capacity: objects")
	flag.IntVar(&o.steps, "steps", 10, "capacity: report this many times")
	flag.IntVar(&o.limit, "limit", 500, "page size")
	flag.BoolVar(&o.keep, "keep", false, "do not delete what was created")
	flag.Var(&pids, "pid", "server process, PID or name=PID (repeatable): reports RSS and CPU")
	flag.StringVar(&o.label, "label", "", "label put in every line")
	flag.IntVar(&repeat, "repeat", 1, "runs of everything")
	flag.DurationVar(&total, "total-time", time.Hour, "longest time of the whole command")
	flag.StringVar(&summarize, "summarize", "", "FILE[,FILE]: print medians and spreads of JSON lines as a table, and exit")
	flag.StringVar(&comp, "compare", "", "FILE_A,FILE_B: print medians of both and the ratio B/A, and exit")
	flag.Parse()

	if summarize != "" {
		printSummary(strings.Split(summarize, ","))
		return
	}
	if comp != "" {
		f := strings.Split(comp, ",")
		if len(f) != 2 {
			die("-compare wants two files")
		}
		printCompare(f[0], f[1])
		return
	}
	if len(servers) == 0 {
		servers = strList{"https://127.0.0.1:6443"}
	}
	if tokenFile != "" {
		b, err := os.ReadFile(tokenFile)
		if err != nil {
			die("%v", err)
		}
		token = strings.TrimSpace(string(b))
	}
	for _, s := range append(servers[:len(servers):len(servers)], writeServer) {
		if s == "" {
			continue
		}
		if _, err := checkLoopback(s); err != nil {
			die("%v", err)
		}
	}
	if o.kind != "configmaps" && o.kind != "pods" {
		die("-kind: configmaps or pods")
	}
	o.sizes, o.conc, o.watchers, o.rates = ints(sizes), ints(conc), ints(watchers), ints(rates)
	o.servers = len(servers)
	// These bounds hold for any flags.
	clamp := func(v *int, lo, hi int) {
		if *v < lo {
			*v = lo
		}
		if *v > hi {
			*v = hi
		}
	}
	clamp(&o.n, 1, 2_000_000)
	clamp(&o.objects, 1, 1_000_000)
	clamp(&o.target, 1, 1_000_000)
	clamp(&o.behind, 1, 1_000_000)
	clamp(&o.conns, 1, 256)
	clamp(&o.perConn, 1, 1000)
	clamp(&o.fanObjects, 1, 100_000)
	clamp(&o.size, 1, 512<<10)
	clamp(&o.steps, 1, 1000)
	clamp(&repeat, 1, 20)
	for i := range o.conc {
		clamp(&o.conc[i], 1, 5000)
	}
	for i := range o.watchers {
		clamp(&o.watchers[i], 1, 20000)
	}
	if o.maxTime > 30*time.Minute {
		o.maxTime = 30 * time.Minute
	}
	if total > 4*time.Hour {
		total = 4 * time.Hour
	}
	debug.SetGCPercent(400)

	maxW := 1
	for _, w := range o.watchers {
		if w > maxW {
			maxW = w
		}
	}
	wl := (maxW + o.perConn - 1) / o.perConn
	wl = (wl + len(servers) - 1) / len(servers)
	c, err := newClient(clientOpts{servers: servers, writeServer: writeServer, token: token, insecure: insecure,
		ca: ca, proto: o.proto, conns: o.conns, watchLanes: wl, gzip: gzip, accept: accept})
	if err != nil {
		die("%v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), total)
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	e := &env{ctx: ctx, c: c, o: o, pids: pids, out: bufio.NewWriter(os.Stdout), nsOK: map[string]bool{}}
	fmt.Fprintf(os.Stderr, "loadgen: %d CPUs, GOMAXPROCS %d, servers %v, http/%d, %d conns, load %.2f\n",
		runtime.NumCPU(), runtime.GOMAXPROCS(0), servers, o.proto, o.conns, load1())
	for e.run = 1; e.run <= repeat; e.run++ {
		e.nonce = strconv.FormatInt(time.Now().UnixNano()/1e6%1e9, 36)
		for _, s := range strings.Split(scen, ",") {
			if ctx.Err() != nil {
				die("stopped: %v", ctx.Err())
			}
			if err := e.scenario(strings.TrimSpace(s)); err != nil {
				fmt.Fprintf(os.Stderr, "loadgen: %s: %v\n", s, err)
				r := &Report{Scenario: s, ErrSamp: err.Error(), Errors: map[string]int{"scenario": 1}}
				e.emit(r)
			}
		}
	}
}
