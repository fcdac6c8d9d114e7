package specification

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"quorate/apiserver/internal/testserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// row is one rule with its proof.
type row struct {
	// id is one of rows.tsv, or several that one test proves, with spaces between them.
	id  string
	run func(t *testing.T, s *testserver.Server)
}

// section is a chapter, tested on a server of its own, in order.
type section struct {
	name string
	rows []row
}

// sections are all chapters; each has a file.
var sections = []section{
	{"Kinds", kindRows},
	{"Fields", fieldRows},
	{"Read", readRows},
	{"Replace", slices.Concat(replaceRows, replaceFieldRows)},
	{"Subresources", subresourceRows},
	{"Patch", slices.Concat(patchRows, patchObjectRows)},
	{"Initializers", initializerRows},
	{"Bindings", bindingRows},
	{"Create", slices.Concat(createRows, createMetadataRows, createBodyRows, createOptionRows)},
	{"Authentication", authenticationRows},
	{"Authorization", authorizationRows},
	{"Roles", slices.Concat(roleRows, grantRows)},
	{"Objects", objectRows},
	{"Workloads", workloadRows},
	{"History", slices.Concat(historyRows, restoreRows)},
	{"Errors", slices.Concat(errorRows, failureRows)},
	{"Media", slices.Concat(mediaRows, bodyRows, streamRows)},
	{"Tables", slices.Concat(tableRows, columnRows)},
	{"List", slices.Concat(listRows, selectorRows, pageRows)},
	{"Watch", slices.Concat(watchRows, forgetfulRows)},
	{"ThirdParty", thirdPartyRows},
	{"Discovery", slices.Concat(discoveryRows, reviewRows)},
	{"Kubectl", kubectlRows},
	{"Operations", operationRows},
	{"Delete", deleteRows},
	{"DeleteCollection", deleteCollectionRows},
	{"Garbage", garbageRows},
	{"Failover", garbageReplicaRows},
	{"Expiry", expiryRows},
}

// TestSpecification runs every row and accounts for all of them.
func TestSpecification(t *testing.T) {
	known := listedRows(t)
	leftOut := readLeftOut(t)
	covered := map[string]bool{}
	cover := func(ids string) {
		for id := range strings.FieldsSeq(ids) {
			if known[id] == "" {
				t.Errorf("a test of %s, which rows.tsv lacks", id)
			}
			covered[id] = true
		}
	}
	for _, sec := range sections {
		for _, r := range sec.rows {
			cover(r.id)
		}
	}
	for _, r := range slices.Concat(consistencyRows, listReplicaRows) {
		cover(r.id)
	}
	account(t, known, covered, leftOut)
	t.Run("Consistency", func(t *testing.T) {
		t.Parallel()
		replicated(t, slices.Concat(consistencyRows, listReplicaRows))
	})
	for _, sec := range sections {
		t.Run(sec.name, func(t *testing.T) {
			t.Parallel()
			s := testserver.Start(t, nil)
			for _, r := range sec.rows {
				t.Run(r.id, func(t *testing.T) { r.run(t, s) })
			}
		})
	}
}

// account fails for rows with neither test nor reason, and prints how many there are by section.
func account(t *testing.T, known map[string]string, covered map[string]bool, leftOut map[string]string) {
	t.Helper()
	type count struct{ rows, covered, left int }
	counts := map[string]*count{}
	for id, rule := range known {
		part := partOf(id)
		if counts[part] == nil {
			counts[part] = &count{}
		}
		c := counts[part]
		c.rows++
		switch {
		case covered[id] && leftOut[id] != "":
			t.Errorf("row %s has a test, and is in LEFT_OUT.md", id)
		case covered[id]:
			c.covered++
		case leftOut[id] != "":
			c.left++
		default:
			t.Errorf("row %s has neither a test nor a reason: %s", id, rule)
		}
	}
	for id := range leftOut {
		if known[id] == "" {
			t.Errorf("LEFT_OUT.md names %s, which rows.tsv lacks", id)
		}
	}
	parts := make([]string, 0, len(counts))
	for part := range counts {
		parts = append(parts, part)
	}
	slices.Sort(parts)
	var b strings.Builder
	var all count
	for _, part := range parts {
		c := counts[part]
		fmt.Fprintf(&b, "\n%-4s %3d rows, %3d covered, %3d left out", part, c.rows, c.covered, c.left)
		all.rows, all.covered, all.left = all.rows+c.rows, all.covered+c.covered, all.left+c.left
	}
	fmt.Fprintf(&b, "\nall  %3d rows, %3d covered, %3d left out", all.rows, all.covered, all.left)
	t.Log(b.String())
}

// partOf is the chapter of an id: "A" of A12, "§4" of §4.4-limit.
func partOf(id string) string {
	return chapter.FindString(id)
}

// sentence is what the rule of a row looks like: several words, and a full stop.
var sentence = regexp.MustCompile(`^\S+( \S+){2,}\.$`)

var chapter = regexp.MustCompile(`^(?:§\d+|[A-Z])`)

// listedRows returns the rule of each row by its id.
func listedRows(t *testing.T) map[string]string {
	t.Helper()
	rows := map[string]string{}
	for line := range lines(t, "rows.tsv") {
		id, rule, ok := strings.Cut(line, "\t")
		if !ok || rows[id] != "" {
			t.Fatalf("rows.tsv: %q", line)
		}
		if !sentence.MatchString(rule) {
			t.Errorf("rows.tsv: the rule of %s is not a sentence: %q", id, rule)
		}
		rows[id] = rule
	}
	return rows
}

// readLeftOut reads the table of LEFT_OUT.md.
func readLeftOut(t *testing.T) map[string]string {
	t.Helper()
	rows := map[string]string{}
	for line := range lines(t, "LEFT_OUT.md") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		ids, reason := strings.TrimSpace(cells[1]), strings.TrimSpace(strings.Join(cells[2:len(cells)-1], "|"))
		if ids == "row" || strings.HasPrefix(ids, "---") {
			continue
		}
		for id := range strings.FieldsSeq(strings.ReplaceAll(ids, ",", " ")) {
			rows[id] = reason
		}
	}
	return rows
}

func lines(t *testing.T, name string) func(yield func(string) bool) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(string) bool) {
		defer f.Close()
		scanner := bufio.NewScanner(f)
		for scanner.Scan() {
			if !yield(scanner.Text()) {
				return
			}
		}
		if err := scanner.Err(); err != nil {
			t.Fatal(err)
		}
	}
}
