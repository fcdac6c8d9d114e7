package clients_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// commands are those of scripts beyond testscript's own.
var commands = map[string]func(*testscript.TestScript, bool, []string){
	"kubectl": kubectl,
	"each":    each,
	"shows":   shows,
	"await":   await,
	"cancel":  cancel,
	"prints":  prints,
	"holds":   holds,
}

var jobName = regexp.MustCompile(`^&(\w+)&$`)

// kubectl runs kubectl against the nodes in turn. If the last word is &name&, the command runs in
// the background as the job of that name.
//
//	[!] kubectl args... [&name&]
func kubectl(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(sessionKey{}).(*session)
	args = append([]string{"--server", s.servers[s.turn%len(s.servers)]}, args...)
	s.turn++
	last := len(args) - 1
	if name := jobName.FindStringSubmatch(args[last]); name != nil {
		startInBackground(ts, s, name[1], args[:last])
		return
	}
	expect(ts, neg, ts.Exec(binaries.kubectl, args...))
}

// each runs kubectl once for each line of a file, with {} replaced by the line. The following
// stdout command examines the output of all runs.
//
//	each file args...
func each(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: each file args...")
	}
	var printed strings.Builder
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var words []string
		for _, word := range args[1:] {
			words = append(words, strings.ReplaceAll(word, "{}", strings.TrimSpace(line)))
		}
		kubectl(ts, false, words)
		printed.WriteString(ts.ReadFile("stdout"))
	}
	fmt.Fprint(ts.Stdout(), printed.String())
}

func startInBackground(ts *testscript.TestScript, s *session, name string, args []string) {
	if s.jobs[name] != nil {
		ts.Fatalf("a second job %s", name)
	}
	env := append(os.Environ(), "HOME="+ts.Getenv("HOME"), "KUBECONFIG="+ts.Getenv("KUBECONFIG"))
	j, err := startJob(ts.MkAbs("."), env, binaries.kubectl, args...)
	ts.Check(err)
	s.jobs[name] = j
}

func expect(ts *testscript.TestScript, neg bool, err error) {
	switch {
	case neg && err == nil:
		ts.Fatalf("it went through")
	case !neg && err != nil:
		ts.Fatalf("%v", err)
	}
}

func findJob(ts *testscript.TestScript, name string) *job {
	j := ts.Value(sessionKey{}).(*session).jobs[name]
	if j == nil {
		ts.Fatalf("no job %s", name)
	}
	return j
}

// shows waits until a job has printed a match of the pattern, and stores the pattern's first group
// in the variable.
//
//	shows name pattern [VARIABLE]
func shows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: shows name pattern [VARIABLE]")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	found, err := findJob(ts, args[0]).shows(pattern)
	ts.Check(err)
	if len(args) == 3 {
		ts.Setenv(args[2], found[1])
	}
}

// await waits until a job ends by itself. The following stdout command examines all of its output.
//
//	[!] await name
func await(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] await name")
	}
	text, err := findJob(ts, args[0]).wait()
	fmt.Fprint(ts.Stdout(), text)
	expect(ts, neg, err)
}

// cancel ends a job that does not end by itself. The following stdout command examines all of its
// output.
//
//	cancel name
func cancel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: cancel name")
	}
	j := findJob(ts, args[0])
	j.cancel()
	text, err := j.wait()
	if err == nil {
		ts.Fatalf("%s had ended by itself:\n%s", args[0], text)
	}
	fmt.Fprint(ts.Stdout(), text)
}

// prints compares the output of the last command with a file of the script, except for the parts
// that differ from run to run (see steady). With -update it rewrites the file if they differ.
//
//	prints file
func prints(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: prints file")
	}
	got, want := ts.ReadFile("stdout"), ts.ReadFile(args[0])
	if steady(got) == steady(want) {
		return
	}
	if *update {
		ts.Check(rewrite(ts.Name(), args[0], strings.ReplaceAll(got, ts.Getenv("WORK"), "$WORK")))
		return
	}
	ts.Fatalf("printed:\n%s\nwant, but for what changes from run to run:\n%s", got, want)
}

// holds compares the output of the last command, such as a single value, with a text.
//
//	[!] holds text
func holds(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] holds text")
	}
	got := strings.TrimSuffix(ts.ReadFile("stdout"), "\n")
	if (got == args[0]) == neg {
		ts.Fatalf("printed %q", got)
	}
}
