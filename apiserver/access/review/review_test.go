package review_test

import (
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/budget"
	"quorate/apiserver/access/review"
	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const signingKey = "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"

// clerk is a reviewer that allows jane and the group readers to get pods named p in namespace a,
// and everybody to read /x.
type clerk struct{ unready error }

func (c clerk) Ready() error { return c.unready }

func (clerk) Allows(u *auth.User, a *auth.Attributes) bool {
	allowed, _ := clerk{}.Explain(u, a)
	return allowed
}

func (c clerk) AllowsSomewhere(u *auth.User, a *auth.Attributes) bool { return c.Allows(u, a) }

func (clerk) Explain(u *auth.User, a *auth.Attributes) (allowed bool, reason string) {
	if a.Path != "" {
		return a.Verb == "get" && a.Path == "/x", ""
	}
	ours := *a == auth.Attributes{Verb: "get", Group: "g", Version: "v", Resource: "pods", Subresource: "log", Namespace: "a", Name: "p"}
	if ours && (u.Name == "jane" && u.UID == "1" || u.In("readers")) {
		return true, `the role "reader"`
	}
	return false, ""
}

func (clerk) Rules(u *auth.User, namespace string) auth.Rules {
	return auth.Rules{
		Resource:    []auth.ResourceRule{{Verbs: []string{"get"}, Groups: []string{""}, Resources: []string{"pods/log"}, Names: []string{u.Name, namespace}}},
		NonResource: []auth.NonResourceRule{{Verbs: []string{"get"}, Paths: []string{"/x", "/y/*"}}},
		Incomplete:  map[string]string{"b": "not all roles are known"}[namespace],
	}
}

// office serves reviews without a server.
type office struct {
	catalog  *schema.Catalog
	table    *route.Table
	statuses *negotiate.Statuses
}

func open(t *testing.T, c clerk) *office {
	t.Helper()
	o := &office{table: route.NewTable()}
	var err error
	if o.catalog, err = schema.Load(kinds.Files, validation.Hooks()); err != nil {
		t.Fatal(err)
	}
	if o.statuses, err = negotiate.NewStatuses(o.catalog); err != nil {
		t.Fatal(err)
	}
	authenticator, err := auth.NewAuthenticator([]byte(signingKey), "")
	if err != nil {
		t.Fatal(err)
	}
	review.Register(o.table.Add, review.Config{Catalog: o.catalog, Reviewer: c, Authenticator: authenticator})
	return o
}

// writer is a response recorder that supports deadlines.
type writer struct{ *httptest.ResponseRecorder }

func (writer) SetReadDeadline(time.Time) error  { return nil }
func (writer) SetWriteDeadline(time.Time) error { return nil }

// ask sends a review as jane and returns the response.
func (o *office) ask(t *testing.T, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := writer{httptest.NewRecorder()}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/apis/"+path, strings.NewReader(body))
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	c := &route.Call{
		W: w, R: r, Now: time.Unix(1e9, 0), User: &auth.User{Name: "jane", UID: "1", Groups: []string{"g", auth.AuthenticatedGroup}},
		Services: &route.Services{Authorizer: clerk{}, Bodies: budget.New(budget.Config{Total: 1 << 20}), Statuses: o.statuses},
	}
	if _, ok := o.table.Find(c); !ok {
		t.Fatalf("no route %s", path)
	}
	err := c.Endpoint.Serve(c)
	if err == nil {
		return w.ResponseRecorder
	}
	failed, mapped := status.From(err, c.Subject())
	if !mapped {
		t.Errorf("internal error: %v", err)
	}
	if err := c.Status(failed.Status.Code, &failed.Status, negotiate.JSON); err != nil {
		t.Fatal(err)
	}
	return w.ResponseRecorder
}

const (
	access      = "authorization.k8s.io/v1/subjectaccessreviews"
	localAccess = "authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews"
	selfAccess  = "authorization.k8s.io/v1/selfsubjectaccessreviews"
	selfRules   = "authorization.k8s.io/v1/selfsubjectrulesreviews"
	self        = "authentication.k8s.io/v1/selfsubjectreviews"
	token       = "authentication.k8s.io/v1/tokenreviews"

	podRead = `"resourceAttributes":{"namespace":"a","verb":"get","group":"g","version":"v","resource":"pods","subresource":"log","name":"p"}`
)

// TestAnswers compares the responses to reviews with golden files (J58).
func TestAnswers(t *testing.T) {
	t.Parallel()
	o := open(t, clerk{})
	issued, err := auth.NewIssuer([]byte(signingKey)).Issue(auth.Identity{Name: "joe", UID: "2", Groups: []string{"h"}}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, tc := range []struct{ name, path, body string }{
		{"may I", selfAccess, `{"spec":{` + podRead + `}}`},
		{"may I what I may not", selfAccess, `{"spec":{"resourceAttributes":{"verb":"delete","resource":"pods"}}}`},
		{"may I see a path", selfAccess, `{"spec":{"nonResourceAttributes":{"verb":"get","path":"/x"}}}`},
		{"my own answer", selfAccess, `{"spec":{"nonResourceAttributes":{"verb":"get","path":"/y"}},"status":{"allowed":true,"reason":"I say so"}}`},
		{"about nothing", selfAccess, `{}`},
		{"about both", selfAccess, `{"spec":{` + podRead + `,"nonResourceAttributes":{"verb":"get","path":"/x"}}}`},
		{"about no path", selfAccess, `{"spec":{"nonResourceAttributes":{"verb":"get"}}}`},
		{"may a user", access, `{"spec":{` + podRead + `,"user":"jane","uid":"1"}}`},
		{"may another user", access, `{"spec":{` + podRead + `,"user":"joe","groups":["system:authenticated"]}}`},
		{"may a group", access, `{"spec":{` + podRead + `,"groups":["other","readers"]}}`},
		{"may nobody", access, `{"spec":{` + podRead + `}}`},
		{"may a user here", localAccess, `{"spec":{` + podRead + `,"user":"jane","uid":"1"}}`},
		{"may a user elsewhere", localAccess, `{"spec":{"resourceAttributes":{"namespace":"b","verb":"get","resource":"pods"},"user":"jane"}}`},
		{"may a user anywhere", localAccess, `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"},"user":"jane"}}`},
		{"may a user see a path here", localAccess, `{"spec":{"nonResourceAttributes":{"verb":"get","path":"/x"},"user":"jane"}}`},
		{"of another namespace", localAccess, `{"metadata":{"namespace":"b"},"spec":{` + podRead + `,"user":"jane"}}`},
		{"what may I", selfRules, `{"spec":{"namespace":"a"}}`},
		{"what may I, not wholly known", selfRules, `{"spec":{"namespace":"b"}}`},
		{"what may I nowhere", selfRules, `{}`},
		{"who am I", self, `{}`},
		{"whose token", token, `{"spec":{"token":"` + issued + `"}}`},
		{"whose token, for us", token, `{"spec":{"token":"` + issued + `","audiences":["other","quorate"]}}`},
		{"whose token, for others", token, `{"spec":{"token":"` + issued + `","audiences":["other"]}}`},
		{"nobody's token", token, `{"spec":{"token":"x"}}`},
		{"no token", token, `{}`},
	} {
		got := o.ask(t, tc.path, tc.body)
		b.WriteString(tc.name + "\n" + strings.ReplaceAll(got.Body.String(), issued, "TOKEN") + "\n")
	}
	path := filepath.Join("testdata", "answers.txt")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	wanted, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(wanted) {
		t.Errorf("not as in %s:\n%s", path, b.String())
	}
}

// TestUnavailableWhilePermissionsAreUnknown checks that no request is reported as forbidden while
// permissions are not known.
func TestUnavailableWhilePermissionsAreUnknown(t *testing.T) {
	t.Parallel()
	o := open(t, clerk{errors.New("the roles are at lunch")})
	for _, tc := range []struct {
		path, body string
		code       int
	}{
		{access, `{"spec":{` + podRead + `,"user":"joe"}}`, 503},
		{localAccess, `{"spec":{` + podRead + `,"user":"joe"}}`, 503},
		{selfAccess, `{"spec":{"resourceAttributes":{"verb":"delete","resource":"pods"}}}`, 503},
		{access, `{"spec":{` + podRead + `,"user":"jane","uid":"1"}}`, 201},
	} {
		if got := o.ask(t, tc.path, tc.body); got.Code != tc.code {
			t.Errorf("%s %s: %d %s", tc.path, tc.body, got.Code, got.Body)
		}
	}
}

// TestForms checks reviews and their responses in all forms of objects (B6, A42).
func TestForms(t *testing.T) {
	t.Parallel()
	o := open(t, clerk{})
	k := o.catalog.Unstored("authorization.k8s.io/v1", "SelfSubjectAccessReview")
	asked := `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","metadata":{"creationTimestamp":null},"spec":{` + podRead + `}`
	encoded := func(document string) string {
		out, err := negotiate.AppendProtobuf(nil, []byte(document), k)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	want := asked + `,"status":{"allowed":true,"reason":"the role \"reader\""}}`
	for _, tc := range []struct{ sent, body, accept, want string }{
		{"application/json", asked + "}", "application/json", want},
		{"application/vnd.kubernetes.protobuf", encoded(asked + "}"), "application/vnd.kubernetes.protobuf", encoded(want)},
		{"application/vnd.platform.protobuf", encoded(asked + "}"), "application/json", want},
		{"application/yaml", "spec:\n  nonResourceAttributes: {verb: get, path: /x}", "application/yaml", "kind: SelfSubjectAccessReview\n" +
			"apiVersion: authorization.k8s.io/v1\nmetadata:\n  creationTimestamp: null\nspec:\n  nonResourceAttributes:\n    path: /x\n    verb: get\n" +
			"status:\n  allowed: true\n"},
	} {
		got := o.ask(t, selfAccess, tc.body, "Content-Type: "+tc.sent, "Accept: "+tc.accept)
		if got.Code != http.StatusCreated || got.Body.String() != tc.want || got.Header().Get("Content-Type") != tc.accept {
			t.Errorf("%s, %s: %d %q, want %q", tc.sent, tc.accept, got.Code, got.Body, tc.want)
		}
	}
}

// TestOptions checks that reviews accept the options of a create.
func TestOptions(t *testing.T) {
	t.Parallel()
	o := open(t, clerk{})
	const odd = `{"spec":{"nonResourceAttributes":{"verb":"get","path":"/x","how":"soon"}}}`
	for _, tc := range []struct {
		query, body, warning, text string
		code                       int
	}{
		{"", odd, `299 - "unknown field \"spec.nonResourceAttributes.how\""`, `"allowed":true`, 201},
		{"?fieldValidation=Ignore&dryRun=All&fieldManager=kubectl", odd, "", `"allowed":true`, 201},
		{"?fieldValidation=Strict", odd, "", `unknown field \"spec.nonResourceAttributes.how\"`, 400},
		{"?dryRun=Some", odd, "", "dryRun", 422},
		{"", `{"kind":"Pod","apiVersion":"v1"}`, "", "Pod", 400},
		{"", ``, "", "", 400},
	} {
		got := o.ask(t, selfAccess+tc.query, tc.body)
		if got.Code != tc.code || got.Header().Get("Warning") != tc.warning || !strings.Contains(got.Body.String(), tc.text) {
			t.Errorf("%s %s: %d, warning %s: %s", tc.query, tc.body, got.Code, got.Header().Get("Warning"), got.Body)
		}
	}
}

// TestOpenReviews checks which reviews are open to all users.
func TestOpenReviews(t *testing.T) {
	t.Parallel()
	o := open(t, clerk{})
	var open []string
	for _, path := range []string{access, localAccess, selfAccess, selfRules, self, token} {
		c := &route.Call{Services: &route.Services{}, R: httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/apis/"+path, nil)}
		if _, ok := o.table.Find(c); !ok || c.Endpoint.Verb != route.VerbCreate || c.Endpoint.Subject.Plural != path[strings.LastIndex(path, "/")+1:] {
			t.Fatalf("%s: %+v", path, c.Endpoint)
		}
		if c.Endpoint.Authenticated {
			open = append(open, path)
		}
	}
	if want := []string{selfAccess, selfRules, self}; !slices.Equal(open, want) {
		t.Errorf("open to everybody: %v", open)
	}
	if n := len(review.Kinds(o.catalog)); n != 6 || slices.Contains(review.Kinds(o.catalog), nil) {
		t.Errorf("%d kinds", n)
	}
}
