package apiserver_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// TestContention/unconditional_writers_never_fail_E3: each of many last-write-wins writers gets
// through, and exactly one of those that name the same version (E33).
func TestContention(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	first := s.Do("POST", cms, configMap("m")).Body
	const writers = 16
	codes := func(body func(i int) string) map[int]int {
		var mu sync.Mutex
		var wg sync.WaitGroup
		got := map[int]int{}
		for i := range writers {
			wg.Go(func() {
				a, err := s.Try(s.Client, "PUT", cms+"/m", body(i))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				got[a.Code]++
				mu.Unlock()
			})
		}
		wg.Wait()
		return got
	}
	if got := codes(func(i int) string { return strings.Replace(first, `"k":"v"`, fmt.Sprintf(`"k":"a%d"`, i), 1) }); got[200] != 1 || got[409] != writers-1 {
		t.Errorf("E33: %v", got)
	}
	if got := codes(func(i int) string { return strings.Replace(configMap("m"), `"k":"v"`, fmt.Sprintf(`"k":"b%d"`, i), 1) }); got[200] != writers {
		t.Errorf("E3: %v", got)
	}
}
