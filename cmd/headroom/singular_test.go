package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// manyOfOne finds things of which there is one, in the plural.
var manyOfOne = regexp.MustCompile(`(?i)(^|[^-0-9.,×/])1 (more |further |other |whole |free |map |reduce )*(VMs|jobs|slots|hours|days|weeks|minutes|classes|tasks|maps|reduces|nodes|machines|types|contracts|periods|executions|points|plans|others|times|VM-hours|job-hours|instances|rounds|pairs)\b`)

// drawnSmall draws a problem in which there is often one of a thing.
func drawnSmall(r *rand.Rand) string {
	var classes []string
	for i := range 1 + r.IntN(2) {
		most := 1 + r.IntN(2)
		classes = append(classes, fmt.Sprintf(`{"name":"c%d","vms_per_job":%g,"jobs":{"min":%d,"max":%d},"penalty":"%d"}`, i, []float64{0.5, 1, 2}[r.IntN(3)], r.IntN(most+1), most, 1+r.IntN(4)))
	}
	classes = append(classes, fmt.Sprintf(`{"name":"last","demand":{"map_work_s":%d,"reduce_work_s":0,"fixed_s":10},"deadline_s":110,"slots_per_vm":{"map":1,"reduce":1},"jobs":{"min":%d,"max":%d},"penalty":"3"}`, 50*(1+r.IntN(3)), r.IntN(2), 1+r.IntN(2)))
	contracts, limits := "", ""
	if r.IntN(2) == 0 {
		contracts = `,"contracts":[{"name":"year","vms":1,"price":"0.5"}]`
	}
	switch r.IntN(4) {
	case 0:
		limits = fmt.Sprintf(`,"budget":{"vm_cost":"%d"}`, r.IntN(3))
	case 1:
		limits = fmt.Sprintf(`,"budget":{"total":"%d"}`, r.IntN(4))
	}
	quota := ""
	if r.IntN(2) == 0 {
		quota = fmt.Sprintf(`,"quota":%d`, r.IntN(3))
	}
	return fmt.Sprintf(`{"currency":"USD","period_s":3600,"classes":[%s],"supply":{"on_demand":{"price":"1"%s}%s}%s,"options":{"engine":"exact","integrality":"%s"}}`,
		strings.Join(classes, ","), quota, contracts, limits, []string{"integer", "relaxed", "executable"}[r.IntN(3)])
}

// One VM, job or hour is said to be one, in whatever form an answer is written.
func TestOneOfAThingIsSingular(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	file := filepath.Join(t.TempDir(), "problem.json")
	said, infeasible := 0, 0
	trials := 10
	if os.Getenv("HEADROOM_LONG") == "1" {
		trials = 600
	}
	for range trials {
		problem := drawnSmall(r)
		if err := os.WriteFile(file, []byte(problem), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, verb := range []string{"solve", "whatif --demand *=x2", "whatif --quota 1", "whatif --promised c0=1", "sweep --vary demand:c0=1..3/3", "whatif --deadline last=x0.5", "ask budget --amount 1", "ask all", "ask one-more --class c0", "ask deadline --class last"} {
			for _, form := range []string{"table", "json", "csv"} {
				args := append(strings.Fields(verb), file, "-o", form)
				var out, trouble bytes.Buffer
				code := run(t.Context(), args, strings.NewReader(""), &out, &trouble)
				text := out.String() + trouble.String()
				if at := manyOfOne.FindStringIndex(text); at != nil {
					t.Fatalf("%v of %s\nsays %q", args, problem, text[max(0, at[0]-200):min(len(text), at[1]+60)])
				}
				said++
				if code == 3 {
					infeasible++
				}
				if code == 2 || code == 1 && !strings.HasPrefix(verb, "ask") && !strings.HasPrefix(verb, "whatif") {
					t.Fatalf("%v: %s", args, trouble.String())
				}
			}
		}
	}
	t.Logf("%d answers, %d infeasible", said, infeasible)
}
