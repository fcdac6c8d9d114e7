package apiserver_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// TestOptionsNeedsCredentials: OPTIONS * is answered like any other path, in both versions of HTTP.
func TestOptionsNeedsCredentials(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	for token, code := range map[string]int{"": 401, "wrong": 401, s.Token: 404} {
		for name, ask := range map[string]func(*testing.T, *testserver.Server, string) (int, string){"HTTP/1": options1, "HTTP/2": options2} {
			got, body := ask(t, s, token)
			if got != code || !strings.Contains(body, `"kind":"Status"`) {
				t.Errorf("%s: %d %s, want a Status with %d", name, got, body, code)
			}
		}
	}
}

func options1(t *testing.T, s *testserver.Server, token string) (int, string) {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(s.URL, "https://"), &tls.Config{
		RootCAs: s.Client.Transport.(*http.Transport).TLSClientConfig.RootCAs,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "OPTIONS * HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	return answerOf(t, resp)
}

func options2(t *testing.T, s *testserver.Server, token string) (int, string) {
	t.Helper()
	req := s.Request("OPTIONS", "/", "", "Authorization: Bearer "+token)
	req.URL = &url.URL{Scheme: "https", Host: req.URL.Host, Opaque: "*"}
	resp, err := s.Client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.ProtoMajor != 2 {
		t.Errorf("answered over %s", resp.Proto)
	}
	return answerOf(t, resp)
}

func answerOf(t *testing.T, resp *http.Response) (int, string) {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}
