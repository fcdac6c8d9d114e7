package schema

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestPoolsShareNothing decodes and validates objects of one kind on many goroutines: good ones,
// ones with an error, an unknown field or a long path that no other has, and ones that can't be
// decoded. Each result names only what its own body has, and objects stay as they were when others
// are decoded and validated.
func TestPoolsShareNothing(t *testing.T) {
	k := engine(t).Kind("/api/v1", "pods")
	const goroutines, rounds = 8, 60
	deep := `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In","values":["%s"]}]}]}}},`
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			var before *Object
			var textBefore string
			for round := range rounds {
				mine := fmt.Sprintf("g%d-%d", g, round)
				form := (g + round) % 4
				label, more, tail := mine, "", "}"
				switch form {
				case 1:
					label = "_" + mine
				case 2:
					more = fmt.Sprintf(deep, mine) + `"unknown-` + mine + `":1,`
				case 3:
					tail = ""
				}
				body := fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"n","labels":{"l":%q}},"spec":{%s"containers":[{"name":%q,"image":"i"}]}`,
					mine, label, more, mine) + tail
				o, problems, err := k.Decode([]byte(body))
				if form == 3 {
					if err == nil {
						t.Errorf("%s: cut short, and decoded", mine)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", mine, err)
					continue
				}
				said := strings.Join(problems.List(), " ")
				if unknown := form == 2; unknown != (said != "") || unknown && !strings.Contains(said, "unknown-"+mine) {
					t.Errorf("%s: problems %q", mine, said)
				}
				k.PrepareCreate(o)
				errs := k.ValidateCreate(o)
				if invalid := form == 1; invalid != (len(errs) == 1) || invalid && !strings.Contains(errs[0].Error(), label) || len(errs) > 1 {
					t.Errorf("%s: errors %v", mine, errs)
				}
				if before != nil {
					if text := string(before.AppendJSON(nil)); text != textBefore {
						t.Errorf("%s: the object before it changed from %s to %s", mine, textBefore, text)
					}
				}
				times := 3 // as name, label and container
				if form == 2 {
					times++
				}
				text := string(o.AppendJSON(nil))
				if strings.Count(text, mine) != times {
					t.Errorf("%s: encoded %s", mine, text)
				}
				before, textBefore = o, text
			}
		})
	}
	all.Wait()
}
