package specification

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"quorate/apiserver"
	"quorate/apiserver/access/auth"
	"quorate/apiserver/internal/testserver"
)

// authenticationRows: who somebody is.
var authenticationRows = []row{
	{"J1", func(t *testing.T, s *testserver.Server) {
		a := s.Do("GET", "/api/v1/nodes", "", "Authorization: ")
		refusal(t, a, 401, "Unauthorized")
		if challenge := a.Header.Get("Www-Authenticate"); challenge != `Bearer realm="platform"` {
			t.Errorf("WWW-Authenticate: %s", challenge)
		}
	}},
	{"J2", func(t *testing.T, s *testserver.Server) {
		expired, err := auth.NewIssuer(signingKey()).Issue(auth.Identity{Name: "jane", Groups: []string{auth.MastersGroup}}, time.Nanosecond)
		if err != nil {
			t.Fatal(err)
		}
		none := s.Do("GET", "/api/v1/nodes", "", "Authorization: ").Body
		for _, credentials := range []string{"Bearer unknown", "Bearer " + expired, "Bearer a.b.c", "Bearer", "Bearer ", "Basic " + s.Token, s.Token} {
			a := s.Do("GET", "/api/v1/nodes", "", "Authorization: "+credentials)
			if refusal(t, a, 401, "Unauthorized"); a.Body != none {
				t.Errorf("%q is told %s", credentials, a.Body)
			}
		}
	}},
	{"J3", func(t *testing.T, s *testserver.Server) {
		for _, credentials := range []string{"bearer " + s.Token, "BEARER " + s.Token, "Bearer    " + s.Token + "  "} {
			ok(t, s.Do("GET", "/api/v1/nodes", "", "Authorization: "+credentials))
		}
		expect(t, s.Do("GET", "/api/v1/nodes", "", "Authorization: Bearer   "), 401, "Unauthorized")
	}},
	{"Z13 J4 §5.2", func(t *testing.T, s *testserver.Server) {
		for _, path := range []string{"/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1beta2", "/oapi/v1", "/openapi/v2", "/openapi/v3",
			"/openapi/v3/api/v1", "/api/v1/nodes", "/metrics", "/foo"} {
			expect(t, s.Do("GET", path, "", "Authorization: "), 401, "Unauthorized")
		}
		for _, path := range []string{"/healthz", "/livez", "/readyz", "/version"} {
			ok(t, s.Do("GET", path, "", "Authorization: "))
		}
		if !strings.HasPrefix(s.URL, "https://") {
			t.Errorf("served at %s", s.URL)
		}
	}},
	{"J5", func(t *testing.T, s *testserver.Server) {
		for _, path := range []string{"/healthz", "/version"} {
			expect(t, s.Do("GET", path, "", "Authorization: Bearer wrong"), 401, "Unauthorized")
			ok(t, s.Do("GET", path, ""))
		}
	}},
	{"J6", func(t *testing.T, s *testserver.Server) {
		var authority tls.Certificate
		other := testserver.StartOn(t, s.Store, func(cfg *apiserver.Config) {
			authority = cfg.TLS.Certificates[0]
			cfg.TLS = cfg.TLS.Clone()
			cfg.TLS.ClientCAs, cfg.TLS.ClientAuth = cfg.TLS.RootCAs, tls.VerifyClientCertIfGiven
		})
		const path = "/api/v1/nodes/none"
		for group, code := range map[string]int{auth.MastersGroup: 404, "others": 403} {
			a, err := other.Try(withCertificate(t, other, authority, "cert-jane", group), "GET", path, "", "Authorization: ")
			if err != nil {
				t.Fatal(err)
			}
			if a.Code != code || code == 403 && !strings.Contains(a.Body, `User \"cert-jane\"`) {
				t.Errorf("%s: %s", group, a.Body)
			}
		}
		a, err := other.Try(withCertificate(t, other, authority, "cert-jane", auth.MastersGroup), "GET", path, "", "Authorization: Bearer wrong")
		if err != nil {
			t.Fatal(err)
		}
		expect(t, a, 401, "Unauthorized")
		expect(t, other.Do("GET", path, "", "Authorization: "), 401, "Unauthorized")
	}},
	{"J7", func(t *testing.T, s *testserver.Server) {
		file := filepath.Join(t.TempDir(), "tokens")
		lines := "master-token,jane,u1,\"devs,system:masters\"\nplain-token,joe,u2\n"
		if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		other := testserver.StartOn(t, s.Store, func(cfg *apiserver.Config) { cfg.TokenFile = file })
		ok(t, other.Do("GET", "/api/v1/nodes", "", "Authorization: Bearer master-token"))
		expect(t, other.Do("GET", "/api/v1/nodes", "", "Authorization: Bearer plain-token"), 403, "Forbidden", `User "joe"`)
		expect(t, s.Do("GET", "/api/v1/nodes", "", "Authorization: Bearer master-token"), 401, "Unauthorized")
	}},
	{"J9", func(t *testing.T, s *testserver.Server) {
		now := time.Now()
		good := func() jwt.MapClaims {
			return jwt.MapClaims{"iss": "quorate", "aud": "quorate", "sub": "jane", "groups": []string{auth.MastersGroup},
				"exp": now.Add(time.Hour).Unix(), "nbf": now.Add(-time.Minute).Unix()}
		}
		ask := func(method jwt.SigningMethod, key any, claims jwt.MapClaims) testserver.Answer {
			token, err := jwt.NewWithClaims(method, claims).SignedString(key)
			if err != nil {
				t.Fatal(err)
			}
			return s.Do("GET", "/api/v1/nodes", "", "Authorization: Bearer "+token)
		}
		ok(t, ask(jwt.SigningMethodHS256, signingKey(), good()))
		expect(t, ask(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good()), 401, "Unauthorized")
		expect(t, ask(jwt.SigningMethodHS512, signingKey(), good()), 401, "Unauthorized")
		expect(t, ask(jwt.SigningMethodHS256, []byte("another key"), good()), 401, "Unauthorized")
		for claim, bad := range map[string]any{
			"iss": "other", "aud": "other", "exp": now.Add(-time.Minute).Unix(), "nbf": now.Add(time.Hour).Unix(), "sub": "",
		} {
			for _, v := range []any{bad, nil} {
				claims := good()
				claims[claim] = v
				if delete(claims, claim); v != nil {
					claims[claim] = v
				}
				if claim == "nbf" && v == nil {
					continue // a token may be good from the beginning
				}
				if a := ask(jwt.SigningMethodHS256, signingKey(), claims); a.Code != 401 {
					t.Errorf("%s %v: %d %s", claim, v, a.Code, a.Body)
				}
			}
		}
		claims := good()
		claims["groups"] = []string{"others"}
		expect(t, ask(jwt.SigningMethodHS256, signingKey(), claims), 403, "Forbidden", `User "jane"`)
	}},
	{"J11", func(t *testing.T, s *testserver.Server) {
		authenticator, err := auth.NewAuthenticator(signingKey(), "")
		if err != nil {
			t.Fatal(err)
		}
		token := s.IssueToken("jane", "devs")
		credential, err := authenticator.Authenticate(http.Header{"Authorization": {"Bearer " + token}}, time.Now())
		if err != nil || !slices.Equal(credential.User.Groups, []string{"devs", "system:authenticated"}) {
			t.Errorf("%+v, %v", credential.User, err)
		}
		// What the group may do is done by a user of no other group.
		ok(t, s.Do("GET", "/apis", "", "Authorization: Bearer "+token))
	}},
	{"J12", impersonates},
}

// impersonates: who has the verb for each name that is asked for acts as that user, and nobody
// else.
func impersonates(t *testing.T, s *testserver.Server) {
	u := newSomebody(t, s)
	create(t, s, "RoleBinding", u.ns, "view", `{"roleRef":{"kind":"ClusterRole","name":"view"},"subjects":[{"kind":"User","name":"seen"},{"kind":"ServiceAccount","name":"robot"}]}`)
	pods := collection("Pod", u.ns)
	asSeen, asRobot := "Impersonate-User: seen", "Impersonate-User: system:serviceaccount:"+u.ns+":robot"
	for want, headers := range map[string][]string{
		`users "seen" is forbidden: User "` + u.name + `" cannot impersonate resource "users" in API group "" at the cluster scope`:                                 {asSeen},
		`serviceaccounts "robot" is forbidden: User "` + u.name + `" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "` + u.ns + `"`: {asRobot},
	} {
		if m := refusal(t, u.do("GET", pods, "", headers...), 403, "Forbidden").Message; m != want {
			t.Errorf("got  %s\nwant %s", m, want)
		}
	}
	u.everywhere("impersonator", `[{"apiGroups":[""],"resources":["users","groups"],"resourceNames":["seen","team"],"verbs":["impersonate"]},
		{"apiGroups":["authentication.k8s.io"],"resources":["uids","userextras/scopes"],"resourceNames":["u1","s1"],"verbs":["impersonate"]}]`)
	u.here("impersonator", `[{"apiGroups":[""],"resources":["serviceaccounts"],"verbs":["impersonate"]}]`)
	ok(t, u.do("GET", pods, "", asSeen))
	ok(t, u.do("GET", pods, "", asRobot))
	expect(t, u.do("GET", "/api/v1/nodes", "", asSeen), 403, "Forbidden", `User "seen" cannot list`)
	expect(t, u.do("GET", pods, ""), 403, "Forbidden", `User "`+u.name+`" cannot list`)
	for header, resource := range map[string]string{
		"Impersonate-Group: system:masters": "groups", "Impersonate-Uid: u2": "uids", "Impersonate-Extra-Scopes: s2": "userextras/scopes",
		"Impersonate-Extra-Other: s1": "userextras/other",
	} {
		expect(t, u.do("GET", pods, "", asSeen, header), 403, "Forbidden", `cannot impersonate resource "`+resource+`"`)
	}
	me := func(headers ...string) string {
		return ok(t, u.do("POST", userReviews+"selfsubjectreviews", "{}", headers...))
	}
	want(t, me(asSeen, "Impersonate-Group: team", "Impersonate-Uid: u1", "Impersonate-Extra-Scopes: s1"),
		"status.userInfo.username", "seen", "status.userInfo.uid", "u1", "status.userInfo.groups", `["team","system:authenticated"]`)
	want(t, me(asRobot), "status.userInfo.groups", `["system:serviceaccounts","system:serviceaccounts:`+u.ns+`","system:authenticated"]`)
	want(t, ok(t, s.Do("POST", userReviews+"selfsubjectreviews", "{}", "Impersonate-User: system:anonymous")),
		"status.userInfo.groups", `["system:unauthenticated"]`)
	// What makes no sense is refused, whoever asks.
	for _, header := range []string{"Impersonate-Group: g", "Impersonate-Uid: u", "Impersonate-Extra-Scopes: x"} {
		expect(t, s.Do("GET", "/api/v1/nodes", "", header), 400, "BadRequest", "impersonation needs one user")
	}
	expect(t, s.Do("GET", "/api/v1/nodes", "", asSeen, "Impersonate-Other: x"), 400, "BadRequest", "Impersonate-Other")
}

// signingKey is the key of testserver's tokens.
func signingKey() []byte { return []byte(strings.Repeat("k", 32)) }

// withCertificate is a client that shows a certificate of a user, signed by authority.
func withCertificate(t *testing.T, s *testserver.Server, authority tls.Certificate, user, group string) *http.Client {
	t.Helper()
	ca, err := x509.ParseCertificate(authority.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: user, Organization: []string{group}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, &key.PublicKey, authority.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	client := s.NewClient()
	transport := client.Transport.(*http.Transport)
	transport.TLSClientConfig.Certificates = []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}
	return client
}
