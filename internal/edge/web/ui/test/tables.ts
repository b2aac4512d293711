// Writes a table as the page saves it, and as it is copied, with names given as JSON in the headings and in the cells.
// TestTablesStartNoFormula builds it and runs it in node.
import { csv, tsv, unguard } from "../src/model/table.ts";

declare const process: { argv: string[] };
const names = JSON.parse(process.argv[2]!) as string[];
const columns = [{ key: "number", title: "Number", value: () => -1.5, number: true }, ...names.map((name) => ({ key: name, title: name, value: (row: string) => row }))];
console.log(JSON.stringify({ csv: csv(columns, names), tsv: tsv(columns, names), again: names.map((name) => unguard(`'${name}`)) }));
