package specification

import (
	"testing"

	"quorate/apiserver/internal/testserver"
)

const (
	accessReviews = "/apis/authorization.k8s.io/v1/"
	userReviews   = "/apis/authentication.k8s.io/v1/"
)

// reviewRows prove what clients learn about themselves.
var reviewRows = []row{
	{"J58 L41", func(t *testing.T, s *testserver.Server) {
		jane := "Authorization: Bearer " + s.IssueToken("jane", "staff")
		const delete = `"resourceAttributes":{"verb":"delete","group":"apps","resource":"statefulsets","namespace":"default"}`
		ask := func(path, body string, headers ...string) string { return ok(t, s.Do("POST", path, body, headers...)) }

		want(t, ask(accessReviews+"selfsubjectaccessreviews", `{"spec":{`+delete+`}}`),
			"kind", "SelfSubjectAccessReview", "apiVersion", "authorization.k8s.io/v1", "status.allowed", "true")
		want(t, ask(accessReviews+"selfsubjectaccessreviews", `{"spec":{`+delete+`}}`, jane), "status.allowed", "false")
		want(t, ask(accessReviews+"selfsubjectaccessreviews", `{"spec":{"nonResourceAttributes":{"verb":"get","path":"/metrics"}}}`, jane),
			"status.allowed", "false")
		want(t, ask(accessReviews+"selfsubjectrulesreviews", `{"spec":{"namespace":"default"}}`), "status.incomplete", "false",
			"status.resourceRules.0", `{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}`)
		want(t, ask(userReviews+"selfsubjectreviews", `{}`, jane), "kind", "SelfSubjectReview",
			"status.userInfo.username", "jane", "status.userInfo.groups", `["staff","system:authenticated"]`)

		// Of others one must be allowed to ask.
		other := `{"spec":{` + delete + `,"user":"joe","groups":["system:masters"]}}`
		for _, path := range []string{accessReviews + "subjectaccessreviews", accessReviews + "namespaces/default/localsubjectaccessreviews"} {
			want(t, ask(path, other), "status.allowed", "true")
			expect(t, s.Do("POST", path, other, jane), 403, "Forbidden", "cannot create resource")
		}
		want(t, ask(userReviews+"tokenreviews", `{"spec":{"token":"`+s.IssueToken("jane")+`"}}`),
			"status.authenticated", "true", "status.user.username", "jane")
		expect(t, s.Do("POST", userReviews+"tokenreviews", `{"spec":{"token":"x"}}`, jane), 403, "Forbidden", "cannot create resource")
		expect(t, s.Do("POST", userReviews+"selfsubjectreviews", `{}`, "Authorization: "), 401, "Unauthorized")
	}},
	{"Z15", func(t *testing.T, s *testserver.Server) {
		for _, path := range []string{accessReviews, userReviews} {
			list := ok(t, s.Do("GET", path[:len(path)-1], ""))
			for _, name := range map[string][]string{
				accessReviews: {"localsubjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews"},
				userReviews:   {"selfsubjectreviews", "tokenreviews"},
			}[path] {
				want(t, resourceNamed(t, list, name), "verbs", `["create"]`, "storageVersionHash", "")
			}
		}
		expect(t, s.Do("GET", accessReviews+"subjectaccessreviews", ""), 405, "MethodNotAllowed")
		for _, path := range []string{"/apis/network.k8s.io", "/apis/image.k8s.io", "/apis/image.k8s.io/v1/images"} {
			expect(t, s.Do("GET", path, ""), 404, "NotFound")
		}
		// The group that stock clients know for roles serves those of ours, and stores none of its
		// own.
		want(t, ok(t, s.Do("GET", "/apis/rbac.authorization.k8s.io", "")), "versions.0.version", "v1")
		// Nobody hides them behind kinds of his own.
		expectInvalid(t, s.Do("POST", "/apis/extensions/v1beta1/thirdpartyresources",
			`{"metadata":{"name":"odd-review.authorization.k8s.io"},"versions":[{"name":"v1"}]}`), "metadata.name", "FieldValueInvalid", "reserved")
		expect(t, s.Do("GET", accessReviews+"oddreviews", ""), 404, "NotFound")
		want(t, resourceNamed(t, ok(t, s.Do("GET", accessReviews[:len(accessReviews)-1], "")), "subjectaccessreviews"), "kind", "SubjectAccessReview")
	}},
}
