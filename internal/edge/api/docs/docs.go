// Package docs renders the reference page of the API from openapi.yaml.
package docs

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	sources "example.org/headroom/docs"
)

// The reference at /docs is made from openapi.yaml on the first request, so that it describes this very server.

//go:embed assets
var Assets embed.FS

var Templates = sync.OnceValue(func() *template.Template { return template.Must(template.New("").ParseFS(Assets, "assets/*.html")) })

// Files returns the files that the pages load, by name: everything in assets but the templates, and the pictures of the
// documentation.
func Files() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, from := range []struct {
		files  fs.FS
		folder string
	}{{Assets, "assets"}, {sources.Pictures, "pictures"}} {
		entries, err := fs.ReadDir(from.files, from.folder)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if path.Ext(e.Name()) == ".html" {
				continue
			}
			if files[e.Name()], err = fs.ReadFile(from.files, path.Join(from.folder, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// Limits holds the limits of this server that the reference names.
type Limits struct {
	SolvesPerSecond, RequestsPerSecond int
	BodyMB, Classes                    int
}

// InWords returns the number of classes for people.
func (l Limits) InWords() string { return digits(float64(l.Classes)) + " classes" }

type docsPage struct {
	Version  string
	Chapters []docsChapter
	Limits   Limits
	Problems []Problem
	Groups   []docsGroup
	Types    []docsType
}

// docsGroup holds the operations of a tag.
type docsGroup struct {
	ID         string
	Tag, Name  string
	About      template.HTML
	Operations []docsOperation
}

type docsOperation struct {
	ID, Method, Path string
	Summary          string
	About            template.HTML
	Role             string // the required role; "" for everybody
	Agent            bool   // agents may as well
	Parameters       []docsMember
	Body             docsBody
	Answers          []docsAnswer
	Refusals         []docsWord // the problems that are common to all operations
	Curl             string
	BodyFile         string // read by the command, if the body is too long for its line
	Example          string // of the answer
	ExampleStatus    string
}

type docsBody struct {
	Type     []docsWord
	About    template.HTML
	Required bool
	Members  []docsMember
	Example  string
}

type docsAnswer struct {
	Status  string
	Meaning template.HTML
	Type    []docsWord
	Formats []string // besides JSON
	Headers []string
}

// Render writes the reference page.
func Render(doc *Contract, version string, limits Limits, problems []Problem) ([]byte, error) {
	known := readExamples(doc)
	page := docsPage{Version: version, Chapters: chapters(doc.Info.Description), Limits: limits,
		Problems: problems, Groups: docsGroups(doc, known), Types: docsTypes(doc, known)}
	linkRefusals(page.Groups, problems)
	var b bytes.Buffer
	if err := Templates().ExecuteTemplate(&b, "docs.html", page); err != nil {
		return nil, fmt.Errorf("render the reference page: %w", err)
	}
	return b.Bytes(), nil
}

// linkRefusals links each refusal to the first problem with its status.
func linkRefusals(groups []docsGroup, problems []Problem) {
	for _, g := range groups {
		for _, o := range g.Operations {
			for i := range o.Refusals {
				refusal := &o.Refusals[i]
				at := slices.IndexFunc(problems, func(p Problem) bool { return strconv.Itoa(p.Status) == refusal.Text })
				if at >= 0 {
					refusal.Link = "#problem-" + problems[at].Name
				}
			}
		}
	}
}

// Problem is a kind of problem as shown on the pages.
type Problem struct {
	Name    string
	Status  int
	Title   string
	Meaning string // the cause
	Cure    string // the caller's remedy
}

// docsGroups puts the operations under their tags, both in the written order.
func docsGroups(doc *Contract, known examples) []docsGroup {
	var groups []docsGroup
	for _, tag := range doc.Tags {
		groups = append(groups, docsGroup{ID: anchor("tag", tag.Name), Tag: tag.Name, Name: heading(tag.Name), About: prose(tag.Description)})
	}
	for _, path := range doc.Paths {
		for _, op := range path.Of.Operations() {
			tag := "Other"
			if len(op.Of.Tags) > 0 {
				tag = op.Of.Tags[0]
			}
			i := slices.IndexFunc(groups, func(g docsGroup) bool { return g.Tag == tag })
			if i < 0 {
				i = len(groups)
				groups = append(groups, docsGroup{ID: anchor("tag", tag), Tag: tag, Name: heading(tag)})
			}
			groups[i].Operations = append(groups[i].Operations, describeOperation(op.Name, path.Name, path.Of, op.Of, known))
		}
	}
	return slices.DeleteFunc(groups, func(g docsGroup) bool { return len(g.Operations) == 0 })
}

// heading returns a tag as a title.
func heading(tag string) string {
	if rest, ok := strings.CutPrefix(tag, "vm "); ok {
		return "VM " + rest
	}
	return strings.ToUpper(tag[:1]) + tag[1:]
}

func describeOperation(method, path string, item *pathItem, op *operation, known examples) docsOperation {
	o := docsOperation{ID: op.OperationID, Method: method, Path: path, Summary: cmp.Or(op.Summary, op.OperationID), About: prose(op.Description)}
	if op.Role != "open" {
		o.Role, o.Agent = op.Role, op.Agent
	}
	parameters := slices.Concat(item.Parameters, op.Parameters)
	for _, p := range parameters {
		o.Parameters = append(o.Parameters, describeParameter(p.Value))
	}
	contentType := ""
	if op.RequestBody != nil {
		o.Body, contentType = describeBody(op.RequestBody, known)
	}
	o.describeAnswers(op, known)
	o.Curl, o.BodyFile = known.curl(method, path, op, parameters, o.Role, o.Body.Example, contentType)
	return o
}

func describeParameter(p *parameter) docsMember {
	m := docsMember{Name: p.Name, Required: p.Required, Meaning: phrase(p.Description)}
	if p.Schema != nil {
		m.Type, m.Notes = typeWords(p.Schema), notes(p.Schema, p.Description != "" || describe(p.Schema) != "")
		if p.Description == "" {
			m.Meaning = phrase(describe(p.Schema))
		}
	}
	where := map[string]string{"path": "in the path", "query": "in the query", "header": "header", "cookie": "cookie"}[p.In]
	m.Notes = append([]string{where}, m.Notes...)
	return m
}

func describeBody(r *body, known examples) (b docsBody, contentType string) {
	types := slices.Sorted(maps.Keys(r.Content))
	if len(types) == 0 {
		return b, ""
	}
	contentType = types[0]
	if r.Content["application/json"] != nil {
		contentType = "application/json"
	}
	media := r.Content[contentType]
	b = docsBody{About: phrase(r.Description), Required: r.Required, Example: known.of(media, inRequest)}
	if media.Schema != nil {
		b.Type = typeWords(media.Schema)
		b.Members = members(Elements(media.Schema).Value, inRequest, 0)
	}
	return b, contentType
}

const ProblemType = "application/problem+json"

// describeAnswers describes the answers of an operation. Answers common to all operations are only named; the section
// on problems explains them.
func (o *docsOperation) describeAnswers(op *operation, known examples) {
	answers := slices.SortedFunc(slices.Values(op.Responses), func(a, b Member[*Ref[response]]) int { return strings.Compare(a.Name, b.Name) })
	for _, answer := range answers {
		status, r := answer.Name, answer.Of
		if status == "default" {
			continue // any other problem
		}
		if r.Value.Content[ProblemType] != nil && r.Ref != "" {
			o.Refusals = append(o.Refusals, docsWord{Text: status})
			continue
		}
		a := docsAnswer{Status: status, Meaning: phrase(r.Value.Description), Headers: slices.Sorted(maps.Keys(r.Value.Headers))}
		for _, kind := range slices.Sorted(maps.Keys(r.Value.Content)) {
			media := r.Value.Content[kind]
			if kind != "application/json" && kind != ProblemType {
				a.Formats = append(a.Formats, kind)
				continue
			}
			if media.Schema != nil {
				a.Type = typeWords(media.Schema)
			}
			if o.Example == "" && strings.HasPrefix(status, "2") {
				o.Example, o.ExampleStatus = known.of(media, inAnswer), status
			}
		}
		o.Answers = append(o.Answers, a)
	}
}

// docsTypes returns the shapes that members refer to.
func docsTypes(doc *Contract, known examples) (types []docsType) {
	schemas := slices.SortedFunc(slices.Values(doc.Components.Schemas), func(a, b Member[*Ref[Schema]]) int { return strings.Compare(a.Name, b.Name) })
	for _, s := range schemas {
		name, named := s.Name, &Ref[Schema]{Ref: "#/components/schemas/" + s.Name, Value: s.Of.Value}
		if Link(named) == "" {
			continue
		}
		v := named.Value
		t := docsType{Name: name, Meaning: prose(v.Description), Members: members(v, inAnswer, 0)}
		if len(t.Members) == 0 {
			t.Type, t.Notes = plainWords(&Ref[Schema]{Value: v}), notes(&Ref[Schema]{Value: v}, v.Description != "")
		}
		if v.Example != nil {
			t.Example = known.text(named, v.Example, inAnswer)
		}
		types = append(types, t)
	}
	return types
}
