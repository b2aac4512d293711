package shell

import (
	"fmt"
	"net"
	"os"
)

// What a supervisor such as systemd (Type=notify) is told; sd_notify(3) describes the words.
const (
	NotifyReady    = "READY=1"
	NotifyStopping = "STOPPING=1"
)

// Notify tells the supervisor that started this process, and that asked for it with NOTIFY_SOCKET, how
// the server is doing. Without such a supervisor it does nothing.
func Notify(state string) error {
	socket := os.Getenv("NOTIFY_SOCKET") // a path, or @ and a name without a file; net knows both
	if socket == "" {
		return nil
	}
	connection, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("tell the supervisor %s: %w", state, err)
	}
	defer connection.Close()
	if _, err := connection.Write([]byte(state)); err != nil {
		return fmt.Errorf("tell the supervisor %s: %w", state, err)
	}
	return nil
}
