import { type Purpose, partOf, Refusal, send } from './api.ts'
import { count } from './format.ts'
import { Refused } from './parts.tsx'
import { Badge } from './state.tsx'
import { toolWords as w } from './tools-words.ts'
import { fill } from './words.ts'

type Line = {
  readonly depth: number
  readonly name: string
  readonly value: string | null
  readonly meaning: string | null
  readonly path: string | null
}

type Explanation = {
  readonly kind: string
  readonly title: string
  readonly failure: string | null
  readonly lines: readonly Line[]
}

type Violation = {
  readonly path: string
  readonly line: number
  readonly rule: string
  readonly got: string
  readonly expected: string
}

type Verdict = { readonly valid: boolean; readonly violations: readonly Violation[] }

/** A message as production code reads it; `verdict`: that of its schema, if it has one, or why we have none. */
export type Explained = Explanation & { readonly verdict: Verdict | Refusal | undefined }

/** The kind to read the message as; absent: the API recognises it. */
export type Wanted = { readonly kind?: string; readonly dialect?: string }

/** @throws Refusal says why, if the API cannot explain it */
export const explain = async (
  content: string,
  wanted: Wanted = {},
  purpose: Purpose = 'user',
): Promise<Explained> => {
  const body = { content, ...wanted }
  const explanation = await send<Explanation>('POST', '/v1/inspect', body, undefined, purpose)
  if (explanation.kind !== 'iso20022') return { ...explanation, verdict: undefined }
  const verdict = await verdictOf(content, purpose)
  return {
    ...explanation,
    verdict,
    // With a verdict, each violation stands at its line.
    lines: explanation.lines.filter(({ path }) => !isTold(verdict) || path !== null),
  }
}

const isTold = (verdict: Explained['verdict']): verdict is Verdict =>
  verdict !== undefined && !(verdict instanceof Refusal)

/** A message that is signed as it leaves, or is accepted unsigned, may lack its signature. */
export const withoutSignature = (message: Explained): Explained => {
  const { verdict } = message
  if (!isTold(verdict)) return message
  const violations = verdict.violations.filter(
    ({ path, rule }) => rule !== 'missing' || !path.endsWith('/AppHdr/Sgntr'),
  )
  return { ...message, verdict: { violations, valid: violations.length === 0 } }
}

/** Undefined for XML that is no message, and for a key that may not validate. */
const verdictOf = (message: string, purpose: Purpose): Promise<Explained['verdict']> =>
  partOf(send<Verdict>('POST', '/v1/validate', { message }, undefined, purpose))

/** The violations by their line: their element, the first line in it, or the nearest around it. */
const marksOf = (
  lines: readonly Line[],
  violations: readonly Violation[],
): ReadonlyMap<number, readonly Violation[]> => {
  const marks = new Map<number, Violation[]>()
  for (const violation of violations) {
    const at = placeOf(lines, violation.path)
    marks.set(at, [...(marks.get(at) ?? []), violation])
  }
  return marks
}

const placeOf = (lines: readonly Line[], path: string): number => {
  const inside = lines.findIndex((line) => line.path === path || line.path?.startsWith(`${path}/`))
  if (inside >= 0) return inside
  const around = (line: Line): number =>
    line.path !== null && path.startsWith(line.path) ? line.path.length : -1
  let best = 0
  for (const [at, line] of lines.entries()) {
    if (around(line) > around(lines[best] ?? line)) best = at
  }
  return best
}

/** The lines of a message, each violation at its line. */
export const ExplainedLines = ({ lines, verdict }: Explained) => {
  const marks = marksOf(lines, isTold(verdict) ? verdict.violations : [])
  return (
    <>
      {verdict instanceof Refusal && <Refused refusal={verdict} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section class="tree" aria-label={w.explain} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{w.field}</th>
              <th scope="col">{w.value}</th>
              <th scope="col">{w.meaning}</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line, at) => (
              // Two lines may be equal, but the lines of one message never move.
              <TreeRow key={at} line={line} marks={marks.get(at) ?? []} />
            ))}
          </tbody>
        </table>
      </section>
    </>
  )
}

const indentPx = 16
const depthMax = 12

const TreeRow = ({
  line,
  marks,
}: {
  readonly line: Line
  readonly marks: readonly Violation[]
}) => (
  <tr class={marks.length > 0 ? 'marked' : ''}>
    <td>
      <span class="name" style={{ paddingLeft: `${Math.min(line.depth, depthMax) * indentPx}px` }}>
        {line.name
          .split('/')
          .flatMap((step, at) => (at === 0 ? [step] : ['/', <wbr key={at} />, step]))}
      </span>
    </td>
    <td class="mono">{line.value}</td>
    <td>
      {line.meaning}
      {marks.map(({ rule, path, got, expected }) => (
        <p key={`${path} ${rule}`} class="violation">
          <strong>{rule}</strong> {fill(w.got, { got, expected })}
          <span class="mono quiet">{path}</span>
        </p>
      ))}
    </td>
  </tr>
)

/** The verdict of the schema, or the kind of a message that has no schema. */
export const VerdictBadge = ({ message }: { readonly message: Explained }) => {
  const { kind, failure, verdict } = message
  if (kind !== 'iso20022')
    return <Badge status={failure === null ? 'info' : 'failed'} label={kind} />
  if (!isTold(verdict)) return <Badge status="unknown" label={w.notJudged} />
  const many = count(verdict.violations.length)
  return verdict.valid ? (
    <Badge status="ok" label={w.valid} />
  ) : (
    <Badge status="failed" label={fill(w.invalid, { count: many })} />
  )
}
