import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Refusal, useLoaded, type Wake } from './api.ts'
import { count, dayOf, timeOf } from './format.ts'
import { Shown } from './parts.tsx'
import { Rows } from './rows.tsx'
import { words } from './words.ts'

/** `wide`: a line of its own on a phone. `extra`: left out there. `acts`: buttons. */
type ColumnClass = 'wide' | 'mono' | 'extra' | 'number' | 'quiet' | 'acts'

export type Column<T> = {
  readonly head: string
  readonly cell: (row: T) => ComponentChildren
  readonly classes?: readonly ColumnClass[]
}

/** The moment of a row: day and time, with the instant for machines. */
export const momentColumn = <T,>(atOf: (row: T) => string): Column<T> => ({
  head: words.time,
  classes: ['number', 'quiet'],
  cell: (row) => <Moment at={atOf(row)} />,
})

export const Moment = ({ at }: { readonly at: string }) => (
  <time dateTime={at}>
    {dayOf(at)} {timeOf(at)}
  </time>
)

/** The console's one table; on a phone each row is a block of lines. */
export const Table = <T,>({
  columns,
  rows,
  keyOf,
}: {
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
}) => (
  <table>
    <thead>
      <tr>
        {columns.map(({ head, classes }) => (
          <th key={head} scope="col" class={classes?.join(' ')}>
            {head}
          </th>
        ))}
      </tr>
    </thead>
    {partsOf(rows).map((part, at) => (
      <Rows key={at} isFirst={at === 0} columns={columns.length}>
        {part.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ head, classes, cell }) => (
              <td key={head} class={classes?.join(' ')}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </Rows>
    ))}
  </table>
)

const partRows = 50

/** One at least: a table without rows has its empty body. */
const partsOf = <T,>(rows: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.max(1, Math.ceil(rows.length / partRows)) }, (_, at) =>
    rows.slice(at * partRows, (at + 1) * partRows),
  )

export type Page<T> = { readonly rows: readonly T[]; readonly next: string | null }

/**
 * A list that is read page by page.
 *
 * @param name of what is listed: another one begins anew
 */
export const PagedTable = <T,>({
  name,
  title,
  note,
  load,
  empty,
  wake,
  ...table
}: {
  readonly name: string
  /** The title of a list, where a screen has several. */
  readonly title?: string | undefined
  readonly note?: string | undefined
  readonly load: (cursor: string | undefined, purpose?: 'user' | 'background') => Promise<Page<T>>
  readonly empty: string
  /** Has the first page asked for again; what is new stands at the top, until more is loaded. */
  readonly wake?: Wake
  readonly columns: readonly Column<T>[]
  readonly keyOf: (row: T) => string
}) => {
  const [later, setLater] = useState<readonly Page<T>[]>([])
  const [refusal, setRefusal] = useState<Refusal>()
  const kept = useRef<Page<T>>()
  const isRead = useRef(false)
  const first = useLoaded(
    name,
    async (purpose) => {
      // Whoever reads on is left in peace.
      if (purpose === 'background' && isRead.current && kept.current !== undefined) {
        return kept.current
      }
      kept.current = await load(undefined, purpose)
      return kept.current
    },
    wake,
  )
  const more = async (cursor: string) => {
    try {
      isRead.current = true
      const page = await load(cursor)
      setRefusal(undefined)
      setLater((pages) => [...pages, page])
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      setRefusal(error)
    }
  }
  return (
    <Shown loaded={first}>
      {(page) => {
        const rows = [page, ...later].flatMap((one) => one.rows)
        const { next } = later.at(-1) ?? page
        if (rows.length === 0) {
          return (
            <section class="card">
              <Heading title={title} note={note} />
              <p class="empty">{empty}</p>
            </section>
          )
        }
        return (
          <section class="card list">
            <Heading title={title} note={note} />
            <Table {...table} rows={rows} />
            <footer>
              <span class="quiet" aria-live="polite">
                {count(rows.length)} {words.loaded}
              </span>
              {refusal !== undefined && <span role="alert">{refusal.message}</span>}
              {next !== null && (
                <button type="button" onClick={() => void more(next)}>
                  {words.more}
                </button>
              )}
            </footer>
          </section>
        )
      }}
    </Shown>
  )
}

const Heading = ({
  title,
  note,
}: {
  readonly title: string | undefined
  readonly note: string | undefined
}) =>
  title === undefined ? null : (
    <header>
      <div>
        <h2>{title}</h2>
        {note !== undefined && <p class="quiet">{note}</p>}
      </div>
    </header>
  )
