package main

import (
	"runtime/debug"
	"testing"

	"quorate/cmd/quorate/node"
)

func TestWhichBuild_L12(t *testing.T) {
	t.Parallel()
	noted := func(version string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i < len(settings); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return info
	}
	stamped := node.Build{Version: "v1.2.3", Commit: "abc", Date: "2026-01-02T03:04:05Z", TreeState: "dirty"}
	for name, tc := range map[string]struct {
		stamped node.Build
		info    *debug.BuildInfo
		want    node.Build
	}{
		"by the Makefile":         {stamped, noted("v9.9.9", "vcs.revision", "def", "vcs.modified", "false"), stamped},
		"by the Makefile, no git": {node.Build{Version: "v1.2.3", Commit: "unknown"}, noted("(devel)"), node.Build{Version: "v1.2.3", Commit: "unknown"}},
		"by go build, dirty": {node.Build{}, noted("v0.0.0-20260102030405-abc+dirty", "vcs.revision", "abc", "vcs.time", "2026-01-02T03:04:05Z", "vcs.modified", "true"),
			node.Build{Version: "v0.0.0-20260102030405-abc+dirty", Commit: "abc", Date: "2026-01-02T03:04:05Z", TreeState: "dirty"}},
		"by go build":      {node.Build{}, noted("v1.2.3", "vcs.revision", "abc", "vcs.modified", "false"), node.Build{Version: "v1.2.3", Commit: "abc", TreeState: "clean"}},
		"by go run":        {node.Build{}, noted("(devel)"), node.Build{Version: "v0.0.0-devel", Commit: "unknown"}},
		"nothing is known": {node.Build{}, nil, node.Build{Version: "v0.0.0-devel", Commit: "unknown"}},
	} {
		if got := whichBuild(tc.stamped, tc.info); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}
