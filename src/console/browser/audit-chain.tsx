import { useEffect, useRef, useState } from 'preact/hooks'
import { getJson, type Refusal, refusalOf } from './api.ts'
import { findingWords, auditWords as w } from './audit-words.ts'
import { Sought } from './filters.tsx'
import { count } from './format.ts'
import { Card, Copy, Refused } from './parts.tsx'
import { Badge } from './state.tsx'
import { type Column, column, ListTable } from './table.tsx'
import { fill, words } from './words.ts'

type Finding = { readonly kind: string; readonly at: string }

type Verified = {
  readonly links: number
  readonly entries: number
  readonly late: number
  readonly findings_count: number
  readonly findings: readonly Finding[]
  readonly head: string | null
  readonly next_after: number | null
}

const nothing: Verified = {
  links: 0,
  entries: 0,
  late: 0,
  findings_count: 0,
  findings: [],
  head: null,
  next_after: 0,
}

/** How many findings we show. */
const shownMax = 200
const linksAtOnce = 20

const together = (former: Verified, page: Verified): Verified => ({
  links: former.links + page.links,
  entries: former.entries + page.entries,
  late: former.late + page.late,
  findings_count: former.findings_count + page.findings_count,
  findings: [...former.findings, ...page.findings].slice(0, shownMax),
  head: page.head ?? former.head,
  next_after: page.next_after,
})

const columns: readonly Column<Finding & { readonly key: string }>[] = [
  column(w.place, ({ at }) => at, 'wide mono'),
  column(w.finding, ({ kind }) => <Badge status="failed" label={findingWords[kind] ?? kind} />),
]

/** Checks the chain part by part, and shows what is not as it was sealed. */
export const Chain = () => {
  const [found, setFound] = useState<Verified>()
  const [refusal, setRefusal] = useState<Refusal>()
  const [isRunning, setRunning] = useState(false)
  const run = useRef(0)
  useEffect(
    () => () => {
      run.current = 0
    },
    [],
  )
  const verify = async (anchor: string, database: string) => {
    const mine = Date.now()
    run.current = mine
    setRunning(true)
    setRefusal(undefined)
    let sum = nothing
    try {
      for (let after: number | null = 0; after !== null && run.current === mine; ) {
        const query = new URLSearchParams({ after: String(after), limit: String(linksAtOnce) })
        query.set('database', database)
        if (anchor !== '') query.set('anchor', anchor)
        const page: Verified = await getJson<Verified>(`/v1/audit/verification?${query}`)
        sum = together(sum, page)
        after = page.next_after
        if (run.current === mine) setFound(sum)
      }
    } catch (error) {
      setFound(undefined)
      setRefusal(refusalOf(error))
    }
    setRunning(false)
  }
  return (
    <Card title={w.chain}>
      <p class="quiet">{w.chainNote}</p>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          const given = new FormData(event.currentTarget)
          void verify(String(given.get('anchor')).trim(), String(given.get('database')))
        }}
      >
        <Sought name="anchor" class="mono" label={w.anchor} pattern="[0-9]{1,18}:[0-9a-f]{64}" />
        <select name="database" aria-label={w.database}>
          <option value="1">{w.databaseShared}</option>
          <option value="2">{w.databaseCards}</option>
        </select>
        {isRunning ? (
          <button
            type="button"
            onClick={() => {
              run.current = 0
            }}
          >
            {w.stop}
          </button>
        ) : (
          <button type="submit">{w.verify}</button>
        )}
      </form>
      {refusal !== undefined && <Refused refusal={refusal} />}
      <div aria-live="polite">
        {found !== undefined && <Verdict found={found} isRunning={isRunning} />}
      </div>
    </Card>
  )
}

const verdictOf = ({ findings_count, next_after }: Verified, isRunning: boolean) => {
  if (findings_count > 0) return { status: 'failed', text: w.broken }
  if (isRunning) return { status: 'queued', text: w.going }
  return next_after === null
    ? { status: 'verified', text: w.whole }
    : { status: 'unknown', text: w.stopped }
}

const Verdict = ({
  found,
  isRunning,
}: {
  readonly found: Verified
  readonly isRunning: boolean
}) => {
  const { status, text } = verdictOf(found, isRunning)
  const { links, entries, late, findings_count: many, head } = found
  const numbers = { links: count(links), entries: count(entries), late: count(late) }
  return (
    <>
      <p>
        <Badge status={status} label={fill(text, { ...numbers, count: count(many) })} />
      </p>
      {many > 0 && (
        <ListTable
          columns={columns}
          rows={found.findings.map((one, at) => ({ ...one, key: `${at}` }))}
          keyOf={({ key }) => key}
        />
      )}
      {head !== null && !isRunning && (
        <>
          <p class="quiet">{w.head}</p>
          <code class="secret">{head}</code>
          <Copy text={head} label={words.copy} />
        </>
      )}
    </>
  )
}
