package web_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"testing"
)

// walkSuggest gives a class the price that the page suggests: just above what one more of its jobs costs.
func walkSuggest(t *testing.T, s *server, browser context.Context) {
	s.classesCluster(t, "without-prices", []string{"etl"})
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/without-prices/classes/etl")
	until(t, ctx, `document.querySelector("#field-class-penalty")?.value === "0.45" && !document.querySelector("#suggested")`)
	write(t, ctx, "#field-class-penalty", "")
	until(t, ctx, `document.querySelector("#suggested button")`)
	said := value[string](t, ctx, `document.querySelector("#suggested").textContent`)
	looks(t, ctx, "class-suggested")
	picture(t, ctx, "class-suggested")

	var problem map[string]any
	s.get(t, "/v1/clusters/without-prices/problem", &problem)
	problem["classes"].([]any)[0].(map[string]any)["penalty"] = "0"
	var plan struct {
		Classes []struct {
			OneMore struct {
				Amount string `json:"amount"`
			} `json:"one_more"`
		} `json:"classes"`
	}
	s.send(t, "POST", "/v1/solve", problem, &plan)
	cost, err := strconv.ParseFloat(plan.Classes[0].OneMore.Amount, 64)
	if err != nil || cost <= 0 {
		t.Fatalf("one more job costs %+v: %v", plan, err)
	}
	price := fmt.Sprintf("%.2f", math.Floor(100*cost+1e-9)/100+0.01)
	if want := fmt.Sprintf("Suggested to begin with: %q, just above what one more job costs. Give more for jobs that are worth more to you. Take %s over", price, price); said != want {
		t.Errorf("the page says %q, want %q", said, want)
	}
	press(t, ctx, "Take "+price+" over")
	until(t, ctx, fmt.Sprintf(`document.querySelector("#field-class-penalty").value === %q && !document.querySelector("#suggested")`, price))
	press(t, ctx, "Save")
	until(t, ctx, `document.body.innerText.includes("Saved.")`)
	var c struct {
		Penalty string `json:"penalty"`
	}
	if s.get(t, "/v1/clusters/without-prices/classes/etl", &c); c.Penalty != price {
		t.Errorf("the price is saved as %q, want %s", c.Penalty, price)
	}
}
