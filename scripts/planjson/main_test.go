package main

import (
	"bytes"
	"os"
	"testing"
)

// The generated code that reads and writes plans is that of the structs as they are.
func TestPlansAreReadAndWrittenByTheirTags(t *testing.T) {
	const folder = "../../internal/core/capacity"
	want, err := generate(folder)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(folder + "/planjson_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("planjson_gen.go is not what scripts/planjson makes of the structs; run make generate, and commit what it writes")
	}
}
