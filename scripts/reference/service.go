package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"example.org/headroom/internal/edge/api"
	"example.org/headroom/internal/edge/cli/root"
)

// cell writes text into a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("\n", " ", "|", `\|`, "<", "&lt;", "*", `\*`).Replace(strings.TrimSpace(text))
}

// otherVariables holds the variables that are no settings of a server.
var otherVariables = map[string]string{
	"HEADROOM_DATA_DIR": "the data directory of the server on this machine that commands ask, where nothing names another",
	"HEADROOM_URL":      "the address of the server that commands ask",
	"HEADROOM_API_KEY":  "the key with which they ask",
	"HEADROOM_SOLVER":   "the path of `headroom-solver`, where it does not lie beside `headroom`",
}

// taskVariables holds what an agent tells its tasks.
var taskVariables = map[string]string{
	"HEADROOM_CLUSTER": "the cluster", "HEADROOM_NODE": "the node", "HEADROOM_JOB": "the job's name", "HEADROOM_CLASS": "its class",
	"HEADROOM_JOB_NUMBER": "its number", "HEADROOM_TASK": "the task's number, from 0", "HEADROOM_TASK_KIND": "map or reduce",
	"HEADROOM_ATTEMPT": "the attempt's number, from 1", "HEADROOM_ASSIGNMENT": "the number of the assignment",
	"HEADROOM_AGENT": "the mark by which the agent knows its own tasks again",
}

// serverSettings asks "headroom server config" in an empty environment, so that every value is the default.
func serverSettings() (settings []struct{ Name, Flag, Value, Help string }, err error) {
	before := os.Environ()
	os.Clearenv()
	defer func() {
		for _, pair := range before {
			name, value, _ := strings.Cut(pair, "=")
			err = errors.Join(err, os.Setenv(name, value))
		}
	}()
	if err := os.Setenv("HEADROOM_DATA_DIR", "~/.local/share/headroom"); err != nil {
		return nil, err
	}
	var out, trouble bytes.Buffer
	if code := root.Run(context.Background(), []string{"server", "config", "-o", "json"}, strings.NewReader(""), &out, &trouble); code != 0 {
		return nil, errors.New(trouble.String())
	}
	return settings, json.Unmarshal(out.Bytes(), &settings)
}

func settingsPage(c *code) (string, error) {
	settings, err := serverSettings()
	if err != nil {
		return "", err
	}
	var s strings.Builder
	s.WriteString("# Settings\n\n" + mark + `
Variables of the environment set up a server. A flag of ` + "`headroom serve`" + ` comes first, then its variable, then the default.
` + "`headroom server config`" + ` shows the values in force and where each comes from.

| Variable | Flag | Default | Meaning |
|---|---|---|---|
`)
	told := map[string]bool{}
	for _, one := range settings {
		told[one.Name] = true
		flag, value := "", ""
		if one.Flag != "" {
			flag = "`--" + one.Flag + "`"
		}
		if one.Value != "" {
			value = "`" + one.Value + "`"
		}
		fmt.Fprintf(&s, "| `%s` | %s | %s | %s |\n", one.Name, flag, value, cell(one.Help))
	}
	s.WriteString("\n## Of commands\n\n| Variable | Meaning |\n|---|---|\n")
	variables(&s, otherVariables, told)
	s.WriteString("\n## Of the tasks that an agent runs\n\n| Variable | Meaning |\n|---|---|\n")
	variables(&s, taskVariables, told)
	for _, name := range c.variables {
		if !told[name] {
			return "", fmt.Errorf("%s has no line; add it to otherVariables or taskVariables", name)
		}
	}
	return s.String(), nil
}

func variables(s *strings.Builder, of map[string]string, told map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		told[name] = true
		fmt.Fprintf(s, "| `%s` | %s |\n", name, of[name])
	}
}

func metricsPage(c *code) string {
	var s strings.Builder
	s.WriteString("# Metrics\n\n" + mark + `
` + "`GET /metrics`" + ` serves them for Prometheus, besides those of Go's runtime (` + "`go_…`, `process_…`" + `).
[Alerts](alerts.md) are made of them.

| Metric | Kind | Labels | Meaning |
|---|---|---|---|
`)
	for _, m := range c.metrics {
		labels := ""
		if len(m.labels) > 0 {
			labels = "`" + strings.Join(m.labels, "`, `") + "`"
		}
		fmt.Fprintf(&s, "| `%s` | %s | %s | %s |\n", m.name, m.kind, labels, cell(m.help))
	}
	return s.String()
}

// rules holds what the page of alerts needs of deploy/prometheus/rules.yaml.
type rules struct {
	Groups []struct {
		Rules []struct {
			Record, Alert, Expr, For string
			Labels, Annotations      map[string]string
		}
	}
}

// placed writes the labels of an alert as words in capitals.
func placed(annotation string) string {
	return alertLabel.ReplaceAllStringFunc(annotation, func(label string) string {
		return strings.ToUpper(alertLabel.FindStringSubmatch(label)[1])
	})
}

var alertLabel = regexp.MustCompile(`\{\{ \$(?:labels\.)?(\w+)[^}]*\}\}`)

func alertsPage(repository string) (string, error) {
	source, err := os.ReadFile(filepath.Join(repository, "deploy/prometheus/rules.yaml"))
	if err != nil {
		return "", err
	}
	var read rules
	if err := yaml.Unmarshal(source, &read); err != nil {
		return "", err
	}
	var alerts, records strings.Builder
	for _, g := range read.Groups {
		for _, r := range g.Rules {
			if r.Record != "" {
				fmt.Fprintf(&records, "\n`%s`:\n\n```text\n%s\n```\n", r.Record, r.Expr)
				continue
			}
			runbook, summary := placed(r.Annotations["runbook"]), placed(r.Annotations["summary"])
			if runbook == "" {
				return "", fmt.Errorf("the alert %s has no runbook", r.Alert)
			}
			fmt.Fprintf(&alerts, "\n## %s\n\n%s (%s, after %s)\n\n%s\n\n```text\n%s\n```\n",
				r.Alert, cell(summary), r.Labels["severity"], r.For, strings.TrimSpace(runbook), r.Expr)
		}
	}
	return "# Alerts\n\n" + mark + "\nThe file `deploy/prometheus/rules.yaml` holds these rules. Each alert says what to do.\n" +
		"In its commands stands what the alert is about, here CLUSTER, CLASS, WEBHOOK and so on.\n" + alerts.String() +
		"\n## What the rules record\n" + records.String(), nil
}

func problemKinds(s *strings.Builder) {
	s.WriteString(`
## Problems of the API

A refusal is a problem document (RFC 9457). Its ` + "`type`" + ` is the address of a page of the server that says the same.

| Type | Status | Why | What to do |
|---|---|---|---|
`)
	for _, p := range api.Problems() {
		fmt.Fprintf(s, "| `/problems/%s` | %d | %s | %s |\n", p.Name, p.Status, cell(p.Meaning), cell(p.Cure))
	}
}
