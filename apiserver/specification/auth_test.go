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
	"quorate/apiserver/auth"
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
		user, err := authenticator.Authenticate(http.Header{"Authorization": {"Bearer " + token}}, time.Now())
		if err != nil || !slices.Equal(user.Groups, []string{"devs", "system:authenticated"}) {
			t.Errorf("%+v, %v", user, err)
		}
		// What the group may do is done by a user of no other group.
		ok(t, s.Do("GET", "/apis", "", "Authorization: Bearer "+token))
	}},
	{"J12", func(t *testing.T, s *testserver.Server) {
		for _, header := range []string{"Impersonate-User: jane", "Impersonate-Group: g", "Impersonate-Uid: u", "Impersonate-Extra-Scopes: x"} {
			expect(t, s.Do("GET", "/api/v1/nodes", "", header), 403, "Forbidden", "impersonation")
			expect(t, s.Do("POST", "/api/v1/nodes", minimal("Node", "", "j12"), header), 403, "Forbidden", "impersonation")
		}
		expect(t, s.Do("GET", "/api/v1/nodes/j12", ""), 404, "NotFound")
	}},
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
