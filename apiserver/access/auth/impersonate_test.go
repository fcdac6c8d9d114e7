package auth_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/access/auth"
)

// header returns the headers given as lines "Name: value".
func header(lines ...string) http.Header {
	h := http.Header{"Accept": {"application/json"}}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return h
}

func TestReadImpersonation(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		header http.Header
		user   auth.User
		needs  string // group/resource/subresource namespace/name, sorted
	}{
		"a user J12": {header("Impersonate-User: jane"), auth.User{Name: "jane", Groups: []string{"system:authenticated"}}, "/users/ /jane"},
		"groups J12": {header("Impersonate-User: jane", "Impersonate-Group: b", "Impersonate-Group: a"),
			auth.User{Name: "jane", Groups: []string{"b", "a", "system:authenticated"}}, "/groups/ /a, /groups/ /b, /users/ /jane"},
		"a uid J12": {header("Impersonate-User: jane", "Impersonate-Uid: u"),
			auth.User{Name: "jane", UID: "u", Groups: []string{"system:authenticated"}}, "/users/ /jane, authentication.k8s.io/uids/ /u"},
		"extras J12": {header("Impersonate-User: jane", "Impersonate-Extra-A%2fb: v", "Impersonate-Extra-A%2fb: w"),
			auth.User{Name: "jane", Groups: []string{"system:authenticated"}, Extra: map[string][]string{"a/b": {"v", "w"}}},
			"/users/ /jane, authentication.k8s.io/userextras/a/b /v, authentication.k8s.io/userextras/a/b /w"},
		"a service account J12 J10": {header("Impersonate-User: system:serviceaccount:n:s"),
			auth.User{Name: "system:serviceaccount:n:s", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"}},
			"/serviceaccounts/ n/s"},
		"no service account J10": {header("Impersonate-User: system:serviceaccount:n"),
			auth.User{Name: "system:serviceaccount:n", Groups: []string{"system:authenticated"}}, "/users/ /system:serviceaccount:n"},
		"nobody in particular": {header("Impersonate-User: system:anonymous"),
			auth.User{Name: "system:anonymous", Groups: []string{"system:unauthenticated"}}, "/users/ /system:anonymous"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, err := auth.ReadImpersonation(tc.header)
			if err != nil || !auth.Impersonates(tc.header) {
				t.Fatal(err)
			}
			if u := asked.User; u.Name != tc.user.Name || u.UID != tc.user.UID || !slices.Equal(u.Groups, tc.user.Groups) ||
				!maps.EqualFunc(u.Extra, tc.user.Extra, slices.Equal[[]string]) {
				t.Errorf("%+v", u)
			}
			needs := make([]string, 0, len(asked.Needs))
			for _, n := range asked.Needs {
				if n.Verb != "impersonate" {
					t.Errorf("%+v", n)
				}
				needs = append(needs, fmt.Sprintf("%s/%s/%s %s/%s", n.Group, n.Resource, n.Subresource, n.Namespace, n.Name))
			}
			slices.Sort(needs)
			if got := strings.Join(needs, ", "); got != tc.needs {
				t.Errorf("needs %s", got)
			}
		})
	}
}

// TestReadImpersonationRefuses_J12 checks that no impersonation header is ignored.
func TestReadImpersonationRefuses_J12(t *testing.T) {
	t.Parallel()
	if auth.Impersonates(header("Authorization: Bearer x")) {
		t.Error("asks for nothing")
	}
	for _, lines := range [][]string{
		{"Impersonate-Group: g"}, {"Impersonate-Uid: u"}, {"Impersonate-Extra-A: v"}, {"Impersonate-User: "}, {"Impersonate-Users: jane"},
		{"Impersonate-User: jane", "Impersonate-User: joe"}, {"Impersonate-User: jane", "Impersonate-Uid: u", "Impersonate-Uid: v"},
		{"Impersonate-User: jane", "Impersonate-Other: x"}, {"Impersonate-User: jane", "Impersonate-Extra-: x"},
		{"Impersonate-User: jane", "Impersonate-Extra-%zz: x"},
	} {
		h := header(lines...)
		if asked, err := auth.ReadImpersonation(h); err == nil || !auth.Impersonates(h) {
			t.Errorf("%q: %+v", lines, asked)
		}
	}
}

// FuzzReadImpersonation checks that each requested attribute either is an error or requires a
// permission.
func FuzzReadImpersonation(f *testing.F) {
	f.Add("jane", "g", "u", "Scopes", "v")
	f.Add("system:serviceaccount:n:s", "", "", "%2f", "")
	f.Fuzz(func(t *testing.T, user, group, uid, key, value string) {
		h := http.Header{"Impersonate-User": {user}, "Impersonate-Group": {group}, "Impersonate-Uid": {uid}, "Impersonate-Extra-" + key: {value}}
		asked, err := auth.ReadImpersonation(h)
		if err != nil {
			return
		}
		want := 3 // the user, the group and the extra
		if uid != "" {
			want++
		}
		if asked.User.Name != user || len(asked.Needs) != want || asked.Needs[0].Name == "" || !slices.Contains(asked.User.Groups, group) {
			t.Errorf("%+v", asked)
		}
	})
}
