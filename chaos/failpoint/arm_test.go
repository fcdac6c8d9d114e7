package failpoint_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"quorate/chaos/failpoint"
)

func TestEnvArmsFromTheBeginning(t *testing.T) {
	got, err := failpoint.Env("127.0.0.1:1", map[string]string{"logAfterSync": failpoint.Kill, "breakReadIndex": "1*return()"})
	want := []string{"GOFAIL_HTTP=127.0.0.1:1", `GOFAIL_FAILPOINTS=breakReadIndex=1*return();logAfterSync=return("kill")`}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := failpoint.Env("127.0.0.1:1", nil); err != nil || !slices.Equal(got, want[:1]) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTermsAreChecked(t *testing.T) {
	for terms, good := range map[string]bool{
		"off": true, "print": true, "panic": true, "return()": true, `return("kill")`: true, "sleep(20)": true,
		"1*return()": true, "3*off->return()": true, "10.0%sleep(5)": true, `20*off->50.0%return("kill")->print`: true,
		"": false, "kill": false, "return(true)": false, "return(1)": false, "10%return()": false, "return": false, "sleep": false, "off->": false,
		"off;x=off": false, "return()=": false,
	} {
		if _, err := failpoint.Env("", map[string]string{"logAfterSync": terms}); (err == nil) != good {
			t.Errorf("%q: %v", terms, err)
		}
	}
	if _, err := failpoint.Env("", map[string]string{"nowhere": "off"}); !errors.Is(err, failpoint.ErrUnknownPoint) {
		t.Errorf("an unknown point: %v", err)
	}
}

func TestArmSaysWhatTheNodeSays(t *testing.T) {
	if err := failpoint.Arm(t.Context(), http.DefaultClient, "127.0.0.1:1", "nowhere", "off"); !errors.Is(err, failpoint.ErrUnknownPoint) {
		t.Errorf("an unknown point: %v", err)
	}
	s := newServer(t, "n1")
	s.run()
	for _, terms := range []string{"print", "", "", "sleep(1)", "3*off->1*return()", "50.0%print", `20*off->return("kill")`, ""} {
		if err := failpoint.Arm(t.Context(), http.DefaultClient, s.traps(), "logAfterSync", terms); err != nil {
			t.Errorf("%q: %v", terms, err)
		}
	}
	s.kill()
	if err := failpoint.Arm(t.Context(), http.DefaultClient, s.traps(), "logAfterSync", ""); err == nil {
		t.Error("a point of a node that is gone was armed")
	}
}
