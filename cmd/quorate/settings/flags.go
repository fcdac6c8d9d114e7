package settings

import (
	"time"

	"github.com/spf13/pflag"
)

// KeyVariable is the environment variable that may hold the cluster key itself. There is no such
// flag, because every user of the machine can read command lines.
const KeyVariable = "QUORATE_CLUSTER_KEY"

// DefaultDataDir is the data directory of nodes and commands unless they are given another.
const DefaultDataDir = "./quorate-data"

// defaultDeadServerAfter lets a machine be repaired overnight and return as the member that it was.
const defaultDeadServerAfter = 24 * time.Hour

// DefaultPeerAddr is the default of --peer-addr.
const DefaultPeerAddr = "127.0.0.1:7443"

// Settings holds the values of all flags of `quorate serve`. It does not change after Resolve.
type Settings struct {
	Name    string
	DataDir string

	Listen  Listen
	Join    []string
	Expect  int
	Voter   bool
	KeyFile string

	API    API
	Audit  Audit
	Store  Store
	Backup Backup
	Log    Log
	// TimeoutScale multiplies every timeout of Raft and gossip: 1 suits local disks and networks.
	TimeoutScale float64
	// DeadServerAfter is how long a member may be unreachable before it is removed; 0 means
	// forever.
	DeadServerAfter time.Duration
}

// Listen holds the addresses.
type Listen struct {
	API, Peer, Gossip string
	AdvertiseHost     string // the host that others dial; empty: that of each bind address
}

// API holds the flags of the REST API.
type API struct {
	TokenFile         string
	CertFile, KeyFile string // both or neither; empty: issued by the cluster's authority
	ClientCAFile      string
	QuorumRead        bool
	ReportedVersion   string // of the API, at /version
	MaxRequests       int
	Limits            Limits
	FairnessFile      string        // levels of priority; empty: the default ones
	EventTTL          time.Duration // after an event's last write
	RequestLog        string        // none, errors, writes or all
}

// Audit holds the flags of the audit log.
type Audit struct {
	Policy   string        // file; empty: no events, and Log has the lines of the request log
	Webhook  string        // file that names a server of events; empty: none
	Log      string        // a file, "-" for standard output; empty: the process's log
	MaxBytes int64         // the file is rotated at this size
	MaxAge   time.Duration // and at this age
	MaxFiles int           // rotated files that are kept
}

// Limits holds the flags that bound what clients have of a node, all together, and one user or
// address. The zero value of a share is half of what all have together.
type Limits struct {
	Connections, ConnectionsPerAddress         int
	Watches, WatchesPerUser, WatchesPerAddress int
	RequestsPerUser                            int
	RequestRate                                int // of one user, in a second; 0: no bound
	AuthFailureRate                            int // of one address, in a second; 0: no bound
}

// Store holds the flags of the replicated store.
type Store struct {
	LogBytes     int64         // Raft log kept on disk for watchers
	LogAge       time.Duration // maximum age of that log
	HistoryBytes int64         // events kept in memory for watchers
	DiskReserve  int64         // space left on the disk below which writes are refused
	SnapshotRate int64         // bytes of snapshots to other nodes in a second; 0: no bound
	MaxBytes     int64         // memory of all objects; 0: no bound
	ObjectQuota  []string      // RESOURCE=COUNT: objects of a resource in one namespace
}

// Backup holds the flags of scheduled backups.
type Backup struct {
	Schedule string        // cron expression; empty: none
	Dir      string        // directory of the backups, or s3: and the URL of a bucket
	Keep     int           // backups that are kept
	KeepAge  time.Duration // age at which they are removed; 0: no bound
	Rate     int64         // bytes in a second; 0: no bound
}

// Log holds the flags of the process's log.
type Log struct {
	Format string // text or json
	Level  string // debug, info, warn or error
}

// Register declares the flags of serve on fs, with s as their destination.
func (s *Settings) Register(fs *pflag.FlagSet, hostName string) {
	fs.StringVar(&s.Name, "name", hostName, "name of this node, unique in the cluster (default: the host name)")
	fs.StringVar(&s.DataDir, "data-dir", DefaultDataDir, "directory of this node's data")
	fs.StringVar(&s.Listen.API, "api-addr", "127.0.0.1:6443", "address of the REST API (HTTPS)")
	fs.StringVar(&s.Listen.Peer, "peer-addr", DefaultPeerAddr, "address for other nodes (Raft and gRPC, mutual TLS)")
	fs.StringVar(&s.Listen.Gossip, "gossip-addr", "127.0.0.1:7946", "address of membership gossip (TCP and UDP, encrypted)")
	fs.StringVar(&s.Listen.AdvertiseHost, "advertise-host", "", "host that others dial, if it differs from the bind address")
	fs.StringSliceVar(&s.Join, "join", nil, "gossip addresses of any members, HOST:PORT,...")
	fs.IntVar(&s.Expect, "bootstrap-expect", 1, "servers to wait for before the first election of a new cluster")
	fs.BoolVar(&s.Voter, "voter", true, "vote once caught up; false makes a permanent non-voter, which serves reads and forwards writes")
	fs.StringVar(&s.KeyFile, "cluster-key-file", "", "file with the cluster key (or "+KeyVariable+"); a first node generates one")
	fs.DurationVar(&s.DeadServerAfter, "dead-server-after", defaultDeadServerAfter, "remove a member that has been unreachable for this long; 0 for never")
	fs.Float64Var(&s.TimeoutScale, "timeout-scale", 1, "multiplies the timeouts of Raft and gossip; raise it on slow disks or networks")
	s.registerAPI(fs)
	s.registerLimits(fs)
	s.registerStore(fs)
	s.registerBackup(fs)
	fs.StringVar(&s.Log.Format, "log-format", "text", "text or json")
	fs.StringVar(&s.Log.Level, "log-level", "info", "debug, info, warn or error")
}

func (s *Settings) registerAPI(fs *pflag.FlagSet) {
	fs.StringVar(&s.API.TokenFile, "token-file", "", "static tokens, one `token,user,uid,\"group,group\"` on each line; reloaded when it changes")
	fs.StringVar(&s.API.CertFile, "tls-cert-file", "", "certificate of the REST API, instead of one from the cluster's authority")
	fs.StringVar(&s.API.KeyFile, "tls-key-file", "", "its private key")
	fs.StringVar(&s.API.ClientCAFile, "client-ca-file", "", "authorities whose client certificates are accepted")
	fs.BoolVar(&s.API.QuorumRead, "quorum-read", true, "reads without a resourceVersion are linearizable; false serves them from the node's own state")
	fs.StringVar(&s.API.ReportedVersion, "reported-version", "1.36.0", "version of the API at /version, by which clients such as Helm decide what they install")
	fs.IntVar(&s.API.MaxRequests, "max-requests", 2000, "bound on concurrent reads, and on concurrent writes, without watches; more wait, or get 429")
	fs.StringVar(&s.API.FairnessFile, "fairness-file", "", "priority levels of requests, in YAML: who gets which share of --max-requests; read again when it changes")
	fs.DurationVar(&s.API.EventTTL, "event-ttl", time.Hour, "how long Events are kept after their last write")
	fs.StringVar(&s.API.RequestLog, "request-log", "errors", "requests to log, one line each: none, errors, writes or all")
	s.registerAudit(fs)
}

func (s *Settings) registerAudit(fs *pflag.FlagSet) {
	s.Audit.MaxBytes = 64 << 20
	fs.StringVar(&s.Audit.Log, "audit-log", "", "destination of these lines, or of the events of --audit-policy-file: a file, or - for standard output (default: the log)")
	fs.Var((*byteSize)(&s.Audit.MaxBytes), "audit-log-max-size", "size at which that file is rotated, to FILE.TIME")
	fs.DurationVar(&s.Audit.MaxAge, "audit-log-max-age", 24*time.Hour, "time after its first line at which that file is rotated")
	fs.IntVar(&s.Audit.MaxFiles, "audit-log-max-files", 7, "rotated files that are kept; the oldest are removed")
	fs.StringVar(&s.Audit.Policy, "audit-policy-file", "", "audit.k8s.io/v1 Policy: which requests are recorded as events, in --audit-log and by --audit-webhook-config-file; read again when it changes")
	fs.StringVar(&s.Audit.Webhook, "audit-webhook-config-file", "", "kubeconfig of an HTTPS server that the events are posted to")
}

func (s *Settings) registerLimits(fs *pflag.FlagSet) {
	l := &s.API.Limits
	fs.IntVar(&l.Connections, "max-connections", 20000, "bound on open connections of clients; more are closed at once")
	fs.IntVar(&l.ConnectionsPerAddress, "max-connections-per-address", 0, "the same, for one address (IPv6: /64 network); 0 for half of --max-connections")
	fs.IntVar(&l.Watches, "max-watches", 40000, "bound on open watches; more get 429")
	fs.IntVar(&l.WatchesPerUser, "max-watches-per-user", 0, "the same, for one user; 0 for half of --max-watches")
	fs.IntVar(&l.WatchesPerAddress, "max-watches-per-address", 0, "the same, for one address; 0 for half of --max-watches")
	fs.IntVar(&l.RequestsPerUser, "max-requests-per-user", 0, "bound on concurrent reads and writes of one user; more get 429; 0 for --max-requests")
	fs.IntVar(&l.RequestRate, "max-request-rate-per-user", 0, "bound on requests of one user in a second, with bursts of ten seconds; more get 429; 0 for no bound")
	fs.IntVar(&l.AuthFailureRate, "max-auth-failure-rate", 100, "401s of one address in a second, with bursts of ten seconds; further ones are delayed; 0 for no bound")
}

func (s *Settings) registerStore(fs *pflag.FlagSet) {
	s.Store.LogBytes, s.Store.HistoryBytes, s.Store.DiskReserve, s.Store.MaxBytes = 4<<30, 64<<20, 256<<20, 8<<30
	fs.Var((*byteSize)(&s.Store.LogBytes), "log-bytes", "disk space for the log that watches resume from")
	fs.DurationVar(&s.Store.LogAge, "log-age", 24*time.Hour, "age up to which that log is kept")
	fs.Var((*byteSize)(&s.Store.DiskReserve), "disk-reserve", "free space, beyond what the next snapshot takes, below which the disk counts as full; at most a quarter of the disk")
	s.Store.SnapshotRate = 32 << 20
	fs.Var((*byteSize)(&s.Store.SnapshotRate), "snapshot-rate",
		"bound on the bytes of snapshots that a leader sends in a second to nodes that join or were away, to all of them together; 0 for none")
	fs.Var((*byteSize)(&s.Store.MaxBytes), "max-state-bytes", "bound on the memory of all objects, enforced by the leader; writes that add to it get 507 beyond; 0 for none")
	fs.StringSliceVar(&s.Store.ObjectQuota, "object-quota", nil,
		"bounds on the objects of a resource in one namespace, RESOURCE=COUNT,... such as configmaps=1000; * is for all others; more get 403")
	fs.Var((*byteSize)(&s.Store.HistoryBytes), "history-bytes", "memory for recent watch events")
}

func (s *Settings) registerBackup(fs *pflag.FlagSet) {
	s.Backup.Rate = 16 << 20
	fs.StringVar(&s.Backup.Schedule, "backup-schedule", "", "when the leader writes a backup to --backup-dir: a cron expression in UTC such as \"0 3 * * *\", @daily or \"@every 6h\"; the same on all nodes")
	fs.StringVar(&s.Backup.Dir, "backup-dir", "", "existing directory of these backups, best one that all nodes share, or s3:https://HOST/BUCKET[/PREFIX] of an S3-compatible store")
	fs.IntVar(&s.Backup.Keep, "backup-keep", 7, "backups of this cluster that are kept there; older ones are removed after each good one")
	fs.DurationVar(&s.Backup.KeepAge, "backup-keep-age", 0, "age beyond which backups are removed as well, but never the newest; 0 for no bound")
	fs.Var((*byteSize)(&s.Backup.Rate), "backup-rate", "bound on the bytes that a backup writes or reads back in a second; 0 for none")
}
