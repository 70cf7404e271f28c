import type { ReactNode } from "react";

/** Inline marks: code, bold, italics, links to the web. Everything else stays text. */
function inline(text: string): ReactNode[] {
  const out: ReactNode[] = [];
  const pattern = /(`[^`\n]+`)|(\*\*[^*\n]+\*\*)|(\*[^*\s][^*\n]*\*)|\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)/g;
  let last = 0;
  for (const match of text.matchAll(pattern)) {
    out.push(text.slice(last, match.index));
    const [whole, code, bold, slanted, label, href] = match;
    const key = match.index;
    if (code) out.push(<code key={key}>{code.slice(1, -1)}</code>);
    else if (bold) out.push(<strong key={key}>{bold.slice(2, -2)}</strong>);
    else if (slanted) out.push(<em key={key}>{slanted.slice(1, -1)}</em>);
    else out.push(<a key={key} href={href} target="_blank" rel="noreferrer noopener">{label}</a>);
    last = match.index + whole.length;
  }
  out.push(text.slice(last));
  return out;
}

/** The little of Markdown that models write: paragraphs, lists, headings, code. */
export function Markdown({ text }: { text: string }) {
  const blocks: ReactNode[] = [];
  const parts = text.split(/^```/m);
  parts.forEach((part, index) => {
    if (index % 2 === 1) {
      const [, ...code] = part.split("\n");
      blocks.push(<pre key={`c${index}`}><code>{code.join("\n").replace(/\n$/, "")}</code></pre>);
      return;
    }
    part.split(/\n{2,}/).forEach((paragraph, at) => {
      const trimmed = paragraph.replace(/^\n+|\n+$/g, "");
      if (!trimmed) return;
      const key = `${index}.${at}`;
      const lines = trimmed.split("\n");
      const heading = /^(#{1,4})\s+(.*)$/.exec(trimmed);
      if (heading && lines.length === 1) blocks.push(<p key={key} className="heading">{inline(heading[2] ?? "")}</p>);
      else if (lines.every((line) => /^\s*[-*]\s+/.test(line))) {
        blocks.push(<ul key={key}>{lines.map((line, n) => <li key={n}>{inline(line.replace(/^\s*[-*]\s+/, ""))}</li>)}</ul>);
      } else if (lines.every((line) => /^\s*\d+[.)]\s+/.test(line))) {
        blocks.push(<ol key={key}>{lines.map((line, n) => <li key={n}>{inline(line.replace(/^\s*\d+[.)]\s+/, ""))}</li>)}</ol>);
      } else blocks.push(<p key={key}>{lines.flatMap((line, n) => (n ? [<br key={`b${n}`} />, ...inline(line)] : inline(line)))}</p>);
    });
  });
  return <div className="prose">{blocks}</div>;
}
