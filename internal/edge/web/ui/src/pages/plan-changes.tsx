// What would change a plan: single values beyond which it decides otherwise, the closest first.
import type { CurrentPlan, Problem } from "../api/contract.ts";
import { decimal, perPeriod, price, scaled, units } from "../model/money.ts";
import { duration } from "../model/time.ts";
import { about } from "../model/words.ts";
import { addressOf } from "../state/route.ts";
import type { Change } from "../model/flips.ts";
import { tried } from "./plan-classes.tsx";

/** tryIt opens Explore a hundredth beyond the point where the plan changes its mind. */
function tryIt(plan: CurrentPlan, { what, name, now, at }: Change): string {
  const hundredths = Number(at) > Number(now) ? 101 : 99;
  const value = what === "deadline" ? String(Number(((Number(at) * hundredths) / 100).toPrecision(6))) : decimal(scaled(units(at), BigInt(hundredths), 100n));
  return tried(plan, { what, name, op: "=", value });
}

const texts = { penalty: "refused jobs valued", deadline: "a deadline", price: "a price" };

/** Changes lists the closest changes of mind. */
export function Changes({ plan, problem, all }: { plan: CurrentPlan; problem: Problem; all: Change[] }) {
  const { currency, period_s: seconds } = plan.plan.cost;
  const long = (c: Change, value: string) => (value !== c.now && duration(Number(value)) === duration(Number(c.now)) ? `${Number(value).toFixed(1)} s` : duration(Number(value)));
  const shown = (c: Change, value: string) => (c.what === "deadline" ? long(c, value) : `${price(perPeriod(value, seconds, "hour"), currency)} an hour`);
  const where = (c: Change) => (Number(c.at) === 0 ? "at" : `${Number(c.at) > Number(c.now) ? "above" : "below"} ${c.exact ? "" : about(problem)}`.trim());
  return (
    <div class="changes">
      <p class="small muted">
        The closest values beyond which the plan decides otherwise, if all others stay. <a href={addressOf(plan.cluster, "explore")}>Explore</a> changes several.
      </p>
      <ol>
        {all.slice(0, 5).map((c) => (
          <li key={`${c.what} ${c.name}`}>
            <bdi class="strong">{c.what === "price" ? "On demand" : c.name}</bdi>
            <span>
              <span>
                {texts[c.what]} {where(c)} {shown(c, c.at)}
              </span>{" "}
              <span class="muted small">now {shown(c, c.now)}</span>
            </span>
            <a href={tryIt(plan, c)}>Try it</a>
          </li>
        ))}
      </ol>
    </div>
  );
}
