package api

import (
	"net/http"
	"testing"
)

// TestQuestionsAreThoseOfTheContract compares the addresses of all questions with the operations that the contract calls
// questions. Routes, rates and reading follow from them, so that a new question needs no line in this package.
func TestQuestionsAreThoseOfTheContract(t *testing.T) {
	described := 0
	for path, item := range contract(t).Paths.Map() {
		for method, op := range item.Operations() {
			if is, _ := op.Extensions["x-question"].(bool); !is {
				continue
			}
			if described++; method != http.MethodPost || questions[path] == nil {
				t.Errorf("%s %s is a question of the contract, and no kind of question has that address", method, path)
			}
		}
	}
	if described != len(questions) {
		t.Errorf("the contract has %d questions, and %d addresses have a kind of question", described, len(questions))
	}
	for path, q := range questions {
		if q.Solves() != solvingPath().MatchString(path) {
			t.Errorf("a question at %s solves: %t; rates take it for the opposite", path, q.Solves())
		}
	}
}
