// Command reference writes the pages of docs/reference that follow from the code: commands, settings, metrics, alerts,
// errors, events, and the members of problems and plans. Run it from the repository's folder: make generate.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"example.org/headroom/scripts/manual"
)

// folder holds the pages.
const folder = "docs/reference"

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func write(repository string) error {
	made, err := pages(repository)
	if err != nil {
		return err
	}
	for name, text := range made {
		err = errors.Join(err, os.WriteFile(filepath.Join(repository, folder, name), []byte(text), 0o644)) // #nosec G306 -- a page for all
	}
	return err
}

// mark stands under the title of every page.
const mark = "This page is made from the code: `make generate` writes it.\n"

// pages returns the pages by file name.
func pages(repository string) (map[string]string, error) {
	commands, err := manual.Commands()
	if err != nil {
		return nil, err
	}
	code, err := readCode(repository)
	if err != nil {
		return nil, err
	}
	contract, err := readContract()
	if err != nil {
		return nil, err
	}
	made := map[string]string{"commands.md": "# Commands\n\n" + mark + "\n" +
		"[Command line](command-line.md) shows the most useful ones at work. The package has the same as manual pages: `man headroom-solve`.\n" +
		manual.Markdown(commands)}
	for name, page := range map[string]func() (string, error){
		"settings.md":        func() (string, error) { return settingsPage(code) },
		"metrics.md":         func() (string, error) { return metricsPage(code), nil },
		"alerts.md":          func() (string, error) { return alertsPage(repository) },
		"errors.md":          func() (string, error) { return errorsPage(code), nil },
		"events.md":          func() (string, error) { return eventsPage(code, contract) },
		"problem-members.md": func() (string, error) { return membersPage(contract, "The members of a problem", "Problem") },
		"plan-members.md":    func() (string, error) { return membersPage(contract, "The members of a plan", "CurrentPlan") },
	} {
		if made[name], err = page(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return made, nil
}
