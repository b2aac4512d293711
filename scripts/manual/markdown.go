package manual

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Markdown writes every command with its flags and an example.
func Markdown(root *cobra.Command) string {
	var s strings.Builder
	s.WriteString("\n## The server that is asked\n\nCommands that ask a server have these flags besides their own.\n\n")
	told := false
	walk(root, func(c *cobra.Command) {
		if strings.Contains(c.Long, theServer) && !told {
			s.WriteString(whichServer(c) + "\n")
			table(&s, connection(c))
			told = true
		}
	})
	for _, top := range root.Commands() {
		if !top.IsAvailableCommand() {
			continue
		}
		walk(top, func(c *cobra.Command) {
			level := "###"
			if c == top {
				level = "##"
			}
			fmt.Fprintf(&s, "\n%s %s\n\n%s\n", level, c.CommandPath(), plain(about(c)))
			if !c.HasSubCommands() || strings.Contains(c.Use, " ") {
				fmt.Fprintf(&s, "\n```text\nusage: %s\n\n%s\n```\n", usage(c), strings.Join(trimmed(c.Example), "\n"))
			}
			if connection(c) != nil {
				s.WriteString("\nIt asks [a server](#the-server-that-is-asked).\n")
			}
			table(&s, flags(c.LocalNonPersistentFlags()))
		})
	}
	return s.String()
}

// trimmed returns an example's lines without what they are indented by.
func trimmed(example string) []string {
	lines := strings.Split(strings.Trim(example, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return lines
}

// plain keeps what Markdown would take for marks, and fences paragraphs that are indented.
func plain(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, "  ") {
			paragraphs[i] = "```text\n" + strings.Join(trimmed(p), "\n") + "\n```"
		} else {
			paragraphs[i] = strings.NewReplacer("<", "&lt;", "*", `\*`).Replace(p)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

func table(s *strings.Builder, list []flag) {
	if len(list) == 0 {
		return
	}
	s.WriteString("\n| Flag | Meaning |\n|---|---|\n")
	for _, f := range list {
		name, usage := f.name, f.usage
		if f.value != "" {
			name += " " + f.value
		}
		if f.standard != "" {
			usage += " (default " + f.standard + ")"
		}
		fmt.Fprintf(s, "| `%s` | %s |\n", name, strings.ReplaceAll(plain(usage), "|", `\|`))
	}
}
