package inputs

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// ofSize finds family and size in names of AWS such as m5.xlarge, r6g.4xlarge and t3.medium. ofName finds the processors in
// those of Google Cloud and Azure such as n2-standard-8 and Standard_D4s_v5.
var (
	ofSize = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z0-9-]+)\.(?:(nano|micro|small|medium|large)|(\d*)xlarge)$`)
	})
	ofName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[a-z0-9]+-(?:standard|highmem|highcpu)-(\d+)|(?i:standard)_[A-Z]+(\d+)[a-z]*(?:_v\d+)?)$`)
	})
)

// Processors tells the processors of a VM type by its name; 0 where that does not say.
func Processors(instance string) int64 {
	if m := ofSize().FindStringSubmatch(instance); m != nil {
		return bySize(m[1], m[2], m[3])
	}
	if m := ofName().FindStringSubmatch(instance); m != nil {
		n, _ := strconv.ParseInt(m[1]+m[2], 10, 16)
		return n
	}
	return 0
}

// bySize tells the processors of a size of AWS. Small sizes have two, as large has, but for those of other families than t,
// and for the smaller ones of t2.
func bySize(family, size, times string) int64 {
	old := family == "t1" || family == "t2" && size != "medium" && size != "large"
	switch n, _ := strconv.ParseInt(times, 10, 16); {
	case size == "" && times == "":
		return 4
	case size == "":
		return 4 * n
	case size != "large" && (old || !strings.HasPrefix(family, "t")):
		return 1
	}
	return 2
}

// Burstable reports whether VMs of a type have all of their processors only while they have credits for it.
func Burstable(instance string) bool {
	family, _, found := strings.Cut(instance, ".")
	return found && regexp.MustCompile(`^t\d[a-z]*$`).MatchString(family) || regexp.MustCompile(`^(?i:standard)_B\d`).MatchString(instance)
}
