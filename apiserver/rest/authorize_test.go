package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/budget"
	"quorate/apiserver/internal/testserver"
	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
	"quorate/apiserver/rest"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// only allows one verb.
type only string

func (o only) Allows(_ *auth.User, a *auth.Attributes) bool { return a.Verb == string(o) }

func (o only) AllowsSomewhere(u *auth.User, a *auth.Attributes) bool { return o.Allows(u, a) }

// anything may be granted by anybody.
type anything struct{}

func (anything) Escalation(context.Context, *auth.User, *schema.Object, *schema.Object) (string, error) {
	return "", nil
}

// writer has the deadlines of a real one.
type writer struct{ *httptest.ResponseRecorder }

func (writer) SetReadDeadline(time.Time) error { return nil }

// TestReplaceAuthorization/E12: a replace that creates needs the verb create besides.
func TestReplaceAuthorization(t *testing.T) {
	t.Parallel()
	store, stop := testserver.OpenStore(t, t.TempDir(), true)
	t.Cleanup(stop)
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	handlers, err := rest.New(rest.Config{Catalog: catalog, Store: store, Grants: anything{}})
	if err != nil {
		t.Fatal(err)
	}
	const path = "/apis/rbac.authorization.platform.io/v1beta1/clusterroles/:name"
	var put *route.Endpoint
	handlers.Register(func(method, at string, e *route.Endpoint) {
		if method == http.MethodPut && at == path {
			put = e
		}
	})
	replace := func(a auth.Authorizer, label string) error {
		body := `{"metadata":{"name":"r","labels":{"l":"` + label + `"}},"rules":[]}`
		c := &route.Call{
			W: writer{httptest.NewRecorder()}, R: httptest.NewRequest(http.MethodPut, "/", strings.NewReader(body)), Now: time.Now(),
			User: &auth.User{Name: "u"}, Endpoint: put, Name: "r", Services: &route.Services{Authorizer: a, Bodies: budget.New(budget.Config{Total: 1 << 20})},
		}
		defer c.Release()
		return put.Serve(c)
	}
	refused, _ := status.From(replace(only(route.VerbUpdate), "a"), status.Subject{})
	if refused.Status.Code != http.StatusForbidden || !strings.Contains(refused.Error(), `User "u" cannot create resource "clusterroles"`) {
		t.Errorf("%+v", refused.Status)
	}
	if err := replace(only(route.VerbCreate), "a"); err != nil {
		t.Fatal(err)
	}
	if err := replace(only(route.VerbUpdate), "b"); err != nil {
		t.Errorf("it is there, so that nothing is created: %v", err)
	}
}
