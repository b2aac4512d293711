// Says what the page takes as times of classes given as JSON. TestShortestPossibleTimes builds it and runs it in node.
import type { JobAnswer, Options, ProblemClass } from "../src/api/contract.ts";
import { planned } from "../src/model/planned.ts";

interface Case {
  class: ProblemClass;
  bounds: JobAnswer["coefficients"] | null;
  overhead: number;
  bound: NonNullable<Options["bound"]>;
  speed: number;
}

declare const process: { argv: string[] };
console.log(JSON.stringify((JSON.parse(process.argv[2]!) as Case[]).map((c) => planned(c.class, c.bounds, c.overhead, c.bound, c.speed))));
