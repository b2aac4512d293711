package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"example.org/headroom/internal/core/capacity"
	"example.org/headroom/internal/core/money"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/shell"
	"example.org/headroom/internal/service/auth"
)

// verb runs a verb as an admin of a server.
func (s testServer) verb(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(s.Keys[auth.Admin]), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, trouble bytes.Buffer
	args = append([]string{args[0], "--server", s.URL, "--key-file", keyFile}, args[1:]...)
	code = run(t.Context(), args, strings.NewReader(stdin), &out, &trouble)
	return code, out.String(), trouble.String()
}

func (s testServer) mustVerb(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	code, stdout, stderr := s.verb(t, stdin, args...)
	if code != shell.ExitOK {
		t.Fatalf("headroom %s: exit code %d: %s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// hostileNames are allowed, and hard for addresses, YAML, CSV and terminals.
var hostileNames = []string{
	"no", "null", "~", "010", "1e3", "0.20", "true", "2026-01-01", "a/b", "a%2Fb", "a?b=c#d", "...", ".a", "a b", "- a", "a: b", "&a", "*a", "!a", "{a}", "[a]", "a,b", `"`, "'", `\`, "<<", "---", "? a",
	"=1+1", "@a", "%41", "+", "-2+3", "＝1", "＋1", "－1", "＠a", "a+b", "é", "e\u0301", "日本語", "\U0001F600", "<script>", "$(id)", "a;b", "current", strings.Repeat("x", 200), strings.Repeat("é", 200),
}

// A cluster of a thousand classes and the most hostile names is exported, applied, and exported again:
// nothing changes, and the files are the same to the byte.
func TestExportedClustersApplyUnchanged(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	start, gamma := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), decimal.RequireFromString("0.123456789")
	d := inputs.Document{Cluster: inputs.NewCluster("hostile"), VMTypes: []inputs.VMType{}, Prices: []inputs.PricePeriod{}, Contracts: []inputs.SignedContract{},
		Profiles: []inputs.ProfileVersion{}, Classes: []inputs.PlannedClass{}, Forecasts: []inputs.Forecast{}}
	d.Cluster.Description = "one\ntwo: # three\n\n"
	for i, name := range hostileNames {
		d.VMTypes = append(d.VMTypes, inputs.VMType{Name: name, Description: name, InUse: i == 0})
		d.Prices = append(d.Prices, inputs.PricePeriod{VMType: name, Price: amountOf("0.123456789"), From: start, Until: new(start.AddDate(1, 0, 0))},
			inputs.PricePeriod{VMType: name, Price: amountOf("1000000000"), From: start.AddDate(2, 0, 0)})
		d.Contracts = append(d.Contracts, inputs.SignedContract{Name: name, VMType: name, VMs: 3, Price: amountOf("0"), Billing: capacity.BilledAlways, From: start, Until: start.AddDate(1, 0, 0)})
		d.Profiles = append(d.Profiles, inputs.ProfileVersion{Name: name, Version: 1, Note: name, Profile: capacity.Profile{MapTasks: 2, MapAvgSeconds: 0.1, MapMaxSeconds: 0.10000000000000002}})
		d.Classes = append(d.Classes, inputs.PlannedClass{Name: name, Profile: &inputs.ProfileRef{Name: name, Version: 1}, DeadlineSeconds: 60,
			SlotsPerVM: capacity.SlotsPerVM{Map: 1, Reduce: 1}, Jobs: capacity.JobRange{Max: 1}, Penalty: amountOf("5.5")})
		d.Forecasts = append(d.Forecasts, inputs.Forecast{Class: name, Hour: start, Jobs: 1.5})
	}
	for i := range 1000 {
		d.Classes = append(d.Classes, inputs.PlannedClass{Name: fmt.Sprintf("class %d", i), VMsPerJob: &gamma, Jobs: capacity.JobRange{Max: float64(i)}, Penalty: amountOf("1")})
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := server.verb(t, string(text), "apply", "-f", "-", "--yes"); code != shell.ExitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, form := range []string{"yaml", "json"} {
		first := server.mustVerb(t, "", "cluster", "export", "hostile", "-o", form)
		if said := server.mustVerb(t, first, "apply", "-f", "-"); !strings.Contains(said, "nothing changes") {
			t.Errorf("%s: applying the export says %.1000s", form, said)
		}
		if diff := cmp.Diff(first, server.mustVerb(t, "", "cluster", "export", "hostile", "-o", form)); diff != "" {
			t.Errorf("%s: the second export differs: %s", form, diff)
		}
	}
	// The same file makes the same cluster anew.
	first := server.mustVerb(t, "", "cluster", "export", "hostile")
	server.mustVerb(t, "", "cluster", "delete", "hostile", "--yes")
	server.mustVerb(t, first, "apply", "-f", "-", "--yes")
	if diff := cmp.Diff(first, server.mustVerb(t, "", "cluster", "export", "hostile")); diff != "" {
		t.Errorf("the cluster made anew differs: %s", diff)
	}
	// What the command line writes for spreadsheets has every name, and no formula.
	rows, err := csv.NewReader(strings.NewReader(server.mustVerb(t, "", "class", "list", "hostile", "-o", "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at, found := slices.Index(rows[0], "name"), 0
	for _, row := range rows[1:] {
		if slices.Contains(hostileNames, inputs.UnguardFormula(row[at])) {
			found++
		}
		for j, cell := range row {
			if _, err := strconv.ParseFloat(cell, 64); err != nil && inputs.StartsFormula(cell) {
				t.Errorf("%s is written as %q", rows[0][j], cell)
			}
		}
	}
	if found != len(hostileNames) {
		t.Errorf("%d of %d names are written", found, len(hostileNames))
	}
	t.Attr("S3", fmt.Sprintf("headroom -o csv: none of %d hostile names starts a formula", len(hostileNames)))
	// Every name can be asked for by itself.
	for _, name := range hostileNames {
		for _, kind := range []string{"class", "vm-type", "contract", "profile"} {
			var got struct{ Name string }
			if err := json.Unmarshal([]byte(server.mustVerb(t, "", kind, "get", "-o", "json", "--", "hostile", name)), &got); err != nil || got.Name != name {
				t.Errorf("%s %q: got %q, %v", kind, name, got.Name, err)
			}
		}
	}
}

func amountOf(s string) money.Amount {
	m, err := money.Parse(s)
	if err != nil {
		panic(err)
	}
	return m
}

// What was applied and cannot be planned says so at once, also where there never was a plan; an operator sees it in the metrics.
func TestApplySaysWhatCannotBePlanned(t *testing.T) {
	t.Parallel()
	h := startHomed(t)
	file := filepath.Join(t.TempDir(), "tight.yaml")
	apply := func(quota, jobs int) string {
		t.Helper()
		text := fmt.Sprintf(`
cluster: {name: tight, currency: USD}
vm_types: [{name: small, quota: %d}]
prices: [{vm_type: small, price: 0.20, from: 2020-01-01, until: 2099-01-01}]
profiles: [{name: etl, version: 1, note: "", profile: {map_tasks: 300, reduce_tasks: 0, map_avg_s: 30, map_max_s: 60}}]
classes:
  - {name: x, profile: {name: etl, version: 1}, deadline_s: 2700, slots_per_vm: {map: 2, reduce: 2}, jobs: {min: %d, max: %d}, penalty: 1}
`, quota, jobs, jobs)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return h.verb(t, "apply", "-f", file, "--yes")
	}
	const refused = "Applied.\nCluster tight cannot be planned: The promised jobs need"
	for _, step := range []struct {
		what        string
		quota, jobs int
		refused     bool
	}{{"a new cluster with too small a quota", 1, 9, true}, {"more jobs", 1, 90, true}, {"a larger quota", 1000, 9, false}, {"too many jobs for it", 1000, 900, true}} {
		said := apply(step.quota, step.jobs)
		if strings.Contains(said, refused) != step.refused || !strings.Contains(said, "\nApplied.\n") {
			t.Errorf("%s: it says\n%s", step.what, said)
		}
	}
}
