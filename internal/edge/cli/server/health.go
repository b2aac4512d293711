package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/edge/cli/shell"
)

func healthCommand() *cobra.Command {
	var server, dataDir string
	var live bool
	timeout := 3 * time.Second
	c := &cobra.Command{
		Use:   "health",
		Short: "Say whether a server can answer, for container engines and load balancers",
		Long: `Asks a server once whether it can answer reads (/readyz), or with --live whether it runs at all (/livez).
It needs no key. The exit code is 0 where it can and 1 where it cannot or nobody answers.

The server is the one of --server; or with --data-dir the one that "headroom serve" runs on this machine for
that directory; or that of HEADROOM_URL; or the one that listens on this machine as HEADROOM_LISTEN says; or the one
that runs for HEADROOM_DATA_DIR; without any the one at 127.0.0.1:8080.`,
		Example: "  headroom server health\n  headroom server health --live --server http://127.0.0.1:8080",
		Args:    cobra.NoArgs,
	}
	c.Flags().StringVar(&server, "server", "", "the server's `address`, such as https://headroom.example.com (default HEADROOM_URL)")
	c.Flags().StringVar(&dataDir, "data-dir", "", "the data `directory` of a server on this machine (default HEADROOM_DATA_DIR)")
	c.MarkFlagsMutuallyExclusive("server", "data-dir")
	c.Flags().BoolVar(&live, "live", false, "ask only whether it runs")
	c.Flags().DurationVar(&timeout, "timeout", timeout, "how long to wait for the answer")
	c.PreRunE = func(*cobra.Command, []string) error {
		if timeout <= 0 {
			return fmt.Errorf("--timeout is %s; give a time such as 3s", timeout)
		}
		return nil
	}
	return shell.Command(c, func(c *cobra.Command, args []string) error {
		path := "/readyz"
		if live {
			path = "/livez"
		}
		ctx, cancel := context.WithTimeout(c.Context(), timeout)
		defer cancel()
		var err error
		address := server
		local := remote.Connection{DataDir: dataDir}
		switch {
		case server != "":
		case dataDir != "":
			found, _, err := local.Local()
			if err != nil {
				return errors.New(err.Error()) // the exit code is 1 for every reason
			}
			address = found.URL
		case os.Getenv("HEADROOM_URL") != "":
			address = os.Getenv("HEADROOM_URL")
		default:
			if found, _, err := local.Local(); err == nil && os.Getenv("HEADROOM_LISTEN") == "" && os.Getenv("HEADROOM_DATA_DIR") != "" {
				address = found.URL
				break
			}
			if address, err = listeningHere(os.Getenv("HEADROOM_LISTEN")); err != nil {
				return err
			}
		}
		_, err = health(ctx, strings.TrimRight(address, "/")+path)
		return err
	})
}

// listeningHere returns the address by which this machine reaches a server that listens on another. One that listens on
// all addresses is reached over loopback.
func listeningHere(listen string) (string, error) {
	if listen == "" {
		listen = "127.0.0.1:8080"
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("HEADROOM_LISTEN is %q, which is no address and port such as 127.0.0.1:8080", listen)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	return "http://" + net.JoinHostPort(host, port), nil
}

// health asks once, and returns in which state a server says it is. Every answer but a plain yes is an error with the reason.
func health(ctx context.Context, address string) (status string, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return "", errors.New("the address of --server or HEADROOM_URL is not one of a server; write it like http://127.0.0.1:8080")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	asker := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := asker.Do(request)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("no answer within the time of --timeout")
		}
		return "", fmt.Errorf("%s: %w", address, err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10)) // what can be read of the reason is enough
	if response.StatusCode == http.StatusOK {
		var said struct{ Status string }
		_ = json.Unmarshal(body, &said) // something else may answer there
		return said.Status, nil
	}
	if p, ok := remote.ProblemOf(body, response.StatusCode); ok {
		return "", fmt.Errorf("%s answers %s: %s", address, response.Status, p.Error())
	}
	return "", fmt.Errorf("%s answers %s", address, response.Status)
}
