package web_test

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// walkAdopt lets a class take over the measured times of its runs. The page continues without a reload, and gives the
// reason of a refusal.
func walkAdopt(t *testing.T, s *server, browser context.Context) {
	const at = "/v1/clusters/adopting"
	s.classesCluster(t, "adopting", []string{"weekly", "daily"})
	var runs []any
	for i := range 20 {
		began := time.Now().Add(-time.Duration(i+1) * time.Hour).UTC().Truncate(time.Second)
		runs = append(runs, map[string]any{"job": "weekly", "execution": fmt.Sprintf("run-%d", i), "submitted_at": began,
			"sample": map[string]any{"profile": map[string]any{"map_tasks": 120, "reduce_tasks": 0, "map_avg_s": 24.5, "map_max_s": 61, "overhead_s": 11}, "seconds": 440 + 5*i,
				"map": map[string]any{"count": 120, "mean": 24.5, "max": 61, "p50": 23, "p95": 48}, "map_slots": 8}})
	}
	s.send(t, "POST", at+"/executions", map[string]any{"executions": runs}, nil)
	ctx := s.tab(t, browser)
	s.open(t, ctx, "/c/adopting/classes/weekly")
	until(t, ctx, `document.body.innerText.includes("plans can count on that")`)
	value[bool](t, ctx, `window.same = true`) // for as long as the page is not reloaded
	refused := `document.querySelector('[aria-label="Measured runs"] [role=alert]')?.textContent`

	// Somebody else was faster.
	var class map[string]any
	s.get(t, at+"/classes/weekly", &class)
	class["penalty"] = "0.77"
	s.overwrite(t, at+"/classes/weekly", class)
	press(t, ctx, "Use it")
	until(t, ctx, `/^Key HEADROOM_ADMIN_KEY changed weekly at .*, after you opened it\.$/.test(`+refused+`)`)
	until(t, ctx, `document.querySelector("#field-class-penalty").value === "0.77"`)

	// A key that may not.
	var lesser struct{ Token string }
	s.send(t, "POST", "/v1/keys", map[string]any{"name": "reader", "role": "viewer"}, &lesser)
	becomes(t, ctx, lesser.Token)
	press(t, ctx, "Use it")
	until(t, ctx, refused+` === "Your key may read adopting but not change it. Ask an administrator for the role operator."`)
	becomes(t, ctx, s.key)

	// Text typed meanwhile stays, and can be saved afterwards.
	write(t, ctx, "#field-class-jobs-max", "7")
	press(t, ctx, "Use it")
	until(t, ctx, `document.querySelector('[aria-label="Measured runs"]').textContent.includes("It is adopted, for plans with calibrated times.") && !document.querySelector('[aria-label="Measured runs"] [role=alert]')`)
	press(t, ctx, "Save")
	until(t, ctx, `document.querySelector("form [role=status]").textContent === "Saved."`)
	if !value[bool](t, ctx, `window.same === true`) {
		t.Error("the page was loaded anew")
	}
	var kept struct {
		Penalty     string
		Calibration *struct{ Factor float64 }
		Jobs        struct{ Max int }
	}
	if s.get(t, at+"/classes/weekly", &kept); kept.Calibration == nil || kept.Jobs.Max != 7 || kept.Penalty != "0.77" {
		t.Errorf("the class is %+v", kept)
	}
	calm(t, ctx, "a calibration in use")
}
