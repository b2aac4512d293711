package remote

import (
	"errors"
	"testing"

	"example.org/headroom/internal/core/fault"
)

func TestOrigins(t *testing.T) {
	t.Parallel()
	origins := append(FlagOrigins("vm-type", "gap").Under("/options"),
		Origin{Pointer: "/url", Flag: "the address"}, Origin{Pointer: "/offers", Each: []string{"--offer a", "--offer b"}})
	for pointer, want := range map[string]string{
		"/options/vm_type": "--vm-type", "/options/gap/0": "--gap", "/options/gaps": "", "/gap": "", "/url": "the address",
		"/offers/1/price": "--offer b", "/offers/2": "", "/offers": "", "/offers/x": "", "": "",
	} {
		if got := origins.Of(pointer); got != want {
			t.Errorf("%q: got %q, want %q", pointer, got, want)
		}
	}
	hint := &fault.Hint{Detail: "Give 0.1 at most."}
	err := origins.Say(&fault.InputError{Findings: []fault.Finding{{Pointer: "/options/gap", Detail: "It is too large.", Hint: hint},
		{Pointer: "/classes/0", Detail: "No."}}})
	if want := "--gap: It is too large. Give 0.1 at most.\n/classes/0: No."; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if other := errors.New("another"); origins.Say(other) != other {
		t.Error("an error without findings was changed")
	}
}
