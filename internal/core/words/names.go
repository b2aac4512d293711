package words

import (
	"fmt"
	"strings"
)

// namesTold bounds the names that one sentence tells.
const namesTold = 10

// Some lists the first names, and says how many more there are.
func Some(names []string) string {
	if n := len(names); n > namesTold {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namesTold], ", "), n-namesTold)
	}
	return strings.Join(names, ", ")
}
