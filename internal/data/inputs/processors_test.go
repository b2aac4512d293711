package inputs

import "testing"

// The processors are those that the clouds' lists give.
func TestProcessorsOfNames(t *testing.T) {
	for name, want := range map[string]int64{
		"m5.large": 2, "m5.xlarge": 4, "r6g.4xlarge": 16, "m5.24xlarge": 96, "c7g.medium": 1, "m6g.medium": 1, "a1.medium": 1, "m3.medium": 1,
		"t3.nano": 2, "t3a.micro": 2, "t4g.small": 2, "t3.medium": 2, "t3.large": 2, "t3.2xlarge": 8, "t2.micro": 1, "t2.small": 1, "t2.medium": 2, "t2.large": 2,
		"n2-standard-8": 8, "e2-highmem-4": 4, "Standard_D4s_v5": 4, "Standard_B2s": 2, "m5.metal": 0, "big": 0, "e2-medium": 0, "m5.huge": 0, "": 0,
	} {
		if got := Processors(name); got != want {
			t.Errorf("%s has %d processors, want %d", name, got, want)
		}
	}
	for name, want := range map[string]bool{"t3.medium": true, "t4g.nano": true, "t2.large": true, "Standard_B2s": true, "Standard_B2ms": true, "m5.large": false, "trn1.2xlarge": false, "Standard_D4s_v5": false, "t3": false} {
		if got := Burstable(name); got != want {
			t.Errorf("burstable says %t of %s", got, name)
		}
	}
}
