// What is wrong, by the sentences that people know it by, each with a way out. What was seen last stays.
import { useSignal } from "@preact/signals";
import { ask, Problem } from "../api/client.ts";
import type { CurrentPlan } from "../api/contract.ts";
import { age, clock, second } from "../model/time.ts";
import { lastChange, noCluster, saidOf } from "../model/words.ts";
import { now } from "../state/clock.ts";
import { again, cluster, clusters, current, heard, refresh, session, signIn, signInHere, trouble, tryNow } from "../state/cluster.ts";
import { route } from "../state/route.ts";
import { followRun, isRun } from "../state/runs.ts";
import { Banner } from "./banner.tsx";
import { Change } from "./change.tsx";
import { Dialog } from "./dialog.tsx";
import { refusal } from "../state/rights.ts";

const zone = () => cluster.value?.time_zone ?? "UTC";
const at = (moment: string) => clock(new Date(moment), zone(), new Date(now.value));

export function Trouble() {
  const t = trouble.value;
  const plan = current.value?.plan;
  return (
    <>
      {t && <Away t={t} plan={plan} />}
      {plan && <Kept plan={plan} />}
    </>
  );
}

/** countdown is when it is tried again by itself. */
function countdown(): string {
  now.value; // each second
  const seconds = Math.max(1, Math.ceil((again.value - Date.now()) / 1000));
  return again.value ? `Trying again in ${seconds} s.` : "Trying again.";
}

function Away({ t, plan }: { t: Problem; plan: CurrentPlan | undefined }) {
  if (t.status === 401) return <SignedOut />;
  const retry = <button class="quiet" onClick={tryNow}>Try now</button>;
  if (t.status === 0)
    return (
      <Banner error said={`Headroom does not answer.${heard.value > 0 ? ` You see what was here at ${second(new Date(heard.value), zone())}.` : ""}`} more={countdown()}>
        {retry}
      </Banner>
    );
  if (t.status === 503)
    return (
      <Banner error said={`The database cannot be reached. ${plan ? "You see the last good plan; changes" : "Changes"} cannot be saved.`} more={countdown()}>
        {retry}
      </Banner>
    );
  const gone = t.status === 404 && lastChange(t);
  if (gone)
    return (
      <Banner
        error
        said={
          <>
            The cluster <bdi>{route.value.cluster}</bdi> was deleted at {at(gone.at)} by key <bdi>{gone.by}</bdi>.
          </>
        }
      >
        <a href="/" onClick={() => (clusters.value = clusters.value?.filter((c) => c.name !== route.value.cluster) ?? null)}>Other clusters</a>
      </Banner>
    );
  if (noCluster(t))
    return (
      <Banner error said={t.message}>
        <a href="/">Other clusters</a>
      </Banner>
    );
  if (t.status === 404 && !plan) return null; // its page says why there is no plan yet
  return (
    <Banner error said={saidOf(t)} more={again.value ? countdown() : ""}>
      {again.value > 0 && retry}
    </Banner>
  );
}

/** SignedOut asks for the key in place, so that nothing on the page is lost; who has seen nothing yet goes to
 *  the page for signing in. */
function SignedOut() {
  const open = useSignal(false);
  const key = useSignal("");
  const wrong = useSignal("");
  if (!session.value)
    return (
      <Banner said="You are not signed in.">
        <button class="quiet" onClick={signIn}>Sign in</button>
      </Banner>
    );
  const send = async (e: Event) => {
    e.preventDefault();
    try {
      await signInHere(key.value.trim());
      open.value = false;
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      wrong.value = e.message;
    }
  };
  return (
    <>
      <Banner error said="You were signed out. Your changes on this page are kept.">
        <button class="quiet" onClick={() => (open.value = true)}>Sign in</button>
      </Banner>
      {open.value && (
        <Dialog title="Sign in" close={() => (open.value = false)}>
          <form class="stack" onSubmit={(e) => void send(e)}>
            <div class="field">
              <label for="key">Key, or the token of a sign-in link</label>
              <input id="key" type="password" autocomplete="current-password" aria-invalid={wrong.value !== ""} aria-describedby="key-wrong" value={key.value} onInput={(e) => (key.value = e.currentTarget.value)} />
              <p class="small wrong" id="key-wrong" role="alert">{wrong.value}</p>
            </div>
            <p>
              <button class="main">Sign in</button>
            </p>
            <p class="small">
              <button type="button" class="quiet" onClick={signIn}>Sign in in another way</button> You come back to this page, and forms keep what was typed.
            </p>
          </form>
        </Dialog>
      )}
    </>
  );
}

/** Kept says why an older plan is seen than should be. */
function Kept({ plan }: { plan: CurrentPlan }) {
  const why = useSignal(false);
  const show = useSignal(false);
  const said = useSignal("");
  const { freshness: f } = plan;
  const attempt = f.last_attempt;
  const compute = async () => {
    said.value = "";
    try {
      const answer = await ask("POST /v1/clusters/{cluster}/plans", { path: { cluster: plan.cluster }, body: {} });
      if (answer && isRun(answer.value)) followRun(answer.value, () => void refresh(plan.cluster));
      else await refresh(plan.cluster);
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      said.value = refusal(e);
    }
  };
  const mistake = said.value && <p role="alert" class="small">{said.value}</p>;
  if (attempt?.failed)
    return (
      <>
        <Banner
          said={
            <>
              The change of {at(attempt.reason === "inputs" ? f.inputs_changed_at : attempt.at)} could not be planned: {(attempt.conflicts?.[0]?.detail ?? attempt.detail).replace(/\.$/, "")}. Plan {plan.number} stays in force.
            </>
          }
        >
          <button class="quiet" aria-expanded={show.value} onClick={() => (show.value = !show.value)}>Show the change</button>
        </Banner>
        {show.value && <Change plan={plan} problem={current.value!.problem} close={() => (show.value = false)} />}
      </>
    );
  if (!f.stale) return null;
  return (
    <Banner said={`This plan is ${old(now.value - Date.parse(f.pin ? plan.created_at : f.confirmed_at))} old. It was due to be renewed at ${at(f.valid_until)}; the last good plan stays in force.`}>
      <button class="quiet" aria-expanded={why.value} onClick={() => (why.value = !why.value)}>Why?</button>
      <button class="quiet" onClick={() => void compute()}>Compute now</button>
      {why.value && <p class="small">{attempt ? attempt.detail : "No one has tried to renew it since: Headroom was not running, or could not reach its database."}</p>}
      {mistake}
    </Banner>
  );
}

const old = (milliseconds: number) => age(milliseconds).replace(" ago", "");
