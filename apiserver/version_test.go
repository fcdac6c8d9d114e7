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
			version{GitVersion: "v1.36.0+quorate.v1.2.3-4-gabc-d-dirty", GitCommit: "abc", GitTreeState: "dirty", BuildDate: "2026-01-02T03:04:05Z"}},
		{Build{Version: "v1.2.3", Commit: "abc", TreeState: "clean"}, version{GitVersion: "v1.36.0+quorate.v1.2.3", GitCommit: "abc", GitTreeState: "clean"}},
		{Build{}, version{GitVersion: "v1.36.0"}},
	} {
		tc.want.Major, tc.want.Minor = "1", "36"
		tc.want.GoVersion, tc.want.Compiler, tc.want.Platform = runtime.Version(), runtime.Compiler, runtime.GOOS+"/"+runtime.GOARCH
		document, err := versionDocument(tc.build, defaultReportedVersion)
		if err != nil {
			t.Fatal(err)
		}
		var got version
		if err := json.Unmarshal(document, &got); err != nil || got != tc.want {
			t.Errorf("%+v: %s, want %+v (%v)", tc.build, document, tc.want, err)
		}
	}
}

// TestReportedVersion: the version that an operator chose is reported, if it is one.
func TestReportedVersion(t *testing.T) {
	t.Parallel()
	document, err := versionDocument(Build{Version: "v1.2.3"}, "1.30.4")
	if err != nil {
		t.Fatal(err)
	}
	var got version
	if err := json.Unmarshal(document, &got); err != nil || got.Major != "1" || got.Minor != "30" || got.GitVersion != "v1.30.4+quorate.v1.2.3" {
		t.Errorf("%s: %v", document, err)
	}
	for _, text := range []string{"", "1", "1.30", "v1.30.0", "1.30.0-rc.1", "1.030.0", "1.30.0 ", "99999.0.0"} {
		if _, err := versionDocument(Build{}, text); err == nil {
			t.Errorf("%q is reported", text)
		}
	}
}
