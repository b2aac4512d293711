package manual

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Pages returns a page for man for the program and one for each command at the top, by file name. The commands below it
// stand on its page.
func Pages(root *cobra.Command, version string, made time.Time) map[string]string {
	pages := map[string]string{"headroom.1": programPage(root, version, made)}
	for _, top := range root.Commands() {
		if top.IsAvailableCommand() {
			pages["headroom-"+top.Name()+".1"] = commandPage(top, version, made)
		}
	}
	return pages
}

func heading(name, about, version string, made time.Time) string {
	return fmt.Sprintf(".TH %s 1 %s %q \"Headroom\"\n.SH NAME\n%s \\- %s\n",
		strings.ToUpper(roff(name)), made.Format(time.DateOnly), "headroom "+version, roff(name), roff(about))
}

func programPage(root *cobra.Command, version string, made time.Time) string {
	var s strings.Builder
	s.WriteString(heading("headroom", root.Short, version, made))
	s.WriteString(".SH SYNOPSIS\n.B headroom\n.I command\n[\\fIargument\\fR ...]\n.SH DESCRIPTION\n" + paragraphs(root.Long) + ".SH COMMANDS\n")
	for _, top := range root.Commands() {
		if top.IsAvailableCommand() {
			fmt.Fprintf(&s, ".TP\n.BR headroom\\-%s (1)\n%s.\n", roff(top.Name()), roff(top.Short))
		}
	}
	s.WriteString(".SH SEE ALSO\n/usr/share/doc/headroom/docs, and /docs on every server.\n")
	return s.String()
}

func commandPage(top *cobra.Command, version string, made time.Time) string {
	var s strings.Builder
	s.WriteString(heading("headroom-"+top.Name(), top.Short, version, made))
	s.WriteString(".SH DESCRIPTION\n" + paragraphs(about(top)))
	var server *cobra.Command
	walk(top, func(c *cobra.Command) {
		if c.HasSubCommands() && !strings.Contains(c.Use, " ") {
			return
		}
		fmt.Fprintf(&s, ".SH %s\n", strings.ToUpper(roff(c.CommandPath())))
		if c != top {
			s.WriteString(paragraphs(about(c)))
		}
		fmt.Fprintf(&s, ".PP\n.B %s\n", roff(usage(c)))
		options(&s, flags(c.LocalNonPersistentFlags()))
		if connection(c) != nil {
			server = c
			s.WriteString(".PP\nIt asks a server, see below.\n")
		}
		s.WriteString(".PP\nFor example:\n.PP\n.nf\n")
		for _, line := range trimmed(c.Example) {
			s.WriteString("    " + roff(line) + "\n")
		}
		s.WriteString(".fi\n")
	})
	if server != nil {
		s.WriteString(".SH THE SERVER THAT IS ASKED\n")
		options(&s, connection(server))
	}
	s.WriteString(".SH SEE ALSO\n.BR headroom (1)\n")
	return s.String()
}

func options(s *strings.Builder, list []flag) {
	for _, f := range list {
		value, standard := "", ""
		if f.value != "" {
			value = " \\fI" + roff(f.value) + "\\fR"
		}
		if f.standard != "" {
			standard = " (default " + roff(f.standard) + ")"
		}
		fmt.Fprintf(s, ".TP\n\\fB%s\\fR%s\n%s%s\n", roff(f.name), value, roff(f.usage), standard)
	}
}

// paragraphs writes text with empty lines between paragraphs.
func paragraphs(text string) string {
	var s strings.Builder
	for _, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		s.WriteString(".PP\n")
		for line := range strings.Lines(p) {
			s.WriteString(roff(strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
	return s.String()
}

// roff writes text so that man shows it as it is.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
