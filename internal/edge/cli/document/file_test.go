package document

import "testing"

// A class whose jobs are all promised needs no penalty. Others say what theirs is.
func TestMembersThatSayNothingAreCompleted(t *testing.T) {
	flags := []MemberFlag{{Name: "jobs-all", Pointer: "/jobs/all"}, {Name: "penalty", Pointer: "/penalty", Unless: "jobs-all"}}
	for text, want := range map[string]string{
		`{"jobs": {"max": 3, "all": true}}`:                 "0",
		`{"jobs": {"max": 3, "all": true}, "penalty": "5"}`: "5",
		`{"jobs": {"max": 3, "all": false}}`:                "",
		`{"jobs": {"max": 3}}`:                              "",
	} {
		tree, err := ReadJSONTree([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		tree.Complete(flags)
		got := ""
		if penalty := tree.Member("penalty"); penalty != nil {
			got = penalty.Text
		}
		if got != want {
			t.Errorf("%s: the penalty is %q, want %q", text, got, want)
		}
	}
}
