package remote

import (
	"io"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/shell"
)

// BytesBar is a bar on a terminal, nil elsewhere.
func BytesBar(c *cobra.Command, size int64, doing string) *progressbar.ProgressBar {
	if !shell.IsTerminal(c.ErrOrStderr()) {
		return nil
	}
	return progressbar.NewOptions64(size, progressbar.OptionSetWriter(c.ErrOrStderr()), progressbar.OptionShowBytes(true),
		progressbar.OptionSetDescription(doing),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
}

func IsAddress(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// Sending is a file on its way.
type Sending struct {
	In   io.Reader
	Show func(n int)
	Err  error
}

func (s *Sending) Read(p []byte) (int, error) {
	n, err := s.In.Read(p)
	if s.Show != nil {
		s.Show(n)
	}
	if err != nil && err != io.EOF {
		s.Err = err
	}
	return n, err
}

// MostImportedRows bounds the rows of a report for people.
const MostImportedRows = 40
