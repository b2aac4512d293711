// Command compatible compares openapi.yaml with that of the last tag, or without a tag with the facts in openapi/v1.txt.
// It names what clients of v1 would miss: operations, members and values that are gone or changed, and members and
// parameters that are needed now. Run it from the repository's folder; make check does.
//
// With -add it adds new facts to openapi/v1.txt, as make generate does: what is not recorded is not kept. With -record it
// writes the file anew, without what is gone, which a reviewer then sees.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"example.org/headroom/internal/edge/api/docs"
)

const (
	contractFile = "openapi/openapi.yaml"
	recordFile   = "openapi/v1.txt"
)

func main() {
	record := flag.Bool("record", false, "write "+recordFile+" anew instead of comparing")
	add := flag.Bool("add", false, "add new facts to "+recordFile+" instead of comparing")
	flag.Parse()
	if err := run(*record, *add); err != nil {
		fmt.Fprintln(os.Stderr, "compatible:", err)
		os.Exit(1)
	}
}

func run(record, add bool) error {
	text, err := os.ReadFile(contractFile)
	if err != nil {
		return err
	}
	now, err := factsOf(text)
	if err != nil {
		return err
	}
	if record || add {
		return write(now, add)
	}
	before, of, err := earlier()
	if err != nil {
		return err
	}
	lost := broken(before, now)
	switch {
	case len(lost) > 0:
	case of == recordFile:
		return recorded(before, now)
	default:
		return nil
	}
	return fmt.Errorf("clients that know v1 as of %s would fail:\n  %s\nAdd beside what there is instead; docs/reference/compatibility.md says what v1 promises. "+
		"Before the first tag, go run ./scripts/compatible -record takes the change over", of, strings.Join(lost, "\n  "))
}

// write records facts. With add those of before stay, also what is gone.
func write(facts []string, add bool) error {
	if before, err := readRecord(); add && err == nil {
		facts = append(facts, before...)
		slices.Sort(facts)
		facts = slices.Compact(facts)
	}
	return os.WriteFile(recordFile, []byte(strings.Join(facts, "\n")+"\n"), 0o644) // #nosec G306 -- a file of the repository
}

// recorded refuses facts that are not among those recorded.
func recorded(before, now []string) error {
	for _, fact := range now {
		if _, there := slices.BinarySearch(before, fact); !there {
			return fmt.Errorf("%s does not have what is new, such as %q; run make generate, and commit what it writes", recordFile, fact)
		}
	}
	return nil
}

func readRecord() ([]string, error) {
	text, err := os.ReadFile(recordFile)
	return strings.Split(strings.TrimSpace(string(text)), "\n"), err
}

// earlier returns the facts of the last tag, or without one the recorded ones.
func earlier() (facts []string, of string, err error) {
	tag, err := exec.Command("git", "describe", "--tags", "--abbrev=0", "--match", "v*").Output()
	if err == nil {
		of = strings.TrimSpace(string(tag))
		text, err := exec.Command("git", "show", of+":"+contractFile).Output() // #nosec G204 -- a tag of this repository
		if err != nil {
			return nil, of, fmt.Errorf("read %s of %s: %w", contractFile, of, err)
		}
		facts, err = factsOf(text)
		return facts, of, err
	}
	facts, err = readRecord()
	if errors.Is(err, os.ErrNotExist) {
		return nil, "", fmt.Errorf("there is neither a tag nor %s; make it with go run ./scripts/compatible -record", recordFile)
	}
	return facts, recordFile, err
}

// broken returns what a client of before would miss now, as sentences.
func broken(before, now []string) (lost []string) {
	is := map[string]bool{}
	for _, fact := range now {
		is[fact] = true
	}
	known := map[string]bool{} // whose members and parameters a client before knew
	for _, fact := range before {
		word, about, _ := strings.Cut(fact, " ")
		known[ownerOf(about)] = true
		if word != "needs" && !is[fact] {
			lost = append(lost, fmt.Sprintf("%s is gone or changed: %s", word, about))
		}
	}
	for _, fact := range now {
		if about, needed := strings.CutPrefix(fact, "needs "); needed && known[ownerOf(about)] && !slices.Contains(before, fact) {
			lost = append(lost, "needed now: "+about)
		}
	}
	return lost
}

// ownerOf returns the operation or the schema that a fact is of.
func ownerOf(about string) string {
	parts := strings.Fields(about)
	if len(parts) > 1 && strings.HasPrefix(parts[1], "/") {
		return parts[0] + " " + parts[1]
	}
	owner, _, _ := strings.Cut(parts[0], ".")
	return owner
}

// factsOf returns what a contract promises, a line each, sorted.
func factsOf(text []byte) ([]string, error) {
	c, err := docs.Load(text)
	if err != nil {
		return nil, err
	}
	f := facts{asked: map[string]bool{}}
	for _, p := range c.Paths {
		for _, op := range p.Of.Operations() {
			address := op.Name + " " + p.Name
			f.add("operation %s", address)
			for _, one := range slices.Concat(p.Of.Parameters, op.Of.Parameters) {
				f.add("parameter %s %s %s", address, one.Value.In, one.Value.Name)
				if one.Value.Required {
					f.add("needs %s %s %s", address, one.Value.In, one.Value.Name)
				}
				f.values(address+" "+one.Value.Name, one.Value.Schema)
			}
			if body := op.Of.RequestBody; body != nil {
				for media, of := range body.Content {
					f.add("body %s %s %s", address, media, typeOf(of.Schema))
					f.ask(of.Schema)
				}
				if body.Required {
					f.add("needs %s body", address)
				}
			}
			for _, answer := range op.Of.Responses {
				if answer.Name >= "300" {
					continue
				}
				for media, of := range answer.Of.Value.Content {
					f.add("answer %s %s %s %s", address, answer.Name, media, typeOf(of.Schema))
				}
			}
		}
	}
	for _, s := range c.Components.Schemas {
		f.schema(s.Name, s.Of, f.asked[s.Name])
	}
	slices.Sort(f.lines)
	return slices.Compact(f.lines), nil
}

// facts gathers lines.
type facts struct {
	lines []string
	asked map[string]bool // schemas that requests hold, by name
}

func (f *facts) add(format string, args ...any) {
	f.lines = append(f.lines, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// ask notes that requests hold a schema, and all that it leads to.
func (f *facts) ask(r *docs.Ref[docs.Schema]) {
	if r == nil || r.Value == nil {
		return
	}
	if r.Ref != "" {
		if f.asked[nameOf(r)] {
			return
		}
		f.asked[nameOf(r)] = true
	}
	for _, part := range parts(r.Value) {
		f.ask(part)
	}
	for _, p := range r.Value.Properties {
		f.ask(p.Of)
	}
	f.ask(r.Value.Items)
	f.ask(r.Value.AdditionalProperties.Schema)
}

// schema adds the members of a schema, those of objects in it by their paths.
func (f *facts) schema(at string, r *docs.Ref[docs.Schema], asked bool) {
	if r == nil || r.Value == nil {
		return
	}
	f.values(at, r)
	for _, p := range r.Value.Properties {
		member := at + "." + p.Name
		f.add("member %s %s", member, typeOf(p.Of))
		if asked && slices.Contains(r.Value.Required, p.Name) && (p.Of.Value == nil || !p.Of.Value.ReadOnly) {
			f.add("needs %s", member)
		}
		if p.Of.Ref == "" {
			f.schema(member, p.Of, asked)
		}
	}
	for _, inner := range append(parts(r.Value), r.Value.Items, r.Value.AdditionalProperties.Schema) {
		if inner != nil && inner.Ref == "" {
			f.schema(at, inner, asked)
		}
	}
}

// values adds the words that a value may be.
func (f *facts) values(at string, r *docs.Ref[docs.Schema]) {
	if r == nil || r.Value == nil || r.Ref != "" {
		return
	}
	for _, word := range r.Value.Enum {
		f.add("value %s %v", at, word)
	}
}

func parts(s *docs.Schema) []*docs.Ref[docs.Schema] { return slices.Concat(s.AllOf, s.OneOf, s.AnyOf) }

func nameOf(r *docs.Ref[docs.Schema]) string { return r.Ref[strings.LastIndexByte(r.Ref, '/')+1:] }

// typeOf writes a type in a word.
func typeOf(r *docs.Ref[docs.Schema]) string {
	switch {
	case r == nil || r.Value == nil:
		return ""
	case r.Ref != "":
		return nameOf(r)
	case r.Value.Items != nil:
		return typeOf(r.Value.Items) + "[]"
	case r.Value.Type == "" && len(r.Value.AllOf) == 1:
		return typeOf(r.Value.AllOf[0])
	}
	return r.Value.Type
}
