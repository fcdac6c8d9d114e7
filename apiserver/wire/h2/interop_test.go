package h2

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

func get(t testing.TB, c *http.Client, url string) (*http.Response, string) {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

func TestServes(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/small", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %s %d %v %s", r.Method, r.Proto, r.Host, r.ContentLength, r.TLS != nil, r.RequestURI)
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(w, r.Body); err != nil {
			t.Error(err)
		}
	})
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	mux.HandleFunc("/big", func(w http.ResponseWriter, r *http.Request) {
		for b := big; len(b) > 0; b = b[64<<10:] {
			if _, err := w.Write(b[:64<<10]); err != nil {
				t.Error(err)
			}
		}
	})
	s := start(t, mux)
	c := s.client(t)
	resp, body := get(t, c, s.url("/small?x=y"))
	t.Log(resp.Proto, resp.Header, body)
	_, body = get(t, c, s.url("/big"))
	if body != string(big) {
		t.Error("big body differs", len(body))
	}
	for _, size := range []int{0, 1, 5000, 1 << 20, 16 << 20} {
		want := strings.Repeat("x", size)
		resp, err := c.Post(s.url("/echo"), "text/plain", strings.NewReader(want))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != want {
			t.Error(len(got), err)
		}
		resp.Body.Close()
	}
}
