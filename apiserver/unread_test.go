package apiserver_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"quorate/apiserver"
	"quorate/apiserver/internal/testserver"
)

// unread is a client of HTTP/2 that requests much and takes nothing: all its windows are shut.
type unread struct {
	t     *testing.T
	conn  *tls.Conn
	fr    *http2.Framer
	enc   *hpack.Encoder
	block bytes.Buffer
	token string
	next  uint32
	got   map[http2.FrameType]int
}

func dialUnread(t *testing.T, s *testserver.Server, token string) *unread {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(s.URL, "https://"), &tls.Config{NextProtos: []string{"h2"}, InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	u := &unread{t: t, conn: conn, fr: http2.NewFramer(conn, conn), token: token, next: 1, got: map[http2.FrameType]int{}}
	u.enc = hpack.NewEncoder(&u.block)
	u.must(conn.SetDeadline(time.Now().Add(10 * time.Minute)))
	_, err = conn.Write([]byte(http2.ClientPreface))
	u.must(err)
	u.must(u.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}))
	return u
}

func (u *unread) must(err error) {
	u.t.Helper()
	if err != nil {
		u.t.Fatal(err)
	}
}

func (u *unread) get(path string) {
	u.block.Reset()
	for _, f := range [][2]string{
		{":method", "GET"}, {":scheme", "https"}, {":authority", "localhost"}, {":path", path}, {"authorization", "Bearer " + u.token},
	} {
		u.must(u.enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}))
	}
	u.must(u.fr.WriteHeaders(http2.HeadersFrameParam{
		StreamID: u.next, BlockFragment: u.block.Bytes(), EndHeaders: true, EndStream: true,
	}))
	u.next += 2
}

// await reads frames until n of the kind have come.
func (u *unread) await(kind http2.FrameType, n int) {
	u.t.Helper()
	for u.got[kind] < n {
		f, err := u.fr.ReadFrame()
		if err != nil {
			u.t.Fatalf("%v after the frames %v, waiting for %d of %v", err, u.got, n, kind)
		}
		u.got[f.Header().Type]++
	}
}

// TestUnreadAnswers: answers that nobody takes do not keep others from being served, however many
// there are and whatever their size. Each ends at its deadline, and nothing is left of them.
func TestUnreadAnswers(t *testing.T) {
	t.Parallel()
	const longest = 5 * time.Minute
	for timeout := 5 * time.Second; !unreadAnswers(t, timeout); timeout *= 4 {
		if timeout > longest {
			t.Fatalf("the reads of another user took more than %v", timeout)
		}
	}
}

// unreadAnswers is TestUnreadAnswers with a deadline of answers. It returns false if the reads of
// the other user took longer on this machine, so that some began after those answers had ended.
func unreadAnswers(t *testing.T, timeout time.Duration) (beside bool) {
	t.Helper()
	const conns, perConn = 2, 1000
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.Limits.AnswerTimeout = timeout })
	big := fmt.Sprintf(`{"metadata":{"name":"big"},"data":{"k":"%s"}}`, strings.Repeat("x", 24<<10))
	if a := s.Do("POST", "/api/v1/namespaces/default/configmaps", big); a.Code != 200 {
		t.Fatal(a)
	}
	fill(t, s, 200)
	paths := []string{
		"/openapi/proto", "/api/v1/configmaps", "/api/v1/namespaces/default/configmaps/big", "/api/v1/namespaces/default", "/api/v1/configmaps?limit=40",
	}
	begun := time.Now()
	mallory := s.IssueToken("mallory", "system:masters")
	clients := make([]*unread, conns)
	for i := range clients {
		clients[i] = dialUnread(t, s, mallory)
		for j := range perConn {
			clients[i].get(paths[j%len(paths)])
		}
	}
	for _, u := range clients {
		u.await(http2.FrameHeaders, perConn)
	}
	for range 50 {
		for _, path := range append(paths, "/livez", "/readyz") {
			if a := s.Do("GET", path, ""); a.Code != 200 {
				t.Fatalf("%s of another user: %d %s", path, a.Code, a.Body)
			}
		}
	}
	if reads := time.Since(begun); reads > timeout {
		t.Logf("the reads of another user took %v, more than the deadline of %v", reads, timeout)
		return false
	}
	if held, most := s.Summed("quorate_apiserver_answer_bytes"), float64(64<<20); held == 0 || held > most {
		t.Errorf("the answers hold %.0f bytes, want at most a share of %.0f", held, most)
	}
	if inUse := s.Summed("quorate_apiserver_fairness_seats_in_use"); inUse > 1 {
		t.Errorf("%.0f seats are in use", inUse)
	}
	for _, u := range clients {
		u.await(http2.FrameRSTStream, perConn)
	}
	s.Eventually("nothing is left", func() bool {
		return s.Summed("quorate_apiserver_answer_bytes") == 0 && s.Summed("quorate_apiserver_fairness_seats_in_use") == 0
	})
	if n := s.Summed("quorate_apiserver_fairness_seats_lost_total"); n == 0 {
		t.Error("no list lost its seats")
	}
	return true
}
