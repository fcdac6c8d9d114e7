package apiserver

import (
	"encoding/json"
	"runtime"
	"testing"
)

// TestVersion_L12: /version says what was built, in words that its readers can parse as a semantic
// version.
func TestVersion_L12(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		build Build
		want  version
	}{
		{Build{Version: "v1.2.3-4-gabc_d+dirty", Commit: "abc", Date: "2026-01-02T03:04:05Z", TreeState: "dirty"},
			version{GitVersion: "v1.8.0+quorate.v1.2.3-4-gabc-d-dirty", GitCommit: "abc", GitTreeState: "dirty", BuildDate: "2026-01-02T03:04:05Z"}},
		{Build{Version: "v1.2.3", Commit: "abc", TreeState: "clean"}, version{GitVersion: "v1.8.0+quorate.v1.2.3", GitCommit: "abc", GitTreeState: "clean"}},
		{Build{}, version{GitVersion: "v1.8.0"}},
	} {
		tc.want.Major, tc.want.Minor = "1", "8"
		tc.want.GoVersion, tc.want.Compiler, tc.want.Platform = runtime.Version(), runtime.Compiler, runtime.GOOS+"/"+runtime.GOARCH
		document, err := versionDocument(tc.build)
		if err != nil {
			t.Fatal(err)
		}
		var got version
		if err := json.Unmarshal(document, &got); err != nil || got != tc.want {
			t.Errorf("%+v: %s, want %+v (%v)", tc.build, document, tc.want, err)
		}
	}
}
