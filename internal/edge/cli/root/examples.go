package root

import (
	"strings"

	"github.com/spf13/cobra"
)

// samples holds a word for each argument of a command in examples. Names depend on what is named, the word before.
var samples = map[string]string{
	"CLUSTER": "shop", "CLASS": "nightly-etl", "JOB": "sort", "KIND": "power", "NUMBER": "12", "NODE": "node-1",
	"WEBHOOK": "pager", "HOST[:PORT]": "hooks.example.com", "REPORT": "$REPORT",
	"RUN": "$RUN", "DELIVERY": "$DELIVERY", "PACKING": "$PACKING", "LEASE": "$LEASE", "ID": "$ID",
	"cluster": "shop", "class": "nightly-etl", "profile": "etl", "vm-type": "small", "contract": "one-year", "offer": "one-year",
	"scenario": "black-friday", "report-schedule": "month-ahead",
}

// changes holds what an example of edit changes.
var changes = map[string]string{
	"cluster": "--budget-vm-cost 900", "class": "--penalty 6.50", "vm-type": "--quota 80", "price": "--price 0.21", "contract": "--vms 40",
	"offer": "--max 100", "scenario": "black-friday.yaml", "report-schedule": "--hour 7",
}

// illustrate gives every command without an example one that its arguments make.
func illustrate(c *cobra.Command) {
	for _, sub := range c.Commands() {
		illustrate(sub)
	}
	if c.Example != "" || c.HasSubCommands() || c.RunE == nil {
		return
	}
	noun := c.Parent().Name()
	words := []string{c.CommandPath()}
	for _, word := range strings.Fields(c.Use)[1:] {
		switch sample := samples[word]; {
		case word == "NAME":
			words = append(words, samples[noun])
		case word == "[FILE|-]" && c.Name() == "edit":
			words = append(words, changes[noun])
		case word == "[FILE|-]":
			words = append(words, "problem.json")
		case sample != "":
			words = append(words, sample)
		case !strings.HasPrefix(word, "["):
			words = append(words, word)
		}
	}
	c.Example = "  " + strings.Join(words, " ")
}
