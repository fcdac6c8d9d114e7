package settings_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"quorate/cmd/quorate/settings"
)

// resolve parses, resolves and validates settings as serve does.
func resolve(t *testing.T, args []string, env map[string]string, file string) (settings.Settings, error) {
	t.Helper()
	var s settings.Settings
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	flags.String("config", "", "")
	s.Register(flags, "the-host")
	if file != "" {
		path := filepath.Join(t.TempDir(), "q.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	getenv := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	if err := settings.Resolve(flags, getenv); err != nil {
		return s, err
	}
	return s, s.Validate()
}

func TestResolve(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		args []string
		env  map[string]string
		file string
		get  func(settings.Settings) any
		want any
	}{
		{"default runs", nil, nil, "", func(s settings.Settings) any { return s.Listen.API }, "127.0.0.1:6443"},
		{"name defaults to the host", nil, nil, "", func(s settings.Settings) any { return s.Name }, "the-host"},
		{"file over default", nil, nil, "name: f", func(s settings.Settings) any { return s.Name }, "f"},
		{"environment over file", nil, map[string]string{"QUORATE_NAME": "e"}, "name: f",
			func(s settings.Settings) any { return s.Name }, "e"},
		{"flag over environment and file", []string{"--name=a"}, map[string]string{"QUORATE_NAME": "e"}, "name: f",
			func(s settings.Settings) any { return s.Name }, "a"},
		{"file named by the environment is read last", nil, map[string]string{"QUORATE_QUORUM_READ": "true"}, "quorum-read: false",
			func(s settings.Settings) any { return s.API.QuorumRead }, true},
		{"empty variable over file", nil, map[string]string{"QUORATE_ADVERTISE_HOST": ""}, "advertise-host: f",
			func(s settings.Settings) any { return s.Listen.AdvertiseHost }, ""},
		{"variable that is not set", nil, map[string]string{"QUORATE_NAME": "e"}, "advertise-host: f",
			func(s settings.Settings) any { return s.Listen.AdvertiseHost }, "f"},
		{"boolean in the file", nil, nil, "quorum-read: false", func(s settings.Settings) any { return s.API.QuorumRead }, false},
		{"list in the file", nil, nil, "join: [a:1, b:2]", func(s settings.Settings) any { return s.Join }, []string{"a:1", "b:2"}},
		{"list as text in the file", nil, nil, "join: a:1,b:2", func(s settings.Settings) any { return s.Join }, []string{"a:1", "b:2"}},
		{"list in the environment", nil, map[string]string{"QUORATE_JOIN": "a:1,b:2"}, "join: c:3",
			func(s settings.Settings) any { return s.Join }, []string{"a:1", "b:2"}},
		{"flag replaces the list of the file", []string{"--join=a:1"}, nil, "join: [b:2]",
			func(s settings.Settings) any { return s.Join }, []string{"a:1"}},
		{"number and size in the file", nil, nil, "log-bytes: 1073741824", func(s settings.Settings) any { return s.Store.LogBytes }, int64(1 << 30)},
		{"size with a unit", []string{"--history-bytes=512Mi"}, nil, "", func(s settings.Settings) any { return s.Store.HistoryBytes }, int64(512 << 20)},
		{"size default is 4 GiB", nil, nil, "", func(s settings.Settings) any { return s.Store.LogBytes }, int64(4 << 30)},
		{"rate in the environment", nil, map[string]string{"QUORATE_SNAPSHOT_RATE": "8MiB"}, "snapshot-rate: 1MiB",
			func(s settings.Settings) any { return s.Store.SnapshotRate }, int64(8 << 20)},
		{"no bound on snapshots", []string{"--snapshot-rate=0"}, nil, "", func(s settings.Settings) any { return s.Store.SnapshotRate }, int64(0)},
		{"duration in the file", nil, nil, "log-age: 90m", func(s settings.Settings) any { return s.Store.LogAge }, 90 * time.Minute},
		{"empty file", nil, nil, "# nothing\n", func(s settings.Settings) any { return s.Expect }, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := resolve(t, c.args, c.env, c.file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.get(s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		args []string
		env  map[string]string
		file string
		want string // part of the message
	}{
		{"unknown key with a suggestion", nil, nil, "dataDir: x", `unknown key "dataDir": keys are the names of the flags of quorate serve (did you mean "data-dir"?)`},
		{"config in the file", nil, nil, "config: x", `unknown key "config"`},
		{"duplicate key", nil, nil, "name: a\nname: b", "not valid YAML"},
		{"malformed YAML", nil, nil, "name: [", "not valid YAML"},
		{"not a mapping", nil, nil, "- a", "want one mapping"},
		{"mapping as a value", nil, nil, "join: {a: b}", "join: want a string"},
		{"bad value in the file", nil, nil, "bootstrap-expect: many", "bootstrap-expect: many"},
		{"bad value in the environment", nil, map[string]string{"QUORATE_LOG_BYTES": "4 pints"}, "", "QUORATE_LOG_BYTES=4 pints: not a size such as 512MiB or 4GiB"},
		{"no such file", []string{"--config=/nowhere/q.yaml"}, nil, "", "/nowhere/q.yaml: no such file"},
		{"name", []string{"--name=N_1"}, nil, "", `--name "N_1": want lower-case`},
		{"address without a port", []string{"--api-addr=localhost"}, nil, "", `--api-addr "localhost": want HOST:PORT`},
		{"port out of range", []string{"--peer-addr=:70000"}, nil, "", `--peer-addr ":70000"`},
		{"join without a host", []string{"--join=:7946"}, nil, "", "want HOST:PORT of another node"},
		{"advertised port", []string{"--advertise-host=n1:7443"}, nil, "", "without a port"},
		{"half a certificate", []string{"--tls-cert-file=c"}, nil, "", "go together"},
		{"webhook without a policy", []string{"--audit-webhook-config-file=w"}, nil, "", "needs --audit-policy-file"},
		{"events without a destination", []string{"--audit-policy-file=p"}, nil, "", "needs a destination: give --audit-log"},
		{"small audit log", []string{"--audit-log-max-size=1KiB"}, nil, "", "want at least 1MiB"},
		{"young audit log", []string{"--audit-log-max-age=1s"}, nil, "", "want at least 1m"},
		{"many audit logs", []string{"--audit-log-max-files=1001"}, nil, "", "want 0 to 1000"},
		{"reported version", []string{"--reported-version=v1.30"}, nil, "", "want MAJOR.MINOR.PATCH"},
		{"request log", []string{"--request-log=some"}, nil, "", "want one of none, errors, writes, all"},
		{"no servers", []string{"--bootstrap-expect=0"}, nil, "", "want 1 to 99"},
		{"timeout scale", []string{"--timeout-scale=0"}, nil, "", "want 0.1 to 20"},
		{"size too large", []string{"--log-bytes=9000000TiB"}, nil, "", "too large"},
		{"events kept too long", []string{"--event-ttl=12h1s"}, nil, "", "--event-ttl 12h0m1s: want 1s to 12h0m0s"},
		{"small log", []string{"--log-bytes=1KiB"}, nil, "", "at least 16MiB"},
		{"small state", []string{"--max-state-bytes=1KiB"}, nil, "", "want 0 (none) or at least 1MiB"},
		{"slow snapshots", []string{"--snapshot-rate=1KiB"}, nil, "", "--snapshot-rate 1024: want 0 (no bound) or at least 64KiB"},
		{"quota without a count", []string{"--object-quota=configmaps"}, nil, "", "want RESOURCE=COUNT"},
		{"quota of nothing", []string{"--object-quota=configmaps=0"}, nil, "", "want RESOURCE=COUNT"},
		{"quota twice", []string{"--object-quota=pods=1,pods=2"}, nil, "", "names pods twice"},
		{"no watches", []string{"--max-watches=0"}, nil, "", "--max-watches 0: want at least 1"},
		{"negative share", []string{"--max-connections-per-address=-1"}, nil, "", "--max-connections-per-address -1: want at least 0"},
		{"backups at no time", []string{"--backup-schedule=0 0 30 2 *", "--backup-dir=b"}, nil, "", "there is no such time"},
		{"backups without a directory", []string{"--backup-schedule=@daily"}, nil, "", "--backup-schedule needs --backup-dir"},
		{"directory without backups", []string{"--backup-dir=b"}, nil, "", "--backup-dir needs --backup-schedule"},
		{"backups in the data", []string{"--backup-schedule=@daily", "--data-dir=d", "--backup-dir=./d/b"}, nil, "", "is in --data-dir d"},
		{"backups to a URL", []string{"--backup-schedule=@daily", "--backup-dir=s3://b"}, nil, "", `--backup-dir "s3://b": want s3:https://HOST/BUCKET`},
		{"backups in clear text", []string{"--backup-schedule=@daily", "--backup-dir=s3:http://h/b"}, nil, "", "want https"},
		{"backups with credentials", []string{"--backup-schedule=@daily", "--backup-dir=s3:https://u:p@h/b"}, nil, "", "set AWS_ACCESS_KEY_ID"},
		{"no backups kept", []string{"--backup-keep=0"}, nil, "", "--backup-keep 0: want 1 to 100000"},
		{"backups kept for seconds", []string{"--backup-keep-age=1s"}, nil, "", "--backup-keep-age 1s: want 0 (no bound) or at least 1m"},
		{"slow backups", []string{"--backup-rate=1KiB"}, nil, "", "--backup-rate 1024: want 0 (no bound) or at least 64KiB"},
		{"two faults, one line", []string{"--max-requests=0", "--log-age=1s"}, nil, "", "--max-requests 0: want at least 1; --log-age 1s"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := resolve(t, c.args, c.env, c.file)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got  %q\nwant %q in one line", err, c.want)
			}
		})
	}
}

func TestEveryFlagHasAVariable(t *testing.T) {
	t.Parallel()
	var s settings.Settings
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	s.Register(flags, "h")
	var environ []string
	flags.VisitAll(func(f *pflag.Flag) { environ = append(environ, settings.Variable(f.Name)+"=x") })
	environ = append(environ, "QUORATE_CLUSTER_KEY=x", "PATH=x", "QUORATE_JION=x")
	if diff := cmp.Diff([]string{"QUORATE_JION"}, settings.UnknownVariables(flags, environ)); diff != "" {
		t.Error(diff)
	}
}

func TestQuotas(t *testing.T) {
	t.Parallel()
	s := settings.Store{ObjectQuota: []string{"configmaps=10", "deployments.apps=5", "crontabs.stable.example.com=3", "*=7"}}
	got, err := s.Quotas()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"configmaps": 10, "apps/deployments": 5, "stable.example.com/crontabs": 3, "*": 7}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
