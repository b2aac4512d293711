package inputs

import (
	"regexp"
	"strconv"
)

// ofSize finds the size in names of AWS such as m5.xlarge and r6g.4xlarge, and the processors in those of Google Cloud
// and Azure such as n2-standard-8 and Standard_D4s_v5.
var (
	ofSize = regexp.MustCompile(`^[a-z0-9-]+\.(\d*)(large|xlarge)$`)
	ofName = regexp.MustCompile(`^(?:[a-z0-9]+-(?:standard|highmem|highcpu)-(\d+)|(?i:standard)_[A-Z]+(\d+)[a-z]*(?:_v\d+)?)$`)
)

// Processors tells the processors of a VM type by its name; 0 where that does not say.
func Processors(instance string) int64 {
	if m := ofSize.FindStringSubmatch(instance); m != nil {
		n := int64(1)
		if m[1] != "" {
			n, _ = strconv.ParseInt(m[1], 10, 16)
		}
		if m[2] == "large" {
			return 2
		}
		return 4 * n
	}
	if m := ofName.FindStringSubmatch(instance); m != nil {
		n, _ := strconv.ParseInt(m[1]+m[2], 10, 16)
		return n
	}
	return 0
}
