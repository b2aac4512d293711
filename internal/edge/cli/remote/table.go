package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/edge/cli/document"
	"example.org/headroom/internal/edge/cli/shell"
	tables "example.org/headroom/internal/service/report"
)

// leaf is one column of a type's flat rows: a member, however deep, that is a single word.
type leaf struct {
	Name   string   // such as jobs_min
	path   []string // such as jobs, min
	number bool
}

// LeavesOf lists the columns of a type in the order of its JSON; lists have none.
func LeavesOf(t reflect.Type) (leaves []leaf) {
	if t == document.SlotsType {
		t = reflect.TypeFor[document.Slots]()
	}
	for i := range t.NumField() {
		field := t.Field(i)
		as := field.Type
		if as.Kind() == reflect.Pointer {
			as = as.Elem()
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || as.Kind() == reflect.Slice || as.Kind() == reflect.Map:
		case field.Anonymous:
			leaves = append(leaves, LeavesOf(as)...)
		case as == document.TimeType || as.Kind() == reflect.String || as.Kind() == reflect.Bool:
			leaves = append(leaves, leaf{name, []string{name}, false})
		case as == document.MoneyType || as == document.DecimalType || as.Kind() != reflect.Struct:
			leaves = append(leaves, leaf{name, []string{name}, true})
		case name == "near":
		default:
			for _, inner := range LeavesOf(as) {
				leaves = append(leaves, leaf{name + "_" + inner.Name, append([]string{name}, inner.path...), inner.number})
			}
		}
	}
	return leaves
}

// cell is a leaf's value of an item, which is JSON read with its numbers kept.
func (l leaf) cell(item any, none string) tables.Cell {
	for _, name := range l.path {
		members, _ := item.(map[string]any)
		item = members[name]
	}
	if item == nil {
		return tables.Cell{Text: none, Number: l.number}
	}
	return tables.Cell{Text: fmt.Sprint(item), Number: l.number}
}

// title is a column's name for people: "deadline_s" is "Deadline (s)".
func title(name string) string {
	if rest, ok := strings.CutSuffix(name, "_s"); ok {
		name = rest + " (s)"
	}
	name = strings.ReplaceAll(name, "_", " ")
	name = strings.ReplaceAll(name, "vms", "VMs")
	name = strings.ReplaceAll(name, "vm type", "VM type")
	first := []rune(name)
	first[0] = unicode.ToUpper(first[0])
	return string(first)
}

// manyPlaces matches a figure with more places than people read. Amounts of money have up to nine, and may keep them.
var manyPlaces = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?[0-9]+\.[0-9]{10,}$`) })

// short rounds a figure with many places to two, and one below 1 to four digits.
func short(text string) string {
	if !manyPlaces().MatchString(text) {
		return text
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	if math.Abs(x) < 1 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return shell.Figure(x)
}

// Titled is a table with its columns' names for people.
func Titled(t tables.Table) tables.Table {
	titles := make([]string, len(t.Columns))
	for i, name := range t.Columns {
		titles[i] = title(name)
	}
	return tables.Table{Columns: titles, Rows: t.Rows}
}

// readItem reads a JSON value as leaves expect it.
func readItem(text []byte) (item any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return item, d.Decode(&item)
}

// Rows is a table of items: chosen columns for people, all of them for spreadsheets.
func Rows(t reflect.Type, items []json.RawMessage, chosen []string) (tables.Table, error) {
	var table tables.Table
	leaves := LeavesOf(t)
	if chosen != nil {
		all := leaves
		leaves = make([]leaf, len(chosen))
		for i, name := range chosen {
			leaves[i] = all[slices.IndexFunc(all, func(l leaf) bool { return l.Name == name })]
		}
	}
	for _, l := range leaves {
		name := l.Name
		if chosen != nil {
			name = title(name)
		}
		table.Columns = append(table.Columns, name)
	}
	none := ""
	if chosen != nil {
		none = "–"
	}
	for _, text := range items {
		item, err := readItem(text)
		if err != nil {
			return table, err
		}
		row := make([]tables.Cell, len(leaves))
		for i, l := range leaves {
			row[i] = l.cell(item, none)
			if chosen != nil {
				row[i].Text = short(row[i].Text)
			}
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}

// card shows one item for people, a member a line; what is not given is left out.
func card(t reflect.Type, text json.RawMessage) (tables.Table, error) {
	item, err := readItem(text)
	table := tables.Table{Columns: []string{"Member", "Value"}}
	for _, l := range LeavesOf(t) {
		if c := l.cell(item, ""); c.Text != "" {
			table.Rows = append(table.Rows, []tables.Cell{{Text: strings.Join(l.path, ".")}, {Text: c.Text}})
		}
	}
	if t == reflect.TypeFor[inputs.ProfileVersion]() && err == nil {
		err = stagesAndSource(&table, text)
	}
	return table, err
}

// Indented writes JSON of the server as people read it, with every member it has.
func Indented(text json.RawMessage) shell.Form {
	return func(w io.Writer) error {
		var b bytes.Buffer
		if err := json.Indent(&b, bytes.TrimSpace(text), "", "  "); err != nil {
			return err
		}
		b.WriteByte('\n')
		_, err := w.Write(strict.WithoutMinusZero(b.Bytes()))
		return err
	}
}

// ItemForms are the forms of one item; said is the sentence for people where it was changed, "" where
// it was asked for.
func ItemForms(t reflect.Type, text json.RawMessage, said string) map[string]shell.Form {
	write := func(table tables.Table, err error, as func(tables.Table) error) error {
		if err != nil {
			return fmt.Errorf("the server's answer cannot be read: %w", err)
		}
		return as(table)
	}
	return map[string]shell.Form{
		"table": func(w io.Writer) error {
			if said != "" {
				_, err := fmt.Fprintln(w, said)
				return err
			}
			table, err := card(t, text)
			return write(table, err, func(t tables.Table) error { return t.Text(w) })
		},
		"csv": func(w io.Writer) error {
			table, err := Rows(t, []json.RawMessage{text}, nil)
			return write(table, err, func(t tables.Table) error { return t.CSV(w) })
		},
		"json": Indented(text),
	}
}

// mostStages bounds the stages of a profile in a table.
const mostStages = 30

// stagesAndSource adds what a profile has besides single figures.
func stagesAndSource(table *tables.Table, text json.RawMessage) error {
	var p inputs.ProfileVersion
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	add := func(member, value string) {
		table.Rows = append(table.Rows, []tables.Cell{{Text: member}, {Text: value}})
	}
	for i, s := range p.Profile.Stages {
		member := "profile.stages." + strconv.Itoa(i)
		if i == mostStages {
			add(member, fmt.Sprintf("and %d more; -o json shows all", len(p.Profile.Stages)-i))
			break
		}
		what := fmt.Sprintf("%s of %s s, the longest of %s s", shell.Counted(s.Tasks, "task"), shell.Figure(s.AvgSeconds), shell.Figure(s.MaxSeconds))
		if s.Name != "" {
			what = s.Name + ": " + what
		}
		add(member, what)
	}
	if p.Source != nil {
		add("source", shell.Clipped(string(p.Source)))
	}
	return nil
}
