package failpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Kill and Break are the common terms of a failpoint. Others are off, sleep(MILLISECONDS), print
// and panic. A count or a percentage may precede a term, and further terms may follow it:
// "1*return()" returns once, "3*off->return()" returns from the fourth time on, and "10.0%sleep(5)"
// sleeps in a tenth of all cases. While a goroutine sleeps at a point, others that reach the point
// wait for it.
const (
	Kill  = `return("kill")` // ends the process as SIGKILL does
	Break = "return()"       // breaks the rule of a point named "break…"
)

// Variables of a node's environment.
const (
	envHTTP  = "GOFAIL_HTTP"
	envTerms = "GOFAIL_FAILPOINTS"
)

// A process ignores an invalid term in its environment, and a value that no point expects has no
// effect.
const (
	term         = `(\d+\*|\d+\.\d+%)*(off|print|panic|sleep\(\d+\)|return\(\)|return\("kill"\))`
	termsPattern = "^" + term + "(->" + term + ")*$"
)

// maxAnswerBytes bounds the bytes that are read of a node's response.
const maxAnswerBytes = 4 << 10

// ErrUnknownPoint reports a name that Points does not contain.
var ErrUnknownPoint = errors.New("no such failpoint")

// Env returns the environment variables that make a node's process serve Arm at address, a
// HOST:PORT, and arm the given points, a map of names to terms, when it starts. Use a loopback
// address: any client of the address can arm points. It returns an error for invalid terms, and
// ErrUnknownPoint for a name that Points lacks.
func Env(address string, armed map[string]string) ([]string, error) {
	env := []string{envHTTP + "=" + address}
	if len(armed) == 0 {
		return env, nil
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(armed)) {
		if err := check(name, armed[name]); err != nil {
			return nil, err
		}
		all = append(all, name+"="+armed[name])
	}
	return append(env, envTerms+"="+strings.Join(all, ";")), nil
}

// Arm arms a point of the node that listens at address, HOST:PORT, with terms. Empty terms disarm
// the point. The client determines how the node is reached.
func Arm(ctx context.Context, client *http.Client, address, point, terms string) error {
	if terms == "" {
		terms = "off" // gofail refuses to disable what is disabled already
	}
	if err := check(point, terms); err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://"+address+"/"+point, strings.NewReader(terms))
	if err != nil {
		return fmt.Errorf("arm %s: %w", point, err)
	}
	request.Close = true // the node may be killed at any moment
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("arm %s: %w", point, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return fmt.Errorf("arm %s: %w", point, err)
	}
	if response.StatusCode != http.StatusNoContent {
		return fmt.Errorf("arm %s with %q: %s", point, terms, strings.TrimSpace(string(answer)))
	}
	return nil
}

func check(point, terms string) error {
	if !slices.ContainsFunc(Points(), func(p Point) bool { return p.Name == point }) {
		return fmt.Errorf("%w: %q", ErrUnknownPoint, point)
	}
	if !regexp.MustCompile(termsPattern).MatchString(terms) {
		return fmt.Errorf("arm %s: %q can't be the terms of a failpoint", point, terms)
	}
	return nil
}
