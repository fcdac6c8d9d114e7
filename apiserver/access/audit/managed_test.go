package audit_test

import (
	"net/http"
	"strings"
	"testing"

	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/auth"
)

// TestOmitManagedFields: the policy leaves the managed fields of objects and of the items of lists
// out of all bodies, and a rule may say otherwise.
func TestOmitManagedFields(t *testing.T) {
	t.Parallel()
	const (
		object = `{"big":12345678901234567890,"metadata":{"managedFields":[{"manager":"m"}],"name":"a"}}`
		bare   = `{"big":12345678901234567890,"metadata":{"name":"a"}}`
	)
	for _, tc := range []struct {
		name, policy string
		omits        bool
	}{
		{"not asked for", "rules: [{level: RequestResponse}]", false},
		{"for all rules", "omitManagedFields: true\nrules: [{level: RequestResponse}]", true},
		{"for one rule", "rules: [{level: RequestResponse, omitManagedFields: true}]", true},
		{"but not for one", "omitManagedFields: true\nrules: [{level: RequestResponse, omitManagedFields: false}]", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log, out := newLog(t, tc.policy)
			pod := auth.Attributes{Verb: "create", Version: "v1", Resource: "pods", Namespace: "prod"}
			trail := log.Begin(received(http.MethodPost, "/api/v1/namespaces/prod/pods", pod))
			trail.Recording().KeepRequest([]byte(object))
			trail.Recording().KeepResponse([]byte(`{"items":[` + object + `]}`))
			trail.Emit(audit.ResponseComplete, audit.Outcome{Code: 200})
			want := object
			if tc.omits {
				want = bare
			}
			for _, part := range []string{`"requestObject":` + want, `"responseObject":{"items":[` + want + `]}`} {
				if !strings.Contains(out.String(), part) {
					t.Errorf("no %s in %s", part, out)
				}
			}
		})
	}
}
