package main

import (
	"io"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
)

// bytesBar is a bar on a terminal, nil elsewhere.
func bytesBar(c *cobra.Command, size int64, doing string) *progressbar.ProgressBar {
	if !isTerminal(c.ErrOrStderr()) {
		return nil
	}
	return progressbar.NewOptions64(size, progressbar.OptionSetWriter(c.ErrOrStderr()), progressbar.OptionShowBytes(true), progressbar.OptionSetDescription(doing),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
}

func isAddress(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// sending is a file on its way.
type sending struct {
	in   io.Reader
	show func(n int)
	err  error
}

func (s *sending) Read(p []byte) (int, error) {
	n, err := s.in.Read(p)
	if s.show != nil {
		s.show(n)
	}
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// mostImportedRows is how many prices a report for people lists.
const mostImportedRows = 40
