// Pictures of charts for files: with the colours that they have now, and above them what they show and of when.

const kept = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];
const space = "http://www.w3.org/2000/svg";
const margin = 16;
const line = 20;

/** svgOf is a drawing as a document of its own. */
export function svgOf(drawing: SVGSVGElement, heads: string[]): { text: string; width: number; height: number } {
  const at = drawing.getBoundingClientRect();
  const root = getComputedStyle(document.documentElement);
  const top = margin + heads.length * line;
  const width = Math.ceil(at.width) + 2 * margin;
  const height = Math.ceil(at.height) + top + margin;
  const out = document.createElementNS(space, "svg");
  out.setAttribute("xmlns", space);
  out.setAttribute("width", String(width));
  out.setAttribute("height", String(height));
  const paper = document.createElementNS(space, "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", root.getPropertyValue("--surface").trim());
  out.append(paper);
  heads.forEach((text, i) => {
    const t = document.createElementNS(space, "text");
    t.setAttribute("x", String(margin));
    t.setAttribute("y", String(margin + i * line + 10));
    t.setAttribute("fill", root.getPropertyValue("--text").trim());
    t.setAttribute("font-family", root.fontFamily);
    t.setAttribute("font-size", "13");
    if (i === 0) t.setAttribute("font-weight", "700");
    t.textContent = text;
    out.append(t);
  });
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  settle(drawing, copy);
  copy.removeAttribute("class");
  copy.setAttribute("x", String(margin));
  copy.setAttribute("y", String(top));
  copy.setAttribute("width", String(Math.ceil(at.width)));
  copy.setAttribute("height", String(Math.ceil(at.height)));
  out.append(copy);
  return { text: new XMLSerializer().serializeToString(out), width, height };
}

/** settle writes what the style sheet says into the copy, which will stand without it. */
function settle(from: Element, to: Element): void {
  const style = getComputedStyle(from);
  for (const name of kept) {
    const value = style.getPropertyValue(name);
    if (value && value !== "none 0px") to.setAttribute(name, value);
  }
  for (let i = 0; i < from.children.length; i++) settle(from.children[i]!, to.children[i]!);
}

/** pngOf draws it at twice its size. */
export async function pngOf(svg: { text: string; width: number; height: number }): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([svg.text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = svg.width * 2;
    canvas.height = svg.height * 2;
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((then, fail) => canvas.toBlob((b) => (b ? then(b) : fail(new Error("the picture is too large")))));
  } finally {
    URL.revokeObjectURL(address);
  }
}
