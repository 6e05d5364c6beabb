import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Refusal, refusalOf, useLoaded, type Wake } from './api.ts'
import { count, dayOf, timeOf } from './format.ts'
import { Refused, Shown } from './parts.tsx'
import { IdLink } from './router.tsx'
import { Rows } from './rows.tsx'
import { Badge } from './state.tsx'
import { words } from './words.ts'

/** `wide`: a line of its own on a phone. `extra`: left out there. `acts`: buttons. */
type ColumnClass = 'wide' | 'mono' | 'extra' | 'number' | 'quiet' | 'acts'
type ColumnClasses = ColumnClass | `${ColumnClass} ${ColumnClass}` | 'extra number quiet'

export type Column<T> = {
  readonly head: string
  readonly cell: (row: T) => ComponentChildren
  readonly classes?: ColumnClasses | undefined
}

export const column = <T,>(
  head: string,
  cell: Column<T>['cell'],
  classes?: ColumnClasses,
): Column<T> => ({ head, cell, classes })

export const statusColumn: Column<{ readonly status?: string }> = {
  head: words.status,
  cell: ({ status = '' }) => <Badge status={status} />,
}

/** What a row is known by, with the way to its page. */
export const linkColumn = <T,>(
  to: (row: T) => string,
  text: (row: T) => string,
  head = words.identifier,
): Column<T> => column(head, (row) => <IdLink to={to(row)}>{text(row)}</IdLink>, 'wide')

type Time = string | null | undefined

/** The moment of a row: day and time, with the instant for machines. */
export const momentColumn = <T,>(
  atOf: (row: T) => Time,
  head = words.time,
  classes: ColumnClasses = 'number quiet',
): Column<T> => column(head, (row) => <Moment at={atOf(row)} />, classes)

/** @param none what stands for a moment that is not known */
export const Moment = ({ at, none = '–' }: { readonly at: Time; readonly none?: string }) =>
  at ? (
    <time dateTime={at}>
      {dayOf(at)} {timeOf(at)}
    </time>
  ) : (
    none
  )

type Rowed<T> = {
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
}

/** On a card, or as one. */
export const ListTable = <T,>({
  isCard = false,
  ...table
}: Rowed<T> & { readonly isCard?: boolean }) => (
  <div class={isCard ? 'card list' : 'list'}>
    <Table {...table} />
  </div>
)

/** The console's one table; on a phone each row is a block of lines. */
export const Table = <T,>({ columns, rows, keyOf }: Rowed<T>) => (
  <table>
    <thead>
      <tr>
        {columns.map(({ head, classes }) => (
          <th key={head} scope="col" class={classes}>
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
              <td key={head} class={classes}>
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

/** What has changed meanwhile may stand in a later page as well. */
const eachOnce = <T,>(rows: readonly T[], keyOf: (row: T) => string): readonly T[] =>
  [...Map.groupBy(rows, keyOf).values()].flatMap((same) => same.slice(0, 1))

export type Page<T> = { readonly rows: readonly T[]; readonly next: string | null }

type Paged<T> = {
  /** Names what is listed: another name begins anew. */
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
}

/** A list that is read page by page. */
export const PagedTable = <T,>(list: Paged<T>) => <Pages key={list.name} {...list} />

const Pages = <T,>({ name, title, note, load, empty, wake, ...table }: Paged<T>) => {
  // Whoever reads on is left in peace: from then on these pages are shown, and no newer first one.
  const read = useRef<readonly Page<T>[]>([])
  const [state, setState] = useState<'working' | Refusal>()
  const first = useLoaded(
    name,
    async (purpose) => {
      const [own] = read.current
      return own !== undefined && purpose === 'background' ? own : load(undefined, purpose)
    },
    wake,
  )
  const more = async (pages: readonly Page<T>[], cursor: string) => {
    read.current = pages
    setState('working')
    try {
      read.current = [...pages, await load(cursor)]
      setState(undefined)
    } catch (error) {
      setState(refusalOf(error))
    }
  }
  return (
    <Shown loaded={first}>
      {(page) => {
        const pages = read.current.length === 0 ? [page] : read.current
        const rows = eachOnce(
          pages.flatMap((one) => one.rows),
          table.keyOf,
        )
        const next = pages.at(-1)?.next ?? null
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
              {state instanceof Refusal && <Refused refusal={state} />}
              {next !== null && (
                // Not disabled, which would take the focus from whoever reads on by keyboard.
                <button
                  type="button"
                  aria-disabled={state === 'working'}
                  onClick={() => void (state !== 'working' && more(pages, next))}
                >
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
