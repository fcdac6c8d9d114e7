package specification

import (
	"crypto/tls"
	"testing"

	"quorate/apiserver"
	"quorate/apiserver/access/auth"
	"quorate/apiserver/internal/testserver"
)

// TestCrossOriginWrites sends requests as a browser sends them for a page, with the user's
// certificate. Writes for a page of another origin are refused; reads, and writes for a page of the
// same origin, are not. Requests with a token need no such check, because a browser never adds a
// token by itself.
func TestCrossOriginWrites(t *testing.T) {
	t.Parallel()
	var authority tls.Certificate
	s := testserver.Start(t, func(cfg *apiserver.Config) {
		authority = cfg.TLS.Certificates[0]
		cfg.TLS = cfg.TLS.Clone()
		cfg.TLS.ClientCAs, cfg.TLS.ClientAuth = cfg.TLS.RootCAs, tls.VerifyClientCertIfGiven
	})
	browser := withCertificate(t, s, authority, "cert-jane", auth.MastersGroup)
	const collection = "/api/v1/namespaces/default/configmaps"
	for _, tc := range []struct {
		name, method string
		headers      []string
		refused      bool
	}{
		{"not-a-browser", "POST", []string{"Authorization: "}, false},
		{"same-origin", "POST", []string{"Authorization: ", "Sec-Fetch-Site: same-origin", "Origin: " + s.URL}, false},
		{"cross-site", "POST", []string{"Authorization: ", "Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}, true},
		{"same-site", "POST", []string{"Authorization: ", "Sec-Fetch-Site: same-site"}, true},
		{"old-browser", "POST", []string{"Authorization: ", "Origin: https://evil.example"}, true},
		{"form", "POST", []string{"Authorization: ", "Origin: null", "Content-Type: text/plain"}, true},
		{"delete", "DELETE", []string{"Authorization: ", "Sec-Fetch-Site: cross-site"}, true},
		{"read", "GET", []string{"Authorization: ", "Sec-Fetch-Site: cross-site"}, false},
		{"token", "POST", []string{"Sec-Fetch-Site: cross-site", "Origin: https://console.example"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path, body := collection, `{"metadata":{"name":"`+tc.name+`"}}`
			if tc.method != "POST" {
				path, body = collection+"/not-a-browser", ""
			}
			a, err := s.Try(browser, tc.method, path, body, tc.headers...)
			if err != nil {
				t.Fatal(err)
			}
			if !tc.refused {
				ok(t, a)
				return
			}
			expect(t, a, 403, "Forbidden", "client certificate")
			expect(t, s.Do("GET", collection+"/"+tc.name, ""), 404, "NotFound")
		})
	}
	ok(t, s.Do("GET", collection+"/not-a-browser", "")) // the refused deletion deleted nothing
}
